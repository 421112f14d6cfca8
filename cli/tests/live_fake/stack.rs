//! `nettrace stack` on the fake runtime.

use super::common::Json;
use super::{Folder, address, ids, on, ran, sampled, signal, streaming, trace, wait_until};
use crate::common::command;
use nettrace_ipc::fake::FakeRuntime;
use std::process::Stdio;

#[test]
fn the_session_is_stopped_as_soon_as_each_thread_was_seen_and_its_rundown_names_the_frames() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(sampled()).unwrap();
    let run = on(&fake, &folder, &["stack", "--json", "--merge", "--timeout", "1000s"]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let document = run.json();
    assert_eq!((&document["complete"], &document["taken"]), (&true.into(), &1.into()));
    // The fake's process id does not exist, so that the system knows none of its threads.
    assert_eq!(document["os"]["available"], false);
    let threads = document["threads"].list();
    assert!(!threads.is_empty());
    let has_main = |thread: &serde_json::Value| {
        let frames = thread["frames"].list();
        frames.iter().any(|frame| frame == "workload!Workload.Program.Main(string[])")
    };
    assert!(threads.iter().any(has_main), "{document:#}");
    assert_eq!(fake.session_count(), 0);
    // Names come at the end of the session with the stacks.
    let started: Vec<_> = ids(&fake).into_iter().filter(|(set, id)| *set == 2 && *id > 1).collect();
    assert_eq!(started.len(), 1, "{started:?}");
}

#[test]
fn a_process_in_which_nothing_is_sampled_is_a_failure_with_its_reason() {
    let folder = Folder::new();
    // The stream has events, but no samples.
    let fake =
        FakeRuntime::start(streaming(&trace("net10-linux-x64/metrics.nettrace.gz"))).unwrap();
    let run = on(&fake, &folder, &["stack", "--timeout", "300ms"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.assert_message("no thread was sampled in 300");
    assert!(run.stdout.is_empty());
    assert_eq!(fake.session_count(), 0);
    let run = ran(&["stack", "--count", "3"], &folder);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_between_two_sessions_ends_it_with_what_was_taken() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(sampled()).unwrap();
    let port = address(&fake);
    let mut command = command(&["stack", "--port", &port, "--every", "100s", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the first session", || fake.stops().len() == 1);
    wait_until("its end", || fake.session_count() == 0);
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!document["threads"].list().is_empty());
    drop(folder);
}
