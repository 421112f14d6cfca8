//! Fields of an activity's start or stop, as text.

use crate::model::activity_edge::EdgeType;
use crate::model::short;
use crate::report::contract::Moment;
use nettrace_parser::view::{self, KnownProvider, View};
use nettrace_parser::{Event, Fields};
use std::sync::Arc;

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

/// Maximum length of a payload that is kept, in bytes. The text of a longer one is shorter.
const MAX_PAYLOAD_BYTES: usize = 512;

/// Fields of an activity's start or stop. Only those of the few slowest are shown, so their text is
/// made at the end.
#[derive(Debug, Clone, Default)]
pub(super) enum KeptFields {
    #[default]
    None,
    Text(String),
    Payload {
        bytes: Box<[u8]>,
        of: Arc<EdgeType>,
        pointer_size: u8,
    },
}

impl KeptFields {
    pub(super) fn new(event: &Event<'_>, moment: &Moment) -> KeptFields {
        let payload = Some(event.payload()).filter(|it| it.len() <= MAX_PAYLOAD_BYTES);
        let pointer_size = event.session().pointer_size;
        let of = moment.edge_type().filter(|of| of.fields_of(&[], pointer_size).is_some());
        match payload.zip(of) {
            Some((bytes, of)) => {
                KeptFields::Payload { bytes: bytes.into(), of: Arc::clone(of), pointer_size }
            }
            None => KeptFields::Text(fields_text(event)),
        }
    }

    /// Returns the fields of a stop of DiagnosticSource, which has the tags that were set while the
    /// activity ran. `None` if there are none.
    pub(super) fn at_stop(event: &Event<'_>) -> Option<KeptFields> {
        let has_tags = event.known_provider() == KnownProvider::DiagnosticSource;
        let text = has_tags.then(|| fields_text(event)).filter(|text| !text.is_empty());
        text.map(KeptFields::Text)
    }

    pub(super) fn into_text(self) -> String {
        match self {
            KeptFields::None => String::new(),
            KeptFields::Text(text) => text,
            KeptFields::Payload { bytes, of, pointer_size } => {
                of.fields_of(&bytes, pointer_size).map(text_of).unwrap_or_default()
            }
        }
    }
}

/// Returns fields as `name=value name=value …`, limited in length. Events of DiagnosticSource show
/// their arguments, without [`PROPERTIES`].
pub(super) fn fields_text(event: &Event<'_>) -> String {
    let Some(activity) = view::Activity::from_event(event) else { return text_of(event.fields()) };
    let mut text = String::new();
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
    cut(text)
}

/// Returns the value of a field of a start or stop, as a text.
pub(super) fn value_of(event: &Event<'_>, wanted: &str) -> Option<String> {
    if let Some(activity) = view::Activity::from_event(event) {
        let mut arguments = activity.arguments();
        return arguments.find(|(name, _)| *name == *wanted).map(|(_, value)| String::from(value));
    }
    let mut text = String::new();
    let value = event.fields().find(wanted)?.value.ok()?;
    value.append_to(&mut text);
    Some(text)
}

/// Returns whether a field of a start or stop has a value.
pub(super) fn is_field(event: &Event<'_>, field: &str, value: &str) -> bool {
    value_of(event, field).is_some_and(|text| text == value)
}

fn text_of(fields: Fields<'_>) -> String {
    let mut text = String::new();
    for field in fields {
        let Ok(value) = field.value else { break };
        begin_field(&mut text, short(field.name()));
        value.append_to(&mut text);
        if is_long(&text) {
            break;
        }
    }
    cut(text)
}

fn cut(mut text: String) -> String {
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
