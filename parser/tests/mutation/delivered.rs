//! Checks that all events outside of a damaged block are delivered with unchanged facts.

use nettrace_parser::{Event, Reader};
use nettrace_testdata::synth::{PartKind, Version};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Facts of an event, separated by the blocks that store them. The offset of the event is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Said {
    offset: u64,
    /// Hash of the facts in the event's row.
    row: u64,
    /// Hash of the facts in the metadata.
    name: u64,
    /// Hash of the facts in metadata or labels.
    level: u64,
    /// Hash of the facts in the event's row or the row of its thread.
    thread: u64,
    /// Hash of the facts in the event's row or labels.
    labels: u64,
    /// Hash of the stack.
    stack: u64,
}

const NOTHING: Said = Said { offset: 0, row: 0, name: 0, level: 0, thread: 0, labels: 0, stack: 0 };

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Said {
    fn by(event: &Event<'_>) -> Said {
        let ids = (event.metadata_id(), event.sequence_number(), event.processor());
        let labels: Vec<String> = event.labels().iter().map(|label| format!("{label:?}")).collect();
        Said {
            offset: event.offset(),
            row: hash((ids, event.timestamp_ticks(), event.is_sorted(), event.payload())),
            name: hash((event.provider(), event.name(), event.id(), event.version())),
            level: hash((event.level(), event.keywords(), event.opcode())),
            thread: hash((event.thread_id(), event.capture_thread(), event.process_id())),
            labels: hash((event.activity_id(), event.related_activity_id(), labels)),
            stack: hash(event.stack().bytes()),
        }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset as usize
    }

    /// Returns the facts without those that a block of kind `kind` stores.
    fn without(self, kind: PartKind, version: Version) -> Said {
        let said = Said { offset: 0, ..self };
        match kind {
            // In version 3 definitions are in event blocks.
            PartKind::Event if version == Version::V3 => Said { name: 0, level: 0, ..said },
            PartKind::Metadata => Said { name: 0, level: 0, ..said },
            PartKind::Stack => Said { stack: 0, ..said },
            PartKind::Thread | PartKind::RemoveThread => Said { thread: 0, ..said },
            PartKind::LabelList => Said { labels: 0, level: 0, ..said },
            // Without the sequence point, ids of stacks, threads, labels and (version 6) metadata
            // that are used again have the wrong meaning.
            PartKind::SequencePoint if version == Version::V6 => Said { row: said.row, ..NOTHING },
            PartKind::SequencePoint => Said { stack: 0, ..said },
            _ => said,
        }
    }
}

/// Returns the facts of all events of a stream.
pub(crate) fn said(bytes: &[u8]) -> Vec<Said> {
    let mut reader = Reader::from_slice(bytes);
    let mut events = Vec::new();
    while let Ok(Some(event)) = reader.next_event() {
        events.push(Said::by(&event));
    }
    events
}

/// A block that was damaged.
#[derive(Clone, Debug)]
pub(crate) struct Damaged {
    pub(crate) kind: PartKind,
    pub(crate) version: Version,
    /// Positions of the block in the undamaged stream.
    pub(crate) before: Range<usize>,
    /// Positions of the block in the damaged stream.
    pub(crate) after: Range<usize>,
}

impl Damaged {
    /// Asserts that no event outside of the block is missing, added or moved.
    pub(crate) fn assert_rest_is_delivered(&self, whole: &[Said], bytes: &[u8], what: &str) {
        let outside = |events: &[Said], inside: &Range<usize>| -> Vec<Said> {
            let events = events.iter().filter(|event| !inside.contains(&(event.offset as usize)));
            events.map(|event| event.without(self.kind, self.version)).collect()
        };
        let (due, found) = (outside(whole, &self.before), outside(&said(bytes), &self.after));
        if due != found {
            let at = due.iter().zip(&found).position(|(due, found)| due != found);
            let first = at.map(|at| (due[at], found[at]));
            let (due, found) = (due.len(), found.len());
            let mut reader = Reader::from_slice(bytes);
            while let Ok(Some(_)) = reader.next_event() {}
            let findings: Vec<String> =
                reader.damage().findings().iter().map(ToString::to_string).collect();
            let findings = findings.get(..8).unwrap_or(&findings);
            panic!(
                "{what}: {found} events outside {self:?}, {due} due, the first that differs: {at:?} {first:#?}; {findings:#?}"
            );
        }
    }
}

/// Returns the hashes of the facts in the rows of events: of all events, or of those in `place`.
pub(crate) fn rows_of(events: &[Said], place: Option<&Range<usize>>) -> Vec<u64> {
    let is_there = |said: &&Said| place.is_none_or(|place| place.contains(&(said.offset as usize)));
    events.iter().filter(is_there).map(|said| said.row).collect()
}
