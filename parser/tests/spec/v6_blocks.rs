//! Blocks of version 6 (format.md 7), and its types (8).

use crate::allocation::usage;
use crate::observed::{Outcome, ordered, read, refused};
use crate::streams::{START, at, begun, event, events, on, opened, point, row, shape};
use nettrace_parser::{BlockKind, Class, Fault, Guid, Reader, catalog};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;

fn v6() -> Stream {
    begun(Version::V6)
}

/// The last block written.
fn last_part(stream: &Stream) -> Part {
    stream.parts.last().unwrap().clone()
}

/// A stream of events of one type with these fields, one event a payload.
fn with_payloads(fields: &[Field], payloads: &[Vec<u8>]) -> Outcome {
    let mut stream = opened(Version::V6);
    let described = MetadataRow { fields: fields.to_vec(), ..row(1) };
    stream.metadata_rows(&MetadataBlock::new(vec![described]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let blobs = payloads.iter().zip(1..);
    events(&mut stream, blobs.map(|(payload, number)| Blob { payload: payload.clone(), ..event(number, 1) }));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events.len(), payloads.len());
    outcome
}

/// The fields of the one event with these values.
fn decoded(fields: &[Field], values: &[Value]) -> Vec<String> {
    let outcome = with_payloads(fields, &[payload(values)]);
    assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    outcome.events[0].fields.clone()
}

fn shape_of(outcome: &Outcome) -> String {
    shape(&outcome.events[0].metadata.as_ref().unwrap().schema)
}

fn field(name: &str, field_type: FieldType) -> Field {
    Field::new(name, field_type)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn t120_a_stream_of_header_trace_and_endofstream_is_complete() {
    let mut stream = opened(Version::V6);
    stream.end();
    let outcome = read(&stream.bytes);
    assert!(outcome.is_flawless());
    assert_eq!((outcome.events.len(), outcome.end_offset), (0, Some(stream.bytes.len() as u64)));
    assert_eq!(outcome.trace.unwrap().tick_frequency, 10_000_000);
}

#[test]
fn t121_an_unknown_block_kind_is_skipped_by_its_size_kind_255_too() {
    let mut stream = v6();
    let mut notes = vec![];
    for (number, kind) in [9, 10, 127, 128, 254, 255].into_iter().zip(1..) {
        events(&mut stream, [event(kind, u64::from(kind))]);
        let size = [0, 1, 4, 1000, 70_000, 200_000][kind as usize - 1];
        stream.block(&Block::new(number, Content::raw(vec![0xff; size])));
        notes.push((Class::Note, last_part(&stream).content.start as u64, Fault::UnknownBlock(number)));
    }
    events(&mut stream, [event(7, 7)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), notes);
    assert_eq!(outcome.findings[5].block, Some(BlockKind::Unknown(255)));
    assert_eq!(outcome.numbers(), [1, 2, 3, 4, 5, 6, 7]);
    assert!(outcome.is_complete);
}

#[test]
fn t122_the_first_block_must_be_trace() {
    for kind in [0, 2, 3, 8, 9, 255] {
        let mut stream = Stream::new(Version::V6);
        stream.block(&Block::new(kind, Content::raw(vec![0; 48])));
        stream.trace(&Trace::default());
        assert_eq!(refused(&stream.bytes), (20, Fault::FirstIsNotTrace));
    }
}

#[test]
fn t123_endofstream_with_content_ends_the_stream_all_the_same() {
    let mut stream = v6();
    events(&mut stream, [event(1, 1)]);
    stream.block(&Block::new(0, Content::raw(vec![2; 37])));
    let end = stream.bytes.len() as u64;
    assert!({
        let outcome = read(&stream.bytes);
        outcome.is_flawless() && outcome.end_offset == Some(end)
    });
    events(&mut stream, [event(2, 2)]);
    let outcome = read(&stream.bytes);
    let trailing = stream.bytes.len() as u64 - end;
    assert_eq!(outcome.damage(), [(Class::Note, end, Fault::TrailingBytes(trailing))]);
    assert_eq!((outcome.ticks(), outcome.end_offset), (at([1]).to_vec(), Some(end)));
    assert!(outcome.is_complete);
    // The mark is there, though not all of what it holds.
    let outcome = read(&stream.bytes[..end as usize - 10]);
    assert_eq!((outcome.ticks(), outcome.is_complete), (at([1]).to_vec(), true));
    assert_eq!(outcome.end_offset, Some(end - 10));
}

#[test]
fn t124_a_missing_endofstream_is_incomplete() {
    let mut stream = v6();
    events(&mut stream, [event(1, 1), event(2, 2)]);
    let end = stream.bytes.len();
    let outcome = read(&stream.bytes);
    assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), false));
    assert_eq!((outcome.end_offset, outcome.damage()), (Some(end as u64), vec![]));
    // Inside its header.
    stream.end();
    for length in 1..4 {
        let outcome = read(&stream.bytes[..end + length]);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), false));
        assert_eq!(outcome.damage(), [(Class::Incomplete, end as u64, Fault::Truncated)]);
        assert_eq!(outcome.findings[0].lost_bytes, length as u64);
    }
    assert!(read(&stream.bytes).is_complete);
}

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
    let block = MetadataBlock { header: vec![0xff; 40], ..MetadataBlock::new(vec![longer, shorter, row(3)]) };
    stream.metadata_rows(&block);
    let bare = [&[4, 1, b'P', 9, 1, b'N'][..]].concat();
    let bare = [&(bare.len() as u16).to_le_bytes()[..], &bare].concat();
    stream.metadata_rows(&MetadataBlock { trailing: bare, ..MetadataBlock::default() });
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let bytes = vec![5, 0, 0, 0, 6];
    events(&mut stream, (1..=4).map(|id| Blob { metadata_id: id, payload: bytes.clone(), ..event(id, 1) }));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events[0].fields, ["n = 5i32", "o = {i = 6u8}"]);
    assert_eq!((outcome.events[0].level, outcome.events[0].keywords), (4, 1));
    assert_eq!((outcome.events[1].fields.join(""), outcome.events[1].level), ("n = 5i32".into(), 0));
    assert_eq!((outcome.events[2].fields.join(""), outcome.events[2].level), ("n = 5i32".into(), 4));
    let bare = &outcome.events[3];
    assert_eq!((bare.provider.as_str(), bare.id, bare.name.as_str()), ("P", 9, "N"));
    assert!(outcome.is_flawless());
    // A header that says to be longer than its block.
    let mut stream = v6();
    stream.metadata_rows(&MetadataBlock { header_size: Some(500), ..MetadataBlock::new(vec![row(2)]) });
    let content = last_part(&stream).content.start as u64;
    events(&mut stream, [event(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::BlockLost, content, Fault::HeaderSize(500))]);
    assert_eq!(outcome.numbers(), [1]);
}

