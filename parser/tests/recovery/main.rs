//! Tests of reading after damage, compared with a model of the remaining events and losses.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../invariants/mod.rs"]
mod invariants;
#[path = "../snapshot/mod.rs"]
mod snapshot;
#[path = "../splitmix/mod.rs"]
mod splitmix;

mod accounts;
mod bounds;
mod lengths;
mod story;

use nettrace_parser::{BlockKind, Class, Fault, Finding};
use nettrace_testdata::cases;
use nettrace_testdata::synth::Version;
use snapshot::{Outcome, observe, read};
use splitmix::Random;
use std::ops::Range;
use story::{Says, Story, told_by, v3_story};

/// Returns all findings except notes.
fn gaps(outcome: &Outcome) -> Vec<&Finding> {
    outcome.findings.iter().filter(|finding| finding.class != Class::Note).collect()
}

#[test]
fn blocks_that_turned_to_noise_are_gaps_with_offset_and_length_and_their_events_are_lost_once() {
    let mut random = Random(8);
    let mut spoilt = 0;
    let rounds = cases(75);
    for round in 0..rounds {
        let version = [Version::V4, Version::V5][round as usize % 2];
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
        // An end mark after noise cannot be recognised, because it is a single byte.
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
    assert!(spoilt > 3 * rounds as usize, "{spoilt}");
}

#[test]
fn blocks_behind_missing_bytes_are_read_although_their_padding_no_longer_fits() {
    let mut random = Random(9);
    let mut shifted = 0;
    let rounds = cases(75);
    for round in 0..rounds {
        let version = [Version::V3, Version::V4, Version::V5][round as usize % 3];
        let mut story = Story::new(Version::V4, &mut random);
        if version == Version::V3 {
            story = v3_story(&mut random);
        }
        // The first remaining object is read with the usual padding and then does not fit. No
        // object follows the last one to show that its padding is wrong.
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
        // All events of the other objects are delivered in order, and the cut block delivers its
        // readable rows.
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
        // A last block with a size beyond the end takes the end mark for its content.
        let is_last = at + 1 == objects.end;
        assert!(outcome.is_complete || is_last, "round {round}");
        let notes =
            outcome.findings.iter().filter(|finding| matches!(finding.fault, Fault::Padding(_)));
        let notes: Vec<_> = notes.collect();
        if count % 4 == 0 {
            assert!(notes.is_empty(), "round {round}: {notes:?}");
        } else if !is_last {
            assert_eq!(
                notes.len(),
                1,
                "round {round}: {count} from {cut:?}, {:?}",
                outcome.findings
            );
            assert_eq!(notes[0].fault, Fault::Padding((count % 4) as u8), "round {round}");
            shifted += 1;
        }
        // The result does not depend on the pieces in which the bytes arrive.
        let pieces =
            observe(nettrace_parser::Reader::from_read(snapshot::Pieces::with_pauses(&bytes, 61)));
        assert_eq!(told_by(&pieces), told, "round {round}");
        assert_eq!(pieces.findings, outcome.findings, "round {round}");
    }
    assert!(shifted > rounds / 3, "{shifted}");
}

#[test]
fn a_size_that_is_off_by_less_than_padding_is_not_taken_for_missing_bytes() {
    let mut random = Random(10);
    for round in 0..cases(15) {
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
            // The rows of the block are undamaged.
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
fn what_was_lost_and_what_was_read_explain_every_byte_of_streams_with_missing_added_or_wrong_bytes()
{
    let mut random = Random(11);
    for round in 0..cases(10) {
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
        invariants::assert_calm(&bytes);
        invariants::assert_parallel_is_serial(&bytes);
    }
}
