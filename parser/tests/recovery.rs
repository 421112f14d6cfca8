//! The way back after damage, compared with a model of what a stream can still tell.

mod calm;
mod observed;

use nettrace_parser::{BlockKind, Class, Fault, Finding};
use nettrace_testdata::synth::{
    Blob, BlobLayout, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Part,
    SequencePoint, StackBlock, Stream, ThreadBlock, ThreadRow, Trace, Value, Version, payload,
};
use observed::{Outcome, observe, read};
use std::collections::BTreeMap;
use std::ops::Range;

const START: u64 = 1_000_000;
const THREADS: [u64; 3] = [7, 9, 70_000];

/// The splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Bytes that no reader takes for an object or the stream's end where they begin.
    fn noise(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count).map(|_| self.next() as u8).collect();
        if let Some(first) = bytes.first_mut() {
            *first |= 0x80;
        }
        bytes
    }
}

/// What an object of the stream says.
#[derive(Clone, Debug)]
enum Says {
    Nothing,
    /// Thread and number of each event.
    Events(Vec<(u64, u32)>),
    /// The last number of each thread.
    Point(Vec<(u64, u32)>),
}

/// A stream of many blocks, and what each part of it says.
struct Story {
    stream: Stream,
    says: Vec<Says>,
}

impl Story {
    /// Some events were dropped by the writer itself, in every stretch.
    fn new(version: Version, random: &mut Random) -> Story {
        let mut stream = Stream::new(version);
        stream.trace(&Trace::default());
        let definition = Definition {
            metadata_id: 1,
            provider: "Demo".into(),
            event_id: 7,
            fields: vec![Field::new("n", FieldType::Int32)],
            ..Definition::default()
        };
        if version == Version::V6 {
            let row = MetadataRow { metadata_id: 1, fields: definition.fields, ..MetadataRow::default() };
            stream.metadata_rows(&MetadataBlock::new(vec![row]));
            let threads = THREADS.map(|thread| ThreadRow::new(thread, 1, thread));
            stream.thread_block(&ThreadBlock::new(threads.to_vec()));
        } else {
            let blob = Blob::definition(7, START, definition.encode());
            stream.metadata_blobs(&EventBlock::new([blob]));
        }
        let mut story = Story { says: vec![Says::Nothing; stream.parts.len()], stream };
        let mut last: BTreeMap<u64, u32> = THREADS.map(|thread| (thread, 0)).into();
        let mut ticks = START;
        for _ in 0..40 {
            let says = match random.below(8) {
                0 => {
                    let listed: Vec<_> = last.iter().map(|(thread, number)| (*thread, *number)).collect();
                    let threads = listed.clone();
                    story.stream.sequence_point(&SequencePoint {
                        ticks,
                        threads,
                        ..SequencePoint::default()
                    });
                    Says::Point(listed)
                }
                1 => {
                    let stacks = [[1u64, 2], [3, random.next()]];
                    story.stream.stack_block(&StackBlock::new(1, 8, &stacks));
                    Says::Nothing
                }
                _ => Says::Events(story.events(random, &mut last, &mut ticks)),
            };
            story.says.push(says);
        }
        story.stream.end();
        story
    }

    fn events(
        &mut self,
        random: &mut Random,
        last: &mut BTreeMap<u64, u32>,
        ticks: &mut u64,
    ) -> Vec<(u64, u32)> {
        let mut numbers = Vec::new();
        let mut blobs = Vec::new();
        for _ in 0..=random.below(12) {
            let thread = THREADS[random.below(3)];
            let number = last.entry(thread).or_default();
            *number += if random.below(10) == 0 { 1 + random.below(5) as u32 } else { 1 };
            *ticks += random.below(50) as u64;
            numbers.push((thread, *number));
            blobs.push(Blob {
                metadata_id: 1,
                sequence_number: *number,
                thread_id: thread,
                capture_thread_id: thread,
                ticks: *ticks,
                payload: payload(&[Value::U32(*number)]),
                ..Blob::default()
            });
        }
        let layout = if random.below(2) == 0 { BlobLayout::Compressed } else { BlobLayout::Uncompressed };
        self.stream.event_block(&EventBlock::new(blobs).with_layout(layout));
        numbers
    }

    /// The objects that may be spoilt: all behind the first definitions but the end mark.
    fn objects(&self) -> Range<usize> {
        self.says.iter().position(|says| !matches!(says, Says::Nothing)).unwrap_or(3)..self.says.len()
    }

    fn part(&self, at: usize) -> &Part {
        &self.stream.parts[at]
    }

