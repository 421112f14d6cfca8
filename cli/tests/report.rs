//! Reports as JSON for programs: keys, filters, orders of arguments, names from files.

use crate::common;
use crate::common::Json;

use common::{nettrace, run};
use nettrace_testdata::corpus;
use serde_json::Value;
use std::fs;
use std::path::Path;

const SAMPLES: &str = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const TINY: &str = "testdata/traces/tiny-v4.nettrace.gz";
const ONE_COLLECT: &str = "testdata/traces/one-collect-v6/cpu-and-switches.nettrace.gz";

fn report(arguments: &[&str]) -> Value {
    let mut all = vec!["report"];
    all.extend(arguments);
    all.push("--json");
    nettrace(&all).json()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(|key| &**key).collect();
    keys.sort_unstable();
    keys
}

fn rows<'v>(report: &'v Value, list: &str) -> &'v [Value] {
    report[list].list()
}

#[test]
fn top_methods_have_the_promised_keys() {
    let top = report(&["topN", SAMPLES]);
    assert_eq!(top["schema"], 1);
    assert!(top["samples"].is_u64() && top["period_ns"].is_u64());
    let expected = [
        "module",
        "name",
        "self_ns",
        "self_percent",
        "self_samples",
        "total_ns",
        "total_percent",
        "total_samples",
    ];
    let methods = rows(&top, "methods");
    assert!(methods.iter().all(|row| keys(row) == expected));
    let sum = |key: &str| methods.iter().map(|row| row[key].int()).sum::<u64>();
    assert_eq!((sum("self_samples"), sum("self_ns")), (1720, top["total_ns"].int()));
    for report in
        [report(&["tree", SAMPLES]), report(&["threads", SAMPLES]), report(&["modules", SAMPLES])]
    {
        assert_eq!(report["schema"], 1);
    }
}

#[test]
fn the_report_and_the_file_come_in_either_order() {
    let ours = nettrace(&["report", "topN", SAMPLES, "-n", "3", "--inclusive"]);
    let theirs = nettrace(&["report", SAMPLES, "topN", "-n", "3", "--inclusive"]);
    assert_eq!((ours.code, &ours.stdout), (Some(0), &theirs.stdout));
    let names: Vec<_> = ours.stdout.split(|byte| *byte == b'\n').collect();
    // The lines are a heading, three rows, a summary, and what is certain about it.
    assert_eq!(names.len(), 7);
    assert!(String::from_utf8_lossy(names[1]).contains("Workload.Program.Main"));
}

/// The options of all reports, each with a value if it takes one.
const FLAGS: &[(&str, &str)] = &[
    ("--inclusive", ""),
    ("--by-thread", ""),
    ("--by", "type"),
    ("--from", "Main"),
    ("--callers", ""),
    ("--min", "2"),
    ("--timeline", ""),
    ("--id", "//1/1"),
    ("--format", "csv"),
    ("--before", "1s"),
    ("--thread", "1"),
    ("--process", "1"),
    ("--time", "..1s"),
    ("--frame", "Main"),
    ("--exclude", "Main"),
    ("--state", "managed"),
    ("--names", "short"),
    ("--number", "3"),
];

#[test]
fn an_option_that_a_report_does_not_have_is_refused() {
    let help = nettrace(&["report", "--help"]);
    let reports = help.text().lines().skip_while(|line| *line != "Reports:").skip(1);
    let reports: Vec<&str> = reports
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(reports.len(), 22);
    // The page becomes a file; `page` tests its options.
    for report in reports.into_iter().filter(|report| *report != "html") {
        let help = nettrace(&["report", report, "--help"]);
        for (flag, value) in FLAGS {
            let mut args = vec!["report", report, TINY, flag];
            args.extend(Some(*value).filter(|value| !value.is_empty()));
            let ran = nettrace(&args);
            let is_listed =
                help.text().split_whitespace().any(|word| word.trim_end_matches(',') == *flag);
            let is_refused = ran.code == Some(2)
                && ran.stderr.contains(&format!("unexpected argument '{flag}'"));
            assert_eq!(is_refused, !is_listed, "{report} {flag}: {}", ran.stderr);
            // Without the activity there is nothing whose stacks could be shown.
            let is_unknown = *flag == "--id" && ran.stderr.contains("has the id //1/1");
            assert!(
                is_refused || is_unknown || ran.code == Some(0),
                "{report} {flag}: {}",
                ran.stderr
            );
        }
    }
}

