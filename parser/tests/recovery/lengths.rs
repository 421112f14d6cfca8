//! Tests of version 6 blocks with wrong sizes. Version 6 has no tags between blocks, so a reader
//! can recognise the next block only by its content.

use crate::bounds::{Outcome, assert_others_are_told, read};
use crate::invariants;
use crate::splitmix::Random;
use crate::story::{Says, Story};
use nettrace_parser::{Class, Fault, Reader};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{
    Blob, Block, Content, EventBlock, MetadataBlock, MetadataRow, PartKind, StackBlock, Stream,
    ThreadBlock, ThreadRow, Trace, Version,
};

fn with_length(story: &Story, at: usize, length: usize) -> Vec<u8> {
    let mut bytes = story.stream.bytes.clone();
    let field = story.part(at).size_field.expect("blocks have a length");
    bytes[field..field + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    bytes
}

/// Returns the blocks after which enough blocks follow for the reader to go on.
fn blocks(story: &Story) -> std::ops::Range<usize> {
    story.objects().start..story.objects().end - 3
}

/// Makes the general checks for some of the inputs.
fn assert_calm_sometimes(random: &mut Random, bytes: &[u8]) {
    if random.below(40) == 0 {
        invariants::assert_calm(bytes);
        invariants::assert_parallel_is_serial(bytes);
    }
}

/// Number of damaged streams, and number of those that misled the reader. Damaged bytes may look
/// like a row of known ids or like a block, and then the next block may be lost, too. This is rare.
#[derive(Default)]
struct Tried {
    all: u32,
    misled: u32,
}

impl Tried {
    /// Counts one outcome. If `is_whole`, the rows of the block are undamaged.
    fn count(&mut self, story: &Story, at: usize, is_whole: bool, outcome: &Outcome, what: &str) {
        self.all += 1;
        let found = outcome.told.numbers.as_slice();
        let is_there = |numbers: &[(u64, u32)]| {
            let mut left = found.iter();
            numbers.iter().all(|number| left.any(|found| found == number))
        };
        let has_added =
            is_whole && found.iter().any(|number| !story.told(|_| false).numbers.contains(number));
        if has_added || !is_there(&story.told(|other| other == at).numbers) {
            self.misled += 1;
            let others = story.told(|other| other == at || other == at + 1).numbers;
            assert!(is_there(&others), "{what}: {:?}", outcome.findings);
            assert!(!outcome.findings.is_empty(), "{what}: not a word");
        }
    }

    fn assert_hardly_ever(&self, least: u32) {
        assert!(
            self.all > least && self.misled * 100 < self.all,
            "{} of {}",
            self.misled,
            self.all
        );
    }
}

fn says_so(outcome: &Outcome) -> bool {
    outcome.findings.iter().any(|finding| finding.class == Class::FramingLost)
}

#[test]
fn a_length_that_reaches_into_other_blocks_costs_none_of_their_events() {
    let mut random = Random(61);
    let mut tried = Tried::default();
    let rounds = cases(2);
    for round in 0..rounds {
        let story = Story::new(Version::V6, &mut random);
        for at in blocks(&story) {
            let part = story.part(at);
            let (start, right) = (part.content.start, part.content.len());
            let rest = story.stream.bytes.len() - start;
            let mut lengths: Vec<usize> = (0..10).map(|_| right + 1 + random.below(60)).collect();
            lengths.extend((0..6).map(|_| right + random.below(rest - right)));
            lengths.extend([rest, rest + 1000, 0xff_ffff, right | 0x80_0000]);
            // Lengths that lead to the end of another block are left out.
            lengths.retain(|length| {
                story.stream.parts.iter().all(|part| part.content.end != start + length)
            });
            for length in lengths {
                let what = format!("round {round}, block {at}, {right} said to be {length}");
                let bytes = with_length(&story, at, length);
                let outcome = read(&bytes);
                tried.count(&story, at, true, &outcome, &what);
                if let Says::Events(numbers) = &story.says[at] {
                    let found = outcome.told.numbers.as_slice();
                    assert!(
                        numbers.iter().all(|number| found.contains(number)),
                        "{what} {:?}",
                        outcome.findings
                    );
                }
                assert!(outcome.is_complete, "{what}: {:?}", outcome.findings);
                assert_calm_sometimes(&mut random, &bytes);
            }
        }
    }
    tried.assert_hardly_ever(375 * rounds);
}

#[test]
fn a_length_that_is_too_small_costs_no_event_of_another_block_and_what_it_costs_is_told() {
    let mut random = Random(62);
    let (mut tried, mut whole) = (0, 0);
    let rounds = cases(2);
    for round in 0..rounds {
        let story = Story::new(Version::V6, &mut random);
        for at in blocks(&story) {
            let right = story.part(at).content.len();
            let start = story.part(at).content.start;
            for length in [0, 1, right / 3, right / 2, right - 2, right - 1] {
                let what = format!("round {round}, block {at}, {right} said to be {length}");
                let bytes = with_length(&story, at, length);
                let outcome = read(&bytes);
                assert_others_are_told(&story, at, &outcome, &what);
                assert!(outcome.is_complete && says_so(&outcome), "{what}: {:?}", outcome.findings);
                tried += 1;
                let is_between_rows =
                    story.part(at).rows.iter().any(|row| row.start == start + length);
                if outcome.told == story.told(|_| false) {
                    whole += 1;
                } else if !is_between_rows && length > 24 {
                    panic!("{what}: an event is missing: {:?}", outcome.findings);
                } else {
                    let lost: u64 = outcome.findings.iter().map(|finding| finding.lost_bytes).sum();
                    assert!(lost > 0, "{what}: {:?}", outcome.findings);
                }
                assert_calm_sometimes(&mut random, &bytes);
            }
        }
    }
    assert!(tried > 125 * rounds && whole * 2 > tried, "{whole} of {tried}");
}

#[test]
fn any_number_of_bytes_missing_from_a_block_of_version_6_costs_no_event_of_another() {
    let mut random = Random(63);
    let mut tried = Tried::default();
    let rounds = cases(3);
    for round in 0..rounds {
        let story = Story::new(Version::V6, &mut random);
        for at in blocks(&story) {
            let part = story.part(at).clone();
            for way in 0..4 {
                // In every other case the header is damaged, too.
                let begin = if way % 2 == 0 { part.content.start } else { part.start };
                let from = begin + random.below(part.end - begin);
                let to = part.end.min(from + 1 + random.below(90));
                let mut bytes = story.stream.bytes.clone();
                bytes.drain(from..to);
                let what = format!("round {round}, block {at} {part:?}, without {from}..{to}");
                let ends = story.stream.parts.iter().map(|part| part.content.end);
                if ends.into_iter().any(|end| end == part.end + (to - from)) {
                    // The length leads to the end of a later block.
                    continue;
                }
                let outcome = read(&bytes);
                tried.count(&story, at, false, &outcome, &what);
                assert!(outcome.is_complete, "{what}: {:?}", outcome.findings);
                assert_calm_sometimes(&mut random, &bytes);
            }
        }
    }
    tried.assert_hardly_ever(116 * rounds);
}

#[test]
fn blocks_of_version_6_that_turned_to_noise_are_gaps_with_offset_and_length() {
    let mut random = Random(64);
    for round in 0..cases(15) {
        let story = Story::new(Version::V6, &mut random);
        let at = blocks(&story).start + random.below(blocks(&story).len());
        let part = story.part(at);
        let mut bytes = story.stream.bytes.clone();
        // In every other case the whole block is damaged, otherwise its header.
        let end = if round % 2 == 0 { part.end } else { part.content.start };
        let noise = random.noise(end - part.start);
        bytes[part.start..end].copy_from_slice(&noise);
        let outcome = read(&bytes);
        let what = format!("round {round}, block {at}");
        assert_eq!(outcome.told, story.told(|other| other == at), "{what}: {:?}", outcome.findings);
        let lost: Vec<_> =
            outcome.findings.iter().filter(|finding| finding.lost_bytes > 0).collect();
        let (start, length) = (part.start as u64, (part.end - part.start) as u64);
        assert_eq!(lost.len(), 1, "{what}: {lost:?}");
        let stretch = (lost[0].class, lost[0].lost_offset, lost[0].lost_bytes);
        assert_eq!(stretch, (Class::FramingLost, start, length), "{what}: {:?}", lost[0]);
    }
}

#[test]
fn a_block_whose_kind_turned_into_an_end_mark_costs_at_most_that_block() {
    let mut random = Random(65);
    for round in 0..cases(8) {
        let story = Story::new(Version::V6, &mut random);
        let at = blocks(&story).start + random.below(blocks(&story).len());
        let part = story.part(at);
        let mut bytes = story.stream.bytes.clone();
        bytes[part.start + 3] = 0;
        let outcome = read(&bytes);
        // If one bit of the kind was changed, the block is read, because its rows show its kind.
        let is_read =
            outcome.findings.iter().any(|finding| matches!(finding.fault, Fault::ChangedKind(0)));
        let expected = story.told(|other| other == at && !is_read);
        assert_eq!(outcome.told, expected, "round {round}: {:?}", outcome.findings);
        assert!(outcome.is_complete && (is_read || says_so(&outcome)), "round {round}");
        invariants::assert_calm(&bytes);
        invariants::assert_parallel_is_serial(&bytes);
    }
}

pub(crate) fn opened() -> Stream {
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default());
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(7, 1, 7)]));
    stream
}

