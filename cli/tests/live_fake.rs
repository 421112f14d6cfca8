//! The live commands against the fake runtime: every command, and what can go wrong.
#![cfg(unix)]

mod common;

use common::{Ran, command, top};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_ipc::{CommandId, HResult};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A folder of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ntl-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with("dotnet-"))
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A recorded trace of the corpus.
fn trace(path: &str) -> Vec<u8> {
    let compressed = std::fs::read(top().join("testdata/traces").join(path)).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&compressed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn metrics() -> Vec<u8> {
    trace("net10-linux-x64/metrics.nettrace.gz")
}

/// A fake that streams a trace: the last bytes of it when it is stopped.
fn streaming(bytes: &[u8]) -> FakeConfig {
    let (stream, tail) = bytes.split_at(bytes.len() - 500);
    FakeConfig { stream: stream.to_vec(), tail: tail.to_vec(), ..FakeConfig::default() }
}

/// A fake whose stream has everything but the byte that ends it.
fn up_to_the_end_mark(bytes: &[u8]) -> FakeConfig {
    let (stream, tail) = bytes.split_at(bytes.len() - 1);
    FakeConfig { stream: stream.to_vec(), tail: tail.to_vec(), ..FakeConfig::default() }
}

/// `--port` with the address of a fake.
fn address(fake: &FakeRuntime) -> String {
    format!("{},connect", fake.endpoint())
}

fn ran(args: &[&str], folder: &Folder) -> Ran {
    let output = command(args).current_dir(&folder.0).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Ran { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Runs a command on a fake.
fn on(fake: &FakeRuntime, folder: &Folder, words: &[&str]) -> Ran {
    patiently(fake, folder, words, "5s")
}

fn patiently(fake: &FakeRuntime, folder: &Folder, words: &[&str], patience: &str) -> Ran {
    let port = address(fake);
    let mut args = words.to_vec();
    // Before the words of a launched program and of positional arguments.
    let options = if words.first() == Some(&"process") { 2 } else { 1 };
    args.splice(options..options, ["--port", &port, "--patience", patience]);
    ran(&args, folder)
}

fn ids(fake: &FakeRuntime) -> Vec<(u8, u8)> {
    fake.requests().iter().map(|request| (request[16], request[17])).collect()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

// ps

/// The fake poses as this test's own process, whose start time is in its socket's name.
fn own_socket(folder: &Folder) -> PathBuf {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    folder.0.join(format!("dotnet-diagnostic-{}-{start}-socket", std::process::id()))
}

#[cfg(target_os = "linux")]
#[test]
fn ps_lists_processes_with_what_they_say_and_can_do() {
    let folder = Folder::new();
    let _fake = FakeRuntime::start_at(FakeConfig::version(9, "9.0.1+abc"), own_socket(&folder)).unwrap();
    let dead = folder.path("dotnet-diagnostic-4194304-17-socket");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let run = |args: &[&str]| {
        let output = command(args).env("TMPDIR", &folder.0).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let report: Value = serde_json::from_str(&run(&["ps", "--json"])).unwrap();
    let own =
        report["processes"].as_array().unwrap().iter().find(|p| p["pid"] == std::process::id()).unwrap();
    assert_eq!(own["version"], "9.0.1");
    assert_eq!(own["architecture"], "x64");
    assert_eq!(own["reachable"], true);
    assert_eq!(own["suspended"], false);
    let commands = own["commands"].as_array().unwrap();
    assert!(commands.contains(&"CollectTracing4".into()) && !commands.contains(&"CollectTracing5".into()));
    let left = |entry: &Value| entry["path"] == dead.as_str();
    assert!(report["leftovers"].as_array().unwrap().iter().any(left));
    let text = run(&["ps"]);
    let line =
        text.lines().find(|line| line.trim_start().starts_with(&std::process::id().to_string())).unwrap();
    assert!(line.contains("9.0.1") && line.contains("trace, no-stacks, dump"), "{line}");
    assert!(!text.contains(&dead));
    assert!(run(&["ps", "--all"]).contains(&dead));
}

#[cfg(target_os = "linux")]
#[test]
fn ps_says_why_a_process_that_does_not_answer_can_do_nothing() {
    let folder = Folder::new();
    let fake = FakeRuntime::start_at(FakeConfig::default(), own_socket(&folder)).unwrap();
    fake.set_fault(Some(Fault::always(FaultKind::Silence)));
    let output = command(&["ps", "--json"]).env("TMPDIR", &folder.0).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let own =
        report["processes"].as_array().unwrap().iter().find(|p| p["pid"] == std::process::id()).unwrap();
    assert_eq!(own["reachable"], false);
    assert!(own["reason"].as_str().unwrap().contains("deadline"), "{own}");
}

// collect

#[test]
fn collect_writes_the_exact_bytes_and_counts_events_and_losses() {
    let (folder, bytes) = (Folder::new(), trace("net3.1-linux-x64/lossy.nettrace.gz"));
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let run = on(&fake, &folder, &["collect", "--duration", "500ms", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes);
    let info = ran(&["info", "x.nettrace", "--json"], &folder).json();
    assert!(info["lost"].as_u64().unwrap() > 0);
    let lost = run.stderr.lines().find(|line| line.contains("warning: x.nettrace:")).unwrap();
    let digits: String = lost.split(" event").next().unwrap().chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, info["lost"].to_string());
    assert!(lost.contains("--buffersize 1024"), "{lost}");
    assert_eq!((fake.stops().len(), fake.session_count(), fake.death()), (1, 0, None));
}

#[test]
fn collect_sends_what_dry_run_shows() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let options = ["--providers", "A:0x7:5:k=v,B", "--events", "A=3,1", "--no-stacks", "--buffersize", "9"];
    let mut args = vec!["collect", "--duration", "100ms", "-o", "x.nettrace"];
    args.extend(options);
    assert_eq!(on(&fake, &folder, &args).code, Some(0));
    let sent = fake.requests().into_iter().find(|request| request[16] == 2).unwrap();
    args.push("--dry-run");
    let shown = ran(&args, &folder);
    assert_eq!(shown.code, Some(0));
    let mut hex = String::new();
    for line in shown.text().lines().filter(|line| line.starts_with("  0")) {
        hex.extend(line[8..55].chars().filter(|c| !c.is_whitespace()));
    }
    assert_eq!(hex, sent.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    assert!(shown.text().starts_with("CollectTracing5 (02 06), which .NET 10 has\n"), "{}", shown.text());
    assert!(
        shown
            .text()
            .contains("A  keywords 0xf00000000007  level 5 Verbose  arguments \"k=v\"  only events 1,3")
    );
}

#[test]
fn collect_writes_over_nothing_unless_forced() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("x.nettrace"), "precious").unwrap();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let args = ["collect", "--duration", "100ms", "-o", "x.nettrace"];
    let run = on(&fake, &folder, &args);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("x.nettrace: is there already; --force replaces it"), "{}", run.stderr);
    assert_eq!(std::fs::read(folder.0.join("x.nettrace")).unwrap(), b"precious");
    assert!(fake.requests().is_empty());
    let forced = [&args[..], &["--force"]].concat();
    assert_eq!(on(&fake, &folder, &forced).code, Some(0));
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == metrics());
}

#[test]
fn collect_makes_no_file_if_the_session_is_refused() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::Refuse(HResult::FAIL))));
    let run = on(&fake, &folder, &["collect", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("0x80004005"), "{}", run.stderr);
    assert!(folder.names().is_empty());
}

