//! Tests of descriptions of event types in versions 3 to 5: fields and tags (FORMAT.md 6.4 to 6.6).

use crate::described::*;
use crate::snapshot::read;
use crate::streams::{EACH, START, begun, define, definition, event, events, opened};
use nettrace_parser::{Class, Fault};
use nettrace_testdata::synth::*;

#[test]
fn t074_a_metadata_blob_that_ends_after_the_level_has_no_fields() {
    for version in [Version::V3, Version::V4] {
        let short =
            Definition { ends_after_level: true, keywords: u64::MAX, version: 3, ..definition(1) };
        let outcome = described(version, &[short], &[1, 2, 3]);
        let metadata = outcome.events[0].metadata.as_ref().unwrap();
        assert_eq!((metadata.id, &*metadata.provider, metadata.event_id), (1, "Demo", 7));
        assert_eq!((&*metadata.name, metadata.keywords), ("Hi", u64::MAX));
        assert_eq!((metadata.version, metadata.level, metadata.opcode), (3, 4, None));
        assert_eq!((shape_of(&outcome, 0).as_str(), metadata.schema.opaque), ("", None));
        assert_eq!(
            (outcome.events[0].fields.len(), &outcome.events[0].rest[..]),
            (0, &[1, 2, 3][..])
        );
        assert!(outcome.is_flawless());
        // One that ends before the level is no definition.
        let mut stream = opened(version);
        let whole = Definition { ends_after_level: true, ..definition(1) }.encode();
        let cut = whole.len() - 1;
        stream.metadata_blobs(&EventBlock::new([Blob::definition(
            11,
            START,
            whole[..cut].to_vec(),
        )]));
        let part = stream.parts.last().unwrap().clone();
        let payload_at =
            if version == Version::V3 { part.rows[0].start + 56 } else { part.rows[0].end - cut };
        events(&mut stream, [event(1, 1)]);
        stream.end();
        let outcome = read(&stream.bytes);
        let level_at = payload_at + cut - 3;
        assert_eq!(
            outcome.damage(),
            [
                (Class::RowLost, level_at as u64, Fault::Truncated),
                (Class::Note, outcome.events[0].offset, Fault::UndefinedMetadata(1)),
            ]
        );
    }
}

#[test]
fn t075_v1_fields_have_type_before_name() {
    use FieldType::*;
    let types = [
        Boolean32, Char, SByte, Byte, Int16, UInt16, Int32, UInt32, Int64, UInt64, Single, Double,
        Decimal, DateTime, Guid, Text,
    ];
    let fields: Vec<Field> =
        types.iter().enumerate().map(|(nth, of)| field(&format!("f{nth}"), of.clone())).collect();
    let values = [
        Value::Boolean32(true),
        Value::Char(0x41),
        Value::I8(-1),
        Value::U8(200),
        Value::I16(-2),
        Value::U16(60_000),
        Value::I32(-3),
        Value::U32(4_000_000_000),
        Value::I64(i64::MIN),
        Value::U64(u64::MAX),
        Value::F32(1.5),
        Value::F64(-2.25),
        Value::Decimal(nettrace_testdata::synth::Decimal {
            is_negative: true,
            scale: 2,
            mantissa: 1234,
        }),
        Value::FileTime(0x01da_6b0b_b36f_5080),
        Value::Guid([0x11; 16]),
        Value::Text("größe".into()),
    ];
    for version in [Version::V3, Version::V4, Version::V5] {
        let outcome = described(
            version,
            &[Definition { fields: fields.clone(), ..definition(1) }],
            &payload(&values),
        );
        assert_eq!(
            shape_of(&outcome, 0),
            "f0: Boolean32, f1: Utf16CodeUnit, f2: I8, f3: U8, f4: I16, f5: U16, f6: I32, f7: U32, f8: I64, \
             f9: U64, f10: F32, f11: F64, f12: Decimal, f13: DateTime, f14: Guid, f15: Utf16Text"
        );
        assert_eq!(
            outcome.events[0].fields,
            [
                "f0 = true",
                "f1 = char 0x41",
                "f2 = -1i8",
                "f3 = 200u8",
                "f4 = -2i16",
                "f5 = 60000u16",
                "f6 = -3i32",
                "f7 = 4000000000u32",
                "f8 = -9223372036854775808i64",
                "f9 = 18446744073709551615u64",
                "f10 = 1.5f32",
                "f11 = -2.25f64",
                "f12 = -12.34m",
                "f13 = 2024-02-29T12:34:56.0080000Z",
                "f14 = 11111111-1111-1111-1111-111111111111",
                "f15 = \"größe\"",
            ]
        );
        assert_eq!(outcome.events[0].rest, []);
        assert!(outcome.is_flawless());
    }
    // By hand: type code 9, then "n".
    let by_hand = [
        &definition(1).encode()[..definition(1).encode().len() - 12],
        &[1, 0, 0, 0, 8, 0, 0, 0],
        b"x\0\0\0",
    ]
    .concat();
    let mut stream = opened(Version::V4);
    stream.metadata_blobs(&EventBlock::new([Blob::definition(11, START, by_hand)]));
    events(&mut stream, [event(1, 1)]);
    stream.end();
    assert_eq!(shape_of(&read(&stream.bytes), 0), "x: U16");
}

