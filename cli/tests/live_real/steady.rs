//! What users do to recordings: few descriptors, readers that stand still, signals at bad moments.

use super::{Subject, arriving, finished, launching, ran, traces, wait_until};
use crate::common::command;
use nettrace_ipc::{Port, PortAddress, PortOptions};
use nettrace_testdata::peers::{self, Folder, Peer};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum time of a run. Runs take two seconds, but the machine may be busy.
const LONG: Duration = Duration::from_secs(120);

/// Arguments of a command that starts a program, before the program's own.
const COLLECT: [&str; 5] = ["collect", "--patience", "120s", "-o", "x.nettrace"];

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn short_processes_come_and_go_with_few_descriptors() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let port = folder.file("port");
        let own = command(&[
            "collect",
            "--patience",
            "120s",
            "--port",
            &port,
            "--all",
            "-o",
            "x.nettrace",
        ]);
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""])
            .arg(own.get_program())
            .args(own.get_args());
        let child = limited.current_dir(folder.path()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the port", || Path::new(&port).exists());
        for _ in 0..9 {
            // A program that stayed suspended would never end.
            for mut program in arriving(peer, &port, 4, &folder) {
                assert!(program.wait().unwrap().success());
            }
        }
        wait_until("their connections to be closed", || peers::descriptor_count(child.id()) <= 24);
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(traces(&folder).len(), 36, ".NET {}: {}", peer.major, run.stderr);
    });
}

/// Maximum time until a process ends whose results nobody reads, and until the command ends after a
/// signal.
const ENDS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(5));
/// Maximum number of tries: a busy machine may delay one of them.
const MAX_TRIES: usize = 3;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_reader_that_stands_still_holds_up_neither_the_process_nor_us() {
    // A debug build reads less than a busy process writes, so the process gets small buffers.
    let buffers = if cfg!(debug_assertions) { "4" } else { "256" };
    let session = ["--providers", "Nettrace-Workload", "--buffersize", buffers];
    for words in [
        &["watch", "--format", "ndjson"][..],
        &["watch"],
        &["collect", "-o", "-", "--rundown", "false"],
    ] {
        peers::each(peers::all(), |peer| {
            for target_ends in [true, false] {
                let limit = if target_ends { ENDS.0 } else { ENDS.1 };
                let mut all = Vec::new();
                while all.last().is_none_or(|took| *took > limit) {
                    assert!(all.len() < MAX_TRIES, ".NET {} {words:?}: {all:?}", peer.major);
                    all.push(stalled(peer, &[words, &session].concat(), target_ends));
                }
                eprintln!(
                    ".NET {} {words:?}: {all:?} until the {} had ended",
                    peer.major,
                    if target_ends { "process" } else { "command" }
                );
            }
        });
    }
}

/// Returns the time until a busy process ends, or until the command ends after a signal, while the
/// reader of the results stands still.
fn stalled(peer: &Peer, words: &[&str], target_ends: bool) -> Duration {
    let mut subject = Subject::start(peer, "throughput");
    let (reader, writer) = std::io::pipe().unwrap();
    let pid = subject.pid();
    let messages = std::fs::File::create(subject.folder.file("stderr")).unwrap();
    let mut command = command(&[words, &["-p", &pid]].concat());
    command.stdin(Stdio::null()).stdout(writer).stderr(messages);
    let mut child = command.current_dir(subject.folder.path()).spawn().unwrap();
    drop(command);
    let messages = || std::fs::read_to_string(subject.folder.file("stderr")).unwrap();
    wait_until("the stall", || messages().contains("standard output is not read"));
    let start = Instant::now();
    if target_ends {
        subject.target.close_input();
        wait_until("the process to end", || !subject.target.is_running());
    } else {
        peers::signal(child.id(), "INT");
        wait_until("our end", || child.try_wait().unwrap().is_some());
    }
    let took = start.elapsed();
    wait_until("our end", || child.try_wait().unwrap().is_some());
    drop(reader);
    took
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn two_signals_at_once_end_a_recording_whole() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        for name in ["TERM", "HUP"] {
            let child = subject.spawn(&["collect", "--force", "-o", "x.nettrace"]);
            let part = subject.folder.file("x.nettrace.part");
            wait_until("the first bytes", || {
                std::fs::metadata(&part).is_ok_and(|data| data.len() > 10_000)
            });
            let both = format!("kill -{name} {0}; kill -{name} {0}", child.id());
            assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
            let run = finished(child.wait_with_output().unwrap());
            assert_eq!(run.code, Some(0), ".NET {} SIG{name}: {}", peer.major, run.stderr);
            assert_eq!(subject.info("x.nettrace")["complete"], true);
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_signal_in_the_first_moments_of_a_launch_leaves_nobody_suspended() {
    peers::each(peers::modern(), |peer| {
        for (round, name) in ["HUP", "TERM", "INT"].into_iter().cycle().take(9).enumerate() {
            let folder = Folder::new();
            let mut command = launching(peer, &COLLECT, ("sleep", 1), &folder);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let starts = format!("/proc/{}/status", child.id());
            // Before the command has its handlers a signal ends it as any other program, with
            // nothing started.
            let caught = || std::fs::read_to_string(&starts).unwrap_or_default();
            let mask = |text: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
                line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or(0)
            };
            wait_until("its handlers", || mask(&caught()) & 1 == 1);
            std::thread::sleep(Duration::from_millis(4 * round as u64));
            peers::signal(child.id(), name);
            // The command waits for its program; it would wait for ever for a suspended one.
            let run = finished(child.wait_with_output().unwrap());
            eprintln!(".NET {} SIG{name}: {:?}", peer.major, run.code);
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn ctrl_c_for_a_started_program_ends_its_trace_first() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let mut command = launching(peer, &COLLECT, ("custom", 600), &folder);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let part = folder.file("x.nettrace.part");
        wait_until("the first bytes", || {
            std::fs::metadata(&part).is_ok_and(|data| data.len() > 10_000)
        });
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(130), ".NET {}: {}", peer.major, run.stderr);
        assert_eq!(
            ran(&["info", "x.nettrace", "--json"], &folder).json()["complete"],
            true,
            "{}",
            run.stderr
        );
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_that_waits_for_another_port_is_reported() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let address = folder.file("other");
        let port =
            Port::listen(&PortAddress::parse(&address).unwrap(), PortOptions::default()).unwrap();
        let mut program = peer.command(folder.path(), "sleep", 1);
        let mut program =
            program.env("DOTNET_DiagnosticPorts", &address).stdout(Stdio::null()).spawn().unwrap();
        let arrival = port.next(LONG).unwrap();
        let pid = program.id().to_string();
        let args = [
            "collect",
            "-p",
            &pid,
            "--patience",
            "120s",
            "--duration",
            "300ms",
            "-o",
            "x.nettrace",
        ];
        let run = ran(&args, &folder);
        run.assert_message("another port still holds the process");
        arrival.runtime.resume().unwrap();
        assert!(program.wait().unwrap().success());
    });
}