#[test]
fn a_timeline_has_as_many_rows_as_are_asked_for_and_else_all() {
    let rows = |args: &[&str]| {
        let mut all = vec!["report", "gc", ALL, "--timeline"];
        all.extend(args);
        let ran = nettrace(&all);
        ran.text().lines().skip(1).take_while(|line| !line.is_empty()).count()
    };
    let count = rows_of_gc();
    assert_eq!((rows(&["-n", "3"]), rows(&[])), (3, count));
    assert!(count > 20, "{count}");
}

fn rows_of_gc() -> usize {
    rows(&report(&["gc", ALL]), "collections").len()
}

#[test]
fn groups_and_threads_have_the_same_sum() {
    let whole = report(&["topN", ALL, "-n", "100000"]);
    for by in ["module", "namespace", "type"] {
        let grouped = report(&["topN", ALL, "-n", "100000", "--by", by]);
        let sum: u64 = rows(&grouped, "methods").iter().map(|row| row["self_ns"].int()).sum();
        assert_eq!(Value::from(sum), whole["total_ns"], "{by}");
        assert!(rows(&grouped, "methods").len() < rows(&whole, "methods").len());
    }
    let threads = report(&["topN", ALL, "--by-thread"]);
    let sum: u64 = rows(&threads, "threads").iter().map(|row| row["samples"].int()).sum();
    assert_eq!(Value::from(sum), whole["samples"]);
}

#[test]
fn filters_hold_for_all_reports_of_samples() {
    let samples_of = |name: &str, arguments: &[&str]| {
        let mut all = vec![name, ALL];
        all.extend(arguments);
        report(&all)["samples"].int()
    };
    let samples = |arguments: &[&str]| samples_of("topN", arguments);
    // Trees of running code leave out waits; the report of threads does not.
    let samples = |arguments: &[&str]| match arguments.contains(&"--state") {
        true => samples(arguments),
        false => samples(&[arguments, &["--state", "all"]].concat()),
    };
    let all = samples(&[]);
    let several = ["--frame", "Main", "--state", "waiting", "--time", "..1s"];
    let some = samples(&several);
    assert!(0 < some && some < all);
    assert_eq!([samples_of("tree", &several), samples_of("threads", &several)], [some; 2]);
    let states: u64 =
        ["managed", "native", "waiting"].map(|state| samples(&["--state", state])).iter().sum();
    assert_eq!(states, all);
    assert_eq!(samples(&["--frame", "Main"]) + samples(&["--exclude", "Main"]), all);
    assert_eq!(samples(&["--time", "..1s"]) + samples(&["--time", "1s.."]), all);
    let threads = report(&["threads", ALL]);
    let thread = &rows(&threads, "threads")[0];
    assert_eq!(
        Value::from(samples(&["--thread", &thread["thread_id"].to_string()])),
        thread["samples"]
    );
    assert_eq!(samples(&["--process", &thread["process_id"].to_string()]), all);
    assert_eq!(samples(&["--process", "1"]), 0);
    assert!(rows(&report(&["modules", ALL, "--process", "1"]), "modules").is_empty());
}

#[test]
fn what_ran_comes_first_and_waiting_is_counted_beside_it() {
    for name in ["topN", "tree"] {
        let [default, running, waiting, all] =
            [&[][..], &["running"], &["waiting"], &["all"]].map(|states| {
                let states = states.iter().flat_map(|state| ["--state", state]);
                report(&[name, ALL].into_iter().chain(states).collect::<Vec<_>>())
            });
        assert_eq!(default, running, "{name}");
        assert_eq!(
            [&running["state"], &waiting["state"], &all["state"]],
            ["running", "waiting", "all"]
        );
        for key in ["samples", "total_ns"] {
            let of = |report: &Value| report[key].int();
            assert!(of(&running) > 0 && of(&waiting) > of(&running), "{name} {key}");
            assert_eq!(of(&running) + of(&waiting), of(&all), "{name} {key}");
        }
        for report in [&running, &waiting, &all] {
            assert_eq!(report["waiting_samples"], waiting["samples"], "{name}");
            assert_eq!(report["waiting_ns"], waiting["total_ns"], "{name}");
        }
    }
    let text = nettrace(&["report", "topN", ALL]).text().to_owned();
    assert!(text.contains("more in which threads waited"), "{text}");
    // The sampler of an operating system only finds threads that run: nothing is left out, and
    // nothing is said about it.
    let [default, all] = [&[][..], &["--state", "all"]]
        .map(|state| report(&[&["topN", ONE_COLLECT], state].concat()));
    assert_eq!((&default["samples"], &default["methods"]), (&all["samples"], &all["methods"]));
    assert!(!nettrace(&["report", "topN", ONE_COLLECT]).text().contains("waited"));
}

