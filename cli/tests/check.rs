//! `nettrace check` reports findings in text and JSON, and by its exit code.

use crate::common;

use common::{nettrace, nettrace_with_input, run};
use nettrace_testdata::synth;

#[test]
fn a_clean_trace_ends_with_0_even_if_notes_are_asked_for() {
    let ran = run("check testdata/traces/net10-linux-x64/all.nettrace.gz --strict --json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["schema"], 1);
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["counts"], serde_json::json!({}));
}

#[test]
fn notes_alone_end_with_0_and_with_4_when_asked_to_be_strict() {
    for (args, code) in [(&["check", "-"][..], 0), (&["check", "-", "--strict"], 4)] {
        let ran = nettrace_with_input(args, &synth::tiny_v6().bytes);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert!(ran.text().contains("events_lost"), "{}", ran.text());
    }
}

#[test]
fn damage_ends_with_3_and_is_listed_with_offset_block_and_section() {
    let mut bytes = synth::tiny_v4().bytes;
    bytes.truncate(500);
    let ran = nettrace_with_input(&["check", "-", "--json"], &bytes);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let report = ran.json();
    let damage =
        report["findings"].as_array().expect("a list").iter().find(|it| it["severity"] == "damage");
    let damage = damage.expect("the cut is found");
    for key in ["kind", "severity", "offset", "block", "section", "message"] {
        assert!(damage.get(key).is_some(), "{key} is missing in {damage}");
    }
    assert!(damage["offset"].as_u64().is_some_and(|offset| offset <= 500));
    let ran = nettrace_with_input(&["check", "-", "--strict"], &bytes);
    assert_eq!(ran.code, Some(3));
}

#[test]
fn what_is_no_trace_ends_with_1_and_an_empty_stdout() {
    let ran = nettrace_with_input(&["check", "-", "--json"], b"PK\x03\x04 and more of an archive");
    assert_eq!((ran.code, ran.stdout.len()), (Some(1), 0));
    ran.assert_message("zip");
}

#[test]
fn findings_that_are_not_shown_are_counted() {
    let trace = "testdata/traces/net3.1-linux-x64/lossy.nettrace.gz";
    let count = nettrace(&["check", trace, "--json"]).json()["counts"]["events_lost"].as_u64();
    let more = count.expect("numbers are missing") - 5;
    assert!(more > 64 - 5, "more than are kept");
    let ran = nettrace(&["check", trace]);
    assert!(
        ran.text().contains(&format!("    and {more} more; --json lists up to 64")),
        "{}",
        ran.text()
    );
}

#[test]
fn the_parser_serialises_a_violation_as_a_row_of_the_findings() {
    let mut bytes = synth::tiny_v4().bytes;
    bytes.truncate(500);
    let mut reader = nettrace_parser::Reader::from_slice(&bytes);
    let findings = nettrace_parser::check::Findings::read(&mut reader).unwrap();
    assert!(findings.is_damaged());
    let serialised = serde_json::to_value(findings.violations()).unwrap();
    let report = nettrace_with_input(&["check", "-", "--json"], &bytes).json();
    assert_eq!(serialised, report["findings"]);
}
