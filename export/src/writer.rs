//! Events as NDJSON, for programs that read traces themselves: what `nettrace events --format ndjson` writes,
//! one JSON object a line and event.
//!
//! ```
//! use nettrace_export::EventWriter;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let mut reader = nettrace_parser::Reader::from_slice(&bytes);
//! let (mut writer, mut line) = (EventWriter::new(), Vec::new());
//! let event = reader.next_event()?.expect("there are four");
//! writer.write(&mut line, &event);
//! let line = String::from_utf8(line).unwrap();
//! assert!(line.contains(r#""event":"Hi""#) && line.ends_with("}\n"), "{line}");
//! assert!(line.contains(r#""payload":{"n":5,"s":"hey"}"#), "{line}");
//! # Ok::<(), nettrace_parser::Error>(())
//! ```

use crate::Detail;
use crate::event_types::EventTypes;
use crate::ndjson::Ndjson;
use crate::page::Page;
use nettrace_parser::Event;

/// Writes events as NDJSON. What is the same for all events of a type is worked out once, so one writer should
/// write all events of a trace; it may write those of several.
#[derive(Debug)]
pub struct EventWriter {
    types: EventTypes,
    detail: Detail,
    ndjson: Ndjson,
    page: Page,
}

impl Default for EventWriter {
    fn default() -> Self {
        EventWriter::with(Detail::default())
    }
}

impl EventWriter {
    /// A writer of what every event has: time, thread, type, payload.
    pub fn new() -> EventWriter {
        EventWriter::default()
    }

    fn with(detail: Detail) -> EventWriter {
        EventWriter {
            types: EventTypes::default(),
            detail,
            ndjson: Ndjson::new(detail),
            page: Page::default(),
        }
    }

    /// Whether to write stacks, as `stack`.
    #[must_use]
    pub fn stacks(self, stacks: bool) -> EventWriter {
        EventWriter::with(Detail { stacks, ..self.detail })
    }

    /// Whether to write what is stored: ticks, keywords, opcode, processor, sequence number, offset and the
    /// payload's bytes.
    #[must_use]
    pub fn raw(self, raw: bool) -> EventWriter {
        EventWriter::with(Detail { raw, ..self.detail })
    }

    /// Whether to write whole numbers from 2^53 on as strings, for readers that make doubles of all numbers.
    #[must_use]
    pub fn big_ints_as_strings(self, big_ints_as_strings: bool) -> EventWriter {
        EventWriter::with(Detail { big_ints_as_strings, ..self.detail })
    }

    /// Appends an event and the end of its line.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>, event: &Event<'_>) {
        let place = self.types.place_of(event);
        self.ndjson.event(&mut self.page, event, place, &self.types, None);
        self.page.pour(out);
    }
}
