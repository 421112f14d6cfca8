//! Messages of ILogger, each of which may come in up to three forms.

use super::LogLevel;
use crate::flat_json;
use nettrace_parser::view::{self, View};
use nettrace_parser::{Event, Value};

/// Name of the argument that is the template.
const TEMPLATE: &str = "{OriginalFormat}";
/// Maximum number of arguments that are read.
const MAX_ARGUMENTS: usize = 100;

/// Form of a message. The order is that in which the logger writes the forms.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// `FormattedMessage`.
    Formatted,
    /// `Message`: arguments and exception, without text.
    #[default]
    Structured,
    /// `MessageJson`: arguments and exception as JSON.
    Json,
}

/// Message as one event reports it.
#[derive(Debug, Default)]
pub(crate) struct LoggedMessage {
    pub(crate) form: Form,
    pub(crate) level: LogLevel,
    pub(crate) logger: String,
    pub(crate) event_id: String,
    /// Whether the id is shown for an event without a name: it is a text, or the form has no
    /// formatted text.
    pub(crate) is_id_shown: bool,
    pub(crate) event_name: String,
    /// Formatted text; empty if the form has none.
    pub(crate) text: String,
    pub(crate) template: Option<String>,
    /// Names and values of arguments, without the template.
    pub(crate) arguments: Vec<(String, String)>,
    /// Exception: type, message and stack, in lines.
    pub(crate) exception: Option<String>,
    /// Trace id of the activity that wrote the message.
    pub(crate) trace: Option<String>,
    pub(crate) span: Option<String>,
}

impl LoggedMessage {
    /// Reads a message; `None` if the event is not a logger's.
    pub(crate) fn from_event(event: &Event<'_>) -> Option<LoggedMessage> {
        if event.name() == "Message" {
            return LoggedMessage::structured(event);
        }
        let message = view::LogMessage::from_event(event)?;
        let is_json = event.name() == "MessageJson";
        let text = |text: Option<nettrace_parser::Utf16<'_>>| {
            text.map(|text| text.to_string()).unwrap_or_default()
        };
        let (template, arguments) = parted(flat_json::members(&text(message.arguments_json)));
        let exception = flat_json::members(&text(message.exception_json));
        let part = |name: &str| {
            let found = exception.iter().find(|(part, _)| part == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        let id = |name| event.field(name).and_then(|value| value.to_text());
        // From .NET 5 on, the id is a number instead of a text.
        let id_text = message.event_id.to_string();
        let is_id_shown = !id_text.is_empty();
        let event_id = if is_id_shown {
            id_text
        } else {
            event.field("EventId").map(|value| shown(&value)).unwrap_or_default()
        };
        Some(LoggedMessage {
            form: if is_json { Form::Json } else { Form::Formatted },
            level: LogLevel::of_logger(message.level),
            logger: message.logger.to_string(),
            event_id,
            is_id_shown,
            event_name: message.event_name.to_string(),
            text: message.message.to_string(),
            template,
            arguments,
            exception: exception_text(part("TypeName"), part("Message"), part("VerboseMessage")),
            trace: id("ActivityTraceId").filter(|id| is_id(id, 32)),
            span: id("ActivitySpanId").filter(|id| is_id(id, 16)),
        })
    }

    fn structured(event: &Event<'_>) -> Option<LoggedMessage> {
        let mut message = LoggedMessage { is_id_shown: true, ..LoggedMessage::default() };
        let mut is_message = false;
        for field in event.fields() {
            let Ok(value) = field.value else { break };
            match field.name() {
                "Level" => {
                    let level = value.as_u64().and_then(|level| u32::try_from(level).ok())?;
                    message.level = LogLevel::of_logger(level);
                }
                "LoggerName" => {
                    message.logger = value.to_text()?;
                    is_message = true;
                }
                "EventId" => message.event_id = shown(&value),
                "EventName" => message.event_name = shown(&value),
                "Exception" => {
                    let part = |name: &str| {
                        let field = value.as_object().and_then(|object| object.field(name));
                        field.and_then(|value| value.to_text()).unwrap_or_default()
                    };
                    message.exception = exception_text(
                        &part("TypeName"),
                        &part("Message"),
                        &part("VerboseMessage"),
                    );
                }
                "Arguments" => {
                    (message.template, message.arguments) = parted(pairs(&value));
                }
                "ActivityTraceId" => message.trace = value.to_text().filter(|id| is_id(id, 32)),
                "ActivitySpanId" => message.span = value.to_text().filter(|id| is_id(id, 16)),
                _ => {}
            }
        }
        is_message.then_some(message)
    }

    /// Returns the text, or the template filled with the arguments.
    pub(crate) fn rendered(&self) -> String {
        match &self.template {
            Some(template) if self.text.is_empty() => filled(template, &self.arguments),
            _ => self.text.clone(),
        }
    }
}

fn shown(value: &Value<'_>) -> String {
    value.to_text().or_else(|| Some(value.as_i64()?.to_string())).unwrap_or_default()
}

/// Returns whether an id has this number of digits and not only zeros.
fn is_id(id: &str, digits: usize) -> bool {
    id.len() == digits && id.bytes().any(|digit| digit != b'0')
}

/// Returns keys and values of an array of objects.
pub(super) fn pairs(value: &Value<'_>) -> Vec<(String, String)> {
    let Some(array) = value.as_array() else { return Vec::new() };
    let pair = |value: Value<'_>| {
        let object = value.as_object()?;
        let text = |name| object.field(name).and_then(|value| value.to_text()).unwrap_or_default();
        Some((text("Key"), text("Value")))
    };
    array.iter().filter_map(pair).take(MAX_ARGUMENTS).collect()
}

