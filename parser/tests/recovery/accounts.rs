//! Tests of the assignment of bytes to blocks, if a version 6 block begins inside another one.

use crate::invariants;
use crate::lengths::{event, opened};
use nettrace_parser::{BlockKind, Class, Finding, Reader};
use nettrace_testdata::synth::{
    Blob, Block, Content, EventBlock, MetadataBlock, MetadataRow, SequencePoint, Stream, Trace,
    Version,
};

/// Returns the number of bytes of blocks that were read, and the number of blocks.
fn bytes_and_blocks(bytes: &[u8]) -> (u64, u64) {
    let mut reader = Reader::from_slice(bytes);
    while reader.next_event().unwrap().is_some() {}
    let statistics = reader.statistics();
    let sum = |count: &dyn Fn(BlockKind) -> u64| BlockKind::all().map(count).sum();
    (sum(&|kind| statistics.bytes(kind)), sum(&|kind| statistics.blocks(kind)))
}

/// Returns a stream with a stack block that ends with `rest_of_stacks`, and then two event blocks.
fn behind(mut stream: Stream, rest_of_stacks: &[u8]) -> Vec<u8> {
    stream.bytes.extend(rest_of_stacks);
    let row = MetadataRow { metadata_id: 1, provider: "Demo".into(), ..MetadataRow::default() };
    stream.metadata_rows(&MetadataBlock::new(vec![row]));
    stream.event_block(&EventBlock::new([event(1, vec![1; 9]), event(2, vec![2; 9])]));
    stream.event_block(&EventBlock::new([event(3, vec![3; 9])]));
    stream.end();
    stream.bytes
}

#[test]
fn bytes_of_a_block_that_begins_in_the_end_of_the_trace_block_are_counted_once() {
    let mut stream = Stream::new(Version::V6);
    // Header, first id and count of a stack block of 20 bytes. The bytes are also letters of a
    // text.
    let stacks = "\x14\0\0\x05\x01\0\0\0\x01\0\0\0";
    stream.trace(&Trace { key_values: vec![("key".into(), stacks.into())], ..Trace::default() });
    let bytes = behind(stream, &[8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    // All bytes except the stream header and the end mark belong to blocks.
    assert_eq!(bytes_and_blocks(&bytes), (bytes.len() as u64 - 24, 5));
    invariants::assert_calm(&bytes);
    invariants::assert_parallel_is_serial(&bytes);
}

#[test]
fn rows_are_lost_up_to_where_another_block_begins_among_them() {
    let mut stream = opened();
    // Thread rows, some of them broken. From the last byte of the first row on, they look like the
    // beginning of a stack block of 512 bytes.
    let rows: [&[u8]; 4] = [&[3, 0, 0x80, 0x80, 0], &[2, 0, 5, 1], &[1, 0, 0x80], &[1, 0, 0]];
    stream.block(&Block::new(6, Content::raw(rows.concat())));
    let at = stream.bytes.len() - 11;
    assert_eq!(stream.bytes[at..], [0, 2, 0, 5, 1, 1, 0, 0x80, 1, 0, 0]);
    let mut rest = vec![0, 0xf4, 1, 0, 0];
    rest.extend([3; 500]);
    let bytes = behind(stream, &rest);
    assert_eq!(bytes_and_blocks(&bytes), (bytes.len() as u64 - 24, 7));
    let mut reader = Reader::from_slice(&bytes);
    while reader.next_event().unwrap().is_some() {}
    let is_lost_behind =
        |finding: &Finding| finding.lost_bytes > 0 && finding.lost_offset >= at as u64;
    assert!(
        !reader.damage().findings().iter().any(is_lost_behind),
        "{:#?}",
        reader.damage().findings()
    );
    assert_eq!(reader.damage().lost_bytes(), 0);
    invariants::assert_calm(&bytes);
    invariants::assert_parallel_is_serial(&bytes);
}

#[test]
fn a_block_that_begins_in_the_end_of_an_event_that_was_given_loses_none_of_its_bytes() {
    let mut stream = opened();
    // A block with a row that is broken after its name. The preceding event contains the block's
    // header and two bytes of the row.
    let row = b"\x01\x04Demo\x80\x80\x80\x80\x80\x80\x80\x80\0\0\0";
    let block = Block::new(3, Content::raw([b"\0\0\x11\0", row.as_slice()].concat())).encode(0).0;
    let shared = 10;
    let payload = [[1; 9].as_slice(), &block[..shared]].concat();
    let known = MetadataRow { metadata_id: 1, provider: "Demo".into(), ..MetadataRow::default() };
    stream.metadata_rows(&MetadataBlock::new(vec![known]));
    stream.event_block(&EventBlock::new([event(1, payload.clone())]));
    let given_to = stream.bytes.len() as u64;
    let bytes = behind(stream, &block[shared..]);
    let mut reader = Reader::from_slice(&bytes);
    let first = reader.next_event().unwrap().expect("it was whole, as far as could be seen");
    assert_eq!(
        (first.payload(), first.payload_offset()),
        (&*payload, given_to - payload.len() as u64)
    );
    let mut others = 0;
    while reader.next_event().unwrap().is_some() {
        others += 1;
    }
    let lost: Vec<(u64, u64)> =
        reader.damage().losses().map(|it| (it.lost_offset, it.lost_bytes)).collect();
    let row_end = given_to + (block.len() - shared) as u64;
    assert!(lost.contains(&(given_to, row_end - given_to)), "{:#?}", reader.damage().findings());
    assert_eq!((others, reader.damage().lost_bytes()), (3, row_end - given_to));
    invariants::assert_calm(&bytes);
    invariants::assert_parallel_is_serial(&bytes);
}

#[test]
fn rows_in_front_of_blocks_that_a_size_covers_are_given_whatever_follows() {
    // Events of an undefined type, and in the same block four sequence points. The last one ends
    // with zeros, like an end mark.
    let odd = |number| Blob { metadata_id: 77, ..event(number, vec![1; 9]) };
    let mut content = EventBlock::new([odd(1), odd(2)]).content(Version::V6).bytes;
    let points = SequencePoint { ticks: 5, ..SequencePoint::default() };
    for _ in 0..4 {
        content.extend(Block::new(4, points.content(Version::V6)).encode(0).0);
    }
    let mut stream = opened();
    stream.block(&Block::new(2, Content::raw(content)));
    let last = stream.bytes.clone();
    stream.event_block(&EventBlock::new([event(3, vec![3; 9])]));
    stream.end();
    for (bytes, events) in [(last, 2), (stream.bytes, 3)] {
        let mut reader = Reader::from_slice(&bytes);
        let mut numbers = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            numbers.push(event.sequence_number());
        }
        assert_eq!(numbers, [1, 2, 3][..events], "{:#?}", reader.damage().findings());
        assert_eq!(reader.statistics().blocks(BlockKind::SequencePoint), 4);
        assert_eq!(
            reader.damage().count(Class::FramingLost),
            1,
            "{:#?}",
            reader.damage().findings()
        );
        assert_eq!(reader.damage().lost_bytes(), 0);
        invariants::assert_calm(&bytes);
        invariants::assert_parallel_is_serial(&bytes);
    }
}
