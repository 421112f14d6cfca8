//! Tests of streams that end early: every whole row before the cut is read, and nothing panics.

use crate::snapshot;
use crate::splitmix::Random;

use nettrace_parser::{Block, BlockKind, Class, Fault, Reader, Version};
use nettrace_testdata::synth::{PartKind, Stream, tiny_v4, tiny_v6};
use nettrace_testdata::{cases, corpus};
use snapshot::examples::{Left, examples};
use snapshot::{ordered, read};
use std::collections::BTreeMap;

#[test]
fn every_prefix_of_the_tiny_streams_holds_what_the_table_says() {
    for example in examples() {
        let whole = read(&example.bytes);
        for length in 0..=example.bytes.len() {
            let outcome = read(&example.bytes[..length]);
            let Some(left) = example.left(length) else {
                let (offset, _, fault) = outcome.error.expect("it cannot be read");
                assert_eq!((offset, fault), (length as u64, Fault::HeaderTruncated));
                continue;
            };
            let found = Left {
                events: outcome.events.len(),
                lost: outcome.lost,
                is_complete: outcome.is_complete,
            };
            assert_eq!(found, left, "{length:#x}");
            // The events are equal to those of the whole stream, also in time order.
            assert_eq!(outcome.events, whole.events[..left.events]);
            let mut in_time = ordered(&example.bytes[..length]).events;
            assert!(in_time.is_sorted_by_key(|event| event.ticks));
            in_time.sort_by_key(|event| event.offset);
            assert_eq!(in_time, outcome.events);
        }
    }
}

#[test]
fn no_prefix_has_fewer_events_than_whole_rows() {
    for stream in [tiny_v4(), tiny_v6()] {
        for length in 0x66..=stream.bytes.len() {
            let rows = whole_rows(&stream, PartKind::Event, length);
            assert_eq!(read(&stream.bytes[..length]).events.len(), rows, "{length:#x}");
        }
    }
}

fn whole_rows(stream: &Stream, kind: PartKind, length: usize) -> usize {
    let rows = stream.parts.iter().filter(|part| part.kind == kind).flat_map(|part| &part.rows);
    rows.filter(|row| row.end <= length).count()
}

/// Facts of an event, and the end of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EventRow {
    offset: u64,
    ticks: u64,
    payload: usize,
    frames: usize,
    end: u64,
}

/// Returns the rows of all events up to the cut, and the reader at the end.
fn rows(bytes: &[u8]) -> (Vec<EventRow>, Reader<nettrace_parser::Whole<&[u8]>>) {
    let mut reader = Reader::from_slice(bytes);
    reader.trace().expect("the header is there");
    let is_v3 = reader.version() == Some(Version::V3);
    let mut rows = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        let offset = event.offset();
        let end = match bytes[offset as usize..].first_chunk() {
            // A row of version 3 stores its size, including stack and padding.
            Some(size) if is_v3 => offset + 4 + u64::from(u32::from_le_bytes(*size)),
            // Rows of other versions are compressed, and end with their payload.
            _ => event.payload_offset() + event.payload().len() as u64,
        };
        let (payload, frames) = (event.payload().len(), event.stack().len());
        rows.push(EventRow { offset, ticks: event.timestamp_ticks(), payload, frames, end });
    }
    (rows, reader)
}

#[test]
fn sampled_prefixes_of_larger_traces_hold_every_whole_row() {
    let most = cases(1000) as usize;
    let traces = [
        "net3.1-linux-x64/all.nettrace",
        "net3.1-linux-x64/all.netperf",
        "one-collect-v6/cpu-and-switches.nettrace",
    ];
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    for (nth, name) in traces.into_iter().enumerate() {
        let bytes = corpus::trace(name).bytes();
        let (all, _) = rows(&bytes);
        for sample in (nth..most).step_by(traces.len()) {
            let length = 200 + random.below(bytes.len() - 200);
            let cut = &bytes[..length];
            let (found, reader) = rows(cut);
            let whole = all.iter().take_while(|row| row.end <= length as u64).count();
            assert_eq!(found.len(), whole, "{name} cut at {length}");
            assert_eq!(found, all[..whole], "{name} cut at {length}");
            assert!(!reader.is_complete());
            assert_eq!(reader.end_offset(), Some(length as u64), "{name} cut at {length}");
            let findings = reader.damage().findings();
            assert!(findings.len() <= 1, "{name} cut at {length}: {findings:?}");
            for finding in findings {
                assert_eq!((finding.class, finding.fault), (Class::Incomplete, Fault::Truncated));
                let end = finding.offset + finding.lost_bytes;
                assert!(end <= length as u64, "{name} cut at {length}: {finding:?}");
            }
            if sample % 20 != 0 {
                continue;
            }
            let mut in_time = Reader::from_slice(cut).time_ordered();
            let (mut delivered, mut last) = (0, 0);
            while let Some(event) = in_time.next_event().unwrap() {
                assert!(event.timestamp_ticks() >= last, "{name} cut at {length}");
                last = event.timestamp_ticks();
                delivered += 1;
            }
            assert_eq!((delivered, in_time.out_of_order()), (whole, 0), "{name} cut at {length}");
        }
    }
}

