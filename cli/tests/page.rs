//! `nettrace report html`: the page in a real browser, and its numbers against those of the
//! reports.

use crate::common;
use crate::common::Json;

use common::{file, nettrace, top};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
#[cfg(target_os = "linux")]
const SMALL: &str = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
const LOSSY: &str = "testdata/traces/net3.1-linux-x64/lossy.nettrace.gz";

/// Runs a script of `analysis/consumers` on a page and returns the script's JSON.
pub(crate) fn in_browser(script: &str, arguments: &[&str]) -> Value {
    let script = top().join("analysis/consumers").join(script);
    let output = Command::new("node").arg(script).args(arguments).output().expect("node starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "analysis/consumers/install gets what is needed: {stderr}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// Runs `page.cjs` on the page of a trace and returns the script's JSON; the script writes pictures
/// of all views to a folder.
fn seen(page: &str, pictures: Option<&Path>) -> Value {
    let mut arguments = vec![page, FROM, TO];
    if let Some(folder) = pictures {
        std::fs::create_dir_all(folder).unwrap();
        arguments.extend(folder.to_str());
    }
    in_browser("page.cjs", &arguments)
}

/// The beginning of a range, in nanoseconds.
const FROM: &str = "500000000";
const TO: &str = "1500000000";
const RANGE: &str = "500ms..1500ms";

fn page(name: &str, trace: &str) -> String {
    let path = file(name, b"");
    let ran = nettrace(&["report", "html", trace, "-o", &path, "--force", "-q"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    path
}

fn report(name: &str, trace: &str, more: &[&str]) -> Value {
    let mut args = vec!["report", name, trace, "--json"];
    args.extend(more);
    nettrace(&args).json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Returns self and total of each method that has a name.
fn methods_of_page(seen: &Value) -> BTreeMap<String, (u64, u64, u64)> {
    let rows = seen["rows"].list().iter();
    rows.map(|row| {
        let number = |at: usize| number(&row[at]) as u64;
        (row[0].text().to_owned(), (number(1), number(3), number(5)))
    })
    .collect()
}

fn methods_of_report(report: &Value) -> BTreeMap<String, (u64, u64, u64)> {
    let rows = report["methods"].list().iter();
    let rows = rows.filter(|row| row["addresses"].is_null() && row["guessed"].is_null());
    rows.map(|row| {
        let number = |key: &str| row[key].int();
        (
            row["name"].text().to_owned(),
            (number("self_ns"), number("total_ns"), number("total_samples")),
        )
    })
    .collect()
}

fn assert_no_page_errors(seen: &Value) {
    for list in ["errors", "requests", "wide", "axe"] {
        assert_eq!(seen[list], json!([]), "{list}");
    }
    assert_eq!(seen["has_axe"], true, "analysis/consumers/install gets axe-core");
    assert_eq!(seen["hacked"], false);
}

/// Returns a report of a trace, and the JSON of `page.cjs` about the trace's page.
fn report_and_page(kind: &str, name: &str) -> (Value, Value) {
    let found = nettrace_testdata::corpus::trace(&format!("net10-linux-x64/{name}.nettrace"));
    let trace = file(&format!("{name}-stacks.nettrace"), &found.bytes());
    let path = page(&format!("{name}.html"), &trace);
    let seen = in_browser("page.cjs", &[&path, FROM, TO, "numbers"]);
    assert_eq!((&seen["errors"], &seen["requests"]), (&json!([]), &json!([])), "{name}");
    (report(kind, &trace, &["-n", "100000"]), seen)
}

/// Returns a trace with its names replaced by markup of the same length.
fn with_markup() -> Vec<u8> {
    let packed = std::fs::read(top().join(ALL)).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed), &mut bytes).unwrap();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (name, markup) in [
        ("Workload.WidgetException", "<img src=x onerror=q=1>/"),
        ("Workload.Program", "</script><b>x<b>"),
        ("ContentionRound", "\"'><svg/onload="),
        ("Request latency", "<iframe src=a:>"),
    ] {
        let (wanted, new) = (utf16(name), utf16(markup));
        assert_eq!(wanted.len(), new.len(), "{name}");
        let mut found = 0;
        for at in 0..bytes.len() - wanted.len() {
            if bytes[at..].starts_with(&wanted) {
                bytes[at..at + new.len()].copy_from_slice(&new);
                found += 1;
            }
        }
        assert!(found > 0, "{name} is in the trace");
    }
    bytes
}

#[test]
fn a_page_goes_beside_the_trace_or_where_it_is_asked_for_and_replaces_nothing_unasked() {
    let trace = file("page-of.nettrace", &std::fs::read(top().join(ALL)).unwrap());
    let beside = trace.replace(".nettrace", ".html");
    let _ = std::fs::remove_file(&beside);
    let ran = nettrace(&["report", "html", &trace]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), &*format!("nettrace: wrote {beside}\n")));
    let ran = nettrace(&["report", "html", &trace]);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("--force");
    let written = std::fs::read(&beside).unwrap();
    let ran = nettrace(&["report", "html", &trace, "-o", "-"]);
    assert_eq!(
        (ran.code, ran.stdout == written),
        (Some(0), true),
        "the same bytes, wherever they go"
    );
    assert!(written.len() < 2 << 20, "{} bytes", written.len());
    assert_eq!(nettrace(&["report", "html", &trace, "--json"]).code, Some(2));
}

#[test]
fn open_writes_the_page_to_the_cache_and_prints_its_path() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-cache");
    let _ = std::fs::remove_dir_all(&cache);
    let run = || {
        let output =
            common::command(&["open", ALL, "--print-path"]).env("XDG_CACHE_HOME", &cache).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    if cfg!(target_os = "linux") {
        let path = run();
        assert!(Path::new(path.trim()).starts_with(cache.join("nettrace")), "{path}");
        assert!(std::fs::read(path.trim()).unwrap().starts_with(b"<!doctype html>"));
        assert_eq!(run(), path, "the same trace has the same place");
    }
}

/// Runs `nettrace open` with these programs as all of its PATH, and returns the printed text and a
/// program's note.
#[cfg(target_os = "linux")]
fn opened(name: &str, programs: &[(&str, &str)], variables: &[(&str, &str)]) -> (String, String) {
    use std::os::unix::fs::PermissionsExt;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    for (program, script) in programs {
        let path = folder.join("bin").join(program);
        let script = script.replace("SEEN", &folder.join("seen").display().to_string());
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = common::command(&["open", SMALL]);
    for unset in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"] {
        command.env_remove(unset);
    }
    command.env("PATH", folder.join("bin")).env("XDG_CACHE_HOME", folder.join("cache"));
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let seen = std::fs::read_to_string(folder.join("seen")).unwrap_or_default();
    (seen, String::from_utf8(output.stdout).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn open_starts_the_browser_and_without_one_prints_the_path() {
    let says = "echo \"$0 $1\" > SEEN";
    let is_page = |text: &str| text.trim().ends_with(".html") && text.contains("/cache/nettrace/");
    let on_screen = [("DISPLAY", ":9")];
    let (seen, out) = opened("open-xdg", &[("xdg-open", says)], &on_screen);
    assert!(seen.contains("/xdg-open ") && is_page(&seen) && out.is_empty(), "{seen} {out}");
    // One program stays, as browsers do, and one fails.
    let stays = "echo \"$0 $1\" > SEEN; exec /bin/sleep 20";
    let programs = [("mine", stays), ("bad", "exit 4"), ("xdg-open", says)];
    let (seen, out) = opened("open-mine", &programs, &[("BROWSER", "bad:mine"), ("DISPLAY", ":9")]);
    assert!(seen.contains("/mine ") && is_page(&seen) && out.is_empty(), "{seen} {out}");
    for (name, programs) in [("open-none", &[][..]), ("open-bad", &[("xdg-open", "exit 3")])] {
        let (seen, out) = opened(name, programs, &on_screen);
        assert!(seen.is_empty() && is_page(&out), "{seen} {out}");
    }
    let (seen, out) = opened("open-blind", &[("xdg-open", says)], &[]);
    assert!(seen.is_empty() && is_page(&out), "without a display nobody is asked: {seen} {out}");
}

mod with_node_and_shared {
    use super::*;

    #[test]
    #[ignore = "needs node and NETTRACE_SHARED"]
    fn allocations_picked_at_random_are_stacks_with_the_numbers_of_their_report() {
        let (report, seen) = report_and_page("alloc", "alloc-sampled");
        let source = &report["sources"][0];
        let shown = &seen["kinds"]["alloc"];
        // The weight of a sample is rounded to whole bytes in each sample of the page, and in the
        // sum of the report.
        let near = |one: &Value, other: &Value| {
            (number(one) - number(other)).abs() <= number(&source["events"])
        };
        assert!(near(&shown["counted"], &source["bytes"]), "{} {source}", shown["counted"]);
        assert_eq!(number(&shown["samples"]), number(&source["events"]));
        let types = source["types"].list();
        assert_eq!(types.len(), shown["types"].list().len());
        for (row, shown) in types.iter().zip(shown["types"].list()) {
            assert!(near(&row["bytes"], &shown[1]), "{row} {shown}");
            assert_eq!(row["events"], shown[3], "{row}");
        }
    }
}

mod with_node {
    use super::*;

    #[test]
    #[ignore = "needs node"]
    fn each_view_of_a_page_shows_the_numbers_of_the_report_and_is_used_with_mouse_keys_and_address()
    {
        let path = page("all.html", ALL);
        let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-pictures");
        let seen = seen(&path, Some(&pictures));
        assert_no_page_errors(&seen);
        let summary = report("summary", ALL, &[]);
        for (key, id) in [("events", "events"), ("threads", "threads"), ("duration_ns", "duration")]
        {
            assert_eq!(number(&seen["overview"][id]), number(&summary[key]), "{key}");
        }
        let findings: Vec<&Value> =
            summary["findings"].list().iter().map(|row| &row["text"]).collect();
        assert_eq!(seen["overview"]["findings"].list().iter().collect::<Vec<_>>(), findings);
        let next =
            |row: &Value| json!(format!("nettrace {} all.nettrace.gz", row["command"].text()));
        let next: Vec<Value> = summary["findings"].list().iter().map(next).collect();
        assert_eq!(seen["overview"]["next"].list(), &next[..]);
        for head in seen["small"]["heads"].list() {
            assert!(number(head) <= 200.0, "a third of 800 x 600: {}", seen["small"]);
        }

        for (key, more) in [("methods", &[][..]), ("methods_in_range", &["--time", RANGE])] {
            let top = report("topN", ALL, &[&["-n", "1000000"], more].concat());
            let page = &seen[key];
            assert_eq!(number(&page["counted"]), number(&top["total_ns"]), "{key}");
            assert_eq!(number(&page["samples"]), number(&top["samples"]), "{key}");
            assert_eq!(number(&page["waiting"]), number(&top["waiting_ns"]), "{key}");
            let (shown, wanted) = (methods_of_page(page), methods_of_report(&top));
            assert!(wanted.len() > 20, "{key}: {} methods", wanted.len());
            for (name, sums) in wanted {
                assert_eq!(shown.get(&name), Some(&sums), "{key}: {name}");
            }
        }
        for (key, more) in [("methods_folded", "--fold-async"), ("methods_of_mine", "--my-code")] {
            let wanted = methods_of_report(&report("topN", ALL, &["-n", "1000000", more]));
            let shown = methods_of_page(&seen[key]);
            assert!(wanted.len() > 3, "{key}");
            for (name, sums) in wanted {
                assert_eq!(shown.get(&name), Some(&sums), "{key}: {name}");
            }
        }
        let kinds = &seen["kinds"];
        for (by, tab) in [("module", "modules"), ("namespace", "namespaces")] {
            let wanted = report("topN", ALL, &["-n", "100000", "--by", by]);
            let shown = methods_of_page(&json!({ "rows": kinds["cpu"][tab] }));
            let wanted = methods_of_report(&wanted);
            assert!(!wanted.is_empty(), "{tab}");
            for (name, sums) in wanted.iter().filter(|(name, _)| shown.contains_key(*name)) {
                assert_eq!(shown.get(name), Some(sums), "{tab}: {name}");
            }
            assert!(
                wanted.keys().filter(|name| shown.contains_key(*name)).count() > 1,
                "{shown:?}"
            );
        }
        let threads = report("threads", ALL, &["-n", "100000"]);
        let of_thread = |row: &Value| {
            ["managed", "native"].iter().map(|state| number(&row[state]["ns"])).sum::<f64>()
        };
        let mut wanted: Vec<f64> = threads["threads"].list().iter().map(of_thread).collect();
        wanted.retain(|nanos| *nanos > 0.0);
        wanted.sort_by(|one, other| other.total_cmp(one));
        let shown = kinds["cpu"]["threads"].list().iter();
        assert_eq!(shown.map(|row| number(&row[1])).collect::<Vec<_>>(), wanted);
        for (state, row) in seen["states"].as_object().unwrap() {
            let top = report("topN", ALL, &["--state", state]);
            assert_eq!(number(&row["counted"]), number(&top["total_ns"]), "{state}");
            assert_eq!(number(&row["samples"]), number(&top["samples"]), "{state}");
        }
        for (kind, own) in kinds.as_object().unwrap() {
            // Merged and separate stacks have the same sum.
            assert_eq!(own["by_thread"]["counted"], own["counted"], "{kind}");
            assert_eq!(own["without_recursion"], own["counted"], "{kind}");
            assert_eq!(own["by_thread"]["pressed"], "true", "{kind}");
            let threads = own["threads"].list();
            let sum: f64 = threads.iter().map(|row| number(&row[1])).sum();
            assert_eq!(sum, number(&own["counted"]), "{kind}");
            assert!(number(&own["tree_by_thread"]) >= threads.len() as f64, "{kind}");
            assert!(
                number(&own["by_thread"]["rectangles"]) > threads.len().min(20) as f64,
                "{kind}"
            );
            assert!(number(&own["callers"]) > 0.0, "{kind}");
        }
        let in_range = |name: &str| report(name, ALL, &["--time", RANGE]);
        assert_eq!(number(&seen["range"]["cpu"]), number(&in_range("topN")["total_ns"]));
        assert_eq!(number(&seen["range"]["gc"]), number(&in_range("gc")["totals"]["count"]));
        assert_eq!(number(&seen["range"]["exceptions"]), number(&in_range("exceptions")["count"]));
        let pool = report("threadpool", ALL, &["-n", "100000"]);
        let adjustments = pool["adjustments"].list().len();
        assert_eq!(number(&seen["pool"]["adjustments"]), adjustments as f64);
        let activities = report("activities", ALL, &["-n", "1000"]);
        let slowest = activities["slowest"].list();
        assert_eq!(number(&seen["slowest"]["longest"]), number(&slowest[0]["duration_ns"]));
        for (row, shown) in slowest.iter().zip(seen["slowest"]["rows"].list()) {
            assert_eq!(number(&row["duration_ns"]), number(&shown[2]), "{row}");
            assert_eq!(row["fields"], shown[1], "{row}");
        }
        let card = seen["slowest"]["card"].text();
        assert!(card.contains("Events of its threads meanwhile"), "{card}");
        assert!(seen["slowest"]["hash"].text().contains("activity="), "{seen}");
        let gc = &report("gc", ALL, &[])["totals"];
        for (key, id) in [
            ("count", "count"),
            ("pause_ns", "pause"),
            ("max_pause_ns", "max"),
            ("p99_pause_ns", "p99"),
        ] {
            assert_eq!(number(&seen["gc"][id]), number(&gc[key]), "{key}");
        }
        let exceptions = report("exceptions", ALL, &[]);
        assert_eq!(number(&seen["exceptions"]["count"]), number(&exceptions["count"]));
        for (row, shown) in
            exceptions["types"].list().iter().zip(seen["exceptions"]["types"].list())
        {
            assert_eq!((&row["type"], number(&row["count"])), (&shown[0], number(&shown[1])));
        }
        let contention = report("contention", ALL, &[]);
        assert_eq!(number(&seen["contention"]["count"]), number(&contention["waits"]["count"]));
        assert_eq!(number(&seen["contention"]["total"]), number(&contention["waits"]["total_ns"]));
        for (row, shown) in
            contention["locks"].list().iter().zip(seen["contention"]["locks"].list())
        {
            let waits = &row["waits"];
            assert_eq!(
                (&row["lock_id"], number(&waits["count"]), number(&waits["total_ns"])),
                (&shown[0], number(&shown[1]), number(&shown[2]))
            );
        }
        let counters = report("counters", ALL, &[]);
        let series = counters["series"].list();
        assert_eq!(seen["counters"].list().len(), series.len());
        for (row, shown) in series.iter().zip(seen["counters"].list()) {
            assert_eq!(number(&row["count"]), number(&shown[3]), "{row}");
            assert!(
                (number(&row["mean"]) - number(&shown[5])).abs()
                    <= 1e-9 * number(&row["mean"]).abs()
            );
        }
        assert_eq!(
            number(&seen["requests_count"]),
            number(&report("activities", ALL, &[])["started"])
        );
        assert_eq!(number(&seen["events"]), 57071.0);

        let whole = number(&seen["methods"]["counted"]);
        let brushed = &seen["brushed"];
        assert!(brushed["hash"].text().contains("from="), "{brushed}");
        assert!((1.0..whole).contains(&number(&brushed["counted"])), "{brushed}");
        assert_eq!(number(&brushed["back"]), whole, "the back button shows all again");
        let (from, to) = (number(&brushed["moved"][0]), number(&brushed["moved"][1]));
        let (was_from, was_to): (f64, f64) = (FROM.parse().unwrap(), TO.parse().unwrap());
        assert!(from > was_from && (to - from - (was_to - was_from)).abs() <= 2.0, "{brushed}");
        assert!(brushed["by_key"].text().contains("to="), "{brushed}");
        assert!(!brushed["escaped"].text().contains("from="), "{brushed}");

        let detail = &seen["detail"];
        assert!(
            number(&detail["after"]) > number(&detail["before"]),
            "an overview is above: {detail}"
        );
        assert_eq!(detail["pressed"], "true");
        let counted = number(&detail["counted"]);
        assert!(counted > 0.0 && counted < number(&seen["gc"]["count"]), "views follow: {detail}");
        assert!(number(&detail["threads"]) > number(&detail["after"]), "{detail}");
        assert!(detail["thread"].text().contains("view=cpu"), "{detail}");
        assert!(detail["thread"].text().contains("thread="), "{detail}");
        assert!(detail["row"].text().contains("gc="), "{detail}");
        assert_eq!(detail["picture"], "data:image/png;base64,");
        assert!(number(&detail["upright"]).abs() < 2.0, "its bottom is shown: {detail}");

        let flame = &seen["flame"];
        assert!(flame["found"].text().ends_with("% found"), "{flame}");
        assert!(flame["hash"].text().contains("q=program"), "{flame}");
        assert!(number(&flame["rectangles"]) > 50.0, "{flame}");
        assert_ne!(flame["zoomed"]["root"], "0", "a click zooms");
        assert_eq!((&flame["back"], &flame["escaped"]), (&"0".into(), &"0".into()));
        assert_ne!(flame["by_key"], "0", "Enter zooms");
        assert!(flame["said"].text().starts_with("zoomed to"), "{flame}");
        assert_eq!(flame["focus"], seen["methods"]["rows"][0][0], "a link leads to a method");
        assert_eq!(seen["by_number"], "gc");
        let printed = &seen["printed"];
        assert_eq!(printed["paper"]["background"], "rgb(255, 255, 255)", "paper is light");
        assert!(
            number(&printed["paper"]["width"]) < number(&printed["screen"]["width"]),
            "{printed}"
        );
        assert_eq!(printed["screen"], printed["again"]);
    }

    #[test]
    #[ignore = "needs node"]
    fn waits_are_stacks_with_the_numbers_of_their_report() {
        let (report, seen) = report_and_page("waits", "waits");
        assert_eq!(number(&seen["waits"]["count"]), number(&report["waits"]["count"]));
        assert_eq!(number(&seen["waits"]["total"]), number(&report["waits"]["total_ns"]));
        assert_eq!(
            number(&seen["kinds"]["waits"]["counted"]),
            number(&report["waits"]["total_ns"])
        );
    }

    #[test]
    #[ignore = "needs node"]
    fn the_heap_of_a_trace_with_a_dump_is_on_its_page_with_the_numbers_of_heap() {
        let trace = "testdata/traces/net3.1-linux-x64/heap.nettrace.gz";
        let path = page("heap.html", trace);
        let seen = in_browser("page.cjs", &[&path, FROM, TO, "numbers"]);
        assert_eq!((&seen["errors"], &seen["requests"]), (&json!([]), &json!([])));
        let heap = nettrace(&["heap", trace, "--json"]).json();
        let shown = &seen["heap"];
        assert_eq!(number(&shown["objects"]), number(&heap["objects"]));
        assert_eq!(number(&shown["bytes"]), number(&heap["bytes"]));
        let types = heap["types"].list();
        assert_eq!(shown["types"].list().len(), types.len());
        for (row, shown) in types.iter().zip(shown["types"].list()) {
            assert_eq!(row["name"], shown[0]);
            for (key, column) in [("count", 1), ("bytes", 2), ("retained_bytes", 4)] {
                assert_eq!(number(&row[key]), number(&shown[column]), "{key} of {row}");
            }
        }
        assert!(shown["paths"].text().contains(" → "), "{shown}");
        assert!(number(&shown["tree"]) > 3.0, "{shown}");
        // The findings are those of the summary, first the one about the holders of the heap.
        assert!(shown["finding"].text().contains("view=heap"), "{shown}");
        let summary = report("summary", trace, &[]);
        let findings: Vec<&Value> =
            summary["findings"].list().iter().map(|row| &row["text"]).collect();
        assert_eq!(seen["overview"]["findings"].list().iter().collect::<Vec<_>>(), findings);
    }

    #[test]
    #[ignore = "needs node"]
    fn messages_stand_on_a_page_with_level_exception_and_scopes() {
        let trace = crate::logs::trace();
        let path = page("logs.html", &trace);
        let seen = in_browser("page.cjs", &[&path, FROM, TO, "numbers"]);
        assert_eq!((&seen["errors"], &seen["requests"]), (&json!([]), &json!([])));
        let logs = &seen["logs"];
        let head =
            json!(["Time", "Level", "Logger", "Message", "Exception", "Scopes", "Event", "Thread"]);
        assert_eq!(logs["head"], head);
        let report = report("logs", &trace, &[]);
        let messages = report["messages"].list();
        assert_eq!((messages.len(), logs["rows"].list().len()), (4, 4));
        for (row, shown) in messages.iter().zip(logs["rows"].list()) {
            for (key, column) in [("level", 1), ("logger", 2), ("message", 3)] {
                // Characters that hide or move text are replaced on a page.
                let text = row[key].as_str().unwrap_or_default().replace('\u{1b}', "\u{fffd}");
                assert_eq!(shown[column], text, "{key}");
            }
            assert_eq!(row["exception"].as_str().unwrap_or(""), shown[4]);
            assert_eq!(row["scopes"][0].as_str().unwrap_or(""), shown[5]);
        }
    }

    #[test]
    #[ignore = "needs node"]
    fn losses_are_plainly_visible_on_a_page() {
        let seen = seen(&page("lossy.html", LOSSY), None);
        assert_no_page_errors(&seen);
        let summary = report("summary", LOSSY, &[]);
        let lost = number(&summary["outcome"]["lost"]);
        assert!(lost > 1000.0, "{summary}");
        assert_eq!(seen["overview"]["lost"].text().replace(',', ""), format!("{lost}"));
        let notices = seen["overview"]["notices"].text().replace(',', "");
        assert!(notices.contains(&format!("{lost} events were lost")), "{notices}");
        // That frames have no names is said only where frames are shown.
        let unnamed = seen["small"]["unnamed"].list();
        let says = |view: &str| unnamed.contains(&json!(view));
        assert!(says("cpu") && !says("overview") && !says("counters"), "{}", seen["small"]);
    }

    #[test]
    #[ignore = "needs node"]
    fn names_that_are_markup_do_nothing_on_a_page() {
        let trace = file("markup.nettrace", &with_markup());
        let path = page("markup.html", &trace);
        let html = std::fs::read_to_string(&path).unwrap();
        assert!(!html.contains("<iframe") && !html.contains("onerror=q"));
        let seen = seen(&path, None);
        assert_no_page_errors(&seen);
        assert_eq!(seen["exceptions"]["types"][0][0], "<img src=x onerror=q=1>/");
        assert!(seen["methods"]["rows"].to_string().contains("</script><b>"));
    }
}