#[test]
fn collect_tells_what_an_older_runtime_cannot_do() {
    let folder = Folder::new();
    let config = FakeConfig { major: 8, ..streaming(&metrics()) };
    let fake = FakeRuntime::start(config).unwrap();
    let run = on(&fake, &folder, &["collect", "--no-stacks", "--duration", "100ms", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("stacks are collected, they cannot be switched off"), "{}", run.stderr);
    let collects: Vec<_> = ids(&fake).into_iter().filter(|id| id.0 == 2 && id.1 > 1).collect();
    assert_eq!(collects, [(2, 4), (2, 3)]);
}

#[test]
fn collect_resumes_a_waiting_process_unless_told_not_to() {
    for (args, resumes) in [(&[][..], 1), (&["--resume-runtime", "false"], 0)] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(FakeConfig { suspended: true, ..streaming(&metrics()) }).unwrap();
        let words = [&["collect", "--duration", "200ms", "-o", "x.nettrace"], args].concat();
        on(&fake, &folder, &words);
        assert_eq!(fake.resume_count(), resumes);
    }
}

#[test]
fn a_signal_ends_collect_with_a_whole_file() {
    for name in ["INT", "TERM"] {
        let (folder, bytes) = (Folder::new(), metrics());
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        let port = address(&fake);
        let child = command(&["collect", "--port", &port, "-o", "x.nettrace"])
            .current_dir(&folder.0)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let file = folder.0.join("x.nettrace");
        let grown = || std::fs::metadata(&file).is_ok_and(|data| data.len() >= bytes.len() as u64 - 500);
        wait_until("the stream is written", grown);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(std::fs::read(&file).unwrap() == bytes, "SIG{name}");
        assert_eq!(fake.stops().len(), 1);
    }
}

