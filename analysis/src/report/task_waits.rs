//! Waits for tasks: blocking ones, and those of `await`.

use super::counts::increase;
use super::distribution::{Distribution, Spread};
use super::each_task::{EachTask, TaskPlace, TaskTime, WAITED_FOR_BY};
use super::stack_rows::{ShownFrames, below, is_of_task_library};
use super::waiting::{BegunWait, MAX_OPEN, OpenWait};
use crate::model::intervals::{Edge, Matcher};
use crate::model::{ProcessHandle, TaskKind, WaitFor};
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The process and number of a task.
pub(super) type TaskKey = (ProcessHandle, u64);

/// Where a thread waited, and whether it was blocked.
pub(super) type TaskWaitPlace = (TaskPlace, bool);

/// Waits for tasks with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskWaitRow {
    /// Name of the task waited for; if it has none, `waited for by` and a method.
    pub name: String,
    /// Whether a thread was blocked; otherwise it was an `await`.
    pub is_blocking: bool,
    /// Durations of completed waits.
    pub waits: Spread,
    /// Number of waits still in progress at the end.
    pub still_waiting: u64,
    /// Their time until then, in nanoseconds.
    pub open_ns: u64,
}

/// A wait for a task that is not over at the end of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OpenTaskWait {
    /// Where, and for how long; for an `await` the thread is the one that began it, and has
    /// gone on since. In JSON these are members of the row itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub wait: OpenWait,
    /// Name of the task waited for, as in [`TaskWaitRow::name`].
    pub task: String,
    /// What completes the task.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub kind: TaskKind,
    /// Whether a thread is blocked; otherwise it is an `await`.
    pub is_blocking: bool,
}

/// Collects waits for tasks. Memory is bounded by the number of places, and of waits in
/// progress.
#[derive(Debug, Default)]
pub(super) struct TaskWaits {
    /// Durations of those that ended, and the number of those that began.
    places: HashMap<TaskWaitPlace, (Distribution, u64)>,
    /// `None` as place if the filter did not accept the start.
    open: Matcher<TaskKey, Option<TaskWaitPlace>>,
    /// Number of waits that began while too many others were in progress.
    not_kept: u64,
    /// Number of waits of `not_kept` that have not ended.
    not_kept_open: u64,
}

/// All waits of a trace.
#[derive(Debug)]
pub(super) struct WaitedTasks {
    /// Longest total first.
    pub(super) rows: Vec<TaskWaitRow>,
    /// Those that are not over, longest first, at most [`MAX_OPEN`].
    pub(super) open: Vec<OpenTaskWait>,
    pub(super) begun: u64,
    pub(super) ended: u64,
}

impl TaskWaits {
    pub(super) fn begin(&mut self, key: TaskKey, at: Edge, place: Option<TaskWaitPlace>) {
        let mut not_kept = None;
        self.open.start_inside(key, at, place, |wait| not_kept = wait.what);
        if let Some(place) = place {
            increase(&mut self.places.entry(place).or_default().1, 1);
        }
        // Too many are in progress. Where the end of this one belongs to will not be
        // known.
        if let Some(place) = not_kept {
            let begun = &mut self.places.entry(place).or_default().1;
            *begun = begun.saturating_sub(1);
            self.not_kept = self.not_kept.saturating_add(1);
            self.not_kept_open = self.not_kept_open.saturating_add(1);
        }
    }

    pub(super) fn end(&mut self, key: TaskKey, at: Edge, each: Option<&mut EachTask>) {
        match self.open.stop_one(key, at) {
            Some(wait) => {
                if let Some(place) = wait.what {
                    self.places.entry(place).or_default().0.add(wait.nanos);
                    add_to(each, place, wait.start.nanos, Some(wait.nanos));
                }
            }
            None => self.not_kept_open = self.not_kept_open.saturating_sub(1),
        }
    }

    /// Returns whether something waits for this task.
    pub(super) fn is_open(&self, key: TaskKey) -> bool {
        self.open.is_open(key)
    }

    /// Returns the rows of all waits. `named`: the name of a task at a place, or these words and a
    /// method.
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
            // The oldest come first.
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
        // Those for which there was no room count, too.
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
