//! Copies of everything that a reader delivers, so that tests can compare it with expected values,
//! and between sources of the same bytes.
#![allow(dead_code, reason = "each test target uses a part of it")]

pub(crate) mod examples;
pub(crate) mod fields;

use nettrace_parser::{
    Class, Damage, Error, Event, Fault, Finding, Guid, Limits, Losses, Metadata, Reader, Source,
    Thread, Trace, TraceId, Version,
};
use std::collections::BTreeMap;
use std::io::{self, Read};

/// Copy of an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) offset: u64,
    pub(crate) payload_offset: u64,
    pub(crate) metadata_id: u32,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) id: u32,
    pub(crate) version: u32,
    pub(crate) level: u32,
    pub(crate) keywords: u64,
    pub(crate) opcode: Option<u8>,
    pub(crate) implied_opcode: u8,
    pub(crate) thread: Option<u64>,
    pub(crate) thread_row: Option<Thread>,
    pub(crate) capture_thread: u64,
    pub(crate) process: Option<u64>,
    pub(crate) processor: Option<u32>,
    pub(crate) number: u32,
    pub(crate) is_sorted: bool,
    pub(crate) ticks: u64,
    pub(crate) nanos: Option<i64>,
    pub(crate) unix_nanos: Option<i128>,
    pub(crate) activity: Option<Guid>,
    pub(crate) related_activity: Option<Guid>,
    pub(crate) trace_id: Option<TraceId>,
    pub(crate) span_id: Option<u64>,
    /// Debug text of each label.
    pub(crate) labels: Vec<String>,
    pub(crate) stack: Vec<u64>,
    pub(crate) payload: Vec<u8>,
    /// Each field as `name = value`.
    pub(crate) fields: Vec<String>,
    /// Bytes of the payload after the last field.
    pub(crate) rest: Vec<u8>,
}

impl Seen {
    /// Copies an event.
    pub(crate) fn from_event(event: &Event<'_>) -> Seen {
        Seen {
            offset: event.offset(),
            payload_offset: event.payload_offset(),
            metadata_id: event.metadata_id(),
            metadata: event.metadata().cloned(),
            provider: event.provider().to_owned(),
            name: event.name().to_owned(),
            id: event.id(),
            version: event.version(),
            level: event.level(),
            keywords: event.keywords(),
            opcode: event.opcode(),
            implied_opcode: event.implied_opcode(),
            thread: event.thread_id(),
            thread_row: event.thread().cloned(),
            capture_thread: event.capture_thread(),
            process: event.process_id(),
            processor: event.processor(),
            number: event.sequence_number(),
            is_sorted: event.is_sorted(),
            ticks: event.timestamp_ticks(),
            nanos: event.nanos(),
            unix_nanos: event.unix_nanos(),
            activity: event.activity_id(),
            related_activity: event.related_activity_id(),
            trace_id: event.trace_id(),
            span_id: event.span_id(),
            labels: event.labels().iter().map(|label| format!("{label:?}")).collect(),
            stack: event.stack().addresses().collect(),
            payload: event.payload().to_vec(),
            fields: fields::texts(event),
            rest: fields::rest(event).to_vec(),
        }
    }
}

/// Everything that a reader delivered for a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) version: Option<Version>,
    pub(crate) trace: Option<Trace>,
    pub(crate) events: Vec<Seen>,
    /// Error that ended reading: offset, context, fault.
    pub(crate) error: Option<(u64, &'static str, Fault)>,
    pub(crate) findings: Vec<Finding>,
    /// Number of findings of each class, including those that were not kept.
    pub(crate) finding_counts: BTreeMap<Class, u64>,
    pub(crate) lost: u64,
    pub(crate) restarts: u64,
    pub(crate) lost_by_thread: BTreeMap<u64, u64>,
    pub(crate) is_complete: bool,
    pub(crate) end_offset: Option<u64>,
    /// Number of events that were too late for time order; 0 in file order.
    pub(crate) out_of_order: u64,
}

pub(crate) const CLASSES: [Class; 6] = [
    Class::FramingLost,
    Class::BlockLost,
    Class::RestOfBlockLost,
    Class::RowLost,
    Class::Incomplete,
    Class::Note,
];

impl Outcome {
    /// Returns the timestamps of the events, in their order.
    pub(crate) fn ticks(&self) -> Vec<u64> {
        self.events.iter().map(|event| event.ticks).collect()
    }

