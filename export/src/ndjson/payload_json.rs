//! Writes the payload of an event alone, as NDJSON shows it.

use crate::compiled::{CompiledShapes, Dialect, NumberStyle};
use crate::event_types::{EventTypes, TypeIndex};
use crate::page::Page;
use crate::payload::PayloadWriter;
use nettrace_parser::Event;

/// Writes payloads as JSON objects, as the member `payload` of NDJSON.
///
/// ```
/// use nettrace_export::{EventTypes, PayloadJson};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// let (mut types, mut payloads, mut json) = (EventTypes::default(), PayloadJson::new(), Vec::new());
/// let event = reader.next_event()?.expect("there are four");
/// let index = types.index_of(&event);
/// let rest = payloads.write(&mut json, &event, index, &types);
/// assert_eq!((json.as_slice(), rest), (&br#"{"n":5,"s":"hey"}"#[..], &[][..]));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct PayloadJson {
    payloads: PayloadWriter,
    writers: CompiledShapes,
    page: Page,
}

impl Default for PayloadJson {
    fn default() -> PayloadJson {
        PayloadJson::new()
    }
}

impl PayloadJson {
    /// Makes a writer that has not written a payload yet.
    pub fn new() -> PayloadJson {
        PayloadJson {
            payloads: PayloadWriter::new(false),
            writers: CompiledShapes::new(Dialect::Json),
            page: Page::default(),
        }
    }

    /// Appends the fields of an event's payload as a JSON object. Returns the bytes that belong to
    /// no field.
    pub fn write<'r>(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'r>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) -> &'r [u8] {
        if self.write_fast(event, type_index, types) {
            self.page.pour(out);
            return &[];
        }
        match types.names(type_index) {
            Some(names) => self.payloads.write_object(out, event, names),
            None => &[],
        }
    }

    /// Appends the faults of the last payload as a JSON array, if it had any.
    pub fn take_faults(&mut self, out: &mut Vec<u8>) {
        self.payloads.take_faults(out, "");
    }

    fn write_fast(&mut self, event: &Event<'_>, type_index: TypeIndex, types: &EventTypes) -> bool {
        let Some(writer) = self.writers.writer_of(type_index, types) else { return false };
        let style = NumberStyle {
            pointer_size: event.session().pointer_size,
            largest: self.payloads.largest_number(),
        };
        let payload = event.payload();
        let begin = self.page.len();
        let mut line = self.page.writer(writer.begin().len() + writer.room(payload.len()));
        line.literal(writer.begin());
        let Some(line) = writer.write(line, payload, style) else {
            self.page.cut(begin);
            return false;
        };
        let left = line.left();
        self.page.keep(left);
        true
    }
}
