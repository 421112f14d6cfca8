//! Fuzz target: a random session, written and then damaged.

use super::choices::Choices;
use crate::invariants::{Questions, assert_time_order, of_slice};
use nettrace_parser::{Class, Reader};
use nettrace_testdata::synth::strategy;
use nettrace_testdata::synth::{Damage, Recording, Session, Version};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

pub(crate) fn structured(bytes: &[u8], mut questions: Questions) {
    let mut choices = Choices::new(bytes);
    let version = Version::ALL[choices.below(4)];
    let damages = usize::from(choices.u8() % 8);
    let damage_choices = choices.bytes(damages * 12);
    let recording = recording(version, choices.rest());
    let mut stream = recording.stream.bytes.clone();
    let mut choices = Choices::new(damage_choices);
    for _ in 0..damages {
        damage(&mut choices, &recording, stream.len()).apply(&mut stream);
    }
    if questions.ask(4) {
        assert_time_order(&stream, &of_slice(&stream));
    }
    super::stream(&stream, questions);
}

thread_local! {
    /// Latest sessions. They are kept because a fuzzer changes the damage more often than the
    /// session.
    static LAST: RefCell<VecDeque<Written>> = const { RefCell::new(VecDeque::new()) };
}

/// Choices for a session, and its recording.
type Written = (Version, [u8; 32], Rc<Recording>);

/// Number of sessions that are kept; each takes some kilobytes.
const KEPT: usize = 64;

/// Returns the session that the bytes choose, and asserts that it can be read completely.
pub(super) fn recording(version: Version, bytes: &[u8]) -> Rc<Recording> {
    // The bytes are only the seed of the generator. It would reject values for ever if it drew from
    // the bytes and they were used up.
    let mut seed = [0u8; 32];
    for (at, byte) in bytes.iter().enumerate() {
        let place = &mut seed[at % 32];
        *place = place.rotate_left(3) ^ byte ^ (at / 32) as u8;
    }
    let known = LAST.with_borrow(|last| {
        let found = last.iter().find(|(of, by, _)| (*of, *by) == (version, seed));
        found.map(|(_, _, recording)| Rc::clone(recording))
    });
    if let Some(recording) = known {
        return recording;
    }
    let session = generated(version, &seed);
    let recording = Rc::new(session.record());
    assert_undamaged(&recording, &session);
    LAST.with_borrow_mut(|last| {
        last.truncate(KEPT - 1);
        last.push_front((version, seed, Rc::clone(&recording)));
    });
    recording
}

fn generated(version: Version, seed: &[u8; 32]) -> Session {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let session =
        strategy::sessions(version, 40).new_tree(&mut runner).expect("no strategy filters");
    session.current()
}

/// Asserts that the reader finds all events and no damage. Exception: the sequence numbers of a
/// thread id fall when the id is used again, and a later loss of exactly as many events undoes the
/// fall. No reader can distinguish this from damage (FORMAT.md 13.6).
fn assert_undamaged(recording: &Recording, session: &Session) {
    let version = session.version;
    let bytes = &recording.stream.bytes;
    let mut reader = Reader::from_slice(bytes);
    let mut at = 0;
    while let Some(event) = reader.next_event().expect("the stream begins well") {
        let expected = &recording.events[at];
        assert_eq!(event.payload(), expected.blob.payload, "payload of event {at}");
        assert_eq!(event.timestamp_ticks(), expected.blob.ticks, "time of event {at}");
        assert_eq!(event.provider(), expected.provider, "provider of event {at}");
        at += 1;
    }
    assert_eq!(at, recording.events.len(), "events");
    assert!(reader.is_complete());
    let findings = reader.damage().findings();
    if !recording.undone.is_empty() {
        assert!((1..=recording.undone.len()).contains(&findings.len()), "{findings:?}");
        let contradicts = findings.iter().all(|finding| finding.class == Class::Contradiction);
        assert!(contradicts, "{findings:?}");
        assert!(reader.losses().total() < recording.lost, "{findings:?}");
        return;
    }
    assert!(!reader.damage().is_damaged(), "{findings:?}");
    if version != Version::V3 {
        assert_eq!(reader.losses().total(), recording.lost, "lost events");
    }
}

/// Returns damage, often to a size, a count or an id.
fn damage(choices: &mut Choices<'_>, recording: &Recording, length: usize) -> Damage {
    let parts = &recording.stream.parts;
    let part = &parts[choices.below(parts.len())];
    let kind = choices.u8();
    let somewhere = choices.below(length.max(1));
    let row = match part.rows.len() {
        0 => part.content.clone(),
        rows => part.rows[choices.below(rows)].clone(),
    };
    let value =
        [0, 1, u32::MAX, u32::MAX - 1, 0x7fff_ffff, 0x8000_0000, 0x0100_0000][choices.below(7)];
    match kind % 12 {
        0 => Damage::Cut { at: somewhere },
        1 => Damage::Flip { at: somewhere, mask: choices.u8() },
        2 => Damage::Insert {
            at: somewhere,
            bytes: vec![choices.u8(); usize::from(choices.u8() % 40)],
        },
        3 => Damage::Delete { range: somewhere..somewhere + usize::from(choices.u8()) },
        4 => Damage::Duplicate { range: part.start..part.end },
        5 => Damage::Duplicate { range: row },
        6 => Damage::Delete { range: part.start..part.end },
        7 => Damage::Delete { range: row },
        8 => Damage::u32(part.size_field.unwrap_or(somewhere), value),
        9 => Damage::u32(part.content.start, value),
        10 => Damage::Flip { at: row.start, mask: choices.u8() },
        _ => {
            let other = &parts[choices.below(parts.len())];
            Damage::Swap { first: part.start..part.end, second: other.start..other.end }
        }
    }
}