pub(crate) fn defined() -> Stream {
    let mut stream = opened();
    let row = MetadataRow { metadata_id: 1, provider: "Demo".into(), ..MetadataRow::default() };
    stream.metadata_rows(&MetadataBlock::new(vec![row]));
    stream
}

pub(crate) fn event(number: u32, payload: Vec<u8>) -> Blob {
    let threads = Blob { thread_id: 7, capture_thread_id: 7, ..Blob::default() };
    Blob { metadata_id: 1, sequence_number: number, payload, ..threads }
}

#[test]
fn blocks_within_a_payload_of_an_undamaged_stream_are_payload() {
    let mut inner = opened();
    for number in 1..5 {
        inner.event_block(&EventBlock::new([event(number, vec![1; 30])]));
        inner.stack_block(&StackBlock::new(1, 8, &[[1u64, 2]]));
    }
    let inner = &inner.bytes[20..];
    // An unknown block or the end of the stream does not confirm the length of the block before.
    for behind in [PartKind::Event, PartKind::Other, PartKind::End] {
        let mut stream = defined();
        stream.event_block(&EventBlock::new([event(1, inner.to_vec()), event(2, inner.to_vec())]));
        match behind {
            PartKind::Event => drop(stream.event_block(&EventBlock::new([event(3, vec![])]))),
            PartKind::End => {}
            _ => {
                stream.block(&Block::new(77, Content::raw(vec![9; 30])));
                stream.block(&Block::new(255, Content::raw(vec![])));
            }
        }
        stream.end();
        let outcome = read(&stream.bytes);
        assert!(outcome.told.numbers.len() >= 2 && outcome.is_complete, "{behind:?}");
        let losses: Vec<_> = outcome.findings.iter().filter(|f| f.class != Class::Note).collect();
        assert!(losses.is_empty(), "{behind:?}: {losses:?}");
        invariants::assert_calm(&stream.bytes);
        invariants::assert_parallel_is_serial(&stream.bytes);
    }
}

