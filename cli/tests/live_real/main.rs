//! Live commands on real runtimes: .NET Core 3.1, .NET 8, 9 and 10, in the folder that
//! `NETTRACE_PEERS` names. Processes still answer afterwards, and have no more descriptors than
//! before.
#![cfg(target_os = "linux")]
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../common/mod.rs"]
mod common;

#[path = "."]
mod with_runtime {
    use super::*;

    mod advice;
    mod collect;
    mod conditions;
    mod counters;
    mod diff;
    mod endings;
    mod heap;
    mod launch;
    mod load;
    mod options;
    mod prepared;
    mod process;
    mod rules;
    mod same_values;
    mod stack;
    mod steady;
    mod thread_times;
    mod tools;
    mod top;
    mod watch;
}

use common::{Ran, command};
use nettrace_ipc::{Provider, Providers, Rundown, Runtime, Search, Session, SessionConfig};
use nettrace_testdata::peers::{Folder, Peer, Target};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Running program on which commands are tested.
struct Subject {
    target: Target,
    folder: Folder,
    descriptors_before: usize,
}

impl Subject {
    fn start(peer: &Peer, scenario: &str) -> Subject {
        let folder = Folder::new();
        let target = peer.start(&folder, scenario, 0);
        Subject::warmed_up(target, folder)
    }

    /// Starts a program with the objects of `KnownGraph`.
    fn with_known_graph(peer: &Peer, scenario: &str) -> Subject {
        let folder = Folder::new();
        let target = peer.start_with_known_graph(&folder, scenario, 0);
        Subject::warmed_up(target, folder)
    }

    /// Starts a program whose thread pool is starved.
    fn starved(peer: &Peer) -> Subject {
        let folder = Folder::new();
        let target = peer.start_starved(&folder);
        Subject::warmed_up(target, folder)
    }

    fn warmed_up(target: Target, folder: Folder) -> Subject {
        let mut subject = Subject { target, folder, descriptors_before: 0 };
        // A runtime keeps descriptors that it opens for its first session.
        let warm_up = subject.collect(&["--duration", "100ms", "-o", "warm-up.nettrace"]);
        assert_eq!(warm_up.code, Some(0), "{}", warm_up.stderr);
        subject.descriptors_before = subject.target.descriptor_count();
        subject
    }

    fn pid(&self) -> String {
        self.target.pid().to_string()
    }

    /// Runs a command on the program, in its folder.
    fn run(&self, words: &[&str]) -> Ran {
        let pid = self.pid();
        let mut args = words.to_vec();
        let options = if words.first() == Some(&"process") { 2 } else { 1 };
        args.splice(options..options, ["-p", &pid]);
        ran(&patient(&args), &self.folder)
    }

    fn collect(&self, words: &[&str]) -> Ran {
        self.run(&[&["collect", "--force"], words].concat())
    }

    /// Starts a command on the program.
    fn spawn(&self, words: &[&str]) -> Child {
        let pid = self.pid();
        let mut args = words.to_vec();
        args.splice(1..1, ["-p", &pid]);
        let mut command = command(&patient(&args));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn runtime(&self) -> Runtime {
        let found = Search::new().directory(self.folder.path()).process(self.target.pid());
        found.unwrap().runtime().unwrap()
    }

    /// Starts a session that requests no events.
    fn quiet_session(&self) -> Result<Session, nettrace_ipc::Error> {
        let providers = Providers::new([Provider::new("Nettrace-Nothing").unwrap()]).unwrap();
        let config = SessionConfig::new(providers).rundown(Rundown::Off);
        self.runtime().start(&config.buffer_megabytes(std::num::NonZeroU32::MIN))
    }

    /// Returns `info --json` of a file in the program's folder.
    fn info(&self, file: &str) -> serde_json::Value {
        ran(&["info", file, "--json"], &self.folder).json()
    }

    /// Asserts that the program still answers, and has no more descriptors than before.
    fn assert_unharmed(&mut self) {
        let run = self.run(&["process", "info", "--json"]);
        if self.target.major == 3 {
            run.assert_message("0x80131385");
        } else {
            assert_eq!(run.code, Some(0), "{}", run.stderr);
        }
        self.target.assert_no_more_descriptors_than(self.descriptors_before);
    }
}

/// Returns the words of a live command, with much patience unless they have `--patience`.
fn patient<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut words = words.to_vec();
    if !words.contains(&"--patience") {
        let options = if words.first() == Some(&"process") { 2 } else { 1 };
        words.splice(options..options, ["--patience", "120s"]);
    }
    words
}

fn ran(args: &[&str], folder: &Folder) -> Ran {
    let output = command(args).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap();
    finished(output)
}

fn finished(output: std::process::Output) -> Ran {
    let stderr = String::from_utf8(output.stderr).unwrap();
    Ran { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Returns a command with these options that starts the peer's program.
fn launching(
    peer: &Peer,
    options: &[&str],
    (scenario, seconds): (&str, u32),
    folder: &Folder,
) -> Command {
    let words = peer.words(scenario, seconds);
    let mut args = [options, &["--"]].concat();
    args.extend(words.iter().map(String::as_str));
    let mut command = command(&args);
    command.current_dir(folder.path()).env("TMPDIR", folder.path());
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").stdin(Stdio::null());
    command
}

/// Starts programs that connect to a port, and are suspended there until they are recorded.
fn arriving(peer: &Peer, port: &str, count: usize, folder: &Folder) -> Vec<Child> {
    let start = |_| {
        let mut command = peer.command(folder.path(), "sleep", 1);
        command.env("DOTNET_DiagnosticPorts", port).stdout(Stdio::null()).spawn().unwrap()
    };
    (0..count).map(start).collect()
}

/// Returns the names of the traces in a folder, sorted.
fn traces(folder: &Folder) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_trace =
        |name: &String| name.ends_with(".nettrace") && !name.ends_with(".clock.nettrace");
    let mut names: Vec<String> = names.filter(is_trace).collect();
    names.sort();
    names
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