#[test]
fn a_second_signal_gives_up_at_once() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let port = address(&fake);
    let mut child = command(&["collect", "--port", &port, "-o", "x.nettrace"])
        .current_dir(&folder.0)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("a session", || fake.session_count() == 1);
    fake.set_fault(Some(Fault::always(FaultKind::StopIgnored)));
    signal(&child, "INT");
    wait_until("the stop", || ids(&fake).contains(&(2, 1)));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "INT");
    let start = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_target_that_dies_leaves_a_readable_file_and_collect_says_so() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let half = bytes.len() / 2;
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::DieInStream(half))));
    let run = on(&fake, &folder, &["collect", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(3));
    assert!(run.stderr.contains("ended without ending the trace"), "{}", run.stderr);
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes[..half]);
    assert!(ran(&["info", "x.nettrace", "--json"], &folder).json()["events"].as_u64().unwrap() > 0);
}

#[test]
fn a_stop_that_is_ignored_ends_at_the_deadline() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::STOP_TRACING, FaultKind::StopIgnored)));
    let start = Instant::now();
    let args = ["collect", "--duration", "200ms", "-o", "x.nettrace"];
    let run = patiently(&fake, &folder, &args, "1s");
    assert!(start.elapsed() < Duration::from_secs(8));
    assert_eq!(run.code, Some(3));
    assert!(run.stderr.contains("did not end the session in time"), "{}", run.stderr);
}

#[test]
fn what_is_no_trace_is_recorded_all_the_same() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let run = on(&fake, &folder, &["collect", "--duration", "300ms", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(3));
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes);
}

#[test]
fn a_trace_can_go_to_standard_output() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let run = on(&fake, &folder, &["collect", "--duration", "300ms", "-o", "-"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout == bytes);
    assert!(folder.names().is_empty());
}

/// A trace that comes slowly enough to be stopped within.
fn slow() -> FakeConfig {
    FakeConfig { piece_bytes: 32 << 10, piece_pause: Duration::from_millis(5), ..streaming(&metrics()) }
}

#[test]
fn collect_stops_at_a_size() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(slow()).unwrap();
    let run = on(&fake, &folder, &["collect", "--max-size", "200KB", "-o", "x.nettrace"]);
    assert_eq!((run.code, fake.stops().len()), (Some(0), 1), "{}", run.stderr);
    assert!(std::fs::metadata(folder.0.join("x.nettrace")).unwrap().len() >= 200 << 10);
}

