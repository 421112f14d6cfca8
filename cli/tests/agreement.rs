//! Asserts that reports agree with each other and with the counts of events, on every trace of the
//! corpus, and that the numbers of the summary's findings are in the reports that they name.

use crate::common;
use crate::common::Json;

use common::nettrace;
use nettrace_testdata::corpus;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const TASKS: &str = "System.Threading.Tasks.TplEventSource";
const SAMPLER: &str = "Microsoft-DotNETCore-SampleProfiler";
const UNIVERSAL: &str = "Universal.Events";

/// Reports with the options that list all rows.
const REPORTS: [&[&str]; 20] = [
    &["startup"],
    &["topN", "-n", "1000000"],
    &["tree", "--min", "0"],
    &["threads"],
    &["modules"],
    &["gc"],
    &["alloc"],
    &["types"],
    &["jit"],
    &["loader"],
    &["exceptions", "-n", "1000000"],
    &["contention", "-n", "1000000"],
    &["waits", "-n", "1000000"],
    &["tasks", "-n", "1000000"],
    &["activities", "-n", "1000000"],
    &["http", "-n", "1000000"],
    &["sql", "-n", "1000000"],
    &["threadpool"],
    &["counters"],
    &["summary"],
];

/// Trace with all its reports.
struct TraceReports {
    path: String,
    stats: Value,
    reports: BTreeMap<&'static str, Value>,
}

impl TraceReports {
    fn new(path: &str) -> TraceReports {
        let json = |args: &[&str]| nettrace(args).json();
        let reports = REPORTS.iter().map(|words| {
            let args = [&["report", words[0], path, "--json"], &words[1..]].concat();
            (words[0], json(&args))
        });
        TraceReports {
            path: path.to_owned(),
            stats: json(&["stats", path, "--json"]),
            reports: reports.collect(),
        }
    }

    /// Returns the number of events of a provider with these ids.
    fn events(&self, provider: &str, ids: &[u64]) -> u64 {
        let types = self.stats["types"].list().iter();
        let of = types.filter(|row| row["provider"] == provider && ids.contains(&row["id"].int()));
        of.map(|row| row["events"].int()).sum()
    }

    fn value(&self, report: &str, pointer: &str) -> &Value {
        self.reports[report]
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{}: {report} {pointer}", self.path))
    }

    fn number(&self, report: &str, pointer: &str) -> u64 {
        let value = self.value(report, pointer);
        value.as_u64().unwrap_or_else(|| panic!("{}: {report} {pointer}: {value}", self.path))
    }

    fn rows(&self, report: &str, pointer: &str) -> &[Value] {
        self.value(report, pointer).list()
    }

    /// Returns the sum of a member of all rows.
    fn sum(&self, report: &str, pointer: &str, member: &str) -> u64 {
        self.rows(report, pointer).iter().map(|row| row.pointer(member).unwrap().int()).sum()
    }

    /// Returns the number of samples. Samples of operating systems' recorders have a name, but no
    /// id.
    fn samples(&self) -> u64 {
        let types = self.stats["types"].list().iter();
        let of = types.filter(|row| row["provider"] == UNIVERSAL && row["name"] == "cpu");
        of.map(|row| row["events"].int()).sum::<u64>() + self.events(SAMPLER, &[0])
    }
}

/// Disagreements, collected so that one run shows all.
#[derive(Default)]
struct Doubts(Vec<String>);

impl Doubts {
    fn same(&mut self, what: &str, one: u64, other: u64) {
        if one != other {
            self.0.push(format!("{what}: {one}, not {other}"));
        }
    }
}

#[test]
fn reports_agree_with_each_other_and_with_the_counts_of_events() {
    let traces: Vec<String> =
        corpus::traces().iter().map(|trace| trace.path().display().to_string()).collect();
    assert_no_doubt(traces, |path, doubts| {
        let trace = TraceReports::new(path);
        sums(&trace, doubts);
        summary(&trace, doubts);
    });
}

/// Calls `check` for each trace, on several threads, and asserts that none finds a disagreement.
fn assert_no_doubt(traces: Vec<String>, check: impl Fn(&str, &mut Doubts) + Sync) {
    let left = Mutex::new(traces);
    let doubts = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get()).min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = { left.lock().unwrap().pop() } {
                    let mut of_trace = Doubts::default();
                    check(&path, &mut of_trace);
                    let named = of_trace.0.into_iter().map(|doubt| format!("{path}: {doubt}"));
                    doubts.lock().unwrap().extend(named);
                }
            });
        }
    });
    let doubts = doubts.into_inner().unwrap();
    assert!(doubts.is_empty(), "{}", doubts.join("\n"));
}

