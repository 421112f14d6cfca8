//! When and on which thread an event happened.

use super::ThreadHandle;
use super::intervals::Edge;
use nettrace_parser::Event;

/// Context of an event: when and on which thread it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// The thread that it is about.
    pub thread: ThreadHandle,
    /// Nanoseconds since the session's start; 0 if the stream has no usable clock.
    pub nanos: i64,
    /// Whether its thread, process and time pass the filter.
    pub is_selected: bool,
}

impl Moment {
    /// The start or stop that an event at this moment represents.
    pub(crate) fn edge(&self, event: &Event<'_>) -> Edge {
        Edge::of(event, self.thread, self.nanos)
    }
}
