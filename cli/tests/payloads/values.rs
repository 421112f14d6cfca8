//! Values of every kind, and defects of payloads, in streams of versions 4, 5 and 6.

use crate::common::Json;
use crate::common::{file, nettrace, run};
use crate::{ALL_31, fields, ndjson, session, trace};
use nettrace_testdata::synth::{
    Blob, Decimal, Definition, EventBlock, EventType, Field, FieldType, MetadataBlock, MetadataRow,
    Stream, Tag, ThreadBlock, ThreadRow, Trace, Value, Version, payload,
};
use serde_json::json;

const VERSIONS: [Version; 3] = [Version::V4, Version::V5, Version::V6];

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn numbers_are_exact_unless_strings_are_asked_for() {
    let kinds = fields(&[
        ("u64", FieldType::UInt64),
        ("i64", FieldType::Int64),
        ("safe", FieldType::UInt64),
        ("least", FieldType::Int64),
        ("unsafe", FieldType::UInt64),
        ("u32", FieldType::UInt32),
        ("decimal", FieldType::Decimal),
    ]);
    let safe = (1u64 << 53) - 1;
    let values = vec![
        Value::U64(u64::MAX),
        Value::I64(i64::MIN),
        Value::U64(safe),
        Value::I64(-(safe as i64)),
        Value::U64(safe + 1),
        Value::U32(u32::MAX),
        Value::Decimal(Decimal {
            is_negative: true,
            scale: 3,
            mantissa: 12_345_678_901_234_567_890,
        }),
    ];
    for version in VERSIONS {
        let path = trace(version, kinds.clone(), vec![values.clone()]);
        let payload_of = |args: &[&str]| {
            let ran = nettrace(&[&["events", &path, "--format", "ndjson"], args].concat());
            ran.text().trim_end().split_once("\"payload\":").unwrap().1.to_owned()
        };
        assert_eq!(
            payload_of(&[]),
            r#"{"u64":18446744073709551615,"i64":-9223372036854775808,"safe":9007199254740991,"least":-9007199254740991,"unsafe":9007199254740992,"u32":4294967295,"decimal":-12345678901234567.890}}"#,
            "{version:?}"
        );
        assert_eq!(
            payload_of(&["--big-ints", "string"]),
            r#"{"u64":"18446744073709551615","i64":"-9223372036854775808","safe":9007199254740991,"least":-9007199254740991,"unsafe":"9007199254740992","u32":4294967295,"decimal":"-12345678901234567.890"}}"#,
            "{version:?}"
        );
        // Selected fields are written by the same rules.
        let picked = ndjson(&path, &["--fields", "unsafe,safe", "--big-ints", "string"]);
        assert_eq!(
            picked[0]["payload"],
            json!({ "unsafe": "9007199254740992", "safe": 9_007_199_254_740_991u64 })
        );
    }
}

#[test]
fn what_is_no_number_of_json_is_a_string() {
    let kinds = fields(&[
        ("nan", FieldType::Double),
        ("more", FieldType::Double),
        ("less", FieldType::Double),
        ("single", FieldType::Single),
        ("tenth", FieldType::Single),
        ("negative zero", FieldType::Double),
    ]);
    let values = vec![
        Value::F64(f64::NAN),
        Value::F64(f64::INFINITY),
        Value::F64(f64::NEG_INFINITY),
        Value::F32(f32::NAN),
        Value::F32(0.1),
        Value::F64(-0.0),
    ];
    for version in VERSIONS {
        let path = trace(version, kinds.clone(), vec![values.clone()]);
        let expected = json!({
            "nan": "NaN", "more": "Infinity", "less": "-Infinity", "single": "NaN", "tenth": 0.1, "negative zero": -0.0
        });
        assert_eq!(ndjson(&path, &[])[0]["payload"], expected, "{version:?}");
        let csv = nettrace(&["events", &path, "--format", "csv", "--event", "E"]);
        let row = csv.text().lines().nth(1).unwrap();
        assert!(row.contains(",NaN,Infinity,-Infinity,NaN,0.1,-0.0,"), "{row}");
    }
}

