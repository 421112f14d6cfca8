//! `nettrace watch` against the fake runtime.

use super::common::Json;
use super::{
    Folder, address, common::command, ids, lines_of, metrics, on, ran, sampled, signal, start,
    streaming, trace, up_to_the_end_mark, wait_until,
};
use nettrace_ipc::CommandId;
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[cfg(unix)]
#[test]
fn watch_shows_all_that_has_come_when_nothing_more_comes() {
    let bytes = metrics();
    let folder = Folder::new();
    let expected = {
        std::fs::write(folder.0.join("cut.nettrace"), &bytes[..bytes.len() - 1]).unwrap();
        let run = ran(&["events", "cut.nettrace", "--format", "ndjson"], &folder);
        run.lines().len()
    };
    let fake = FakeRuntime::start(up_to_the_end_mark(&bytes)).unwrap();
    let port = address(&fake);
    let mut child =
        start(&mut command(&["watch", "--port", &port, "--providers", "X", "--format", "ndjson"]));
    let lines = lines_of(&mut child);
    let mut seen = 0;
    while seen < expected {
        let (_, line) = lines.recv().unwrap_or_else(|_| panic!("{seen}/{expected}"));
        serde_json::from_str::<Value>(&line).unwrap();
        seen += 1;
    }
    // All lines came although the session is still open.
    wait_until("the session to be counted", || fake.session_count() == 1);
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fake.stops().len(), 1);
}

#[test]
fn watch_filters_and_ends_as_events_does() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&trace("net10-linux-x64/all.nettrace.gz"))).unwrap();
    let run = on(&fake, &folder, &["watch", "--show", "gc", "--limit", "3", "--format", "ndjson"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let ids: Vec<u64> = run.lines().iter().map(|line| line["id"].int()).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| [1, 2, 4, 35].contains(id)), "{ids:?}");
    assert_eq!(fake.session_count(), 0);
    let run = on(&fake, &folder, &["watch", "--event", "Nope*", "--duration", "300ms"]);
    assert_eq!(run.code, Some(0));
    run.assert_message("no event is Nope*");
}

const EXCEPTIONS: [&str; 7] =
    ["--show", "exceptions", "--stacks", "--frames", "--format", "ndjson", "--limit=20"];

/// Returns the lines of `events` on the whole trace, with the names that it has.
fn exceptions_of_the_file(folder: &Folder) -> Vec<Value> {
    let config = sampled();
    std::fs::write(folder.0.join("whole.nettrace"), [config.stream, config.tail].concat()).unwrap();
    let words = ["events", "whole.nettrace", "--event", "Exception/Start"];
    ran(&[&words, &EXCEPTIONS[2..]].concat(), folder).lines()
}

#[test]
fn methods_that_were_loaded_before_are_named_by_the_rundown_of_a_session_that_ends_at_once() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(sampled()).unwrap();
    let run = on(&fake, &folder, &[&["watch"], &EXCEPTIONS[..]].concat());
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    assert_eq!(run.lines(), exceptions_of_the_file(&folder));
    let frames = run.lines()[0]["frames"].to_string();
    assert!(frames.contains("workload!Workload.Program.Thrower(int,int)"), "{frames}");
    // The session with the events begins first, so that no method is loaded between the two.
    let started: Vec<(u8, u8)> =
        ids(&fake).into_iter().filter(|(set, id)| *set == 2 && *id > 1).collect();
    assert_eq!(started, [(2, 3), (2, 5)]);
    let requests = fake.requests();
    let of = |id: u8| requests.iter().find(|request| request[16..18] == [2, id]).unwrap();
    // Keywords for exceptions, loader, JIT, NGEN and compilation diagnostic, with the bits that all
    // sessions have; level Verbose.
    assert_eq!(of(3)[33..45], [&0xF020_0000_8038_u64.to_le_bytes()[..], &[5, 0, 0, 0]].concat());
    // Rundown keywords for loader, JIT and NGEN.
    assert_eq!(of(5)[28..36], 0x138_u64.to_le_bytes());
    assert_eq!(fake.stops().len(), 2);
    assert_eq!(fake.session_count(), 0);
}

