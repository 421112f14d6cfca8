//! View of messages of ILogger.

use super::{KnownProvider, View};
use crate::event::Event;
use crate::payload::Utf16;

/// Maximum number of texts of a message after its event id. The newest version has seven.
const MAX_TEXTS: usize = 8;

/// Log message: `FormattedMessage` and `MessageJson` of `Microsoft-Extensions-Logging`, any
/// version.
///
/// .NET Core 3.1 omits a text that is null, usually the event's name, so that later texts are in
/// the wrong fields. The view corrects this.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LogMessage<'r> {
    /// Level: 0 trace, 1 debug, 2 information, 3 warning, 4 error, 5 critical.
    pub level: u32,
    /// Category of the logger.
    pub logger: Utf16<'r>,
    /// Event id of the message, as text.
    pub event_id: Utf16<'r>,
    /// Event name of the message; usually empty.
    pub event_name: Utf16<'r>,
    /// Formatted text; empty if `MessageJson` does not include it.
    pub message: Utf16<'r>,
    /// Arguments as JSON; `None` for `FormattedMessage`.
    pub arguments_json: Option<Utf16<'r>>,
    /// Exception as JSON; `None` for `FormattedMessage`.
    pub exception_json: Option<Utf16<'r>>,
}

impl<'r> View<'r> for LogMessage<'r> {
    fn from_event(event: &Event<'r>) -> Option<LogMessage<'r>> {
        if event.known_provider() != KnownProvider::Logging
            || !matches!(event.name(), "FormattedMessage" | "MessageJson")
        {
            return None;
        }
        let (mut level, mut logger) = (None, None);
        let mut message = LogMessage {
            level: 0,
            logger: Utf16::default(),
            event_id: Utf16::default(),
            event_name: Utf16::default(),
            message: Utf16::default(),
            arguments_json: None,
            exception_json: None,
        };
        // The texts after the event's id, as the stream describes them.
        let (mut names, mut texts) = ([""; MAX_TEXTS], [None; MAX_TEXTS]);
        let (mut described, mut present) = (0_usize, 0_usize);
        for field in event.fields() {
            let Ok(value) = field.value else { continue };
            match field.name() {
                "Level" => level = value.as_u64(),
                "LoggerName" => logger = value.as_utf16(),
                "EventId" => message.event_id = value.as_utf16().unwrap_or_default(),
                name => {
                    if let Some(place) = names.get_mut(described) {
                        *place = name;
                        described = described.saturating_add(1);
                    }
                    if let (Some(text), Some(place)) = (value.as_utf16(), texts.get_mut(present)) {
                        *place = Some(text);
                        present = present.saturating_add(1);
                    }
                }
            }
        }
        let left_out = described.saturating_sub(present);
        let names = names.iter().skip(left_out);
        for (name, text) in names.zip(texts.into_iter().flatten()) {
            match *name {
                "EventName" => message.event_name = text,
                "FormattedMessage" => message.message = text,
                "ArgumentsJson" => message.arguments_json = Some(text),
                "ExceptionJson" => message.exception_json = Some(text),
                _ => {}
            }
        }
        message.level = u32::try_from(level?).ok()?;
        message.logger = logger?;
        Some(message)
    }
}
