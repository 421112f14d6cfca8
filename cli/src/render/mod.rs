//! How events are shown: one file per form. Each appends one event to a page; filters and
//! order are decided before, writing happens after.

mod text;

pub(crate) use text::Text;

use nettrace_export::{Csv, EventTypes, Ndjson, Page, Selection, TypeIndex};
use nettrace_parser::Event;
use std::borrow::Cow;

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
        match self {
            Form::Text(text) => text.name_frames(names),
            Form::Ndjson(ndjson) => ndjson.name_frames(names),
            Form::Csv(csv) => csv.name_frames(names),
        }
    }

    /// One event that belongs to `place`.
    #[inline(always)]
    pub(crate) fn event(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        match self {
            Form::Text(text) => {
                page.append(|out| text.event(out, event, type_index, types, selection))
            }
            Form::Ndjson(ndjson) => ndjson.event(page, event, type_index, types, selection),
            Form::Csv(csv) => {
                page.append(|out| csv.event(out, event, type_index, types, selection))
            }
        }
    }

    /// What comes after the last event.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if let Form::Csv(csv) = self {
            csv.end(out);
        }
    }
}
