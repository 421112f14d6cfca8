//! Checks that the corpus agrees with its README, and that goldens agree with the streams that were
//! written by hand.
#![allow(clippy::restriction, clippy::pedantic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nettrace_testdata::synth::{Value, payload, tiny_v4, tiny_v6};
use nettrace_testdata::{corpus, crc32};
use sha2::{Digest, Sha256};

#[test]
fn every_trace_has_a_row_in_the_readme_with_size_and_hash() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let rows: BTreeMap<String, (usize, String)> = readme
        .lines()
        .filter_map(|line| {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let ["", name, .., bytes, hash, ""] = columns.as_slice() else { return None };
            Some((name.strip_suffix(".gz")?.to_owned(), (bytes.parse().ok()?, hash.to_string())))
        })
        .collect();
    let own: BTreeMap<String, (usize, String)> = corpus::of_repository()
        .iter()
        .map(|trace| {
            let file = fs::read(trace.path()).unwrap();
            let hash = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
            (trace.name().to_owned(), (file.len(), hash))
        })
        .collect();
    assert_eq!(own, rows);
    assert!(own.values().map(|(bytes, _)| bytes).sum::<usize>() <= 8_000_000);
}

#[test]
fn traces_are_listed_once_and_begin_as_their_suffix_says() {
    let traces = corpus::traces();
    assert!(traces.windows(2).all(|pair| pair[0].name() < pair[1].name()));
    for name in ["net10-linux-x64/all.nettrace", "net3.1-linux-x64/all.netperf", "tiny-v4.nettrace"]
    {
        let trace = corpus::trace(name);
        assert!(
            trace.path().starts_with(env!("CARGO_MANIFEST_DIR")),
            "{name} is taken from the repository"
        );
        let magic: &[u8] =
            if name.ends_with(".netperf") { b"\x14\0\0\0!Fast" } else { b"Nettrace" };
        assert!(trace.bytes().starts_with(magic), "{name}");
    }
}

#[test]
#[should_panic(expected = "no-such.nettrace")]
fn a_trace_that_is_nowhere_is_named() {
    corpus::trace("no-such.nettrace");
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn goldens_of_the_streams_written_by_hand_agree_with_them() {
        let hey = payload(&[Value::I32(5), Value::Text("hey".into())]);
        let golden = corpus::golden_events("tiny-v4.nettrace");
        assert_eq!(golden.events.len(), 4);
        assert_eq!(golden.events[0].payload_crc32, crc32(&hey));
        assert_eq!(golden.lost(), Some(1));
        let stack = tiny_v4().bytes[0x168..0x178].to_vec();
        assert_eq!(golden.events[0].stack_crc32, crc32(&stack));

        let golden = corpus::golden_events("tiny-v6.nettrace");
        assert_eq!(golden.events[1].payload_crc32, crc32(&tiny_v6().bytes[0xea..0xed]));
        let fields = corpus::golden_fields("tiny-v6.nettrace");
        assert!(fields[0].contains("\"n\":\"300\""), "{}", fields[0]);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_shared_trace_has_goldens_that_count_their_events() {
        for trace in corpus::traces_with_goldens() {
            let golden = corpus::golden_events(trace.name());
            assert_eq!(
                golden.trailer_value("events").unwrap(),
                golden.events.len().to_string(),
                "{}",
                trace.name()
            );
            assert_eq!(golden.counts().map(|(_, count)| count).sum::<usize>(), golden.events.len());
            assert!(!corpus::golden_fields(trace.name()).is_empty());
        }
    }
}
