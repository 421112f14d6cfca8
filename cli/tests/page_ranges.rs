//! Asserts that each view of a page counts the same in a range of time as `report --json --time`
//! does, or says which range of whole bins the view counts.

use crate::common::{Json, file, nettrace};
use crate::page::in_browser;
use nettrace_testdata::corpus;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Number of ranges tried for each trace.
const RANGES: usize = 5;

/// Returns ranges within a length, the same ranges for each call.
fn ranges(length: u64) -> Vec<(u64, u64)> {
    let mut state = 2026_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % length.max(1)
    };
    (0..RANGES)
        .map(|_| {
            let (one, other) = (next(), next());
            (one.min(other), one.max(other) + 1)
        })
        .collect()
}

/// Returns the rows of a table of a page: the name, and the number in a column.
fn column(rows: &Value, at: usize) -> BTreeMap<String, f64> {
    let rows = rows.list().iter();
    rows.map(|row| (row[0].text().to_owned(), row[at].as_f64().unwrap())).collect()
}

/// Compares names and counts. A page has no rows with a count of 0.
fn assert_rows(page: &Value, at: usize, wanted: &Value, keys: [&str; 2], what: &str) {
    let shown = column(page, at);
    for row in wanted.list() {
        let name = row[keys[0]].as_str().unwrap_or("(unknown lock)");
        let count = row.pointer(keys[1]).unwrap().as_f64().unwrap();
        assert_eq!(shown.get(name).copied().unwrap_or(0.0), count, "{what}: {name}");
    }
    let named = wanted.list().iter().filter(|row| row.pointer(keys[1]) != Some(&json!(0))).count();
    assert_eq!(shown.values().filter(|count| **count > 0.0).count(), named, "{what}");
}

