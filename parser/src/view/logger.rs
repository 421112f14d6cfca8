//! Messages of ILogger.

use super::{KnownProvider, number32};
use crate::event::Event;
use crate::payload::Utf16;

/// A log message: `Microsoft-Extensions-Logging` `FormattedMessage` and `MessageJson`, any version.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LogMessage<'r> {
    /// 0 trace, 1 debug, 2 information, 3 warning, 4 error, 5 critical.
    pub level: u32,
    /// The logger's category.
    pub logger: Utf16<'r>,
    /// The message's event name or id, possibly empty.
    pub event: Utf16<'r>,
    /// The text. Of `MessageJson` the formatted text where the writer adds it, else empty.
    pub message: Utf16<'r>,
    /// `MessageJson`: the arguments as JSON.
    pub arguments_json: Option<Utf16<'r>>,
    /// `MessageJson`: the exception as JSON.
    pub exception_json: Option<Utf16<'r>>,
}

impl<'r> LogMessage<'r> {
    /// The view of an event.
    pub fn of(event: &Event<'r>) -> Option<LogMessage<'r>> {
        if event.known_provider() != KnownProvider::Logging
            || !matches!(event.name(), "FormattedMessage" | "MessageJson")
        {
            return None;
        }
        let level = number32(&mut event.fields(), "Level")?;
        let text = |name| event.field(name).and_then(|value| value.as_utf16());
        Some(LogMessage {
            level,
            logger: text("LoggerName")?,
            event: text("EventName").or_else(|| text("EventId")).unwrap_or_default(),
            message: text("FormattedMessage").unwrap_or_default(),
            arguments_json: text("ArgumentsJson"),
            exception_json: text("ExceptionJson"),
        })
    }
}
