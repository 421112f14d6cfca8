//! Tests of small streams with huge claims: deeply nested types, endless numbers, elements without
//! bytes.

use crate::allocation::usage;
use crate::delivered::said;
use crate::invariants;
use nettrace_parser::Reader;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Row, Stream, Tag,
    ThreadBlock, ThreadRow, Trace, Version, flag,
};

/// Number of levels of nested types in a tower.
const DEPTH: usize = 100_000;
/// Maximum number of bytes that a reader may hold for any of these streams.
const HELD: u64 = 48 << 20;
/// Maximum number of values that are visited in all payloads of a stream.
const VALUES: u64 = 2 << 20;

fn event(number: u32) -> Blob {
    Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: 7,
        capture_thread_id: 7,
        ticks: 1_000_000,
        payload: vec![0xff; 12],
        ..Blob::default()
    }
}

/// Returns a stream with one event type of these fields and two events of it, with the row
/// `between` them.
fn stream(version: Version, fields: Vec<Field>, between: Option<Row>) -> Vec<u8> {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    if version == Version::V6 {
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(7, 1, 7)]));
        let row = MetadataRow { metadata_id: 1, fields, ..MetadataRow::default() };
        stream.metadata_rows(&MetadataBlock::new(vec![row]));
    } else {
        let definition = match version {
            Version::V5 => Definition {
                metadata_id: 1,
                tags: vec![Tag::v2_params(&fields)],
                ..Definition::default()
            },
            _ => Definition { metadata_id: 1, fields, ..Definition::default() },
        };
        stream.metadata_blobs(&EventBlock::new([Blob::definition(
            7,
            1_000_000,
            definition.encode(),
        )]));
    }
    stream.event_block(&EventBlock::new([event(1)]));
    if let Some(row) = between {
        let mut block = EventBlock::new(Vec::<Blob>::new());
        block.rows.push(row);
        stream.event_block(&block);
    }
    stream.event_block(&EventBlock::new([event(2)])).end();
    stream.bytes
}

/// Asserts that every way to read the stream delivers both events within the limits. Payloads are
/// visited.
fn assert_bounded(bytes: &[u8], what: &str) {
    let (events, usage) = usage(|| {
        invariants::values::look_at_payloads(bytes, VALUES);
        said(bytes).len()
    });
    assert!(events >= 2, "{what}: {events} events");
    assert!(usage.peak < HELD, "{what}: {usage:?}");
    invariants::counted::assert_linear(bytes);
    invariants::assert_every_byte_is_explained(bytes);
}

/// Returns the bytes of a tower of types: a type code for each level, and a count before members.
fn tower(version: Version, code: u8, depth: usize) -> Vec<u8> {
    let level = match (version, code) {
        (Version::V6, 1) => vec![1, 1, 0],
        (Version::V6, 22) => vec![22, 2, 0],
        (Version::V6, _) => vec![code],
        (_, 1) => vec![1, 0, 0, 0, 1, 0, 0, 0],
        (_, _) => vec![code, 0, 0, 0],
    };
    level.repeat(depth)
}

#[test]
fn types_nested_100_000_deep_cost_their_event_its_fields_and_nothing_else() {
    for version in [Version::V3, Version::V4, Version::V5] {
        for code in [1, 19] {
            let nested = FieldType::Raw(tower(version, code, DEPTH));
            let fields = vec![Field::new("n", FieldType::Byte), Field::new("deep", nested)];
            let (bytes, what) =
                (stream(version, fields, None), format!("{version:?}, code {code}"));
            assert_bounded(&bytes, &what);
            let mut reader = Reader::from_slice(&bytes);
            let event = reader.next_event().unwrap().expect("it is delivered");
            assert!(event.fields().opaque().is_some(), "{what}");
        }
    }
}

#[test]
fn a_type_list_of_version_6_that_is_all_nested_arrays_is_bounded() {
    for code in [1u8, 19, 22, 24, 25] {
        let level = tower(Version::V6, code, 1).len();
        // The tower takes all bytes that fit into a row with a size of two bytes.
        let nested = FieldType::Raw(tower(Version::V6, code, 65_400 / level));
        let bytes = stream(Version::V6, vec![Field::new("deep", nested)], None);
        assert!(bytes.len() > 65_000);
        assert_bounded(&bytes, &format!("code {code}"));
        let mut reader = Reader::from_slice(&bytes);
        let event = reader.next_event().unwrap().expect("it is delivered");
        assert!(
            event.fields().opaque().is_some() && event.fields().next().is_none(),
            "code {code}"
        );
    }
}

#[test]
fn numbers_of_eleven_bytes_cost_their_block_and_nothing_else() {
    let endless = [[0x80; 10].as_slice(), &[1]].concat();
    let flags = [
        0,
        flag::METADATA_ID,
        flag::CAPTURE,
        flag::THREAD,
        flag::STACK,
        flag::ACTIVITY,
        flag::PAYLOAD_SIZE,
    ];
    for version in [Version::V4, Version::V5, Version::V6] {
        for flags in flags {
            let row = Row::Raw([&[flags], endless.repeat(4).as_slice()].concat());
            let bytes = stream(version, vec![Field::new("n", FieldType::Byte)], Some(row));
            let what = format!("{version:?}, flags {flags:#x}");
            assert_bounded(&bytes, &what);
            invariants::assert_calm(&bytes);
        }
    }
}

#[test]
fn elements_of_no_bytes_in_numbers_beyond_2_to_the_32_are_bounded() {
    let empty = || FieldType::Object(vec![]);
    let fixed = |kind, count| FieldType::FixedLengthArray(Box::new(kind), count);
    let kinds = [
        fixed(fixed(empty(), u16::MAX), u16::MAX),
        fixed(fixed(fixed(empty(), u16::MAX), u16::MAX), u16::MAX),
        // The first two bytes of the payload are the count.
        FieldType::Array(Box::new(fixed(fixed(empty(), u16::MAX), u16::MAX))),
        FieldType::Array(Box::new(fixed(fixed(FieldType::Byte, 0), u16::MAX))),
    ];
    for kind in kinds {
        let what = format!("{kind:?}").chars().take(80).collect::<String>();
        let fields = vec![Field::new("much", kind), Field::new("n", FieldType::Byte)];
        let bytes = stream(Version::V6, fields, None);
        assert_bounded(&bytes, &what);
        invariants::assert_calm(&bytes);
    }
}
