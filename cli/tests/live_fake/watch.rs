//! `nettrace watch` against the fake runtime.

use super::{
    Folder, LONG, address, common::command, lines_of, metrics, on, ran, signal, streaming, trace,
    up_to_the_end_mark, wait_until,
};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

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
    let mut child = command(&["watch", "--port", &port, "--providers", "X", "--format", "ndjson"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = lines_of(&mut child);
    let mut seen = 0;
    while seen < expected {
        let (_, line) = lines.recv_timeout(LONG).unwrap_or_else(|_| panic!("{seen}/{expected}"));
        serde_json::from_str::<Value>(&line).unwrap();
        seen += 1;
    }
    // The session goes on: all this came without its end.
    wait_until("the session to be counted", || fake.session_count() == 1);
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fake.stops().len(), 1);
}

#[test]
fn the_last_event_of_a_burst_is_shown_soon_after_its_bytes() {
    let folder = Folder::new();
    let config = FakeConfig { suspended: true, ..up_to_the_end_mark(&metrics()) };
    let burst = config.stream.clone();
    // All at once, then silence: its bytes come at the resume.
    let fake = FakeRuntime::start(config).unwrap();
    let port = address(&fake);
    let expected = {
        std::fs::write(folder.0.join("cut.nettrace"), &burst).unwrap();
        ran(&["events", "cut.nettrace", "--format", "ndjson"], &folder).lines().len()
    };
    let mut child = command(&["watch", "--port", &port, "--providers", "X", "--format", "ndjson"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = lines_of(&mut child);
    wait_until("the resume", || fake.is_resumed());
    for _ in 0..expected {
        lines.recv_timeout(LONG).unwrap();
    }
    // All came although the session is still open and no more bytes are sent: silence released them.
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "INT");
    child.wait().unwrap();
}

#[test]
fn watch_filters_and_ends_as_events_does() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&trace("net10-linux-x64/all.nettrace.gz"))).unwrap();
    let run = on(&fake, &folder, &["watch", "--show", "gc", "--limit", "3", "--format", "ndjson"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let ids: Vec<u64> = run.lines().iter().map(|line| line["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| [1, 2, 4, 35].contains(id)), "{ids:?}");
    assert_eq!(fake.session_count(), 0);
    let run = on(&fake, &folder, &["watch", "--event", "Nope*", "--duration", "300ms"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("no event is Nope*"), "{}", run.stderr);
}

/// A measurement, not a check: `cargo test --release -p nettrace-cli --test live_fake -- --ignored --nocapture delay`.
///
/// The fake sends a burst at once when it is resumed, and then nothing. What is measured is the time from the moment
/// at which that is seen until the burst's last event is read from the command's standard output.
#[test]
#[ignore = "a measurement"]
fn delay_of_the_last_event_of_a_burst() {
    let folder = Folder::new();
    // A flush of a busy program has some hundred kilobytes; the larger trace is there to show what grows.
    for name in ["net10-linux-x64/waits.nettrace.gz", "net10-linux-x64/all.nettrace.gz"] {
        let burst = up_to_the_end_mark(&trace(name)).stream;
        std::fs::write(folder.0.join("cut.nettrace"), &burst).unwrap();
        let expected = ran(&["events", "cut.nettrace", "--format", "ndjson"], &folder).lines().len();
        let mut delays: Vec<Duration> = (0..21).map(|_| delay(&burst, expected)).collect();
        delays.sort();
        let (median, longest) = (delays[delays.len() / 2], delays[delays.len() - 1]);
        println!("{expected} events, {} bytes: median {median:?}, longest {longest:?}", burst.len());
    }
}

/// From the burst's bytes to its last line.
fn delay(burst: &[u8], event_count: usize) -> Duration {
    let config = FakeConfig { suspended: true, stream: burst.to_vec(), ..FakeConfig::default() };
    let fake = FakeRuntime::start(config).unwrap();
    let port = address(&fake);
    let mut child = command(&["watch", "--port", &port, "--providers", "X", "--format", "ndjson"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
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
