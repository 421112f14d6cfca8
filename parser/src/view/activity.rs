//! View of activities of DiagnosticSource.

use super::{KnownProvider, View, text};
use crate::event::Event;
use crate::payload::{Array, Utf16};

/// Start, stop or another event of a DiagnosticSource or ActivitySource: any event of
/// `Microsoft-Diagnostics-DiagnosticSource` with arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Activity<'r> {
    /// Whether the activity starts, stops, or is a single point in time.
    pub edge: ActivityEdge,
    /// Name of the DiagnosticSource or ActivitySource.
    pub source: Utf16<'r>,
    /// Name of the activity or event.
    pub name: Utf16<'r>,
    arguments: Option<Array<'r>>,
}

/// Moment in the life of an activity that an event marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ActivityEdge {
    /// The activity starts.
    Start,
    /// The activity stops.
    Stop,
    /// The event is a single point in time.
    Instant,
}

impl<'r> View<'r> for Activity<'r> {
    fn from_event(event: &Event<'r>) -> Option<Activity<'r>> {
        if event.known_provider() != KnownProvider::DiagnosticSource {
            return None;
        }
        let edge = match event.name() {
            name if name.ends_with("Start") => ActivityEdge::Start,
            name if name.ends_with("Stop") => ActivityEdge::Stop,
            _ => ActivityEdge::Instant,
        };
        let (mut source, mut name, mut arguments) = (None, None, None);
        for field in event.fields() {
            let Ok(value) = field.value else { continue };
            match field.name() {
                "SourceName" => source = value.as_utf16(),
                "ActivityName" | "EventName" => name = value.as_utf16(),
                "Arguments" => arguments = value.as_array(),
                _ => {}
            }
        }
        Some(Activity { edge, source: source?, name: name?, arguments })
    }
}

impl<'r> Activity<'r> {
    /// Returns the keys and values of the activity's arguments.
    pub fn arguments(&self) -> impl Iterator<Item = (Utf16<'r>, Utf16<'r>)> + use<'r> {
        self.arguments.into_iter().flat_map(|array| array.iter()).filter_map(|argument| {
            let mut fields = argument.as_object()?.fields();
            Some((text(&mut fields, "Key")?, text(&mut fields, "Value").unwrap_or_default()))
        })
    }
}
