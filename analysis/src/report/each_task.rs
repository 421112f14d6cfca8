//! Tasks and waits for tasks one by one, for the page, which counts them in ranges of time.

use super::occurrence::{Lasted, Occurrence};
use crate::model::{StackHandle, TextHandle};
use crate::numbering::Numbering;

/// Name that the runtime gives to a task, and the stack of the naming event. The name of an async
/// method has no type, but the stack shows it.
pub(super) type TaskName = (TextHandle, StackHandle);

/// Name of a task, and the stack on which it was scheduled or waited for.
pub(super) type TaskPlace = (Option<TaskName>, StackHandle);

/// Period that is measured for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskTime {
    /// Time from scheduling to the start of a task.
    Queued,
    /// Time from the start of a task to its completion. Its occurrence begins at the scheduling, if
    /// that is known.
    Ran,
    /// Time in which a method awaited a task.
    Awaited,
    /// Time in which a thread was blocked until a task completed.
    Blocked,
}

#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
impl TaskTime {
    /// All periods, in the order of the lists of [`EachTask`].
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

    /// Returns the words before a method that stand for the name of a task without one.
    fn by(self) -> &'static str {
        match self {
            TaskTime::Queued | TaskTime::Ran => SCHEDULED_BY,
            TaskTime::Awaited | TaskTime::Blocked => WAITED_FOR_BY,
        }
    }
}

pub(super) const SCHEDULED_BY: &str = "scheduled by";
pub(super) const WAITED_FOR_BY: &str = "waited for by";

/// Tasks and waits that have ended, by [`TaskTime`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EachTask {
    ended: [Vec<Occurrence>; 4],
    places: Numbering<(TaskPlace, &'static str)>,
    /// Names by label, once the report is finished.
    pub(crate) names: Vec<String>,
}

impl EachTask {
    /// Adds a task or a wait for a task. `nanos`: duration; `None` if not over at the end of the
    /// trace.
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
            let lasted = nanos.map_or(Lasted::Open, Lasted::Nanos);
            ended.push(Occurrence { start_nanos, lasted, label, stack: place.1, is_error });
        }
    }

    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take(&mut self) -> [Vec<Occurrence>; 4] {
        std::mem::take(&mut self.ended)
    }

    /// Fills `names`. `named` returns the name of the task at a place; if the task has none, the
    /// given words and a method.
    pub(super) fn name(&mut self, named: impl Fn(&TaskPlace, &str) -> String) {
        let places = std::mem::take(&mut self.places).into_values();
        self.names = places.iter().map(|(place, by)| named(place, by)).collect();
    }
}