#[test]
fn numbers_have_their_units_in_text_and_are_bare_elsewhere() {
    for version in VERSIONS {
        let mut session = session(
            version,
            Vec::new(),
            vec![vec![Value::U8(0), Value::U16(7), Value::F64(15_794.5)]],
        );
        let provider = "Microsoft-Windows-DotNETRuntime".into();
        session.types[0] = EventType { provider, event_id: 91, version: 1, ..EventType::default() };
        let path = file("contention.nettrace", &session.record().stream.into_bytes());
        let text = nettrace(&["events", &path]);
        assert!(
            text.text()
                .ends_with("ContentionFlags=Managed ClrInstanceID=7 DurationNs=15794.5 ns\n"),
            "{}",
            text.text()
        );
        assert_eq!(ndjson(&path, &[])[0]["payload"]["DurationNs"], json!(15_794.5));
        let csv = nettrace(&["events", &path, "--format", "csv", "--event", "91"]);
        assert!(csv.text().ends_with(",0,7,15794.5,,,\r\n"), "{}", csv.text());
        assert_eq!(ndjson(&path, &["--where", "DurationNs>15794"]).len(), 1);
    }
    let method =
        run(&format!("events {ALL_31} --event */144 --fields MethodSize,MethodToken --limit 1"));
    assert!(
        method.text().ends_with("MethodSize=278 B MethodToken=0x6001358\n"),
        "{}",
        method.text()
    );
}

