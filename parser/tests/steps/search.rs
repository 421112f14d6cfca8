//! Tests of version 6 streams in which the search for blocks is as expensive as possible: bytes
//! look like blocks or rows of as many other blocks as possible, or would be searched repeatedly.
//! Work is counted, not timed.

use super::Reader;
use crate::source::Source;
use crate::work;
use nettrace_testdata::synth::{
    Blob, EventBlock, MetadataBlock, MetadataRow, Stream, ThreadBlock, ThreadRow, Trace, Version,
};
use std::io::{self, Read};

/// Returns a stream that defines type 1 and thread 7.
fn defined() -> Stream {
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default());
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(7, 1, 7)]));
    let row = MetadataRow { metadata_id: 1, provider: "Demo".into(), ..MetadataRow::default() };
    stream.metadata_rows(&MetadataBlock::new(vec![row]));
    stream
}

fn sound() -> EventBlock {
    let threads = Blob { thread_id: 7, capture_thread_id: 7, ..Blob::default() };
    EventBlock::new([Blob { metadata_id: 1, sequence_number: 1, payload: vec![1; 9], ..threads }])
}

/// Returns a block's header.
fn header(length: usize, kind: u8) -> [u8; 4] {
    let [a, b, c, _] = (length as u32).to_le_bytes();
    [a, b, c, kind]
}

/// Returns the header of an event block's content. A reader takes bytes with unknown flags for no
/// block.
fn event_header(flags: u8) -> [u8; 20] {
    let mut content = [0; 20];
    (content[0], content[2]) = (20, flags);
    content
}

/// Returns a compressed row of known ids with a payload size of `size`, but without its payload.
fn row(size: usize) -> Vec<u8> {
    [&[0x87, 1, 0, 7, 0, 7, 0][..], &varuint3(size)].concat()
}

/// Returns a number encoded as a varuint of three bytes.
fn varuint3(number: usize) -> [u8; 3] {
    [0, 7, 14].map(|bits| (number >> bits) as u8 & 0x7f | if bits < 14 { 0x80 } else { 0 })
}

/// Returns a chain of the smallest blocks, which have a thread row without entries. A reader
/// believes a chain of three or more.
fn small_blocks() -> Vec<u8> {
    [3, 0, 0, 6, 1, 0, 9].repeat(9)
}

/// Returns `units` nested blocks, which all claim to reach to the end of the last one. The header
/// of each unit is between `begin` and `end`.
fn nested(units: usize, kind: u8, begin: &[u8], end: &[u8], behind: &[u8]) -> Vec<u8> {
    let unit = begin.len() + 4 + end.len();
    let mut bytes = Vec::new();
    for left in (0..units).rev() {
        bytes.extend(begin);
        bytes.extend(header(end.len() + left * unit + behind.len(), kind));
        bytes.extend(end);
    }
    bytes.extend(behind);
    bytes
}

/// Returns rows that also look like blocks. Each is the beginning of a chain of blocks through all
/// later rows, and the chain leads nowhere.
fn rows_that_are_chains(units: usize) -> Vec<u8> {
    let mut content = event_header(1).to_vec();
    for _ in 0..units {
        // These bytes are a stack block of one stack, and also three rows of events.
        content.extend([0x88, 0, 0, 5, 1, 0, 0, 0, 1, 0, 0, 0, 124, 0, 0, 0, 0x80, 0, 121]);
        content.extend([7; 121]);
    }
    content.extend([0x80, 0, 50]);
    content.extend([7; 50]);
    let mut stream = defined();
    stream.bytes.extend(header(content.len(), 2));
    stream.bytes.extend(content);
    stream.event_block(&sound()).end();
    stream.bytes
}

/// Returns rows that also look like blocks. Each leads directly to one long chain, not to the next
/// row.
fn rows_that_lead_to_one_chain(units: usize) -> Vec<u8> {
    let mut content = event_header(1).to_vec();
    for left in (0..units).rev() {
        // A stack block up to the chain, if its length can be the beginning of a row, otherwise a
        // block that leads nowhere.
        let length = 0x88 + 256 * if left & 0x80 == 0 { left } else { 0 };
        let mut unit = header(length, 5).to_vec();
        unit.extend([1, 0, 0, 0, 1, 0, 0, 0, 124, 0, 0, 0]);
        let behind = if left == 0 { 0x88 + 4 - 16 - 5 + 60 * units } else { 256 - 16 - 5 };
        unit.extend([0x80, 0]);
        unit.extend(varuint3(behind));
        unit.resize(if left == 0 { 4 + 0x88 } else { 256 }, 7);
        content.extend(unit);
    }
    content.extend([2, 0, 0, 3, 0, 0].repeat(10 * units));
    content.extend([0xff; 9]);
    let mut stream = defined();
    stream.bytes.extend(header(content.len(), 2));
    stream.bytes.extend(content);
    stream.event_block(&sound()).end();
    stream.bytes
}

