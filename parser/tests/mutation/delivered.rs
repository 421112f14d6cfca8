//! Whether all events outside a damaged block were delivered, and hold what they hold
//! without the damage.

use nettrace_parser::{Event, Reader};
use nettrace_testdata::synth::{PartKind, Version};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// The facts of an event, each by the place that stores it. The event's own place is not
/// one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Said {
    offset: u64,
    /// Hash of what its own row stores.
    row: u64,
    /// Hash of what its metadata stores.
    name: u64,
    /// Hash of what its metadata or its labels store.
    level: u64,
    /// Hash of what its row or the row of its thread stores.
    thread: u64,
    /// Hash of what its row or its labels store.
    labels: u64,
    /// Hash of what the stack block stores.
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

    /// Returns what is left of the facts without those that a block of this kind stores.
    fn without(self, kind: PartKind, version: Version) -> Said {
        let said = Said { offset: 0, ..self };
        match kind {
            // Version 3 has its definitions among the events.
            PartKind::Event if version == Version::V3 => Said { name: 0, level: 0, ..said },
            PartKind::Metadata => Said { name: 0, level: 0, ..said },
            PartKind::Stack => Said { stack: 0, ..said },
            PartKind::Thread | PartKind::RemoveThread => Said { thread: 0, ..said },
            PartKind::LabelList => Said { labels: 0, level: 0, ..said },
            // A sequence point says from where on stacks, threads, labels and, in version
            // 6, metadata have new numbers.
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
    /// Where it lies in the whole stream, and in the damaged one.
    pub(crate) before: Range<usize>,
    pub(crate) after: Range<usize>,
}

impl Damaged {
    /// Compares the events outside the block, of which none may be missing, added or
    /// moved.
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

/// Returns what events store in their own rows: all of them, or those that lie in
/// `place`.
pub(crate) fn rows_of(events: &[Said], place: Option<&Range<usize>>) -> Vec<u64> {
    let is_there = |said: &&Said| place.is_none_or(|place| place.contains(&(said.offset as usize)));
    events.iter().filter(is_there).map(|said| said.row).collect()
}
