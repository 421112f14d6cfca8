//! Small malformed or odd streams, each with one fault. They are seeds for fuzzing, and every
//! reader has to survive them.
//!
//! Each stream has a good event before the fault and one after it, so that a test can tell whether
//! a reader goes on. Streams with a fault in the beginning are the exception.

mod blocks;
mod framing;
mod metadata;
mod payloads;
mod quirks;
mod tables;

use super::{
    Blob, Damage, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Optional,
    StackBlock, Stream, ThreadBlock, ThreadRow, Trace, Value, Version, payload,
};

/// Returns all malformed and odd streams. Each has a unique name, such as `v4/block-size-negative`,
/// and its bytes.
pub fn malformed() -> Vec<(String, Vec<u8>)> {
    let mut cases = Cases(Vec::new());
    framing::headers(&mut cases);
    framing::objects(&mut cases);
    framing::blocks(&mut cases);
    framing::ends(&mut cases);
    blocks::headers(&mut cases);
    blocks::v3_blobs(&mut cases);
    blocks::uncompressed_blobs(&mut cases);
    blocks::compressed_blobs(&mut cases);
    blocks::order_and_numbers(&mut cases);
    metadata::definitions(&mut cases);
    metadata::tags(&mut cases);
    metadata::rows(&mut cases);
    metadata::types(&mut cases);
    tables::stacks(&mut cases);
    tables::sequence_points(&mut cases);
    tables::threads(&mut cases);
    tables::label_lists(&mut cases);
    payloads::all_versions(&mut cases);
    payloads::version_6(&mut cases);
    quirks::quirks(&mut cases);
    cases.0
}

/// Sequence number of the good event at the end; events before it have smaller numbers.
const LAST_NUMBER: u32 = 10;

/// The streams made so far, each with its name.
struct Cases(Vec<(String, Vec<u8>)>);

impl Cases {
    fn add(&mut self, version: Version, name: &str, bytes: Vec<u8>) {
        let folder = match version {
            Version::V3 => "v3",
            Version::V4 => "v4",
            Version::V5 => "v5",
            Version::V6 => "v6",
        };
        self.0.push((format!("{folder}/{name}"), bytes));
    }

    /// Adds a stream in which the parts written by `write` lie between two good events.
    fn between(&mut self, version: Version, name: &str, write: impl FnOnce(&mut Stream)) {
        let mut stream = begun(version);
        stream.event_block(&EventBlock::new([event(version, 1)]));
        write(&mut stream);
        stream.event_block(&EventBlock::new([event(version, LAST_NUMBER)])).end();
        self.add(version, name, stream.bytes);
    }

    /// Adds a stream of three event blocks after the damage that `damage` returns.
    fn damaged(&mut self, version: Version, name: &str, damage: impl FnOnce(&Stream) -> Damage) {
        let mut stream = begun(version);
        for number in 1..4 {
            stream.event_block(&EventBlock::new([event(version, number)]));
        }
        stream.end();
        let bytes = damage(&stream).applied(&stream.bytes);
        self.add(version, name, bytes);
    }

    /// Adds a stream in which an event with these fields and values lies between two good events.
    fn typed(&mut self, version: Version, name: &str, fields: Vec<Field>, values: &[Value]) {
        let payload = payload(values);
        let event = Blob { metadata_id: 2, payload, ..event(version, 2) };
        self.between(version, name, |stream| {
            define(stream, 2, fields);
            stream.event_block(&EventBlock::new([event]));
        });
    }
}

/// Begins a stream with a header, a Trace, metadata 1 with an Int32 field, stack 1, and in version
/// 6 the threads 1 and 9.
fn begun(version: Version) -> Stream {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    define(&mut stream, 1, vec![Field::new("n", FieldType::Int32)]);
    if version == Version::V6 {
        stream.thread_block(&ThreadBlock::new(vec![
            ThreadRow::new(1, 42, 300),
            ThreadRow::new(9, 42, 309),
        ]));
    }
    if version != Version::V3 {
        stream.stack_block(&StackBlock::new(1, 8, &[[0x7f00_0000_1000]]));
    }
    stream
}

/// Defines an event type with these fields. Before version 6 the V1 field list has all of them,
/// even those whose types are not allowed there.
fn define(stream: &mut Stream, metadata_id: u32, fields: Vec<Field>) {
    if stream.version == Version::V6 {
        stream.metadata_rows(&MetadataBlock::new(vec![row(metadata_id, fields)]));
    } else {
        define_v4(stream, definition(metadata_id, fields));
    }
}

fn define_v4(stream: &mut Stream, definition: Definition) {
    let blob = Blob::definition(1, 1_000_100, definition.encode());
    stream.metadata_blobs(&EventBlock::new([blob]));
}

fn definition(metadata_id: u32, fields: Vec<Field>) -> Definition {
    Definition {
        metadata_id,
        provider: "Synth".into(),
        event_id: metadata_id,
        name: "Odd".into(),
        level: 4,
        fields,
        ..Definition::default()
    }
}

fn row(metadata_id: u32, fields: Vec<Field>) -> MetadataRow {
    MetadataRow {
        metadata_id,
        provider: "Synth".into(),
        event_id: metadata_id,
        name: "Odd".into(),
        fields,
        optional: vec![Optional::Level(4)],
        ..MetadataRow::default()
    }
}

/// Creates a good event of type 1 on thread 1. `number` is its sequence number.
fn event(version: Version, number: u32) -> Blob {
    let stack = if version == Version::V3 {
        0x7f00_0000_1000_u64.to_le_bytes().to_vec()
    } else {
        Vec::new()
    };
    Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: 1,
        capture_thread_id: 1,
        stack_id: 1,
        ticks: 1_000_100 + u64::from(number),
        payload: payload(&[Value::I32(number as i32)]),
        stack,
        ..Blob::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_streams_are_unique_and_small() {
        let cases = malformed();
        let names: HashSet<&String> = cases.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), cases.len());
        let mut streams = HashSet::new();
        for (name, bytes) in &cases {
            assert!(bytes.len() < 200_000, "{name} has {} bytes", bytes.len());
            assert!(streams.insert(bytes), "{name} is the same stream as another one");
        }
    }

    #[test]
    fn no_malformed_stream_is_the_good_one() {
        for version in Version::ALL {
            let mut good = Cases(Vec::new());
            good.between(version, "good", |_| {});
            good.damaged(version, "whole", |_| Damage::Insert { at: 0, bytes: Vec::new() });
            for (name, bytes) in malformed() {
                assert!(good.0.iter().all(|(_, good)| good != &bytes), "{name}");
            }
        }
    }
}
