//! Reading ends at the end mark, whatever follows and wherever the bytes come from.
#![cfg(target_os = "linux")]

use crate::common;
use crate::common::Json;

use common::{command, file, gzip, nettrace};
use nettrace_testdata::synth;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;

const COMMANDS: [&[&str]; 6] = [
    &["info"],
    &["stats"],
    &["events"],
    &["events", "--format", "ndjson", "--threads", "2"],
    &["report", "summary"],
    &["convert", "--format", "ndjson", "-o", "-"],
];

#[test]
fn a_pipe_that_is_held_open_after_the_end_mark_does_not_block() {
    for bytes in [synth::tiny_v4().into_bytes(), synth::tiny_v6().into_bytes()] {
        let more = [&bytes[..], b"something else"].concat();
        let zstd = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
        for sent in [bytes.clone(), gzip(&bytes), zstd, more] {
            for args in COMMANDS {
                let mut child = command(&[args, &["-"]].concat())
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                let mut stdin = child.stdin.take().unwrap();
                stdin.write_all(&sent).unwrap();
                // The pipe is held open until the command has ended.
                let mut out = Vec::new();
                child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
                child.wait().unwrap();
                assert!(!out.is_empty(), "{args:?}");
                drop(stdin);
            }
        }
    }
}

#[test]
fn a_named_pipe_that_is_held_open_does_not_block() {
    let path = file("pipe", b"");
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let child = command(&["stats", "--json", &path]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = File::options().write(true).open(&path).unwrap();
    pipe.write_all(&gzip(&synth::tiny_v4().into_bytes())).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(pipe);
    assert!(output.status.success());
    let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stats["events"], 4);
}

#[test]
fn a_sparse_tail_of_a_terabyte_costs_nothing() {
    let path = file("sparse.nettrace", &synth::tiny_v4().into_bytes());
    File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    for args in COMMANDS {
        for way in [&[][..], &["--no-mmap"]] {
            let ran = nettrace(&[args, way, &[&path]].concat());
            assert_eq!(ran.code, Some(0), "{args:?} {way:?}: {}", ran.stderr);
        }
        let ran =
            command(&[args, &["-"]].concat()).stdin(File::open(&path).unwrap()).output().unwrap();
        assert!(ran.status.success(), "{args:?} from standard input");
    }
    let check = nettrace(&["check", "--json", &path]).json();
    assert_eq!(check["counts"]["trailing_bytes"], 1);
    let message = check["findings"].list().iter().find(|it| it["kind"] == "trailing_bytes");
    assert_eq!(
        message.unwrap()["message"],
        "end of stream: more than 1048576 bytes follow the end of the stream"
    );
}

#[test]
fn check_looks_at_as_much_of_what_follows_as_is_asked_for() {
    let bytes = [synth::tiny_v4().into_bytes(), vec![0; 3 << 20]].concat();
    let path = file("long-tail.nettrace", &bytes);
    for (limit, due) in [
        (None, "more than 1048576 bytes"),
        (Some("1000"), "more than 1000 bytes"),
        (Some("1TiB"), "3145728 bytes"),
    ] {
        let asked = limit.map_or(vec![], |limit| vec!["--tail-limit", limit]);
        let ran = nettrace(&[&["check"], &asked[..], &[&path]].concat());
        assert!(
            ran.text().contains(&format!(" {due} follow the end of the stream")),
            "{}",
            ran.text()
        );
    }
}
