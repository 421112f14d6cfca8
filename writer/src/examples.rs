//! Two small complete streams, which are also files in `testdata/traces/`.
//!
//! | stream | bytes | what it has |
//! |---|---|---|
//! | [`tiny_v4`] | 578 | two event types (the second with tags), two stacks, four events of two threads, a sequence point that shows one loss |
//! | [`tiny_v6`] | 267 | one event type, a thread, labels, two events, a removal that shows one loss, a sequence point that forgets metadata |

use crate::{
    Blob, Definition, EventBlock, Field, FieldType, Label, LabelListBlock, MetadataBlock,
    MetadataRow, Optional, RemoveThreadBlock, SequencePoint, StackBlock, Stream, Tag, ThreadBlock,
    ThreadEntry, ThreadRow, Trace, Value, Version, payload,
};

/// Address of the innermost frame of the events' stack in both streams.
const LEAF: u64 = 0x7f00_0000_1000;

/// Returns the stream of `tiny-v4.nettrace`, which has 578 bytes: version 5 with compressed blobs.
pub fn tiny_v4() -> Stream {
    let hi = Definition {
        metadata_id: 1,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        keywords: 1,
        level: 4,
        fields: vec![Field::new("n", FieldType::Int32), Field::new("s", FieldType::Text)],
        ..Definition::default()
    };
    let go = Definition {
        metadata_id: 2,
        event_id: 8,
        name: "Go".into(),
        fields: vec![],
        tags: vec![Tag::opcode(1), Tag::v2_params(&[Field::new("a", FieldType::UInt16.array())])],
        ..hi.clone()
    };
    let first = Blob {
        metadata_id: 1,
        sequence_number: 1,
        thread_id: 11,
        capture_thread_id: 11,
        stack_id: 2,
        ticks: 1_000_100,
        is_sorted: true,
        payload: payload(&[Value::I32(5), Value::Text("hey".into())]),
        ..Blob::default()
    };
    let second = Blob {
        sequence_number: 2,
        ticks: 1_000_110,
        is_sorted: false,
        payload: payload(&[Value::I32(6), Value::Text("you".into())]),
        ..first.clone()
    };
    let third = Blob {
        metadata_id: 2,
        sequence_number: 3,
        ticks: 1_000_400,
        payload: payload(&[Value::Array(vec![Value::U16(256), Value::U16(7)])]),
        ..second.clone()
    };
    let fourth = Blob {
        sequence_number: 1,
        thread_id: 12,
        capture_thread_id: 12,
        stack_id: 1,
        ticks: 1_000_150,
        payload: payload(&[Value::I32(9), Value::Text(String::new())]),
        ..first.clone()
    };
    let mut stream = Stream::new(Version::V5);
    stream
        .trace(&Trace::default())
        .metadata_blobs(&EventBlock::new([
            Blob::definition(11, 1_000_100, hi.encode()),
            Blob::definition(11, 1_000_400, go.encode()),
        ]))
        .stack_block(&StackBlock::new(1, 8, &[vec![], vec![LEAF, LEAF + 0x1000]]))
        .event_block(&EventBlock::new([first, second, third, fourth]))
        .sequence_point(&SequencePoint {
            ticks: 1_000_500,
            threads: vec![(11, 3), (12, 2)],
            ..SequencePoint::default()
        })
        .end();
    stream
}

/// Returns the stream of `tiny-v6.nettrace`, which has 267 bytes: version 6 with compressed blobs.
pub fn tiny_v6() -> Stream {
    let hi = MetadataRow {
        metadata_id: 1,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        fields: vec![
            Field::new("n", FieldType::VarUInt),
            Field::new("s", FieldType::Utf8CodeUnit.array()),
        ],
        optional: vec![Optional::Level(4), Optional::Keywords(3)],
        ..MetadataRow::default()
    };
    let worker = ThreadRow {
        size: None,
        index: 1,
        entries: vec![
            ThreadEntry::ProcessId(42),
            ThreadEntry::OsThreadId(300),
            ThreadEntry::Name("w".into()),
        ],
    };
    let labels = LabelListBlock::new(
        1,
        vec![
            vec![Label::Number("k".into(), -3), Label::OpCode(1)],
            vec![Label::SpanId(0x1122_3344_5566_7788)],
        ],
    );
    let first = Blob {
        metadata_id: 1,
        sequence_number: 1,
        thread_id: 1,
        capture_thread_id: 1,
        processor: 0,
        stack_id: 1,
        ticks: 1_000_100,
        label_list_id: 1,
        is_sorted: true,
        payload: payload(&[Value::VarUInt(300), Value::utf8_array("ok")]),
        ..Blob::default()
    };
    let second = Blob {
        sequence_number: 2,
        ticks: 1_000_350,
        label_list_id: 0,
        is_sorted: false,
        payload: payload(&[Value::VarUInt(5), Value::utf8_array("")]),
        ..first.clone()
    };
    let mut stream = Stream::new(Version::V6);
    stream
        .trace(&Trace {
            tick_frequency: 1_000_000_000,
            key_values: vec![("ProcessId".into(), "42".into())],
            ..Trace::default()
        })
        .metadata_rows(&MetadataBlock::new(vec![hi]))
        .thread_block(&ThreadBlock::new(vec![worker]))
        .stack_block(&StackBlock::new(1, 8, &[[LEAF]]))
        .label_list_block(&labels)
        .event_block(&EventBlock::new([first, second]))
        .remove_thread_block(&RemoveThreadBlock::new(vec![(1, 3)]))
        .sequence_point(&SequencePoint {
            ticks: 1_000_400,
            flags: SequencePoint::FORGET_METADATA,
            ..SequencePoint::default()
        })
        .end();
    stream
}
