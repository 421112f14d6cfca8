//! Tests of the headers of blocks of blobs (FORMAT.md 6.1).

use crate::snapshot::{ordered, read};
use crate::streams::last_event_block;
use crate::streams::{START, V4_AND_V6, at, begun, define, definition, event, events, opened};
use nettrace_parser::{BlockKind, Class, Fault, Reader};
use nettrace_testdata::synth::*;

#[test]
fn t060_a_header_size_of_28_is_skipped_to_its_end_in_event_and_metadata_blocks() {
    for version in V4_AND_V6 {
        for layout in [BlobLayout::Compressed, BlobLayout::Uncompressed] {
            for extra in [8, 1, 3000] {
                let longer = |block: EventBlock| EventBlock {
                    layout,
                    header_extra: vec![0xff; extra],
                    ..block
                };
                let mut stream =
                    if version == Version::V6 { begun(version) } else { opened(version) };
                if version == Version::V4 {
                    let blobs = [Blob::definition(11, START, definition(1).encode())];
                    stream.metadata_blobs(&longer(EventBlock::new(blobs)));
                }
                stream.event_block(&longer(EventBlock::new([event(1, 1), event(2, 2)])));
                stream.end();
                let content = last_event_block(&stream).content.clone();
                assert_eq!(stream.bytes[content.start..][..2], (20 + extra as u16).to_le_bytes());
                let outcome = read(&stream.bytes);
                assert_eq!((outcome.ticks(), outcome.numbers()), (at([1, 2]).to_vec(), vec![1, 2]));
                assert!(outcome.events.iter().all(|event| event.name == "Hi"));
                assert!(outcome.is_flawless());
            }
        }
    }
}

#[test]
fn t061_a_header_size_below_20_loses_the_block_and_not_the_next_one() {
    for version in V4_AND_V6 {
        for header_size in [19, 2, 0] {
            let mut stream = begun(version);
            events(&mut stream, [event(1, 1)]);
            let block = EventBlock::new([event(2, 2)]);
            stream.event_block(&EventBlock { header_size: Some(header_size), ..block });
            let lost = last_event_block(&stream).clone();
            events(&mut stream, [event(3, 3)]);
            stream.end();
            let outcome = read(&stream.bytes);
            let start = lost.content.start as u64;
            assert_eq!(
                outcome.damage(),
                [(Class::BlockLost, start, Fault::HeaderSize(header_size))]
            );
            let finding = outcome.findings[0];
            assert_eq!(
                (finding.lost_bytes, finding.block_offset),
                (lost.content.len() as u64, lost.start as u64)
            );
            assert_eq!((outcome.ticks(), outcome.lost), (at([1, 3]).to_vec(), 1));
            assert!(outcome.is_complete);
        }
        // A header that says to be longer than the block.
        let mut stream = begun(version);
        let block = EventBlock { header_size: Some(5000), ..EventBlock::new([event(1, 1)]) };
        stream.event_block(&block);
        let start = last_event_block(&stream).content.start as u64;
        stream.end();
        assert_eq!(
            read(&stream.bytes).damage(),
            [(Class::BlockLost, start, Fault::HeaderSize(5000))]
        );
    }
    // If it is a metadata block, its definitions are lost, but the events are delivered.
    let mut stream = opened(Version::V4);
    let block = EventBlock::new([Blob::definition(11, START, definition(1).encode())]);
    stream.metadata_blobs(&EventBlock { header_size: Some(18), ..block });
    let start = stream.nth(PartKind::Metadata, 0).content.start as u64;
    define(&mut stream, &[definition(2)]);
    events(&mut stream, [event(1, 1), Blob { metadata_id: 2, ..event(2, 2) }]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(
        outcome.damage(),
        [
            (Class::BlockLost, start, Fault::HeaderSize(18)),
            (Class::Note, outcome.events[0].offset, Fault::UndefinedMetadata(1)),
        ]
    );
    let names: Vec<_> = outcome.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["", "Hi"]);
}

#[test]
fn t062_unknown_block_flags_are_ignored() {
    for version in V4_AND_V6 {
        for (layout, flags) in
            [(BlobLayout::Compressed, 0xffff), (BlobLayout::Uncompressed, 0xfffe)]
        {
            let flagged = |block: EventBlock| EventBlock { flags: Some(flags), layout, ..block };
            let mut stream = if version == Version::V6 { begun(version) } else { opened(version) };
            if version == Version::V4 {
                let blobs = [Blob::definition(11, START, definition(1).encode())];
                stream.metadata_blobs(&flagged(EventBlock::new(blobs)));
            }
            stream.event_block(&flagged(EventBlock::new([event(1, 1), event(2, 2)])));
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!((outcome.ticks(), outcome.numbers()), (at([1, 2]).to_vec(), vec![1, 2]));
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t063_an_event_block_without_blobs_is_accepted() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, []);
        events(&mut stream, [event(1, 1)]);
        stream.event_block(&EventBlock::default().layout(BlobLayout::Uncompressed));
        events(&mut stream, [event(2, 2)]);
        stream.end();
        for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
            assert_eq!(outcome.ticks(), at([1, 2]));
            assert!(outcome.is_flawless());
        }
        let mut reader = Reader::from_slice(&stream.bytes);
        let mut blocks = 0;
        while let Some(block) = reader.next_block().unwrap() {
            blocks += u32::from(block.kind == BlockKind::Event);
        }
        assert_eq!(blocks, 4);
    }
}
