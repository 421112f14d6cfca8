//! Fuzz target `reports`: reports and converters read sessions of events that the catalog knows, so
//! that events are put together.
//!
//! The bytes choose type, time, thread, stack and payload of each event. There are few of each, so
//! that events meet.

use super::{COMMANDS, MAX_BYTES, Prints, converted, output, sum};
use nettrace_analysis::convert::FORMATS;
use nettrace_parser::{Count, Field, FieldType, catalog, catalog::CatalogEvent};
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Sink, StackBlock, Stream, Trace, Version,
};

/// Maximum number of events of a session.
const MAX_EVENTS: usize = 400;
const STACKS: u64 = 8;
const NAMES: [&str; 6] = ["", "A", "Contoso.Orders", "System.String", "a;b (c) {d}", "=1+1"];

/// Bytes that choose; when they are used up, each further choice is 0.
struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Chooses a number that is small, near a limit, or an address of code.
    fn number(&mut self) -> u64 {
        let chosen = self.next();
        match chosen {
            0xff => u64::MAX,
            0xfe => u64::from(u32::MAX),
            0xfd => 1 << 63,
            0xf0..=0xfc => 0x7f00_0000_0000 + 0x100 * u64::from(chosen - 0xf0),
            _ => u64::from(chosen % 16),
        }
    }
}

/// Creates the stream that the bytes choose.
pub(crate) fn session(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices(bytes);
    let events: Vec<&CatalogEvent> = catalog::events().collect();
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let stacks: Vec<Vec<u64>> = (0..STACKS)
        .map(|stack| (0..stack).map(|frame| 0x7f00_0000_0000 + 0x80 * (frame + stack)).collect())
        .collect();
    stream.stack_block(&StackBlock::new(1, 8, &stacks));
    let mut types: Vec<usize> = Vec::new();
    let mut numbers = [0; 4];
    let mut ticks = 1_000_000;
    for _ in 0..MAX_EVENTS {
        if choices.0.is_empty() {
            break;
        }
        let chosen = usize::from(choices.next()) | usize::from(choices.next() % 8) << 8;
        let at = chosen % events.len();
        let place = types.iter().position(|of| *of == at).unwrap_or_else(|| {
            let event = events[at];
            let definition = Definition {
                metadata_id: types.len() as u32 + 1,
                provider: event.provider.into(),
                event_id: event.id,
                version: event.version,
                keywords: event.keywords,
                level: u32::from(event.level),
                name: event.name.into(),
                ..Definition::default()
            };
            let row = Blob::definition(1, 1, definition.encode());
            stream.metadata_blobs(&EventBlock::new([row]));
            types.push(at);
            types.len() - 1
        });
        let how = choices.next();
        let thread = usize::from(how % 4);
        numbers[thread] += 1;
        ticks += [0, 10, 1000, 5_000_000][usize::from(how >> 2 & 3)];
        let mut payload = Sink::new();
        record(&mut payload, events[at].schema().payload_fields(), &mut choices, &mut [0; 16], 0);
        let blob = Blob {
            metadata_id: place as u32 + 1,
            sequence_number: numbers[thread],
            thread_id: thread as u64 + 1,
            capture_thread_id: thread as u64 + 1,
            stack_id: 1 + u32::from(how >> 4) % STACKS as u32,
            ticks,
            is_sorted: true,
            payload: payload.into_vec(),
            ..Blob::default()
        };
        stream.event_block(&EventBlock::new([blob]));
    }
    stream.end();
    stream.bytes
}

/// Writes the fields of a payload. `kept` has the values of fields that count later ones.
fn record(
    sink: &mut Sink,
    fields: &[Field],
    choices: &mut Choices<'_>,
    kept: &mut [u64; 16],
    depth: u32,
) {
    for field in fields {
        let Some(register) = field.register() else {
            value(sink, &field.kind, choices, kept, depth);
            continue;
        };
        // Numbers that count other fields are small.
        let count = u64::from(choices.next() % 4);
        if let Some(place) = kept.get_mut(usize::from(register)) {
            *place = count;
        }
        value(sink, &field.kind, &mut Choices(&[count as u8]), kept, depth);
    }
}

fn value(
    sink: &mut Sink,
    of: &FieldType,
    choices: &mut Choices<'_>,
    kept: &mut [u64; 16],
    depth: u32,
) {
    let name = |choices: &mut Choices<'_>| NAMES[usize::from(choices.next()) % NAMES.len()];
    match of {
        FieldType::Object(fields) => record(sink, fields, choices, kept, depth + 1),
        FieldType::Boolean8 | FieldType::Utf8CodeUnit | FieldType::I8 | FieldType::U8 => {
            sink.u8(choices.number() as u8);
        }
        FieldType::I16 | FieldType::U16 | FieldType::Utf16CodeUnit => {
            sink.u16(choices.number() as u16);
        }
        FieldType::Boolean32 | FieldType::I32 | FieldType::U32 | FieldType::F32 => {
            sink.u32(choices.number() as u32);
        }
        FieldType::F64 => {
            sink.u64((choices.number() as f64).to_bits());
        }
        FieldType::Guid => {
            sink.u64(choices.number()).u64(0);
        }
        FieldType::Utf16Text => {
            sink.utf16z(name(choices));
        }
        FieldType::AnsiText => {
            sink.raw(name(choices).as_bytes()).u8(0);
        }
        FieldType::CountedUtf8 => {
            let name = name(choices);
            sink.u16(name.len() as u16).raw(name.as_bytes());
        }
        FieldType::VarInt | FieldType::VarUInt => {
            sink.u8(choices.next() % 0x80);
        }
        FieldType::Padding(bytes) => {
            sink.raw(&vec![0; usize::from(*bytes)]);
        }
        FieldType::Array(element) => {
            let count = choices.next() % 4;
            sink.u16(u16::from(count));
            for _ in 0..count {
                value(sink, element, choices, kept, depth + 1);
            }
        }
        FieldType::Repeated(element, Count::Fixed(count)) => {
            for _ in 0..*count {
                value(sink, element, choices, kept, depth + 1);
            }
        }
        FieldType::Repeated(element, Count::Earlier { register, .. }) => {
            for _ in 0..kept.get(usize::from(*register)).copied().unwrap_or_default() {
                value(sink, element, choices, kept, depth + 1);
            }
        }
        _ => {
            sink.u64(choices.number());
        }
    }
}

/// Runs one command and one converter on the session that the bytes choose.
#[allow(dead_code, reason = "a replay asks more")]
pub(crate) fn reports_once(bytes: &[u8]) {
    reports_in_turn(bytes, sum(bytes), 1);
}

/// Runs several commands and a converter on the session that the bytes choose.
#[allow(dead_code, reason = "the fuzz target asks less of each input")]
pub(crate) fn reports(bytes: &[u8]) {
    reports_in_turn(bytes, sum(bytes), 8);
}

fn reports_in_turn(bytes: &[u8], turn: usize, count: usize) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let stream = session(bytes);
    for turn in (turn..).step_by(7).take(count) {
        let (args, prints) = COMMANDS[turn % COMMANDS.len()];
        let first = output(args, prints, &stream);
        // A report of one trace is always the same.
        if matches!(prints, Prints::Json) {
            assert_eq!(output(args, prints, &stream), first, "{args:?} twice");
        }
    }
    converted(&FORMATS[turn % FORMATS.len()], false, &stream);
}