#[test]
fn missing_names_of_methods_loaded_before_are_reported_once() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(sampled()).unwrap();
    let refusal = FaultKind::Refuse(nettrace_ipc::HResult(0x8000_4005));
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_4, refusal)));
    let run = on(&fake, &folder, &[&["watch"], &EXCEPTIONS[..]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let note = "frames of methods that were loaded before are shown as addresses: ";
    assert_eq!(run.stderr.matches(note).count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    // Only methods that were loaded during the session have names.
    let (named, whole) = (run.lines(), exceptions_of_the_file(&folder));
    assert_eq!(named.len(), whole.len());
    assert!(named.iter().zip(&whole).all(|(line, known)| line["stack"] == known["stack"]));
    assert!(named != whole);
    // If no names are shown, events about methods are not requested.
    for words in [&["--stacks", "--raw-stacks"][..], &["--stacks", "--format", "ndjson"], &[]] {
        let fake = FakeRuntime::start(sampled()).unwrap();
        let run = on(
            &fake,
            &folder,
            &[&["watch", "--show", "exceptions", "--limit", "1"], words].concat(),
        );
        assert_eq!((run.code, &*run.stderr), (Some(0), ""));
        assert_eq!(fake.stops().len(), 1);
        let keywords = fake.requests().iter().find_map(|request| match request[16..18] {
            [2, 3] => Some(request[33..41].to_vec()),
            [2, 4] => Some(request[34..42].to_vec()),
            _ => None,
        });
        assert_eq!(keywords.unwrap(), 0xF000_0000_8000_u64.to_le_bytes());
    }
}

#[test]
fn events_that_only_names_are_learnt_from_are_shown_to_those_who_asked_for_them() {
    let folder = Folder::new();
    // A trace from a process's start has both kinds of events about methods.
    let names = |words: &[&str]| -> BTreeSet<String> {
        let fake =
            FakeRuntime::start(streaming(&trace("net10-linux-x64/killed-1.nettrace.gz"))).unwrap();
        let rest = ["--stacks", "--frames", "--format", "ndjson", "--duration=300ms"];
        let run = on(&fake, &folder, &[&["watch"], words, &rest].concat());
        assert!([Some(0), Some(3)].contains(&run.code), "{}", run.stderr);
        let runtime = run
            .lines()
            .into_iter()
            .filter(|line| line["provider"] == "Microsoft-Windows-DotNETRuntime");
        runtime.map(|line| line["event"].text().to_owned()).collect()
    };
    let has =
        |names: &BTreeSet<String>, start: &str| names.iter().any(|name| name.starts_with(start));
    assert_eq!(names(&["--providers", "Nettrace-Workload"]), BTreeSet::new());
    let exceptions = names(&["--clrevents", "exception"]);
    assert!(has(&exceptions, "Exception/Start"), "{exceptions:?}");
    assert!(!has(&exceptions, "Method/") && !has(&exceptions, "GC/"), "{exceptions:?}");
    let methods = names(&["--clrevents", "jit", "--clreventlevel", "informational"]);
    assert!(has(&methods, "Method/LoadVerbose"), "{methods:?}");
    assert!(!has(&methods, "Method/JittingStarted"), "{methods:?}");
    let methods = names(&["--clrevents", "jit", "--clreventlevel", "verbose"]);
    assert!(has(&methods, "Method/JittingStarted"), "{methods:?}");
    let one = names(&["--events", "Microsoft-Windows-DotNETRuntime=80"]);
    assert_eq!(one.into_iter().collect::<Vec<_>>(), ["Exception/Start"]);
}

/// Measures, and checks nothing: `cargo test --release -p nettrace-cli --test live_fake --
/// --ignored --nocapture delay`.
///
/// The fake sends a burst at its resume, and then nothing. The delay is the time from the resume to
/// the burst's last event on the command's standard output.
#[test]
#[ignore = "a measurement"]
fn delay_of_the_last_event_of_a_burst() {
    let folder = Folder::new();
    // A flush of a busy program has some hundred kilobytes; the second trace is larger.
    for name in ["net10-linux-x64/waits.nettrace.gz", "net10-linux-x64/all.nettrace.gz"] {
        let burst = up_to_the_end_mark(&trace(name)).stream;
        std::fs::write(folder.0.join("cut.nettrace"), &burst).unwrap();
        let expected =
            ran(&["events", "cut.nettrace", "--format", "ndjson"], &folder).lines().len();
        let mut delays: Vec<Duration> = (0..21).map(|_| delay(&burst, expected)).collect();
        delays.sort();
        let (median, longest) = (delays[delays.len() / 2], delays[delays.len() - 1]);
        println!(
            "{expected} events, {} bytes: median {median:?}, longest {longest:?}",
            burst.len()
        );
    }
}

/// Returns the time from the resume to the burst's last line.
fn delay(burst: &[u8], event_count: usize) -> Duration {
    let config = FakeConfig { suspended: true, stream: burst.to_vec(), ..FakeConfig::default() };
    let fake = FakeRuntime::start(config).unwrap();
    let port = address(&fake);
    let mut child =
        start(&mut command(&["watch", "--port", &port, "--providers", "X", "--format", "ndjson"]));
    let lines = lines_of(&mut child);
    while !fake.is_resumed() {
        std::thread::sleep(Duration::from_micros(100));
    }
    let sent = Instant::now();
    let mut last = sent;
    for _ in 0..event_count {
        last = lines.recv().unwrap().0;
    }
    signal(&child, "INT");
    child.wait().unwrap();
    last - sent
}