    /// What is left to tell when some of the objects are gone.
    fn told(&self, is_gone: impl Fn(usize) -> bool) -> Told {
        let mut told = Told::default();
        let mut last = BTreeMap::new();
        let left = self.says.iter().enumerate().filter(|(at, _)| !is_gone(*at));
        for (_, says) in left {
            let numbers = match says {
                Says::Nothing => continue,
                Says::Events(numbers) => {
                    told.numbers.extend(numbers);
                    numbers
                }
                Says::Point(numbers) => numbers,
            };
            for (thread, number) in numbers {
                let last = last.entry(*thread).or_insert(0);
                *last = (*last).max(*number);
            }
        }
        // Of all numbers that were given, those that did not come are lost: each once.
        let witnessed: u64 = last.values().map(|number| u64::from(*number)).sum();
        told.lost = witnessed.saturating_sub(told.numbers.len() as u64);
        told
    }
}

#[derive(Debug, Default, PartialEq)]
struct Told {
    numbers: Vec<(u64, u32)>,
    lost: u64,
}

fn told_by(outcome: &Outcome) -> Told {
    let numbers = outcome.events.iter().map(|event| (event.capture_thread, event.number)).collect();
    Told { numbers, lost: outcome.lost }
}

/// Everything but notes.
fn gaps(outcome: &Outcome) -> Vec<&Finding> {
    outcome.findings.iter().filter(|finding| finding.class != Class::Note).collect()
}

#[test]
fn blocks_that_turned_to_noise_are_gaps_with_offset_and_length_and_their_events_are_lost_once() {
    let mut random = Random(8);
    let mut spoilt = 0;
    for round in 0..300 {
        let version = [Version::V4, Version::V5][round % 2];
        let story = Story::new(version, &mut random);
        let mut bytes = story.stream.bytes.clone();
        let gone: Vec<usize> = story.objects().filter(|_| random.below(6) == 0).collect();
        let mut expected: Vec<Range<usize>> = Vec::new();
        for at in &gone {
            let part = story.part(*at);
            let noise = random.noise(part.end - part.start);
            bytes[part.start..part.end].copy_from_slice(&noise);
            match expected.last_mut() {
                Some(gap) if gap.end == part.start => gap.end = part.end,
                _ => expected.push(part.start..part.end),
            }
        }
        // The end mark is but one byte: behind noise there is nothing to find it by.
        let has_end = gone.last().is_none_or(|last| last + 1 < story.says.len());
        if let (false, Some(gap)) = (has_end, expected.last_mut()) {
            gap.end = bytes.len();
        }
        let outcome = read(&bytes);
        assert_eq!(told_by(&outcome), story.told(|at| gone.contains(&at)), "round {round}");
        assert_eq!(outcome.is_complete, has_end, "round {round}");
        let found = gaps(&outcome);
        assert_eq!(found.len(), expected.len(), "round {round}: {found:?}");
        for (finding, gap) in found.into_iter().zip(&expected) {
            let (from, length) = (gap.start as u64, (gap.end - gap.start) as u64);
            assert_eq!(
                (finding.class, finding.lost_offset, finding.lost_bytes),
                (Class::FramingLost, from, length),
                "round {round}"
            );
            assert!((from..from + length).contains(&finding.offset), "round {round}: {finding}");
        }
        spoilt += gone.len();
    }
    assert!(spoilt > 1000, "{spoilt}");
}

#[test]
fn blocks_behind_missing_bytes_are_read_although_their_padding_no_longer_fits() {
    let mut random = Random(9);
    let mut shifted = 0;
    for round in 0..300 {
        let version = [Version::V3, Version::V4, Version::V5][round % 3];
        let mut story = Story::new(Version::V4, &mut random);
        if version == Version::V3 {
            story = v3_story(&mut random);
        }
        // The first of the objects that are left is read with the usual padding, and is then known not
        // to fit; the last has nothing behind it to tell by.
        let objects = story.objects();
        let at = objects.start + random.below(objects.len());
        let part = story.part(at).clone();
        let (from, to) = (part.start + random.below(part.end - part.start), part.end);
        let cut = if random.below(3) == 0 {
            part.start..part.end
        } else {
            from..to.min(from + 1 + random.below(9))
        };
        let mut bytes = story.stream.bytes.clone();
        let count = cut.len();
        bytes.drain(cut.clone());
        let outcome = read(&bytes);
        let told = told_by(&outcome);
        // All events of the other objects are there, in order; the block that was cut gives what it can.
        let others = story.told(|object| object == at).numbers;
        let mut left = told.numbers.iter();
        for number in &others {
            assert!(
                left.any(|found| found == number),
                "round {round}: {number:?} at {at} of {objects:?}, {cut:?} of {:?}, {:?}, {:?}",
                part,
                story.stream.parts.get(at + 1),
                outcome.findings
            );
        }
        // A last block that claims more than there is has taken the end mark for its content.
        let is_last = at + 1 == objects.end;
        assert!(outcome.is_complete || is_last, "round {round}");
        let notes = outcome.findings.iter().filter(|finding| matches!(finding.fault, Fault::Padding(_)));
        let notes: Vec<_> = notes.collect();
        if count % 4 == 0 {
            assert!(notes.is_empty(), "round {round}: {notes:?}");
        } else if !is_last {
            assert_eq!(notes.len(), 1, "round {round}: {count} from {cut:?}, {:?}", outcome.findings);
            assert_eq!(notes[0].fault, Fault::Padding((count % 4) as u8), "round {round}");
            shifted += 1;
        }
        // However the bytes come, the same is made of them.
        let pieces = observe(nettrace_parser::Reader::from_read(observed::Pieces::with_pauses(&bytes, 61)));
        assert_eq!(told_by(&pieces), told, "round {round}");
        assert_eq!(pieces.findings, outcome.findings, "round {round}");
    }
    assert!(shifted > 100, "{shifted}");
}

