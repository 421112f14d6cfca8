//! Tests of descriptions of event types that cannot be read to their end (FORMAT.md 6.7).

use crate::allocation::usage;
use crate::described::*;
use crate::snapshot::read;
use crate::streams::{definition, event, events, opened, row};
use nettrace_parser::{Class, Fault, Reader};
use nettrace_testdata::synth::*;

#[test]
fn t086_an_unknown_type_code_makes_the_event_opaque_from_there_on_keeps_its_name_and_earlier_fields_and_tags_are_not_misread()
 {
    for (code, fault) in [(0, 0), (2, 2), (20, 20), (23, 23), (27, 27), (255, 255)] {
        let fields = vec![
            field("a", FieldType::Int32),
            field("x", FieldType::Code(code)),
            field("b", FieldType::Int32),
        ];
        let fault = Fault::TypeCode(fault);
        // After the list there is a tag that would say opcode 9.
        let unknown =
            Definition { fields: fields.clone(), tags: vec![Tag::opcode(9)], ..definition(1) };
        for version in [Version::V3, Version::V5] {
            let definitions = [unknown.clone(), definition(2)];
            let stream = stream_of(version, &definitions, &[5, 0, 0, 0, 6, 7]);
            let outcome = read(&stream.bytes);
            let opaque = &outcome.events[0];
            assert_eq!(shape_of(&outcome, 0), format!("a: I32; {fault:?}"));
            assert_eq!((opaque.name.as_str(), opaque.id, opaque.opcode), ("Hi", 7, None));
            assert_eq!(
                (opaque.fields.join(""), &opaque.rest[..]),
                ("a = 5i32".into(), &[6, 7][..])
            );
            // The note lies at the type code: after the definition's head, a count, and
            // field "a".
            let (payload, _) = definition_payload(&stream, &definitions, 0);
            let head = Definition { ends_after_level: true, ..definition(1) }.encode().len();
            let note = (Class::Note, (payload + head + 4 + 8) as u64, fault);
            assert_eq!(outcome.damage(), [note]);
            assert_eq!(outcome.events[1].fields, ["n = 5i32"]);
            assert!(outcome.is_complete);
        }
        if (20..=26).contains(&code) {
            continue;
        }
        // The size of the tag shows where V2Params ends, so the next tag is read.
        let tags = vec![Tag::v2_params(&fields), Tag::opcode(9)];
        let outcome = described(
            Version::V5,
            &[Definition { fields: vec![], tags, ..definition(1) }],
            &[5, 0, 0, 0, 6],
        );
        assert_eq!(
            (shape_of(&outcome, 0), outcome.events[0].opcode),
            (format!("a: I32; {fault:?}"), Some(9))
        );
        assert_eq!(outcome.events[0].rest, [6]);
        // In version 6 the sizes of the fields show it.
        let mut stream = opened(Version::V6);
        stream.metadata_rows(&MetadataBlock::new(vec![
            MetadataRow { fields: fields.clone(), optional: vec![Optional::OpCode(9)], ..row(1) },
            row(2),
        ]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1, 11)]));
        let bytes = vec![5, 0, 0, 0, 6];
        events(
            &mut stream,
            [1, 2].map(|id| Blob { metadata_id: id, payload: bytes.clone(), ..event(id, 1) }),
        );
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(
            (shape_of(&outcome, 0), outcome.events[0].opcode),
            (format!("a: I32; {fault:?}"), Some(9))
        );
        assert_eq!(
            (outcome.events[0].name.as_str(), &outcome.events[0].rest[..]),
            ("Hi", &[6][..])
        );
        assert_eq!(outcome.events[1].fields, ["n = 5i32"]);
        assert_eq!(outcome.damage().len(), 1);
        assert_eq!((outcome.findings[0].class, outcome.findings[0].fault), (Class::Note, fault));
    }
}

#[test]
fn t087_array_in_a_v1_list_makes_the_event_opaque() {
    let fields = vec![
        field("a", FieldType::Int32),
        field("x", FieldType::Byte.array()),
        field("b", FieldType::Byte),
    ];
    for version in [Version::V3, Version::V4] {
        let definitions = [Definition { fields: fields.clone(), ..definition(1) }];
        let outcome = described(version, &definitions, &[5, 0, 0, 0, 1, 0, 9]);
        assert_eq!(shape_of(&outcome, 0), "a: I32; TypeCode(19)");
        assert_eq!(
            (outcome.events[0].fields.join(""), &outcome.events[0].rest[..]),
            ("a = 5i32".into(), &[1, 0, 9][..])
        );
        assert_eq!(outcome.damage().len(), 1);
        assert_eq!(
            (outcome.findings[0].class, outcome.findings[0].fault),
            (Class::Note, Fault::TypeCode(19))
        );
    }
    // If the type is inside an object, the end of the object is unknown, so the object and all
    // after it are opaque.
    let object =
        FieldType::Object(vec![field("i", FieldType::Byte), field("x", FieldType::Byte.array())]);
    let fields = vec![field("a", FieldType::Int32), field("o", object)];
    let outcome =
        described(Version::V4, &[Definition { fields, ..definition(1) }], &[5, 0, 0, 0, 1, 0, 9]);
    assert_eq!(shape_of(&outcome, 0), "a: I32; TypeCode(19)");
}

