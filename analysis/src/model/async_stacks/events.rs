//! Reads the events of tasks that tell who awaits whom.

use crate::model::handle::{StackHandle, TextHandle};
use crate::model::texts::Texts;
use crate::number_field::NumberField;
use crate::text_field::TextField;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Id of a task. .NET counts tasks in 32 bits.
pub(super) type TaskId = u32;

/// What an event says of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskStep {
    Created(TaskId, Option<TextHandle>),
    Queued(TaskId),
    Ended(TaskId),
    /// The thread blocks until the task has ended.
    Blocks(TaskId),
    /// A method awaits a task; `awaiter` is its own task, 0 if it has none.
    Awaits {
        task: TaskId,
        awaiter: TaskId,
    },
    AwaitEnds(TaskId),
    Yields(TaskId),
    ContinuationBegins(TaskId),
    ContinuationEnds(TaskId),
    WorkBegins {
        task: TaskId,
        work: u32,
    },
    WorkEnds(u32),
    /// A task of several, such as that of `Task.WhenAll`, notes that one of them is complete.
    Joins(TaskId),
    DelegateBegins(TaskId),
    DelegateEnds(TaskId),
}

impl TaskStep {
    /// Kind of work that runs the method of a task.
    pub(super) const RUNS: u32 = 2;
    /// Behaviour of a wait that blocks.
    const BLOCKS: u32 = 1;

    /// Returns whether the stack of the event is needed.
    pub(crate) fn needs_stack(self) -> bool {
        matches!(
            self,
            TaskStep::Created(..)
                | TaskStep::Queued(_)
                | TaskStep::Awaits { .. }
                | TaskStep::Yields(_)
        )
    }
}

/// Id of the event that creates a task and names it.
const CREATED: u32 = 14;
/// Names of fields.
const TASK: &str = "TaskID";
const CONTINUATION: &str = "ContinueWithTaskID";
const SCHEDULED: &str = "ContinueWithTaskId";
const BEHAVIOR: &str = "Behavior";
const WORK: &str = "Work";
const NAME: &str = "OperationName";

/// An event type of tasks, and its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AwaitFields {
    id: u32,
    task: NumberField,
    continuation: NumberField,
    behavior: NumberField,
    work: NumberField,
    scheduled: NumberField,
    name: TextField,
}

impl AwaitFields {
    /// Stands for the stack of an event whose stack is not needed.
    pub(crate) const NO_STACK: StackHandle = StackHandle(u32::MAX);

    /// Returns the fields of an event that tells who awaits whom; `None` for other types.
    pub(crate) fn of_type(event: &Event<'_>) -> Option<AwaitFields> {
        let id = event.id();
        let is_followed = event.known_provider() == KnownProvider::Tasks && matches!(id, 7..=19);
        let number = |name| NumberField::of_type(event, name);
        is_followed.then(|| AwaitFields {
            id,
            task: number(TASK),
            continuation: number(CONTINUATION),
            behavior: number(BEHAVIOR),
            work: number(WORK),
            scheduled: number(SCHEDULED),
            name: TextField::of_type(event, NAME),
        })
    }

    /// Returns what an event with this payload says, if its fields have places that are known. `None`
    /// if [`AwaitFields::step`] must look.
    #[inline]
    pub(in crate::model) fn step_at_places(
        &self,
        payload: &[u8],
        texts: &mut Texts,
    ) -> Option<TaskStep> {
        let number = |field: NumberField| u32::try_from(field.read_at_place(payload)?).ok();
        if self.id == CREATED {
            let name = texts.intern_repeated(self.name.read_at_place(payload)?);
            return Some(TaskStep::Created(number(self.task)?, Some(name)));
        }
        self.made_of(|field, _| number(field))
    }

    /// Returns what an event of the type says; `None` if a field is damaged.
    pub(in crate::model) fn step(&self, event: &Event<'_>, texts: &mut Texts) -> Option<TaskStep> {
        let number = |field: NumberField, name: &str| {
            let found = field.read(event, name).and_then(|number| u32::try_from(number).ok());
            // Older versions of the event lack them.
            found.or_else(|| matches!(name, BEHAVIOR | CONTINUATION).then_some(0))
        };
        if self.id == CREATED {
            let name = self.name.read(event, NAME).and_then(|name| texts.intern_value(name));
            return Some(TaskStep::Created(number(self.task, TASK)?, name));
        }
        self.made_of(number)
    }

    /// Makes a step of numbers, which `number` returns for a field and its name.
    #[inline(always)]
    fn made_of(&self, number: impl Fn(NumberField, &str) -> Option<u32>) -> Option<TaskStep> {
        let task = || number(self.task, TASK);
        Some(match self.id {
            7 => TaskStep::Queued(task()?),
            8 => TaskStep::DelegateBegins(task()?),
            9 => TaskStep::DelegateEnds(task()?),
            10 if number(self.behavior, BEHAVIOR)? == TaskStep::BLOCKS => TaskStep::Blocks(task()?),
            10 => TaskStep::Awaits {
                task: task()?,
                awaiter: number(self.continuation, CONTINUATION)?,
            },
            11 => TaskStep::AwaitEnds(task()?),
            12 => TaskStep::Yields(number(self.scheduled, SCHEDULED)?),
            13 => TaskStep::ContinuationEnds(task()?),
            15 => TaskStep::Ended(task()?),
            16 => TaskStep::Joins(task()?),
            17 => TaskStep::WorkBegins { task: task()?, work: number(self.work, WORK)? },
            18 => TaskStep::WorkEnds(number(self.work, WORK)?),
            19 => TaskStep::ContinuationBegins(task()?),
            _ => return None,
        })
    }
}