#[test]
fn collect_stops_at_an_event_and_goes_on_for_a_while() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    for args in [
        &["--until", "Nettrace-Workload/RequestStart where number >= 1"][..],
        &["--until", "*/GC/Start", "--keep-after", "300ms"],
        &[
            "--stopping-event-provider-name",
            "Nettrace-Workload",
            "--stopping-event-event-name",
            "Request/Start",
        ],
    ] {
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        let start = Instant::now();
        let run = on(&fake, &folder, &[&["collect", "--force", "-o", "x.nettrace"], args].concat());
        assert_eq!((run.code, fake.stops().len()), (Some(0), 1), "{}", run.stderr);
        assert!(run.stderr.contains(": stopping\n"), "{}", run.stderr);
        if args.contains(&"--keep-after") {
            assert!(start.elapsed() >= Duration::from_millis(300));
        }
    }
}

#[test]
fn collect_says_that_a_condition_asks_for_a_field_that_is_not_there() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let args = ["collect", "--duration", "500ms", "-o", "x.nettrace", "--until", "*/GC/Start where Deep>1"];
    let run = on(&fake, &folder, &args);
    assert!(run.stderr.contains("has no field Deep, so it could not be stopped at"), "{}", run.stderr);
}

#[test]
fn a_rotation_keeps_the_newest_files_and_overlaps_sessions() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(slow()).unwrap();
    let run = on(&fake, &folder, &["collect", "--rotate", "2x200KB", "--duration", "3s", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let names = folder.names();
    assert_eq!(names.len(), 2, "{names:?}\n{}", run.stderr);
    assert!(!names.contains(&"x_0001.nettrace".to_owned()), "{names:?}");
    for name in &names {
        let info = ran(&["info", name, "--json"], &folder);
        assert_eq!(info.json()["lost"], 0, "{name}");
    }
    // Each next session begins before the one before is stopped.
    let order: Vec<_> = ids(&fake).into_iter().filter(|id| id.0 == 2).collect();
    assert_eq!(order[..4], [(2, 3), (2, 3), (2, 1), (2, 3)]);
    assert_eq!(fake.stops().len(), order.iter().filter(|id| id.1 == 3).count());
}

#[test]
fn processes_that_come_to_a_port_are_recorded_or_let_go() {
    for (option, files) in [("", 1), ("--all", 2)] {
        let folder = Folder::new();
        let port = folder.path("port");
        let mut args = vec!["collect", "--port", &port, "--duration", "1s", "-o", "x.nettrace"];
        args.extend(Some(option).filter(|option| !option.is_empty()));
        let child = command(&args).current_dir(&folder.0).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the port", || Path::new(&port).exists());
        let endpoint = nettrace_ipc::Endpoint::socket(&port);
        let come = |_| {
            let config = FakeConfig { suspended: true, ..streaming(&metrics()) };
            FakeRuntime::connect_to(config, endpoint.clone()).unwrap()
        };
        let fakes: Vec<FakeRuntime> = (0..2).map(come).collect();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains(&format!("DOTNET_DiagnosticPorts={port}")), "{said}");
        assert!(fakes.iter().all(FakeRuntime::is_resumed));
        assert_eq!(folder.names().iter().filter(|name| name.ends_with(".nettrace")).count(), files, "{said}");
    }
}

#[test]
fn a_launched_programs_exit_code_and_terminal_are_passed_on() {
    let folder = Folder::new();
    let run = ran(&["collect", "-o", "x.nettrace", "--", "sh", "-c", "echo out; exit 7"], &folder);
    assert_eq!((run.code, run.text()), (Some(7), "out\n"));
    assert!(run.stderr.contains("started no .NET program"), "{}", run.stderr);
    assert!(folder.names().is_empty());
    let run = ran(&["collect", "--", "sh", "-c", "kill -9 $$"], &folder);
    assert_eq!(run.code, Some(137));
    let run = ran(&["collect", "--", "./no-such-program"], &folder);
    assert_eq!(run.code, Some(1));
}

