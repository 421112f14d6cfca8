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
    /// Methods that wait, longest total first; at most 20.
    pub by: Vec<TaskWaiter>,
    /// Number of methods beyond those in `by`. JSON omits the member if it is 0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub by_left_out: u64,
}

/// Method that waits for tasks of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskWaiter {
    /// Name of the method.
    pub method: String,
    /// Number of waits that ended.
    pub waits: u64,
    /// Time of all waits, also of those still in progress at the end of the trace, in nanoseconds.
    pub total_ns: u64,
}

/// Maximum number of methods in [`TaskWaitRow::by`].
const MAX_WAITERS: usize = 20;

/// Sums of a [`TaskWaitRow`].
#[derive(Debug, Default)]
struct WaitSums {
    waited: Distribution,
    begun: u64,
    open_ns: u64,
    /// Number of waits that ended and time of all waits, by the method that waits.
    by: BTreeMap<String, (u64, u64)>,
}

impl WaitSums {
    fn add_by(&mut self, method: &str, waits: u64, nanos: u64) {
        if !self.by.contains_key(method) {
            self.by.insert(method.to_owned(), (0, 0));
        }
        if let Some((count, total)) = self.by.get_mut(method) {
            *count = count.saturating_add(waits);
            *total = total.saturating_add(nanos);
        }
    }

    fn row(self, (name, is_blocking): (String, bool)) -> TaskWaitRow {
        let mut by: Vec<TaskWaiter> = (self.by.into_iter())
            .map(|(method, (waits, total_ns))| TaskWaiter { method, waits, total_ns })
            .collect();
        by.sort_few_by_key(|row| Reverse(row.total_ns));
        let by_left_out = by.len().saturating_sub(MAX_WAITERS) as u64;
        by.truncate(MAX_WAITERS);
        let still_waiting = self.begun.saturating_sub(self.waited.count());
        let (waits, open_ns) = (self.waited.spread(), self.open_ns);
        TaskWaitRow { name, is_blocking, waits, still_waiting, open_ns, by, by_left_out }
    }
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

    /// Returns whether only waits in progress are wanted.
    pub(super) fn is_open_only(&self) -> bool {
        self.is_open_only
    }

    /// Returns whether events of tasks told of awaits.
    pub(super) fn has_awaits(&self) -> bool {
        self.places.keys().any(|(_, is_blocking)| !is_blocking)
    }

    /// Adds a wait that has ended.
    pub(super) fn add(
        &mut self,
        place: TaskWaitPlace,
        (start_nanos, nanos): (i64, u64),
        each: Option<&mut EachTask>,
    ) {
        let (waited, begun) = self.places.entry(place).or_default();
        increase(begun, 1);
        waited.add(nanos);
        add_to(each, place, start_nanos, Some(nanos));
    }

    /// Returns whether a wait for the task is in progress.
    pub(super) fn is_open(&self, key: TaskKey) -> bool {
        self.open.is_open(key)
    }

    /// Returns the waits at the places that `passes` accepts. `named` returns the name of the task
    /// at a place; if the task has none, the given words and a method. `by` returns the method that
    /// waits at a place.
    pub(super) fn finish<'b>(
        mut self,
        shown: &mut ShownFrames<'_, '_>,
        passes: impl Fn(&TaskPlace) -> bool,
        named: impl Fn(&TaskPlace, &str) -> String,
        by: impl Fn(&TaskPlace) -> &'b str,
        mut each: Option<&mut EachTask>,
    ) -> WaitedTasks {
        let resolved = shown.resolved();
        let mut rows: BTreeMap<(String, bool), WaitSums> = BTreeMap::new();
        for ((place, is_blocking), (waited, begun)) in
            self.places.iter().filter(|((place, _), _)| passes(place))
        {
            let row = rows.entry((named(place, WAITED_FOR_BY), *is_blocking)).or_default();
            row.waited.merge(waited);
            row.begun = row.begun.saturating_add(*begun);
            row.add_by(by(place), waited.count(), waited.sum());
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
            row.open_ns = row.open_ns.saturating_add(at_least_ns);
            row.add_by(by(&place), 0, at_least_ns);
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
            .map(|(key, sums)| {
                begun_all = begun_all.saturating_add(sums.begun);
                ended = ended.saturating_add(sums.waited.count());
                sums.row(key)
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
