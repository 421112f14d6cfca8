//! Streams like those of writers that deviate from the format: EventSources, one-collect, and the
//! tests of the reference reader.

use super::{Cases, define, event};
use crate::{
    Blob, BlobLayout, Damage, Decimal, EventBlock, Field, FieldType, Label, LabelListBlock, Object,
    PartKind, SequencePoint, StackBlock, Stream, SysTime, ThreadBlock, ThreadRow, Trace, Value,
    Version, payload,
};

pub(super) fn quirks(cases: &mut Cases) {
    self_describing(cases);
    test_writers(cases);
    one_collect(cases);
}

/// Adds streams with values that EventSources store in another form than their metadata says.
fn self_describing(cases: &mut Cases) {
    let number = || Field::new("n", FieldType::Int32);
    for version in [Version::V3, Version::V4, Version::V6] {
        let mut with = |name: &str, odd: FieldType, value: Value| {
            let fields = vec![Field::new("odd", odd), number()];
            cases.typed(version, &format!("quirk-{name}"), fields, &[value, Value::I32(7)]);
        };
        with("boolean-of-one-byte", FieldType::Boolean32, Value::Boolean8(true));
        with("decimal-as-double", FieldType::Decimal, Value::F64(1.5));
        let decimal = Decimal { is_negative: true, scale: 2, mantissa: 12_345 };
        with("decimal", FieldType::Decimal, Value::Decimal(decimal));
        with("date-of-sixteen-bytes", FieldType::DateTime, Value::SysTime(SysTime::default()));
        // Array members of an [Event] method: no fields, a u32 count of bytes.
        let values = [Value::I32(3), Value::U32(3), Value::Raw(vec![1, 2, 8])];
        cases.typed(version, "quirk-bytes-undescribed", vec![], &values);
        let nested = vec![Field::new(
            "",
            FieldType::Object(vec![number(), Field::new("b", FieldType::Boolean32)]),
        )];
        let values = [Value::Object(vec![Value::I32(1), Value::Boolean8(true)])];
        cases.typed(version, "quirk-nameless-object", nested, &values);
    }
}

/// Adds streams like those that the tests of the reference reader write.
fn test_writers(cases: &mut Cases) {
    for version in [Version::V3, Version::V4] {
        cases.damaged(version, "quirk-end-tag-of-four-bytes", |stream| Damage::Insert {
            at: stream.bytes.len(),
            bytes: vec![0; 3],
        });
    }
    cases.between(Version::V4, "quirk-test-writer", |stream| {
        let blobs = [2, 3].map(|number| Blob {
            ticks: 0,
            capture_thread_id: u64::from(number),
            ..event(Version::V4, number)
        });
        let block = EventBlock {
            min_ticks: Some(0),
            max_ticks: Some(0),
            ..EventBlock::new(blobs).layout(BlobLayout::UncompressedUnpadded)
        };
        let content = block.content(Version::V4);
        stream.object(&Object {
            minimum_version: 0,
            ..Object::new(Version::V4, "EventBlock", content)
        });
    });
}

/// Adds a stream like those of one-collect. Each batch begins with a sequence point that forgets
/// the threads, all events are sorted, and sequence numbers begin at 1 in each block. The labels
/// for version and opcode are numbers without zigzag; texts have a u16 length.
fn one_collect(cases: &mut Cases) {
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default().known_keys());
    define(
        &mut stream,
        3,
        vec![Field::new("Id", FieldType::VarUInt), Field::new("Name", FieldType::Utf8CodeUnit)],
    );
    let plain_number = |key: &str, value: u8| {
        Label::Raw(6, [&[key.len() as u8], key.as_bytes(), &[value]].concat())
    };
    for batch in 0..2 {
        let point = SequencePoint { ticks: 1_000_100 + batch * 100, ..SequencePoint::default() };
        stream.sequence_point(&SequencePoint { flags: SequencePoint::FORGET_THREADS, ..point });
        stream.stack_block(&StackBlock::new(1, 8, &[[0x7f00_0000_1000]]));
        stream.thread_block(&ThreadBlock::new(vec![
            ThreadRow::new(0, 0, 0),
            ThreadRow::new(1, 42, 300),
        ]));
        let labels = vec![plain_number("Version", 1), plain_number("OpCode", 4)];
        stream.label_list_block(&LabelListBlock::new(1, vec![labels]));
        let blobs = [1, 2].map(|number| Blob {
            metadata_id: 3,
            sequence_number: number,
            thread_id: u64::from(number - 1),
            capture_thread_id: 0,
            processor: 0,
            stack_id: 1,
            ticks: 1_000_110 + batch * 100 + u64::from(number),
            label_list_id: 1,
            is_sorted: true,
            payload: payload(&[
                Value::VarUInt(5),
                Value::CountedText("libc.so".into()),
                Value::CountedText(String::new()),
            ]),
            ..Blob::default()
        });
        stream.event_block(&EventBlock { max_ticks: Some(u64::MAX), ..EventBlock::new(blobs) });
    }
    stream.sequence_point(&SequencePoint { ticks: u64::MAX, ..SequencePoint::default() }).end();
    debug_assert_eq!(stream.count(PartKind::SequencePoint), 3);
    cases.add(Version::V6, "quirk-one-collect", stream.bytes);
}