fn sums(trace: &TraceReports, doubts: &mut Doubts) {
    let number = |report: &str, pointer: &str| trace.number(report, pointer);
    let runtime = |ids: &[u64]| trace.events(RUNTIME, ids);

    let thrown = number("exceptions", "/count");
    doubts.same("exceptions", thrown, runtime(&[80]));
    doubts.same("exceptions by type", trace.sum("exceptions", "/types", "/count"), thrown);
    doubts.same("exceptions by thread", trace.sum("exceptions", "/threads", "/count"), thrown);

    for (report, start, stop, places) in
        [("contention", 81, 91, "/locks"), ("waits", 301, 302, "/places")]
    {
        doubts.same(&format!("{report} starts"), number(report, "/started"), runtime(&[start]));
        let stopped = number(report, "/stopped");
        doubts.same(&format!("{report} stops"), stopped, runtime(&[stop]));
        let measured = number(report, "/waits/count");
        doubts.same(
            &format!("{report} by place"),
            trace.sum(report, places, "/waits/count"),
            measured,
        );
        let of_places = trace.sum(report, places, "/waits/total_ns");
        doubts.same(
            &format!("{report} time by place"),
            of_places,
            number(report, "/waits/total_ns"),
        );
        let ends =
            stopped + number(report, "/starts_without_stop") + number(report, "/still_waiting");
        let begins = number(report, "/started") + number(report, "/stops_without_start");
        doubts.same(&format!("{report} begins and ends"), begins, ends);
    }

    for (member, id) in [
        ("/scheduled", 7),
        ("/started", 8),
        ("/completed", 9),
        ("/waits_begun", 10),
        ("/waits_ended", 11),
    ] {
        // `tasks` does not count ends whose beginning was lost.
        if trace.stats["lost"] == 0 || id != 11 {
            doubts.same(
                &format!("tasks {member}"),
                number("tasks", member),
                trace.events(TASKS, &[id]),
            );
        }
    }
    doubts.same(
        "tasks by name",
        trace.sum("tasks", "/tasks", "/scheduled"),
        number("tasks", "/scheduled"),
    );

    let samples = number("threads", "/samples");
    doubts.same("samples", samples, trace.samples());
    doubts.same("samples by thread", trace.sum("threads", "/threads", "/samples"), samples);
    let ran = number("topN", "/samples");
    doubts.same("samples that ran or waited", ran + number("topN", "/waiting_samples"), samples);
    doubts.same("samples of the tree", number("tree", "/samples"), ran);
    let of_methods = trace.sum("topN", "/methods", "/self_samples");
    doubts.same("samples by method", of_methods + number("topN", "/samples_without_stack"), ran);

    let whole = trace.rows("gc", "/collections").len() as u64;
    let partial = trace.rows("gc", "/partial").len() as u64;
    doubts.same("collections", whole + partial, runtime(&[1]));
    doubts.same(
        "collections by generation",
        trace.sum("gc", "/totals/generations", "/count"),
        whole,
    );

    for source in trace.rows("alloc", "/sources") {
        let ids: &[u64] = match source["source"].text() {
            "AllocationSampled" => &[303],
            "AllocationTick" => &[10],
            _ => &[20, 32],
        };
        let events = source["events"].int();
        doubts.same("allocations", events, runtime(ids));
        for list in ["types", "stacks", "threads"] {
            let rows = source[list].list();
            let sum = rows.iter().map(|row| row["events"].int()).sum();
            doubts.same(&format!("allocations by {list}"), sum, events);
        }
        let stacks = source["stacks"].list();
        let distinct: BTreeSet<String> =
            stacks.iter().map(|row| format!("{} {}", row["type"], row["frames"])).collect();
        doubts.same("distinct stacks of allocations", distinct.len() as u64, stacks.len() as u64);
    }
    if let Some(source) = trace.rows("alloc", "/sources").first() {
        doubts.same("bytes by type", number("types", "/bytes"), source["bytes"].int());
    }

    let methods = number("jit", "/totals/methods");
    doubts.same("compiled methods", trace.rows("jit", "/methods").len() as u64, methods);
    doubts.same("compiled methods by tier", trace.sum("jit", "/tiers", "/methods"), methods);

    // Recorders of operating systems report mapped files, which no runtime has loaded.
    if trace.rows("loader", "/modules").is_empty() {
        let native = trace.rows("modules", "/modules").iter().filter(|row| row["kind"] == "native");
        doubts.same(
            "native modules",
            native.count() as u64,
            trace.rows("modules", "/modules").len() as u64,
        );
    } else {
        let modules = trace.rows("modules", "/modules").len() as u64;
        doubts.same("modules", modules, trace.rows("loader", "/modules").len() as u64);
    }

    for report in ["activities", "http"] {
        let started = number(report, "/started");
        doubts.same(
            &format!("{report} by name"),
            trace.sum(report, "/activities", "/started"),
            started,
        );
    }

    // If two layers of the server report a request, it is counted once.
    let starts = |provider: &str, id| trace.events(provider, &[id]);
    let inner = starts("Microsoft-AspNetCore-Server-Kestrel", 3);
    let requests =
        starts("Microsoft.AspNetCore.Hosting", 3).max(inner) + starts("System.Net.Http", 1);
    if trace.stats["lost"] == 0 && requests > 0 {
        doubts.same("requests", number("http", "/started"), requests);
    }

    let activities = trace.sum("activities", "/tree", "/started");
    doubts.same("activities by place", activities, number("activities", "/started"));

    for answer in trace.rows("summary", "/answers") {
        let due = match answer["report"].text() {
            "topN" => samples,
            "gc" => runtime(&[1]),
            "alloc" => trace.rows("alloc", "/sources")[0]["events"].int(),
            "exceptions" => thrown,
            "contention" => number("contention", "/started"),
            "waits" => number("waits", "/started"),
            "tasks" => trace.events(TASKS, &[7, 8, 9, 10, 11]),
            _ => continue,
        };
        doubts.same(&format!("the summary's {}", answer["report"]), answer["events"].int(), due);
    }
}