/// Finds the first block of a kind with at least `rows` rows. Returns its position, the number of
/// rows of the kind before it, and its number of rows.
fn block_with_rows(bytes: &[u8], kind: BlockKind, rows: u64) -> (std::ops::Range<usize>, u64, u64) {
    let mut reader = Reader::from_slice(bytes);
    let mut before = 0;
    loop {
        let block = reader.next_block().unwrap().expect("there is such a block");
        let content = content_of(&block);
        let is_of_kind = block.kind == kind;
        let now = reader.statistics().rows(kind);
        if is_of_kind && now - before >= rows {
            return (content, before, now - before);
        }
        before = now;
    }
}

fn content_of(block: &Block<'_>) -> std::ops::Range<usize> {
    block.span.start as usize..block.span.end() as usize
}

/// Cuts a block after each of its bytes. Returns each position at which a cut row was reported,
/// with the number of rows that were read.
fn cut_everywhere(
    bytes: &[u8],
    kind: BlockKind,
    content: std::ops::Range<usize>,
    before: u64,
) -> BTreeMap<u64, u64> {
    let mut cut_rows = BTreeMap::new();
    let mut last = 0;
    for length in content.clone() {
        let mut reader = Reader::from_slice(&bytes[..length]);
        while reader.next_event().unwrap().is_some() {}
        assert!(!reader.is_complete());
        assert_eq!(reader.end_offset(), Some(length as u64));
        let rows = reader.statistics().rows(kind) - before;
        assert!(rows == last || rows == last + 1, "rows come one by one");
        last = rows;
        let findings = reader.damage().findings();
        assert!(findings.len() <= 1, "{findings:?}");
        for finding in findings {
            assert_eq!((finding.class, finding.fault), (Class::Incomplete, Fault::Truncated));
            assert_eq!(finding.block, Some(kind));
            assert_eq!(finding.offset + finding.lost_bytes, length as u64);
            let known = *cut_rows.entry(finding.offset).or_insert(rows);
            assert_eq!(known, rows, "a row is whole or not");
        }
    }
    cut_rows
}

#[test]
fn a_cut_inside_a_stack_block_keeps_its_whole_stacks() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    let (content, before, in_it) = block_with_rows(&bytes, BlockKind::Stack, 3);
    // Stacks store their sizes, so their positions can be computed without the parser.
    let mut starts = vec![];
    let mut at = content.start + 8;
    while at < content.end {
        starts.push(at as u64);
        at += 4 + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    }
    assert_eq!((starts.len() as u64, at), (in_it, content.end));
    let end = content.end.min(starts.get(40).map_or(usize::MAX, |start| *start as usize));
    let cut = cut_everywhere(&bytes, BlockKind::Stack, content.start..end, before);
    let mut expected: BTreeMap<u64, u64> = starts.iter().copied().zip(0..).collect();
    expected.retain(|start, _| (*start as usize) < end - 1);
    // A cut before the first row is in the header of the block.
    expected.insert(content.start as u64, 0);
    assert_eq!(cut, expected);
}

#[test]
fn a_cut_inside_a_metadata_block_keeps_its_whole_definitions() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    let (content, before, in_it) = block_with_rows(&bytes, BlockKind::Metadata, 3);
    let cut = cut_everywhere(&bytes, BlockKind::Metadata, content.clone(), before);
    // The first position is the header; each row then adds a position with one more row.
    let places: Vec<(u64, u64)> = cut.into_iter().collect();
    assert_eq!(places[0], (content.start as u64, 0));
    assert_eq!(places[1], (content.start as u64 + 20, 0));
    assert_eq!(places.len() as u64, in_it + 1);
    for (nth, (_, rows)) in places[1..].iter().enumerate() {
        assert_eq!(*rows, nth as u64);
    }
}

#[test]
fn a_cut_inside_an_event_block_keeps_its_whole_events() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    let mut reader = Reader::from_slice(&bytes);
    let content = loop {
        let block = reader.next_block().unwrap().expect("there is such a block");
        if block.kind == BlockKind::Event && block.span.len > 50_000 {
            break content_of(&block);
        }
    };
    let (all, _) = rows(&bytes[..content.end]);
    let in_block: Vec<&EventRow> =
        all.iter().filter(|row| row.offset >= content.start as u64).collect();
    assert!(in_block.len() > 100);
    // Cuts after every byte of two events with a large header and payload, and at random positions.
    let near = in_block.iter().filter(|row| row.payload > 20 && row.end - row.offset > 30).take(2);
    let mut lengths: Vec<usize> =
        near.flat_map(|row| row.offset as usize..=row.end as usize).collect();
    lengths.extend((content.start..content.end).step_by(997));
    for length in lengths {
        let (found, reader) = rows(&bytes[..length]);
        let whole = all.iter().take_while(|row| row.end <= length as u64).count();
        assert_eq!(found, all[..whole], "cut at {length}");
        let finding = reader.damage().findings().first();
        match all.get(whole).filter(|next| (next.offset as usize) < length) {
            Some(next) => {
                let finding = finding.expect("a row is cut");
                assert_eq!((finding.class, finding.offset), (Class::Incomplete, next.offset));
                assert_eq!(finding.lost_bytes, length as u64 - next.offset);
            }
            // The cut is between two rows or in the header of the block.
            None => assert!(finding.is_none_or(|finding| finding.offset == content.start as u64)),
        }
    }
}
