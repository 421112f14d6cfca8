//! How events are shown: one file a form. Each appends one event to a buffer; filters and order are decided
//! before, writing happens behind.

mod json;
mod ndjson;
mod text;

pub(crate) use ndjson::Ndjson;
pub(crate) use text::Text;

use crate::event_types::EventType;
use nettrace_parser::Event;

/// What of an event is shown beside the ordinary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail {
    pub(crate) stacks: bool,
    pub(crate) raw: bool,
    /// Times as UTC.
    pub(crate) utc: bool,
}

/// One of the forms.
pub(crate) enum Form {
    Text(Text),
    Ndjson(Ndjson),
}

impl Form {
    /// What comes before the first event.
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>, has_processes: bool) {
        if let Form::Text(text) = self {
            text.begin(out, has_processes);
        }
    }

    /// One event, whose type has this number.
    #[inline]
    pub(crate) fn event(&mut self, out: &mut Vec<u8>, event: &Event<'_>, number: usize, row: &EventType) {
        match self {
            Form::Text(text) => text.event(out, event, number, row),
            Form::Ndjson(ndjson) => ndjson.event(out, event, number, row),
        }
    }
}

/// The opcode to show, and whether the stream stores it: if not, a name that ends in Start or Stop says it.
fn opcode(event: &Event<'_>) -> (u8, bool) {
    match event.opcode() {
        Some(opcode) => (opcode, true),
        None => (event.implied_opcode(), false),
    }
}
