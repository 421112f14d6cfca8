//! Files that shrink while a command reads them. A mapping of such a file raises a signal, and
//! reading the file ends early.
#![cfg(target_os = "linux")]

use crate::common;

use common::{command, file};
use nettrace_testdata::synth::{self, Blob, EventBlock};
use std::fs::File;
use std::io::Read;
use std::process::{Child, Stdio};

/// Creates events whose text is far longer than a pipe and all buffers before the pipe.
fn long_trace() -> Vec<u8> {
    let mut stream = synth::tiny_v4();
    // The last byte is the end mark.
    stream.bytes.pop();
    let mut sequence_number = 10;
    for _ in 0..2000 {
        let rows = (0..100).map(|_| {
            sequence_number += 1;
            Blob {
                metadata_id: 1,
                sequence_number,
                thread_id: 1,
                payload: vec![7; 16],
                ..Blob::default()
            }
        });
        stream.event_block(&EventBlock::new(rows));
    }
    stream.end();
    stream.bytes
}

/// Starts a command, and returns when the command is in the middle of the file, waiting for a
/// reader of its output.
fn begun(path: &str, args: &[&str]) -> Child {
    let mut child = command(args)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command has begun to write, and cannot end before the test reads the rest.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

/// Shrinks a command's file to `length` bytes, and returns exit code, number of bytes on stdout,
/// and stderr of the command.
fn shrunk_to(length: u64, args: &[&str]) -> (Option<i32>, usize, String) {
    let path = file("shrinking.nettrace", &long_trace());
    let child = begun(&path, args);
    File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout.len(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_mapped_file_that_shrinks_ends_the_command_by_a_signal() {
    // SECURITY.md and the help of --no-mmap promise this.
    for args in
        [&["events", "--format", "ndjson", "--threads", "1"][..], &["events", "--order", "file"]]
    {
        let (code, _, stderr) = shrunk_to(0, args);
        assert_eq!(code, None, "{args:?}: {stderr}");
    }
}

#[test]
fn a_file_that_is_read_and_shrinks_is_incomplete_and_all_before_its_new_end_is_delivered() {
    let args = ["events", "--format", "ndjson", "--order", "file", "--no-mmap"];
    let (code, least, stderr) = shrunk_to(0, &args);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("incomplete: the stream ends at offset 0x"), "{stderr}");
    assert!(least > 0);
    let length = long_trace().len() as u64;
    let (code, most, stderr) = shrunk_to(length - 1000, &args);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("incomplete: the stream ends at offset 0x"), "{stderr}");
    assert!(most > 10 * least, "{most} bytes were written, {least} of a file that was emptied");
}

#[test]
fn a_mapped_file_that_loses_the_end_of_its_last_page_is_incomplete() {
    // The mapping of a page that is only partly in the file has zeros after the file's end, and
    // raises no signal.
    let length = long_trace().len() as u64;
    let (code, _, stderr) =
        shrunk_to(length - 1, &["events", "--format", "ndjson", "--threads", "1"]);
    assert_eq!(code, Some(3), "{stderr}");
}
