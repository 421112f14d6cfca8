//! Each task, and each wait for one, for those who count them in ranges of time.

use super::occurrence::Occurrence;
use crate::model::{StackHandle, TextHandle};
use crate::numbering::Numbering;

/// What the runtime calls a task, and the stack on which it was named: an async method's
/// name has no type, but its stack does.
pub(super) type TaskName = (TextHandle, StackHandle);

/// The name of a task, and where it was scheduled or waited for.
pub(super) type TaskPlace = (Option<TaskName>, StackHandle);

/// A part of a task's life, or a wait for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskTime {
    /// From scheduling to the start.
    Queued,
    /// From the start to completion. It is counted with its scheduling, if that is known.
    Ran,
    /// A method awaited it.
    Awaited,
    /// A thread was blocked until it completed.
    Blocked,
}

#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
impl TaskTime {
    /// All of them, in the order of the lists of [`EachTask`].
    pub(crate) const ALL: [TaskTime; 4] =
        [TaskTime::Queued, TaskTime::Ran, TaskTime::Awaited, TaskTime::Blocked];

    pub(crate) fn name(self) -> &'static str {
        match self {
            TaskTime::Queued => "queued",
            TaskTime::Ran => "ran",
            TaskTime::Awaited => "awaited",
            TaskTime::Blocked => "blocked",
        }
    }

    /// Returns the words that precede a method for a task without a name.
    fn by(self) -> &'static str {
        match self {
            TaskTime::Queued | TaskTime::Ran => SCHEDULED_BY,
            TaskTime::Awaited | TaskTime::Blocked => WAITED_FOR_BY,
        }
    }
}

pub(super) const SCHEDULED_BY: &str = "scheduled by";
pub(super) const WAITED_FOR_BY: &str = "waited for by";

/// Those that are over since they were taken, by [`TaskTime`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EachTask {
    ended: [Vec<Occurrence>; 4],
    places: Numbering<(TaskPlace, &'static str)>,
    /// By their labels, once the report is finished.
    pub(crate) names: Vec<String>,
}

impl EachTask {
    /// Adds a task, or a wait for one. `nanos`: its length; `None` if it is not over at the end of
    /// the trace.
    pub(super) fn add(
        &mut self,
        time: TaskTime,
        place: TaskPlace,
        start_nanos: i64,
        nanos: Option<u64>,
        is_error: bool,
    ) {
        let label = self.places.number((place, time.by()));
        if let Some(ended) = self.ended.get_mut(time as usize) {
            ended.push(Occurrence { start_nanos, nanos, label, stack: place.1, is_error });
        }
    }

    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take(&mut self) -> [Vec<Occurrence>; 4] {
        std::mem::take(&mut self.ended)
    }

    /// Gives each row its name. `named`: the name of a task at a place, or these words and a
    /// method.
    pub(super) fn name(&mut self, named: impl Fn(&TaskPlace, &str) -> String) {
        let places = std::mem::take(&mut self.places).into_values();
        self.names = places.iter().map(|(place, by)| named(place, by)).collect();
    }
}
