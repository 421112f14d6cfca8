//! Messages of ILogger.

use super::{KnownProvider, View};
use crate::event::Event;
use crate::payload::Utf16;

/// A log message: `FormattedMessage` and `MessageJson` of `Microsoft-Extensions-Logging`,
/// any version.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LogMessage<'r> {
    /// 0 trace, 1 debug, 2 information, 3 warning, 4 error, 5 critical.
    pub level: u32,
    /// The logger's category.
    pub logger: Utf16<'r>,
    /// The message's event id, a number as text.
    pub event_id: Utf16<'r>,
    /// The message's event name, usually empty.
    pub event_name: Utf16<'r>,
    /// The text. For `MessageJson`, the formatted text if the writer includes it, else
    /// empty.
    pub message: Utf16<'r>,
    /// `MessageJson` only: the arguments as JSON.
    pub arguments_json: Option<Utf16<'r>>,
    /// `MessageJson` only: the exception as JSON.
    pub exception_json: Option<Utf16<'r>>,
}

impl<'r> View<'r> for LogMessage<'r> {
    fn of(event: &Event<'r>) -> Option<LogMessage<'r>> {
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
        for field in event.fields() {
            let Ok(value) = field.value else { continue };
            match field.name() {
                "Level" => level = value.as_u64(),
                "LoggerName" => logger = value.as_utf16(),
                "EventId" => message.event_id = value.as_utf16().unwrap_or_default(),
                "EventName" => message.event_name = value.as_utf16().unwrap_or_default(),
                "FormattedMessage" => message.message = value.as_utf16().unwrap_or_default(),
                "ArgumentsJson" => message.arguments_json = value.as_utf16(),
                "ExceptionJson" => message.exception_json = value.as_utf16(),
                _ => {}
            }
        }
        message.level = u32::try_from(level?).ok()?;
        message.logger = logger?;
        Some(message)
    }
}