#[test]
fn the_last_block_of_a_stream_that_is_still_written_is_not_waited_for() {
    let mut stream = defined();
    stream.event_block(&EventBlock::new([event(1, vec![1; 9]), event(2, vec![2; 9])]));
    stream.stack_block(&StackBlock::new(1, 8, &[[1u64, 2]]));
    stream.event_block(&EventBlock::new([event(3, vec![3; 9])]));
    /// A source that answers `WouldBlock` after its bytes.
    struct Live<'d>(&'d [u8]);
    impl std::io::Read for Live<'_> {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            match std::io::Read::read(&mut self.0, room)? {
                0 => Err(std::io::ErrorKind::WouldBlock.into()),
                count => Ok(count),
            }
        }
    }
    let mut reader = Reader::from_read(Live(&stream.bytes));
    for number in 1..=3 {
        let event = reader.next_event().expect("it is there").expect("it has not ended");
        assert_eq!(event.sequence_number(), number);
    }
    assert!(reader.next_event().is_err_and(|error| error.is_would_block()));
}

#[test]
fn blocks_of_version_6_that_all_claim_the_rest_of_the_stream_are_read_in_linear_time() {
    let count = 4_000usize;
    for kind in [2u8, 3, 4, 5, 6, 7, 8, 99] {
        let mut bytes = opened().bytes;
        for left in (0..count).rev() {
            // The content begins like rows of any kind: a header of 20, one row of 4, a count of 1.
            let content = [20, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0];
            let length = (left * (content.len() + 4) + content.len() + 5) as u32;
            bytes.extend(&length.to_le_bytes()[..3]);
            bytes.push(kind);
            bytes.extend(content);
        }
        invariants::counted::assert_linear(&bytes);
        let _ = read(&bytes);
    }
}