    /// Returns the sequence numbers of the events, in their order.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.events.iter().map(|event| event.number).collect()
    }

    /// Returns each finding's class, stream offset and fault.
    pub(crate) fn damage(&self) -> Vec<(Class, u64, Fault)> {
        self.findings.iter().map(|finding| (finding.class, finding.offset, finding.fault)).collect()
    }

    /// Returns whether the stream is complete, without findings and errors.
    pub(crate) fn is_flawless(&self) -> bool {
        self.findings.is_empty() && self.error.is_none() && self.is_complete
    }

    /// Checks what must be true of the outcome for any input of `length` bytes.
    fn check(&self, length: u64) {
        assert!(self.events.len() as u64 <= length / 2, "an event has at least two bytes");
        for event in &self.events {
            let end = event.payload_offset + event.payload.len() as u64;
            assert!(event.offset <= event.payload_offset && end <= length, "{event:?}");
        }
        for finding in &self.findings {
            let places = [finding.offset, finding.block_offset, finding.lost_bytes];
            assert!(places.iter().all(|place| *place <= length), "beyond {length}: {finding:?}");
        }
        if let Some((offset, _, _)) = self.error {
            assert!(offset <= length, "{:?} beyond {length}", self.error);
            assert!(self.events.is_empty());
        }
        assert!(
            self.end_offset.is_none_or(|end| end <= length),
            "{:?} beyond {length}",
            self.end_offset
        );
        assert_eq!(self.lost, self.lost_by_thread.values().sum::<u64>());
        assert!(self.error.is_some() || self.end_offset.is_some(), "the end is told");
    }
}

/// Repeats a call as long as it fails with `WouldBlock`.
pub(crate) fn patient<T>(mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        match call() {
            Err(error) if error.is_would_block() => {}
            result => return result,
        }
    }
}

fn outcome(
    events: Vec<Seen>,
    error: Option<Error>,
    trace: Option<Trace>,
    reader: (Option<Version>, bool, Option<u64>),
    (losses, damage): (&Losses, &Damage),
    out_of_order: u64,
) -> Outcome {
    let error = error.map(|error| match error {
        Error::Format { offset, context, fault } => (offset, context, fault),
        other => panic!("a source that does not fail: {other}"),
    });
    let (version, is_complete, end_offset) = reader;
    let finding_counts = CLASSES.map(|class| (class, damage.count(class)));
    Outcome {
        version,
        trace,
        events,
        error,
        findings: damage.findings().to_vec(),
        finding_counts: finding_counts.into_iter().filter(|(_, count)| *count > 0).collect(),
        lost: losses.total(),
        restarts: losses.restarts(),
        lost_by_thread: losses.by_thread().collect(),
        is_complete,
        end_offset,
        out_of_order,
    }
}

/// Number of events after which a stream is taken for endless. No stream of these tests has as
/// many.
const ENDLESS: usize = 4_000_000;

