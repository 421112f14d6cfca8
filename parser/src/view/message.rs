//! View of messages of EventSources.

use super::View;
use crate::event::Event;
use crate::payload::Utf16;

/// Event 0, `EventSourceMessage`, of any EventSource: an error of the EventSource, or a text
/// written by `EventSource.Write(string)`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Message<'r> {
    /// Text of the message.
    pub text: Utf16<'r>,
}

impl<'r> View<'r> for Message<'r> {
    fn from_event(event: &Event<'r>) -> Option<Message<'r>> {
        if event.id() != 0 || event.name() != "EventSourceMessage" {
            return None;
        }
        let text = event.fields().find_map(|field| field.value.ok()?.as_utf16())?;
        Some(Message { text })
    }
}