#[test]
fn a_length_that_ends_where_a_later_block_ends_costs_at_most_the_blocks_that_it_covers() {
    let mut random = Random(66);
    let (mut tried, mut exact) = (0, 0);
    for round in 0..cases(2) {
        let story = Story::new(Version::V6, &mut random);
        for at in blocks(&story) {
            for later in at + 1..(at + 6).min(story.objects().end - 3) {
                let length = story.part(later).content.end - story.part(at).content.start;
                let bytes = with_length(&story, at, length);
                let outcome = read(&bytes);
                let what = format!("round {round}, block {at} to the end of {later}");
                let mut left = outcome.told.numbers.iter();
                for number in &story.told(|other| (at..=later).contains(&other)).numbers {
                    let is_there = left.any(|found| found == number);
                    assert!(is_there, "{what}: {number:?} is missing: {:?}", outcome.findings);
                }
                let is_exact = outcome.told == story.told(|_| false);
                let is_damaged = outcome.findings.iter().any(|it| it.class != Class::Note);
                assert!(is_exact || is_damaged, "{what}: {:?}", outcome.findings);
                tried += 1;
                exact += usize::from(is_exact);
                assert_calm_sometimes(&mut random, &bytes);
            }
        }
    }
    // In some cases the bytes after the rows look like another row.
    assert!(exact * 10 > tried * 8, "{exact} of {tried}");
}

/// Returns bytes with many zeros and small numbers, like headers of blocks.
fn payload(random: &mut Random) -> Vec<u8> {
    let count = random.below(400);
    let byte = |random: &mut Random| match random.below(10) {
        0..=2 => 0,
        3..=5 => random.below(9) as u8,
        6 => 0xff,
        _ => random.next() as u8,
    };
    (0..count).map(|_| byte(random)).collect()
}

/// Tries payloads of any bytes. A payload alone never makes the reader doubt the size of its block,
/// even if an id is undefined or the input ends inside the next block.
#[test]
fn no_payload_whatever_its_bytes_costs_the_event_it_belongs_to() {
    let mut random = Random(11);
    for round in 0..cases(3_000) {
        let mut stream = defined();
        let known = event(1, payload(&mut random));
        let thread = if round % 2 == 0 { 7 } else { 9 };
        let other = Blob { thread_id: thread, ..event(2, payload(&mut random)) };
        let behind = other.payload.len();
        stream.event_block(&EventBlock::new([known, other]));
        let last = stream.bytes.len();
        stream.event_block(&EventBlock::new([event(3, vec![1; 100])])).end();
        let whole = read(&stream.bytes);
        assert_eq!(
            (whole.told.numbers.len(), whole.is_complete),
            (3, true),
            "round {round}: {:?}",
            whole.findings
        );
        // The cut is after the payloads.
        let length = last + random.below(120);
        let cut = read(&stream.bytes[..length]);
        assert!(cut.told.numbers.len() >= 2, "round {round}, cut at {length}: {:?}", cut.findings);
        // The cut is in the second payload.
        let cut = read(&stream.bytes[..last - random.below(behind.min(20))]);
        assert!(
            !cut.told.numbers.is_empty(),
            "round {round}, cut in the second: {:?}",
            cut.findings
        );
    }
}

/// Reads an input that a property test found: an empty block, and bytes like the beginning of
/// another one.
#[test]
fn what_looks_like_blocks_in_the_payload_of_an_event_of_an_unknown_thread_is_payload() {
    let zeros = |begin: &[u8], len: usize| [begin, &vec![0; len - begin.len()]].concat();
    for payload in [
        zeros(&[2, 0, 0, 3, 0, 0, 0, 1, 0, 7], 48),
        zeros(&[227, 0, 0, 3, 0, 0, 4, 0, 1], 231),
        vec![3, 0, 0, 3, 1, 0, 0],
    ] {
        let mut stream = defined();
        let odd = Blob { thread_id: 9, capture_thread_id: 9, ..event(1, payload.clone()) };
        stream.event_block(&EventBlock::new([odd])).end();
        let outcome = read(&stream.bytes);
        assert_eq!((outcome.told.numbers.len(), outcome.is_complete), (1, true), "{payload:?}");
    }
}
