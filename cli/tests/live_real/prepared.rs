//! Changing a process that is suspended at startup, and replaying a transcript of a process.

use super::common::{Json, command};
use super::{Subject, finished, patient, ran, wait_until};
use nettrace_parser::following::Following;
use nettrace_testdata::peers::{self, Folder};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_that_waits_takes_variables_and_a_startup_hook() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let mut program = peer.command(folder.path(), "sleep", 0);
        program.env("DOTNET_DefaultDiagnosticPortSuspend", "1").stdout(Stdio::null());
        let mut program = program.spawn().unwrap();
        let pid = program.id().to_string();
        let run = |words: &[&str]| {
            let own = [words, &["-p", &pid]].concat();
            ran(&patient(&own), &folder)
        };
        wait_until("its socket", || run(&["process", "info"]).code == Some(0));
        let fine = |words: &[&str]| {
            let run = run(words);
            assert_eq!(run.code, Some(0), ".NET {} {words:?}: {}", peer.major, run.stderr);
            run
        };
        fine(&["process", "setenv", "NETTRACE_TEST=a=b"]);
        let hook =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/programs/KnownGraph.dll");
        fine(&["process", "startup-hook", &hook.canonicalize().unwrap().display().to_string()]);
        fine(&["process", "resume"]);
        wait_until("the hook's objects", || {
            let report = fine(&["heap", "--json"]).json();
            let types = report["types"].list();
            types.iter().any(|row| row["name"] == "Known.Session" && row["count"].int() == 1000)
        });
        drop(program.stdin.take());
        assert!(program.wait().unwrap().success());
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn what_was_recorded_of_a_process_is_replayed() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let words = ["--duration", "500ms", "-o", "x.nettrace", "--record", "run.transcript"];
        let run = subject.collect(&words);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let socket = subject.folder.file("replayed");
        let mut replay = command(&["replay", "run.transcript", "--listen", &socket, "--at-once"])
            .current_dir(subject.folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(replay.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let args = ["collect", "--port", port.trim(), "--duration", "500ms", "-o", "y.nettrace"];
        let run = ran(&patient(&args), &subject.folder);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let read = |name: &str| std::fs::read(subject.folder.file(name)).unwrap();
        // A replayed process is no process, so no times of its threads follow.
        let x = read("x.nettrace");
        let end = Following::from_slice(&x).map_or(x.len(), |second| second.start as usize);
        assert!(x[..end] == read("y.nettrace"), ".NET {}", peer.major);
        peers::signal(replay.id(), "TERM");
        let ended = finished(replay.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        subject.assert_unharmed();
    });
}