#[test]
fn a_tree_leaves_out_what_is_small() {
    let nodes = |min: &str| rows(&report(&["tree", ALL, "--min", min]), "nodes").len();
    let (all, some, few) = (nodes("0"), nodes("1%"), nodes("20"));
    assert!(all > some && some > few && few > 0, "{all} {some} {few}");
}

#[test]
fn names_have_three_lengths_and_a_raw_form() {
    let first = |arguments: &[&str]| {
        let mut all = vec!["topN", SAMPLES, "-n", "1"];
        all.extend(arguments);
        report(&all)["methods"][0]["name"].text().to_owned()
    };
    assert_eq!(first(&["--names", "short"]), "Program.Spin");
    assert_eq!(first(&["--names", "full"]), "workload!Workload.Program.Spin");
    assert_eq!(first(&[]), "workload!Workload.Program.Spin(int)");
    assert_eq!(first(&["--raw-names"]), "workload!Workload.Program.Spin(int32)");
}

#[test]
fn a_file_without_symbols_is_reported_and_a_missing_folder_is_an_error() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("symbols");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("libcoreclr.so"), "no ELF").unwrap();
    let ran = nettrace(&[
        "report",
        "topN",
        ONE_COLLECT,
        "--symbols",
        folder.to_str().unwrap(),
        "-n",
        "1",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.assert_message("libcoreclr.so is not used: no readable ELF or PDB file");
    let ran = nettrace(&["report", "topN", ONE_COLLECT, "--symbols", "/nonexistent/symbols"]);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("/nonexistent/symbols");
}

/// Returns the stacks and sums of `convert --format folded`, each stack outermost frame first.
fn stacks(arguments: &[&str]) -> Vec<(Vec<String>, u64)> {
    let ran = nettrace(&[&["convert", ALL, "--format", "folded", "-o", "-"], arguments].concat());
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        (stack.split(';').map(str::to_owned).collect(), weight.parse().unwrap())
    };
    ran.text().lines().map(line).collect()
}

#[test]
fn folding_loses_no_time_in_reports_and_converters() {
    let options: [&[&str]; 6] = [
        &["--my-code"],
        &["--fold-async"],
        &["--fold-recursion"],
        &["--fold", "Program", "--fold", "Thread"],
        &["--group", "Workload\\.=mine", "--group", "!(System)\\.->[$1]"],
        &["--fold-percent", "3"],
    ];
    let whole = report(&["topN", ALL, "-n", "100000"]);
    let sum = |stacks: &[(Vec<String>, u64)]| stacks.iter().map(|(_, weight)| weight).sum::<u64>();
    let converted = stacks(&[]);
    for options in options {
        let folded = report(&[&["topN", ALL, "-n", "100000"], options].concat());
        for key in ["samples", "total_ns", "samples_without_stack", "waiting_samples"] {
            assert_eq!(folded[key], whole[key], "{options:?} {key}");
        }
        let own: u64 = rows(&folded, "methods").iter().map(|row| row["self_ns"].int()).sum();
        assert_eq!(Value::from(own), whole["total_ns"], "{options:?}");
        assert!(rows(&folded, "methods").len() <= rows(&whole, "methods").len());
        let stacks = stacks(options);
        assert_eq!(sum(&stacks), sum(&converted), "{options:?}");
        let frames = |stacks: &[(Vec<String>, u64)]| {
            stacks.iter().map(|(frames, _)| frames.len()).sum::<usize>()
        };
        assert!(
            options == ["--fold-recursion"] || frames(&stacks) < frames(&converted),
            "{options:?}"
        );
        let tree = report(&[&["tree", ALL], options].concat());
        assert_eq!(tree["total_ns"], whole["total_ns"]);
        assert_eq!(
            report(&[&["threads", ALL], options].concat())["samples"],
            report(&["threads", ALL])["samples"]
        );
    }
}

