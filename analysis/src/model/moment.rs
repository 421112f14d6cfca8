//! When and on which thread an event happened.

use super::ThreadHandle;
use super::activity_edge::ActivityEdge;
use super::intervals::Edge;
use nettrace_parser::Event;
use std::cell::OnceCell;

/// Context of an event: when and on which thread it happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Moment {
    /// The thread that it is about.
    pub thread: ThreadHandle,
    /// Nanoseconds since the session's start; 0 if the stream has no usable clock.
    pub nanos: i64,
    /// Whether its thread, process and time pass the filter.
    pub is_selected: bool,
    /// The start or stop of an activity that the event is, once somebody has asked.
    activity: OnceCell<Option<Box<ActivityEdge>>>,
}

impl Moment {
    pub(crate) fn new(thread: ThreadHandle, nanos: i64, is_selected: bool) -> Moment {
        Moment { thread, nanos, is_selected, activity: OnceCell::new() }
    }

    /// Returns the start or stop that an event at this moment represents.
    pub(crate) fn edge(&self, event: &Event<'_>) -> Edge {
        Edge::from_event(event, self.thread, self.nanos)
    }

    /// Returns the start or stop of an activity that the event at this moment is.
    pub(crate) fn activity_edge(&self, event: &Event<'_>) -> Option<&ActivityEdge> {
        let edge = self.activity.get_or_init(|| ActivityEdge::from_event(event).map(Box::new));
        edge.as_deref()
    }
}
