//! What all events of a type have in common as starts and stops of activities.

use super::edge_fields::EdgeFields;
use super::{ActivityEdge, is_failure, is_span, task_name};
use crate::by_type::ByType;
use crate::hash::hash_of;
use crate::model::activity_pairs::{ActivityPair, pair_of};
use crate::model::{TextHandle, Texts, short};
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Fields, Schema};
use std::sync::{Arc, OnceLock};

/// What all events of a type have in common as starts and stops of activities.
#[derive(Debug)]
pub(crate) struct EdgeType {
    /// Hash of the name of the provider.
    pub(super) provider: u64,
    pub(super) source: EdgeSource,
}

/// Where the events of a type have the names of their activities.
#[derive(Debug)]
pub(super) enum EdgeSource {
    /// Each event of DiagnosticSource names its activity in its payload.
    Payload {
        /// Whether a DiagnosticListener reports the activity.
        is_listener: bool,
    },
    /// The type names the activity.
    Type {
        /// Name of the activity: `Provider/Task`.
        name: Arc<str>,
        /// Position of the task in `name`.
        task_at: usize,
        /// Pair that the type belongs to, and whether its events are starts. Without a pair, the
        /// opcode tells starts and stops.
        pair: Option<(&'static ActivityPair, bool)>,
        is_failure: bool,
        fields: Box<EdgeFields>,
        schema: Option<Schema>,
        /// The name among the texts of the model, once it is one of them.
        handle: OnceLock<TextHandle>,
    },
}

impl EdgeType {
    /// Returns what the events of an event's type have in common; `None` if they are no starts and
    /// stops that reports of activities read.
    pub(crate) fn from_event(event: &Event<'_>) -> Option<EdgeType> {
        let source = match event.known_provider() {
            KnownProvider::DiagnosticSource => {
                EdgeSource::Payload { is_listener: !is_span(event.name()) }
            }
            KnownProvider::Logging | KnownProvider::Other => {
                let pair = pair_of(event.provider(), event.name());
                let source = short(event.provider());
                let task = pair.map_or(short(task_name(event.name())), |(pair, ..)| pair.name);
                let name: Arc<str> = format!("{source}/{task}").into();
                EdgeSource::Type {
                    is_failure: is_failure(event),
                    fields: Box::new(EdgeFields::new(
                        event,
                        &name,
                        pair.map(|(pair, ..)| pair.keys),
                    )),
                    schema: event.schema().cloned(),
                    handle: OnceLock::new(),
                    name,
                    task_at: source.len().saturating_add(1),
                    pair: pair.map(|(pair, is_start, _)| (pair, is_start)),
                }
            }
            // The runtime's own activities have reports of their own.
            _ => return None,
        };
        Some(EdgeType { provider: hash_of(event.provider()), source })
    }

    /// Returns the fields of a payload that was kept; `None` if only the event can tell them.
    pub(crate) fn fields_of<'p>(
        &'p self,
        payload: &'p [u8],
        pointer_size: u8,
    ) -> Option<Fields<'p>> {
        match &self.source {
            EdgeSource::Payload { .. } => None,
            EdgeSource::Type { schema, .. } => Some(schema.as_ref()?.fields(payload, pointer_size)),
        }
    }

    /// Returns the handle of an activity's name among the texts of the model.
    pub(crate) fn name_in(&self, edge: &ActivityEdge, texts: &mut Texts) -> TextHandle {
        match &self.source {
            EdgeSource::Payload { .. } => texts.intern(&edge.name),
            EdgeSource::Type { handle, .. } => *handle.get_or_init(|| texts.intern(&edge.name)),
        }
    }
}

/// The edges of activities by event type.
#[derive(Debug)]
pub(crate) struct EdgeTypes(ByType<Option<Arc<EdgeType>>>);

impl Default for EdgeTypes {
    fn default() -> EdgeTypes {
        EdgeTypes(ByType::new(None))
    }
}

impl EdgeTypes {
    /// Returns what the events of an event's type have in common; `None` if they are no starts and
    /// stops that reports of activities read.
    #[inline]
    pub(crate) fn look_up(&mut self, event: &Event<'_>) -> Option<Arc<EdgeType>> {
        self.0.look_up(event, |event| EdgeType::from_event(event).map(Arc::new)).clone()
    }
}
