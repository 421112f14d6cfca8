//! Tests that visiting payloads allocates nothing, because values are borrowed from the stream.

use crate::allocation::usage;
use crate::payload_round_trip::one_event;
use nettrace_parser::view::View;
use nettrace_parser::{Event, Fields, Reader, Value, view};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, Stream, Tag, Trace, Value as Written, Version,
    payload,
};
use std::hint::black_box;

fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    usage(|| black_box(work())).1.calls
}

/// Reads all values, with every code unit of a text, every element and every member.
fn walk(fields: Fields<'_>) -> u64 {
    fields.map(|field| field.value.map_or(1, |value| sum(&value))).fold(0, u64::wrapping_add)
}

fn sum(value: &Value<'_>) -> u64 {
    match value {
        Value::Utf16(text) => text.chars().map(u64::from).sum(),
        Value::Utf8(text) => text.bytes().iter().map(|byte| u64::from(*byte)).sum(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| u64::from(*byte)).sum(),
        Value::Array(array) => array.iter().map(|value| sum(&value)).fold(0, u64::wrapping_add),
        Value::Object(object) => walk(object.fields()),
        other => other.as_u64().unwrap_or_else(|| other.as_f64().unwrap_or(0.0).to_bits()),
    }
}

/// Returns the numbers of events and of allocations of `work`, once each event type has been seen.
fn allocations_in(bytes: &[u8], mut work: impl FnMut(&Event<'_>)) -> (u64, u64) {
    let (mut events, mut total) = (0, 0);
    for is_warm in [false, true] {
        let mut reader = Reader::from_slice(bytes);
        while let Some(event) = reader.next_event().expect("a readable stream") {
            let allocations = allocations(|| work(&event));
            if is_warm {
                events += 1;
                total += allocations;
            }
        }
    }
    (events, total)
}

#[test]
fn walking_the_payloads_of_real_traces_allocates_nothing() {
    let mut all = 0;
    for file in corpus::traces() {
        let (events, allocations) = allocations_in(&file.bytes(), |event| {
            black_box(walk(event.fields()));
        });
        assert_eq!(allocations, 0, "{}", file.name());
        all += events;
    }
    assert!(all > 800_000 || corpus::shared_folder().is_none(), "{all} events");
}

#[test]
fn views_and_fields_by_name_allocate_nothing() {
    let file = corpus::trace("net10-linux-x64/all.nettrace");
    let (events, allocations) = allocations_in(&file.bytes(), |event| {
        black_box((
            view::Method::from_event(event),
            view::Exception::from_event(event),
            view::Counter::from_event(event),
        ));
        black_box((
            view::Sample::from_event(event),
            view::Allocation::from_event(event),
            view::Module::from_event(event),
        ));
        black_box((
            event.field("ClrInstanceID"),
            event.field("MethodSignature"),
            event.field("url"),
        ));
        black_box(event.fields().find("TypeName").is_some());
    });
    assert_eq!(allocations, 0);
    assert!(events > 50_000, "{events}");
}

#[test]
fn payloads_without_texts_allocate_nothing() {
    let kinds = [
        FieldType::Int32,
        FieldType::Boolean32,
        FieldType::Guid,
        FieldType::Double,
        FieldType::Int16.array(),
    ];
    let fields: Vec<Field> = kinds.into_iter().map(|kind| Field::new("f", kind)).collect();
    let values = Written::samples(&fields, 3);
    let bytes = one_event(Version::V5, fields, values).record().stream.bytes;
    let (events, allocations) = allocations_in(&bytes, |event| assert_ne!(walk(event.fields()), 0));
    assert_eq!((events, allocations), (1, 0));
}

#[test]
fn payloads_with_borrowed_texts_allocate_nothing() {
    let texts =
        FieldType::Object(vec![Field::new("k", FieldType::Text), Field::new("v", FieldType::Text)]);
    let fields = vec![Field::new("s", FieldType::Text), Field::new("a", texts.array())];
    let pair = |key: &str, value: &str| {
        Written::Object(vec![Written::Text(key.into()), Written::Text(value.into())])
    };
    let values =
        vec![Written::Text("日本語".into()), Written::Array(vec![pair("a", ""), pair("🚀", "x")])];
    let bytes = one_event(Version::V5, fields, values).record().stream.bytes;
    let (events, allocations) = allocations_in(&bytes, |event| assert_ne!(walk(event.fields()), 0));
    assert_eq!((events, allocations), (1, 0));
}

#[test]
fn unusual_readings_allocate_nothing() {
    // The payload has booleans of one byte.
    let fields = vec![Field::new("b", FieldType::Boolean32), Field::new("n", FieldType::Int64)];
    let bytes = one_event(Version::V6, fields, vec![Written::Boolean8(true), Written::I64(1)])
        .record()
        .stream
        .bytes;
    assert_eq!(allocations_in(&bytes, |event| assert_eq!(walk(event.fields()), 2)), (1, 0));
    // The message of the exception is missing in the payload.
    let thrown = Definition {
        metadata_id: 1,
        provider: "Microsoft-Windows-DotNETRuntime".into(),
        event_id: 80,
        version: 1,
        tags: vec![Tag::opcode(1)],
        ..Definition::default()
    };
    let values = [
        Written::Text("System.Exception".into()),
        Written::U64(0x7f00_1234_5678),
        Written::U32(0x8013_1500),
        Written::U16(16),
        Written::U16(9),
    ];
    let event =
        Blob { metadata_id: 1, sequence_number: 1, payload: payload(&values), ..Blob::default() };
    let mut stream = Stream::new(Version::V5);
    stream
        .trace(&Trace::default())
        .metadata_blobs(&EventBlock::new([Blob::definition(0, 0, thrown.encode())]))
        .event_block(&EventBlock::new([event]))
        .end();
    let counted = allocations_in(&stream.bytes, |event| {
        let exception = view::Exception::from_event(event).expect("an exception");
        assert!(exception.message.is_empty() && exception.hresult == 0x8013_1500);
    });
    assert_eq!(counted, (1, 0));
}