/// Returns the JSON pointer of a finding's number in the document of the report that it names.
fn pointer(about: &str) -> &'static str {
    match about {
        "gc" => "/totals/pause_ns",
        "jit" => "/totals/duration_ns",
        "alloc" => "/sources/0/bytes",
        "exceptions" => "/count",
        "contention" | "waits" => "/waits/total_ns",
        "starvation" => "/starvation/count",
        "no_starvation" => "/max_workers",
        "activities" => "/errors",
        "slow_activity" => "/slowest/0/duration_ns",
        other => panic!("{other}"),
    }
}

/// Returns the values at a path such as `locks[].held.p50_ns`, each with the name of its row; what
/// follows ` → `, such as `native call`, is no part of the name.
fn values_at<'v>(document: &'v Value, path: &str) -> Vec<(&'v str, f64)> {
    match path.split_once("[].") {
        None => {
            let value = document.pointer(&format!("/{}", path.replace('.', "/")));
            let name = document["name"].as_str().unwrap_or_default();
            let name = name.split(" → ").next().unwrap_or(name);
            value.and_then(Value::as_f64).map(|value| (name, value)).into_iter().collect()
        }
        Some((list, member)) => {
            let rows = document.pointer(&format!("/{}", list.replace('.', "/")));
            let rows = rows.and_then(Value::as_array).into_iter().flatten();
            rows.flat_map(|row| values_at(row, member)).collect()
        }
    }
}

/// Asserts that each number of a finding that names a member of a report is there: in the row of the
/// finding's method, or else as a value or as the sum of a method's rows or of all rows. Returns how
/// many numbers name one.
fn numbers(
    path: &str,
    finding: &Value,
    documents: &mut BTreeMap<String, Value>,
    doubts: &mut Doubts,
) -> usize {
    let mut compared = 0;
    for (name, number) in finding["numbers"].as_object().unwrap() {
        let (Some(command), Some(member)) = (number["report"].as_str(), number["member"].as_str())
        else {
            continue;
        };
        let document = documents.entry(command.to_owned()).or_insert_with(|| {
            let words: Vec<&str> = command.split(' ').collect();
            // A method's native calls may be a row far below.
            let all: &[&str] = if words.contains(&"topN") { &["-n", "1000000"] } else { &[] };
            nettrace(&[&words[..], &[path, "--json"], all].concat()).json()
        });
        let values = values_at(document, member);
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (row, value) in &values {
            *sums.entry(*row).or_default() += value;
        }
        compared += 1;
        let due = number["value"].as_f64().unwrap();
        let is_due = |value: f64| (value - due).abs() <= due.abs() / 1e6;
        let method = finding["method"].as_str().filter(|_| member.starts_with("methods[]."));
        let is_there = match method {
            Some(method) => {
                let method = method.split(" → ").next().unwrap_or(method);
                let each = values.iter().filter(|(row, _)| *row == method);
                each.map(|(_, value)| *value).chain(sums.get(method).copied()).any(is_due)
            }
            None => {
                let each = values.iter().map(|(_, value)| *value);
                each.chain(sums.values().copied()).chain([sums.values().sum()]).any(is_due)
            }
        };
        doubts.same(
            &format!("{} `{name}` {due} is in `{member}` of `{command}`", finding["kind"]),
            is_there.into(),
            1,
        );
    }
    compared
}