#[test]
fn my_code_has_no_frame_of_the_framework() {
    let of_workload = |frame: &String| {
        frame.starts_with("workload!") || ["(not my code)", "(waiting)"].contains(&frame.as_str())
    };
    let mine = stacks(&["--my-code"]);
    let is_mine = |(frames, _): &(Vec<String>, u64)| frames.iter().all(of_workload);
    // What is left are methods whose module the trace does not tell, such as one that was emitted.
    let (mine, others): (Vec<_>, Vec<_>) = mine.into_iter().partition(is_mine);
    let sum = |stacks: &[(Vec<String>, u64)]| stacks.iter().map(|(_, weight)| weight).sum::<u64>();
    assert!(sum(&others) * 100 < sum(&mine), "{others:?}");
    assert!(mine.iter().any(|(frames, _)| frames.len() > 1));
    // An async method is one frame, not method, builder and state machine.
    let is_async = |(frames, _): &(Vec<String>, u64)| {
        frames.iter().any(|frame| {
            frame.contains("AsyncTaskMethodBuilder") || frame.contains("ExecutionContext")
        })
    };
    assert!(stacks(&[]).iter().any(is_async));
    assert!(!stacks(&["--fold-async"]).iter().any(is_async));
}

#[test]
fn which_code_is_mine_can_be_said() {
    let samples = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
    let hottest = |mine: &str| {
        let summary = report(&["summary", samples, "--my-code", mine]);
        rows(&summary, "findings")[0]["text"].as_str().unwrap().to_owned()
    };
    assert!(hottest("Program.Main").ends_with("of it 96 % in Program.CpuRound"));
    assert!(hottest("workload!").ends_with("in workload!Workload.Program.Spin"));
    let top = report(&["topN", samples, "--my-code=Program.Main"]);
    assert!(rows(&top, "methods")[0]["name"].as_str().unwrap().contains("Program.Main"));
}

#[test]
fn what_is_small_is_its_callers() {
    let tree = report(&["tree", ALL, "--min", "0", "--fold-percent", "5"]);
    let top = report(&["topN", ALL, "-n", "100000"]);
    let is_small = |name: &Value| {
        let row = rows(&top, "methods").iter().find(|row| row["name"] == *name).unwrap();
        row["total_percent"].as_f64().unwrap() < 5.0
    };
    let nodes = rows(&tree, "nodes");
    assert!(nodes.iter().any(|node| node["depth"].int() > 0));
    for node in nodes.iter().filter(|node| is_small(&node["name"])) {
        // The frame is the outermost one of a stack without other frames.
        assert_eq!(
            (&node["depth"], &node["self_ns"]),
            (&Value::from(0), &node["total_ns"]),
            "{node}"
        );
    }
}

#[test]
fn groups_that_are_none_are_refused() {
    for group in ["x", "=x", "x=", "(=x"] {
        let ran = nettrace(&["report", "topN", SAMPLES, "--group", group]);
        assert_eq!(ran.code, Some(2), "{group}");
    }
    let ran = nettrace(&[
        "report",
        "topN",
        SAMPLES,
        "-n",
        "1",
        "--names",
        "full",
        "--group",
        "^.*\\.(\\w+)$=<$1>",
    ]);
    assert!(ran.text().contains("  <Spin>\n"), "{}", ran.text());
}

#[test]
fn no_report_shows_names_as_compilers_or_the_runtime_write_them() {
    let reports = [
        "topN",
        "tree",
        "threads",
        "exceptions",
        "contention",
        "tasks",
        "jit",
        "loader",
        "activities",
        "summary",
    ];
    for name in reports {
        for trace in [ALL, "testdata/traces/net10-linux-x64/startup.nettrace.gz"] {
            let shown = nettrace(&["report", name, trace, "--json"]).stdout;
            let shown = String::from_utf8(shown).unwrap();
            for mark in ["::", "pMT:", ">d__", ">b__", ".ni\""] {
                let at = shown.find(mark);
                let around = at.map(|at| shown.get(at.saturating_sub(80)..at + 20));
                assert_eq!(around, None, "report {name} of {trace} has {mark}");
            }
        }
    }
}