fn assert_ranges(name: &str, trace: &str) {
    let path = file(&format!("{name}-ranges.html"), b"");
    let ran = nettrace(&["report", "html", trace, "-o", &path, "--force", "-q"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    let length = nettrace(&["report", "summary", trace, "--json"]).json()["duration_ns"].int();
    let ranges = ranges(length);
    let words: Vec<String> = ranges.iter().map(|(from, to)| format!("{from}..{to}")).collect();
    let mut arguments = vec![&*path];
    arguments.extend(words.iter().map(String::as_str));
    let seen = in_browser("ranges.cjs", &arguments);
    assert_eq!(seen["errors"], json!([]), "{name}");
    for ((from, to), page) in ranges.iter().zip(seen["ranges"].list()) {
        let at = format!("{name}, {from}ns..{to}ns");
        // A page counts very many events, exceptions and so on of a kind in bins of time
        // only.
        let time_of = |kind: &str| {
            let what = match kind {
                "summary" | "threads" => "events",
                "contention" => "waits for locks",
                "http" => "requests",
                other => other,
            };
            match &page["bins"][what] {
                Value::Null => format!("{from}ns..{to}ns"),
                bins => format!("{}ns..{}ns", bins[0], bins[1]),
            }
        };
        let report_of = |kind: &str, time: &str| {
            let rows: &[&str] = match kind {
                "summary" | "threadpool" | "gc" | "jit" | "counters" | "logs" => &[],
                _ => &["-n", "100000"],
            };
            let arguments = [&["report", kind, trace, "--json", "--time", time], rows].concat();
            nettrace(&arguments).json()
        };
        let report = |kind: &str| report_of(kind, &time_of(kind));
        let same = |id: &str, wanted: &Value| {
            let wanted = wanted.as_f64().unwrap_or(0.0);
            assert_eq!(page[id].as_f64(), Some(wanted), "{at}: {id}");
        };
        let (top, summary) = (report("topN"), report("summary"));
        same("range-cpu", &top["total_ns"]);
        same("counted", &top["total_ns"]);
        same("samples", &top["samples"]);
        same("range-events", &summary["events"]);
        same("events-count", &summary["events"]);
        let types: f64 = column(&page["types"], 1).values().sum();
        assert_eq!(Some(types), summary["events"].as_f64(), "{at}: by type");
        let gc = &report("gc")["totals"];
        for (id, key) in [
            ("count", "count"),
            ("incomplete", "incomplete"),
            ("pause", "pause_ns"),
            ("max", "max_pause_ns"),
            ("p99", "p99_pause_ns"),
        ] {
            same(&format!("gc-{id}"), &gc[key]);
        }
        let exceptions = report("exceptions");
        same("exceptions-count", &exceptions["count"]);
        assert_rows(&page["exceptions"], 1, &exceptions["types"], ["type", "/count"], &at);
        let contention = report("contention");
        same("contention-count", &contention["waits"]["count"]);
        same("contention-total", &contention["waits"]["total_ns"]);
        assert_rows(&page["locks"], 1, &contention["locks"], ["lock_id", "/waits/count"], &at);
        let waits = report("waits");
        same("waits-count", &waits["waits"]["count"]);
        same("waits-total", &waits["waits"]["total_ns"]);
        let threads = report("threads");
        let sampled = report_of("threads", &format!("{from}ns..{to}ns"));
        let sorted = |rows: Vec<(f64, f64)>| {
            let mut rows = rows;
            rows.sort_by(|one, other| one.partial_cmp(other).unwrap());
            rows
        };
        let number = |value: &Value| value.as_f64().unwrap();
        let rows = page["threads"].list().iter();
        let shown = sorted(rows.map(|row| (number(&row[1]), number(&row[2]))).collect());
        let key_of =
            |row: &Value| ["process_id", "thread_id", "name"].map(|key| row[key].to_string());
        let mut wanted: BTreeMap<[String; 3], (f64, f64)> = BTreeMap::new();
        for row in threads["threads"].list() {
            wanted.entry(key_of(row)).or_default().0 = number(&row["events"]);
        }
        for row in sampled["threads"].list() {
            wanted.entry(key_of(row)).or_default().1 = number(&row["samples"]);
        }
        let wanted = sorted(wanted.into_values().collect());
        assert_eq!(shown, wanted, "{at}: events and samples of threads");
        same("pool-adjustments", &json!(report("threadpool")["adjustments"].list().len()));
        let tasks = report("tasks");
        same("tasks-scheduled", &tasks["scheduled"]);
        same("tasks-failed", &tasks["faulted"]);
        same("tasks-awaited", &tasks["waits_begun"]);
        assert_rows(&page["tasks"], 1, &tasks["tasks"], ["name", "/scheduled"], &at);
        let shown = page["awaits"].list().iter();
        let shown = sorted(shown.map(|row| (number(&row[2]), number(&row[3]))).collect());
        let waits = tasks["waits"].list().iter().map(|row| &row["waits"]);
        let wanted =
            sorted(waits.map(|row| (number(&row["count"]), number(&row["total_ns"]))).collect());
        assert_eq!(shown, wanted, "{at}: awaits");
        let jit = report("jit");
        same("jit-count", &jit["totals"]["methods"]);
        assert_rows(&page["tiers"], 2, &jit["tiers"], ["tier", "/duration_ns"], &at);
        let (activities, requests) = (report("activities"), report("http"));
        same("activities-count", &activities["started"]);
        same("activities-failed", &activities["errors"]);
        same("activities-slowest", &activities["slowest"][0]["duration_ns"]);
        same("requests-count", &requests["started"]);
        same("requests-failed", &requests["errors"]);
        for (shown, report) in [("activities", &activities), ("endpoints", &requests)] {
            for (column, key) in [(1, "/started"), (2, "/errors"), (6, "/durations/max_ns")] {
                assert_rows(&page[shown], column, &report["activities"], ["name", key], &at);
            }
        }
        same("logs-count", &report("logs")["count"]);
        let counters = report("counters");
        let sum = |of: &mut dyn Iterator<Item = f64>| of.sum::<f64>();
        assert_eq!(
            sum(&mut page["counters"].list().iter().map(|row| number(&row[3]))),
            sum(&mut counters["series"]
                .list()
                .iter()
                .filter(|row| row["kind"] != "histogram")
                .map(|row| number(&row["count"]))),
            "{at}: counters"
        );
    }
}

mod with_node_and_shared {
    use super::*;

    #[test]
    #[ignore = "needs node and NETTRACE_SHARED"]
    fn each_view_of_net_11_counts_in_a_range_what_the_reports_count_there() {
        for name in [
            "net11-linux-x64/all.nettrace",
            // Parts of collections were lost.
            "net11-linux-x64/lossy.nettrace",
            // There are more events than the page lists.
            "net11-linux-x64/classic-async.nettrace",
        ] {
            let found = corpus::trace(name);
            let name = name.replace('/', "-");
            let path = file(&format!("{name}-of-ranges.nettrace"), &found.bytes());
            assert_ranges(&name, &path);
        }
    }
}

mod with_node {
    use super::*;

    #[test]
    #[ignore = "needs node"]
    fn each_view_counts_in_a_range_what_the_reports_count_there() {
        for trace in ["net10-linux-x64/all.nettrace.gz", "net8-linux-x64/all.nettrace.gz"] {
            let path = format!("testdata/traces/{trace}");
            assert_ranges(&trace.replace('/', "-"), &path);
        }
    }
}
