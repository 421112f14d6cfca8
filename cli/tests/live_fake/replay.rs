//! `--record` and `nettrace replay`.

use super::{Folder, common::command, lines_of, metrics, on, ran, signal, streaming};
use nettrace_ipc::fake::FakeRuntime;
use std::path::Path;
use std::process::Stdio;

#[cfg(unix)]
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
    let (_, port) = lines_of(&mut replay).recv().unwrap();
    assert_eq!(port, format!("{socket},connect"));
    let run =
        ran(&["collect", "--port", &port, "--duration", "300ms", "-o", "y.nettrace"], &folder);
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
    run.assert_message("line 1");
    assert_eq!(ran(&["replay", "missing"], &folder).code, Some(1));
}

#[test]
fn every_live_command_can_be_recorded() {
    for words in [
        &["collect", "--duration", "100ms", "-o", "x.nettrace"][..],
        &["watch", "--duration", "100ms"],
        &["process", "info"],
        &["process", "env"],
        &["process", "dump", "-o", "d"],
    ] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
        let run = on(&fake, &folder, &[words, &["--record", "t"]].concat());
        assert_eq!(run.code, Some(0), "{words:?}: {}", run.stderr);
        let transcript = std::fs::File::open(folder.0.join("t")).unwrap();
        let transcript =
            nettrace_ipc::Transcript::read(std::io::BufReader::new(transcript)).unwrap();
        assert_eq!(transcript.connection_count(), fake.requests().len(), "{words:?}");
        let run = on(&fake, &folder, &[words, &["--record", "t"]].concat());
        assert_eq!(run.code, Some(1), "{words:?}");
        assert!(run.stderr.contains("already exists"), "{words:?}: {}", run.stderr);
    }
}
