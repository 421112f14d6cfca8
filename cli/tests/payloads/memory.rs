//! Asserts that the memory of `events` does not grow with the input's length.
#![cfg(target_os = "linux")]

use crate::common::{command, file};
use crate::{fields, session};
use nettrace_testdata::synth::{FieldType, Step, Value, Version};
use std::io::{Read, Write};
use std::process::Stdio;

/// Creates a stream of this many thousand events. Between two sequence points they are in one
/// block, as in the streams of runtimes.
fn stream(version: Version, thousands: usize) -> Vec<u8> {
    let mut session = session(
        version,
        fields(&[("n", FieldType::UInt64), ("text", FieldType::Text)]),
        Vec::new(),
    );
    session.events_per_block = 500;
    for round in 0..thousands as u64 {
        session.steps.extend((0..1000).map(|at| {
            let text =
                format!("{round} and {at}: some text, as long as most, \"quoted\" here and there");
            Step::event(0, 0, 10, vec![Value::U64(round * 1000 + at), Value::Text(text)])
        }));
        session.steps.push(Step::sequence_point());
    }
    session.record().stream.into_bytes()
}

/// Returns the maximum anonymous memory of the process in bytes, and its number of output lines.
/// The memory is read after each piece of the output, for which the process waits, so that
/// short maxima are read too. Mapped files do not count.
fn peak(args: &[&str], input: Option<&[u8]>) -> (u64, u64) {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child =
        command(args).stdin(stdin).stdout(Stdio::piped()).spawn().expect("the binary starts");
    let (mut stdin, mut stdout) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut lines) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let (Some(stdin), Some(input)) = (&mut stdin, input) {
                stdin.write_all(input).expect("it reads all");
            }
        });
        let mut piece = vec![0; 1 << 16];
        loop {
            let taken = stdout.read(&mut piece).expect("it is readable");
            if taken == 0 {
                break;
            }
            lines += piece[..taken].iter().filter(|byte| **byte == b'\n').count() as u64;
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            let kilobytes =
                line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        }
    });
    assert!(child.wait().expect("it ends").success());
    (peak, lines)
}

#[test]
fn memory_of_ndjson_does_not_grow_with_the_streams_length() {
    const THOUSANDS: usize = 20;
    for version in [Version::V4, Version::V6] {
        let streams = [stream(version, THOUSANDS), stream(version, THOUSANDS * 4)];
        let grown = streams[1].len() - streams[0].len();
        assert!(grown > 6 << 20, "{grown}");
        let paths = streams.each_ref().map(|bytes| file("long.nettrace", bytes));
        for order in ["time", "file"] {
            let options = ["events", "--format", "ndjson", "--order", order];
            let of_file = paths
                .each_ref()
                .map(|path| peak(&[&options[..], &["--no-mmap", path]].concat(), None));
            let of_pipe =
                streams.each_ref().map(|bytes| peak(&[&options[..], &["-"]].concat(), Some(bytes)));
            for [(short, few), (long, many)] in [of_file, of_pipe] {
                assert_eq!((few, many), (THOUSANDS as u64 * 1000, THOUSANDS as u64 * 4000));
                assert!(short > 0 && long < short + (2 << 20), "{order}: {short} B, then {long} B");
            }
        }
    }
}
