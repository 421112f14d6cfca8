//! The fields of an activity's start or stop, for reading.

use crate::model::short;
use nettrace_parser::Event;
use nettrace_parser::view;

/// Longest text of an event's fields, in characters.
const LONGEST_FIELDS: usize = 200;

/// Properties of every activity of .NET that say nothing of what it does, or that are reported elsewhere.
const PROPERTIES: [&str; 25] = [
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
];

/// `name=value name=value …`, cut. Of DiagnosticSource the arguments, without what all activities have.
pub(super) fn fields_text(event: &Event<'_>) -> String {
    let mut text = String::new();
    let mut add = |name: &dyn std::fmt::Display, value: &dyn std::fmt::Display| {
        use std::fmt::Write;
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a String does not fail.
        let _ = write!(text, "{space}{name}={value}");
        text.len() > LONGEST_FIELDS.saturating_mul(4)
    };
    if let Some(activity) = view::Activity::of(event) {
        for (name, value) in activity.arguments() {
            let value = value.to_string();
            let is_said = PROPERTIES.iter().any(|property| name.equals(property));
            // What is not a text is shown as the name of its type.
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
    if let Some((end, _)) = text.char_indices().nth(LONGEST_FIELDS) {
        text.truncate(end);
        text.push('…');
    }
    text
}