/// Returns blocks with a wrong beginning. Their rows lead through all later blocks, and are broken
/// at the end.
fn blocks_of_one_walk(units: usize) -> Vec<u8> {
    let mut rest = event_header(2).to_vec();
    rest[2] = 3;
    // Each row reaches to the row of the next unit.
    let between = small_blocks();
    let covered = 100 + between.len() + 4 + rest.len();
    rest.extend(row(covered));
    rest.extend([7; 100]);
    let mut stream = defined();
    stream.bytes.extend(nested(units, 2, &between, &rest, &[0xff; 300]));
    stream.bytes.extend([0xff; 60]);
    stream.bytes
}

/// Returns blocks that claim to reach almost to the end of the input. Their rows are broken and
/// contain beginnings of blocks that lead to one long chain, which does not reach the end.
fn places_before_the_end(units: usize) -> Vec<u8> {
    let chain = [2, 0, 0, 3, 0, 0].repeat(10 * units);
    let end = [&event_header(1)[..], &[0xff; 9]].concat();
    let unit = 4 + end.len() + 6 + 24;
    let mut bytes = Vec::new();
    for left in (0..units).rev() {
        bytes.extend(header(end.len() + 6 + 24 + left * unit + chain.len() + 1, 2));
        bytes.extend(&end);
        // A block that leads to the chain.
        bytes.extend([2, 0, 0, 3, 0, 0]);
        bytes.extend(header(20 + left * unit, 2));
        bytes.extend(event_header(1));
    }
    let mut stream = defined();
    stream.bytes.extend(bytes);
    stream.bytes.extend(chain);
    stream.bytes.extend([0xff; 9]);
    stream.bytes
}

/// Returns event blocks that are also rows of the previous block and share the rows after them. The
/// payload size of such a row lies in the MinTimestamp of the block.
fn blocks_that_are_rows_of_each_other(units: usize) -> Vec<u8> {
    let tail = [&[0x80, 0, 1][..], &[9]].concat().repeat(8 * units);
    // All lengths have the same lowest byte, which is also the flags byte of the row.
    let least = (tail.len() + 20) >> 8;
    let starts: Vec<usize> =
        (0..units).map(|unit| unit % 128 * 256 + unit / 128 * 65_536).collect();
    // Keeps the next byte below 128.
    let most = ((starts.last().map_or(0, |last| last >> 8) + least) | 0xff) + 0x80;
    let end = 4 + 0x8f + 256 * most;
    let mut bytes = vec![0; end];
    for start in &starts {
        let length = end - start - 4;
        let mut block = header(length, 2).to_vec();
        let mut content = event_header(1);
        let payload = end - tail.len() - (start + 4 + 4 + 3);
        content[4..7].copy_from_slice(&varuint3(payload));
        content[19] = 0x7f;
        block.extend(content);
        // A row that reaches to the next block.
        let next = starts.iter().find(|next| *next > start).copied().unwrap_or(end - tail.len());
        let between = row(next - start - 24 - 10);
        block.extend(between);
        bytes[*start..][..block.len()].copy_from_slice(&block);
    }
    let begin = end - tail.len();
    bytes[begin..].copy_from_slice(&tail);
    let mut stream = defined();
    stream.bytes.extend(bytes);
    stream.event_block(&sound());
    stream.event_block(&sound()).end();
    stream.bytes
}

/// Returns stack blocks with a count of one stack, but with more stacks that lead through all later
/// blocks.
fn stacks_behind_those_that_are_stated(units: usize) -> Vec<u8> {
    let between = small_blocks();
    let mut end = vec![1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4];
    end.extend(((between.len() + 4 + end.len()) as u32).to_le_bytes());
    let behind = [&between[..], &[0; 20]].concat();
    let mut stream = defined();
    stream.bytes.extend(nested(units, 5, &between, &end, &behind));
    stream.event_block(&sound());
    stream.event_block(&sound()).end();
    stream.bytes
}

/// Returns label lists without an end. They are believed and read if intact blocks follow.
fn lists_without_end(units: usize, is_followed: bool) -> Vec<u8> {
    let between = small_blocks();
    let mut end = vec![1, 0, 0, 0, 1, 0, 0, 0];
    // A text label whose value contains the header of the next unit.
    end.extend([5, 1, 9, (between.len() + 4 + 8) as u8]);
    let mut stream = defined();
    stream.bytes.extend(nested(units, 8, &between, &end, &[0xff; 90]));
    if is_followed {
        stream.event_block(&sound());
        stream.event_block(&sound()).end();
    }
    stream.bytes
}

/// Returns Trace blocks with key/value pairs that lead through all later blocks.
fn sessions_of_many_pairs(units: usize) -> Vec<u8> {
    let mut one = Stream::new(Version::V6);
    one.trace(&Trace { key_value_count: Some(i32::MAX), ..Trace::default() });
    let between = small_blocks();
    let mut end = one.bytes[24..].to_vec();
    end.extend([0, (between.len() + 4 + end.len()) as u8]);
    let mut stream = defined();
    stream.bytes.extend(nested(units, 1, &between, &end, &[0xff; 90]));
    stream.bytes
}

