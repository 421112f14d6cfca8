//! Tests of the types of version 6, and of the places of their values (FORMAT.md 8).

use crate::streams::{event, events, opened, row};
use crate::v6::*;
use nettrace_parser::{Class, Fault, Reader};
use nettrace_testdata::synth::*;

#[test]
fn t131_varint_reads_i64_min_17982_0_i64_max_and_varuint_u64_max() {
    let fields = [
        field("a", FieldType::VarInt),
        field("b", FieldType::VarInt),
        field("c", FieldType::VarInt),
        field("d", FieldType::VarInt),
        field("e", FieldType::VarUInt),
        field("f", FieldType::VarUInt),
    ];
    let values = [
        Value::VarInt(i64::MIN),
        Value::VarInt(-17982),
        Value::VarInt(0),
        Value::VarInt(i64::MAX),
        Value::VarUInt(u64::MAX),
        Value::VarUInt(0),
    ];
    assert_eq!(
        decoded(&fields, &values),
        [
            "a = -9223372036854775808i64",
            "b = -17982i64",
            "c = 0i64",
            "d = 9223372036854775807i64",
            "e = 18446744073709551615u64",
            "f = 0u64",
        ]
    );
    // By hand: −17982 is zigzag 35963, groups 0x7b, 0x18, 0x02.
    let outcome = with_payloads(&fields[1..2], &[vec![0xfb, 0x98, 0x02]]);
    assert_eq!(
        (outcome.events[0].fields.join(""), outcome.events[0].rest.len()),
        ("b = -17982i64".into(), 0)
    );
    // Eleven bytes, and bits beyond 64.
    let eleven = [vec![0x80; 10], vec![0]].concat();
    let excess = [vec![0xff; 9], vec![0x02]].concat();
    let outcome = with_payloads(&fields[4..5], &[eleven, excess, vec![0x80, 0x80]]);
    let bad: Vec<_> = outcome.events.iter().map(|event| event.fields.join("")).collect();
    assert_eq!(bad, ["e = <VarintTooLong>", "e = <VarintOverflow>", "e = <Truncated>"]);
}

#[test]
fn t132_fields_after_variable_length_fields_are_found_in_any_order_of_access() {
    let fields = [
        field("text", FieldType::Text),
        field("number", FieldType::VarUInt),
        field("list", FieldType::Text.array()),
        field(
            "object",
            FieldType::Object(vec![
                field("inner", FieldType::Text),
                field("flag", FieldType::Boolean8),
            ]),
        ),
        field("last", FieldType::UInt16),
    ];
    let values = [
        text("first"),
        Value::VarUInt(300),
        Value::Array(vec![text("x"), text(""), text("yz")]),
        Value::Object(vec![text("in"), Value::Boolean8(true)]),
        Value::U16(0xbeef),
    ];
    let expected = [
        "text = \"first\"",
        "number = 300u64",
        "list = [\"x\", \"\", \"yz\"]",
        "object = {inner = \"in\", flag = true}",
        "last = 48879u16",
    ];
    assert_eq!(decoded(&fields, &values), expected);
    // By name: from the last to the first, the same one twice, one that is not there.
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
    for name in ["last", "object", "list", "number", "text", "last", "list"] {
        let mut found = format!("{name} = ");
        crate::snapshot::fields::write_value(&mut found, &event.field(name).unwrap());
        assert!(expected.contains(&found.as_str()), "{found}");
    }
    assert!(event.field("none").is_none());
    // One iteration that skips fields still counts them.
    let mut walk = event.fields();
    assert_eq!(walk.find("list").unwrap().offset, 14);
    assert_eq!(walk.find("last").unwrap().value.unwrap().as_u64(), Some(0xbeef));
    assert!(walk.find("text").is_none() && walk.rest().is_empty());
    let object = event.field("object").unwrap().as_object().unwrap();
    assert_eq!(object.field("flag").unwrap().to_string(), "true");
    assert_eq!(object.field("inner").unwrap().to_string(), "in");
}

