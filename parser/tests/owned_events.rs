//! Holds that a kept event says what it said when it was read.

use nettrace_parser::raw::{BlobEncoding, BlobHeader, blob, event_block_header};
use nettrace_parser::{BlockKind, Event, OwnedEvent, OwnedValue, Reader, Value, Version};
use nettrace_testdata::corpus;
use std::sync::Arc;

/// Writes everything that both kinds of events say.
macro_rules! said {
    ($event:expr) => {{
        let event = $event;
        let fields: Vec<String> = event
            .fields()
            .map(|field| format!("{} {} {:?}", field.name(), field.offset, field.value))
            .collect();
        format!(
            "{}/{} {} {} {:?} {:?} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {fields:?}",
            event.provider(),
            event.display_name(),
            event.id(),
            event.version(),
            event.thread_id(),
            event.process_id(),
            event.timestamp_ticks(),
            event.nanos(),
            event.unix_nanos(),
            event.activity_id(),
            event.related_activity_id(),
            event.labels(),
            event.stack(),
            event.payload(),
            event.offset(),
        )
    }};
}

fn of_event(event: &Event<'_>) -> String {
    said!(event)
}

fn of_owned(event: &OwnedEvent) -> String {
    said!(event)
}

#[test]
fn a_kept_event_says_what_it_said_when_it_was_read() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut events = Reader::from_slice(&bytes).time_ordered();
        let (mut said, mut kept) = (Vec::new(), Vec::new());
        for number in 0.. {
            let Some(event) = events.next_event().unwrap() else { break };
            if number % 50 == 0 {
                said.push(of_event(&event));
                kept.push(event.into_owned());
            }
        }
        drop(events);
        drop(bytes);
        let kept = std::thread::spawn(move || {
            assert!(kept.iter().map(of_owned).eq(said));
            kept
        });
        let kept = kept.join().unwrap();
        assert!(!kept.is_empty(), "{}", trace.name());
        for (one, other) in kept.iter().zip(&kept).skip(1) {
            let types = one.metadata().zip(other.metadata());
            let is_same = types.is_some_and(|(one, other)| one.serial() == other.serial());
            assert!(!is_same || types.is_some_and(|(one, other)| Arc::ptr_eq(one, other)));
        }
    }
}

/// Asserts that a copy has what the value has.
fn assert_copied(value: &Value<'_>, copy: &OwnedValue) {
    match (value, copy) {
        (Value::Utf16(_) | Value::Utf8(_), OwnedValue::Text(text)) => {
            assert_eq!(*text, value.to_string());
        }
        (Value::Bytes(bytes), OwnedValue::Bytes(copy)) => assert_eq!(bytes, copy),
        (Value::Array(array), OwnedValue::Array(copies)) => {
            assert_eq!(array.len(), copies.len());
            array.iter().zip(copies).for_each(|(value, copy)| assert_copied(&value, copy));
        }
        (Value::Object(object), OwnedValue::Object(copies)) => {
            let fields: Vec<_> = object.fields().filter(|field| field.value.is_ok()).collect();
            assert_eq!(fields.len(), copies.len());
            for (field, (name, copy)) in fields.iter().zip(copies) {
                assert_eq!(field.name().to_string(), *name);
                assert_copied(&field.value.unwrap(), copy);
            }
        }
        // NaN is not equal to itself.
        (value, OwnedValue::Plain(copy)) => assert_eq!(format!("{value:?}"), format!("{copy:?}")),
        (value, copy) => panic!("{value:?} became {copy:?}"),
    }
}

#[test]
fn a_kept_value_has_what_the_field_had() {
    let mut objects = 0;
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        let mut number = 0u32;
        reader
            .for_each(|event| {
                number += 1;
                if number.is_multiple_of(50) {
                    for value in event.fields().filter_map(|field| field.value.ok()) {
                        let copy = value.into_owned();
                        objects += u32::from(matches!(copy, OwnedValue::Array(_)));
                        assert_copied(&value, &copy);
                    }
                }
            })
            .unwrap();
    }
    assert!(objects > 0);
}

#[test]
fn a_kept_blob_has_its_header_payload_and_stack() {
    let bytes = corpus::trace("tiny-v4.nettrace").bytes();
    let mut reader = Reader::from_slice(&bytes);
    let mut kept = 0;
    while let Some(block) = reader.next_block().unwrap() {
        if block.kind == BlockKind::Event {
            let (mut rest, header) = event_block_header(block.content).unwrap();
            let encoding = BlobEncoding::new(Version::V4, header.is_compressed);
            let mut running = BlobHeader::default();
            while !rest.is_empty() {
                let (after, blob) = blob(encoding, &mut running)(rest).unwrap();
                assert_eq!(blob.into_owned().as_blob(), blob);
                kept += 1;
                rest = after;
            }
        }
    }
    assert_eq!(kept, 4);
}
