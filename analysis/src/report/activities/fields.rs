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
    let mut add = |name: &dyn std::fmt::Display, value: &dyn std::fmt::Display| {
        use std::fmt::Write;
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{space}{name}={value}");
        // A character takes up to four bytes; the exact cut comes at the end.
        text.len() > MAX_FIELDS_CHARACTERS.saturating_mul(4)
    };
    if let Some(activity) = view::Activity::from_event(event) {
        for (name, value) in activity.arguments() {
            let value = value.to_string();
            let is_said = PROPERTIES.iter().any(|property| name == **property);
            // Values other than texts are reported as the name of their type.
            let is_nothing = matches!(value.as_str(), "" | "[]") || value.starts_with("System.");
            if !is_said && !is_nothing && add(&name, &value) {
                break;
            }
        }
    } else {
        for field in event.fields() {
            let Ok(value) = field.value else { break };
            if add(&short(field.name()), &value) {
                break;
            }
        }
    }
    if let Some((end, _)) = text.char_indices().nth(MAX_FIELDS_CHARACTERS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the fields of a stop of DiagnosticSource, which has the tags that were set while the
/// activity ran. `None` if there are none.
pub(super) fn fields_at_stop(event: &Event<'_>) -> Option<String> {
    let has_tags = event.known_provider() == KnownProvider::DiagnosticSource;
    has_tags.then(|| fields_text(event)).filter(|text| !text.is_empty())
}