#[test]
fn t133_array_fixedlengtharray_relloc_and_dataloc_of_utf8codeunit_and_utf16codeunit_are_text() {
    let (utf8, utf16) = (FieldType::Utf8CodeUnit, FieldType::Char);
    let boxed = |of: &FieldType| Box::new(of.clone());
    let fields = [
        field("a8", utf8.clone().array()),
        field("a16", utf16.clone().array()),
        field("f8", FieldType::FixedLengthArray(boxed(&utf8), 3)),
        field("f16", FieldType::FixedLengthArray(boxed(&utf16), 2)),
        field("r8", FieldType::RelLoc(boxed(&utf8))),
        field("r16", FieldType::RelLoc(boxed(&utf16))),
        field("d8", FieldType::DataLoc(boxed(&utf8))),
        field("d16", FieldType::DataLoc(boxed(&utf16))),
    ];
    let bytes = |text: &str| text.bytes().map(Value::U8).collect::<Vec<_>>();
    let units = |text: &str| text.encode_utf16().map(Value::Char).collect::<Vec<_>>();
    let values = [
        Value::utf8_array("größe"),
        Value::utf16_array("語 𝄞"),
        Value::FixedLengthArray(bytes("abc")),
        Value::FixedLengthArray(units("𝄞")),
        Value::RelLoc(bytes("rel ü")),
        Value::RelLoc(units("rel ü")),
        Value::DataLoc(bytes("")),
        Value::DataLoc(units("data")),
    ];
    assert_eq!(
        decoded(&fields, &values),
        [
            "a8 = b\"größe\"",
            "a16 = \"語 𝄞\"",
            "f8 = b\"abc\"",
            "f16 = \"𝄞\"",
            "r8 = b\"rel ü\"",
            "r16 = \"rel ü\"",
            "d8 = b\"\"",
            "d16 = \"data\"",
        ]
    );
    // Arrays of bytes are bytes, of other numbers arrays.
    let fields = [field("b", FieldType::Byte.array()), field("s", FieldType::SByte.array())];
    let values =
        [Value::Array(vec![Value::U8(1), Value::U8(255)]), Value::Array(vec![Value::I8(-1)])];
    assert_eq!(decoded(&fields, &values), ["b = x01ff", "s = [-1i8]"]);
}

#[test]
fn t134_an_array_of_counted_texts_gives_each_text() {
    let fields = [
        field("utf8", FieldType::Utf8CodeUnit.array().array()),
        field("utf16", FieldType::Char.array().array()),
        field("z", FieldType::Text.array()),
        field("deep", FieldType::Byte.array().array().array()),
    ];
    let bytes = |bytes: &[u8]| Value::Array(bytes.iter().map(|byte| Value::U8(*byte)).collect());
    let values = [
        Value::Array(["one", "", "zwölf"].map(Value::utf8_array).to_vec()),
        Value::Array(["eins", "𝄞"].map(Value::utf16_array).to_vec()),
        Value::Array(vec![text("a"), text("b")]),
        Value::Array(vec![Value::Array(vec![bytes(&[1, 2]), bytes(&[])]), Value::Array(vec![])]),
    ];
    assert_eq!(
        decoded(&fields, &values),
        [
            "utf8 = [b\"one\", b\"\", b\"zwölf\"]",
            "utf16 = [\"eins\", \"𝄞\"]",
            "z = [\"a\", \"b\"]",
            "deep = [[x0102, x], []]",
        ]
    );
}

#[test]
fn t135_relloc_counts_from_behind_itself_dataloc_from_the_payload_s_start() {
    let fields = [
        field("pad", FieldType::Byte),
        field("rel", FieldType::RelLoc(Box::new(FieldType::UInt16))),
        field("data", FieldType::DataLoc(Box::new(FieldType::UInt16))),
        field("z", FieldType::Byte),
    ];
    // At 1: position 5 counted from 5, two bytes; at 5: position 12, four bytes.
    let bytes = vec![9, 5, 0, 2, 0, 12, 0, 4, 0, 8, 0x34, 0x12, 1, 0, 2, 0];
    let outcome = with_payloads(&fields, &[bytes]);
    assert_eq!(
        outcome.events[0].fields,
        ["pad = 9u8", "rel = [4660u16]", "data = [1u16, 2u16]", "z = 8u8"]
    );
    // Elements at another place are not skipped, so they remain after the last field.
    assert_eq!(outcome.events[0].rest, [0x34, 0x12, 1, 0, 2, 0]);
    // Inside an object, and inside an array of them, DataLoc still counts from the
    // payload.
    let object = FieldType::Object(vec![
        field("d", FieldType::DataLoc(Box::new(FieldType::Utf8CodeUnit))),
        field("r", FieldType::RelLoc(Box::new(FieldType::Utf8CodeUnit))),
    ]);
    let fields =
        [field("pad", FieldType::UInt32), field("o", object.clone()), field("a", object.array())];
    let bytes = |text: &str| text.bytes().map(Value::U8).collect::<Vec<_>>();
    let both = |data: &str, rel: &str| {
        Value::Object(vec![Value::DataLoc(bytes(data)), Value::RelLoc(bytes(rel))])
    };
    let values =
        [Value::U32(1), both("d0", "r0"), Value::Array(vec![both("d1", "r1"), both("d2", "r2")])];
    assert_eq!(
        decoded(&fields, &values),
        [
            "pad = 1u32",
            "o = {d = b\"d0\", r = b\"r0\"}",
            "a = [{d = b\"d1\", r = b\"r1\"}, {d = b\"d2\", r = b\"r2\"}]",
        ]
    );
}

