//! Writes events in the forms that `nettrace events`, `watch`, the converters and `export` show,
//! one call per event.

use crate::csv::Csv;
use crate::detail::Detail;
use crate::event_types::{EventTypes, TypeIndex};
use crate::filter::{Filter, FilterOptions};
use crate::ndjson::Ndjson;
use crate::page::Page;
use crate::pattern::EventPattern;
use crate::selection::Selection;
use crate::text::{TextLines, TextOptions};
use nettrace_parser::Event;
use std::borrow::Cow;

/// Form in which an [`EventWriter`] writes events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EventForm {
    /// One JSON object per event, each on its own line.
    #[default]
    Ndjson,
    /// A header line and one row per event.
    Csv,
    /// Text for people: a heading and aligned lines, one per event.
    Text,
}

/// Options of an [`EventWriter`]: which events it writes, and which of their parts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Optional parts of an event to write.
    pub detail: Detail,
    /// Conditions that an event must satisfy to be written.
    pub filter: FilterOptions,
    /// Names of the payload fields to write, in this order. If there are none, all fields are
    /// written.
    pub fields: Vec<String>,
    /// Maximum number of events to write.
    pub limit: Option<u64>,
    /// Whether CSV has an apostrophe before texts that begin with `=`, `+`, `-` or `@`, which
    /// spreadsheets would execute as formulas. Hidden characters ([`hidden`](crate::hidden)) are
    /// replaced, too.
    pub csv_safe: bool,
    /// Layout of [`EventForm::Text`].
    pub text: TextOptions,
}

impl WriteOptions {
    /// Returns whether a part of a trace can be written without the events before it. The function
    /// destructures all options, so that a new option does not compile without a decision here.
    fn is_divisible(&self, form: EventForm) -> bool {
        let WriteOptions { detail, filter, fields, limit, csv_safe: _, text: _ } = self;
        // Names of frames come from the caller, event by event.
        let Detail { stacks: _, frames, raw: _, utc: _, big_ints_as_strings: _ } = detail;
        let is_alike = match form {
            EventForm::Ndjson | EventForm::Csv => true,
            // The alignment of a line of text depends on the lines before it.
            EventForm::Text => false,
        };
        // A filter and chosen fields report at the end what no event had.
        is_alike && !frames && filter.is_empty() && fields.is_empty() && limit.is_none()
    }
}

