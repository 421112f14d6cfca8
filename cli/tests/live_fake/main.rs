//! Live commands against the fake runtime, with its faults.
//!
//! The others than these run on Windows, too:
//!
//! | tests for Unix alone | why |
//! |---|---|
//! | all that send signals: of `counters`, `heap`, `rules`, `stack`, `stopping`, `top`, `watch`, and those of `collect` and `replay` that end so | std cannot send Ctrl-C to one process; `.ci/windows live` has one that is ended so |
//! | `launched`, `ports`, children of programs | a shell that runs programs side by side and waits for them; `.ci/windows live` has children and a port |
//! | `crowds`, `stalls` | limits of descriptors, signals that stop a process |
//! | `terminal`, `to_quit_a_screen…`, `with_script` | a pseudo-terminal |
//! | dumps with names, a heap that cannot be saved | links, `/dev/full` |
//! | `ps`, `ps_shows_no_control_characters`, clocks of processes | `/proc` |
#![allow(clippy::restriction, clippy::pedantic)]
#![cfg_attr(
    windows,
    allow(dead_code, unused_imports, reason = "tests for Unix use more of what is shared")
)]

mod collect;
#[path = "../common/mod.rs"]
mod common;
mod counters;
#[cfg(unix)]
mod crowds;
mod discover;
mod endings;
mod heap;
#[cfg(unix)]
mod launched;
#[cfg(unix)]
mod ports;
mod process;
#[cfg(target_os = "linux")]
mod ps;
#[cfg(target_os = "linux")]
#[path = "../../src/screen/pty.rs"]
mod pty;
mod replay;
mod rules;
mod shows;
mod stack;
#[cfg(unix)]
mod stalls;
#[cfg(unix)]
mod stopping;
mod targets;
#[cfg(target_os = "linux")]
mod terminal;
mod top;
mod watch;
#[cfg(windows)]
mod windows;
mod words;

use common::{Ran, command, top};
use nettrace_ipc::CommandId;
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_testdata::eventually as wait_until;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Folder of a test, removed when it ends.
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

    /// Returns the names of traces, without second streams that are beside them.
    fn traces(&self) -> Vec<String> {
        let mut names = self.names();
        names.retain(|name| name.ends_with(".nettrace") && !name.ends_with(".clock.nettrace"));
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads a recorded trace of the corpus.
fn trace(path: &str) -> Vec<u8> {
    let compressed = std::fs::read(top().join("testdata/traces").join(path)).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&compressed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn metrics() -> Vec<u8> {
    trace("net10-linux-x64/metrics.nettrace.gz")
}

/// Configures a fake that streams a trace, and sends its last 500 bytes when it is stopped.
fn streaming(bytes: &[u8]) -> FakeConfig {
    let (stream, tail) = bytes.split_at(bytes.len() - 500);
    FakeConfig { stream: stream.to_vec(), tail: tail.to_vec(), ..FakeConfig::default() }
}

/// Configures a fake that streams all but the last byte, the end mark.
fn up_to_the_end_mark(bytes: &[u8]) -> FakeConfig {
    let (stream, tail) = bytes.split_at(bytes.len() - 1);
    FakeConfig { stream: stream.to_vec(), tail: tail.to_vec(), ..FakeConfig::default() }
}

/// Configures a fake that streams samples of a program with some threads, and the names of their
/// methods when the session ends.
fn sampled() -> FakeConfig {
    let bytes = trace("net10-linux-x64/all.nettrace.gz");
    let (stream, tail) = bytes.split_at(bytes.len() / 2);
    FakeConfig { stream: stream.to_vec(), tail: tail.to_vec(), ..FakeConfig::default() }
}

/// Configures a fake that streams a trace slowly, so that it can be stopped in the middle.
fn slow() -> FakeConfig {
    FakeConfig {
        piece_bytes: 32 << 10,
        piece_pause: Duration::from_millis(5),
        ..streaming(&metrics())
    }
}

/// Creates a process that ignores the request to stop.
fn ignoring_stops() -> FakeRuntime {
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::STOP_TRACING, FaultKind::StopIgnored)));
    fake
}

/// Returns the header of a trace of version 4, and its end mark: a session without events.
fn without_events(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    // Magic, "!FastSerialization.1", and the object Trace with its end tag.
    const TRACE_BYTES: usize = 8 + 4 + 20 + 21 + 48 + 1;
    assert_eq!(bytes[TRACE_BYTES - 1], 6);
    (bytes[..TRACE_BYTES].to_vec(), vec![1])
}

/// Returns the requests that started sessions, in order, as text without zero bytes.
fn starts(fake: &FakeRuntime) -> Vec<String> {
    let requests = fake.requests().into_iter();
    let starts = requests.filter(|request| request[16] == 2 && request[17] > 1);
    let text = |request: Vec<u8>| -> String {
        request.into_iter().filter(|byte| *byte != 0).map(char::from).collect()
    };
    starts.map(text).collect()
}

/// Returns the value of `--port` with the address of a fake.
fn address(fake: &FakeRuntime) -> String {
    format!("{},connect", fake.endpoint())
}

/// Returns the words that let this system's shell run a line.
fn shell(line: &str) -> [&str; 3] {
    if cfg!(windows) { ["cmd", "/C", line] } else { ["sh", "-c", line] }
}

fn ran(args: &[&str], folder: &Folder) -> Ran {
    ended(start(command(args).current_dir(&folder.0)))
}

/// Starts a command without input, with pipes for its output.
fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the result of a command.
fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Ran { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Runs a command on a fake with much patience.
fn on(fake: &FakeRuntime, folder: &Folder, words: &[&str]) -> Ran {
    patiently(fake, folder, words, "120s")
}

fn patiently(fake: &FakeRuntime, folder: &Folder, words: &[&str], patience: &str) -> Ran {
    let port = address(fake);
    let mut args = words.to_vec();
    // Options come before a started program and before positional arguments.
    let options = if words.first() == Some(&"process") { 2 } else { 1 };
    args.splice(options..options, ["--port", &port, "--patience", patience]);
    ran(&args, folder)
}

fn ids(fake: &FakeRuntime) -> Vec<(u8, u8)> {
    fake.requests().iter().map(|request| (request[16], request[17])).collect()
}

/// Variable with which a second signal counts, however soon, and exits once suspended runtimes have
/// answered.
const EACH_SIGNAL_COUNTS: (&str, &str) = ("NETTRACE_DELAYS", "same-signal=0,last-resume=100000");
/// Variable with which all signals count as the first.
const SIGNALS_ARE_ONE: (&str, &str) = ("NETTRACE_DELAYS", "same-signal=3600000");

/// Variable with which a pause in a stream, as a busy machine makes, is none: events are sorted
/// until the stream ends.
const PAUSES_ARE_NONE: (&str, &str) = ("NETTRACE_DELAYS", "burst-pause=600000");

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Sends a signal and waits until the process has taken it, because two pending signals are one.
fn signal_taken(child: &Child, name: &str) {
    signal(child, name);
    wait_until("the signal to be taken", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let mut pending = status.lines().filter_map(|line| {
            line.strip_prefix("ShdPnd:").or_else(|| line.strip_prefix("SigPnd:"))
        });
        pending.all(|mask| mask.trim().bytes().all(|digit| digit == b'0'))
    });
}

/// Returns a receiver of the lines of standard output, each with the time at which it came.
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