#[test]
fn t088_a_field_count_of_2_31_1_makes_the_event_opaque_without_allocating() {
    let v2_count = |count: u32| {
        let mut tag = Tag::v2_params(&[field("n", FieldType::Int32)]);
        tag.payload[..4].copy_from_slice(&count.to_le_bytes());
        Definition { fields: vec![], tags: vec![tag], ..definition(1) }
    };
    for count in [i32::MAX as u32, 2, 1 << 24, u32::MAX] {
        let expected = if count == u32::MAX { "; FieldList" } else { "n: I32; Truncated" };
        let v1_count = Definition { field_count: Some(count), ..definition(1) };
        for definition in [v1_count, v2_count(count)] {
            let stream = stream_of(Version::V5, &[definition], &[5, 0, 0, 0]);
            let outcome = read(&stream.bytes);
            assert_eq!(shape_of(&outcome, 0), expected);
            assert_eq!((outcome.events[0].name.as_str(), outcome.findings.len()), ("Hi", 1));
            assert_eq!(outcome.findings[0].class, Class::Note);
            let (_, usage) = usage(|| {
                let mut reader = Reader::from_slice(&stream.bytes);
                while reader.next_event().unwrap().is_some() {}
            });
            assert!(usage.peak < 64 * 1024, "{usage:?}");
        }
    }
    // Version 6: a u16.
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow {
        field_count: Some(u16::MAX),
        ..row(1)
    }]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1, 11)]));
    events(&mut stream, [event(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert!(shape_of(&outcome, 0).starts_with("n: I32; "), "{}", shape_of(&outcome, 0));
    assert_eq!(outcome.events[0].name, "Hi");
}

#[test]
fn t089_types_nested_deeper_than_the_limit_make_the_event_opaque_and_do_not_overflow_the_stack() {
    for (depth, is_read) in [(30, true), (40, false), (500, false)] {
        for is_object in [true, false] {
            let deep = (0..depth).fold(FieldType::Byte, |inner, _| match is_object {
                true => FieldType::Object(vec![field("o", inner)]),
                false => inner.array(),
            });
            let fields = vec![field("first", FieldType::Byte), field("deep", deep)];
            let mut all = vec![v2(&fields)];
            if is_object {
                all.push(Definition { fields, ..definition(1) });
            }
            for definition in all {
                let outcome = described(Version::V5, &[definition], &[7, 0, 0]);
                let shape = shape_of(&outcome, 0);
                assert_eq!(shape.ends_with("; TypeDepth"), !is_read, "{shape}");
                assert!(shape.starts_with("first: U8"));
                assert_eq!(outcome.events[0].fields[0], "first = 7u8");
                assert_eq!(outcome.damage().len(), usize::from(!is_read));
            }
        }
    }
    // Version 6: one byte a level is enough to nest, and a field may have 65,535.
    for code in [19, 22, 24, 25] {
        let mut stream = opened(Version::V6);
        let deep = FieldType::Raw(vec![code; 60_000]);
        let fields = vec![field("first", FieldType::Byte), field("deep", deep)];
        stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow { fields, ..row(1) }, row(2)]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1, 11)]));
        events(&mut stream, [1, 2].map(|id| Blob { metadata_id: id, ..event(id, 1) }));
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(shape_of(&outcome, 0), "first: U8; TypeDepth");
        assert_eq!(outcome.events[1].fields, ["n = 2i32"]);
    }
    let mut stream = opened(Version::V6);
    // An object of one nameless field of an object of …: count, size and name each time.
    let deep = (0..3000_u16).fold(vec![6], |inner: Vec<u8>, _| {
        let size = (inner.len() + 1) as u16;
        [&[1, 1, 0][..], &size.to_le_bytes(), &[0], &inner].concat()
    });
    let fields = vec![field("first", FieldType::Byte), field("deep", FieldType::Raw(deep))];
    stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow { fields, ..row(1) }]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1, 11)]));
    events(&mut stream, [event(1, 1)]);
    stream.end();
    assert_eq!(shape_of(&read(&stream.bytes), 0), "first: U8; TypeDepth");
}
