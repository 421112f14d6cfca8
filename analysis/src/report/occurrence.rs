//! Activities, requests and tasks one by one, for the page, which counts them in ranges of time.

use crate::model::StackHandle;

/// How long an occurrence lasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
pub(crate) enum Lasted {
    /// It lasted this many nanoseconds.
    Nanos(u64),
    /// It has stopped, but at one of several stops that cannot be told apart.
    Unknown,
    /// It had not stopped at the end of the trace.
    Open,
}

/// An activity, a request, a task, or a wait for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
pub(crate) struct Occurrence {
    pub(crate) start_nanos: i64,
    pub(crate) lasted: Lasted,
    /// Name: a text of the model; for tasks, an index in
    /// [`EachTask::names`](super::each_task::EachTask::names).
    pub(crate) label: u32,
    pub(crate) stack: StackHandle,
    pub(crate) is_error: bool,
}
