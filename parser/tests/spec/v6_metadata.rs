//! Tests of metadata blocks of version 6 (FORMAT.md 7.3).

use crate::snapshot::{Outcome, read};
use crate::streams::{event, events, opened, row};
use crate::v6::*;
use nettrace_parser::{Class, Fault, Guid};
use nettrace_testdata::synth::*;

#[test]
fn t125_metadata_rows_give_provider_id_name_fields() {
    let mut stream = opened(Version::V6);
    let rows = vec![
        MetadataRow {
            metadata_id: 1,
            provider: "Größe".into(),
            event_id: 65_537,
            name: "語".into(),
            fields: vec![field("short", FieldType::Int16), field("flag", FieldType::Boolean32)],
            ..MetadataRow::default()
        },
        MetadataRow { metadata_id: u32::MAX, provider: "P".into(), ..MetadataRow::default() },
    ];
    stream.metadata_rows(&MetadataBlock::new(rows));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let bytes = payload(&[Value::I16(-2), Value::Boolean32(true)]);
    events(
        &mut stream,
        [
            Blob { payload: bytes, ..event(1, 1) },
            Blob { metadata_id: u32::MAX, payload: vec![], ..event(2, 2) },
        ],
    );
    stream.end();
    let outcome = read(&stream.bytes);
    let [first, second] = &outcome.events[..] else { panic!("two events") };
    assert_eq!((first.provider.as_str(), first.id, first.name.as_str()), ("Größe", 65_537, "語"));
    assert_eq!((first.version, first.level, first.keywords, first.opcode), (0, 0, 0, None));
    assert_eq!(shape_of(&outcome), "short: I16, flag: Boolean32");
    assert_eq!(first.fields, ["short = -2i16", "flag = true"]);
    assert_eq!((second.provider.as_str(), second.id, second.name.as_str()), ("P", 0, ""));
    assert_eq!(second.metadata_id, u32::MAX);
    assert!(outcome.is_flawless());
}

#[test]
fn t126_a_metadata_block_header_rows_fields_and_optional_lists_longer_than_known_are_skipped() {
    let mut stream = opened(Version::V6);
    let extra = vec![0xee; 9];
    let inner = Field { extra: extra.clone(), ..field("i", FieldType::Byte) };
    let fields = vec![
        Field { extra: extra.clone(), ..field("n", FieldType::Int32) },
        Field { extra: vec![1], ..field("o", FieldType::Object(vec![inner])) },
    ];
    let longer = MetadataRow { fields, extra: extra.clone(), ..row(1) };
    // No list of optional metadata at all, nor even fields.
    let shorter = MetadataRow { ends_after_fields: true, ..row(2) };
    let block = MetadataBlock {
        header: vec![0xff; 40],
        ..MetadataBlock::new(vec![longer, shorter, row(3)])
    };
    stream.metadata_rows(&block);
    let bare = [&[4, 1, b'P', 9, 1, b'N'][..]].concat();
    let bare = [&(bare.len() as u16).to_le_bytes()[..], &bare].concat();
    stream.metadata_rows(&MetadataBlock { trailing: bare, ..MetadataBlock::default() });
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let bytes = vec![5, 0, 0, 0, 6];
    events(
        &mut stream,
        (1..=4).map(|id| Blob { metadata_id: id, payload: bytes.clone(), ..event(id, 1) }),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events[0].fields, ["n = 5i32", "o = {i = 6u8}"]);
    assert_eq!((outcome.events[0].level, outcome.events[0].keywords), (4, 1));
    assert_eq!(
        (outcome.events[1].fields.join(""), outcome.events[1].level),
        ("n = 5i32".into(), 0)
    );
    assert_eq!(
        (outcome.events[2].fields.join(""), outcome.events[2].level),
        ("n = 5i32".into(), 4)
    );
    let bare = &outcome.events[3];
    assert_eq!((bare.provider.as_str(), bare.id, bare.name.as_str()), ("P", 9, "N"));
    assert!(outcome.is_flawless());
    // A header that says to be longer than its block.
    let mut stream = v6();
    stream.metadata_rows(&MetadataBlock {
        header_size: Some(500),
        ..MetadataBlock::new(vec![row(2)])
    });
    let content = last_part(&stream).content.start as u64;
    events(&mut stream, [event(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::BlockLost, content, Fault::HeaderSize(500))]);
    assert_eq!(outcome.numbers(), [1]);
}

