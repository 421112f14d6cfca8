//! Asserts that every JSON document about a trace has the outcome of reading the trace, the same as
//! the one of `info`.

use crate::common;

use common::{file, gzip, nettrace};
use serde_json::Value;
use std::io::Read;

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const LOSSY: &str = "testdata/traces/net3.1-linux-x64/lossy.nettrace.gz";
const CUT: usize = 3_000_000;

/// Returns the names of all reports in `--help` except for the page, which has the numbers of the
/// other reports.
fn reports() -> Vec<String> {
    let help = nettrace(&["report", "--help"]);
    let lines = help.text().lines().skip_while(|line| *line != "Reports:").skip(1);
    let names =
        lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names: Vec<String> = names.map(str::to_owned).filter(|name| name != "html").collect();
    assert!(names.len() >= 19 && names.contains(&"gc".to_owned()), "{names:?}");
    names
}

fn unpacked() -> Vec<u8> {
    let packed = std::fs::read(common::top().join(ALL)).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the values of `info` under the keys of an `outcome`.
fn of_info(file: &str) -> Value {
    let info = nettrace(&["info", file, "--json"]).json();
    let keys = [
        "complete",
        "end_offset",
        "missing_bytes",
        "lost",
        "losses_known",
        "lost_threads",
        "damage_count",
        "damage_bytes",
        "damage",
    ];
    keys.iter()
        // A document has the number of missing bytes only if the number is known.
        .filter_map(|key| Some(((*key).to_owned(), info.get(key)?.clone())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Returns every document about a trace, with the command that writes the document and the
/// command's exit code.
fn documents(file: &str) -> Vec<(String, Option<i32>, Value)> {
    let reports = reports();
    let of_reports = reports.iter().map(|name| vec!["report", name, file, "--json"]);
    let others =
        [vec!["stats", file, "--json"], vec!["schema", file, "--json"], vec![file, "--json"]];
    let formats = [vec!["report", "counters", file, "--format", "json"]];
    let all = of_reports.chain(others).chain(formats);
    all.map(|words| {
        let ran = nettrace(&words);
        (words.join(" "), ran.code, ran.json())
    })
    .collect()
}

#[test]
fn a_trace_cut_at_3_mb_is_not_complete_in_the_json_of_each_report() {
    let cut = file("cut-at-3-mb.nettrace", unpacked().get(..CUT).unwrap());
    let expected = of_info(&cut);
    assert_eq!((&expected["complete"], &expected["end_offset"]), (&false.into(), &CUT.into()));
    assert!(expected["damage_count"].as_u64() > Some(0));
    for (command, code, document) in documents(&cut) {
        assert_eq!(document["outcome"], expected, "{command}");
        assert_eq!(code, Some(3), "{command}");
    }
}

#[test]
fn a_cut_trace_says_how_much_is_missing_at_least() {
    let whole = unpacked();
    // The block that is cut here ends where the uncut stream has another one.
    let path = file("cut-missing.nettrace", &whole[..CUT]);
    let ran = nettrace(&["report", "gc", &path, "--json"]);
    let missing = ran.json()["outcome"]["missing_bytes"].as_u64().unwrap();
    assert!(missing > 0);
    let end = CUT + usize::try_from(missing).unwrap();
    let path = file("cut-after.nettrace", &whole[..end]);
    let after = nettrace(&["report", "gc", &path, "--json"]);
    assert_eq!(after.json()["outcome"].get("missing_bytes"), None, "the block is whole");
    assert!(ran.stderr.contains("KiB too early"), "{}", ran.stderr);
    assert!(!after.stderr.contains("too early"), "{}", after.stderr);
}

#[test]
fn a_good_sign_is_the_last_finding_and_none_where_events_are_damaged_or_lost() {
    let signs = |path: &str| -> Vec<bool> {
        let summary = nettrace(&["report", "summary", path, "--json"]).json();
        let findings = summary["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["severity"] == "good").collect()
    };
    let whole = signs(ALL);
    assert_eq!(whole.iter().position(|is_good| *is_good), Some(whole.len() - 1));
    let mut bytes = unpacked();
    bytes[CUT..CUT + 5_000].fill(0xff);
    for path in [&*file("damaged-signs.nettrace", &bytes), LOSSY] {
        let signs = signs(path);
        assert!(!signs.is_empty() && !signs.contains(&true), "{path}");
    }
}

#[test]
fn a_whole_trace_is_complete_in_the_json_of_each_report() {
    for (command, code, document) in documents(ALL) {
        let outcome = &document["outcome"];
        assert_eq!(
            (&outcome["complete"], &outcome["lost"]),
            (&true.into(), &0.into()),
            "{command}"
        );
        assert_eq!((&outcome["damage_count"], code), (&0.into(), Some(0)), "{command}");
    }
}

#[test]
fn what_was_dropped_is_in_the_json_of_each_report() {
    let expected = of_info(LOSSY);
    assert!(expected["lost"].as_u64() > Some(0));
    for report in reports() {
        let document = nettrace(&["report", &report, LOSSY, "--json"]).json();
        assert_eq!(document["outcome"], expected, "{report}");
    }
}

#[test]
fn a_packed_file_that_is_cut_counts_as_damage_in_reports_as_in_info() {
    let packed = gzip(&unpacked());
    let cut = file("cut.nettrace.gz", packed.get(..packed.len() / 2).unwrap());
    let expected = of_info(&cut);
    assert_eq!(expected["damage"][0]["context"], "compressed file");
    let document = nettrace(&["report", "gc", &cut, "--json"]).json();
    assert_eq!(document["outcome"], expected);
}

#[test]
fn one_thread_and_several_say_the_same() {
    let cut = file("cut-for-threads.nettrace", unpacked().get(..CUT).unwrap());
    let of = |threads| nettrace(&["info", &cut, "--json", "--threads", threads]).json();
    assert_eq!(of("1"), of("2"));
    assert_eq!(of("2")["complete"], false);
}

// A program that uses the parser with its feature `serde` gets these documents.
#[test]
fn the_parser_serialises_an_outcome_with_the_keys_and_values_of_the_documents() {
    let cut = unpacked()[..CUT].to_vec();
    let lossy = nettrace_testdata::synth::tiny_v4().bytes;
    for bytes in [cut, lossy] {
        let mut reader = nettrace_parser::Reader::from_slice(&bytes);
        while reader.next_event().unwrap().is_some() {}
        let serialised = serde_json::to_value(reader.outcome()).unwrap();
        let analysed = nettrace_analysis::report::OutcomeReport::from_outcome(&reader.outcome());
        assert_eq!(serialised, serde_json::to_value(analysed).unwrap());
        assert!(serialised["lost"] != 0 || serialised["damage_count"] != 0, "{serialised}");
    }
}