fn with_optional(optional: Vec<Optional>) -> MetadataRow {
    MetadataRow { optional, ..row(1) }
}

/// Events of types with these rows, ids 1, 2 ….
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
    // Of those that come twice the last counts.
    assert_eq!((event.level, event.version), (2, 200));
    let extra = event.metadata.as_ref().unwrap().extra.as_ref().unwrap();
    assert_eq!(extra.message_template.as_deref(), Some("n is {n}"));
    assert_eq!(extra.description.as_deref(), Some("größe"));
    assert_eq!(extra.provider_guid, Some(Guid::from_bytes([7; 16])));
    let pairs: Vec<_> = extra.pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(pairs, [("b", "1"), ("a", "2"), ("b", "3")]);
    assert!(outcome.is_flawless());
    // Nothing said is nothing known.
    let (_, outcome) = typed(vec![with_optional(vec![])]);
    let event = &outcome.events[0];
    assert_eq!((event.opcode, event.keywords, event.level, event.version), (None, 0, 0, 0));
    assert_eq!(event.metadata.as_ref().unwrap().extra, None);
}

#[test]
fn t128_an_unknown_optional_kind_ends_the_list_and_keeps_the_row() {
    for kind in [0, 2, 10, 255] {
        let optional = vec![Optional::Level(3), Optional::Raw(vec![kind, 8, 1]), Optional::OpCode(9)];
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
    assert_eq!((outcome.findings[0].class, outcome.findings[0].fault), (Class::RowLost, Fault::Truncated));
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
        let undefined =
            |nth: usize, id| (Class::Note, outcome.events[nth].offset, Fault::UndefinedMetadata(id));
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
        field("text", FieldType::String),
        field("number", FieldType::VarUInt),
        field("list", FieldType::String.array()),
        field(
            "object",
            FieldType::Object(vec![field("inner", FieldType::String), field("flag", FieldType::Boolean8)]),
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
    stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow { fields: fields.to_vec(), ..row(1) }]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    events(&mut stream, [Blob { payload: payload(&values), ..event(1, 1) }]);
    stream.end();
    let mut reader = Reader::from_slice(&stream.bytes);
    let event = reader.next_event().unwrap().unwrap();
    for name in ["last", "object", "list", "number", "text", "last", "list"] {
        let mut found = format!("{name} = ");
        crate::observed::fields::write_value(&mut found, &event.field(name).unwrap());
        assert!(expected.contains(&found.as_str()), "{found}");
    }
    assert!(event.field("none").is_none());
    // One walk with jumps: fields that are passed over are not lost count of.
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
    let values = [Value::Array(vec![Value::U8(1), Value::U8(255)]), Value::Array(vec![Value::I8(-1)])];
    assert_eq!(decoded(&fields, &values), ["b = x01ff", "s = [-1i8]"]);
}

#[test]
fn t134_an_array_of_counted_texts_gives_each_text() {
    let fields = [
        field("utf8", FieldType::Utf8CodeUnit.array().array()),
        field("utf16", FieldType::Char.array().array()),
        field("z", FieldType::String.array()),
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
    assert_eq!(outcome.events[0].fields, ["pad = 9u8", "rel = [4660u16]", "data = [1u16, 2u16]", "z = 8u8"]);
    // What lies elsewhere is not skipped: it is what is left behind the last field.
    assert_eq!(outcome.events[0].rest, [0x34, 0x12, 1, 0, 2, 0]);
    // Inside an object, and inside an array of them, DataLoc still counts from the payload.
    let object = FieldType::Object(vec![
        field("d", FieldType::DataLoc(Box::new(FieldType::Utf8CodeUnit))),
        field("r", FieldType::RelLoc(Box::new(FieldType::Utf8CodeUnit))),
    ]);
    let fields = [field("pad", FieldType::UInt32), field("o", object.clone()), field("a", object.array())];
    let bytes = |text: &str| text.bytes().map(Value::U8).collect::<Vec<_>>();
    let both =
        |data: &str, rel: &str| Value::Object(vec![Value::DataLoc(bytes(data)), Value::RelLoc(bytes(rel))]);
    let values = [Value::U32(1), both("d0", "r0"), Value::Array(vec![both("d1", "r1"), both("d2", "r2")])];
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
fn t136_relloc_or_dataloc_outside_the_payload_or_not_a_multiple_of_the_element_spoils_only_that_field() {
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
        let payloads: Vec<Vec<u8>> = wrong.iter().map(|(position, size)| with(*position, *size)).collect();
        let outcome = with_payloads(&fields, &payloads);
        for (event, (position, size)) in outcome.events.iter().zip(wrong) {
            let bad = format!("x = <Location {{ position: {position}, size: {size} }}>");
            assert_eq!(event.fields, ["a = 1u8", &bad, "z = 2u16"]);
        }
        // At the very end, and empty anywhere inside.
        let right = [(end - 4, 4), (end, 0), (0, 0)];
        let payloads: Vec<Vec<u8>> = right.iter().map(|(position, size)| with(*position, *size)).collect();
        let outcome = with_payloads(&fields, &payloads);
        let found: Vec<_> = outcome.events.iter().map(|event| event.fields[1].as_str()).collect();
        assert_eq!(found, ["x = [117901056u32]", "x = []", "x = []"]);
    }
}

#[test]
fn t137_relloc_or_dataloc_of_a_variable_size_element_makes_the_event_opaque() {
    let variable = [
        FieldType::String,
        FieldType::VarInt,
        FieldType::VarUInt,
        FieldType::Byte.array(),
        FieldType::Object(vec![field("s", FieldType::String)]),
        FieldType::FixedLengthArray(Box::new(FieldType::VarUInt), 2),
    ];
    for element in variable {
        for kind in
            [FieldType::RelLoc(Box::new(element.clone())), FieldType::DataLoc(Box::new(element.clone()))]
        {
            let fields = [field("a", FieldType::Byte), field("x", kind), field("z", FieldType::Byte)];
            let outcome = with_payloads(&fields, &[vec![1, 2, 3, 4, 5, 6]]);
            assert_eq!(shape_of(&outcome), "a: U8; FieldList");
            assert_eq!(outcome.damage().len(), 1);
            assert_eq!(
                (outcome.findings[0].class, outcome.findings[0].fault),
                (Class::Note, Fault::FieldList)
            );
            let event = &outcome.events[0];
            assert_eq!((event.fields.join(""), &event.rest[..]), ("a = 1u8".into(), &[2, 3, 4, 5, 6][..]));
            // The optional metadata behind the list is found by the fields' sizes.
            assert_eq!((event.name.as_str(), event.level), ("Hi", 4));
        }
    }
    // Located elements have a fixed size themselves.
    let nested = FieldType::DataLoc(Box::new(FieldType::RelLoc(Box::new(FieldType::Byte))));
    let values = [Value::DataLoc(vec![Value::RelLoc(vec![Value::U8(7)])])];
    assert_eq!(decoded(&[field("x", nested)], &values), ["x = [x07]"]);
}

#[test]
fn t138_fixedlengtharray_of_zero_elements_is_empty() {
    let empty = |element: FieldType| FieldType::FixedLengthArray(Box::new(element), 0);
    let fields = [
        field("a", empty(FieldType::Int32)),
        field("t", empty(FieldType::Char)),
        field(
            "o",
            FieldType::Object(vec![field("i", empty(FieldType::UInt64)), field("n", FieldType::Byte)]),
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
        counts.iter().fold(element, |element, count| FieldType::FixedLengthArray(Box::new(element), *count))
    };
    let empty = || FieldType::Object(vec![]);
    let most = u16::MAX;
    let cases = [
        (times(empty(), &[most, most, most]), "<ValueLimit>"),
        (times(empty(), &[most; 29]), "<ValueLimit>"),
        (times(empty(), &[1024, 1024]), "<ValueLimit>"),
        (times(FieldType::Object(vec![field("e", times(empty(), &[most]))]), &[most]), "<ValueLimit>"),
        (times(FieldType::Byte, &[most, most]), "<ValueLimit>"),
        (times(FieldType::UInt64, &[1000, 1000]), "<Truncated>"),
        (times(FieldType::Guid, &[most]), "<Truncated>"),
    ];
    for (kind, bad) in cases {
        let fields = [field("a", FieldType::Byte), field("x", kind), field("z", FieldType::Byte)];
        let mut stream = opened(Version::V6);
        stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow { fields: fields.to_vec(), ..row(1) }]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
        events(&mut stream, [Blob { payload: vec![1, 2], ..event(1, 1) }]);
        stream.end();
        let (texts, usage) = usage(|| {
            let mut reader = Reader::from_slice(&stream.bytes);
            let event = reader.next_event().unwrap().unwrap();
            crate::observed::fields::texts(&event)
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
        field("o", FieldType::Object(vec![field("i", FieldType::Boolean8), field("n", FieldType::Byte)])),
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
    let inner = FieldType::Object(vec![field("c", FieldType::VarInt), field("d", FieldType::String)]);
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
    // One nameless object around everything is how a field list is wrapped: its members are the fields.
    let wrapped =
        [field("", FieldType::Object(vec![field("a", FieldType::Byte), field("b", FieldType::Byte)]))];
    assert_eq!(decoded(&wrapped, &[Value::U8(1), Value::U8(2)]), ["a = 1u8", "b = 2u8"]);
}

#[test]
fn t142_an_array_count_of_40000_is_unsigned() {
    let fields = [field("a", FieldType::SByte.array()), field("z", FieldType::UInt16)];
    let values = [Value::Array(vec![Value::I8(-1); 40_000]), Value::U16(7)];
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow { fields: fields.to_vec(), ..row(1) }]));
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
    for element in [FieldType::Byte, FieldType::Int32, FieldType::String, FieldType::Char, FieldType::VarUInt]
    {
        let fields = [field("a", FieldType::Byte), field("x", element.array()), field("z", FieldType::Byte)];
        let bytes = [&[1][..], &60_000_u16.to_le_bytes(), &[3; 12]].concat();
        let outcome = with_payloads(&fields, &[bytes, vec![1, 1, 0, 3, 0, 0, 0, 0, 0]]);
        let event = &outcome.events[0];
        assert_eq!(event.fields, ["a = 1u8", "x = <Truncated>"]);
        // Where the array ends is not known, so all from it on is bytes.
        assert_eq!(event.rest.len(), 14);
        // The next event is none the worse.
        assert_eq!(outcome.events[1].fields[0], "a = 1u8");
        assert!(!outcome.events[1].fields[1].contains('<'));
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t144_a_count_prefix_cut_in_half_spoils_only_that_field() {
    let fields =
        [field("a", FieldType::Byte), field("x", FieldType::Byte.array()), field("z", FieldType::Byte)];
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

#[test]
fn t145_thread_rows_give_name_process_id_thread_id_and_pairs_in_any_order() {
    let pair = |key: &str, value: &str| ThreadEntry::KeyValue(key.into(), value.into());
    let rows = [
        vec![
            ThreadEntry::Name("größe".into()),
            ThreadEntry::ProcessId(u64::MAX),
            ThreadEntry::OsThreadId(1 << 40),
            pair("b", "1"),
            pair("a", ""),
        ],
        vec![
            pair("b", "1"),
            ThreadEntry::OsThreadId(7),
            pair("a", "2"),
            ThreadEntry::Name("n".into()),
            ThreadEntry::ProcessId(8),
        ],
        vec![],
        vec![ThreadEntry::OsThreadId(0)],
    ];
    let mut stream = Stream::new(Version::V6);
    let key_values = vec![("ProcessId".into(), "77".into())];
    stream.trace(&Trace { key_values, ..Trace::default() });
    stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
    let rows = rows.into_iter().zip([0, 1, 300, u64::MAX]);
    let rows: Vec<ThreadRow> =
        rows.map(|(entries, index)| ThreadRow { size: None, index, entries }).collect();
    stream.thread_block(&ThreadBlock::new(rows));
    events(&mut stream, [0, 1, 300, u64::MAX].map(|index| on(index, 1, 1)));
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> = outcome
        .events
        .iter()
        .map(|event| {
            let thread = event.thread_row.as_ref().unwrap();
            let pairs: Vec<_> = thread.pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
            (
                thread.index,
                thread.name.as_deref().unwrap_or("-"),
                event.process,
                event.thread,
                pairs.join(" "),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (0, "größe", Some(u64::MAX), Some(1 << 40), "b=1 a=".into()),
            (1, "n", Some(8), Some(7), "b=1 a=2".into()),
            // Unknown, and the process of the trace.
            (300, "-", Some(77), None, String::new()),
            (u64::MAX, "-", Some(77), Some(0), String::new()),
        ]
    );
    assert!(outcome.is_flawless());
}

#[test]
fn t146_an_unknown_thread_entry_kind_keeps_the_row_s_earlier_entries_and_the_next_row() {
    for kind in [0, 5, 255] {
        let mut stream = opened(Version::V6);
        stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
        let odd = ThreadRow {
            size: None,
            index: 11,
            entries: vec![
                ThreadEntry::OsThreadId(111),
                ThreadEntry::Raw(vec![kind, 1, 2]),
                ThreadEntry::Name("lost".into()),
            ],
        };
        stream.thread_block(&ThreadBlock::new(vec![odd, ThreadRow::new(12, 1234, 112)]));
        let end = last_part(&stream).rows[0].end as u64;
        events(&mut stream, [on(11, 1, 1), on(12, 1, 2)]);
        stream.end();
        let outcome = read(&stream.bytes);
        // Three bytes of it and six of the name behind it.
        assert_eq!(outcome.damage(), [(Class::Note, end - 9, Fault::UnknownEntry(kind))]);
        let threads: Vec<_> = outcome.events.iter().map(|event| event.thread).collect();
        assert_eq!(threads, [Some(111), Some(112)]);
        assert_eq!(outcome.events[0].thread_row.as_ref().unwrap().name, None);
    }
    // A row that leaves its block loses the rest.
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
    let wrong = ThreadRow { size: Some(5000), ..ThreadRow::new(12, 1234, 112) };
    stream.thread_block(&ThreadBlock::new(vec![
        ThreadRow::new(11, 1234, 111),
        wrong,
        ThreadRow::new(13, 1, 1),
    ]));
    let part = last_part(&stream);
    events(&mut stream, [on(11, 1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let row_at = part.rows[1].start as u64;
    assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, row_at, Fault::RowSize(5000))]);
    assert_eq!(outcome.events[0].thread, Some(111));
}

#[test]
fn t147_an_event_of_an_undefined_thread_is_delivered_with_thread_unknown() {
    let mut stream = v6();
    let of = |thread_id, capture_thread_id, number| Blob {
        thread_id,
        capture_thread_id,
        ..event(number, u64::from(number))
    };
    events(&mut stream, [of(99, 11, 1), of(11, 99, 2), of(98, 98, 3), of(11, 11, 2)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let note = |nth: usize, index| (Class::Note, outcome.events[nth].offset, Fault::UndefinedThread(index));
    assert_eq!(outcome.damage(), [note(0, 99), note(1, 99), note(2, 98)]);
    let threads: Vec<_> = outcome.events.iter().map(|event| (event.thread, event.capture_thread)).collect();
    assert_eq!(threads, [(None, 11), (Some(11), 99), (None, 98), (Some(11), 11)]);
    assert!(outcome.events[0].thread_row.is_none() && outcome.events[0].process.is_none());
    // What an unknown index has lost cannot be known.
    assert_eq!(outcome.lost, 0);
    assert_eq!(outcome.events.len(), 4);
}

#[test]
fn t148_an_event_of_a_removed_thread_is_delivered_with_thread_unknown() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1), on(12, 1, 2)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(12, 1)]));
    events(&mut stream, [on(12, 2, 3), on(11, 2, 4)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let threads: Vec<_> = outcome.events.iter().map(|event| event.thread).collect();
    assert_eq!(threads, [Some(11), Some(12), None, Some(11)]);
    assert_eq!(outcome.damage(), [(Class::Note, outcome.events[2].offset, Fault::UndefinedThread(12))]);
    assert_eq!(outcome.lost, 0);
}

#[test]
fn t149_removing_an_unknown_or_already_removed_thread_is_noted() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(99, 500), (12, 0), (12, 7)]));
    let rows: Vec<u64> = last_part(&stream).rows.iter().map(|row| row.start as u64).collect();
    events(&mut stream, [on(11, 2, 2)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(
        outcome.damage(),
        [
            (Class::Note, rows[0], Fault::UndefinedThread(99)),
            (Class::Note, rows[2], Fault::UndefinedThread(12)),
        ]
    );
    assert_eq!((outcome.lost, outcome.numbers()), (0, vec![1, 2]));
    // The same of an entry in a sequence point.
    let mut stream = v6();
    point(&mut stream, 1, &[(11, 3), (99, 500)]);
    let row = last_part(&stream).rows[1].start as u64;
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::Note, row, Fault::UndefinedThread(99))]);
    assert_eq!(outcome.lost, 3);
    // Half a pair at the end.
    let mut stream = v6();
    stream.remove_thread_block(&RemoveThreadBlock { trailing: vec![12], threads: vec![(11, 2)] });
    let part = last_part(&stream);
    stream.end();
    let outcome = read(&stream.bytes);
    let end = part.content.end as u64;
    assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, end - 1, Fault::Truncated)]);
    assert_eq!(outcome.lost, 2);
}

