//! `nettrace discover` against the fake runtime.

use super::common::Json;
use super::common::command;
use super::{Folder, address, ended, on, start, starts, streaming, trace, wait_until};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use serde_json::Value;

#[test]
fn what_came_is_listed_with_rates_sizes_and_the_option_that_records_it() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&trace("net10-linux-x64/all.nettrace.gz"))).unwrap();
    let run = on(&fake, &folder, &["discover", "--duration", "1ms", "--json", "--all"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let document = run.json();
    let providers = document["providers"].list();
    let find = |name: &str| providers.iter().find(|one| one["name"] == name).unwrap();
    let runtime = find("Microsoft-Windows-DotNETRuntime");
    let events = runtime["events"].list();
    let thrown = events.iter().find(|event| event["id"] == 80).unwrap();
    assert_eq!(thrown["name"], "Exception/Start");
    assert_eq!((&thrown["level"], &thrown["is_default"]), (&2.into(), &true.into()));
    assert_eq!(thrown["record"], "--providers Microsoft-Windows-DotNETRuntime:0x200008000:2");
    assert!(thrown["per_second"].as_f64().unwrap() > 0.0);
    assert!(thrown["mean_payload_bytes"].as_f64().unwrap() > 50.0);
    // With --all, events of the catalog that did not come are listed, too.
    let silent: Vec<&Value> = events.iter().filter(|event| event["count"] == 0).collect();
    assert!(silent.len() > 30, "{}", silent.len());
    let workload = find("Nettrace-Workload");
    assert_eq!(workload["is_default"], false);
    assert!(workload["record"].text().starts_with("--providers Nettrace-Workload:0x"));
    let counters = find("Nettrace-Workload-Counters")["counters"].list();
    assert_eq!(counters.len(), 3);
    // One session lists instruments, one names providers, and one has all providers.
    assert_eq!(starts(&fake).len(), 3);
    wait_until("the end of all sessions", || fake.session_count() == 0);
}

#[test]
fn text_names_every_provider_once_with_how_to_record_it() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&trace("net10-linux-x64/all.nettrace.gz"))).unwrap();
    let run = on(&fake, &folder, &["discover", "--duration", "1ms"]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let text = run.text();
    let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(lines("Nettrace-Workload  "), 1, "{text}");
    assert_eq!(lines("  --providers Nettrace-Workload:"), 1, "{text}");
    assert!(text.contains("counters: latency, queue-depth, requests"), "{text}");
}

#[test]
fn of_a_process_that_is_killed_it_shows_what_it_found_and_fails() {
    let bytes = trace("net10-linux-x64/all.nettrace.gz");
    // The stream pauses in the middle, so that some events have come.
    let config = FakeConfig { holds_at: Some(bytes.len() / 2), ..streaming(&bytes) };
    let fake = FakeRuntime::start(config).unwrap();
    let port = address(&fake);
    let words = ["discover", "--port", &port, "--duration", "120s", "--patience", "120s"];
    let child = start(&mut command(&words));
    wait_until("all sessions", || fake.held_count() == 3);
    fake.kill();
    let run = ended(child);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.assert_message("exited without completing the session (was it killed?)");
    assert!(!run.text().is_empty(), "{}", run.stderr);
}
