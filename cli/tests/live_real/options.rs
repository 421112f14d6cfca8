//! Options of `dotnet-trace collect`: `nettrace collect` knows each with its values, for scripts.
//! Differences are listed with their reasons.

use super::{Ran, Subject, finished, launching, ran, wait_until};
use crate::common::command;
use nettrace_testdata::peers::{self, Folder};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Option of `dotnet-trace collect`, the ways in which scripts write it, and a difference.
struct Known {
    option: &'static str,
    written: &'static [&'static [&'static str]],
    difference: Option<&'static str>,
}

const fn same(option: &'static str, written: &'static [&'static [&'static str]]) -> Known {
    Known { option, written, difference: None }
}

const fn other(
    option: &'static str,
    written: &'static [&'static [&'static str]],
    difference: &'static str,
) -> Known {
    Known { option, written, difference: Some(difference) }
}

const KNOWN: &[Known] = &[
    same("--process-id", &[&["-p", "1"], &["--process-id", "1"], &["-p:1"], &["--process-id=1"]]),
    same("--buffersize", &[&["--buffersize", "64"], &["--buffersize:64"]]),
    other(
        "--output",
        &[&["-o", "x.nettrace"], &["--output:x.nettrace"]],
        "the name without it has no underscores for an unknown name; nothing is \
         overwritten without --force; FILE.part until it is whole",
    ),
    other(
        "--providers",
        &[
            &["--providers", "Microsoft-Windows-DotNETRuntime:0x1:4,System.Net.Http"],
            &["--providers", "Shop:0x1:1:FilterSpec=\"A/B:-P=P;Q=Q.A.B;\""],
            &["--providers", "Shop::Verbose"],
        ],
        "what several options say of a provider unites; there the one that is named wins. \
         Without keywords: all, there 0, with which most providers send nothing",
    ),
    same("--profile", &[&["--profile", "gc-collect,gc-verbose"], &["--profile", "database"]]),
    other(
        "--format",
        &[&["--format", "speedscope,chromium"]],
        "takes several, and more formats: collect --format list",
    ),
    same("--duration", &[&["--duration", "00:00:00:10"], &["--duration:00:00:10"]]),
    other(
        "--clrevents",
        &[&["--clrevents", "gc+exception"]],
        "unites with a profile and with --providers; there those win and it is left out",
    ),
    same(
        "--clreventlevel",
        &[
            &["--clrevents", "gc", "--clreventlevel", "4"],
            &["--clrevents", "gc", "--clreventlevel", "Informational"],
        ],
    ),
    same("--name", &[&["-n", "shop"], &["--name", "shop"]]),
    same("--diagnostic-port", &[&["--diagnostic-port", "x.sock"], &["--dport", "x.sock,connect"]]),
    other(
        "--show-child-io",
        &[&["--show-child-io"], &["--show-child-io:false"], &["--show-child-io", "true"]],
        "on unless it is false: a started program uses the terminal as in a shell",
    ),
    same(
        "--resume-runtime",
        &[&["--resume-runtime:false"], &["--resume-runtime", "false"], &["--resume-runtime"]],
    ),
    same("--stopping-event-provider-name", &[&["--stopping-event-provider-name", "Shop"]]),
    same(
        "--stopping-event-event-name",
        &[&["--stopping-event-provider-name", "Shop", "--stopping-event-event-name", "Sold"]],
    ),
    same(
        "--stopping-event-payload-filter",
        &[&[
            "--stopping-event-provider-name",
            "Shop",
            "--stopping-event-event-name",
            "Sold",
            "--stopping-event-payload-filter",
            "count:1,name:x",
        ]],
    ),
    other(
        "--rundown",
        &[&["--rundown"], &["--rundown:false"], &["--rundown", "true"]],
        "takes keywords, too, in hexadecimal",
    ),
    other(
        "--buffering-mode",
        &[
            &["--buffering-mode", "Drop"],
            &["--buffering-mode", "block"],
            &["--buffering-mode:0"],
            &["--buffering-mode", "1"],
        ],
        "Block on a runtime before .NET 11 is a warning, and the trace is recorded; there it fails",
    ),
    other(
        "--dsrouter",
        &[],
        "not needed: devices connect to --port tcp://…, which is what the message says",
    ),
];

/// Option in the help of dotnet-trace.
#[derive(Debug, Default)]
struct Theirs {
    names: Vec<String>,
    default: Option<String>,
    values: Vec<String>,
}

fn theirs(help: &str) -> Vec<Theirs> {
    let lines = help.lines().filter(|line| line.starts_with("  -"));
    let options = lines.map(|line| {
        let words = line.split_whitespace();
        let names = words
            .map(|word| word.trim_end_matches(','))
            .take_while(|word| word.starts_with('-'))
            .map(str::to_owned);
        let between = |open: &str, close: &str| {
            let (_, rest) = line.split_once(open)?;
            Some(rest.split_once(close)?.0.to_owned())
        };
        let values = between(" <", ">").filter(|values| values.contains('|'));
        Theirs {
            names: names.collect(),
            default: between("[default: ", "]"),
            values: values
                .map(|values| values.split('|').map(str::to_owned).collect())
                .unwrap_or_default(),
        }
    });
    options.filter(|theirs| !theirs.names.iter().any(|name| name == "--help")).collect()
}

/// Returns the defaults in the help of `nettrace collect`, by option.
fn defaults(help: &str) -> BTreeMap<String, String> {
    let (mut all, mut option) = (BTreeMap::new(), String::new());
    for line in help.lines() {
        let words = line.split_whitespace();
        let mut names = words.map(|word| word.trim_end_matches(','));
        if let Some(name) = names.find(|name| name.starts_with("--"))
            && line.trim_start().starts_with('-')
        {
            option = name.to_owned();
        }
        let default =
            line.trim().strip_prefix("[default: ").and_then(|rest| rest.strip_suffix(']'));
        if let Some(default) = default {
            all.insert(option.clone(), default.to_owned());
        }
    }
    all
}

/// Runs `collect --dry-run` with these options.
fn tried(words: &[&str]) -> Ran {
    let whom: &[&str] = match words {
        ["-p" | "-n" | "--process-id" | "--name" | "--diagnostic-port" | "--dport", ..] => &[],
        [first, ..] if first.starts_with("-p:") || first.starts_with("--process-id=") => &[],
        _ => &["-p", "1"],
    };
    ran(&[&["collect", "--dry-run"], whom, words].concat(), &Folder::new())
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn every_option_of_dotnet_trace_is_taken_with_its_values_or_differs_for_a_reason() {
    let mut tool = peers::tool("dotnet-trace/dotnet-trace.dll");
    let output = tool.args(["collect", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let theirs = theirs(&help);
    let own = ran(&["collect", "--help"], &Folder::new());
    let own_defaults = defaults(own.text());
    assert!(theirs.len() >= 19, "{help}");
    for option in &theirs {
        let is_wanted = |known: &&Known| option.names.iter().any(|name| name == known.option);
        let known = KNOWN.iter().find(is_wanted);
        let known = known.unwrap_or_else(|| panic!("dotnet-trace has {:?}, too", option.names));
        for name in &option.names {
            // Only an unknown option is an error here.
            let run = ran(&["collect", name], &Folder::new());
            assert!(!run.stderr.contains("unexpected argument"), "{name}: {}", run.stderr);
        }
        for words in known.written {
            let run = tried(words);
            assert_eq!(run.code, Some(0), "{words:?}: {}", run.stderr);
        }
        for value in &option.values {
            for value in [value.clone(), value.to_ascii_lowercase()] {
                let run = tried(&[known.option, &value]);
                assert_eq!(run.code, Some(0), "{} {value}: {}", known.option, run.stderr);
            }
        }
        if let Some(default) = &option.default {
            // The help leaves out obvious defaults: true, or no file.
            let own = own_defaults.get(known.option).map_or("", String::as_str);
            let is_same = own.eq_ignore_ascii_case(default)
                || own.is_empty() && ["True", "default", "NetTrace"].contains(&default.as_str());
            assert!(is_same, "{}: {default} there, {own} here", known.option);
        }
        assert!(
            known.difference.is_none_or(|reason| reason.len() > 20) && !known.option.is_empty()
        );
    }
    for known in KNOWN {
        let is_there = theirs.iter().any(|theirs| theirs.names.iter().any(|n| n == known.option));
        assert!(is_there, "dotnet-trace has no {} any more", known.option);
    }
}

#[test]
fn differences_from_dotnet_trace_are_those_listed_here() {
    // Without keywords, a provider has all.
    let run = tried(&["--providers", "Shop"]);
    assert!(run.text().contains("Shop  keywords 0xffffffffffffffff"), "{}", run.text());
    // Keywords of several options are united.
    let run = tried(&["--clrevents", "exception", "--profile", "gc-collect"]);
    let runtime: Vec<&str> =
        run.text().lines().filter(|line| line.contains("-DotNETRuntime  keywords")).collect();
    assert!(runtime.len() == 1 && runtime[0].contains("8001  level 4"), "{}", run.text());
    let run = tried(&["--dsrouter", "ios"]);
    assert!(run.code == Some(2) && run.stderr.contains("needs no router"), "{}", run.stderr);
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_line_of_a_script_for_dotnet_trace_records_what_it_asks_for() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let line = "--providers Nettrace-Workload:0x7:5 --profile gc-verbose --clrevents jit \
                    --clreventlevel 5 --buffersize 64 --buffering-mode Drop --rundown:false \
                    --resume-runtime:false --duration 00:00:00:01 --format Speedscope -o x.nettrace";
        let run = subject.collect(&line.split_whitespace().collect::<Vec<_>>());
        let context = format!(".NET {}: {}", peer.major, run.stderr);
        assert_eq!(run.code, Some(0), "{context}");
        let (table, _) = run.stderr.split_once("recording workload").expect(&context);
        for (name, from) in [
            ("Nettrace-Workload", "--providers"),
            ("Microsoft-Windows-DotNETRuntime ", "--profile gc-verbose, --clrevents"),
        ] {
            let row = table.lines().find(|line| line.contains(name)).expect(&context);
            assert!(row.contains("(5)") && row.ends_with(from), "{context}");
        }
        let info = subject.info("x.nettrace");
        assert!(info["complete"] == true && info["events"].as_u64() > Some(10), "{info}");
        assert!(std::path::Path::new(&subject.folder.file("x.speedscope.json")).exists());
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn enter_ends_a_recording_of_a_real_process_on_a_terminal() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let pid = subject.pid();
        let own = command(&["collect", "-p", &pid, "--patience", "120s", "-o", "x.nettrace"]);
        let words = std::iter::once(own.get_program()).chain(own.get_args());
        let words: Vec<String> =
            words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        // `script` runs the command on a terminal, and passes its standard input on to it.
        let script = Command::new("script")
            .args(["-q", "-e", "-c", &words.join(" "), "/dev/null"])
            .current_dir(subject.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut script = script.expect("there is a script (util-linux)");
        let part = subject.folder.file("x.nettrace.part");
        wait_until("the first bytes", || {
            std::fs::metadata(&part).is_ok_and(|data| data.len() > 10_000)
        });
        let mut keys = script.stdin.take().unwrap();
        std::io::Write::write_all(&mut keys, b"\n").unwrap();
        wait_until("its end", || script.try_wait().unwrap().is_some());
        assert_eq!(script.wait().unwrap().code(), Some(0));
        assert_eq!(subject.info("x.nettrace")["complete"], true);
        drop(keys);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn what_a_started_program_writes_is_shown_unless_it_is_not_to_be() {
    peers::each(peers::modern(), |peer| {
        for (option, is_shown) in [("--show-child-io", true), ("--show-child-io:false", false)] {
            let folder = Folder::new();
            let options = ["collect", "--patience", "120s", option, "-o", "x.nettrace"];
            let output = launching(peer, &options, ("sleep", 1), &folder).output().unwrap();
            let run = finished(output);
            assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
            assert_eq!(run.text().contains("ready"), is_shown, ".NET {} {option}", peer.major);
        }
    });
}