/// Reads a stream of events of types with these rows, whose ids are 1, 2 ….
fn typed(rows: Vec<MetadataRow>) -> (Stream, Outcome) {
    let mut stream = opened(Version::V6);
    let count = rows.len() as u32;
    stream.metadata_rows(&MetadataBlock::new(rows));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    events(&mut stream, (1..=count).map(|id| Blob { metadata_id: id, ..event(id, 1) }));
    stream.end();
    let outcome = read(&stream.bytes);
    (stream, outcome)
}

#[test]
fn t127_optional_metadata_of_every_kind_is_read_key_value_pairs_in_order() {
    let pair = |key: &str, value: &str| Optional::KeyValue(key.into(), value.into());
    let (_, outcome) = typed(vec![with_optional(vec![
        pair("b", "1"),
        Optional::OpCode(0),
        Optional::Keywords(0x8000_0000_0000_0001),
        Optional::MessageTemplate("n is {n}".into()),
        pair("a", "2"),
        Optional::Description("größe".into()),
        Optional::ProviderGuid([7; 16]),
        Optional::Level(5),
        Optional::Version(200),
        pair("b", "3"),
        Optional::Level(2),
    ])]);
    let event = &outcome.events[0];
    assert_eq!((event.opcode, event.keywords), (Some(0), 0x8000_0000_0000_0001));
    // The last of two entries of one kind counts.
    assert_eq!((event.level, event.version), (2, 200));
    let extra = event.metadata.as_ref().unwrap().extra.as_ref().unwrap();
    assert_eq!(extra.message_template.as_deref(), Some("n is {n}"));
    assert_eq!(extra.description.as_deref(), Some("größe"));
    assert_eq!(extra.provider_guid, Some(Guid::from_bytes([7; 16])));
    let pairs: Vec<_> = extra.pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(pairs, [("b", "1"), ("a", "2"), ("b", "3")]);
    assert!(outcome.is_flawless());
    // Without optional metadata nothing is known.
    let (_, outcome) = typed(vec![with_optional(vec![])]);
    let event = &outcome.events[0];
    assert_eq!((event.opcode, event.keywords, event.level, event.version), (None, 0, 0, 0));
    assert_eq!(event.metadata.as_ref().unwrap().extra, None);
}

#[test]
fn t128_an_unknown_optional_kind_ends_the_list_and_keeps_the_row() {
    for kind in [0, 2, 10, 255] {
        let optional =
            vec![Optional::Level(3), Optional::Raw(vec![kind, 8, 1]), Optional::OpCode(9)];
        let (stream, outcome) = typed(vec![with_optional(optional), row(2)]);
        let end = stream.nth(PartKind::Metadata, 0).rows[0].end as u64;
        // Three bytes of it and two of the opcode are at the row's end.
        assert_eq!(outcome.damage(), [(Class::Note, end - 5, Fault::UnknownEntry(kind))]);
        assert_eq!((outcome.events[0].level, outcome.events[0].opcode), (3, None));
        let fields: Vec<_> = outcome.events.iter().map(|event| event.fields.join("")).collect();
        assert_eq!(fields, ["n = 1i32", "n = 2i32"]);
        assert_eq!(outcome.events[1].level, 4);
    }
    // An entry that runs over the list's end.
    let (stream, outcome) =
        typed(vec![with_optional(vec![Optional::Level(3), Optional::Raw(vec![3, 1, 2])]), row(2)]);
    let end = stream.nth(PartKind::Metadata, 0).rows[0].end as u64;
    assert_eq!(outcome.damage().len(), 1);
    assert_eq!(
        (outcome.findings[0].class, outcome.findings[0].fault),
        (Class::RowLost, Fault::Truncated)
    );
    assert_eq!((outcome.findings[0].offset, outcome.findings[0].lost_bytes), (end - 3, 3));
    assert_eq!((outcome.events[0].level, outcome.events[1].level), (3, 4));
}

