//! What people see on a terminal: tables fit into it, whatever its width.

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
    ("net3.1-all", "net3.1-linux-x64/all.nettrace.gz"),
    ("one-collect", "one-collect-v6/cpu-and-switches.nettrace.gz"),
];

/// What a command shows on a terminal of so many columns.
fn shown(args: &[&str], columns: &str) -> String {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let variable = |name: &str| (name == "COLUMNS").then(|| columns.to_owned());
    let console = Console {
        stdin: Box::new(std::io::empty()),
        stdin_is_ready: || true,
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

/// Messages and commands to copy are shown whole.
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
                pages.push_str(&format!("== report {report}, {columns} columns\n{}\n\n", lines.join("\n")));
            }
            expect(&format!("terminal-{name}-{columns}.txt"), &pages);
        }
    }
    assert!(too_long.is_empty(), "{}", too_long.join("\n"));
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
