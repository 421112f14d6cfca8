//! The moment of an event: its thread and its time.

use super::ThreadHandle;
use super::activity_edge::ActivityEdge;
use super::activity_path::PathForm;
use super::intervals::Edge;
use nettrace_parser::Event;
use std::cell::OnceCell;

/// Thread and time of an event, and whether filters accept them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Moment {
    /// Thread that the event is about.
    pub thread: ThreadHandle,
    /// Time in nanoseconds since the session's start; 0 if the stream has no usable clock.
    pub nanos: i64,
    /// Whether the filter accepts the thread, its process and the time.
    pub is_selected: bool,
    /// How the event's process writes the paths in activity ids.
    path_form: PathForm,
    /// Result of [`Moment::activity_edge`], which several reports need.
    activity: OnceCell<Option<Box<ActivityEdge>>>,
}

impl Moment {
    pub(crate) fn new(
        thread: ThreadHandle,
        nanos: i64,
        is_selected: bool,
        path_form: PathForm,
    ) -> Moment {
        Moment { thread, nanos, is_selected, path_form, activity: OnceCell::new() }
    }

    /// Returns the moment at another time.
    pub(crate) fn at_nanos(&self, nanos: i64) -> Moment {
        Moment::new(self.thread, nanos, self.is_selected, self.path_form)
    }

    /// Returns the moment as one end of an interval.
    pub(crate) fn edge(&self, event: &Event<'_>) -> Edge {
        Edge::from_event(event, self.thread, self.nanos)
    }

    /// Returns the start or stop of an activity that the event reports; `None` for other events.
    pub(crate) fn activity_edge(&self, event: &Event<'_>) -> Option<&ActivityEdge> {
        let edge = || ActivityEdge::from_event(event, self.path_form);
        let edge = self.activity.get_or_init(|| edge().map(Box::new));
        edge.as_deref()
    }
}
