//! Tests of fields as types of Rust: a value that fits is returned, otherwise an error.

use nettrace_parser::view::View;
use nettrace_parser::{DateTime, FieldError, FromValue, Guid, Reader, Utf8, Utf16, Value, view};
use nettrace_testdata::synth::{Damage, Version, strategy};
use nettrace_testdata::{cases, corpus};
use proptest::prelude::*;
use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

fn to<'r, T: FromValue<'r>>(value: Value<'r>) -> Option<T> {
    T::from_value(value)
}

#[test]
fn numbers_of_any_width_fit_or_do_not() {
    assert_eq!(to::<u8>(Value::U64(255)), Some(255));
    assert_eq!(to::<u8>(Value::U64(256)), None);
    assert_eq!(to::<u32>(Value::I32(-1)), None);
    assert_eq!(to::<i8>(Value::I64(-128)), Some(-128));
    assert_eq!(to::<i64>(Value::U64(u64::MAX)), None);
    assert_eq!(to::<u64>(Value::Pointer(u64::MAX)), Some(u64::MAX));
    assert_eq!(to::<usize>(Value::U16(7)), Some(7));
    assert_eq!(to::<f64>(Value::I16(-3)), Some(-3.0));
    assert_eq!(to::<f32>(Value::F64(0.1)), Some(0.1));
    assert_eq!(to::<f32>(Value::F32(0.1)), Some(0.1));
    assert_eq!(to::<u32>(Value::F64(1.0)), None);
    assert_eq!(to::<bool>(Value::Bool(true)), Some(true));
    assert_eq!(to::<bool>(Value::U8(1)), None);
}

#[test]
fn texts_are_given_in_either_encoding_and_borrowed_where_they_can_be() {
    let (utf8, utf16) =
        (Value::Utf8(Utf8::new(b"h\xc3\xa4h")), Value::Utf16(Utf16::new(b"h\0\xe4\0", true)));
    assert!(matches!(to(utf8), Some(Cow::Borrowed("häh"))));
    assert_eq!(to::<Cow<'_, str>>(utf16), Some("hä".into()));
    assert_eq!((to::<String>(utf8), to::<String>(utf16)), (Some("häh".into()), Some("hä".into())));
    assert_eq!((to::<&str>(utf8), to::<&str>(utf16)), (Some("häh"), None));
    assert_eq!(to::<Cow<'_, str>>(Value::Utf8(Utf8::new(b"h\xff"))), Some("h\u{fffd}".into()));
    assert_eq!(to::<String>(Value::U8(1)), None);
}

#[test]
fn dates_guids_bytes_and_what_is_absent() {
    let date = DateTime::from_file_time(116_444_736_000_000_000 + 15_000_000);
    assert_eq!(to(Value::DateTime(date)), Some(UNIX_EPOCH + Duration::from_millis(1500)));
    let before = DateTime::from_file_time(116_444_736_000_000_000 - 10_000_000);
    assert_eq!(to(Value::DateTime(before)), UNIX_EPOCH.checked_sub(Duration::from_secs(1)));
    let guid = Guid::from_bytes([7; 16]);
    assert_eq!(to(Value::Guid(guid)), Some(guid));
    assert_eq!(to::<Vec<u8>>(Value::Bytes(b"ab")), Some(b"ab".to_vec()));
    assert_eq!(to::<&[u8]>(Value::Bytes(b"ab")), Some(&b"ab"[..]));
    assert_eq!(to::<Option<u8>>(Value::Absent), Some(None));
    assert_eq!(to::<Option<u8>>(Value::U8(1)), Some(Some(1)));
    assert_eq!(to::<Option<u8>>(Value::U16(300)), None);
    assert_eq!(to::<u8>(Value::Absent), None);
}

#[test]
fn errors_tell_the_field_and_what_is_there_instead() {
    let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    let mut reader = Reader::from_slice(&bytes);
    let event = reader.next_event().unwrap().unwrap();
    let error = event.get::<u32>("Count").unwrap_err();
    assert!(matches!(&error, FieldError::Missing { .. }));
    assert_eq!((error.to_string().as_str(), error.field()), ("there is no field Count", "Count"));
    let error = event.get::<bool>("n").unwrap_err();
    assert_eq!(error.to_string(), "field n is the number 5, not a truth value");
    let error = event.fields().find("s").unwrap().to::<u64>().unwrap_err();
    assert_eq!(error.to_string(), "field s is text, not u64");
    let is_error = |error: &dyn std::error::Error| error.to_string();
    assert_eq!(is_error(&error), "field s is text, not u64");
}

#[test]
fn numbers_in_arrays_become_a_vector() {
    let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    let mut found = Vec::new();
    Reader::from_slice(&bytes).for_each(|event| found.extend(event.get::<Vec<u16>>("a"))).unwrap();
    assert_eq!(found, [[256, 7]]);
}

#[test]
fn views_of_equal_events_are_equal() {
    let trace = corpus::trace("net10-linux-x64/all.nettrace");
    let bytes = trace.bytes();
    let (mut methods, mut reader) = (0, Reader::from_slice(&bytes));
    let mut other = Reader::from_slice(&bytes);
    while let Some(event) = other.next_event().unwrap() {
        let again = reader.next_event().unwrap().unwrap();
        assert_eq!(view::Method::from_event(&event), view::Method::from_event(&again));
        methods += usize::from(view::Method::from_event(&event).is_some());
    }
    assert!(methods > 0);
    let losses = reader.losses().clone();
    assert_eq!(&losses, reader.losses());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(32)) })]

    #[test]
    fn every_field_is_found_by_its_name(
        session in prop::sample::select(vec![Version::V3, Version::V5, Version::V6])
            .prop_flat_map(|version| strategy::sessions(version, 40)),
        flips in prop::collection::vec((200_usize..3000, 1_u8..), 0..3),
    ) {
        let mut bytes = session.record().stream.bytes;
        for (at, mask) in flips {
            Damage::Flip { at, mask }.apply(&mut bytes);
        }
        let mut reader = Reader::from_slice(&bytes);
        while let Ok(Some(event)) = reader.next_event() {
            for field in event.fields() {
                let first = event.fields().find(field.name()).unwrap();
                let by_name = event.get::<Value<'_>>(field.name());
                prop_assert_eq!(by_name.is_ok(), first.value.is_ok());
                // NaN is not equal to itself.
                prop_assert_eq!(
                    format!("{:?}", by_name.ok()),
                    format!("{:?}", first.value.ok())
                );
            }
        }
    }
}

#[test]
fn the_range_of_a_method_event_is_that_of_its_whole_view() {
    let mut methods = 0;
    for trace in corpus::traces() {
        if std::fs::metadata(trace.path()).unwrap().len() > 1_000_000 {
            continue;
        }
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            let Some(method) = view::Method::from_event(&event) else { continue };
            let range = view::MethodRange::from_payload(event.payload()).unwrap();
            assert_eq!((range.method_id, range.module_id), (method.method_id, method.module_id));
            assert_eq!((range.start, range.size), (method.start, method.size));
            methods += 1;
        }
    }
    assert!(methods > 1000, "{methods}");
}
