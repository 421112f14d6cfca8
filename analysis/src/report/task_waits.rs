//! Waits for tasks: by blocked threads, and by `await`.

use super::counts::increase;
use super::distribution::{Distribution, Spread};
use super::each_task::{EachTask, TaskPlace, TaskTime, WAITED_FOR_BY};
use super::stack_rows::{ShownFrames, below, is_of_task_library};
use super::waiting::{BegunWait, MAX_OPEN, OpenWait};
use crate::hash::HashMap;
use crate::model::intervals::{Edge, Matcher};
use crate::model::{ProcessHandle, TaskKind, WaitFor};
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The process and number of a task.
pub(super) type TaskKey = (ProcessHandle, u64);

/// Place of a wait, and whether the thread was blocked.
pub(super) type TaskWaitPlace = (TaskPlace, bool);

/// Waits for tasks with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskWaitRow {
    /// Name of the awaited task; `waited for by METHOD` if the task has none.
    pub name: String,
    /// Whether the waits blocked a thread; otherwise they were an `await`.
    pub is_blocking: bool,
    /// Durations of completed waits.
    pub waits: Spread,
    /// Number of waits still in progress at the end of the trace.
    pub still_waiting: u64,
    /// Time that waits in progress have taken at the end of the trace, in nanoseconds.
    pub open_ns: u64,
}

/// Unfinished wait for a task, at the end of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OpenTaskWait {
    /// Thread, place and duration of the wait. The thread of an `await` is the one that began it,
    /// which has done other work since. In JSON they are members of the row itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub wait: OpenWait,
    /// Name of the awaited task, as in [`TaskWaitRow::name`].
    pub task: String,
    /// Kind of task, which says what completes it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub kind: TaskKind,
    /// Whether the wait blocks a thread; otherwise it is an `await`.
    pub is_blocking: bool,
}

/// Collects waits for tasks. Memory is bounded by the number of places and of waits in progress.
#[derive(Debug, Default)]
pub(super) struct TaskWaits {
    /// By place: durations of waits that ended, and number of waits that began.
    places: HashMap<TaskWaitPlace, (Distribution, u64)>,
    /// Waits in progress, with their place; `None` if the filter did not accept the start.
    open: Matcher<TaskKey, Option<TaskWaitPlace>>,
    /// Whether only waits in progress are wanted.
    is_open_only: bool,
    /// Number of waits that began while too many others were in progress.
    not_kept: u64,
    /// Number of waits of `not_kept` that have not ended.
    not_kept_open: u64,
}

/// Waits for tasks of a trace.
#[derive(Debug)]
pub(super) struct WaitedTasks {
    /// Rows, longest total first.
    pub(super) rows: Vec<TaskWaitRow>,
    /// Waits that are not over, longest first, at most [`MAX_OPEN`].
    pub(super) open: Vec<OpenTaskWait>,
    pub(super) begun: u64,
    pub(super) ended: u64,
}

impl TaskWaits {
    /// Counts no waits by place.
    pub(super) fn only_open() -> TaskWaits {
        TaskWaits { is_open_only: true, ..TaskWaits::default() }
    }

    pub(super) fn begin(&mut self, key: TaskKey, at: Edge, place: Option<TaskWaitPlace>) {
        let mut not_kept = None;
        self.open.start_inside(key, at, place, |wait| not_kept = wait.what);
        if self.is_open_only {
            return;
        }
        if let Some(place) = place {
            increase(&mut self.places.entry(place).or_default().1, 1);
        }
        // Too many waits are in progress, so the end of this one will have no start.
        if let Some(place) = not_kept {
            let begun = &mut self.places.entry(place).or_default().1;
            *begun = begun.saturating_sub(1);
            self.not_kept = self.not_kept.saturating_add(1);
            self.not_kept_open = self.not_kept_open.saturating_add(1);
        }
    }

