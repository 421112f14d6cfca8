//! The moment of an event: its thread and its time.

use super::activity_edge::http_facts::HttpFacts;
use super::activity_edge::{ActivityEdge, EdgeType, ReadEdge};
use super::activity_path::PathForm;
use super::intervals::Edge;
use super::{Model, TextHandle, ThreadHandle};
use nettrace_parser::Event;
use std::cell::OnceCell;
use std::sync::Arc;

/// Thread and time of an event, and whether filters accept them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Moment {
    /// Thread that the event is about.
    pub thread: ThreadHandle,
    /// Time in nanoseconds since the session's start; 0 without a usable clock.
    pub(crate) nanos: i64,
    /// Whether the stream has a usable clock.
    is_timed: bool,
    /// Whether the filter accepts the thread, its process and the time.
    pub is_selected: bool,
    /// How the event's process writes the paths in activity ids.
    path_form: PathForm,
    /// The start or stop of an activity, if events of the type may be such.
    edge: Option<MomentEdge>,
}

/// The start or stop of an activity that an event may report. It lies apart, so that nothing is to be
/// done at the end of the moments of other events.
#[derive(Debug, Clone)]
struct MomentEdge {
    edge_type: Arc<EdgeType>,
    /// What the event reports, once it has been read.
    read: OnceCell<Option<ReadEdge>>,
}

impl Moment {
    #[inline]
    pub(crate) fn new(
        thread: ThreadHandle,
        nanos: Option<i64>,
        is_selected: bool,
        path_form: PathForm,
        edge_type: Option<Arc<EdgeType>>,
    ) -> Moment {
        let edge = edge_type.map(|edge_type| MomentEdge { edge_type, read: OnceCell::new() });
        let (is_timed, nanos) = (nanos.is_some(), nanos.unwrap_or(0));
        Moment { thread, nanos, is_timed, is_selected, path_form, edge }
    }

    /// Returns the time in nanoseconds since the session's start; `None` if the stream has no usable
    /// clock.
    #[inline]
    pub fn nanos(&self) -> Option<i64> {
        self.is_timed.then_some(self.nanos)
    }

    /// Returns the moment at another time.
    pub(crate) fn at_nanos(&self, nanos: i64) -> Moment {
        let edge_type = self.edge_type().cloned();
        let nanos = self.nanos().and(Some(nanos));
        Moment::new(self.thread, nanos, self.is_selected, self.path_form, edge_type)
    }

    /// Returns the moment as one end of an interval.
    pub(crate) fn edge(&self, event: &Event<'_>) -> Edge {
        Edge::from_event(event, self.thread, self.nanos)
    }

    /// Returns the start or stop of an activity that the event reports; `None` for other events.
    pub(crate) fn activity_edge(&self, event: &Event<'_>) -> Option<&ActivityEdge> {
        self.read_edge(event).map(|read| &read.edge)
    }

    /// Returns the facts in the start or stop of an HTTP request; `None` for other events.
    pub(crate) fn http_facts(&self, event: &Event<'_>) -> Option<&HttpFacts> {
        self.read_edge(event)?.facts(event)
    }

    /// Returns the handle of an activity's name among the texts of the model. `edge`: start or stop
    /// that the event reports, or a start that it tells as well.
    pub(crate) fn activity_name(&self, edge: &ActivityEdge, model: &mut Model) -> TextHandle {
        match self.edge_type() {
            Some(edge_type) => edge_type.name_in(edge, model.texts_mut()),
            None => model.texts_mut().intern(&edge.name),
        }
    }

    /// Returns the type of the event, if its events may be starts and stops of activities.
    pub(crate) fn edge_type(&self) -> Option<&Arc<EdgeType>> {
        self.edge.as_ref().map(|edge| &edge.edge_type)
    }

    fn read_edge(&self, event: &Event<'_>) -> Option<&ReadEdge> {
        let MomentEdge { edge_type, read } = self.edge.as_ref()?;
        read.get_or_init(|| ReadEdge::from_event(event, edge_type, self.path_form)).as_ref()
    }
}
