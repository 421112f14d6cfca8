//! `--record` and `nettrace replay`.

use super::{Folder, common::command, lines_of, metrics, on, ran, signal, streaming};
use nettrace_ipc::fake::FakeRuntime;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

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