#[test]
fn when_a_method_ran_adds_up_to_its_time() {
    let plain = report(&["topN", ALL, "-n", "100000"]);
    assert!(rows(&plain, "methods").iter().all(|row| row["when"].is_null()));
    let top = report(&["topN", ALL, "-n", "100000", "--when"]);
    let [from, to] = [0, 1].map(|at| top["when_extent_ns"][at].int());
    assert!(from == 0 && (2_900_000_000..3_200_000_000).contains(&to), "{to}");
    for (row, plain) in rows(&top, "methods").iter().zip(rows(&plain, "methods")) {
        assert_eq!((&row["name"], &row["total_ns"]), (&plain["name"], &plain["total_ns"]));
        let cells: Vec<u64> = row["when"].list().iter().map(|cell| cell.int()).collect();
        assert_eq!(cells.len(), 32);
        // Each sample in a cell is rounded to a nanosecond.
        let total = row["total_ns"].int();
        assert!(
            cells.iter().sum::<u64>().abs_diff(total) <= 32 * row["total_samples"].int(),
            "{row}"
        );
    }
    // The cells for a part of the trace belong to that part.
    let part = report(&["topN", ALL, "--when", "--time", "1s..2s"]);
    assert_eq!(part["when_extent_ns"][0], 1_000_000_000);
    let head = &rows(&part, "methods")[0]["when"];
    assert!(head[31].int() + head[30].int() + head[29].int() > 0, "{head}");
    assert_eq!(nettrace(&["report", "topN", ALL, "--when", "--by-thread"]).code, Some(2));
}

#[test]
fn every_id_that_a_report_shows_is_one_that_it_takes() {
    const METRICS: &str = "testdata/traces/net10-linux-x64/metrics.nettrace.gz";
    // Each report of the largest trace takes seconds.
    assert_ids_are_taken(METRICS, &["activities"], 1);
    assert_ids_are_taken(ALL, &["activities", "http"], 3);
}

/// Asserts that reports take the ids that they show, at most `limit` of each report.
fn assert_ids_are_taken(trace: &str, names: &[&str], max_ids: usize) {
    for &name in names {
        let shown = report(&[name, trace, "--top", "40"]);
        let ids = rows(&shown, "slowest").iter().filter_map(|row| row["id"].as_str());
        let (nested, others): (Vec<&str>, Vec<&str>) = ids.partition(|id| id.ends_with("/0"));
        // An activity that gets no number of its own among its parent's has 0.
        for id in nested.into_iter().take(1).chain(others.into_iter().take(max_ids)) {
            let ran = nettrace(&["report", name, trace, "--id", id, "--quiet"]);
            assert_eq!(ran.code, Some(0), "{name} {trace} {id}: {}", ran.stderr);
            let text = ran.text();
            let heading = text.lines().next().unwrap_or_default();
            assert!(
                heading.contains(" ms from ") || heading.contains(" s from "),
                "{name} {id}: {text}"
            );
        }
    }
}

#[test]
fn openmetrics_have_their_end_mark_also_without_counters() {
    let ran = run("report counters testdata/traces/tiny-v4.nettrace.gz --format openmetrics");
    assert_eq!((ran.code, ran.text()), (Some(0), "# EOF\n"));
}

mod with_shared {
    use super::*;

    // The thread pool's idle workers, the thread that waits for sockets, and the one that watches
    // files take 100 of 110 s.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn idle_threads_of_a_server_do_not_head_its_methods() {
        let web = corpus::trace("aspnet-net10-linux-x64/web.nettrace");
        let top = report(&["topN", web.path().to_str().unwrap(), "-n", "1000"]);
        let methods = rows(&top, "methods");
        assert_eq!(methods[0]["name"], "web!Program.Main.lambda_0_3()");
        let idle = [
            "EventLoop",
            "WaitNative",
            "WaitForSignal",
            "WaitOneNoCheck",
            "Monitor.Wait(",
            "Sys.Read(",
        ];
        let heads = |row: &&Value| idle.iter().any(|name| row["name"].text().contains(name));
        for row in methods.iter().filter(heads) {
            assert!(row["self_percent"].as_f64().unwrap() < 0.5, "{row}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_id_that_a_report_of_a_web_server_shows_is_one_that_it_takes() {
        let web = corpus::trace("aspnet-net10-linux-x64/web.nettrace");
        assert_ids_are_taken(web.path().to_str().unwrap(), &["activities", "http"], 3);
    }
}
