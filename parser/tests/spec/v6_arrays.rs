//! Tests of arrays and objects of version 6 (FORMAT.md 8).

use crate::allocation::usage;
use crate::streams::{event, events, opened, row};
use crate::v6::*;
use nettrace_parser::Reader;
use nettrace_testdata::synth::*;

#[test]
fn t138_fixedlengtharray_of_zero_elements_is_empty() {
    let empty = |element: FieldType| FieldType::FixedLengthArray(Box::new(element), 0);
    let fields = [
        field("a", empty(FieldType::Int32)),
        field("t", empty(FieldType::Char)),
        field(
            "o",
            FieldType::Object(vec![
                field("i", empty(FieldType::UInt64)),
                field("n", FieldType::Byte),
            ]),
        ),
        field("n", FieldType::Byte),
        field("last", empty(FieldType::Byte)),
    ];
    let outcome = with_payloads(&fields, &[vec![1, 2]]);
    let expected = ["a = []", "t = \"\"", "o = {i = [], n = 1u8}", "n = 2u8", "last = x"];
    assert_eq!(outcome.events[0].fields, expected);
    assert_eq!(outcome.events[0].rest, []);
    assert!(outcome.is_flawless());
}

#[test]
fn t139_a_product_of_fixed_lengths_beyond_the_limit_is_refused_without_allocating() {
    let times = |element: FieldType, counts: &[u16]| {
        counts
            .iter()
            .fold(element, |element, count| FieldType::FixedLengthArray(Box::new(element), *count))
    };
    let empty = || FieldType::Object(vec![]);
    let most = u16::MAX;
    let cases = [
        (times(empty(), &[most, most, most]), "<ValueLimit>"),
        (times(empty(), &[most; 29]), "<ValueLimit>"),
        (times(empty(), &[1024, 1024]), "<ValueLimit>"),
        (
            times(FieldType::Object(vec![field("e", times(empty(), &[most]))]), &[most]),
            "<ValueLimit>",
        ),
        (times(FieldType::Byte, &[most, most]), "<ValueLimit>"),
        (times(FieldType::UInt64, &[1000, 1000]), "<Truncated>"),
        (times(FieldType::Guid, &[most]), "<Truncated>"),
    ];
    for (kind, bad) in cases {
        let fields = [field("a", FieldType::Byte), field("x", kind), field("z", FieldType::Byte)];
        let mut stream = opened(Version::V6);
        stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow {
            fields: fields.to_vec(),
            ..row(1)
        }]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
        events(&mut stream, [Blob { payload: vec![1, 2], ..event(1, 1) }]);
        stream.end();
        let (texts, usage) = usage(|| {
            let mut reader = Reader::from_slice(&stream.bytes);
            let event = reader.next_event().unwrap().unwrap();
            crate::snapshot::fields::texts(&event)
        });
        assert_eq!(texts[..2], ["a = 1u8".to_owned(), format!("x = {bad}")]);
        assert!(usage.peak < 64 * 1024, "{usage:?}");
    }
    // Below the limit they are read: 1,023 times 1,024 empty objects.
    let fields = [field("x", times(empty(), &[1024, 1023])), field("z", FieldType::Byte)];
    let outcome = with_payloads(&fields, &[vec![9]]);
    assert!(outcome.events[0].fields[0].starts_with("x = [[{}, {}, "));
    assert_eq!(outcome.events[0].fields[1], "z = 9u8");
}

#[test]
fn t140_boolean8_alone_in_arrays_and_in_objects_is_one_byte() {
    let fields = [
        field("b", FieldType::Boolean8),
        field("a", FieldType::Boolean8.array()),
        field("f", FieldType::FixedLengthArray(Box::new(FieldType::Boolean8), 2)),
        field(
            "o",
            FieldType::Object(vec![field("i", FieldType::Boolean8), field("n", FieldType::Byte)]),
        ),
        field("d", FieldType::DataLoc(Box::new(FieldType::Boolean8))),
        field("z", FieldType::Byte),
    ];
    let bytes = vec![2, 3, 0, 1, 0, 255, 0, 1, 1, 9, 15, 0, 2, 0, 8, 0, 1];
    let outcome = with_payloads(&fields, &[bytes]);
    assert_eq!(
        outcome.events[0].fields,
        [
            "b = true",
            "a = [true, false, true]",
            "f = [false, true]",
            "o = {i = true, n = 9u8}",
            "d = [false, true]",
            "z = 8u8",
        ]
    );
}

