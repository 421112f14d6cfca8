//! Tests of blocks with wrong sizes, and of false ends of the stream.

use crate::invariants;
use crate::splitmix::Random;
use crate::story::{Says, Story, Told, v3_story};
use nettrace_parser::{Class, Fault, Finding, Reader};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{Trace, Version};

const VERSIONS: [Version; 3] = [Version::V3, Version::V4, Version::V5];

fn story(version: Version, random: &mut Random) -> Story {
    if version == Version::V3 { v3_story(random) } else { Story::new(version, random) }
}

/// Results that these tests compare.
pub(crate) struct Outcome {
    pub(crate) told: Told,
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_complete: bool,
    end_offset: Option<u64>,
}

pub(crate) fn read(bytes: &[u8]) -> Outcome {
    let mut reader = Reader::from_slice(bytes);
    let mut numbers = Vec::new();
    while let Ok(Some(event)) = reader.next_event() {
        numbers.push((event.capture_thread(), event.sequence_number()));
    }
    Outcome {
        told: Told { numbers, lost: reader.losses().total() },
        findings: reader.damage().findings().to_vec(),
        is_complete: reader.is_complete(),
        end_offset: reader.end_offset(),
    }
}

/// Asserts that all events of the other objects are delivered in order, and that the object at
/// `spoilt` delivers no wrong ones.
pub(crate) fn assert_others_are_told(story: &Story, spoilt: usize, outcome: &Outcome, what: &str) {
    let all = story.told(|_| false).numbers;
    let others = story.told(|at| at == spoilt).numbers;
    let found = outcome.told.numbers.as_slice();
    let findings = &outcome.findings;
    let mut due = all.iter();
    for number in found {
        assert!(due.any(|due| due == number), "{what}: {number:?} is not due there: {findings:?}");
    }
    let mut left = found.iter();
    for number in &others {
        assert!(left.any(|found| found == number), "{what}: {number:?} is missing: {findings:?}");
    }
    if matches!(story.says[spoilt], Says::Events(_)) && found.len() < all.len() {
        assert!(findings.iter().any(|finding| finding.class != Class::Note), "{what}: not a word");
    }
}

fn with_size(story: &Story, at: usize, size: usize) -> Vec<u8> {
    let mut bytes = story.stream.bytes.clone();
    let field = story.part(at).size_field.expect("blocks have a size");
    bytes[field..field + 4].copy_from_slice(&(size as u32).to_le_bytes());
    bytes
}

#[test]
fn a_size_that_reaches_into_other_objects_costs_none_of_their_events() {
    let mut random = Random(21);
    let mut tried = 0;
    let rounds = cases(3);
    for round in 0..rounds {
        let version = VERSIONS[round as usize % 3];
        let story = story(version, &mut random);
        for at in story.objects().take(story.objects().len() - 2) {
            let part = story.part(at);
            let (start, right) = (part.content.start, part.content.len());
            let rest = story.stream.bytes.len() - start;
            let mut sizes: Vec<usize> = (0..10).map(|_| right + 1 + random.below(60)).collect();
            sizes.extend((0..6).map(|_| right + random.below(rest - right)));
            for size in sizes {
                let what =
                    format!("round {round}, {version:?}, object {at}, {right} said to be {size}");
                let outcome = read(&with_size(&story, at, size));
                assert_others_are_told(&story, at, &outcome, &what);
                if let Says::Events(numbers) = &story.says[at] {
                    let found = outcome.told.numbers.as_slice();
                    assert!(numbers.iter().all(|number| found.contains(number)), "{what}");
                }
                assert!(outcome.is_complete, "{what}: {:?}", outcome.findings);
                tried += 1;
            }
        }
    }
    assert!(tried > 416 * rounds, "{tried}");
}

#[test]
fn a_size_that_ends_where_a_later_object_ends_costs_none_of_the_events_between() {
    let mut random = Random(22);
    for round in 0..cases(3) {
        let version = VERSIONS[round as usize % 3];
        let story = story(version, &mut random);
        let objects = story.objects();
        for at in objects.clone().take(objects.len() - 2) {
            for later in at + 1..(at + 6).min(objects.end - 1) {
                let size = story.part(later).content.end - story.part(at).content.start;
                let outcome = read(&with_size(&story, at, size));
                let what = format!("round {round}, {version:?}, object {at} to the end of {later}");
                assert_others_are_told(&story, at, &outcome, &what);
            }
        }
    }
}

#[test]
fn events_behind_a_size_that_is_too_large_are_not_counted_as_lost() {
    let mut random = Random(23);
    for round in 0..cases(10) {
        let story = Story::new(Version::V4, &mut random);
        let objects = story.objects();
        let at = objects.start + random.below(objects.len() - 2);
        let part = story.part(at);
        let reach = story.stream.bytes.len() - part.content.end - 2;
        let size = part.content.len() + 2 + random.below(reach);
        let outcome = read(&with_size(&story, at, size));
        assert_eq!(outcome.told, story.told(|_| false), "round {round}: {:?}", outcome.findings);
    }
}