/// Returns event blocks whose sizes are believed, each broken at its beginning.
fn broken_blocks_that_end_together(units: usize) -> Vec<u8> {
    let end = [&event_header(1)[..], &[0xff; 9]].concat();
    let mut stream = defined();
    stream.bytes.extend(nested(units, 2, &small_blocks(), &end, &[0xff; 90]));
    stream.event_block(&sound());
    stream.event_block(&sound()).end();
    stream.bytes
}

/// Returns rows that also look like chains of blocks. Many blocks of an unknown kind follow each
/// block of such rows.
fn rows_before_unknown_blocks(units: usize) -> Vec<u8> {
    let mut bytes = rows_that_are_chains(units);
    // Length of the intact block and the end mark.
    let sound = defined().event_block(&sound()).end().bytes.len() - defined().bytes.len();
    let at = bytes.len() - sound;
    bytes.splice(at..at, [2, 0, 0, 99, 0xff, 0xff].repeat(10));
    bytes
}

type Streams = [(&'static str, fn(usize) -> Vec<u8>); 11];

const STREAMS: Streams = [
    ("rows that are chains", rows_that_are_chains),
    ("rows that lead to one chain", rows_that_lead_to_one_chain),
    ("blocks of one walk", blocks_of_one_walk),
    ("places before the end", places_before_the_end),
    ("blocks that are rows of each other", blocks_that_are_rows_of_each_other),
    ("stacks behind those that are stated", stacks_behind_those_that_are_stated),
    ("lists without end", |units| lists_without_end(units, false)),
    ("lists without end that are read", |units| lists_without_end(units, true)),
    ("sessions of many pairs", sessions_of_many_pairs),
    ("broken blocks that end together", broken_blocks_that_end_together),
    ("rows before unknown blocks", rows_before_unknown_blocks),
];

/// Returns the number of events of a stream, and the number of steps of reading.
fn read(mut reader: Reader<impl Source>) -> (u64, u64) {
    work::take();
    let mut events = 0;
    loop {
        match reader.next_event() {
            Ok(Some(_)) => events += 1,
            Ok(None) => return (events, work::take()),
            Err(error) => assert!(error.is_would_block(), "{error}"),
        }
    }
}

/// Maximum number of steps for a byte. Earlier, each of the streams took more than twice as many,
/// and its second half more than its first.
const MAX_STEPS: u64 = 3;

#[test]
fn whatever_blocks_and_rows_share_is_looked_at_in_linear_work() {
    for (name, stream) in STREAMS {
        for units in [500, 2000] {
            let bytes = stream(units);
            let (_, steps) = read(Reader::from_slice(&bytes));
            let most = MAX_STEPS * bytes.len() as u64;
            assert!(
                steps <= most,
                "{name}: {steps} steps for {} bytes of {units} units",
                bytes.len()
            );
        }
    }
}

#[test]
fn rows_that_look_like_blocks_which_lead_nowhere_are_events() {
    for units in [1, 10, 2000] {
        let (events, _) = read(Reader::from_slice(&rows_that_are_chains(units)));
        assert_eq!(events, 3 * units as u64 + 2);
    }
}

/// A source of one byte at a time that answers `WouldBlock` every other time.
struct Drops<'d>(&'d [u8], bool);

impl Read for Drops<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let room = room.get_mut(..1).unwrap_or_default();
        self.0.read(room)
    }
}

/// Returns a block whose size is not believed and whose rows do not show its end. A reader waits
/// for the bytes after it, and could search the rows again with each byte.
fn many_rows_to_wait_behind(last: &[u8]) -> Vec<u8> {
    let mut content = event_header(1).to_vec();
    content.extend(row(2));
    content.extend([7; 2]);
    content.extend([0, 0, 7, 7].repeat(35_000));
    content.extend(last);
    let mut stream = defined();
    stream.bytes.extend(header(content.len(), 2));
    stream.bytes.extend(content);
    stream.bytes.extend([0xff; 6000]);
    stream.bytes
}

#[test]
fn rows_and_places_are_not_looked_at_again_with_each_byte_that_comes() {
    // The last rows look like blocks of 3,968 bytes (thread removals, for which nothing is
    // searched) and of 5,000 bytes (stacks). The first row has an undefined id.
    let removals: &[u8] = &[&[0x80, 15, 0, 7][..], &[1; 40]].concat();
    let stacks: &[u8] =
        &[&header(5000, 5)[..], &[1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0], &[1; 40]].concat();
    for last in [removals, stacks] {
        let bytes = many_rows_to_wait_behind(last);
        let (_, at_once) = read(Reader::from_slice(&bytes));
        let (_, in_drops) = read(Reader::from_read(Drops(&bytes, false)));
        // Each byte allows some steps for searching.
        let most = 2 * at_once + 64 * bytes.len() as u64;
        assert!(in_drops <= most, "{in_drops} steps, {at_once} at once");
    }
}
