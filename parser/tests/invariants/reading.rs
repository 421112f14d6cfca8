//! Everything that a reader reports about a stream, in a form that can be compared between ways to
//! read.

use super::mix::Mix;
use nettrace_parser::{BlockKind, Buffered, Error, Event, Finding, Outcome, Reader, Source};
use std::hash::{Hash, Hasher};
use std::io::{self, Read};

/// Returns a hash of everything that an event has.
pub(crate) fn digest(event: &Event<'_>) -> u64 {
    let mut hasher = Mix::default();
    (event.offset(), event.timestamp_ticks(), event.thread_id(), event.capture_thread())
        .hash(&mut hasher);
    (event.provider(), event.name(), event.id(), event.version(), event.level()).hash(&mut hasher);
    (event.metadata_id(), event.process_id(), event.processor(), event.sequence_number())
        .hash(&mut hasher);
    (event.keywords(), event.opcode(), event.is_sorted()).hash(&mut hasher);
    (event.activity_id(), event.related_activity_id()).hash(&mut hasher);
    (event.stack().bytes(), event.payload()).hash(&mut hasher);
    for label in event.labels().iter() {
        format!("{label:?}").hash(&mut hasher);
    }
    hasher.finish()
}

/// Events, findings and losses of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) events: Vec<u64>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) lost_bytes: u64,
    pub(crate) lost_events: u64,
    restarts: u64,
    lost_by_thread: Vec<(u64, u64)>,
    pub(crate) is_complete: bool,
    pub(crate) end_offset: Option<u64>,
    counts: Vec<(u64, u64, u64)>,
    pub(crate) error: Option<String>,
}

impl Told {
    /// Asserts that every offset lies within an input of `length` bytes.
    pub(crate) fn assert_within(&self, length: u64) {
        for Finding { offset, lost_offset, lost_bytes, .. } in &self.findings {
            assert!(*offset <= length, "offset {offset} beyond {length}: {:?}", self.findings);
            let end = lost_offset + lost_bytes;
            assert!(
                *lost_bytes == 0 || end <= length,
                "lost to {end} of {length}: {:?}",
                self.findings
            );
        }
        assert!(
            self.lost_bytes <= length,
            "{} bytes lost of {length}: {:?}",
            self.lost_bytes,
            self.findings
        );
        assert!(
            self.end_offset.is_none_or(|end| end <= length),
            "end {:?} of {length}",
            self.end_offset
        );
        let counted: u64 = self.counts.iter().map(|(_, bytes, _)| bytes).sum();
        assert!(counted <= length, "{counted} bytes of blocks in {length}: {:?}", self.findings);
    }

    pub(crate) fn assert_findings_have_texts(&self) {
        assert!(self.findings.iter().all(|finding| !finding.to_string().is_empty()));
    }

    /// Returns a short text about the differences to `expected`.
    pub(crate) fn difference(&self, expected: &Told) -> String {
        let (found, due) = (self.events.len(), expected.events.len());
        if self.events != expected.events {
            let at = self.events.iter().zip(&expected.events).position(|(a, b)| a != b);
            return format!("{found} events, {due} due, first difference at {at:?}");
        }
        let short = |told: &Told| format!("{:?}", Told { events: Vec::new(), ..told.clone() });
        format!("{}\n  due: {}", short(self), short(expected))
    }
}

pub(crate) fn told_of_reader<S: Source>(
    reader: &Reader<S>,
    events: Vec<u64>,
    error: Option<Error>,
) -> Told {
    let statistics = reader.statistics();
    let counts = BlockKind::all()
        .map(|kind| (statistics.blocks(kind), statistics.bytes(kind), statistics.rows(kind)))
        .collect::<Vec<_>>();
    let mut lost_by_thread: Vec<(u64, u64)> = reader.losses().by_thread().collect();
    lost_by_thread.sort_unstable();
    Told {
        events,
        findings: reader.damage().findings().to_vec(),
        lost_bytes: reader.damage().lost_bytes(),
        lost_events: reader.losses().total(),
        restarts: reader.losses().restarts(),
        lost_by_thread,
        is_complete: reader.is_complete(),
        end_offset: reader.end_offset(),
        counts: counts.to_vec(),
        error: error.map(|error| error.to_string()),
    }
}

pub(crate) fn told_of_outcome(outcome: Result<Outcome, Error>, events: Vec<u64>) -> Told {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            let reader = Reader::from_slice(&[]);
            return told_of_reader(&reader, events, Some(error));
        }
    };
    let statistics = &outcome.statistics;
    // Counts of rows are left out, because a reader of events does not have them.
    let counts = BlockKind::all()
        .map(|kind| (statistics.blocks(kind), statistics.bytes(kind), 0))
        .collect::<Vec<_>>();
    let mut lost_by_thread: Vec<(u64, u64)> = outcome.losses.by_thread().collect();
    lost_by_thread.sort_unstable();
    Told {
        events,
        findings: outcome.damage.findings().to_vec(),
        lost_bytes: outcome.damage.lost_bytes(),
        lost_events: outcome.losses.total(),
        restarts: outcome.losses.restarts(),
        lost_by_thread,
        is_complete: outcome.is_complete,
        end_offset: Some(outcome.end_offset),
        counts: counts.to_vec(),
        error: None,
    }
}

/// Reads a stream in memory, event by event.
pub(crate) fn of_slice(bytes: &[u8]) -> Told {
    let mut reader = Reader::from_slice(bytes);
    let mut events = Vec::new();
    let error = loop {
        match reader.next_event() {
            Ok(Some(event)) => {
                assert!(event.offset() <= event.payload_offset());
                assert!(
                    event.payload_offset() + event.payload().len() as u64 <= bytes.len() as u64
                );
                events.push(digest(&event));
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        // An event takes at least two bytes. A block may be read again from a broken row on, but an
        // event must be delivered only once.
        assert!(events.len() <= bytes.len(), "more events than bytes");
    };
    told_of_reader(&reader, events, error)
}

/// A source of `size` bytes at a time. If it is lazy, every other call answers `WouldBlock`.
struct Pieces<'d> {
    rest: &'d [u8],
    size: usize,
    is_lazy: bool,
    is_ready: bool,
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.is_lazy {
            self.is_ready = !self.is_ready;
            if !self.is_ready {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let count = self.size.min(room.len()).min(self.rest.len());
        let (piece, rest) = self.rest.split_at(count);
        room[..count].copy_from_slice(piece);
        self.rest = rest;
        Ok(count)
    }
}

/// Reads a stream that comes in pieces.
pub(crate) fn in_pieces(bytes: &[u8], size: usize, is_lazy: bool) -> Told {
    let pieces = Pieces { rest: bytes, size, is_lazy, is_ready: false };
    let mut reader = Reader::new(Buffered::new(pieces).at_rest());
    let mut events = Vec::new();
    let mut waits = 0;
    let error = loop {
        match reader.next_event() {
            Ok(Some(event)) => events.push(digest(&event)),
            Ok(None) => break None,
            Err(error) if error.is_would_block() => {
                waits += 1;
                assert!(waits <= 2 * bytes.len() + 64, "it waits without progress");
            }
            Err(error) => break Some(error),
        }
    };
    told_of_reader(&reader, events, error)
}