#[test]
fn a_size_that_is_too_small_costs_no_event_at_all() {
    let mut random = Random(28);
    for round in 0..cases(3) {
        let version = VERSIONS[round as usize % 3];
        let story = story(version, &mut random);
        let objects = story.objects();
        for at in objects.clone().take(objects.len() - 2) {
            let right = story.part(at).content.len();
            for size in [0, 1, right / 2, right - 2, right - 1] {
                let bytes = with_size(&story, at, size);
                let byte = bytes.get(story.part(at).content.start + size);
                if matches!(byte, Some(6 | 8..=14)) {
                    // The wrong size happens to lead to the end of an object, so its rows are
                    // believed.
                    continue;
                }
                let outcome = read(&bytes);
                let what =
                    format!("round {round}, {version:?}, object {at}, {right} said to be {size}");
                assert_eq!(outcome.told, story.told(|_| false), "{what}: {:?}", outcome.findings);
                assert!(
                    outcome.findings.iter().any(|finding| finding.class == Class::FramingLost),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn any_number_of_bytes_missing_from_a_block_costs_no_event_of_another() {
    let mut random = Random(24);
    let mut tried = 0;
    let rounds = cases(15);
    for round in 0..rounds {
        let version = VERSIONS[round as usize % 3];
        let story = story(version, &mut random);
        let objects = story.objects();
        for at in objects.clone().take(objects.len() - 2) {
            let content = story.part(at).content.clone();
            for _ in 0..4 {
                let from = content.start + random.below(content.len());
                let to = content.end.min(from + 1 + random.below(90));
                let mut bytes = story.stream.bytes.clone();
                bytes.drain(from..to);
                let what = format!("round {round}, {version:?}, object {at}, {} bytes", to - from);
                let outcome = read(&bytes);
                let others = story.told(|object| object == at).numbers;
                let found = outcome.told.numbers.as_slice();
                let mut left = found.iter();
                for number in &others {
                    let is_there = left.any(|found| found == number);
                    assert!(is_there, "{what}: {number:?} is missing: {:?}", outcome.findings);
                }
                assert!(outcome.is_complete, "{what}: {:?}", outcome.findings);
                tried += 1;
            }
        }
    }
    assert!(tried > 66 * rounds, "{tried}");
}

#[test]
fn an_end_mark_in_an_objects_place_costs_nothing_and_is_reported() {
    let mut random = Random(25);
    for round in 0..cases(8) {
        let version = VERSIONS[round as usize % 3];
        let story = story(version, &mut random);
        let objects = story.objects();
        let at = objects.start + random.below(objects.len() - 2);
        let part = story.part(at);
        let mut bytes = story.stream.bytes.clone();
        bytes[part.start] = 1;
        let outcome = read(&bytes);
        assert_eq!(outcome.told, story.told(|_| false), "round {round}");
        assert!(outcome.is_complete);
        let found = outcome.findings.iter().filter(|it| it.class != Class::Note);
        let found: Vec<_> =
            found.map(|it| (it.class, it.offset, it.lost_bytes, it.fault)).collect();
        let fault = Fault::Tag { expected: 5, found: 1 };
        assert_eq!(found, [(Class::Contradiction, part.start as u64, 0, fault)], "round {round}");
    }
}

#[test]
fn streams_with_an_end_mark_in_an_objects_place_are_explained_and_read_alike_in_all_ways() {
    let mut random = Random(26);
    for round in 0..cases(3) {
        let story = story(VERSIONS[round as usize % 3], &mut random);
        let objects = story.objects();
        let at = objects.start + random.below(objects.len() - 1);
        let mut bytes = story.stream.bytes.clone();
        bytes[story.part(at).start] = 1;
        invariants::assert_calm(&bytes);
        invariants::assert_parallel_is_serial(&bytes);
    }
}

#[test]
fn another_stream_behind_the_end_mark_is_not_read_as_this_ones() {
    let mut random = Random(27);
    for version in VERSIONS {
        let first = story(version, &mut random);
        let second = story(version, &mut random);
        let bytes = [first.stream.bytes.as_slice(), &second.stream.bytes].concat();
        let outcome = read(&bytes);
        assert_eq!(outcome.told, first.told(|_| false));
        assert_eq!(outcome.end_offset, Some(first.stream.bytes.len() as u64));
        let note = Fault::TrailingBytes(second.stream.bytes.len() as u64);
        assert!(
            outcome.findings.iter().any(|finding| finding.fault == note),
            "{:?}",
            outcome.findings
        );
    }
}

#[test]
fn objects_that_all_claim_the_rest_of_the_stream_are_read_in_linear_time() {
    // All blocks claim to reach to the same place, at which an end tag and another object are.
    let mut stream = nettrace_testdata::synth::Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let mut bytes = stream.bytes;
    let count = 4_000usize;
    for kind in ["EventBlock", "StackBlock", "SPBlock", "MetadataBlock"] {
        let mut objects = Vec::new();
        for left in (0..count).rev() {
            objects.extend([5, 5, 1, 2, 0, 0, 0, 2, 0, 0, 0, kind.len() as u8, 0, 0, 0]);
            objects.extend(kind.bytes());
            objects.push(6);
            let rest = left * (24 + kind.len()) + 4;
            objects.extend((rest as u32).to_le_bytes());
            objects.extend([6, 0, 0, 0]);
        }
        bytes.extend(objects);
        bytes.extend([0, 0, 0, 6]);
    }
    bytes.push(1);
    // A walk to the end for each object would take quadratic time.
    invariants::counted::assert_linear(&bytes);
}
