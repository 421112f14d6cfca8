//! Reads NDJSON and CSV with Python's `json` and `csv`, which share no code with this project.

use crate::common::{command, file};
use crate::{fields, trace};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{FieldType, Value, Version};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a Python script and returns the number that the script prints.
fn python(args: &[&str]) -> u64 {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads/read.py");
    let mut python = Command::new("python3");
    let output = python
        .arg(script)
        .args(args)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("there is a python3");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    printed.trim().parse().expect("the script prints a number")
}

/// Writes the output of `events` to a file.
fn written(path: &str, format: &str, args: &[&str]) -> String {
    let output =
        command(&[&["events", path, "--quiet", "--format", format], args].concat()).output();
    file(&format!("events.{format}"), &output.expect("the binary starts").stdout)
}

#[test]
fn python_reads_a_nul_within_a_text() {
    // Python's csv module takes NUL since 3.11, its json module in all versions.
    let kinds = fields(&[("s", FieldType::Char.array())]);
    let path = trace(Version::V6, kinds, vec![vec![Value::utf16_array("a\0b")]]);
    let ndjson = std::fs::read_to_string(written(&path, "ndjson", &[])).unwrap();
    assert!(ndjson.ends_with("{\"s\":\"a\\u0000b\"}}\n"), "{ndjson}");
    let csv = std::fs::read_to_string(written(&path, "csv", &["--event", "E"])).unwrap();
    assert!(csv.ends_with(",a\0b,,,\r\n"), "{csv:?}");
}

mod with_python {
    use super::*;

    #[test]
    #[ignore = "needs python3"]
    fn python_reads_hostile_texts_as_they_went_in() {
        let texts = [
            "",
            "plain",
            " spaces ",
            "a,b",
            "\"",
            "\"\"",
            "a\"b\"c",
            "\\",
            "\\\"",
            "two\nlines",
            "\r",
            "\r\n",
            "\n\n",
            "\t",
            "日本語",
            "🚀🎉",
            "مرحبا",
            "e\u{301}",
            "\u{feff}bom",
            "\u{2028}\u{2029}\u{85}",
            "\u{1}\u{8}\u{1b}\u{7f}",
            "{\"a\":1}",
            "NaN",
            "null",
            "=1+1",
            "\u{ffff}\u{fdd0}",
            "',;|",
            "\u{10ffff}",
        ];
        let mut payloads: Vec<(Vec<Value>, String)> = texts
            .iter()
            .map(|text| (vec![Value::Text((*text).into())], (*text).to_owned()))
            .collect();
        payloads.push((vec![Value::Units(vec![0xd800, 0])], "\u{fffd}".into()));
        payloads.push((
            vec![Value::Units(vec![0x61, 0xdc00, 0xd800, 0x62, 0])],
            "a\u{fffd}\u{fffd}b".into(),
        ));
        let long: String = "ab\"c,λ🎉\n".repeat(3000);
        payloads.push((vec![Value::Text(long.clone())], long));
        for version in [Version::V4, Version::V5, Version::V6] {
            let of_each = payloads.iter().map(|(values, _)| values.clone()).collect();
            let path = trace(version, fields(&[("a \"text\", with λ", FieldType::Text)]), of_each);
            let expected: Vec<_> =
                payloads.iter().map(|(_, text)| json!({ "a \"text\", with λ": text })).collect();
            let expected =
                file("expected.json", serde_json::to_string(&expected).unwrap().as_bytes());
            let (ndjson, csv) =
                (written(&path, "ndjson", &[]), written(&path, "csv", &["--event", "E"]));
            let read = python(&["texts", &ndjson, &csv, &expected]);
            assert_eq!(read, payloads.len() as u64);
        }
    }

    #[test]
    #[ignore = "needs python3"]
    fn python_reads_the_same_events_from_both_forms_of_real_traces() {
        let mut events = 0;
        for trace in corpus::traces() {
            // The largest traces take long in a build without optimisation and show nothing new.
            if std::fs::metadata(trace.path()).expect("it is there").len() > 600_000 {
                continue;
            }
            let path = trace.path().display().to_string();
            let read =
                python(&["same", &written(&path, "ndjson", &[]), &written(&path, "csv", &[])]);
            events += read;
        }
        assert!(events > 20_000, "{events}");
    }
}
