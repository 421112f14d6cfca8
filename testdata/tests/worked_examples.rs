//! Compares the writer's output with the two streams that were worked out by hand.
#![allow(clippy::restriction, clippy::pedantic)]

use std::io::Read;

use flate2::read::GzDecoder;
use nettrace_testdata::synth::{Stream, tiny_v4, tiny_v6};

fn decompressed(mut gzip: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(&mut gzip).read_to_end(&mut bytes).expect("the file is gzip");
    bytes
}

fn assert_same_bytes(stream: &Stream, expected: &[u8]) {
    let differs = stream.bytes.iter().zip(expected).position(|(ours, theirs)| ours != theirs);
    assert_eq!(differs.map(|at| format!("{at:#x}")), None, "first byte that differs");
    assert_eq!(stream.bytes.len(), expected.len());
}

#[test]
fn the_small_v4_stream_is_written_as_by_hand() {
    assert_same_bytes(&tiny_v4(), &decompressed(include_bytes!("../traces/tiny-v4.nettrace.gz")));
}

#[test]
fn the_small_v6_stream_is_written_as_by_hand() {
    assert_same_bytes(&tiny_v6(), &decompressed(include_bytes!("../traces/tiny-v6.nettrace.gz")));
}