#[test]
fn options_that_make_no_sense_are_wrong_usage() {
    let folder = Folder::new();
    for args in [
        &["collect"][..],
        &["collect", "-p", "1", "-n", "x"],
        &["collect", "-p", "1", "--", "x"],
        &["collect", "--all", "-o", "-"],
        &["collect", "-p", "1", "--keep-after", "1s"],
        &["collect", "-p", "1", "--rotate", "0x1MB"],
        &["collect", "-p", "1", "--max-size", "1MB", "--rotate", "2x1MB"],
        &["collect", "-p", "1", "--children"],
        &["collect", "-p", "1", "--providers", "A:xyz"],
        &["collect", "-p", "1", "--until", "A/B where"],
        &["collect", "-p", "1", "--profile", "gc"],
        &["process", "send", "-p", "1", "04", "00"],
        &["process", "setenv", "-p", "1", "--unset", "A=b"],
    ] {
        // Where the process comes first, there is none of that id.
        let code = ran(args, &folder).code;
        assert!(code == Some(2) || (args[1] == "setenv" && code == Some(1)), "{args:?}: {code:?}");
    }
    let run = ran(&["collect", "-p", "4194304"], &folder);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("nettrace ps lists"), "{}", run.stderr);
}

// watch

/// Lines as they come, each with its time.
fn lines_of(child: &mut Child) -> std::sync::mpsc::Receiver<(Instant, String)> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in out.lines() {
            if sender.send((Instant::now(), line.unwrap())).is_err() {
                return;
            }
        }
    });
    receiver
}

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
    let start = Instant::now();
    let mut child = command(&["watch", "--port", &port, "--providers", "X", "--format", "ndjson"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = lines_of(&mut child);
    let mut seen = 0;
    while seen < expected {
        let (_, line) =
            lines.recv_timeout(Duration::from_secs(10)).unwrap_or_else(|_| panic!("{seen}/{expected}"));
        serde_json::from_str::<Value>(&line).unwrap();
        seen += 1;
    }
    // The session goes on: all this came without its end.
    assert_eq!(fake.session_count(), 1);
    assert!(start.elapsed() < Duration::from_secs(5));
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
        lines.recv_timeout(Duration::from_secs(10)).unwrap();
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

// process

#[test]
fn each_request_of_process_is_sent_and_answered() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("hook.dll"), "MZ BSJB StartupHook\0Initialize\0").unwrap();
    let guid = "cf0d821e-299b-5307-a3d8-b283c03916dd";
    for (words, id) in [
        (&["info"][..], CommandId::PROCESS_INFO_3),
        (&["env"], CommandId::PROCESS_ENVIRONMENT),
        (&["env", "PATH"], CommandId::PROCESS_ENVIRONMENT),
        (&["setenv", "A=b"], CommandId::SET_ENVIRONMENT_VARIABLE),
        (&["setenv", "--unset", "LANG"], CommandId::SET_ENVIRONMENT_VARIABLE),
        (&["resume"], CommandId::RESUME_RUNTIME),
        (&["perfmap"], CommandId::ENABLE_PERF_MAP),
        (&["perfmap", "off"], CommandId::DISABLE_PERF_MAP),
        (&["startup-hook", "hook.dll"], CommandId::APPLY_STARTUP_HOOK),
        (&["dump", "-o", "d"], CommandId::GENERATE_CORE_DUMP_3),
        (&["attach-profiler", guid, "/p.so"], CommandId::ATTACH_PROFILER),
        (&["startup-profiler", guid, "/p.so"], CommandId::STARTUP_PROFILER),
        (&["send", "--unsafe-raw", "04", "00"], CommandId::PROCESS_INFO),
    ] {
        let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
        for json in [false, true] {
            let mut args = vec!["process", words[0]];
            args.extend(Some("--json").filter(|_| json));
            args.extend(&words[1..]);
            // Unsetting twice is refused, as by real ones.
            if json && words.contains(&"--unset") {
                assert_eq!(on(&fake, &folder, &args).code, Some(1));
                continue;
            }
            let run = on(&fake, &folder, &args);
            assert_eq!(run.code, Some(0), "{args:?}: {}", run.stderr);
            if json {
                assert_eq!(run.json()["schema"], 1, "{args:?}");
                assert!(run.json()["pid"].is_u64(), "{args:?}");
            } else {
                assert!(!run.stdout.is_empty(), "{args:?}");
            }
        }
        assert!(ids(&fake).contains(&(id.set, id.id)), "{words:?}: {:?}", ids(&fake));
        assert_eq!(fake.death(), None, "{words:?}");
    }
}