/// Writes events, as `nettrace events` does.
///
/// Use one writer for all events of a trace, because the part that is equal for all events of a
/// type is computed once. A writer may also write events of several traces, with a single header.
///
/// ```
/// use nettrace_export::{EventForm, EventWriter, WriteOptions};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// let mut writer = EventWriter::new(EventForm::Ndjson, WriteOptions::default());
/// let event = reader.next_event()?.expect("there are four");
/// let mut line = Vec::new();
/// writer.write(&mut line, &event);
/// let line = String::from_utf8(line).unwrap();
/// assert!(line.contains(r#""event":"Hi""#) && line.ends_with("}\n"), "{line}");
/// assert!(line.contains(r#""payload":{"n":5,"s":"hey"}"#), "{line}");
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct EventWriter {
    types: EventTypes,
    form: Form,
    /// Filter, fields and limit; `None` if none was requested, which is usual and fast.
    choices: Option<Box<Choices>>,
    page: Page,
    /// Form and options with which parts of a trace can be written; `None` if lines depend on the
    /// events before them.
    of_part: Option<(EventForm, WriteOptions)>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a writer")]
enum Form {
    Ndjson(Ndjson),
    Csv(Csv),
    Text(TextLines),
}

impl Form {
    #[inline(always)]
    fn write(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        match self {
            Form::Ndjson(ndjson) => ndjson.write(page, event, type_index, types, selection),
            Form::Csv(csv) => {
                page.append(|out| csv.write(out, event, type_index, types, selection));
            }
            Form::Text(text) => text.write(page, event, type_index, types, selection),
        }
    }

    /// Sets the names of the frames in the next event's stack.
    fn name_frames(&mut self, names: &[Cow<'_, str>]) {
        match self {
            Form::Ndjson(ndjson) => ndjson.name_frames(names),
            Form::Csv(csv) => csv.name_frames(names),
            Form::Text(text) => text.name_frames(names),
        }
    }
}

/// Filter, fields and limit of a writer, and their state.
#[derive(Debug)]
struct Choices {
    filter: Option<Filter>,
    selection: Option<Selection>,
    /// Number of events that may still be written.
    left: u64,
    has_frames: bool,
}

impl EventWriter {
    /// Makes a writer that has not written an event yet. It puts the header or heading, if any, on
    /// its page.
    pub fn new(form: EventForm, options: WriteOptions) -> EventWriter {
        let of_part = options.is_divisible(form).then(|| (form, options.clone()));
        let WriteOptions { detail, filter, fields, limit, csv_safe, text } = options;
        let selection = Selection::new(&fields);
        let mut page = Page::default();
        let form = match form {
            EventForm::Ndjson => Form::Ndjson(Ndjson::new(detail)),
            EventForm::Csv => {
                let is_one_type = matches!(filter.events.as_slice(), [pattern] if EventPattern::is_exact(pattern));
                let csv = Csv::new(detail, selection.as_ref(), is_one_type, csv_safe);
                page.append(|out| csv.begin(out));
                Form::Csv(csv)
            }
            EventForm::Text => {
                let text = TextLines::new(detail, text);
                page.append(|out| text.begin(out));
                Form::Text(text)
            }
        };
        let has_choices =
            !filter.is_empty() || selection.is_some() || limit.is_some() || detail.frames;
        let choices = has_choices.then(|| {
            Box::new(Choices {
                filter: (!filter.is_empty()).then(|| Filter::new(filter)),
                selection,
                left: limit.unwrap_or(u64::MAX),
                has_frames: detail.frames,
            })
        });
        let types = EventTypes::default();
        EventWriter { types, form, choices, page, of_part }
    }

    /// Returns form and options with which a part of a trace can be written, or `None` if a line
    /// depends on the events before it.
    pub(crate) fn of_part(&self) -> Option<(EventForm, WriteOptions)> {
        self.of_part.clone()
    }

    /// Appends an event and the end of its line. Returns `false` if the options leave the
    /// event out.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>, event: &Event<'_>) -> bool {
        self.write_named(out, event, |_| Vec::new())
    }

    /// Appends an event as [`EventWriter::write`] does. `names` is called for the names of its
    /// frames if [`Detail::frames`] is set.
    #[inline]
    pub fn write_named<'n>(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        names: impl FnOnce(&Event<'_>) -> Vec<Cow<'n, str>>,
    ) -> bool {
        let is_written = self.put_named(event, names);
        self.page.pour(out);
        is_written
    }

    /// Writes an event as [`EventWriter::write`] does, but to the writer's own page,
    /// which avoids a copy. See [`EventWriter::page`].
    #[inline(always)]
    pub fn put(&mut self, event: &Event<'_>) -> bool {
        self.put_named(event, |_| Vec::new())
    }

    /// Writes an event as [`EventWriter::write_named`] does, but to the writer's own
    /// page.
    #[inline(always)]
    pub fn put_named<'n>(
        &mut self,
        event: &Event<'_>,
        names: impl FnOnce(&Event<'_>) -> Vec<Cow<'n, str>>,
    ) -> bool {
        let type_index = self.types.index_of(event);
        if self.choices.is_some() {
            return self.put_chosen(event, type_index, names);
        }
        self.form.write(&mut self.page, event, type_index, &self.types, None);
        true
    }

    /// Writes an event if filter and limit let it through. The function is not inlined, because
    /// events without these would then pay for its registers.
    #[inline(never)]
    fn put_chosen<'n>(
        &mut self,
        event: &Event<'_>,
        type_index: TypeIndex,
        names: impl FnOnce(&Event<'_>) -> Vec<Cow<'n, str>>,
    ) -> bool {
        let Some(choices) = self.choices.as_deref_mut() else { return false };
        let filter = choices.filter.as_mut();
        if filter.is_some_and(|filter| !filter.accepts(event, type_index, &self.types)) {
            return false;
        }
        let Some(left) = choices.left.checked_sub(1) else { return false };
        choices.left = left;
        if choices.has_frames {
            self.form.name_frames(&names(event));
        }
        let selection = choices.selection.as_mut();
        self.form.write(&mut self.page, event, type_index, &self.types, selection);
        true
    }

    /// Returns whether further events may be written: `false` once [`WriteOptions::limit`] is
    /// reached.
    #[inline(always)]
    pub fn wants_more(&self) -> bool {
        self.choices.as_ref().is_none_or(|choices| choices.left > 0)
    }

    /// Returns the page that [`EventWriter::put`] writes to. Write its output to the destination
    /// when it has become large, and clear it.
    #[inline]
    pub fn page(&mut self) -> &mut Page {
        &mut self.page
    }

    /// Returns the length of the output on the page, in bytes.
    #[inline]
    pub fn page_bytes(&self) -> usize {
        self.page.len()
    }

    /// Appends the output on the page and the end of the document. If there was no event, the end
    /// contains the CSV header that would depend on the first event.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.page.pour(out);
        if let Form::Csv(csv) = &mut self.form {
            csv.end(out);
        }
    }

    /// Lists the conditions of the filter that no event has satisfied so far, and the
    /// fields that no written event has: one sentence each, with suggestions. Call it
    /// when the whole trace has been read.
    pub fn unmatched(&self) -> Vec<String> {
        let Some(choices) = &self.choices else { return Vec::new() };
        let filter = choices.filter.iter().flat_map(|filter| filter.unmatched(&self.types));
        let fields =
            choices.selection.iter().flat_map(|selection| selection.unmatched(&self.types));
        filter.chain(fields).collect()
    }
}