/// Separates the template from the other arguments.
pub(super) fn parted(arguments: Vec<(String, String)>) -> (Option<String>, Vec<(String, String)>) {
    let (template, arguments): (Vec<_>, Vec<_>) =
        arguments.into_iter().partition(|(name, _)| name == TEMPLATE);
    (template.into_iter().next().map(|(_, template)| template), arguments)
}

/// Returns a text such as `Shop.ShopException: card declined`, with the stack in the lines after
/// it.
fn exception_text(type_name: &str, message: &str, verbose: &str) -> Option<String> {
    let text = match (type_name, message, verbose) {
        ("", "", "") => return None,
        (_, _, verbose) if !verbose.is_empty() => verbose.to_owned(),
        (type_name, "", _) => type_name.to_owned(),
        ("", message, _) => message.to_owned(),
        (type_name, message, _) => format!("{type_name}: {message}"),
    };
    Some(text.replace("\r\n", "\n"))
}

/// Returns a template with the arguments in the order of its holes.
fn filled(template: &str, arguments: &[(String, String)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    let mut values = arguments.iter();
    while let Some(at) = rest.find(['{', '}']) {
        let (before, hole) = rest.split_at(at);
        text.push_str(before);
        let doubled = hole.get(..2).filter(|start| matches!(*start, "{{" | "}}"));
        if doubled.is_some() {
            text.push_str(hole.get(..1).unwrap_or_default());
            rest = hole.get(2..).unwrap_or_default();
            continue;
        }
        let Some(end) = hole.find('}').filter(|_| hole.starts_with('{')) else {
            text.push_str(hole);
            return text;
        };
        match values.next() {
            Some((_, value)) => text.push_str(value),
            None => text.push_str(hole.get(..=end).unwrap_or_default()),
        }
        rest = hole.get(end.saturating_add(1)..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_with_the_arguments_in_their_order() {
        let arguments: Vec<(String, String)> =
            [("Amount", "12.5"), ("Id", "{7}")].map(|(a, b)| (a.into(), b.into())).to_vec();
        for (template, text) in [
            ("Charging {Amount:N2} for {Id}", "Charging 12.5 for {7}"),
            ("{{x}} {Amount}{Id}{More}", "{x} 12.5{7}{More}"),
            ("never {ends", "never {ends"),
            ("é } {", "é } {"),
            ("", ""),
        ] {
            assert_eq!(filled(template, &arguments), text);
        }
    }
}