#[test]
fn t136_relloc_or_dataloc_outside_the_payload_or_not_a_multiple_of_the_element_spoils_only_that_field()
 {
    let element = || Box::new(FieldType::UInt32);
    for (kind, base) in [(FieldType::RelLoc(element()), 5), (FieldType::DataLoc(element()), 0)] {
        let fields = [field("a", FieldType::Byte), field("x", kind), field("z", FieldType::UInt16)];
        // Ten bytes in all: a, the place, z, and three more.
        let with = |position: u16, size: u16| {
            [&[1][..], &position.to_le_bytes(), &size.to_le_bytes(), &[2, 0, 7, 7, 7]].concat()
        };
        let end = 10 - base;
        let wrong = [
            (end, 4),
            (end - 3, 4),
            (0, u16::MAX),
            (u16::MAX, 4),
            (u16::MAX, u16::MAX),
            (end - 3, 3),
            (0, 2),
        ];
        let payloads: Vec<Vec<u8>> =
            wrong.iter().map(|(position, size)| with(*position, *size)).collect();
        let outcome = with_payloads(&fields, &payloads);
        for (event, (position, size)) in outcome.events.iter().zip(wrong) {
            let bad = format!("x = <Location {{ position: {position}, size: {size} }}>");
            assert_eq!(event.fields, ["a = 1u8", &bad, "z = 2u16"]);
        }
        // At the very end, and empty anywhere inside.
        let right = [(end - 4, 4), (end, 0), (0, 0)];
        let payloads: Vec<Vec<u8>> =
            right.iter().map(|(position, size)| with(*position, *size)).collect();
        let outcome = with_payloads(&fields, &payloads);
        let found: Vec<_> = outcome.events.iter().map(|event| event.fields[1].as_str()).collect();
        assert_eq!(found, ["x = [117901056u32]", "x = []", "x = []"]);
    }
}

#[test]
fn t137_relloc_or_dataloc_of_a_variable_size_element_makes_the_event_opaque() {
    let variable = [
        FieldType::Text,
        FieldType::VarInt,
        FieldType::VarUInt,
        FieldType::Byte.array(),
        FieldType::Object(vec![field("s", FieldType::Text)]),
        FieldType::FixedLengthArray(Box::new(FieldType::VarUInt), 2),
    ];
    for element in variable {
        for kind in [
            FieldType::RelLoc(Box::new(element.clone())),
            FieldType::DataLoc(Box::new(element.clone())),
        ] {
            let fields =
                [field("a", FieldType::Byte), field("x", kind), field("z", FieldType::Byte)];
            let outcome = with_payloads(&fields, &[vec![1, 2, 3, 4, 5, 6]]);
            assert_eq!(shape_of(&outcome), "a: U8; FieldList");
            assert_eq!(outcome.damage().len(), 1);
            assert_eq!(
                (outcome.findings[0].class, outcome.findings[0].fault),
                (Class::Note, Fault::FieldList)
            );
            let event = &outcome.events[0];
            assert_eq!(
                (event.fields.join(""), &event.rest[..]),
                ("a = 1u8".into(), &[2, 3, 4, 5, 6][..])
            );
            // The optional metadata after the list is found by the fields' sizes.
            assert_eq!((event.name.as_str(), event.level), ("Hi", 4));
        }
    }
    // Located elements have a fixed size themselves.
    let nested = FieldType::DataLoc(Box::new(FieldType::RelLoc(Box::new(FieldType::Byte))));
    let values = [Value::DataLoc(vec![Value::RelLoc(vec![Value::U8(7)])])];
    assert_eq!(decoded(&[field("x", nested)], &values), ["x = [x07]"]);
}