/// Version 3 has neither numbers nor blocks of other kinds.
fn v3_story(random: &mut Random) -> Story {
    let mut stream = Stream::new(Version::V3);
    stream.trace(&Trace::default());
    let definition = Definition { metadata_id: 1, provider: "Demo".into(), ..Definition::default() };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(7, START, definition.encode())]));
    let mut story = Story { says: vec![Says::Nothing; stream.parts.len()], stream };
    for block in 0..20u64 {
        let threads: Vec<u64> = (0..=random.below(5) as u64).map(|index| 1000 * block + index + 1).collect();
        story.stream.event_block(&EventBlock::new(threads.iter().map(|thread| Blob {
            metadata_id: 1,
            thread_id: *thread,
            ticks: START + block,
            payload: vec![1; 1 + random.below(9)],
            ..Blob::default()
        })));
        story.says.push(Says::Events(threads.into_iter().map(|thread| (thread, 0)).collect()));
    }
    story.stream.end();
    story
}

#[test]
fn a_size_that_is_off_by_less_than_padding_is_not_taken_for_missing_bytes() {
    let mut random = Random(10);
    for round in 0..60 {
        let story = Story::new(Version::V4, &mut random);
        let objects = story.objects();
        let at = objects.start + random.below(objects.len() - 1);
        let part = story.part(at);
        let size = part.size_field.expect("blocks have a size");
        for wrong in [1, 2, 3] {
            let mut bytes = story.stream.bytes.clone();
            bytes[size] ^= wrong;
            let outcome = read(&bytes);
            let others = story.told(|object| object == at).numbers;
            let found = told_by(&outcome).numbers;
            let mut left = found.iter();
            assert!(others.iter().all(|number| left.any(|found| found == number)), "round {round}");
            let is_shifted =
                outcome.findings.iter().any(|finding| matches!(finding.fault, Fault::Padding(_)));
            assert!(!is_shifted, "round {round}: {:?}", outcome.findings);
            // The block's own rows are where they were.
            if let (Says::Events(numbers), true) = (&story.says[at], wrong & 1 == 1) {
                let (_, before_last) = numbers.split_last().expect("no block is empty");
                assert!(before_last.iter().all(|number| found.contains(number)), "round {round}");
            }
            assert!(outcome.findings.iter().any(|finding| finding.block == Some(BlockKind::Event)
                || finding.block == Some(BlockKind::Stack)
                || finding.block == Some(BlockKind::SequencePoint)));
        }
    }
}

#[test]
fn what_was_lost_and_what_was_read_explain_every_byte_of_streams_with_missing_added_or_wrong_bytes() {
    let mut random = Random(11);
    for round in 0..40 {
        let story = match round % 4 {
            0 => v3_story(&mut random),
            1 => Story::new(Version::V4, &mut random),
            2 => Story::new(Version::V5, &mut random),
            _ => Story::new(Version::V6, &mut random),
        };
        let from = story.part(story.objects().start).start;
        let mut bytes = story.stream.bytes.clone();
        for _ in 0..=random.below(2) {
            let at = from + random.below(bytes.len() - from);
            let count = (1 + random.below(9)).min(bytes.len() - at);
            match random.below(3) {
                0 => drop(bytes.drain(at..at + count)),
                1 => drop(bytes.splice(at..at, random.noise(count))),
                _ => bytes[at..at + count].copy_from_slice(&random.noise(count)),
            }
        }
        calm::assert_calm(&bytes);
        calm::assert_parallel_is_serial(&bytes);
    }
}