    pub(super) fn end(&mut self, key: TaskKey, at: Edge, each: Option<&mut EachTask>) {
        match self.open.stop_one(key, at) {
            _ if self.is_open_only => {}
            Some(wait) => {
                if let Some(place) = wait.what {
                    self.places.entry(place).or_default().0.add(wait.nanos);
                    add_to(each, place, wait.start.nanos, Some(wait.nanos));
                }
            }
            None => self.not_kept_open = self.not_kept_open.saturating_sub(1),
        }
    }

    /// Returns whether a wait for the task is in progress.
    pub(super) fn is_open(&self, key: TaskKey) -> bool {
        self.open.is_open(key)
    }

    /// Returns the waits at the places that `passes` accepts. `named` returns the name of the task
    /// at a place; if the task has none, the given words and a method.
    pub(super) fn finish(
        mut self,
        shown: &mut ShownFrames<'_, '_>,
        passes: impl Fn(&TaskPlace) -> bool,
        named: impl Fn(&TaskPlace, &str) -> String,
        mut each: Option<&mut EachTask>,
    ) -> WaitedTasks {
        let resolved = shown.resolved();
        let mut rows: BTreeMap<(String, bool), (Distribution, u64, u64)> = BTreeMap::new();
        for ((place, is_blocking), (waited, begun)) in
            self.places.iter().filter(|((place, _), _)| passes(place))
        {
            let row = rows.entry((named(place, WAITED_FOR_BY), *is_blocking)).or_default();
            row.0.merge(waited);
            row.1 = row.1.saturating_add(*begun);
        }
        let end = resolved.model().selected().last_nanos().unwrap_or(0);
        let mut open = Vec::new();
        for wait in self.open.finish(end) {
            let Some((place, is_blocking)) = wait.what.filter(|(place, _)| passes(place)) else {
                continue;
            };
            let begun =
                BegunWait { place, thread: wait.start.thread, since_nanos: wait.start.nanos };
            let at_least_ns = begun.at_least_ns(resolved.model());
            add_to(each.as_deref_mut(), (place, is_blocking), wait.start.nanos, None);
            let row = rows.entry((named(&place, WAITED_FOR_BY), is_blocking)).or_default();
            row.2 = row.2.saturating_add(at_least_ns);
            if open.len() < MAX_OPEN {
                let frames = below(resolved, place.1, is_of_task_library);
                let name = place.0.map(|(name, _)| resolved.model().text(name));
                open.push(OpenTaskWait {
                    wait: OpenWait::at(&begun, WaitFor::Task, frames, shown),
                    task: named(&place, WAITED_FOR_BY),
                    kind: name.map_or(TaskKind::Other, |name| TaskKind::split(name).0),
                    is_blocking,
                });
            }
        }
        // Waits that found no room count, too.
        let mut begun_all = self.not_kept;
        let mut ended = self.not_kept.saturating_sub(self.not_kept_open);
        let mut rows: Vec<TaskWaitRow> = rows
            .into_iter()
            .map(|((name, is_blocking), (waited, begun, open_ns))| {
                begun_all = begun_all.saturating_add(begun);
                ended = ended.saturating_add(waited.count());
                let still_waiting = begun.saturating_sub(waited.count());
                TaskWaitRow { name, is_blocking, waits: waited.spread(), still_waiting, open_ns }
            })
            .collect();
        rows.sort_few_by_key(|row| Reverse(row.waits.total_ns.saturating_add(row.open_ns)));
        WaitedTasks { rows, open, begun: begun_all, ended }
    }
}

fn add_to(
    each: Option<&mut EachTask>,
    (place, is_blocking): TaskWaitPlace,
    start_nanos: i64,
    nanos: Option<u64>,
) {
    let time = if is_blocking { TaskTime::Blocked } else { TaskTime::Awaited };
    if let Some(each) = each {
        each.add(time, place, start_nanos, nanos, false);
    }
}