#[test]
fn t150_removethread_with_a_higher_number_counts_losses() {
    for (number, lost) in [(3, 1), (2, 0), (1, 0), (1000, 998)] {
        let mut stream = v6();
        events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
        stream.remove_thread_block(&RemoveThreadBlock::new(vec![(11, number)]));
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!((outcome.lost, outcome.restarts), (lost, 0));
        assert!(outcome.is_flawless());
    }
    // A thread that never wrote lost all it ever numbered.
    let mut stream = v6();
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(12, 5), (11, 0)]));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.lost_by_thread, std::collections::BTreeMap::from([(12, 5)]));
}

#[test]
fn t151_an_index_may_be_defined_again_after_its_removal_and_is_a_new_thread() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(11, 4)]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 5, 555)]));
    events(&mut stream, [on(11, 1, 3), on(11, 3, 4)]);
    stream.end();
    for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
        let threads: Vec<_> = outcome.events.iter().map(|event| (event.thread, event.process)).collect();
        let (old, new) = ((Some(11), Some(1234)), (Some(555), Some(5)));
        assert_eq!(threads, [old, old, new, new]);
        // Two at the removal, and one between the numbers 1 and 3 of the new thread.
        assert_eq!((outcome.lost, outcome.restarts), (3, 0));
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t152_a_live_index_defined_again_replaces_with_a_note() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(12, 9, 9), ThreadRow::new(11, 5, 555)]));
    let rows: Vec<u64> = last_part(&stream).rows.iter().map(|row| row.start as u64 + 2).collect();
    // Neither a fall nor a jump across the definition counts.
    events(&mut stream, [on(11, 1, 3), on(11, 2, 4), on(12, 70, 5), on(12, 72, 6)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let note = |nth: usize, index| (Class::Note, rows[nth], Fault::Redefined(index));
    assert_eq!(outcome.damage(), [note(0, 12), note(1, 11)]);
    let threads: Vec<_> = outcome.events.iter().map(|event| event.thread.unwrap()).collect();
    assert_eq!(threads, [11, 11, 555, 555, 9, 9]);
    assert_eq!((outcome.lost, outcome.restarts), (1, 0));
}

#[test]
fn t153_events_read_before_a_removal_keep_their_thread_when_delivered_after_it() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 9), on(12, 1, 5)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(11, 1), (12, 1)]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 5, 555)]));
    events(&mut stream, [on(11, 1, 7)]);
    stream.end();
    let outcome = ordered(&stream.bytes);
    let threads: Vec<_> = outcome.events.iter().map(|event| (event.ticks - START, event.thread)).collect();
    assert_eq!(threads, [(5, Some(12)), (7, Some(555)), (9, Some(11))]);
    assert_eq!((outcome.out_of_order, outcome.lost), (0, 0));
    assert!(outcome.is_flawless());
}

