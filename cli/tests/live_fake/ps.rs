//! `nettrace ps` against the fake runtime.

use super::common::Json;
use super::{Folder, common::command, wait_until};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use serde_json::Value;
use std::path::PathBuf;

/// Returns the socket's path for a fake that poses as this test's process. The name has the
/// process's start time.
pub(super) fn own_socket(folder: &Folder) -> PathBuf {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    folder.0.join(format!("dotnet-diagnostic-{}-{start}-socket", std::process::id()))
}

/// Returns the row of this test's process.
fn own(report: &Value) -> &Value {
    report["processes"].list().iter().find(|p| p["pid"] == std::process::id()).unwrap()
}

#[test]
fn ps_lists_processes_with_what_they_say_and_can_do() {
    let folder = Folder::new();
    let _fake =
        FakeRuntime::start_at(FakeConfig::new(9, "9.0.1+abc"), own_socket(&folder)).unwrap();
    let dead = folder.path("dotnet-diagnostic-4194304-17-socket");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let run = |args: &[&str]| {
        let output = command(args).env("TMPDIR", &folder.0).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    // On a busy machine, the fake may not answer within two seconds, and is listed without version.
    let mut report = Value::Null;
    wait_until("the answer", || {
        report = serde_json::from_str(&run(&["ps", "--json"])).unwrap();
        own(&report)["version"].is_string()
    });
    let own = own(&report);
    assert_eq!(own["version"], "9.0.1");
    assert_eq!(own["architecture"], "x64");
    assert_eq!(own["reachable"], true);
    assert_eq!(own["suspended"], false);
    let commands = own["commands"].list();
    assert!(
        commands.contains(&"CollectTracing4".into())
            && !commands.contains(&"CollectTracing5".into())
    );
    let left = |entry: &Value| entry["path"] == dead.as_str();
    assert!(report["leftovers"].list().iter().any(left));
    let is_own = |line: &&str| line.trim_start().starts_with(&std::process::id().to_string());
    let (mut text, mut line) = (String::new(), String::new());
    wait_until("the answer", || {
        text = run(&["ps"]);
        line = text.lines().find(is_own).unwrap().to_owned();
        line.contains("9.0.1")
    });
    assert!(line.contains("9.0.1") && line.contains("trace, no-stacks, dump"), "{line}");
    assert!(!text.contains(&dead));
    assert!(run(&["ps", "--all"]).contains(&dead));
}

#[test]
fn ps_says_why_a_process_that_does_not_answer_can_do_nothing() {
    let folder = Folder::new();
    let fake = FakeRuntime::start_at(FakeConfig::default(), own_socket(&folder)).unwrap();
    fake.set_fault(Some(Fault::always(FaultKind::Silence)));
    let output = command(&["ps", "--json"]).env("TMPDIR", &folder.0).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let own = own(&report);
    assert_eq!(own["reachable"], false);
    assert!(own["reason"].text().contains("deadline"), "{own}");
}

#[test]
fn ps_can_be_recorded() {
    let folder = Folder::new();
    let _fake = FakeRuntime::start_at(FakeConfig::default(), own_socket(&folder)).unwrap();
    let transcript = folder.path("t");
    let output =
        command(&["ps", "--record", &transcript]).env("TMPDIR", &folder.0).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let file = std::io::BufReader::new(std::fs::File::open(&transcript).unwrap());
    assert!(nettrace_ipc::Transcript::read(file).unwrap().connection_count() > 0);
}
