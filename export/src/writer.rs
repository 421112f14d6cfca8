//! Writes events in one of the formats for programs, one call per event.

use crate::csv::Csv;
use crate::detail::Detail;
use crate::event_types::{EventTypes, TypeIndex};
use crate::filter::Filter;
use crate::ndjson::Ndjson;
use crate::page::Page;
use nettrace_parser::Event;

/// Writes events as NDJSON or CSV, like `nettrace events --format ndjson` and `csv`, one
/// line per event.
///
/// The part that is the same for all events of a type is computed once, so use one writer
/// for all events of a trace. It may also write events of several traces; with CSV there
/// is then a single header.
///
/// ```
/// use nettrace_export::EventWriter;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// let (mut writer, mut line) = (EventWriter::ndjson(), Vec::new());
/// let event = reader.next_event()?.expect("there are four");
/// writer.write(&mut line, &event);
/// let line = String::from_utf8(line).unwrap();
/// assert!(line.contains(r#""event":"Hi""#) && line.ends_with("}\n"), "{line}");
/// assert!(line.contains(r#""payload":{"n":5,"s":"hey"}"#), "{line}");
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct EventWriter {
    types: EventTypes,
    detail: Detail,
    form: Form,
    filter: Option<Filter>,
    page: Page,
}

/// Not inlined: otherwise events would pay for the registers it needs even without a
/// filter.
#[inline(never)]
fn accepts(
    filter: &mut Filter,
    event: &Event<'_>,
    type_index: TypeIndex,
    types: &EventTypes,
) -> bool {
    filter.accepts(event, type_index, types)
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a writer")]
enum Form {
    Ndjson(Ndjson),
    Csv { csv: Csv, is_safe: bool, is_begun: bool },
}

impl Form {
    fn with(&self, detail: Detail) -> Form {
        match self {
            Form::Ndjson(_) => Form::Ndjson(Ndjson::new(detail)),
            Form::Csv { is_safe, .. } => Form::Csv {
                csv: Csv::new(detail, None, false).safe(*is_safe),
                is_safe: *is_safe,
                is_begun: false,
            },
        }
    }
}

impl EventWriter {
    /// Writes one JSON object per line, with the default contents: time, thread, type,
    /// payload.
    pub fn ndjson() -> EventWriter {
        EventWriter::new(Form::Ndjson(Ndjson::new(Detail::default())))
    }

    /// Writes a header line and one row per event, with the payload as JSON.
    /// [`EventWriter::finish`] must be called after the last event.
    pub fn csv() -> EventWriter {
        EventWriter::new(Form::Csv {
            csv: Csv::new(Detail::default(), None, false),
            is_safe: false,
            is_begun: false,
        })
    }

    fn new(form: Form) -> EventWriter {
        EventWriter {
            types: EventTypes::default(),
            detail: Detail::default(),
            form,
            filter: None,
            page: Page::default(),
        }
    }

    fn detailed(self, detail: Detail) -> EventWriter {
        EventWriter { form: self.form.with(detail), detail, ..self }
    }

    /// Whether to write stacks, as addresses in `stack`.
    #[must_use]
    pub fn stacks(self, stacks: bool) -> EventWriter {
        let detail = Detail { stacks, ..self.detail };
        self.detailed(detail)
    }

    /// Whether to write stored values: ticks, keywords, opcode, processor, sequence
    /// number, offset and the payload's bytes.
    #[must_use]
    pub fn raw(self, raw: bool) -> EventWriter {
        let detail = Detail { raw, ..self.detail };
        self.detailed(detail)
    }

    /// Whether to write integers from 2^53 on as strings, for readers that convert all
    /// numbers to doubles.
    #[must_use]
    pub fn big_ints_as_strings(self, big_ints_as_strings: bool) -> EventWriter {
        let detail = Detail { big_ints_as_strings, ..self.detail };
        self.detailed(detail)
    }

    /// Whether to protect spreadsheets from texts that they would run: [`Csv::safe`]. Only
    /// for CSV.
    #[must_use]
    pub fn csv_safe(self, is_safe: bool) -> EventWriter {
        let form = match self.form {
            Form::Csv { is_begun, .. } => Form::Csv {
                csv: Csv::new(self.detail, None, false).safe(is_safe),
                is_safe,
                is_begun,
            },
            form => form,
        };
        EventWriter { form, ..self }
    }

    /// Writes only events that the filter accepts.
    #[must_use]
    pub fn filter(self, filter: Filter) -> EventWriter {
        EventWriter { filter: Some(filter), ..self }
    }

    /// Appends an event and the end of its line. Returns `false` if the filter rejected
    /// the event.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>, event: &Event<'_>) -> bool {
        let is_written = self.put(event);
        self.page.pour(out);
        is_written
    }

    /// The same to the writer's own page, which avoids a copy. See [`EventWriter::page`].
    #[inline(always)]
    pub fn put(&mut self, event: &Event<'_>) -> bool {
        let type_index = self.types.index_of(event);
        if let Some(filter) = &mut self.filter
            && !accepts(filter, event, type_index, &self.types)
        {
            return false;
        }
        match &mut self.form {
            Form::Ndjson(ndjson) => {
                ndjson.event(&mut self.page, event, type_index, &self.types, None)
            }
            Form::Csv { csv, is_begun, .. } => {
                let types = &self.types;
                self.page.append(|out| {
                    if !std::mem::replace(is_begun, true) {
                        csv.begin(out);
                    }
                    csv.event(out, event, type_index, types, None);
                });
            }
        }
        true
    }

    /// The output of [`EventWriter::put`]: write it to its destination when it has become
    /// large, and clear it.
    #[inline]
    pub fn page(&mut self) -> &mut Page {
        &mut self.page
    }

    /// Length of the output on the page, in bytes.
    #[inline]
    pub fn page_bytes(&self) -> usize {
        self.page.len()
    }

    /// Appends what follows the last event: for CSV, the header if there was no event.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.page.pour(out);
        if let Form::Csv { csv, is_begun, .. } = &mut self.form {
            if !std::mem::replace(is_begun, true) {
                csv.begin(out);
            }
            csv.end(out);
        }
    }

    /// The conditions of the filter that no event has satisfied so far, one sentence
    /// each, with suggestions. Call it when the whole trace has been read.
    pub fn unmatched(&self) -> Vec<String> {
        self.filter.as_ref().map_or_else(Vec::new, |filter| filter.unmatched(&self.types))
    }
}
