//! Compares the output of every command word for word. `UPDATE_EXPECT=1 cargo test -p nettrace-cli
//! --test pages` writes the current outputs as the expected ones.
#![allow(clippy::restriction, clippy::pedantic)]

mod common;

use common::{expect, nettrace, transcript};
use nettrace_testdata::corpus::{TraceFile, known_of_repository, of_repository, of_shared};

fn assert_page(name: &str, args: &[&str]) {
    expect(name, &transcript(args, &nettrace(args)));
}

#[test]
fn help_of_every_command_is_as_expected() {
    assert_page("help.txt", &["--help"]);
    assert_page("help-short.txt", &["-h"]);
    for report in ["gc", "topN", "modules", "counters", "html"] {
        assert_page(&format!("help-report-{report}.txt"), &["report", report, "--help"]);
    }
    for command in [
        "info",
        "stats",
        "events",
        "schema",
        "check",
        "report",
        "convert",
        "heap",
        "open",
        "diff",
        "export",
        "completions",
        "man",
    ] {
        assert_page(&format!("help-{command}.txt"), &[command, "--help"]);
    }
    assert_page("help-export-parquet.txt", &["export", "parquet", "--help"]);
}

#[test]
fn the_version_lists_the_formats_that_are_read() {
    for flag in ["-V", "--version"] {
        let ran = nettrace(&[flag]);
        let expected = format!(
            "nettrace {} (reads nettrace 3 (NetPerf), 4, 5, 6)\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!((ran.text(), ran.code), (expected.as_str(), Some(0)));
    }
}

#[test]
fn wrong_usage_is_explained_as_expected() {
    assert_page("usage-none.txt", &[]);
    assert_page("usage-flag.txt", &["info", "trace.nettrace", "--jsno"]);
    assert_page("usage-time.txt", &["events", "trace.nettrace", "--time", "3s"]);
    assert_page("usage-command.txt", &["stat", "trace.nettrace"]);
    assert_page("usage-man.txt", &["man", "evnts"]);
}

const TINY_V4: &str = "testdata/traces/tiny-v4.nettrace.gz";
const TINY_V6: &str = "testdata/traces/tiny-v6.nettrace.gz";
const NETPERF: &str = "testdata/traces/net3.1-linux-x64/all.netperf.gz";
const ALL_31: &str = "testdata/traces/net3.1-linux-x64/all.nettrace.gz";
const KILLED: &str = "testdata/traces/net3.1-linux-x64/killed-1.nettrace.gz";
const LOSSY: &str = "testdata/traces/net3.1-linux-x64/lossy.nettrace.gz";
const STARTUP: &str = "testdata/traces/net10-linux-x64/startup.nettrace.gz";
const HEAP: &str = "testdata/traces/net3.1-linux-x64/heap.nettrace.gz";
const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const METRICS: &str = "testdata/traces/net10-linux-x64/metrics.nettrace.gz";
const WAITS: &str = "testdata/traces/net10-linux-x64/waits.nettrace.gz";
/// Server GC that goes from one heap to two.
const SERVER_GC: &str = "testdata/known/GcShow-srv1-1.nettrace.gz";
const SAMPLES: &str = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
const ONE_COLLECT: &str = "testdata/traces/one-collect-v6/cpu-and-switches.nettrace.gz";

#[test]
fn a_heap_is_found_among_the_reports_too() {
    let (direct, report) = (nettrace(&["heap", HEAP]), nettrace(&["report", "heap", HEAP]));
    assert_eq!((report.text(), report.code), (direct.text(), Some(0)));
}

#[test]
fn heaps_are_as_expected() {
    assert_page("heap-types.txt", &["heap", HEAP, "-n", "12"]);
    assert_page(
        "heap-retained.txt",
        &["heap", HEAP, "-n", "5", "--sort", "retained", "--type", "<"],
    );
    assert_page("heap-modules.txt", &["heap", HEAP, "--by", "modules"]);
    assert_page("heap-roots.txt", &["heap", HEAP, "--by", "roots", "--top", "8"]);
    assert_page("heap-generations.txt", &["heap", HEAP, "--by", "generations"]);
    assert_page("heap-paths.txt", &["heap", "paths", HEAP, "--type", "^System.Char", "-n", "3"]);
    assert_page(
        "heap-objects.txt",
        &["heap", "objects", HEAP, "--type", "Dictionary", "--sort", "retained"],
    );
    assert_page("heap-tree.txt", &["heap", "tree", HEAP, "--min", "0.5"]);
    assert_page("heap-tree-folded.txt", &["heap", "tree", HEAP, "--folded"]);
    assert_page("heap-diff.txt", &["heap", "diff", HEAP, &format!("{HEAP}#1"), "-n", "3"]);
    for question in ["paths", "diff"] {
        assert_page(&format!("help-heap-{question}.txt"), &["heap", question, "--help"]);
    }
    assert_page("heap-none.txt", &["heap", TINY_V4]);
    assert_page("heap-other-dump.txt", &["heap", &format!("{HEAP}#2")]);
}

#[test]
fn reports_are_as_expected() {
    assert_page("report-topn.txt", &["report", "topN", SAMPLES]);
    assert_page(
        "report-topn-by-thread.txt",
        &["report", ALL, "topn", "-n", "3", "--by-thread", "--thread", "17178"],
    );
    assert_page(
        "report-topn-type.txt",
        &["report", "topN", ALL, "-n", "5", "--by", "type", "--state", "managed"],
    );
    assert_page(
        "report-topn-when.txt",
        &["report", "topN", ALL, "--when", "-n", "8", "--names", "full"],
    );
    assert_page("report-tree.txt", &["report", "tree", SAMPLES]);
    let method = ["report", "tree", SAMPLES, "--method", "Program.(Outer|Fib)"];
    assert_page("report-tree-method.txt", &method);
    assert_page("report-tree-method.json.txt", &[&method[..], &["--json"]].concat());
    let none = ["report", "tree", SAMPLES, "--method", "no such method"];
    assert_page("report-tree-method-none.txt", &none);
    assert_page(
        "report-callers.txt",
        &[
            "report",
            "tree",
            SAMPLES,
            "--from",
            "PollGC$",
            "--names",
            "full",
            "--callers",
            "--min",
            "0",
        ],
    );
    assert_page("report-threads.txt", &["report", "threads", SAMPLES]);
    assert_page("report-modules.txt", &["report", "modules", SAMPLES]);
    assert_page("report-one-collect.txt", &["report", "topN", ONE_COLLECT, "-n", "8"]);
    assert_page("report-killed.txt", &["report", "topN", KILLED, "-n", "3"]);
    assert_page("report-none.txt", &["report", "topN", TINY_V4]);
    assert_page("report-unknown.txt", &["report", "topM", TINY_V4]);
    assert_page("report-other-flag.txt", &["report", "gc", TINY_V4, "--callers"]);
}

#[test]
fn reports_of_what_happened_are_as_expected() {
    for report in ["exceptions", "contention", "tasks", "activities", "http"] {
        assert_page(&format!("report-{report}.txt"), &["report", report, ALL, "-n", "5"]);
    }
    for report in ["summary", "logs"] {
        assert_page(&format!("report-{report}.txt"), &["report", report, ALL]);
    }
    assert_page("report-waits.txt", &["report", "waits", WAITS, "-n", "5"]);
    assert_page("report-activities-tree.txt", &["report", "activities", METRICS, "-n", "3"]);
    assert_page("report-activities-id.txt", &["report", "activities", ALL, "--id", "/#17178/1/16"]);
    assert_page("report-exceptions-none.txt", &["report", "exceptions", ALL_31]);
    assert_page(
        "report-exceptions-time.txt",
        &["report", "exceptions", ALL, "--time", "1s..1.1s", "-n", "1"],
    );
    assert_page("report-counters.txt", &["report", "counters", METRICS]);
    for format in ["csv", "ndjson", "openmetrics"] {
        let args = ["report", "counters", METRICS, "--format", format, "--time", "..1.1s"];
        assert_page(&format!("report-counters-{format}.txt"), &args);
    }
}

#[test]
fn a_trace_without_a_command_is_summed_up() {
    assert_page("summary.txt", &[ALL]);
    assert_page("summary-lossy.txt", &[LOSSY]);
    assert_page("summary-killed.json.txt", &[KILLED, "--json"]);
    // A word that is no file is still taken as a command that does not exist.
    assert_eq!(nettrace(&["no-such-trace"]).code, Some(2));
    assert_eq!(nettrace(&[ALL]).text(), nettrace(&["report", "summary", ALL]).text());
}

#[test]
fn reports_of_the_runtimes_doings_are_as_expected() {
    assert_page("report-gc.txt", &["report", "gc", ALL, "--top", "5"]);
    assert_page("report-gc-decisions.txt", &["report", "gc", SERVER_GC, "--top", "3"]);
    assert_page("report-gc-timeline.txt", &["report", STARTUP, "gc", "--timeline", "--top", "3"]);
    assert_page("report-gc.json.txt", &["report", "gc", STARTUP, "--time", "..200ms", "--json"]);
    assert_page("report-gc-none.txt", &["report", "gc", SAMPLES]);
    assert_page("report-gc-none.json.txt", &["report", "gc", SAMPLES, "--json"]);
    assert_page("report-alloc.txt", &["report", "alloc", HEAP, "--top", "8"]);
    assert_page("report-types.txt", &["report", "types", HEAP, "--time", "1s..", "--top", "3"]);
    assert_page("report-jit.txt", &["report", "jit", ALL_31, "--top", "8"]);
    assert_page(
        "report-jit-before.txt",
        &["report", "jit", ALL_31, "--before", "50ms", "--top", "30"],
    );
    assert_page("report-jit.json.txt", &["report", "jit", ALL_31, "--time", "3ms..30ms", "--json"]);
    assert_page("report-loader.txt", &["report", "loader", STARTUP, "--top", "8"]);
    let until = ["report", "startup", STARTUP, "--until", "Program.Main", "--top", "3"];
    assert_page("report-startup-until.txt", &until);
    let never = ["report", "startup", STARTUP, "--until", "no such method", "--top", "1"];
    assert_page("report-startup-until-never.txt", &never);
    assert_page("report-threadpool.txt", &["report", "threadpool", STARTUP]);
    assert_page("report-threadpool-lossy.txt", &["report", "threadpool", LOSSY, "--top", "4"]);
}

#[test]
fn formats_are_as_expected() {
    assert_page("convert-list.txt", &["convert", "--format", "list"]);
    assert_page("convert-no-trace.txt", &["convert", "--format", "folded"]);
    assert_page(
        "convert-folded.txt",
        &["convert", SAMPLES, "--format", "folded", "-o", "-", "--unit", "samples"],
    );
    assert_page("convert-unknown.txt", &["convert", SAMPLES, "--format", "pproff"]);
    assert_page("convert-none.txt", &["convert", TINY_V4, "--format", "folded", "-o", "-"]);
}

#[test]
fn info_is_as_expected() {
    for (name, trace) in [
        ("tiny-v4", TINY_V4),
        ("tiny-v6", TINY_V6),
        ("netperf", NETPERF),
        ("killed", KILLED),
        ("lossy", LOSSY),
        ("all", ALL),
        ("one-collect", ONE_COLLECT),
    ] {
        assert_page(&format!("info-{name}.txt"), &["info", trace]);
        assert_page(&format!("info-{name}.json.txt"), &["info", trace, "--json"]);
    }
}

#[test]
fn the_screen_in_the_readme_is_what_its_command_prints() {
    let readme =
        std::fs::read_to_string(common::top().join("README.md")).unwrap().replace("\r\n", "\n");
    assert!(readme.contains(&format!("cargo run --release -- {ALL}\ncargo test --workspace\n")));
    let screen = nettrace(&[ALL]);
    assert!(
        readme.contains(&format!("```text\n{}```", screen.text())),
        "now it is:\n{}",
        screen.text()
    );
}

#[test]
fn stats_are_as_expected() {
    assert_page("stats-tiny-v4.txt", &["stats", TINY_V4]);
    assert_page("stats-tiny-v4.json.txt", &["stats", TINY_V4, "--json"]);
    assert_page("stats-tiny-v6-utc.txt", &["stats", TINY_V6, "--utc"]);
    assert_page("stats-samples.txt", &["stats", SAMPLES, "--sort", "bytes"]);
    assert_page("stats-all.txt", &["stats", ALL]);
}

#[test]
fn events_are_as_expected() {
    assert_page("events-tiny-v4.txt", &["events", TINY_V4]);
    assert_page("events-tiny-v4-file.txt", &["events", TINY_V4, "--order", "file", "--utc"]);
    assert_page("events-tiny-v6-full.txt", &["events", TINY_V6, "--stacks", "--raw"]);
    assert_page("events-tiny-v4-ndjson.txt", &["events", TINY_V4, "--format", "ndjson"]);
    assert_page(
        "events-tiny-v6-ndjson.txt",
        &["events", TINY_V6, "--format", "ndjson", "--stacks", "--raw"],
    );
    assert_page("events-all.txt", &["events", ALL, "--provider", "nettrace-*", "--limit", "30"]);
    assert_page("events-samples.txt", &["events", SAMPLES, "--limit", "30"]);
}

#[test]
fn schemas_are_as_expected() {
    assert_page("schema-tiny-v4.txt", &["schema", TINY_V4]);
    assert_page("schema-tiny-v4.json.txt", &["schema", TINY_V4, "--json"]);
    assert_page("schema-tiny-v6.txt", &["schema", TINY_V6]);
    assert_page("schema-one-collect.txt", &["schema", ONE_COLLECT]);
    assert_page("schema-workload.txt", &["schema", ALL_31, "--provider", "nettrace-*"]);
    assert_page(
        "schema-native.txt",
        &["schema", ALL_31, "--event", "MethodDCEndVerbose_*", "--event", "*/Thread/Sample"],
    );
    assert_page(
        "schema-native.json.txt",
        &["schema", ALL_31, "--event", "*/Thread/Sample", "--json"],
    );
    assert_page("schema-none.txt", &["schema", TINY_V4, "--event", "Hi2"]);
}

/// Compares the output of `nettrace FILE` for every trace of the repository. In a changed output,
/// no wait, no idle thread and no frame of the runtime itself may be a finding.
#[test]
fn first_pages_of_all_traces_are_as_expected() {
    let own = of_repository().into_iter().chain(known_of_repository());
    expect("first-pages.txt", &first_pages(own));
}

fn first_pages(traces: impl Iterator<Item = TraceFile>) -> String {
    let mut pages = String::new();
    for trace in traces {
        let path = trace.path().display().to_string();
        let ran = nettrace(&[&path]);
        let page = format!("{}{}", ran.text(), ran.stderr).replace(&path, "…");
        pages.push_str(&format!("==== {}\n{page}\n", trace.name()));
    }
    pages
}

#[test]
fn payloads_in_csv_are_as_expected() {
    assert_page("events-csv.txt", &["events", TINY_V6, "--format", "csv"]);
    assert_page(
        "events-csv-one-type.txt",
        &["events", ALL_31, "--format", "csv", "--event", "Nettrace-Workload/Text", "--limit", "5"],
    );
    assert_page(
        "events-csv-fields.txt",
        &[
            "events",
            ALL_31,
            "--format",
            "csv",
            "--event",
            "EventCounters",
            "--fields",
            "Payload.Name,Payload.Mean,Payload.Increment",
            "--limit",
            "12",
        ],
    );
}

#[test]
fn colours_come_when_they_are_asked_for() {
    assert_page("info-coloured.txt", &["info", KILLED, "--color", "always"]);
    assert_page("events-coloured.txt", &["events", TINY_V4, "--color", "always", "--stacks"]);
    let plain = nettrace(&["info", KILLED, "--color", "never"]);
    assert!(!plain.text().contains('\x1b') && !plain.stderr.contains('\x1b'));
}

#[test]
fn every_shell_gets_a_script_with_all_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = nettrace(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        for word in ["info", "stats", "events", "completions", "man", "ndjson", "quiet"] {
            assert!(ran.text().contains(word), "{shell} completes {word}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    for (args, title) in [
        (vec!["man"], "nettrace"),
        (vec!["man", "info"], "nettrace-info"),
        (vec!["man", "stats"], "nettrace-stats"),
        (vec!["man", "events"], "nettrace-events"),
    ] {
        let ran = nettrace(&args);
        assert!(ran.text().contains(&format!(".TH {title} 1")), "{}", ran.text());
        assert!(ran.text().contains(".SH OPTIONS") && ran.code == Some(0));
    }
    assert!(nettrace(&["man"]).text().contains("Exit codes"));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn first_pages_of_shared_traces_are_as_expected() {
        expect("first-pages-shared.txt", &first_pages(of_shared().into_iter()));
    }
}
