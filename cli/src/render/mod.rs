//! How events are shown: one file a form. Each appends one event to a page; filters and order are decided
//! before, writing happens behind.

mod csv;
mod digits;
mod head;
pub(crate) mod json;
mod line;
mod ndjson;
mod page;
mod payload;
mod plain;
mod plan;
mod rows;
mod text;
mod text_value;
mod utf16;

pub(crate) use csv::Csv;
pub(crate) use ndjson::Ndjson;
pub(crate) use page::Page;
pub(crate) use payload::PayloadWriter;
pub(crate) use plain::plain;
pub(crate) use text::Text;

use crate::event_types::{EventTypes, Place};
use crate::selection::Selection;
use json::Json;
use nettrace_parser::Event;
use std::borrow::Cow;

/// What of an event is shown beside the ordinary.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Detail {
    pub(crate) stacks: bool,
    /// Names of frames beside their addresses, or in text instead of them.
    pub(crate) frames: bool,
    pub(crate) raw: bool,
    /// Times as UTC.
    pub(crate) utc: bool,
    /// Whole numbers that a double does not hold exactly are strings.
    pub(crate) big_ints_as_strings: bool,
}

/// One of the forms.
#[allow(clippy::large_enum_variant, reason = "there is one of it in a run")]
pub(crate) enum Form {
    Text(Text),
    Ndjson(Ndjson),
    Csv(Csv),
}

impl Form {
    /// What comes before the first event.
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>, has_processes: bool) {
        match self {
            Form::Text(text) => text.begin(out, has_processes),
            Form::Ndjson(_) => {}
            Form::Csv(csv) => csv.begin(out),
        }
    }

    /// The names of the frames of the event that comes next.
    pub(crate) fn name_frames(&mut self, names: &[Cow<'_, str>]) {
        let frames = match self {
            Form::Text(text) => &mut text.frames,
            Form::Ndjson(ndjson) => &mut ndjson.frames,
            Form::Csv(csv) => &mut csv.frames,
        };
        frames.clear();
        frames.extend(names.iter().map(|name| name.to_string()));
    }

    /// One event that belongs to `place`.
    #[inline(always)]
    pub(crate) fn event(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        place: Place,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        match self {
            Form::Text(text) => page.append(|out| text.event(out, event, place, types, selection)),
            Form::Ndjson(ndjson) => ndjson.event(page, event, place, types, selection),
            Form::Csv(csv) => page.append(|out| csv.event(out, event, place, types, selection)),
        }
    }

    /// What comes behind the last event.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if let Form::Csv(csv) = self {
            csv.end(out);
        }
    }
}

/// Appends names as an array of JSON.
fn write_names(out: &mut Vec<u8>, names: &[String]) {
    out.push(b'[');
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.string(name);
    }
    out.push(b']');
}

/// The opcode to show, and whether the stream stores it: if not, a name that ends in Start or Stop says it.
fn opcode(event: &Event<'_>) -> (u8, bool) {
    match event.opcode() {
        Some(opcode) => (opcode, true),
        None => (event.implied_opcode(), false),
    }
}
