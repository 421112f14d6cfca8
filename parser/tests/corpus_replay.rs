//! Replays the fuzzers' corpus, so that faults found once stay mended.
#![allow(clippy::restriction, clippy::pedantic)]

mod invariants;
mod splitmix;

use nettrace_testdata::fuzz_corpus;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Name and bytes of an input.
type Input = (String, Vec<u8>);

fn inputs(target: &str) -> Vec<Input> {
    fuzz_corpus::inputs(target).unwrap()
}

fn files(folder: &str) -> Vec<Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(
        !files.is_empty(),
        "no inputs in {}: a replay of nothing holds nothing",
        folder.display()
    );
    files.sort();
    files.iter().map(|file| (file.display().to_string(), fs::read(file).unwrap())).collect()
}

fn replay(target: &str) {
    replay_all(target, inputs(target));
}

fn replay_all(target: &str, inputs: Vec<Input>) {
    let (_, run) = invariants::targets::TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let mut failed = Vec::new();
    for (name, bytes) in inputs {
        if catch_unwind(AssertUnwindSafe(|| run(&bytes, invariants::Questions::all()))).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_input_of_the_target_stream_is_calm() {
    replay("stream");
}

#[test]
fn every_input_of_the_target_structured_is_calm() {
    replay("structured");
}

#[test]
fn every_input_of_the_target_blob_is_calm() {
    replay("blob");
}

#[test]
fn every_input_of_the_target_metadata_is_calm() {
    replay("metadata");
}

#[test]
fn every_input_of_the_target_payload_is_calm() {
    replay("payload");
}

#[test]
fn every_input_of_the_target_raw_is_calm() {
    replay("raw");
    replay_all("raw", files("fuzz/found/raw"));
}

#[test]
fn every_input_of_the_target_ordered_is_calm() {
    replay("ordered");
}

#[test]
fn what_passes_for_whole_has_all_events_of_parts_that_were_not_written_over() {
    replay("truth");
    replay_all("truth", files("fuzz/found/truth"));
}

/// Replays inputs with blocks whose sizes are far too large. They showed old faults: events of
/// later blocks were delivered twice, or counted as lost although delivered, and bytes were counted
/// as lost twice.
#[test]
fn no_event_is_given_twice_and_none_is_both_given_and_lost() {
    for target in ["stream", "structured", "ordered"] {
        replay_all(target, files(&format!("fuzz/found/{target}")));
    }
}

/// Replays inputs in which objects and blocks inside a row were taken for the end of a block whose
/// size is wrong.
#[test]
fn what_looks_like_objects_or_blocks_within_a_row_of_a_whole_block_costs_no_event() {
    for target in ["payload", "metadata"] {
        replay_all(target, files(&format!("fuzz/found/{target}")));
    }
}

/// Replays objects among broken rows. Whether an object ends its block depends on the bytes after
/// the block. Fast and careful decoding of rows must come to the same result.
#[test]
fn objects_among_broken_rows_are_explained_whatever_follows() {
    replay_all("blob", files("fuzz/found/blob"));
}

#[test]
fn the_corpus_is_at_most_four_mebibytes() {
    let folders = invariants::targets::TARGETS
        .iter()
        .map(|(name, _)| *name)
        .chain(["ipc", "convert", "files", "gcdump", "reports"]);
    let bytes: usize = folders.flat_map(inputs).map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes <= 4 << 20, "{bytes} bytes");
}

/// Checks the lines of the dictionary, because libFuzzer refuses to start if it cannot parse one.
#[test]
fn the_dictionary_has_only_words_that_libfuzzer_understands() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/nettrace.dict");
    let text = fs::read_to_string(path).unwrap();
    let mut words = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let word = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect(line);
        let mut letters = word.chars();
        while let Some(letter) = letters.next() {
            assert!(letter.is_ascii() && !letter.is_control() && letter != '"', "{line}");
            if letter == '\\' && letters.next() == Some('x') {
                let digits: String = letters.by_ref().take(2).collect();
                assert!(u8::from_str_radix(&digits, 16).is_ok() && digits.len() == 2, "{line}");
            } else {
                assert!(letter != '\\', "{line}: an escape that libFuzzer does not know");
            }
        }
        words += 1;
    }
    assert!(words > 30, "{words} words");
}

/// Draws sessions and damage at random, and prints the failing inputs by version.
#[test]
#[ignore = "a walk of minutes; the replay above holds what was found"]
fn a_random_walk_of_truth() {
    let count: u64 = std::env::var("MUTANTS").map_or(10_000, |count| count.parse().unwrap());
    let of_v6 = std::env::var_os("ONLY_V6").is_some();
    let mut random = splitmix::Random(2026);
    std::panic::set_hook(Box::new(|_| {}));
    let mut sums = std::collections::BTreeMap::new();
    for _ in 0..count {
        let mut bytes: Vec<u8> = (0..37).map(|_| random.below(256) as u8).collect();
        if of_v6 {
            bytes[0] = 3;
        }
        let run = || invariants::targets::truth(&bytes, invariants::Questions::all());
        let failed = catch_unwind(AssertUnwindSafe(run)).err();
        let sum: &mut (u64, u64) = sums.entry(bytes[0] % 4).or_default();
        sum.0 += 1;
        if let Some(said) = failed {
            sum.1 += 1;
            let said = said.downcast_ref::<String>().map_or("", |said| said.as_str());
            let input: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{input}: {said}");
        }
    }
    println!("mutants and failures by version: {sums:?}");
}