fn summary(trace: &TraceReports, doubts: &mut Doubts) {
    let mut documents = BTreeMap::new();
    for finding in trace.rows("summary", "/findings") {
        numbers(&trace.path, finding, &mut documents, doubts);
        let text = |member: &str| finding[member].text();
        let (about, value) = (text("about"), finding["value"].int());
        let mut words: Vec<&str> = text("command").split(' ').collect();
        words.push(&trace.path);
        match about {
            "lost_events" => doubts.same(
                "lost",
                value,
                nettrace(&["info", &trace.path, "--json"]).json()["lost"].int(),
            ),
            "missing_names" => {
                let messages = nettrace(&words).stderr;
                doubts.same(text("text"), messages.contains(text("text")).into(), 1);
                continue;
            }
            "log_errors" => {
                words.push("--json");
                doubts.same(text("text"), value, nettrace(&words).json()["count"].int());
                continue;
            }
            "repeated_query" => {
                doubts.same(text("text"), (value <= trace.number("sql", "/count")).into(), 1);
                continue;
            }
            // It counts incoming requests alone, or those of them that failed.
            "requests" => {
                let started = trace.number("http", "/started");
                doubts.same(text("text"), (value <= started).into(), 1);
                continue;
            }
            "activity_ids" => {
                let started = trace.number("activities", "/started");
                doubts.same(text("text"), (value <= started).into(), 1);
                continue;
            }
            // Its number is in no report.
            "faulty_source" | "sync_over_async" | "waiting" => continue,
            // Open waits are in two lists, one of events and one of stacks.
            "heap" | "endless_wait" | "deadlock" => {
                words.push("--json");
                let is_there = nettrace(&words).text().contains(&value.to_string());
                doubts.same(text("text"), is_there.into(), 1);
                continue;
            }
            "cut_off" => {
                let info = nettrace(&["info", &trace.path, "--json"]).json();
                doubts.same(text("text"), (info["complete"] == false).into(), 1);
                continue;
            }
            // `numbers` compares it with the report's rows.
            "hottest_method" => continue,
            "finalizer" => {
                words.push("--json");
                let report = nettrace(&words).json();
                words.pop();
                // Samples in a method's native calls have their own row.
                let mut sums: std::collections::BTreeMap<&str, u64> = Default::default();
                for row in report["methods"].list() {
                    let name = row["name"].text();
                    let method = name.split(" → ").next().unwrap_or(name);
                    *sums.entry(method).or_default() += row["self_ns"].int();
                }
                doubts.same(text("text"), sums.values().any(|sum| *sum == value).into(), 1);
                continue;
            }
            "threads" => {
                doubts.same(text("text"), value, trace.rows("threads", "/threads").len() as u64);
                continue;
            }
            _ => doubts.same(text("text"), value, trace.number(words[1], pointer(about))),
        }
    }
    let summary_page = nettrace(&[&trace.path]);
    let findings =
        summary_page.text().lines().skip_while(|line| *line != "What stands out").skip(1);
    // Lines are not cut, because they do not go to a terminal.
    let texts = trace.rows("summary", "/findings");
    for line in findings.take_while(|line| !line.is_empty()) {
        let is_command = line.starts_with("    nettrace ");
        let is_whole = texts.iter().any(|finding| match finding["severity"].text() {
            "notable" => finding["text"] == line.trim(),
            severity => format!("{severity}: {}", finding["text"].text()) == line.trim(),
        });
        doubts.same(line, (is_command || is_whole).into(), 1);
    }
    // Each report that the summary offers has content.
    for answer in trace.rows("summary", "/answers") {
        let rows = match answer["report"].text() {
            "topN" => trace.number("threads", "/samples"),
            "gc" => trace.rows("gc", "/collections").len() as u64,
            "alloc" => trace.rows("alloc", "/sources").len() as u64,
            "jit" => trace.number("jit", "/totals/methods"),
            "counters" => trace.rows("counters", "/series").len() as u64,
            report @ ("exceptions" | "sql") => trace.number(report, "/count"),
            "tasks" => trace.number("tasks", "/scheduled") + trace.number("tasks", "/waits_begun"),
            report @ ("contention" | "waits" | "activities") => trace.number(report, "/started"),
            report => nettrace(&["report", report, &trace.path]).stdout.len() as u64,
        };
        doubts.same(
            &format!("the report {} has something", answer["report"]),
            (rows > 0).into(),
            1,
        );
    }
}

mod with_shared {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_number_of_a_finding_is_in_the_report_that_it_names() {
        let traces = corpus::of_shared();
        let paths = traces.iter().map(|trace| trace.path().display().to_string()).collect();
        let compared = AtomicUsize::new(0);
        assert_no_doubt(paths, |path, doubts| {
            let summary = nettrace(&["report", "summary", path, "--json"]).json();
            let mut documents = BTreeMap::new();
            for finding in summary["findings"].list() {
                let count = numbers(path, finding, &mut documents, doubts);
                compared.fetch_add(count, Ordering::Relaxed);
            }
        });
        let compared = compared.into_inner();
        assert!(compared >= 4 * traces.len(), "{compared} numbers of {} traces", traces.len());
    }
}