#[test]
fn t076_a_nested_object_in_a_v1_list_reads_its_own_list_before_its_name() {
    let inner = FieldType::Object(vec![field("b", FieldType::Byte), field("", FieldType::Text)]);
    let outer = FieldType::Object(vec![
        field("a", FieldType::Int32),
        field("inner", inner),
        field("none", FieldType::Object(vec![])),
        field("c", FieldType::UInt16),
    ]);
    let fields = vec![
        field("first", FieldType::Byte),
        field("outer", outer),
        field("last", FieldType::SByte),
    ];
    let values = [
        Value::U8(1),
        Value::I32(2),
        Value::U8(3),
        Value::Text("four".into()),
        Value::U16(5),
        Value::I8(-6),
    ];
    for version in [Version::V3, Version::V4] {
        let outcome = described(
            version,
            &[Definition { fields: fields.clone(), ..definition(1) }],
            &payload(&values),
        );
        assert_eq!(
            shape_of(&outcome, 0),
            "first: U8, outer: {a: I32, inner: {b: U8, : Utf16Text}, none: {}, c: U16}, last: I8"
        );
        assert_eq!(
            outcome.events[0].fields,
            [
                "first = 1u8",
                "outer = {a = 2i32, inner = {b = 3u8,  = \"four\"}, none = {}, c = 5u16}",
                "last = -6i8",
            ]
        );
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t077_an_opcode_tag_sets_the_opcode_also_if_it_is_longer_than_one_byte() {
    let tags = [vec![1], vec![0], vec![255], vec![9, 1, 2, 3], vec![2, 0, 0, 0, 0, 0, 0, 0]];
    let definitions: Vec<Definition> = tags
        .iter()
        .zip(1..)
        .map(|(tag, id)| Definition { tags: vec![Tag::new(1, tag.clone())], ..definition(id) })
        .collect();
    for version in [Version::V3, Version::V5] {
        let outcome = described(version, &definitions, &[0; 4]);
        let opcodes: Vec<_> = outcome.events.iter().map(|event| event.opcode).collect();
        assert_eq!(opcodes, [Some(1), Some(0), Some(255), Some(9), Some(2)]);
        assert!(outcome.events.iter().all(|event| event.fields == ["n = 0i32"]));
        assert!(outcome.is_flawless());
    }
    // An empty tag says nothing.
    let empty = Definition { tags: vec![Tag::new(1, vec![])], ..definition(1) };
    assert_eq!(described(Version::V5, &[empty], &[0; 4]).events[0].opcode, None);
}

#[test]
fn t078_without_an_opcode_tag_the_opcode_is_unknown_not_zero() {
    for version in EACH {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 1)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!((outcome.events[0].opcode, outcome.events[0].implied_opcode), (None, 0));
    }
    let with_other_tags =
        Definition { tags: vec![Tag::v2_params(&[])], fields: vec![], ..definition(1) };
    assert_eq!(described(Version::V5, &[with_other_tags], &[]).events[0].opcode, None);
}

#[test]
fn t079_v2params_describe_an_array_of_uint16_int32_uint64_char() {
    use FieldType::*;
    let mut definitions = vec![
        v2(&[field("a", UInt16.array())]),
        v2(&[field("a", Int32.array()), field("b", Text)]),
        v2(&[field("a", UInt64.array()), field("b", Char.array())]),
    ];
    for (definition, number) in definitions.iter_mut().zip(1..) {
        definition.metadata_id = number;
        definition.name = format!("TestEvent{number}");
    }
    let mut stream = opened(Version::V5);
    define(&mut stream, &definitions);
    let payloads = [
        payload(&[Value::Array(vec![Value::U16(1), Value::U16(65535)])]),
        payload(&[Value::Array([12, -34, 56].map(Value::I32).to_vec()), Value::Text("b".into())]),
        payload(&[Value::Array(vec![Value::U64(u64::MAX)]), Value::utf16_array("chars ü")]),
    ];
    let blobs = payloads.into_iter().zip(1..);
    events(
        &mut stream,
        blobs.map(|(payload, number)| Blob { metadata_id: number, payload, ..event(number, 1) }),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(shape_of(&outcome, 0), "a: [U16]");
    assert_eq!(shape_of(&outcome, 1), "a: [I32], b: Utf16Text");
    assert_eq!(shape_of(&outcome, 2), "a: [U64], b: [Utf16CodeUnit]");
    let fields: Vec<_> = outcome.events.iter().map(|event| event.fields.join("; ")).collect();
    assert_eq!(
        fields,
        [
            "a = [1u16, 65535u16]",
            "a = [12i32, -34i32, 56i32]; b = \"b\"",
            "a = [18446744073709551615u64]; b = \"chars ü\"",
        ]
    );
    assert_eq!(outcome.events[2].name, "TestEvent3");
    assert!(outcome.events.iter().all(|event| event.rest.is_empty()));
    assert!(outcome.is_flawless());
}

#[test]
fn t080_v2params_describe_an_array_of_objects_with_two_strings() {
    let pair =
        FieldType::Object(vec![field("Key", FieldType::Text), field("Value", FieldType::Text)]);
    let source = Definition {
        provider: "Microsoft-Diagnostics-DiagnosticSource".into(),
        event_id: 2,
        name: "Event".into(),
        ..v2(&[
            field("SourceName", FieldType::Text),
            field("EventName", FieldType::Text),
            field("Arguments", pair.array()),
        ])
    };
    let text = |text: &str| Value::Text(text.into());
    let arguments = Value::Array(vec![
        Value::Object(vec![text("Id"), text("17")]),
        Value::Object(vec![text(""), text("x=y")]),
    ]);
    let bytes = payload(&[text("HttpHandler"), text("Request"), arguments]);
    let outcome = described(Version::V5, &[source], &bytes);
    assert_eq!(
        shape_of(&outcome, 0),
        "SourceName: Utf16Text, EventName: Utf16Text, Arguments: [{Key: Utf16Text, Value: Utf16Text}]"
    );
    assert_eq!(
        outcome.events[0].fields,
        [
            "SourceName = \"HttpHandler\"",
            "EventName = \"Request\"",
            "Arguments = [{Key = \"Id\", Value = \"17\"}, {Key = \"\", Value = \"x=y\"}]",
        ]
    );
    assert_eq!(outcome.events[0].rest, []);
    assert!(outcome.is_flawless());
}

#[test]
fn t081_a_v2_field_s_size_counts_itself_and_extra_bytes_in_it_are_skipped() {
    let inner = Field { extra: vec![0xee; 3], ..field("i", FieldType::UInt32) };
    let fields = [
        Field { extra: vec![0xee; 5], ..field("a", FieldType::Int32) },
        Field { extra: vec![1, 0, 0, 0], ..field("o", FieldType::Object(vec![inner])) },
        Field { extra: vec![9], ..field("s", FieldType::Byte.array()) },
        field("z", FieldType::Byte),
    ];
    let values = [
        Value::I32(1),
        Value::U32(2),
        Value::Array(vec![Value::U8(3), Value::U8(4)]),
        Value::U8(5),
    ];
    let outcome = described(Version::V5, &[v2(&fields)], &payload(&values));
    assert_eq!(shape_of(&outcome, 0), "a: I32, o: {i: U32}, s: [U8], z: U8");
    assert_eq!(outcome.events[0].fields, ["a = 1i32", "o = {i = 2u32}", "s = x0304", "z = 5u8"]);
    assert!(outcome.is_flawless());
    // By hand: "b", of 12 bytes with the size itself and of 13 with one more.
    for (size, more) in [(12_u32, &[][..]), (13, &[0xee])] {
        let field = [&size.to_le_bytes()[..], b"b\0\0\0", &[7, 0, 0, 0], more].concat();
        let tag = Tag::new(2, [&1_u32.to_le_bytes()[..], &field].concat());
        let by_hand = Definition { fields: vec![], tags: vec![tag], ..definition(1) };
        assert_eq!(shape_of(&described(Version::V5, &[by_hand], &[]), 0), "b: I16");
    }
    // A size too small for itself, or beyond the tag, is not believed.
    for size in [0_u32, 3, 11, 14, u32::MAX] {
        let wrong = Field { size: Some(size), ..field("b", FieldType::Int16) };
        let outcome = described(Version::V5, &[v2(&[wrong])], &[1, 0]);
        let metadata = outcome.events[0].metadata.as_ref().unwrap();
        assert!(metadata.schema.opaque.is_some() && metadata.schema.fields.is_empty(), "{size}");
        assert_eq!(
            (outcome.events[0].name.as_str(), &outcome.events[0].rest[..]),
            ("Hi", &[1, 0][..])
        );
    }
}

#[test]
fn t082_v2params_after_a_non_empty_v1_list_win_with_a_note() {
    let both = Definition {
        fields: vec![field("old", FieldType::Int32)],
        ..v2(&[field("new", FieldType::Byte.array())])
    };
    let definitions = [both];
    let stream = stream_of(Version::V5, &definitions, &[1, 0, 9]);
    let outcome = read(&stream.bytes);
    assert_eq!(shape_of(&outcome, 0), "new: [U8]");
    assert_eq!(outcome.events[0].fields, ["new = x09"]);
    let (_, end) = definition_payload(&stream, &definitions, 0);
    let tag = end - (5 + definitions[0].tags[0].payload.len());
    assert_eq!(outcome.damage(), [(Class::Note, tag as u64, Fault::BothFieldLists)]);
}

#[test]
fn t083_opcode_before_or_after_v2params_is_the_same() {
    let fields = [field("a", FieldType::UInt16.array())];
    let (opcode, params) = (Tag::opcode(1), Tag::v2_params(&fields));
    let before = Definition { tags: vec![opcode.clone(), params.clone()], ..v2(&[]) };
    let after = Definition { tags: vec![params, opcode], ..before.clone() };
    let [before, after] =
        [before, after].map(|definition| described(Version::V5, &[definition], &[1, 0, 7, 0]));
    assert_eq!(before.events[0].metadata, after.events[0].metadata);
    assert_eq!(before.events[0].opcode, Some(1));
    assert_eq!(
        (shape_of(&before, 0), before.events[0].fields.join("")),
        ("a: [U16]".into(), "a = [7u16]".into())
    );
    assert!(before.is_flawless() && after.is_flawless());
}

#[test]
fn t084_an_unknown_tag_is_skipped_by_its_size() {
    let unknown = |kind, size| Tag::new(kind, vec![1; size]);
    let tags = vec![
        unknown(0, 0),
        unknown(3, 1),
        Tag::opcode(7),
        unknown(255, 300),
        Tag::v2_params(&[field("a", FieldType::Byte)]),
        unknown(9, 4),
    ];
    let outcome = described(Version::V5, &[Definition { tags, ..v2(&[]) }], &[5]);
    assert_eq!(outcome.events[0].opcode, Some(7));
    assert_eq!(outcome.events[0].fields, ["a = 5u8"]);
    assert!(outcome.is_flawless());
}

#[test]
fn t085_a_tag_whose_size_leaves_the_blob_ends_the_tags_and_keeps_the_rest() {
    for size in [2, 6, 1000, i32::MAX as u32, -1_i32 as u32, i32::MIN as u32] {
        let beyond = Tag { size: Some(size), ..Tag::opcode(9) };
        let definitions = [
            Definition { tags: vec![Tag::opcode(3), beyond], ..definition(1) },
            Definition { metadata_id: 2, ..definition(2) },
        ];
        let stream = stream_of(Version::V5, &definitions, &[5, 0, 0, 0]);
        let outcome = read(&stream.bytes);
        let (_, end) = definition_payload(&stream, &definitions, 0);
        assert_eq!(
            outcome.damage(),
            [(Class::RowLost, end as u64 - 6, Fault::TagSize(size as i32))]
        );
        assert_eq!(outcome.findings[0].lost_bytes, 6);
        assert_eq!(outcome.events[0].opcode, Some(3));
        // Name and fields stand, and so does the next definition.
        let seen: Vec<_> = outcome
            .events
            .iter()
            .map(|event| (event.name.as_str(), event.fields.join("")))
            .collect();
        assert_eq!(seen, [("Hi", "n = 5i32".into()), ("Hi", "n = 5i32".into())]);
        assert!(outcome.is_complete);
    }
    // Bytes that are too few for a tag.
    let definitions = [Definition { tags: vec![Tag::opcode(3)], ..definition(1) }];
    let mut stream = opened(Version::V5);
    let encoded = [definitions[0].encode(), vec![1, 0, 0]].concat();
    stream.metadata_blobs(&EventBlock::new([Blob::definition(11, START, encoded)]));
    let end = stream.parts.last().unwrap().content.end as u64;
    events(&mut stream, [event(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::RowLost, end - 3, Fault::Truncated)]);
    assert_eq!(outcome.events[0].opcode, Some(3));
}
