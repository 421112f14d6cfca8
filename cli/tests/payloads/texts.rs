//! Texts of every script in text, NDJSON and CSV: texts of real programs, and hostile texts.

use crate::common::Json;
use crate::common::nettrace;
use crate::{ALL, ALL_31, NETPERF, fields, ndjson, trace};
use nettrace_testdata::synth::{FieldType, Value, Version};
use serde_json::json;

/// Returns the lines after the heading.
fn rows(path: &str, args: &[&str]) -> Vec<String> {
    let ran = nettrace(&[&["events", path], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.text().lines().skip(1).map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

#[test]
fn texts_of_the_workload_come_out_in_every_form() {
    for path in [ALL, ALL_31, NETPERF] {
        let lines = ndjson(path, &["--event", "Nettrace-Workload/Text"]);
        let text = rows(path, &["--event", "Nettrace-Workload/Text"]);
        let csv = rows(path, &["--event", "Nettrace-Workload/Text", "--format", "csv"]);
        assert!(lines.len() > 50, "{path}: {}", lines.len());
        assert_eq!((lines.len(), lines.len()), (text.len(), csv.len()));
        for ((line, text), csv) in lines.iter().zip(&text).zip(&csv) {
            let number =
                line["payload"]["text"].text().strip_prefix("text 日本語 🚀 ").expect(path);
            assert!(number.parse::<u32>().is_ok(), "{line}");
            // Null and the empty text have the same bytes, and become an empty text.
            assert_eq!(
                (&line["payload"]["empty"], &line["payload"]["nothing"]),
                (&json!(""), &json!(""))
            );
            let expected = format!("text=\"text 日本語 🚀 {number}\" empty=\"\" nothing=\"\"");
            assert!(text.ends_with(&expected), "{text}");
            assert!(csv.ends_with(&format!(",text 日本語 🚀 {number},\"\",\"\",,,")), "{csv}");
        }
    }
}

#[test]
fn texts_of_objects_and_exceptions_of_the_workload_come_out_in_every_form() {
    for path in [ALL, ALL_31] {
        for line in ndjson(path, &["--event", "Nettrace-Workload-Dynamic/Nested"]) {
            let (first, second) = (&line["payload"]["First"], &line["payload"]["Second"]);
            let x = first["X"].as_i64().unwrap();
            assert_eq!(
                (first, second),
                (&json!({"X": x, "Label": format!("first {x}")}), &json!({"X": -x, "Label": ""}))
            );
        }
    }
    let messages = ndjson(ALL, &["--event", "Exception/Start", "--fields", "ExceptionMessage"]);
    let is_widget = |line: &serde_json::Value| {
        line["payload"]["ExceptionMessage"].text().starts_with("widget λ ")
    };
    assert!(messages.iter().filter(|line| is_widget(line)).count() > 10);
    let csv = rows(
        ALL,
        &["--event", "Exception/Start", "--fields", "ExceptionMessage", "--format", "csv"],
    );
    assert!(csv.iter().any(|row| row.ends_with(",widget λ 0")));
    assert!(
        rows(ALL, &["--where", "ExceptionMessage=widget λ 0"])[0]
            .contains("ExceptionMessage=\"widget λ 0\"")
    );
    // Bytes of an undescribed event keep their text.
    let bytes: String = "näme 😀 "
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for line in ndjson(ALL, &["--event", "Nettrace-Workload-Dynamic/Arrays"]) {
        assert!(line["payload_rest"].text().contains(&bytes), "{line}");
    }
}

#[test]
fn hostile_texts_stay_one_line_and_one_value() {
    let cases: [(&str, &str, &str, &str); 7] = [
        // Each row has the written text, and its forms in text, NDJSON and CSV.
        ("a\"b\\c", r#"s="a\"b\\c""#, r#""a\"b\\c""#, r#""a""b\c""#),
        ("two\r\nlines", r#"s="two\r\nlines""#, r#""two\r\nlines""#, "\"two\r\nlines\""),
        ("a,b", r#"s="a,b""#, r#""a,b""#, "\"a,b\""),
        ("\u{1b}[31mred", r#"s="\u{1b}[31mred""#, r#""\u001b[31mred""#, "\u{1b}[31mred"),
        (
            "\u{202e}right to left",
            r#"s="\u{202e}right to left""#,
            r#""\u202eright to left""#,
            "\u{202e}right to left",
        ),
        (
            "مرحبا שלום हिन्दी 👩‍👩‍👧",
            r#"s="مرحبا שלום हिन्दी 👩\u{200d}👩\u{200d}👧""#,
            r#""مرحبا שלום हिन्दी 👩\u200d👩\u200d👧""#,
            "مرحبا שלום हिन्दी 👩‍👩‍👧",
        ),
        ("=1+1 ", r#"s="=1+1 ""#, r#""=1+1 ""#, "\"=1+1 \""),
    ];
    for version in [Version::V4, Version::V5, Version::V6] {
        for (written, text, json, csv) in cases {
            let path = trace(
                version,
                fields(&[("s", FieldType::Text)]),
                vec![vec![Value::Text(written.into())]],
            );
            assert!(rows(&path, &[])[0].ends_with(text), "{}", rows(&path, &[])[0]);
            let ran = nettrace(&["events", &path, "--format", "ndjson"]);
            assert!(
                ran.text().ends_with(&format!("\"payload\":{{\"s\":{json}}}}}\n")),
                "{}",
                ran.text()
            );
            let ran = nettrace(&["events", &path, "--format", "csv", "--event", "E"]);
            assert!(ran.text().ends_with(&format!(",{csv},,,\r\n")), "{}", ran.text());
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_a_replacement_character_and_the_rest_stays() {
    let units = vec![0xd83d, 0x61, 0xde80, 0xd83d, 0xde80, 0xd83d, 0];
    for version in [Version::V4, Version::V5, Version::V6] {
        let kinds = fields(&[("s", FieldType::Text), ("c", FieldType::Char)]);
        let path =
            trace(version, kinds, vec![vec![Value::Units(units.clone()), Value::Char(0xdc00)]]);
        let shown = "\u{fffd}a\u{fffd}🚀\u{fffd}";
        assert_eq!(ndjson(&path, &[])[0]["payload"], json!({ "s": shown, "c": "\u{fffd}" }));
        assert!(rows(&path, &[])[0].ends_with(&format!("s=\"{shown}\" c=\"\u{fffd}\"")));
        assert!(
            rows(&path, &["--format", "csv", "--event", "E"])[0]
                .ends_with(&format!(",{shown},\u{fffd},,,"))
        );
    }
}

#[test]
fn an_empty_text_differs_from_an_absent_one() {
    for version in [Version::V4, Version::V5, Version::V6] {
        let kinds = fields(&[("n", FieldType::Int32), ("s", FieldType::Text)]);
        let payloads = vec![vec![Value::I32(1), Value::Text(String::new())], vec![Value::I32(2)]];
        let path = trace(version, kinds, payloads);
        let lines = ndjson(&path, &[]);
        assert_eq!(
            (&lines[0]["payload"]["s"], &lines[1]["payload"]["s"]),
            (&json!(""), &json!(null))
        );
        let text = rows(&path, &[]);
        assert!(text[0].ends_with("n=1 s=\"\"") && text[1].ends_with("n=2 s=null"), "{text:?}");
        let csv = rows(&path, &["--format", "csv", "--event", "E"]);
        assert!(csv[0].ends_with(",1,\"\",,,") && csv[1].ends_with(",2,,,,"), "{csv:?}");
    }
}