/// A sequence point with flags and nothing listed.
fn flagged(stream: &mut Stream, flags: u32) {
    stream.sequence_point(&SequencePoint { ticks: START + 5, flags, ..SequencePoint::default() });
}

#[test]
fn t154_a_sequence_point_without_flags_keeps_threads_and_metadata() {
    for flags in [0, 4, 0xffff_fffc] {
        let mut stream = v6();
        events(&mut stream, [on(11, 1, 1)]);
        flagged(&mut stream, flags);
        events(&mut stream, [on(11, 2, 6), on(12, 1, 7)]);
        stream.end();
        let outcome = read(&stream.bytes);
        let seen: Vec<_> = outcome.events.iter().map(|event| (event.name.as_str(), event.thread)).collect();
        assert_eq!(seen, [("Hi", Some(11)), ("Hi", Some(11)), ("Hi", Some(12))]);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t155_flag_1_forgets_threads_after_the_numbers_have_been_checked() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1)]);
    stream.sequence_point(&SequencePoint {
        ticks: START + 5,
        flags: SequencePoint::FORGET_THREADS,
        threads: vec![(11, 4), (12, 2)],
        ..SequencePoint::default()
    });
    events(&mut stream, [on(12, 1, 6)]);
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 5, 555)]));
    events(&mut stream, [on(11, 1, 7)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.lost_by_thread, std::collections::BTreeMap::from([(11, 3), (12, 2)]));
    let seen: Vec<_> = outcome.events.iter().map(|event| (event.name.as_str(), event.thread)).collect();
    assert_eq!(seen, [("Hi", Some(11)), ("Hi", None), ("Hi", Some(555))]);
    assert_eq!(outcome.damage(), [(Class::Note, outcome.events[1].offset, Fault::UndefinedThread(12))]);
}

