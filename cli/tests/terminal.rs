//! Asserts that tables fit into a terminal of any width.

use crate::common;

use common::{expect, top};
use nettrace_cli::{Console, Exit};
use unicode_width::UnicodeWidthStr;

const REPORTS: &[&str] = &[
    "summary",
    "topN",
    "tree",
    "threads",
    "modules",
    "gc",
    "alloc",
    "types",
    "jit",
    "loader",
    "threadpool",
    "exceptions",
    "contention",
    "waits",
    "tasks",
    "activities",
    "http",
    "logs",
    "counters",
];

const TRACES: &[(&str, &str)] = &[
    ("net10-all", "net10-linux-x64/all.nettrace.gz"),
    ("net10-startup", "net10-linux-x64/startup.nettrace.gz"),
    ("net10-metrics", "net10-linux-x64/metrics.nettrace.gz"),
    ("net10-waits", "net10-linux-x64/waits.nettrace.gz"),
    ("net3.1-all", "net3.1-linux-x64/all.nettrace.gz"),
    ("one-collect", "one-collect-v6/cpu-and-switches.nettrace.gz"),
];

/// Returns the output of a command on a terminal of this many columns.
fn shown(args: &[&str], columns: &str) -> String {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let variable = |name: &str| (name == "COLUMNS").then(|| columns.to_owned());
    let console = Console {
        stdin: Box::new(std::io::empty()),
        stdout: &mut stdout,
        detached_stdout: || None,
        stderr: &mut stderr,
        stdin_is_terminal: true,
        stdout_is_terminal: true,
        stderr_is_terminal: false,
        variable: &variable,
    };
    let all = ["nettrace", "--color", "never"].iter().chain(args).map(Into::into);
    let exit = nettrace_cli::run(all, console);
    assert_eq!(exit, Exit::Fine, "{args:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Returns whether a line may be longer than the terminal, as messages and commands to copy are.
fn may_be_long(report: &str, line: &str) -> bool {
    report == "logs" || line.trim_start().starts_with("nettrace ")
}

#[test]
fn reports_fit_into_terminals_of_80_and_200_columns() {
    let mut too_long = Vec::new();
    for (name, file) in TRACES {
        let path = format!("testdata/traces/{file}");
        let full = top().join(&path).display().to_string();
        for columns in [80, 200] {
            let mut pages = String::new();
            for report in REPORTS {
                // `pages` tests the other reports of this trace, the largest one.
                let is_of_metrics = ["activities", "counters"].contains(report);
                if *name == "net10-metrics" && !is_of_metrics {
                    continue;
                }
                let args: &[&str] = match *report {
                    "summary" | "tree" | "logs" | "counters" => &["report", report, &full],
                    _ => &["report", report, &full, "-n", "5"],
                };
                let text = shown(args, &columns.to_string()).replace(&full, &path);
                for line in text.lines().filter(|line| !may_be_long(report, line)) {
                    if line.width() > columns {
                        too_long.push(format!("{name} {report}, {columns}: {line}"));
                    }
                }
                let lines: Vec<&str> = text.lines().take(40).collect();
                pages.push_str(&format!(
                    "== report {report}, {columns} columns\n{}\n\n",
                    lines.join("\n")
                ));
            }
            expect(&format!("terminal-{name}-{columns}.txt"), &pages);
        }
    }
    assert!(too_long.is_empty(), "{}", too_long.join("\n"));
}

#[test]
fn requested_columns_are_shown_and_others_are_listed_as_left_out() {
    let of = |file: &str| top().join(format!("testdata/traces/{file}")).display().to_string();
    let all = of("net10-linux-x64/all.nettrace.gz");
    for columns in ["60", "80"] {
        let when = shown(&["report", "topN", &all, "--when"], columns);
        assert!(when.contains("  WHEN  ") && when.contains("▁"), "{when}");
        let end = when.split_once("\ncolumns left out: ").expect("columns are left out").1;
        assert!(end.contains("; --wide "), "{end}");
        let times = shown(&["stats", &all, "--utc"], columns);
        let heading = times.lines().next().unwrap();
        assert!(heading.contains("FIRST") && heading.contains("LAST"), "{heading}");
    }
    // All tables of a page have the same columns.
    let counters = shown(&["report", "counters", &all], "80");
    let headings: Vec<Vec<&str>> = counters
        .lines()
        .filter(|line| line.ends_with("  COUNTER"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(headings.len() > 1 && headings.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(!shown(&["report", "counters", &all], "300").contains("left out"));
}

#[test]
fn rows_of_places_and_counters_are_distinguishable_on_80_columns() {
    let of = |file: &str| top().join(format!("testdata/traces/{file}")).display().to_string();
    let waits = shown(&["report", "waits", &of("net10-linux-x64/waits.nettrace.gz")], "80");
    let places: Vec<&str> = waits.lines().filter(|line| line.contains("Enter_Slowpath")).collect();
    let end = |line: &str| line.split_once("Enter_Slowpath").unwrap().1.to_owned();
    assert_eq!(places.len(), 2, "{waits}");
    assert_ne!(end(places[0]), end(places[1]));
    assert!(places.iter().all(|place| place.contains("ContentionRound")), "{waits}");
    let all = of("net10-linux-x64/all.nettrace.gz");
    let contention = shown(&["report", "contention", &all], "80");
    assert!(contention.contains("ContentionRound"), "{contention}");
    let threads = shown(&["report", "threads", &all], "80");
    assert!(threads.contains("…LowLevelLifoSemaphore.WaitNative(…) 67 %"), "{threads}");
    let metrics = of("net10-linux-x64/metrics.nettrace.gz");
    let counters = shown(&["report", "counters", &metrics], "80");
    let mut names: Vec<&str> = counters
        .lines()
        .filter_map(|line| line.rsplit_once("  "))
        .map(|(_, name)| name)
        .filter(|name| name.contains("generation="))
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(all > 10 && names.len() == all, "{counters}");
}

#[test]
fn what_changed_fits_into_terminals_of_80_and_200_columns() {
    let of = |file: &str| top().join(format!("testdata/traces/{file}")).display().to_string();
    let old = of("net10-linux-x64/startup.nettrace.gz");
    let new = of("net10-linux-x64/all.nettrace.gz");
    for columns in [80, 200] {
        let text = shown(&["diff", &old, &new, "--all", "-n", "60"], &columns.to_string());
        let too_long: Vec<&str> = text.lines().filter(|line| line.width() > columns).collect();
        assert!(too_long.is_empty(), "{}", too_long.join("\n"));
        // The output has the table's first lines, and the ends of names, which tell methods apart.
        assert!(text.contains("One run each") && text.contains("WEIGHT"), "{text}");
        let lines: Vec<&str> = text.lines().take(40).collect();
        expect(&format!("terminal-diff-{columns}.txt"), &format!("{}\n", lines.join("\n")));
    }
}

#[test]
fn with_wide_a_terminal_gets_what_a_file_gets() {
    let full = top().join("testdata/traces/net10-linux-x64/all.nettrace.gz").display().to_string();
    for report in ["topN", "gc", "threads"] {
        let wide = shown(&["report", report, &full, "--wide"], "80");
        let file = common::nettrace(&["report", report, &full]);
        assert_eq!(wide, file.text(), "{report}");
        assert_ne!(shown(&["report", report, &full], "80"), wide, "{report}");
    }
}