#[test]
fn t141_an_object_field_s_members_are_read_in_place() {
    let inner = FieldType::Object(vec![field("c", FieldType::VarInt), field("d", FieldType::Text)]);
    let fields = [
        field("first", FieldType::Byte),
        field(
            "o",
            FieldType::Object(vec![
                field("a", FieldType::UInt16),
                field("inner", inner.clone()),
                field("b", FieldType::Byte),
            ]),
        ),
        field("list", inner.array()),
        field("last", FieldType::Byte),
    ];
    let member = |number, of: &str| Value::Object(vec![Value::VarInt(number), text(of)]);
    let values = [
        Value::U8(1),
        Value::Object(vec![Value::U16(2), member(-3, "four"), Value::U8(5)]),
        Value::Array(vec![member(6, ""), member(-7, "eight")]),
        Value::U8(9),
    ];
    assert_eq!(
        decoded(&fields, &values),
        [
            "first = 1u8",
            "o = {a = 2u16, inner = {c = -3i64, d = \"four\"}, b = 5u8}",
            "list = [{c = 6i64, d = \"\"}, {c = -7i64, d = \"eight\"}]",
            "last = 9u8",
        ]
    );
    // A nameless object around all fields only wraps the list; its members are the fields.
    let wrapped = [field(
        "",
        FieldType::Object(vec![field("a", FieldType::Byte), field("b", FieldType::Byte)]),
    )];
    assert_eq!(decoded(&wrapped, &[Value::U8(1), Value::U8(2)]), ["a = 1u8", "b = 2u8"]);
}

#[test]
fn t142_an_array_count_of_40000_is_unsigned() {
    let fields = [field("a", FieldType::SByte.array()), field("z", FieldType::UInt16)];
    let values = [Value::Array(vec![Value::I8(-1); 40_000]), Value::U16(7)];
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow {
        fields: fields.to_vec(),
        ..row(1)
    }]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    events(&mut stream, [Blob { payload: payload(&values), ..event(1, 1) }]);
    stream.end();
    let mut reader = Reader::from_slice(&stream.bytes);
    let event = reader.next_event().unwrap().unwrap();
    let array = event.field("a").unwrap().as_array().unwrap();
    assert_eq!((array.len(), array.iter().count(), array.bytes().len()), (40_000, 40_000, 40_000));
    assert!(array.iter().all(|value| value.as_i64() == Some(-1)));
    assert_eq!(event.field("z").unwrap().as_u64(), Some(7));
}

#[test]
fn t143_an_array_count_larger_than_the_payload_spoils_only_that_field() {
    for element in
        [FieldType::Byte, FieldType::Int32, FieldType::Text, FieldType::Char, FieldType::VarUInt]
    {
        let fields =
            [field("a", FieldType::Byte), field("x", element.array()), field("z", FieldType::Byte)];
        let bytes = [&[1][..], &60_000_u16.to_le_bytes(), &[3; 12]].concat();
        let outcome = with_payloads(&fields, &[bytes, vec![1, 1, 0, 3, 0, 0, 0, 0, 0]]);
        let event = &outcome.events[0];
        assert_eq!(event.fields, ["a = 1u8", "x = <Truncated>"]);
        // The end of the array is unknown, so the array and all after it remain bytes.
        assert_eq!(event.rest.len(), 14);
        // The next event is read correctly.
        assert_eq!(outcome.events[1].fields[0], "a = 1u8");
        assert!(!outcome.events[1].fields[1].contains('<'));
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t144_a_count_prefix_cut_in_half_spoils_only_that_field() {
    let fields = [
        field("a", FieldType::Byte),
        field("x", FieldType::Byte.array()),
        field("z", FieldType::Byte),
    ];
    let outcome = with_payloads(&fields, &[vec![1, 2], vec![1], vec![1, 0, 0], vec![1, 0, 0, 5]]);
    let seen: Vec<_> = outcome.events.iter().map(|event| event.fields.join("; ")).collect();
    assert_eq!(
        seen,
        [
            "a = 1u8; x = <Truncated>",
            "a = 1u8; x = absent; z = absent",
            "a = 1u8; x = x; z = absent",
            "a = 1u8; x = x; z = 5u8",
        ]
    );
    assert_eq!(outcome.events[0].rest, [2]);
    assert!(outcome.is_flawless());
}
