//! `nettrace diff`: rows, conditions with their exit code, and the page.

use crate::common;
use crate::common::Json;
use crate::page::in_browser;

use common::{file, nettrace, run};
use serde_json::{Value, json};

const OLD: &str = "testdata/traces/net10-linux-x64/startup.nettrace.gz";
const NEW: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    let ran = nettrace(&["diff", NEW, NEW]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text().contains("OLD and NEW are the same trace"), "{}", ran.text());
    let report = nettrace(&["diff", NEW, NEW, "--json"]).json();
    assert_eq!((&report["significant"], &report["not_compared"]), (&json!(0), &json!([])));
    for row in report["rows"].list() {
        assert_eq!(row["old"], row["new"], "{row}");
    }
}

#[test]
fn values_are_those_of_the_reports_divided_by_the_time() {
    let report = nettrace(&["diff", NEW, NEW, "--per", "second", "--json"]).json();
    let row = |subject: &str, name: &str| {
        let rows = report["rows"].list();
        let row = rows.iter().find(|row| row["subject"] == subject && row["name"] == name);
        number(&row.unwrap_or_else(|| panic!("{subject} {name}"))["old"])
    };
    let seconds = number(&report["old"]["duration_ns"]) / 1e9;
    let near = |value: f64, wanted: f64| {
        assert!((value - wanted).abs() <= wanted * 1e-9, "{value} {wanted}")
    };
    let top = nettrace(&["report", "topN", NEW, "--json"]).json();
    near(row("cpu", "") * seconds, number(&top["total_ns"]));
    let first = &top["methods"][0];
    near(row("method", first["name"].text()) * seconds, number(&first["self_ns"]));
    let gc = nettrace(&["report", "gc", NEW, "--json"]).json();
    near(row("gc_pause", "") * seconds, number(&gc["totals"]["pause_ns"]));
    near(row("gc_pause", "p99"), number(&gc["totals"]["p99_pause_ns"]));
    near(row("gc_count", "") * seconds, number(&gc["totals"]["count"]));
    let exceptions = nettrace(&["report", "exceptions", NEW, "--json"]).json();
    near(row("exceptions", "") * seconds, number(&exceptions["count"]));
}

