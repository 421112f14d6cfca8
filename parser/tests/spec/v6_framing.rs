//! Tests of the framing of version 6 blocks, from the Trace block to the end of the stream
//! (FORMAT.md 7.1, 7.2).

use crate::snapshot::{read, refused};
use crate::streams::{at, event, events, opened};
use crate::v6::*;
use nettrace_parser::{BlockKind, Class, Fault};
use nettrace_testdata::synth::*;

#[test]
fn t120_a_stream_of_header_trace_and_endofstream_is_complete() {
    let mut stream = opened(Version::V6);
    stream.end();
    let outcome = read(&stream.bytes);
    assert!(outcome.is_flawless());
    assert_eq!((outcome.events.len(), outcome.end_offset), (0, Some(stream.bytes.len() as u64)));
    assert_eq!(outcome.trace.unwrap().tick_frequency, 10_000_000);
}

#[test]
fn t121_an_unknown_block_kind_is_skipped_by_its_size_kind_255_too() {
    let mut stream = v6();
    let mut notes = vec![];
    for (number, kind) in [9, 10, 127, 128, 254, 255].into_iter().zip(1..) {
        events(&mut stream, [event(kind, u64::from(kind))]);
        let size = [0, 1, 4, 1000, 70_000, 200_000][kind as usize - 1];
        stream.block(&Block::new(number, Content::raw(vec![0xff; size])));
        notes.push((
            Class::Note,
            last_part(&stream).content.start as u64,
            Fault::UnknownBlock(number),
        ));
    }
    events(&mut stream, [event(7, 7)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), notes);
    assert_eq!(outcome.findings[5].block, Some(BlockKind::Unknown(255)));
    assert_eq!(outcome.numbers(), [1, 2, 3, 4, 5, 6, 7]);
    assert!(outcome.is_complete);
}

#[test]
fn t122_the_first_block_must_be_trace() {
    for kind in [0, 2, 3, 8, 9, 255] {
        let mut stream = Stream::new(Version::V6);
        stream.block(&Block::new(kind, Content::raw(vec![0; 48])));
        stream.trace(&Trace::default());
        assert_eq!(refused(&stream.bytes), (20, Fault::FirstIsNotTrace));
    }
}

#[test]
fn t123_endofstream_with_content_ends_the_stream_all_the_same() {
    let mut stream = v6();
    events(&mut stream, [event(1, 1)]);
    stream.block(&Block::new(0, Content::raw(vec![2; 37])));
    let end = stream.bytes.len() as u64;
    assert!({
        let outcome = read(&stream.bytes);
        outcome.is_flawless() && outcome.end_offset == Some(end)
    });
    events(&mut stream, [event(2, 2)]);
    let outcome = read(&stream.bytes);
    let mark = end - 37 - 4;
    // No writer gives the mark content today, or has a block after it: it was a block.
    assert_eq!(outcome.damage(), [(Class::FramingLost, mark, Fault::UnknownBlock(0))]);
    assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), false));
    // The mark is there, but not all of what it holds.
    let outcome = read(&stream.bytes[..end as usize - 10]);
    assert_eq!(outcome.damage(), [(Class::Incomplete, mark, Fault::Truncated)]);
    assert_eq!((outcome.ticks(), outcome.is_complete), (at([1]).to_vec(), false));
    assert_eq!(outcome.end_offset, Some(end - 10));
}

#[test]
fn t124_a_missing_endofstream_is_incomplete() {
    let mut stream = v6();
    events(&mut stream, [event(1, 1), event(2, 2)]);
    let end = stream.bytes.len();
    let outcome = read(&stream.bytes);
    assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), false));
    assert_eq!((outcome.end_offset, outcome.damage()), (Some(end as u64), vec![]));
    // Inside its header.
    stream.end();
    for length in 1..4 {
        let outcome = read(&stream.bytes[..end + length]);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), false));
        assert_eq!(outcome.damage(), [(Class::Incomplete, end as u64, Fault::Truncated)]);
        assert_eq!(outcome.findings[0].lost_bytes, length as u64);
    }
    assert!(read(&stream.bytes).is_complete);
}
