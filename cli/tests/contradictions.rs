//! Streams that contradict themselves (FORMAT.md 13.6) are shown with all their events, without
//! losses that only the contradiction suggests, and with exit code 3.

use crate::common;

use common::{file, nettrace, nettrace_with_input};
use nettrace_testdata::one_type;
use nettrace_testdata::synth::{Blob, EventBlock, Version};
use serde_json::Value;

/// Creates events of one thread, of which the second is later than its block's header allows.
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
    stream.event_block(&EventBlock::new([(7, 10), (8, 11)].map(row)));
    stream.end();
    stream.bytes
}

#[test]
fn events_after_a_contradiction_are_shown_and_the_exit_code_is_3() {
    for version in [Version::V4, Version::V5, Version::V6] {
        let bytes = contradicting(version);
        let path = file("contradicting.nettrace", &bytes);
        let events = ["events", "--format", "ndjson", "--order", "file", "--raw"];
        let ways: [&[&str]; 4] =
            [&["--threads", "1", &path], &["--threads", "3", &path], &["--no-mmap", &path], &["-"]];
        for way in ways {
            let ran = nettrace_with_input(&[&events[..], way].concat(), &bytes);
            assert_eq!(ran.code, Some(3), "{way:?}: {}", ran.stderr);
            let numbers: Vec<Value> =
                ran.lines().iter().map(|line| line["sequence"].clone()).collect();
            assert_eq!(numbers, [1, 2, 3, 4, 7, 8], "{version:?} {way:?}");
        }
        let info = nettrace(&["info", "--json", &path]);
        assert_eq!(info.code, Some(3));
        let info = info.json();
        assert_eq!((&info["events"], &info["lost"]), (&6.into(), &0.into()), "{version:?}");
        let check = nettrace(&["check", &path]);
        assert_eq!(check.code, Some(3));
        assert!(check.text().contains("13.6"), "{}", check.text());
        let report = nettrace(&["report", "summary", "--json", &path]);
        assert_eq!(report.code, Some(3));
        assert_eq!(report.json()["outcome"]["damage_count"], 1, "{}", report.text());
    }
}
