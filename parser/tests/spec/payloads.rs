//! Tests of payloads as EventSources write them (FORMAT.md 8, 14).

use crate::described::{field, v2};
use crate::snapshot::{Outcome, Seen, read};
use crate::streams::{EACH, START, define, definition, event, events, opened, row};
use nettrace_parser::{Event, Reader, Value as Decoded};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;

/// Reads a stream of events of one type with these fields, one for each payload.
pub(crate) fn read_payloads(version: Version, fields: &[Field], payloads: &[Vec<u8>]) -> Outcome {
    let mut stream = opened(version);
    if version == Version::V6 {
        let described = MetadataRow { fields: fields.to_vec(), ..row(1) };
        stream.metadata_rows(&MetadataBlock::new(vec![described]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    } else {
        let all_in_v1 = fields.iter().all(|field| field.field_type.is_allowed_in(FieldForm::V1));
        let described = match all_in_v1 {
            true => Definition { fields: fields.to_vec(), ..definition(1) },
            false => v2(fields),
        };
        define(&mut stream, &[described]);
    }
    let blobs = payloads.iter().zip(1..);
    events(
        &mut stream,
        blobs.map(|(payload, number)| Blob { payload: payload.clone(), ..event(number, 1) }),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events.len(), payloads.len());
    outcome
}

/// Reads a stream as [`read_payloads`] does, and asserts that nothing is wrong with it.
fn with_payloads(version: Version, fields: &[Field], payloads: &[Vec<u8>]) -> Outcome {
    let outcome = read_payloads(version, fields, payloads);
    assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    outcome
}

/// Returns the fields of each payload as text, and the bytes after the last field.
fn decoded(version: Version, fields: &[Field], payloads: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let told = |event: &Seen| (event.fields.join("; "), event.rest.clone());
    with_payloads(version, fields, payloads).events.iter().map(told).collect()
}

fn told(fields: &str, rest: &[u8]) -> (String, Vec<u8>) {
    (fields.to_owned(), rest.to_vec())
}

#[test]
fn t167_datetime_is_eight_bytes_of_filetime_80_50_6f_b3_0b_6b_da_01_is_2024_02_29_12_34_56_008_utc()
{
    let bytes = [0x80, 0x50, 0x6f, 0xb3, 0x0b, 0x6b, 0xda, 0x01];
    let fields = [field("d", FieldType::DateTime), field("z", FieldType::Byte)];
    for version in EACH {
        let payloads = [[&bytes[..], &[7]].concat(), vec![0; 9], [&[0xff; 8][..], &[1]].concat()];
        let [date, zero, last] = &decoded(version, &fields, &payloads)[..] else {
            panic!("three events")
        };
        assert_eq!(*date, told("d = 2024-02-29T12:34:56.0080000Z; z = 7u8", &[]));
        // 0 stands for all dates before 1601.
        assert_eq!(*zero, told("d = 1601-01-01T00:00:00.0000000Z; z = 0u8", &[]));
        assert_eq!(*last, told("d = 60056-05-28T05:36:10.9551615Z; z = 1u8", &[]));
    }
}

#[test]
fn t168_a_v6_datetime_that_fits_only_as_sixteen_bytes_is_read_so() {
    let date = payload(&[Value::SysTime(SysTime::default())]);
    let both = [
        field("n", FieldType::Int32),
        field("d", FieldType::DateTime),
        field("z", FieldType::Byte),
    ];
    let long = [&5_i32.to_le_bytes()[..], &date, &[7]].concat();
    let short = [&5_i32.to_le_bytes()[..], &0x01da_6b0b_b36f_5080_u64.to_le_bytes(), &[7]].concat();
    let found = decoded(Version::V6, &both, &[long.clone(), short.clone()]);
    assert_eq!(found[0], told("n = 5i32; d = 2024-02-29T12:34:56.7890000Z; z = 7u8", &[]));
    assert_eq!(found[1], told("n = 5i32; d = 2024-02-29T12:34:56.0080000Z; z = 7u8", &[]));
    // All dates of a payload, in objects and arrays too, are of the same size.
    let object = FieldType::Object(vec![field("i", FieldType::DateTime)]);
    let nested = [field("o", object), field("a", FieldType::DateTime.array())];
    let values = [&date[..], &[2, 0], &date, &date].concat();
    let day = "2024-02-29T12:34:56.7890000Z";
    assert_eq!(
        decoded(Version::V6, &nested, &[values])[0],
        told(&format!("o = {{i = {day}}}; a = [{day}, {day}]"), &[])
    );
    // One that fits in neither way is eight bytes; the rest is left.
    let neither = [&long[..], &[8, 9]].concat();
    let left = [&[7][..], &[8, 9]].concat();
    let found = decoded(Version::V6, &both, &[neither]);
    assert_eq!(found[0].1, [&date[9..], &left].concat());
    // No version before 6 has dates of sixteen bytes.
    for version in [Version::V3, Version::V4] {
        let found = decoded(version, &both, &[long.clone(), short.clone()]);
        assert_eq!(found[0].1, [&date[9..], &[7]].concat());
        assert_eq!(found[1], told("n = 5i32; d = 2024-02-29T12:34:56.0080000Z; z = 7u8", &[]));
    }
}

#[test]
fn t169_boolean_is_four_bytes_and_one_byte_only_when_four_do_not_fit() {
    let fields = [
        field("a", FieldType::Boolean32),
        field("n", FieldType::Int32),
        field("b", FieldType::Boolean32),
    ];
    let four = payload(&[Value::Boolean32(true), Value::I32(5), Value::Boolean32(false)]);
    let one = payload(&[Value::Boolean8(true), Value::I32(5), Value::Boolean8(false)]);
    let surplus = [&four[..], &[9]].concat();
    let high = payload(&[Value::U32(0x100), Value::I32(5), Value::U32(0x8000_0000)]);
    for version in EACH {
        let found =
            decoded(version, &fields, &[four.clone(), one.clone(), surplus.clone(), high.clone()]);
        let expected = "a = true; n = 5i32; b = false";
        assert_eq!(found[..3], [told(expected, &[]), told(expected, &[]), told(expected, &[9])]);
        // Any bit of the four counts.
        assert_eq!(found[3], told("a = true; n = 5i32; b = true", &[]));
        // In objects too; all booleans of a payload are of the same size.
        let object =
            FieldType::Object(vec![field("i", FieldType::Boolean32), field("t", FieldType::Text)]);
        let fields = [field("o", object), field("b", FieldType::Boolean32)];
        let text = Value::Text("x".into());
        let one = payload(&[Value::Boolean8(true), text.clone(), Value::Boolean8(true)]);
        let mixed = payload(&[Value::Boolean8(true), text, Value::Boolean32(true)]);
        let found = decoded(version, &fields, &[one, mixed]);
        assert_eq!(found[0], told("o = {i = true, t = \"x\"}; b = true", &[]));
        assert_ne!(found[1], told("o = {i = true, t = \"x\"}; b = true", &[]));
    }
    // Arrays of booleans.
    let fields = [field("a", FieldType::Boolean32.array())];
    let one = payload(&[Value::Array(vec![Value::Boolean8(true), Value::Boolean8(false)])]);
    let four = payload(&[Value::Array(vec![Value::Boolean32(false), Value::Boolean32(true)])]);
    for version in [Version::V5, Version::V6] {
        let found = decoded(version, &fields, &[one.clone(), four.clone()]);
        assert_eq!(found, [told("a = [true, false]", &[]), told("a = [false, true]", &[])]);
    }
}

#[test]
fn t170_decimal_is_sixteen_bytes_or_a_double_when_only_that_fits() {
    let fields = [field("d", FieldType::Decimal), field("n", FieldType::Int32)];
    let sixteen = |is_negative, scale, mantissa| {
        payload(&[Value::Decimal(Decimal { is_negative, scale, mantissa }), Value::I32(5)])
    };
    let double = payload(&[Value::F64(-0.125), Value::I32(5)]);
    for version in EACH {
        let payloads = [
            sixteen(false, 2, 12_345),
            sixteen(true, 28, 1),
            sixteen(false, 0, (1 << 96) - 1),
            sixteen(true, 3, 7),
            double.clone(),
        ];
        let found = decoded(version, &fields, &payloads);
        let values = [
            "123.45m",
            "-0.0000000000000000000000000001m",
            "79228162514264337593543950335m",
            "-0.007m",
            "-0.125f64",
        ];
        assert_eq!(found, values.map(|value| told(&format!("d = {value}; n = 5i32"), &[])));
        // Booleans of one byte and decimals of eight, in one payload.
        let fields = [field("b", FieldType::Boolean32), field("d", FieldType::Decimal)];
        let found =
            decoded(version, &fields, &[payload(&[Value::Boolean8(true), Value::F64(1.5)])]);
        assert_eq!(found[0], told("b = true; d = 1.5f64", &[]));
    }
    let fields = [field("d", FieldType::Decimal)];
    let outcome = with_payloads(Version::V4, &fields, &[sixteen(false, 2, 12_345)[..16].to_vec()]);
    assert_eq!(outcome.events[0].fields, ["d = 123.45m"]);
}

#[test]
fn t171_a_null_string_and_an_empty_string_are_the_same() {
    let fields =
        [field("a", FieldType::Text), field("b", FieldType::Text), field("n", FieldType::Byte)];
    for version in EACH {
        let text = |text: &str| Value::Text(text.into());
        let payloads = [
            vec![0, 0, 0, 0, 7],
            payload(&[text(""), text("x"), Value::U8(7)]),
            payload(&[text("x"), text(""), Value::U8(7)]),
        ];
        let found = decoded(version, &fields, &payloads);
        assert_eq!(
            found,
            [
                told("a = \"\"; b = \"\"; n = 7u8", &[]),
                told("a = \"\"; b = \"x\"; n = 7u8", &[]),
                told("a = \"x\"; b = \"\"; n = 7u8", &[]),
            ]
        );
    }
}

#[test]
fn t172_an_unterminated_string_is_taken_to_the_payload_s_end_and_marked() {
    let fields =
        [field("n", FieldType::Byte), field("s", FieldType::Text), field("z", FieldType::Int32)];
    for version in EACH {
        let payloads = [
            [&[7][..], b"h\0e\0y\0"].concat(),
            [&[7][..], b"h\0e\0y\0\0"].concat(),
            vec![7, b'h'],
            [&[7][..], b"h\0\0\0"].concat(),
        ];
        let outcome = with_payloads(version, &fields, &payloads);
        let seen: Vec<_> = outcome.events.iter().map(|event| event.fields.join("; ")).collect();
        assert_eq!(
            seen,
            [
                "n = 7u8; s = \"hey\" cut; z = absent",
                "n = 7u8; s = \"hey\" cut; z = absent",
                "n = 7u8; s = \"\" cut; z = absent",
                "n = 7u8; s = \"h\"; z = absent",
            ]
        );
        assert!(outcome.events.iter().all(|event| event.rest.is_empty()));
    }
}

#[test]
fn t173_half_surrogates_become_replacement_characters() {
    let fields = [field("s", FieldType::Text), field("c", FieldType::Char)];
    for version in EACH {
        let units = |units: &[u16]| {
            payload(&[Value::Units(units.to_vec()), Value::U16(0), Value::Char(0xd834)])
        };
        let payloads = [
            units(&[0x41, 0xd834, 0x42]),
            units(&[0xdd1e, 0x41]),
            units(&[0xd834, 0xd834, 0xdd1e]),
            units(&[0xd834]),
            units(&[0xd834, 0xdd1e]),
        ];
        let found = decoded(version, &fields, &payloads);
        let texts = ["A\u{fffd}B", "\u{fffd}A", "\u{fffd}𝄞", "\u{fffd}", "𝄞"];
        assert_eq!(found, texts.map(|text| told(&format!("s = {text:?}; c = char 0xd834"), &[])));
    }
    // Ill-formed UTF-8 in version 6, and half a surrogate as a character.
    let fields = [field("t", FieldType::Utf8CodeUnit.array())];
    let found = decoded(
        Version::V6,
        &fields,
        &[vec![4, 0, b'a', 0xff, 0xc3, b'b'], vec![3, 0, 0xe8, 0xaa, 0x9e]],
    );
    assert_eq!(found, [told("t = b\"a\u{fffd}\u{fffd}b\"", &[]), told("t = b\"語\"", &[])]);
    let mut shown = String::new();
    crate::snapshot::fields::write_value(&mut shown, &Decoded::Char(0xd834));
    assert_eq!(
        (shown.as_str(), Decoded::Char(0xd834).to_string().as_str()),
        ("char 0xd834", "\u{fffd}")
    );
    // In names of metadata, too.
    let mut stream = opened(Version::V4);
    let mut encoded = definition(1).encode();
    let name = encoded.windows(4).position(|units| units == b"H\0i\0").unwrap();
    encoded[name..name + 2].copy_from_slice(&0xd834_u16.to_le_bytes());
    stream.metadata_blobs(&EventBlock::new([Blob::definition(11, START, encoded)]));
    events(&mut stream, [event(1, 1)]);
    stream.end();
    assert_eq!(read(&stream.bytes).events[0].name, "\u{fffd}i");
}

#[test]
fn t174_a_payload_shorter_than_its_fields_gives_absent_fields_a_longer_one_raw_bytes() {
    let fields = [
        field("a", FieldType::Int32),
        field("b", FieldType::UInt16),
        field("s", FieldType::Text),
        field(
            "o",
            FieldType::Object(vec![field("i", FieldType::Byte), field("j", FieldType::Byte)]),
        ),
    ];
    let whole = [1, 0, 0, 0, 2, 0, b'x', 0, 0, 0, 3, 4];
    for version in EACH {
        let lengths = [0, 4, 6, 10, 11, 12];
        let mut payloads: Vec<Vec<u8>> =
            lengths.iter().map(|length| whole[..*length].to_vec()).collect();
        payloads.push([&whole[..], &[9, 8, 7]].concat());
        let found = decoded(version, &fields, &payloads);
        assert_eq!(
            found,
            [
                told("a = absent; b = absent; s = absent; o = absent", &[]),
                told("a = 1i32; b = absent; s = absent; o = absent", &[]),
                told("a = 1i32; b = 2u16; s = absent; o = absent", &[]),
                told("a = 1i32; b = 2u16; s = \"x\"; o = absent", &[]),
                told("a = 1i32; b = 2u16; s = \"x\"; o = {i = 3u8, j = absent}", &[]),
                told("a = 1i32; b = 2u16; s = \"x\"; o = {i = 3u8, j = 4u8}", &[]),
                told("a = 1i32; b = 2u16; s = \"x\"; o = {i = 3u8, j = 4u8}", &[9, 8, 7]),
            ]
        );
    }
}

#[test]
fn t175_a_payload_that_ends_inside_a_field_keeps_the_fields_before_it() {
    let fields =
        [field("a", FieldType::Int32), field("g", FieldType::Guid), field("z", FieldType::UInt16)];
    let whole: Vec<u8> = [&5_i32.to_le_bytes()[..], &[0x11; 16], &[7, 0]].concat();
    for version in EACH {
        for length in 0..=whole.len() {
            let found = decoded(version, &fields, &[whole[..length].to_vec()]);
            let guid = "g = 11111111-1111-1111-1111-111111111111";
            let (seen, rest) = match length {
                0 => ("a = absent; g = absent; z = absent".to_owned(), 0),
                1..4 => ("a = <Truncated>".to_owned(), length),
                4 => ("a = 5i32; g = absent; z = absent".to_owned(), 0),
                5..20 => ("a = 5i32; g = <Truncated>".to_owned(), length - 4),
                20 => (format!("a = 5i32; {guid}; z = absent"), 0),
                21 => (format!("a = 5i32; {guid}; z = <Truncated>"), 1),
                _ => (format!("a = 5i32; {guid}; z = 7u16"), 0),
            };
            assert_eq!(found[0], told(&seen, &whole[length - rest..length]), "{length} bytes");
        }
    }
}

#[test]
fn t176_byte_of_an_event_method_is_undescribed_and_shown_as_bytes() {
    // As .NET Core 3.1 writes it: a long, a count, three bytes, and no field described.
    let seen = [3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 2, 8];
    for version in EACH {
        let outcome = with_payloads(version, &[], &[seen.to_vec(), vec![]]);
        let event = &outcome.events[0];
        assert_eq!((event.name.as_str(), event.fields.len()), ("Hi", 0));
        assert_eq!((&event.rest[..], &event.payload[..]), (&seen[..], &seen[..]));
        assert_eq!(event.metadata.as_ref().unwrap().schema.opaque, None);
        assert_eq!((outcome.events[1].fields.len(), outcome.events[1].rest.len()), (0, 0));
    }
}

/// Returns whether the stream describes the event's fields, even if the catalog knows
/// better.
fn is_described(event: &Event<'_>) -> bool {
    event.metadata().is_some_and(|metadata| !metadata.schema.fields.is_empty())
}

#[test]
fn t177_every_described_event_of_every_real_stream_decodes_to_its_last_byte() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        let mut described = 0;
        while let Some(event) = reader.next_event().unwrap() {
            if !is_described(&event) {
                continue;
            }
            described += 1;
            let mut fields = event.fields();
            for field in fields.by_ref() {
                let is_whole = match field.value {
                    Ok(Decoded::Absent) | Err(_) => false,
                    Ok(Decoded::Utf16(text)) => text.is_terminated(),
                    Ok(_) => true,
                };
                assert!(is_whole, "{}: {event:?}: {field:?}", trace.name());
            }
            assert_eq!(fields.opaque(), None);
            // one-collect: two texts more in the payload than described.
            let has_more =
                event.provider() == "Universal.System" && event.name() == "ProcessMapping";
            assert!(
                fields.rest().is_empty() || has_more,
                "{}: {event:?}: {:?}",
                trace.name(),
                fields.rest()
            );
        }
        let samples_only =
            trace.name().ends_with("samples-only.nettrace") || trace.name().contains("heap");
        assert!(described > 0 || samples_only, "{}", trace.name());
    }
}
