//! Fuzz target: any bytes as a payload, read with any type.

use super::blob::begun;
use super::choices::Choices;
use crate::invariants::{Questions, values};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Tag, Version,
};

/// Maximum number of nested types and fields of a description.
const MAX_TYPES: u32 = 60;

pub(crate) fn payload(bytes: &[u8], mut questions: Questions) {
    let mut choices = Choices::new(bytes);
    let version = [Version::V4, Version::V5, Version::V6][choices.below(3)];
    let mut left = MAX_TYPES;
    let count = 1 + choices.below(8);
    let fields: Vec<Field> =
        (0..count).map(|_| field(&mut choices, version, 0, &mut left)).collect();
    let bytes = choices.rest();
    // A payload may be larger than those of runtimes, but must fit its size field.
    let payload = bytes.get(..bytes.len().min(60_000)).unwrap_or_default().to_vec();
    let mut stream = begun(version);
    match version {
        Version::V6 => {
            let row = MetadataRow {
                metadata_id: 2,
                provider: "F".into(),
                fields,
                ..MetadataRow::default()
            };
            stream.metadata_rows(&MetadataBlock::new(vec![row]));
        }
        Version::V5 => {
            let tags = vec![Tag::v2_params(&fields)];
            let definition = Definition { metadata_id: 2, tags, ..Definition::default() };
            stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 0, definition.encode())]));
        }
        _ => {
            let definition = Definition { metadata_id: 2, fields, ..Definition::default() };
            stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 0, definition.encode())]));
        }
    }
    let event = Blob {
        metadata_id: 2,
        sequence_number: 1,
        thread_id: 1,
        capture_thread_id: 1,
        payload,
        ..Blob::default()
    };
    stream.event_block(&EventBlock::new([event])).end();
    let mut reader = Reader::from_slice(&stream.bytes);
    let event = reader.next_event().expect("the stream begins well").expect("there is one");
    let first = values::look_at(&event, 20_000);
    if !questions.ask(2) {
        return;
    }
    assert_eq!(first, values::look_at(&event, 20_000), "the same again");
    // Skipping and reading a field must find the same place for the next one.
    let names: Vec<(String, usize)> =
        event.fields().map(|field| (field.name().to_owned(), field.offset)).collect();
    for (at, (name, offset)) in names.iter().enumerate() {
        let is_first_of_its_name = names.iter().position(|(other, _)| other == name) == Some(at);
        if is_first_of_its_name {
            let found = event.fields().find(name);
            assert_eq!(found.map(|field| field.offset), Some(*offset), "field {name}");
        }
    }
}

fn field(choices: &mut Choices<'_>, version: Version, depth: u32, left: &mut u32) -> Field {
    let name = ["a", "b", "c", ""][choices.below(4)];
    Field::new(name, field_type(choices, version, depth, left))
}

fn field_type(
    choices: &mut Choices<'_>,
    version: Version,
    depth: u32,
    left: &mut u32,
) -> FieldType {
    use FieldType::*;
    let nests = *left > 0 && depth < 6;
    *left = left.saturating_sub(1);
    let kind = choices.u8() % 28;
    let mut inner =
        |choices: &mut Choices<'_>| Box::new(field_type(choices, version, depth + 1, left));
    match kind {
        1 if nests => {
            let count = choices.below(4);
            Object((0..count).map(|_| field(choices, version, depth + 1, left)).collect())
        }
        19 if nests && version != Version::V4 => Array(inner(choices)),
        22 if nests && version == Version::V6 => {
            let element = inner(choices);
            FixedLengthArray(element, choices.u16())
        }
        24 if nests && version == Version::V6 => RelLoc(inner(choices)),
        25 if nests && version == Version::V6 => DataLoc(inner(choices)),
        3 => Boolean32,
        4 => Char,
        5 => SByte,
        7 => Int16,
        8 => UInt16,
        9 => Int32,
        11 => Int64,
        13 => Single,
        14 => Double,
        15 => Decimal,
        16 => DateTime,
        17 => Guid,
        18 => Text,
        20 if version == Version::V6 => VarInt,
        21 if version == Version::V6 => VarUInt,
        23 if version == Version::V6 => Utf8CodeUnit,
        26 if version == Version::V6 => Boolean8,
        27 => Code(choices.u8()),
        _ => Byte,
    }
}