#[test]
fn t156_flag_2_forgets_metadata_and_an_id_may_be_defined_anew() {
    let mut stream = v6();
    events(&mut stream, [event(1, 1)]);
    flagged(&mut stream, SequencePoint::FORGET_METADATA);
    events(&mut stream, [event(2, 6)]);
    let renamed = MetadataRow { name: "New".into(), event_id: 70, ..row(1) };
    stream.metadata_rows(&MetadataBlock::new(vec![renamed]));
    events(&mut stream, [event(3, 7)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> =
        outcome.events.iter().map(|event| (event.name.as_str(), event.id, event.thread)).collect();
    assert_eq!(seen, [("Hi", 7, Some(11)), ("", 0, Some(11)), ("New", 70, Some(11))]);
    // A new definition after a flush is nothing odd.
    assert_eq!(outcome.damage(), [(Class::Note, outcome.events[1].offset, Fault::UndefinedMetadata(1))]);
    assert_eq!(outcome.lost, 0);
}

#[test]
fn t157_events_read_before_a_metadata_flush_keep_their_type() {
    for flags in [SequencePoint::FORGET_METADATA, 3] {
        let mut stream = v6();
        let names = ["one", "two", "three"];
        for (round, name) in names.into_iter().enumerate() {
            let round = round as u32;
            if round > 0 {
                let block = vec![MetadataRow { name: name.into(), ..row(1) }];
                stream.metadata_rows(&MetadataBlock::new(block));
                if flags & 1 != 0 {
                    let threads =
                        [11, 12].map(|thread| ThreadRow::new(thread, 1234, thread + u64::from(round)));
                    stream.thread_block(&ThreadBlock::new(threads.to_vec()));
                }
            }
            let number = if flags & 1 == 0 { round * 2 } else { 0 };
            let later = u64::from(round) * 10;
            events(
                &mut stream,
                [
                    on(11, number + 1, later + 3),
                    on(11, number + 2, later + 5),
                    on(12, number + 1, later + 1),
                    on(12, number + 2, later + 4),
                ],
            );
            flagged(&mut stream, flags);
        }
        stream.end();
        let outcome = ordered(&stream.bytes);
        let seen: Vec<_> =
            outcome.events.iter().map(|event| (event.ticks - START, event.name.as_str())).collect();
        let expected = ["Hi", "two", "three"].into_iter().zip(0..);
        let expected: Vec<(u64, &str)> =
            expected.flat_map(|(name, round)| [1, 3, 4, 5].map(|later| (round * 10 + later, name))).collect();
        assert_eq!(seen, expected);
        assert_eq!((outcome.lost, outcome.out_of_order), (0, 0));
        assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    }
}

fn labelled(number: u32, label_list_id: u32) -> Blob {
    Blob { label_list_id, ..event(number, u64::from(number)) }
}

fn labels_of(outcome: &Outcome) -> Vec<String> {
    outcome.events.iter().map(|event| event.labels.join(" ")).collect()
}

#[test]
fn t158_label_lists_are_counted_from_firstindex_and_0_is_the_empty_list() {
    let mut stream = v6();
    let lists = (1..=3).map(|version| vec![Label::Version(version)]).collect::<Vec<_>>();
    stream.label_list_block(&LabelListBlock::new(10, lists));
    // A list of index 0 is noted; the next one has index 1.
    stream
        .label_list_block(&LabelListBlock::new(0, vec![vec![Label::Version(90)], vec![Label::Version(91)]]));
    let zero = last_part(&stream).rows[0].start as u64;
    let block = LabelListBlock::new(50, vec![vec![Label::Version(50)]]);
    stream.label_list_block(&LabelListBlock { count: Some(7), ..block });
    let content = last_part(&stream).content.start as u64;
    events(
        &mut stream,
        [12, 10, 0, 1, 11, 50].into_iter().zip(1..).map(|(list, number)| labelled(number, list)),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    let expected = ["Version(3)", "Version(1)", "", "Version(91)", "Version(2)", "Version(50)"];
    assert_eq!(labels_of(&outcome), expected);
    assert_eq!(
        outcome.damage(),
        [
            (Class::Note, zero, Fault::DefinesNothing(0)),
            (Class::Note, content + 4, Fault::Count { stated: 7, found: 1 }),
        ]
    );
    // An index defined again: the new list counts for what follows.
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Version(1)]]));
    events(&mut stream, [labelled(1, 1)]);
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Version(2)]]));
    let again = last_part(&stream).rows[0].start as u64;
    events(&mut stream, [labelled(2, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["Version(1)", "Version(2)"]);
    assert_eq!(outcome.damage(), [(Class::Note, again, Fault::Redefined(1))]);
}

#[test]
fn t159_the_high_bit_ends_a_label_list() {
    let mut stream = v6();
    // By hand: 7 = 1, then last 9 = 2; last 10 = 3; last 7 = 4.
    let lists =
        [&1_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), &[7, 1, 0x89, 2], &[0x8a, 3], &[0x87, 4]].concat();
    stream.part(PartKind::LabelList, Content::raw(lists));
    events(&mut stream, [labelled(1, 1), labelled(2, 2), labelled(3, 3)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["Opcode(1) Level(2)", "Version(3)", "Opcode(4)"]);
    assert!(outcome.is_flawless());
    // A list without an end is no list.
    let mut stream = v6();
    let open = [&1_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), &[0x87, 4], &[7, 1, 9, 2]].concat();
    stream.part(PartKind::LabelList, Content::raw(open));
    let content = last_part(&stream).content.start as u64;
    events(&mut stream, [labelled(1, 1), labelled(2, 2)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["Opcode(4)", ""]);
    assert_eq!(outcome.damage()[0], (Class::RestOfBlockLost, content + 10, Fault::Truncated));
    assert_eq!(outcome.damage()[1].2, Fault::UndefinedLabels(2));
}

#[test]
fn t160_every_label_kind_is_read_numbers_zigzag() {
    let list = vec![
        Label::ActivityId([1; 16]),
        Label::RelatedActivityId([2; 16]),
        Label::TraceId([3; 16]),
        Label::SpanId(0x1122_3344_5566_7788),
        Label::Text("key".into(), "größe".into()),
        Label::Number("n".into(), -3),
        Label::Number("n".into(), i64::MIN),
        Label::Number("m".into(), i64::MAX),
        Label::Text(String::new(), String::new()),
        Label::OpCode(7),
        Label::Keywords(8),
        Label::Level(9),
        Label::Version(10),
        // Of these the last counts.
        Label::SpanId(5),
        Label::ActivityId([9; 16]),
    ];
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(1, vec![list]));
    events(&mut stream, [labelled(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let event = &outcome.events[0];
    assert_eq!(
        event.labels,
        [
            "ActivityId(01010101-0101-0101-0101-010101010101)",
            "RelatedActivityId(02020202-0202-0202-0202-020202020202)",
            "TraceId(TraceId([3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]))",
            "SpanId(1234605616436508552)",
            "Text { key: [107, 101, 121], value: [103, 114, 195, 182, 195, 159, 101] }",
            "Number { key: [110], value: -3, raw: 5 }",
            "Number { key: [110], value: -9223372036854775808, raw: 18446744073709551615 }",
            "Number { key: [109], value: 9223372036854775807, raw: 18446744073709551614 }",
            "Text { key: [], value: [] }",
            "Opcode(7)",
            "Keywords(8)",
            "Level(9)",
            "Version(10)",
            "SpanId(5)",
            "ActivityId(09090909-0909-0909-0909-090909090909)",
        ]
    );
    assert_eq!(event.activity, Some(Guid::from_bytes([9; 16])));
    assert_eq!(event.related_activity, Some(Guid::from_bytes([2; 16])));
    assert_eq!((event.span_id, event.trace_id.unwrap().0), (Some(5), [3; 16]));
    assert!(outcome.is_flawless());
}

#[test]
fn t161_an_unknown_label_kind_keeps_the_complete_lists_before_it() {
    for kind in [0, 11, 0x7f] {
        let mut stream = v6();
        let lists = vec![
            vec![Label::OpCode(1), Label::Level(2)],
            vec![Label::OpCode(3), Label::Raw(kind, vec![1, 2]), Label::Level(4)],
            vec![Label::OpCode(5)],
        ];
        stream.label_list_block(&LabelListBlock::new(1, lists));
        let part = last_part(&stream);
        stream.label_list_block(&LabelListBlock::new(4, vec![vec![Label::OpCode(6)]]));
        events(&mut stream, (1..=4).map(|id| labelled(id, id)));
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(labels_of(&outcome), ["Opcode(1) Level(2)", "", "", "Opcode(6)"]);
        let row = part.rows[1].start as u64;
        let undefined =
            |id| (Class::Note, outcome.events[id as usize - 1].offset, Fault::UndefinedLabels(id));
        assert_eq!(
            outcome.damage(),
            [(Class::RestOfBlockLost, row, Fault::UnknownEntry(kind)), undefined(2), undefined(3),]
        );
        assert_eq!(outcome.findings[0].lost_bytes, part.content.end as u64 - row);
        assert!(outcome.is_complete);
    }
}

#[test]
fn t162_opcode_keywords_level_and_version_labels_override_metadata_a_zero_too() {
    let optional =
        vec![Optional::OpCode(9), Optional::Keywords(99), Optional::Level(5), Optional::Version(8)];
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![
        with_optional(optional),
        MetadataRow { optional: vec![], ..row(2) },
    ]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let all = |opcode, keywords, level, version| {
        vec![Label::OpCode(opcode), Label::Keywords(keywords), Label::Level(level), Label::Version(version)]
    };
    let lists = vec![
        all(1, 2, 3, 4),
        all(0, 0, 0, 0),
        vec![Label::Level(1)],
        [all(7, 7, 7, 7), all(6, 6, 6, 6)].concat(),
    ];
    stream.label_list_block(&LabelListBlock::new(1, lists));
    let of = |metadata_id, number, list| Blob { metadata_id, ..labelled(number, list) };
    events(
        &mut stream,
        [of(1, 1, 0), of(1, 2, 1), of(1, 3, 2), of(1, 4, 3), of(1, 5, 4), of(2, 6, 0), of(2, 7, 1)],
    );
    stream.end();
    for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
        let seen: Vec<_> = outcome
            .events
            .iter()
            .map(|event| (event.opcode, event.keywords, event.level, event.version))
            .collect();
        assert_eq!(
            seen,
            [
                (Some(9), 99, 5, 8),
                (Some(1), 2, 3, 4),
                (Some(0), 0, 0, 0),
                (Some(9), 99, 1, 8),
                (Some(6), 6, 6, 6),
                (None, 0, 0, 0),
                (Some(1), 2, 3, 4),
            ]
        );
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t163_an_undefined_label_list_is_noted_and_means_none() {
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(5, vec![vec![Label::Level(1)]]));
    events(&mut stream, [labelled(1, 4), labelled(2, 5), labelled(3, 6)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["", "Level(1)", ""]);
    let note = |nth: usize, id| (Class::Note, outcome.events[nth].offset, Fault::UndefinedLabels(id));
    assert_eq!(outcome.damage(), [note(0, 4), note(2, 6)]);
    assert_eq!((outcome.events[0].level, outcome.events[1].level), (4, 1));
}

#[test]
fn t164_a_sequence_point_forgets_label_lists() {
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Level(1)], vec![Label::Level(2)]]));
    events(&mut stream, [labelled(1, 1), labelled(2, 2)]);
    flagged(&mut stream, 0);
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Level(3)]]));
    events(&mut stream, [labelled(6, 1), labelled(7, 2)]);
    stream.end();
    for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
        assert_eq!(labels_of(&outcome), ["Level(1)", "Level(2)", "Level(3)", ""]);
        let undefined = (Class::Note, outcome.events[3].offset, Fault::UndefinedLabels(2));
        assert_eq!(outcome.damage(), [undefined]);
    }
}