#[test]
fn a_condition_that_holds_is_reported_and_ends_with_exit_code_5() {
    let ran = nettrace(&["gate", NEW, NEW, "--fail-if", "gc.pause.p99>1us", "--fail-if", "cpu>5%"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    ran.assert_message("gc.pause.p99>1us holds: pause of a collection, p99");
    assert!(!ran.stderr.contains("cpu>5% holds"), "{}", ran.stderr);
    let ran = nettrace(&["diff", NEW, NEW, "--fail-if", "gc.pause.p99>1s", "--json"]);
    assert_eq!((ran.code, &ran.json()["conditions"][0]["holds"]), (Some(0), &json!(false)));
    let ran = nettrace(&["diff", NEW, NEW, "--fail-if", "cpus>5%"]);
    assert_eq!(ran.code, Some(2));
    ran.assert_message("cpus is none of cpu, method(NAME)");
}

#[test]
fn a_condition_that_the_traces_cannot_show_fails_unless_that_is_allowed() {
    const SAMPLES: &str = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
    const COUNTERS: &str = "testdata/traces/net10-linux-x64/metrics-with-csv.nettrace.gz";
    // A side without samples fails any condition, because its recording went wrong.
    let blind = nettrace(&["gate", NEW, COUNTERS, "--fail-if", "counter(*)>900000%"]);
    assert_eq!(blind.code, Some(5), "{blind:?}");
    blind.assert_message("cannot rely on this comparison: CPU samples: only in OLD");
    for (new, undecided) in [
        (
            NEW,
            &[
                ("cpu>5%", "one run on a side does not show how much runs differ"),
                ("type(No.Such)>5%", "neither side has data for it"),
            ][..],
        ),
        (SAMPLES, &[("gc.count>5%", "collections: only in OLD")]),
        (COUNTERS, &[("cpu>5%", "CPU samples: only in OLD")]),
    ] {
        let mut words = vec!["gate", NEW, new];
        words.extend(undecided.iter().flat_map(|(condition, _)| ["--fail-if", condition]));
        let ran = nettrace(&words);
        assert_eq!(ran.code, Some(5), "{words:?}: {ran:?}");
        for (condition, reason) in undecided {
            ran.assert_message(&format!("{condition} cannot be decided: {reason}"));
        }
        words.push("--allow-missing");
        let allowed = nettrace(&words);
        assert_eq!(allowed.code, Some(0), "{words:?}: {allowed:?}");
    }
}

#[test]
fn facts_stand_beside_their_sentences() {
    const COUNTERS: &str = "testdata/traces/net10-linux-x64/metrics-with-csv.nettrace.gz";
    let ran = nettrace(&["diff", "--json", NEW, COUNTERS, "--fail-if", "cpu>5%"]);
    let report = ran.json();
    let samples = json!({ "subject": "cpu", "side": "new", "reason": "not_recorded", "rows": 1 });
    assert_eq!(report["not_compared"][0], "CPU samples: only in OLD");
    assert_eq!(report["not_compared_facts"][0], samples);
    assert_eq!(report["not_compared"].list().len(), report["not_compared_facts"].list().len());
    let condition = &report["conditions"][0];
    assert_eq!(condition["undecided"], "CPU samples: only in OLD");
    let mut undecided = samples;
    undecided["kind"] = json!("not_compared");
    assert_eq!(condition["undecided_facts"], undecided);
    let parts = "the traces are parts of a run: no end of the process is in them";
    assert_eq!(
        (&report["per_reason"], &report["per_reason_kind"]),
        (&json!(parts), &json!("parts_of_run"))
    );
    assert_eq!(report["verdict_facts"]["kind"], "nothing_large");
    let row = &report["rows"][0];
    assert_eq!((&row["subject"], &row["measure"]), (&json!("counter"), &json!("value")));
    assert_eq!(row["doubt"], "fewer than 5 values are no sample");
    assert_eq!(row["doubt_facts"], json!({ "kind": "few_values", "min_values": 5 }));
}

/// Returns the traces of three runs of a variant; `testdata/ab` describes the program.
fn runs(variant: &str) -> Vec<String> {
    (1..=3).map(|run| format!("testdata/ab/{variant}{run}.nettrace.gz")).collect()
}

#[test]
fn markdown_and_junit_have_the_verdict_the_findings_and_the_conditions() {
    let (old, new) = (runs("base"), runs("alloc1.5-"));
    let ran = |format: &str| {
        let mut words = vec!["gate", "--old"];
        words.extend(old.iter().map(String::as_str));
        words.push("--new");
        words.extend(new.iter().map(String::as_str));
        words.extend(["--format", format, "--fail-if", "gc.count>5%", "--fail-if", "cpu>90%"]);
        nettrace(&words)
    };
    let markdown = ran("markdown");
    assert_eq!(markdown.code, Some(5), "{markdown:?}");
    for line in [
        "**collections: +45.2 %",
        "| **!** | 31.00 | 45.00 | +45.2 % | +45 to +45 % | collections |",
        "- `gc.count>5%`: holds",
        "- `cpu>90%`: does not hold",
    ] {
        assert!(markdown.text().contains(line), "{line}: {}", markdown.text());
    }
    let junit = ran("junit");
    for line in [
        "<testsuite name=\"nettrace diff\" tests=\"2\" failures=\"1\" errors=\"0\">",
        "<testcase name=\"gc.count&gt;5%\" classname=\"nettrace\"><failure message=\"collections: 31.00 to 45.00 (+45.2 %)\">",
        "<testcase name=\"cpu&gt;90%\" classname=\"nettrace\"/>",
    ] {
        assert!(junit.text().contains(line), "{line}: {}", junit.text());
    }
}

#[test]
fn parts_of_a_trace_are_compared_by_their_times() {
    let parts = [format!("{NEW}@0s..2s"), format!("{NEW}@2s..4s")];
    let report = nettrace(&["diff", &parts[0], &parts[1], "--json", "-q"]).json();
    for (side, traces) in ["old", "new"].into_iter().zip(["old_traces", "new_traces"]) {
        assert!(number(&report[side]["duration_ns"]) <= 2e9, "{}", report[side]);
        assert!(report[traces][0]["file"].text().contains('@'), "{}", report[traces]);
    }
}

#[test]
fn folders_are_compared_file_by_file() {
    let folder = |name: &str, variant: &str| {
        let folder =
            std::env::temp_dir().join(format!("nettrace-diff-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for run in 1..=2 {
            let from = common::top().join(format!("testdata/ab/{variant}{run}.nettrace.gz"));
            std::fs::copy(from, folder.join(format!("run{run}.nettrace.gz"))).unwrap();
        }
        folder
    };
    let (old, new) = (folder("old", "base"), folder("new", "alloc1.5-"));
    std::fs::remove_file(new.join("run2.nettrace.gz")).unwrap();
    let words = ["diff", old.to_str().unwrap(), new.to_str().unwrap(), "--json"];
    let ran = nettrace(&words);
    let report = ran.json();
    assert_eq!(report["pairs"][0]["name"], "run1");
    assert_eq!(report["pairs"].list().len(), 1);
    assert_eq!(report["not_compared"], json!(["run2: only in OLD"]));
    assert_eq!(report["not_compared_facts"], json!([{ "name": "run2", "side": "new" }]));
    ran.assert_message("run2: only in OLD");
    for folder in [old, new] {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn an_amount_in_a_condition_is_converted_to_the_unit_of_its_counter() {
    let trace = "testdata/traces/net3.1-linux-x64/all.nettrace.gz";
    let ran = |condition: &str| nettrace(&["gate", trace, trace, "--fail-if", condition]);
    // The counter is about 118 MB, and published in MB.
    for condition in ["counter(*working-set)>100MB", "counter(*working-set)>0.1GB"] {
        assert_eq!(ran(condition).code, Some(5), "{condition}");
    }
    let below = ran("counter(*working-set)>200MB");
    assert_eq!(below.code, Some(0), "{below:?}");
    let time = ran("counter(*working-set)>5ms");
    assert_eq!(time.code, Some(0), "{time:?}");
    let expected = "System.Runtime/working-set is in MB, with which the limit cannot be compared";
    time.assert_message(expected);
    let wrong = ran("alloc>5ms");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    wrong.assert_message("alloc is a size, such as 1MB");
}

#[test]
fn sides_are_two_files_or_two_groups() {
    let ran = nettrace(&["diff", "--old", OLD, OLD, "--new", NEW, "--json", "-q"]);
    let report = ran.json();
    assert_eq!((&report["old"]["traces"], &report["new"]["traces"]), (&json!(2), &json!(1)));
    for wrong in
        [&["diff", OLD][..], &["diff"], &["diff", "--old", OLD], &["diff", OLD, NEW, "--old", OLD]]
    {
        assert_eq!(nettrace(wrong).code, Some(2), "{wrong:?}");
    }
    let ran = run(&format!(
        "diff testdata/traces/net10-linux-x64/samples-only.nettrace.gz {NEW} --per request"
    ));
    assert_eq!(ran.code, Some(1));
    ran.assert_message("has no requests");
}

#[test]
fn all_rows_are_listed_with_whole_names_where_they_do_not_go_to_a_terminal() {
    let ran = nettrace(&["diff", OLD, NEW, "--all", "-n", "200"]);
    assert!(ran.text().lines().count() > 50, "{}", ran.text());
    assert!(ran.text().contains("workload!Workload.Program.Main(string[])"), "{}", ran.text());
}

mod with_node {
    use super::*;

    #[test]
    #[ignore = "needs node"]
    fn the_page_of_a_comparison_shows_its_rows_without_errors() {
        let path = file("diff.html", b"");
        let ran = nettrace(&["diff", OLD, NEW, "-o", &path, "--force", "-q"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let report = nettrace(&["diff", OLD, NEW, "--json", "-q"]).json();
        let seen = in_browser("diff_page.cjs", &[&path]);
        for list in ["errors", "requests", "wide", "axe"] {
            assert_eq!(seen[list], json!([]), "{list}");
        }
        assert_eq!(number(&seen["significant"]), number(&report["significant"]));
        for (row, shown) in report["rows"].list().iter().zip(seen["rows"].list()) {
            assert_eq!(
                (number(&row["old"]), number(&row["new"])),
                (number(&shown[1]), number(&shown[2])),
                "{row}"
            );
        }
        assert!(number(&seen["rectangles"]) > 20.0, "{}", seen["rectangles"]);
        assert!(seen["chosen"].text().contains("before"), "{}", seen["chosen"]);
        assert_ne!(seen["root"], "0", "Enter zooms");
    }
}