#[test]
fn bytes_after_the_last_field_are_the_payloads_rest() {
    for version in VERSIONS {
        let kinds = fields(&[("n", FieldType::Int32)]);
        let values = vec![Value::I32(-7), Value::Raw(vec![0xde, 0xad, 0, 1])];
        let path = trace(version, kinds, vec![values]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!(
            (&line["payload"], &line["payload_rest"]),
            (&json!({ "n": -7 }), &json!("dead0001"))
        );
        assert_eq!(line.get("payload_faults"), None);
        let text = nettrace(&["events", &path]);
        assert!(text.text().ends_with("n=-7 +4 B dead0001\n"), "{}", text.text());
        let csv = nettrace(&["events", &path, "--format", "csv"]);
        assert!(csv.text().ends_with(",\"{\"\"n\"\":-7}\",dead0001,\r\n"), "{}", csv.text());
    }
}

#[test]
fn a_payload_that_nobody_describes_is_all_rest() {
    for version in VERSIONS {
        let path = trace(version, Vec::new(), vec![vec![Value::Raw(b"\x01\x02\xff".to_vec())]]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!((&line["payload"], &line["payload_rest"]), (&json!({}), &json!("0102ff")));
        let text = nettrace(&["events", &path]);
        assert!(text.text().ends_with("  3 B 0102ff\n"), "{}", text.text());
    }
}

#[test]
fn a_bad_field_is_null_with_its_offset_while_the_fields_before_it_stay() {
    let kinds =
        fields(&[("n", FieldType::Int32), ("cut", FieldType::Int64), ("after", FieldType::Text)]);
    for version in VERSIONS {
        let path =
            trace(version, kinds.clone(), vec![vec![Value::I32(5), Value::Raw(vec![1, 2, 3])]]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!((&line["payload"]["n"], &line["payload"]["cut"]), (&json!(5), &json!(null)));
        let faults = line["payload_faults"].as_array().expect("a fault");
        assert_eq!(
            (faults.len(), &faults[0]["field"], &faults[0]["offset"]),
            (1, &json!("cut"), &json!(4))
        );
        let keys: Vec<&String> = faults[0].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert!(faults[0]["fault"].as_str().is_some_and(|fault| !fault.is_empty()));
        // All bytes of the payload are in a field or in the rest.
        assert_eq!(line["payload_rest"], "010203");
        let text = nettrace(&["events", &path]);
        assert!(text.text().contains("n=5 cut=<") && text.code == Some(0), "{}", text.text());
        let csv = nettrace(&["events", &path, "--format", "csv", "--event", "E"]);
        assert!(
            csv.text()
                .lines()
                .nth(1)
                .unwrap()
                .contains(",5,,,,010203,\"[{\"\"field\"\":\"\"cut\"\","),
            "{}",
            csv.text()
        );
    }
}

#[test]
fn a_text_without_its_end_mark_is_shown_and_reported() {
    for version in VERSIONS {
        let kinds = fields(&[("n", FieldType::Int32), ("text", FieldType::Text)]);
        let open = "λx".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let path = trace(version, kinds, vec![vec![Value::I32(5), Value::Raw(open)]]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!(line["payload"], json!({ "n": 5, "text": "λx" }));
        assert_eq!(
            line["payload_faults"],
            json!([{ "field": "text", "offset": 4, "fault": "the text has no end mark" }])
        );
    }
}

#[test]
fn fields_that_an_older_writer_did_not_write_are_null_without_a_fault() {
    for version in VERSIONS {
        let kinds = fields(&[
            ("n", FieldType::Int32),
            ("newer", FieldType::Int64),
            ("newest", FieldType::Text),
        ]);
        let path = trace(version, kinds, vec![vec![Value::I32(5)]]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!(line["payload"], json!({ "n": 5, "newer": null, "newest": null }));
        assert_eq!((line.get("payload_faults"), line.get("payload_rest")), (None, None));
    }
}

/// Writes a stream whose type has one field of a type that nobody knows.
fn with_unknown_type(version: Version, payload: &[u8]) -> String {
    let kinds = fields(&[("n", FieldType::Int32), ("odd", FieldType::Code(99))]);
    let event =
        Blob { metadata_id: 1, sequence_number: 1, payload: payload.to_vec(), ..Blob::default() };
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    if version == Version::V6 {
        let name = "E".into();
        let row = MetadataRow {
            metadata_id: 1,
            provider: "Synth".into(),
            name,
            fields: kinds,
            ..MetadataRow::default()
        };
        stream.metadata_rows(&MetadataBlock::new(vec![row]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(0, 1, 11)]));
    } else {
        let is_v5 = version == Version::V5;
        let definition = Definition {
            metadata_id: 1,
            provider: "Synth".into(),
            name: "E".into(),
            tags: if is_v5 { vec![Tag::v2_params(&kinds)] } else { Vec::new() },
            fields: if is_v5 { Vec::new() } else { kinds },
            ..Definition::default()
        };
        stream.metadata_blobs(&EventBlock::new([Blob::definition(0, 0, definition.encode())]));
    }
    stream.event_block(&EventBlock::new([event])).end();
    file("unknown.nettrace", &stream.into_bytes())
}

#[test]
fn a_type_that_nobody_knows_ends_the_description_and_the_rest_is_kept() {
    for version in VERSIONS {
        let path = with_unknown_type(version, &[5, 0, 0, 0, 0xaa, 0xbb]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!(
            (&line["payload"], &line["payload_rest"]),
            (&json!({ "n": 5 }), &json!("aabb")),
            "{version:?}"
        );
        assert_eq!(line["payload_faults"][0]["field"], json!(null));
        assert_eq!(line["payload_faults"][0]["offset"], 4);
        let text = nettrace(&["events", &path]);
        assert!(
            text.text().contains("n=5 +2 B aabb <the description ends here: "),
            "{}",
            text.text()
        );
    }
}

#[test]
fn an_object_that_is_cut_is_null_and_its_bytes_are_the_rest() {
    for version in VERSIONS {
        let inner = fields(&[("x", FieldType::Int32), ("y", FieldType::Int32)]);
        let kinds = fields(&[("a", FieldType::Int32), ("outer", FieldType::Object(inner))]);
        let path =
            trace(version, kinds, vec![vec![Value::I32(1), Value::I32(2), Value::Raw(vec![9, 9])]]);
        let line = &ndjson(&path, &[])[0];
        assert_eq!(
            (&line["payload"], &line["payload_rest"]),
            (&json!({ "a": 1, "outer": null }), &json!("020000000909"))
        );
        let fault = &line["payload_faults"][0];
        assert_eq!((&fault["field"], &fault["offset"]), (&json!("outer"), &json!(4)));
    }
}

#[test]
fn a_fault_within_an_object_is_reported_with_the_full_name() {
    let located = FieldType::DataLoc(Box::new(FieldType::Utf8CodeUnit));
    let inner = fields(&[("x", FieldType::Int32), ("y", located)]);
    let kinds = fields(&[("a", FieldType::Int32), ("outer", FieldType::Object(inner))]);
    let path = trace(
        Version::V6,
        kinds,
        vec![vec![Value::I32(1), Value::I32(2), Value::U32(77 << 16 | 500)]],
    );
    let line = &ndjson(&path, &[])[0];
    assert_eq!(line["payload"], json!({ "a": 1, "outer": { "x": 2, "y": null } }));
    let fault = &line["payload_faults"][0];
    assert_eq!((&fault["field"], &fault["offset"]), (&json!("outer.y"), &json!(8)));
}

#[test]
fn the_nameless_object_around_counters_is_left_out() {
    let counter = fields(&[
        ("Name", FieldType::Text),
        ("Mean", FieldType::Double),
        ("Count", FieldType::Int32),
    ]);
    let within = vec![Field::new("Payload", FieldType::Object(counter))];
    let kinds = vec![Field::new("", FieldType::Object(within))];
    for version in VERSIONS {
        let values = vec![text("cpu λ"), Value::F64(2.5), Value::I32(3)];
        let path = trace(version, kinds.clone(), vec![values]);
        let expected = json!({ "Payload": { "Name": "cpu λ", "Mean": 2.5, "Count": 3 } });
        assert_eq!(ndjson(&path, &[])[0]["payload"], expected, "{version:?}");
        let picked = ndjson(&path, &["--fields", "Payload.Name", "--where", "Payload.Mean>2"]);
        assert_eq!(picked[0]["payload"], json!({ "Payload.Name": "cpu λ" }));
        let text = nettrace(&["events", &path]);
        assert!(
            text.text().ends_with("Payload={Name=\"cpu λ\" Mean=2.5 Count=3}\n"),
            "{}",
            text.text()
        );
    }
}

#[test]
fn values_of_version_6_alone_are_read() {
    let kinds = fields(&[
        ("varint", FieldType::VarInt),
        ("varuint", FieldType::VarUInt),
        ("utf8", FieldType::Utf8CodeUnit.array()),
        ("chars", FieldType::Char.array()),
        ("fixed", FieldType::FixedLengthArray(Box::new(FieldType::Int16), 2)),
        ("flag", FieldType::Boolean8),
        ("bytes", FieldType::Byte.array()),
        ("located", FieldType::DataLoc(Box::new(FieldType::Utf8CodeUnit))),
    ]);
    let values = vec![
        Value::VarInt(-1_000_000),
        Value::VarUInt(u64::MAX),
        Value::utf8_array("zoë 🎉"),
        Value::utf16_array("λ\0\"\n"),
        Value::FixedLengthArray(vec![Value::I16(-1), Value::I16(2)]),
        Value::Boolean8(true),
        Value::Array(vec![Value::U8(0), Value::U8(255)]),
        Value::DataLoc("after".bytes().map(Value::U8).collect()),
    ];
    let written = payload(&values);
    let path = trace(Version::V6, kinds, vec![values]);
    let line = &ndjson(&path, &["--raw"])[0];
    let expected = json!({
        "varint": -1_000_000, "varuint": u64::MAX, "utf8": "zoë 🎉", "chars": "λ\0\"\n", "fixed": [-1, 2],
        "flag": true, "bytes": "00ff", "located": "after",
    });
    assert_eq!(line["payload"], expected);
    assert_eq!(line["payload_hex"].text().len(), written.len() * 2);
}
