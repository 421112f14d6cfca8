//! Streams of version 6 that make the search for blocks as costly as they can: what looks
//! like blocks, like rows or like both is shared by as many others as possible, or is
//! searched again and again. Work is counted, not timed.

use super::Reader;
use crate::source::Source;
use crate::work;
use nettrace_testdata::synth::{
    Blob, EventBlock, MetadataBlock, MetadataRow, Stream, ThreadBlock, ThreadRow, Trace, Version,
};
use std::io::{self, Read};

/// Returns a stream with the header, the Trace, and what rows refer to: type 1, thread 7.
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

/// Returns the header of an event block's content with compressed rows. No block begins
/// with unknown flags.
fn event_header(flags: u8) -> [u8; 20] {
    let mut content = [0; 20];
    (content[0], content[2]) = (20, flags);
    content
}

/// Returns a compressed row of known ids without its payload.
fn row(size: usize) -> Vec<u8> {
    [&[0x87, 1, 0, 7, 0, 7, 0][..], &varuint3(size)].concat()
}

/// Returns a number in three bytes.
fn varuint3(number: usize) -> [u8; 3] {
    [0, 7, 14].map(|bits| (number >> bits) as u8 & 0x7f | if bits < 14 { 0x80 } else { 0 })
}

/// Returns the smallest blocks: thread rows without entries. A chain of three or more of
/// them passes for blocks.
fn small_blocks() -> Vec<u8> {
    [3, 0, 0, 6, 1, 0, 9].repeat(9)
}

/// Returns `units` blocks, one within the other: each says to reach to the end of the
/// last one. `begin` and `end` of a unit stand around its header, which has the length
/// that is left.
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

/// Returns rows that are blocks, too: each looks like the first of all that follow, which
/// lead nowhere.
fn rows_that_are_chains(units: usize) -> Vec<u8> {
    let mut content = event_header(1).to_vec();
    for _ in 0..units {
        // A stack block of one stack; three rows of events.
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

/// Returns rows that are blocks, too, and lead to one long chain by a block of their own,
/// not to the next row.
fn rows_that_lead_to_one_chain(units: usize) -> Vec<u8> {
    let mut content = event_header(1).to_vec();
    for left in (0..units).rev() {
        // It is a stack block up to the chain, if that length can be the beginning of a
        // row; else a block that leads nowhere.
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

/// Returns blocks that do not begin as they should. Their rows lead through all that
/// follow, and are broken at the end.
fn blocks_of_one_walk(units: usize) -> Vec<u8> {
    let mut rest = event_header(2).to_vec();
    rest[2] = 3;
    // Each row reaches to the row in the next unit.
    let between = small_blocks();
    let covered = 100 + between.len() + 4 + rest.len();
    rest.extend(row(covered));
    rest.extend([7; 100]);
    let mut stream = defined();
    stream.bytes.extend(nested(units, 2, &between, &rest, &[0xff; 300]));
    stream.bytes.extend([0xff; 60]);
    stream.bytes
}

/// Returns blocks that say to reach almost to the input's end. Their rows are broken, and
/// places in them begin blocks that lead to one long chain, which does not reach that
/// end.
fn places_before_the_end(units: usize) -> Vec<u8> {
    let chain = [2, 0, 0, 3, 0, 0].repeat(10 * units);
    let end = [&event_header(1)[..], &[0xff; 9]].concat();
    let unit = 4 + end.len() + 6 + 24;
    let mut bytes = Vec::new();
    for left in (0..units).rev() {
        bytes.extend(header(end.len() + 6 + 24 + left * unit + chain.len() + 1, 2));
        bytes.extend(&end);
        // To the chain.
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

/// Returns event blocks that are each a row of the block before, with the same rows after
/// it: the size of its payload, as a row, stands where the block has its least ticks.
fn blocks_that_are_rows_of_each_other(units: usize) -> Vec<u8> {
    let tail = [&[0x80, 0, 1][..], &[9]].concat().repeat(8 * units);
    // All lengths have the same lowest byte, which says as a row's flags what stands in
    // front of the ticks.
    let least = (tail.len() + 20) >> 8;
    let starts: Vec<usize> =
        (0..units).map(|unit| unit % 128 * 256 + unit / 128 * 65_536).collect();
    // The next byte is always below 128.
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
        // A row up to the next block.
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

/// Returns stack blocks that say to hold one stack, and have more stacks after it, which
/// lead through all that follow.
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

/// Returns label lists without an end. If they are followed by sound blocks they are
/// believed, and read.
fn lists_without_end(units: usize, is_followed: bool) -> Vec<u8> {
    let between = small_blocks();
    let mut end = vec![1, 0, 0, 0, 1, 0, 0, 0];
    // A key, and a value that has the next unit's header in it.
    end.extend([5, 1, 9, (between.len() + 4 + 8) as u8]);
    let mut stream = defined();
    stream.bytes.extend(nested(units, 8, &between, &end, &[0xff; 90]));
    if is_followed {
        stream.event_block(&sound());
        stream.event_block(&sound()).end();
    }
    stream.bytes
}

/// Returns Trace blocks with pairs that lead through all that follow.
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

/// Returns event blocks that are believed, each broken at its beginning.
fn broken_blocks_that_end_together(units: usize) -> Vec<u8> {
    let end = [&event_header(1)[..], &[0xff; 9]].concat();
    let mut stream = defined();
    stream.bytes.extend(nested(units, 2, &small_blocks(), &end, &[0xff; 90]));
    stream.event_block(&sound());
    stream.event_block(&sound()).end();
    stream.bytes
}

/// Returns rows that are chains, in a block that leads to the next one by many blocks of
/// an unknown kind.
fn rows_before_unknown_blocks(units: usize) -> Vec<u8> {
    let mut bytes = rows_that_are_chains(units);
    // The sound block and the end mark.
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

/// Returns how many events a stream has, and how many steps of work reading takes.
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

/// The most steps that a byte may cost. Once, each of the streams cost more than twice as
/// many, and its second half more than its first.
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

/// Gives a byte every other time, and nothing in between.
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

/// Returns a block of rows that say nothing of where it ends, as its size is not
/// believed. A reader waits for what is after it, and searches it again with each byte
/// that comes.
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
    // The last rows look like blocks of 3,968 and 5,000 bytes: thread removals, for which
    // nothing is searched, and stacks. The first has an id that is not known.
    let removals: &[u8] = &[&[0x80, 15, 0, 7][..], &[1; 40]].concat();
    let stacks: &[u8] =
        &[&header(5000, 5)[..], &[1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0], &[1; 40]].concat();
    for last in [removals, stacks] {
        let bytes = many_rows_to_wait_behind(last);
        let (_, at_once) = read(Reader::from_slice(&bytes));
        let (_, in_drops) = read(Reader::from_read(Drops(&bytes, false)));
        // Searching takes some steps.
        let most = 2 * at_once + 64 * bytes.len() as u64;
        assert!(in_drops <= most, "{in_drops} steps, {at_once} at once");
    }
}
