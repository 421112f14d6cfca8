//! What contradicts itself (FORMAT.md 13.6), as the command shows it: exit code 3, marks,
//! losses that are doubted, and `--only-sound`.

use crate::common;

use common::{file, nettrace, nettrace_with_input};
use nettrace_testdata::one_type;
use nettrace_testdata::synth::{Blob, EventBlock, Version};
use serde_json::Value;

/// Events 1 to 6 of one thread. Number 2 lies behind the largest time of its block.
fn contradicting(version: Version) -> Vec<u8> {
    let mut stream = one_type(version);
    let row = |(number, ticks): (u32, u64)| Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: 1,
        capture_thread_id: 1,
        ticks: 1_000_000 + ticks,
        is_sorted: true,
        ..Blob::default()
    };
    let block = EventBlock::new([(1, 1), (2, 9), (3, 9), (4, 9)].map(row));
    let max_ticks = Some(1_000_005);
    stream.event_block(&EventBlock { min_ticks: Some(1_000_001), max_ticks, ..block });
    stream.event_block(&EventBlock::new([(5, 10), (6, 11)].map(row)));
    stream.end();
    stream.bytes
}

/// Numbers of the events and whether they are marked.
fn marks(lines: &[Value]) -> Vec<(u64, bool)> {
    let mark = |line: &Value| (line["sequence"].as_u64().unwrap(), line["doubted"] == true);
    lines.iter().map(mark).collect()
}

#[test]
fn events_behind_a_contradiction_are_marked_and_left_out_by_only_sound_and_the_exit_code_is_3() {
    for version in [Version::V4, Version::V5, Version::V6] {
        let bytes = contradicting(version);
        let path = file("contradicting.nettrace", &bytes);
        let events = ["events", "--format", "ndjson", "--order", "file", "--raw"];
        let ways: [&[&str]; 4] =
            [&["--threads", "1", &path], &["--threads", "3", &path], &["--no-mmap", &path], &["-"]];
        for way in ways {
            let ran = nettrace_with_input(&[&events[..], way].concat(), &bytes);
            assert_eq!(ran.code, Some(3), "{way:?}: {}", ran.stderr);
            assert_eq!(
                marks(&ran.lines()),
                [(1, false), (2, true), (3, true), (4, true), (5, false), (6, false)],
                "{version:?} {way:?}"
            );
            let ran = nettrace_with_input(&[&events[..], &["--only-sound"], way].concat(), &bytes);
            // What was left out is damage all the same.
            assert_eq!(ran.code, Some(3), "{way:?}: {}", ran.stderr);
            assert_eq!(marks(&ran.lines()), [(1, false), (5, false), (6, false)], "{way:?}");
        }
        let info = nettrace(&["info", "--json", &path]);
        assert_eq!(info.code, Some(3));
        let info = info.json();
        assert_eq!((&info["events"], &info["lost"]), (&6.into(), &0.into()), "{version:?}");
        assert_eq!(info["lost_doubted"], 2, "{version:?}: {info}");
        let check = nettrace(&["check", &path]);
        assert_eq!(check.code, Some(3));
        assert!(check.text().contains("13.6"), "{}", check.text());
        let report = nettrace(&["report", "summary", "--json", &path]);
        assert_eq!(report.code, Some(3));
        assert_eq!(report.json()["outcome"]["lost_doubted"], 2, "{}", report.text());
    }
}