#[test]
fn t165_a_trace_id_is_shown_in_stored_byte_order() {
    let id: [u8; 16] = std::array::from_fn(|at| at as u8 * 0x11);
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::TraceId(id), Label::ActivityId(id)]]));
    events(&mut stream, [labelled(1, 1), labelled(2, 0)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let shown = outcome.events[0].trace_id.unwrap().to_string();
    assert_eq!(shown, "00112233445566778899aabbccddeeff");
    // A guid of the same bytes is shown in another order.
    let activity = outcome.events[0].activity.unwrap().to_string();
    assert_eq!(activity, "33221100-5544-7766-8899-aabbccddeeff");
    assert_eq!(outcome.events[1].trace_id, None);
}

#[test]
fn t166_one_collect_s_universal_system_events_decode_by_the_built_in_table() {
    // What one-collect says of its fields: texts are of type 23, one code unit.
    let misdescribed = |id, event_id, name: &str, fields: Vec<Field>| MetadataRow {
        provider: "Universal.System".into(),
        event_id,
        name: name.into(),
        fields,
        ..row(id)
    };
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![
        misdescribed(
            1,
            0,
            "ExistingProcess",
            vec![
                field("NamespaceId", FieldType::VarUInt),
                field("Name", FieldType::Utf8CodeUnit),
                field("NamespaceName", FieldType::Utf8CodeUnit),
            ],
        ),
        misdescribed(2, 2, "ProcessExit", vec![]),
        misdescribed(3, 3, "ProcessMapping", vec![field("Id", FieldType::VarUInt)]),
        misdescribed(4, 4, "ProcessSymbol", vec![]),
        misdescribed(5, 5, "ProcessMappingMetadata", vec![field("Id", FieldType::Utf8CodeUnit)]),
    ]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let (number, name) = (Value::VarUInt, |name: &str| Value::CountedText(name.into()));
    let payloads = [
        vec![number(4026531836), name("dotnet"), name("größe")],
        vec![],
        vec![
            number(1),
            number(0x7f00_0000_0000),
            number(0x7f00_0010_0000),
            number(300),
            name("/lib/libc.so"),
            number(2),
            name("{}"),
            name(""),
        ],
        vec![number(1), number(2), number(0x1000), number(0x2000), name("main")],
        vec![number(2), name("{\"type\":\"ELF\"}"), name("")],
    ];
    let blobs = payloads.iter().zip(1..);
    events(
        &mut stream,
        blobs.map(|(values, id)| Blob { metadata_id: id, payload: payload(values), ..event(id, 1) }),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    let fields: Vec<_> = outcome.events.iter().map(|event| event.fields.join("; ")).collect();
    assert_eq!(
        fields,
        [
            "NamespaceId = 4026531836u64; Name = b\"dotnet\"; NamespaceName = b\"größe\"",
            "",
            "Id = 1u64; StartAddress = 139637976727552u64; EndAddress = 139637977776128u64; FileOffset = 300u64; \
         FileName = b\"/lib/libc.so\"; MetadataId = 2u64",
            "Id = 1u64; MappingId = 2u64; StartAddress = 4096u64; EndAddress = 8192u64; Name = b\"main\"",
            "Id = 2u64; SymbolMetadata = b\"{\\\"type\\\":\\\"ELF\\\"}\"; VersionMetadata = b\"\"",
        ]
    );
    // The two more texts of a mapping are what is left.
    let rests: Vec<_> = outcome.events.iter().map(|event| event.rest.len()).collect();
    assert_eq!(rests, [0, 0, 6, 0, 0]);
    // Real ones: every such event decodes, to its end but for those texts.
    for name in ["one-collect-v6/cpu.nettrace", "one-collect-v6/cpu-and-switches.nettrace"] {
        let bytes = corpus::trace(name).expect("it is in the repository").bytes();
        let mut reader = Reader::from_slice(&bytes);
        let mut decoded = 0;
        while let Some(event) = reader.next_event().unwrap() {
            if event.provider() != "Universal.System" {
                continue;
            }
            let known = catalog::find("Universal.System", event.id(), 0).expect("the table has it");
            assert_eq!(event.catalog().map(|event| event.name), Some(known.name));
            let mut fields = event.fields();
            assert!(fields.by_ref().all(|field| field.value.is_ok()), "{event:?}");
            assert!(fields.rest().is_empty() || known.name == "ProcessMapping", "{event:?}");
            decoded += 1;
        }
        assert!(decoded > 40, "{decoded}");
    }
}
