//! Fuzz target: a few bytes of one part of a known session are overwritten. If the reader has no
//! finding, the events of all other parts must be unchanged.
//!
//! The events of the overwritten part are not compared, because a writer could have written such
//! bytes: another id, another payload, another time.

use super::choices::Choices;
use super::structured::recording;
use crate::invariants::Questions;
use nettrace_parser::{Event, Reader};
use nettrace_testdata::synth::{Part, PartKind, Version};
use std::collections::HashMap;

/// Facts of an event that its own row contains. No other block changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts {
    ids: (u32, u64, u64),
    counted: (u64, u32),
    payload: Vec<u8>,
}

impl Facts {
    fn from_event(event: &Event<'_>) -> Facts {
        Facts {
            ids: (event.metadata_id(), event.raw_thread(), event.capture_thread()),
            counted: (event.timestamp_ticks(), event.sequence_number()),
            payload: event.payload().to_vec(),
        }
    }
}

pub(crate) fn truth(bytes: &[u8], _: Questions) {
    let mut choices = Choices::new(bytes);
    let version = Version::ALL[choices.below(4)];
    let place = choices.bytes(4);
    let how = choices.u8();
    let written = choices.bytes(4);
    let recording = recording(version, choices.rest());
    let mut place = Choices::new(place);
    let parts = &recording.stream.parts;
    let part = &parts[usize::from(place.u8()) % parts.len()];
    // Header, Trace and end mark affect all events.
    let is_of_all = matches!(part.kind, PartKind::StreamHeader | PartKind::Trace | PartKind::End);
    if is_of_all || part.start == part.end {
        return;
    }
    let mut stream = recording.stream.bytes.clone();
    write_over(&mut stream, part, usize::from(place.u16()), how, written);
    if stream == recording.stream.bytes
        || version == Version::V6 && may_be_written(part, &recording.stream.bytes, &stream)
    {
        return;
    }
    let mut reader = Reader::from_slice(&stream);
    let mut found = HashMap::new();
    while let Some(event) = reader.next_event().expect("the stream begins as it did") {
        found.insert(event.offset(), Facts::from_event(&event));
    }
    if reader.damage().is_damaged() || !reader.is_complete() {
        return;
    }
    let mut sound = Reader::from_slice(&recording.stream.bytes);
    while let Some(event) = sound.next_event().expect("the stream begins well") {
        let at = event.offset();
        if (part.start as u64..part.end as u64).contains(&at) {
            continue;
        }
        assert_eq!(
            found.remove(&at),
            Some(Facts::from_event(&event)),
            "the event at {at} of a stream that passes for whole, with {:?} at {:?} written over",
            part.kind,
            part.start..part.end
        );
    }
    found.retain(|at, _| !(part.start as u64..part.end as u64).contains(at));
    assert!(found.is_empty(), "events that were never there: {found:?}");
}

/// Returns whether a writer could have written the header of a version 6 block, although it hides
/// later blocks. It may be the end of the stream, after which only `check` looks. It may be a
/// sequence point that reaches into the next block, because bytes after its entries are allowed. It
/// may be a block of an unknown kind, which may have any size.
fn may_be_written(part: &Part, before: &[u8], after: &[u8]) -> bool {
    const KNOWN_KINDS: std::ops::RangeInclusive<u8> = 1..=8;
    let size = part.start..part.start + 3;
    let kind = after[part.start + 3];
    let has_other_size = before[size.clone()] != after[size];
    kind == 0
        || has_other_size && (part.kind == PartKind::SequencePoint || !KNOWN_KINDS.contains(&kind))
}

/// Overwrites one to four bytes of a part, or flips one bit.
fn write_over(stream: &mut [u8], part: &Part, place: usize, how: u8, written: &[u8]) {
    let length = part.end - part.start;
    // The header of the part is chosen more often, because it affects all of the part.
    let at = match how % 4 {
        0 => part.size_field.unwrap_or(part.start) + place % 4,
        1 => part.start + place % length.min(64),
        _ => part.start + place % length,
    };
    if how & 4 == 0 {
        stream[at] ^= 1 << (how >> 4 & 7);
        return;
    }
    let end = part.end.min(at + written.len());
    for (byte, new) in stream[at.min(end)..end].iter_mut().zip(written) {
        *byte = *new;
    }
}
