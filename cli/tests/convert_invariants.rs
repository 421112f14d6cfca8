//! Replays the corpora of the fuzz targets `convert`, `files`, `gcdump` and `reports`.

use crate::invariants;

use nettrace_parser::following::Following;
use nettrace_testdata::{fuzz_corpus, synth};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Returns the paths of inputs that have failed once.
fn found() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../parser/fuzz/found/convert");
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(
        !files.is_empty(),
        "no inputs in {}: a replay of nothing holds nothing",
        folder.display()
    );
    files.sort();
    files
}

fn assert_inputs_hold(target: &str, run: fn(&[u8])) {
    let mut failed = Vec::new();
    for (name, bytes) in fuzz_corpus::inputs(target).unwrap() {
        if catch_unwind(AssertUnwindSafe(|| run(&bytes))).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn corpus_inputs_of_convert_hold_invariants() {
    assert_inputs_hold("convert", invariants::convert);
}

#[test]
fn corpus_inputs_of_files_give_the_same_output_however_they_are_read() {
    assert_inputs_hold("files", invariants::files::files);
}

#[test]
fn corpus_inputs_of_gcdump_end_in_an_error_or_in_a_heap_that_can_be_written() {
    assert_inputs_hold("gcdump", invariants::gcdump::gcdump);
}

#[test]
fn a_file_with_two_streams_gives_the_same_in_every_way_to_read_a_file() {
    let streams = [synth::tiny_v4().bytes, synth::tiny_v6().bytes];
    for (first, second) in
        streams.iter().flat_map(|first| streams.iter().map(move |it| (first, it)))
    {
        let trailer = Following::trailer(second.len() as u64);
        invariants::files::files(&[&first[..], second, &trailer].concat());
    }
}

#[test]
fn reports_on_every_session_of_the_target_reports_are_well_formed() {
    assert_inputs_hold("reports", invariants::sessions::reports);
}

// JSON has no word for a number that is not finite.
#[test]
fn a_throughput_that_is_no_number_is_left_out_of_timelines() {
    for file in found() {
        invariants::convert(&fs::read(file).unwrap());
    }
}

#[test]
fn converters_and_commands_make_something_well_formed_of_malformed_streams() {
    let mut failed = Vec::new();
    let streams = synth::malformed();
    assert!(streams.len() > 10 * invariants::TURNS, "each command reads many streams");
    for (turn, (name, bytes)) in streams.into_iter().enumerate() {
        let both = || {
            invariants::convert(&bytes);
            invariants::say(turn, &bytes);
        };
        if catch_unwind(AssertUnwindSafe(both)).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
