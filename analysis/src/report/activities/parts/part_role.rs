//! What events of a type tell about the parts of an activity's time.

use super::carrier::Busy;
use crate::number_field::NumberField;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Names of fields.
pub(super) const TASK: &str = "TaskID";
pub(super) const METHOD: &str = "MethodID";
const WORK: &str = "Work";
const BEHAVIOR: &str = "Behavior";

/// Kind of a task's own work, in TraceSynchronousWorkBegin. Others are what awaited it.
const OWN_WORK: u64 = 2;

/// What the events of a type tell. It is decided once for a type.
#[derive(Debug, Clone, Copy)]
pub(super) enum PartRole {
    Nothing,
    /// A buffer of the async profiler, which tells of other times than its own.
    AsyncBuffer,
    /// A sample of a thread.
    Sample,
    /// An event of the runtime, which may begin or end a pause, a wait or a compilation.
    Runtime(Option<BusyEdge>),
    /// An event of a task.
    Task(TaskEdge),
    /// An event of other code, which shows for which activity its thread works.
    Other,
}

/// The begin or the end of a wait or compilation.
#[derive(Debug, Clone, Copy)]
pub(super) struct BusyEdge {
    pub(super) busy: Busy,
    pub(super) begins: bool,
    /// Method that is compiled.
    pub(super) method: NumberField,
}

/// What an event of a task tells.
#[derive(Debug, Clone, Copy)]
pub(super) enum TaskEdge {
    /// TraceOperationBegin: the task.
    OperationBegin(NumberField),
    /// TraceOperationEnd: the task.
    OperationEnd(NumberField),
    /// TraceSynchronousWorkBegin: the task, and whether it runs or what awaited it.
    WorkBegin(NumberField, NumberField),
    /// TraceSynchronousWorkEnd.
    WorkEnd,
    /// TaskWaitBegin: whether the thread is blocked.
    WaitBegin(NumberField),
    /// Another event that ends a turn of a thread.
    TurnEnd,
    Other,
}

impl PartRole {
    pub(super) fn of_type(event: &Event<'_>) -> PartRole {
        match event.known_provider() {
            KnownProvider::SampleProfiler => PartRole::Sample,
            KnownProvider::EventPipe
            | KnownProvider::Rundown
            | KnownProvider::UniversalSystem
            | KnownProvider::UniversalEvents => PartRole::Nothing,
            KnownProvider::Runtime => PartRole::Runtime(BusyEdge::of_type(event)),
            KnownProvider::AsyncProfiler => PartRole::AsyncBuffer,
            KnownProvider::Tasks => PartRole::Task(TaskEdge::of_type(event)),
            _ => PartRole::Other,
        }
    }
}

impl BusyEdge {
    fn of_type(event: &Event<'_>) -> Option<BusyEdge> {
        let (busy, begins) = match event.id() {
            id @ (81 | 91) => (Busy::Lock, id == 81),
            id @ (301 | 302) => (Busy::Wait, id == 301),
            id @ (141 | 143 | 145) => (Busy::Jit, id == 145),
            _ => return None,
        };
        Some(BusyEdge { busy, begins, method: NumberField::of_type(event, METHOD) })
    }
}

impl TaskEdge {
    fn of_type(event: &Event<'_>) -> TaskEdge {
        let number = |name| NumberField::of_type(event, name);
        match event.id() {
            10 => TaskEdge::WaitBegin(number(BEHAVIOR)),
            14 => TaskEdge::OperationBegin(number(TASK)),
            15 => TaskEdge::OperationEnd(number(TASK)),
            17 => TaskEdge::WorkBegin(number(TASK), number(WORK)),
            18 => TaskEdge::WorkEnd,
            9 | 12 | 13 => TaskEdge::TurnEnd,
            _ => TaskEdge::Other,
        }
    }

    /// Returns whether what awaited a task begins to run, which may be for another activity than the
    /// task's.
    #[inline]
    pub(super) fn is_of_awaiter(&self, event: &Event<'_>) -> bool {
        matches!(self, TaskEdge::WorkBegin(_, work) if work.read(event, WORK) != Some(OWN_WORK))
    }

    /// Returns whether an event of the type ends a turn of its thread.
    #[inline]
    pub(super) fn has_left(&self, event: &Event<'_>) -> bool {
        match self {
            TaskEdge::WaitBegin(behavior) => behavior.read(event, BEHAVIOR) == Some(2),
            TaskEdge::WorkEnd | TaskEdge::OperationEnd(_) | TaskEdge::TurnEnd => true,
            TaskEdge::OperationBegin(_) | TaskEdge::WorkBegin(..) | TaskEdge::Other => false,
        }
    }
}
