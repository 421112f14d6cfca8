//! Reads the events of tasks that tell who awaits whom.

use crate::model::handle::TextHandle;
use crate::model::texts::Texts;
use crate::number_field::NumberField;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// What an event says of tasks. Numbers are ids of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum TaskStep {
    Created(u64, Option<TextHandle>),
    Queued(u64),
    Ended(u64),
    /// The thread blocks until the task has ended.
    Blocks(u64),
    /// A method awaits a task; `awaiter` is its own task, if it has one.
    Awaits {
        task: u64,
        awaiter: Option<u64>,
    },
    AwaitEnds(u64),
    Yields(u64),
    ContinuationBegins(u64),
    ContinuationEnds(u64),
    WorkBegins {
        task: u64,
        work: u64,
    },
    WorkEnds(u64),
    /// A task of several, such as that of `Task.WhenAll`, notes that one of them is complete.
    Joins(u64),
    DelegateBegins(u64),
    DelegateEnds(u64),
}

impl TaskStep {
    /// Kind of work that runs the method of a task.
    pub(in crate::model) const RUNS: u64 = 2;
    /// Behaviour of a wait that blocks.
    const BLOCKS: u64 = 1;
}

/// Names of fields.
const TASK: &str = "TaskID";
const CONTINUATION: &str = "ContinueWithTaskID";
const SCHEDULED: &str = "ContinueWithTaskId";
const BEHAVIOR: &str = "Behavior";
const WORK: &str = "Work";
const NAME: &str = "OperationName";

/// Fields of an event type of tasks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AwaitFields {
    task: NumberField,
    continuation: NumberField,
    behavior: NumberField,
    work: NumberField,
    scheduled: NumberField,
}

impl AwaitFields {
    /// Returns the fields of an event that tells who awaits whom; `None` for other types.
    pub(crate) fn of_type(event: &Event<'_>) -> Option<AwaitFields> {
        let is_followed =
            event.known_provider() == KnownProvider::Tasks && matches!(event.id(), 7..=19);
        let number = |name| NumberField::of_type(event, name);
        is_followed.then(|| AwaitFields {
            task: number(TASK),
            continuation: number(CONTINUATION),
            behavior: number(BEHAVIOR),
            work: number(WORK),
            scheduled: number(SCHEDULED),
        })
    }

    /// Returns what an event of the type says; `None` if a field is damaged.
    pub(in crate::model) fn step(&self, event: &Event<'_>, texts: &mut Texts) -> Option<TaskStep> {
        let task = || self.task.read(event, TASK);
        Some(match event.id() {
            7 => TaskStep::Queued(task()?),
            8 => TaskStep::DelegateBegins(task()?),
            9 => TaskStep::DelegateEnds(task()?),
            10 if self.behavior.read(event, BEHAVIOR) == Some(TaskStep::BLOCKS) => {
                TaskStep::Blocks(task()?)
            }
            10 => {
                let awaiter = self.continuation.read(event, CONTINUATION);
                TaskStep::Awaits { task: task()?, awaiter: awaiter.filter(|id| *id != 0) }
            }
            11 => TaskStep::AwaitEnds(task()?),
            12 => TaskStep::Yields(self.scheduled.read(event, SCHEDULED)?),
            13 => TaskStep::ContinuationEnds(task()?),
            14 => {
                let name = event.field(NAME).and_then(|name| texts.intern_value(name));
                TaskStep::Created(task()?, name)
            }
            15 => TaskStep::Ended(task()?),
            16 => TaskStep::Joins(task()?),
            17 => TaskStep::WorkBegins { task: task()?, work: self.work.read(event, WORK)? },
            18 => TaskStep::WorkEnds(self.work.read(event, WORK)?),
            19 => TaskStep::ContinuationBegins(task()?),
            _ => return None,
        })
    }

    /// Returns whether the stack of an event of the type is needed.
    pub(in crate::model) fn needs_stack(step: TaskStep) -> bool {
        matches!(
            step,
            TaskStep::Created(..)
                | TaskStep::Queued(_)
                | TaskStep::Awaits { .. }
                | TaskStep::Yields(_)
        )
    }
}