#[test]
fn requests_that_would_harm_are_not_sent() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    let run = on(&fake, &folder, &["process", "startup-hook", "missing.dll"]);
    assert_eq!(run.code, Some(2));
    let run = on(&fake, &folder, &["process", "env", "NO_SUCH_NAME"]);
    assert_eq!(run.code, Some(1));
    assert!(!ids(&fake).contains(&(4, 7)));
    let config = FakeConfig {
        suspended: true,
        command_line: "/app/fake".to_owned(),
        environment: vec!["DOTNET_DefaultDiagnosticPortSuspend=1".to_owned()],
        ..FakeConfig::version(8, "8.0.1")
    };
    let fake = FakeRuntime::start(config).unwrap();
    let run = on(&fake, &folder, &["process", "perfmap"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("resume it first"), "{}", run.stderr);
    assert_eq!(fake.death(), None);
}

#[test]
fn every_fault_of_a_process_is_told_in_time() {
    let kinds = [
        FaultKind::Silence,
        FaultKind::HalfReply,
        FaultKind::HalfReplyThenClose,
        FaultKind::Uninitialised,
        FaultKind::WrongMagic,
        FaultKind::WrongSet,
        FaultKind::SizeTooSmall,
        FaultKind::SizeTooLarge,
        FaultKind::HugeCounts,
        FaultKind::EarlyClose,
        FaultKind::CloseUnread,
        FaultKind::Refuse(HResult::FAIL),
        FaultKind::RefuseLeftOpen(HResult::FAIL),
    ];
    for kind in kinds {
        for words in [&["process", "info"][..], &["process", "env"], &["collect", "-o", "x"], &["watch"]] {
            // Any number may be a session's id: sessions start, and last until they are stopped.
            if kind == FaultKind::HugeCounts && words[0] != "process" {
                continue;
            }
            let folder = Folder::new();
            let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
            fake.set_fault(Some(Fault::always(kind.clone())));
            let start = Instant::now();
            let run = patiently(&fake, &folder, words, "500ms");
            assert_eq!(run.code, Some(1), "{kind:?} {words:?}: {}", run.stderr);
            assert!(run.stderr.contains("nettrace: error: "), "{kind:?} {words:?}");
            assert!(start.elapsed() < Duration::from_secs(8), "{kind:?} {words:?}");
            assert!(folder.names().is_empty());
        }
    }
}

// record and replay

#[test]
fn a_recorded_run_is_replayed_without_the_process() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let args = ["collect", "--duration", "300ms", "-o", "x.nettrace", "--record", "run.transcript"];
    assert_eq!(on(&fake, &folder, &args).code, Some(0));
    drop(fake);
    let socket = folder.path("replayed");
    let mut replay = command(&["replay", "run.transcript", "--listen", &socket, "--at-once"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (_, port) = lines_of(&mut replay).recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(port, format!("{socket},connect"));
    let run = ran(&["collect", "--port", &port, "--duration", "300ms", "-o", "y.nettrace"], &folder);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(std::fs::read(folder.0.join("y.nettrace")).unwrap() == bytes);
    let info = ran(&["process", "info", "--port", &port, "--json"], &folder).json();
    assert_eq!(info["product_version"], "10.0.12");
    signal(&replay, "TERM");
    assert_eq!(replay.wait().unwrap().code(), Some(0));
    assert!(!Path::new(&socket).exists());
}

#[test]
fn what_is_no_transcript_is_refused() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("x"), "something").unwrap();
    let run = ran(&["replay", "x"], &folder);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("line 1"), "{}", run.stderr);
    assert_eq!(ran(&["replay", "missing"], &folder).code, Some(1));
}