/// Reads all events in file order.
pub(crate) fn observe<S: Source>(mut reader: Reader<S>) -> Outcome {
    let mut events = Vec::new();
    let error = loop {
        match patient(|| reader.next_event().map(|event| event.as_ref().map(Seen::from_event))) {
            Ok(Some(event)) => events.push(event),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        assert!(events.len() < ENDLESS, "this does not end");
    };
    let again = patient(|| reader.next_event().map(|event| event.is_some()));
    assert_eq!(again.is_ok_and(|is_some| !is_some), error.is_none(), "the end stays the end");
    let trace = reader.trace().ok().cloned();
    let end = (reader.version(), reader.is_complete(), reader.end_offset());
    outcome(events, error, trace, end, (reader.losses(), reader.damage()), 0)
}

/// Reads all events in time order.
pub(crate) fn observe_ordered<S: Source>(reader: Reader<S>) -> Outcome {
    let mut ordered = reader.time_ordered();
    let mut events = Vec::new();
    let error = loop {
        match patient(|| ordered.next_event().map(|event| event.as_ref().map(Seen::from_event))) {
            Ok(Some(event)) => events.push(event),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        assert!(events.len() < ENDLESS, "this does not end");
    };
    assert!(error.is_some() || ordered.waiting() == 0);
    let trace = ordered.trace().ok().cloned();
    let reader = ordered.reader();
    let end = (reader.version(), reader.is_complete(), reader.end_offset());
    let told = (reader.losses(), reader.damage());
    outcome(events, error, trace, end, told, ordered.out_of_order())
}

/// Maximum size of a stream that every test also reads in pieces, in bytes.
const SHORT: usize = 40_000;

/// Reads a stream in file order from a slice and, if it is short, also byte by byte and from a
/// source that answers `WouldBlock` every other time. All results must be equal.
pub(crate) fn read(bytes: &[u8]) -> Outcome {
    read_within(bytes, Limits::default())
}

/// Reads a stream as [`read`] does, with other limits.
pub(crate) fn read_within(bytes: &[u8], limits: Limits) -> Outcome {
    let whole = observe(Reader::with_limits(nettrace_parser::Whole::new(bytes), limits));
    whole.check(bytes.len() as u64);
    for pieces in Pieces::ways(bytes) {
        let source = nettrace_parser::Buffered::new(pieces).at_rest();
        assert_same(&observe(Reader::with_limits(source, limits)), &whole, &pieces);
    }
    whole
}

/// Reads a stream in time order, from a slice and in pieces as [`read`] does.
pub(crate) fn ordered(bytes: &[u8]) -> Outcome {
    ordered_within(bytes, Limits::default())
}

/// Reads a stream as [`ordered`] does, with other limits.
pub(crate) fn ordered_within(bytes: &[u8], limits: Limits) -> Outcome {
    let whole = observe_ordered(Reader::with_limits(nettrace_parser::Whole::new(bytes), limits));
    whole.check(bytes.len() as u64);
    for pieces in Pieces::ways(bytes) {
        let source = nettrace_parser::Buffered::new(pieces).at_rest();
        assert_same(&observe_ordered(Reader::with_limits(source, limits)), &whole, &pieces);
    }
    whole
}

/// Asserts that two outcomes are equal. `fed`, the source of `found`, is shown with the first
/// difference.
pub(crate) fn assert_same(found: &Outcome, expected: &Outcome, fed: &dyn std::fmt::Debug) {
    if found == expected {
        return;
    }
    for (nth, (found, expected)) in found.events.iter().zip(&expected.events).enumerate() {
        assert_eq!(found, expected, "event {nth}, fed in {fed:?}");
    }
    for (found, expected) in found.findings.iter().zip(&expected.findings) {
        assert_eq!(found, expected, "fed in {fed:?}");
    }
    let without_events = |outcome: &Outcome| Outcome { events: vec![], ..outcome.clone() };
    assert_eq!(found.events.len(), expected.events.len(), "fed in {fed:?}");
    assert_eq!(without_events(found), without_events(expected), "fed in {fed:?}");
}

/// Returns the offset and the fault of a stream that cannot be opened.
pub(crate) fn refused(bytes: &[u8]) -> (u64, Fault) {
    let outcome = read(bytes);
    assert_eq!((outcome.events.len(), outcome.findings.len()), (0, 0));
    let (offset, context, fault) = outcome.error.expect("the stream is refused");
    assert!(!context.is_empty());
    (offset, fault)
}

/// A source of at most `size` bytes at a time, which may answer `WouldBlock` every other time.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'d> {
    bytes: &'d [u8],
    size: usize,
    pauses: bool,
    is_paused: bool,
}

impl<'d> Pieces<'d> {
    pub(crate) fn new(bytes: &'d [u8], size: usize) -> Self {
        Pieces { bytes, size, pauses: false, is_paused: false }
    }

    /// Answers `WouldBlock` before each piece.
    pub(crate) fn with_pauses(bytes: &'d [u8], size: usize) -> Self {
        Pieces { pauses: true, ..Pieces::new(bytes, size) }
    }

    fn ways(bytes: &'d [u8]) -> impl Iterator<Item = Pieces<'d>> {
        let ways = [Pieces::new(bytes, 1), Pieces::with_pauses(bytes, 7)];
        ways.into_iter().filter(|pieces| pieces.bytes.len() <= SHORT)
    }
}

impl std::fmt::Debug for Pieces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pauses = if self.pauses { " with pauses" } else { "" };
        write!(f, "pieces of {}{pauses}", self.size)
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.pauses {
            self.is_paused = !self.is_paused;
            if self.is_paused {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let count = self.size.min(into.len()).min(self.bytes.len());
        let (piece, rest) = self.bytes.split_at(count);
        into[..count].copy_from_slice(piece);
        self.bytes = rest;
        Ok(count)
    }
}
