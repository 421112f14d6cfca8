//! Incoming requests that served outgoing requests of the same process.

use super::{Activities, ActivityName, BegunActivity};
use crate::hash::HashMap;
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::HttpDirection;
use crate::model::activity_id::ActivityId;
use crate::model::intervals::OpenActivityKey;
use crate::model::{Resolved, TextHandle, ThreadHandle};

/// Maximum number of incoming requests that are kept for one outgoing request, which may be sent
/// more than once.
const MAX_SERVING: usize = 8;
/// Maximum number of incoming requests that are kept after their stops for the outgoing ones.
const MAX_ANSWERED: usize = 65_536;

/// Incoming request that served an outgoing request of the same process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ServingRequest {
    /// Name, as in [`ActivityRow::name`](super::ActivityRow::name).
    pub name: ActivityName,
    /// Id, as in [`SlowActivity::id`](super::SlowActivity::id).
    pub id: Option<String>,
    /// Key, as in [`SlowActivity::key`](super::SlowActivity::key).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub key: Option<String>,
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration in nanoseconds; `None` if it is unknown.
    pub duration_ns: Option<u64>,
}

/// Incoming request that has started and serves an outgoing one.
#[derive(Debug, Clone)]
pub(super) struct Serving {
    place: OpenActivityKey,
    label: TextHandle,
    id: Option<ActivityId>,
    may_repeat: bool,
    start_nanos: i64,
}

/// Incoming request that has stopped and served an outgoing one.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnsweredCall {
    /// Target, which the stop may be the first to tell.
    pub(super) label: TextHandle,
    pub(super) nanos: u64,
}

impl Serving {
    /// Returns the request with its names. `answered`: incoming requests that have stopped.
    pub(super) fn named(
        &self,
        answered: &HashMap<OpenActivityKey, AnsweredCall>,
        resolved: &Resolved<'_>,
    ) -> ServingRequest {
        let model = resolved.model();
        let id = self.id.as_ref().map(|id| model.id_text(id));
        let key = id.as_ref().filter(|_| self.may_repeat);
        let answered = answered.get(&self.place);
        ServingRequest {
            name: ActivityName::from_label(
                model.text(answered.map_or(self.label, |answered| answered.label)),
                Some(HttpDirection::In),
            ),
            key: key.map(|id| ActivityId::key(id, self.start_nanos)),
            id,
            start_ns: self.start_nanos,
            duration_ns: answered.map(|answered| answered.nanos),
        }
    }
}

impl Activities {
    /// Notes the incoming request for the outgoing one that its start names by a trace id. A path
    /// does not tell it: the number of a child says nothing of who asked. `place`: key of the
    /// incoming request, which may be open already, with the start of a layer.
    pub(super) fn note_serving(
        &mut self,
        edge: &ActivityEdge,
        thread: ThreadHandle,
        place: OpenActivityKey,
    ) {
        let Some(call) = edge.parent.as_ref().filter(|id| !id.is_path()) else { return };
        let is_call = |activity: &BegunActivity| {
            let request = activity.request.as_ref();
            request.is_some_and(|request| request.facts.direction() == Some(HttpDirection::Out))
        };
        let call = self.open.parent_among(None, Some(call), thread, is_call);
        let Some(call) = call else { return };
        let Some(incoming) = self.open.at(place) else { return };
        let Some(request) = &incoming.what.request else { return };
        let serving = Serving {
            place,
            label: request.label.unwrap_or(incoming.name),
            id: incoming.id.clone(),
            may_repeat: incoming.may_repeat,
            start_nanos: incoming.at.nanos,
        };
        let layer_of = self.request_mut(call).and_then(|call| call.layer_of);
        if let Some(call) = self.request_mut(layer_of.unwrap_or(call))
            && call.served_by.len() < MAX_SERVING
            && call.served_by.iter().all(|known| known.place != place)
        {
            call.served_by.push(serving);
            if let Some(incoming) = self.request_mut(place) {
                incoming.is_serving = true;
            }
        }
    }

    /// Keeps an incoming request that has served an outgoing one.
    pub(super) fn has_answered(&mut self, place: OpenActivityKey, answered: AnsweredCall) {
        if self.answered.len() < MAX_ANSWERED {
            self.answered.insert(place, answered);
        }
    }
}
