//! Small streams whose output is huge: it is written as it is made, within half a gigabyte of address space.
#![cfg(target_os = "linux")]

use crate::common;

use common::file;
use nettrace_testdata::synth::{self, Blob, EventBlock, StackBlock};
use std::fs::File;
use std::process::{Command, Stdio};

/// Bytes that the command writes within 512 MiB of address space, and their checksum.
fn written(args: &[&str], input: Option<&str>) -> (usize, String) {
    // `cksum` has the bytes through its hands faster than a test does.
    let limited = r#"ulimit -v 524288; { "$0" "$@"; echo "exit $?" >&2; } | cksum"#;
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_nettrace")]).args(args).current_dir(common::top());
    let stdin = input.map_or(Stdio::null(), |path| File::open(path).unwrap().into());
    let output = command.stdin(stdin).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("exit 0\n"), "{args:?}: {said}");
    let sum = String::from_utf8(output.stdout).unwrap();
    let (sum, bytes) = sum.trim().split_once(' ').unwrap();
    (bytes.parse().unwrap(), sum.to_owned())
}

/// One stack of 8,000 frames, and events that have it.
fn deep_stacks(events: u32) -> Vec<u8> {
    let mut stream = synth::tiny_v4();
    // The end mark.
    stream.bytes.pop();
    let frames: Vec<u64> = (0..8000).map(|frame| 0x7f00_0000_1000 + frame * 0x1000).collect();
    stream.stack_block(&StackBlock::new(1, 8, &[frames]));
    for block in 0..events / 100 {
        let rows = (1..=100).map(|row| {
            let number = block * 100 + row;
            let ticks = 1_000_000 + u64::from(number);
            Blob {
                metadata_id: 1,
                sequence_number: number,
                thread_id: 1,
                stack_id: 1,
                ticks,
                ..Blob::default()
            }
        });
        stream.event_block(&EventBlock::new(rows));
    }
    stream.end();
    stream.bytes
}

#[test]
fn stacks_that_become_much_are_written_within_bounds_however_they_are_read() {
    let path = file("deep.nettrace", &deep_stacks(2400));
    // Each a few seconds.
    let ways: [(&str, &[&[&str]]); 2] = [
        ("ndjson", &[&["--threads", "2"], &["--threads", "4"], &["--no-mmap"]]),
        ("csv", &[&["--threads", "2"]]),
    ];
    for (format, ways) in ways {
        let events = ["events", "--format", format, "--stacks"];
        let one = written(&[&events[..], &["--threads", "1", &path]].concat(), None);
        assert!(one.0 > 2400 * 8000 * 10, "{format}: {} bytes", one.0);
        for more in ways {
            let several = written(&[&events[..], *more, &[&path]].concat(), None);
            assert_eq!(several, one, "{format} {more:?}");
        }
        let piped = written(&[&events[..], &["-"]].concat(), Some(&path));
        assert_eq!(piped, one, "{format} from standard input");
    }
}

#[test]
fn names_of_half_a_million_characters_and_arrays_of_nothing_are_cut_in_rows_and_that_is_said() {
    let Some(shared) = nettrace_testdata::corpus::shared_folder() else { return };
    for (name, said, most) in [
        ("oom-ndjson-1MB-long-provider-name", "more characters)", 60 << 20),
        ("oom-ndjson-90KB-empty-objects", "{\"empty_elements\":65535}", 10 << 20),
    ] {
        let packed = std::fs::read(shared.join(format!("hostile/{name}.nettrace.gz")));
        let Ok(packed) = packed else {
            eprintln!("SKIPPED: there is no {name}");
            continue;
        };
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed), &mut bytes).unwrap();
        let path = file(&format!("{name}.nettrace"), &bytes);
        let one = written(&["events", "--format", "ndjson", "--threads", "1", &path], None);
        assert!(one.0 < most, "{name}: {} bytes", one.0);
        assert_eq!(written(&["events", "--format", "ndjson", "--threads", "4", &path], None), one, "{name}");
        let first = common::nettrace(&["events", "--format", "ndjson", "-n", "1", &path]);
        assert!(first.text().contains(said), "{name}: {:.200}", first.text());
    }
}
