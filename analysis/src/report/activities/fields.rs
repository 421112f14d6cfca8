//! Fields of an activity's start or stop, as text.

use crate::model::short;
use nettrace_parser::Event;
use nettrace_parser::view;
use nettrace_parser::view::{KnownProvider, View};

/// Maximum length of the text, in characters.
const MAX_FIELDS_CHARACTERS: usize = 200;

/// Properties that every .NET activity has and that say nothing about it or are reported elsewhere.
const PROPERTIES: [&str; 29] = [
    "ForceDefaultIdFormat",
    "DefaultIdFormat",
    "W3CIdFlagsSet",
    "IsStopped",
    "Status",
    "HasRemoteParent",
    "Current",
    "OperationName",
    "DisplayName",
    "Source",
    "Parent",
    "Duration",
    "DurationTicks",
    "StartTimeTicks",
    "StartTimeUtc",
    "Id",
    "ParentId",
    "RootId",
    "SpanId",
    "TraceId",
    "ParentSpanId",
    "Recorded",
    "IsAllDataRequested",
    "ActivityTraceFlags",
    "Context",
    "IdFormat",
    "TraceIdGenerator",
    "HasRandomizedTraceId",
    "DebuggerDisplayString",
];

/// Returns fields as `name=value name=value …`, limited in length. Events of DiagnosticSource show
/// their arguments, without [`PROPERTIES`].
pub(super) fn fields_text(event: &Event<'_>) -> String {
    let mut text = String::new();
    if let Some(activity) = view::Activity::from_event(event) {
        for (name, value) in activity.arguments() {
            let (name, value) = (String::from(name), String::from(value));
            let is_said = PROPERTIES.contains(&name.as_str());
            // Values other than texts are reported as the name of their type.
            let is_nothing = matches!(value.as_str(), "" | "[]") || value.starts_with("System.");
            if !is_said && !is_nothing {
                begin_field(&mut text, &name);
                text.push_str(&value);
                if is_long(&text) {
                    break;
                }
            }
        }
    } else {
        for field in event.fields() {
            let Ok(value) = field.value else { break };
            begin_field(&mut text, short(field.name()));
            value.append_to(&mut text);
            if is_long(&text) {
                break;
            }
        }
    }
    if text.len() > MAX_FIELDS_CHARACTERS
        && let Some((end, _)) = text.char_indices().nth(MAX_FIELDS_CHARACTERS)
    {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn begin_field(text: &mut String, name: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(name);
    text.push('=');
}

/// Returns whether a text certainly has more than the maximum number of characters, each of which
/// takes up to four bytes. The exact cut comes at the end.
fn is_long(text: &str) -> bool {
    text.len() > MAX_FIELDS_CHARACTERS.saturating_mul(4)
}

/// Returns the fields of a stop of DiagnosticSource, which has the tags that were set while the
/// activity ran. `None` if there are none.
pub(super) fn fields_at_stop(event: &Event<'_>) -> Option<String> {
    let has_tags = event.known_provider() == KnownProvider::DiagnosticSource;
    has_tags.then(|| fields_text(event)).filter(|text| !text.is_empty())
}