#[test]
fn t129_a_metadata_row_that_overruns_the_block_loses_the_rest_of_the_block() {
    for size in [100, 5000, u16::MAX] {
        let mut stream = opened(Version::V6);
        let wrong = MetadataRow { size: Some(size), ..row(2) };
        stream.metadata_rows(&MetadataBlock::new(vec![row(1), wrong, row(3)]));
        let part = last_part(&stream);
        stream.metadata_rows(&MetadataBlock::new(vec![row(4)]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
        events(&mut stream, (1..=4).map(|id| Blob { metadata_id: id, ..event(id, 1) }));
        stream.end();
        let outcome = read(&stream.bytes);
        let at_row = part.rows[1].start as u64;
        let undefined = |nth: usize, id| {
            (Class::Note, outcome.events[nth].offset, Fault::UndefinedMetadata(id))
        };
        assert_eq!(
            outcome.damage(),
            [
                (Class::RestOfBlockLost, at_row, Fault::RowSize(u64::from(size))),
                undefined(1, 2),
                undefined(2, 3),
            ]
        );
        assert_eq!(outcome.findings[0].lost_bytes, part.content.end as u64 - at_row);
        let names: Vec<_> = outcome.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["Hi", "", "", "Hi"]);
    }
    // A row that is too short for what it says is lost alone.
    let short = MetadataRow { size: Some(3), ..row(2) };
    let mut stream = opened(Version::V6);
    let encoded = short.encode();
    let rest_of_row = encoded[..5].to_vec();
    let block = MetadataBlock {
        trailing: [rest_of_row, row(3).encode()].concat(),
        ..MetadataBlock::new(vec![row(1)])
    };
    stream.metadata_rows(&block);
    let part = last_part(&stream);
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    events(&mut stream, [1, 3].map(|id| Blob { metadata_id: id, ..event(id, 1) }));
    stream.end();
    let outcome = read(&stream.bytes);
    let row_at = part.rows[0].end as u64;
    assert_eq!(outcome.damage().len(), 1);
    let finding = outcome.findings[0];
    assert_eq!((finding.class, finding.fault), (Class::RowLost, Fault::Truncated));
    // Three bytes of content: an id, then a text of four bytes of which one is there.
    assert_eq!((finding.offset, finding.lost_bytes), (row_at + 3, 3));
    assert!(outcome.events.iter().all(|event| event.name == "Hi"));
}

#[test]
fn t130_a_given_provider_guid_wins_over_the_one_made_from_the_name() {
    let runtime = |id, optional| MetadataRow {
        provider: "Microsoft-Windows-DotNETRuntime".into(),
        ..MetadataRow { metadata_id: id, ..with_optional(optional) }
    };
    let given = [0xab; 16];
    let (_, outcome) = typed(vec![
        with_optional(vec![Optional::ProviderGuid(given)]),
        MetadataRow { provider: "Universal.System".into(), ..row(2) },
        runtime(3, vec![Optional::ProviderGuid(given)]),
        runtime(4, vec![]),
    ]);
    let guids: Vec<String> = outcome
        .events
        .iter()
        .map(|event| event.metadata.as_ref().unwrap().provider_guid().to_string())
        .collect();
    assert_eq!(
        guids,
        [
            "abababab-abab-abab-abab-abababababab",
            "8c107b6c-79f8-5231-4de6-2a0e20a3f562",
            "abababab-abab-abab-abab-abababababab",
            "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
        ]
    );
}
