//! Sessions: a description of what happened becomes the stream that a runtime would write, and the
//! list of its events.

mod describe;
mod expected;
mod record;
mod resolve;
mod threads;
mod writer;

pub use expected::{ExpectedEvent, Recording};
pub use writer::{SessionWriter, Written};

use std::borrow::Cow;

use record::Recorder;

use crate::{BlobLayout, Field, FieldType, GuidBytes, Label, Optional, Trace, Value, Version};

/// A recording session as plain data. Any values make a legal stream.
///
/// Indices of types and threads are taken modulo their number, so that random indices are valid.
/// Without types or threads there are no events.
///
/// The stream consists of batches. A batch ends at [`Step::Flush`], after
/// [`Session::events_per_batch`] events, before a sequence point, before the removal of a thread and
/// at the end. The table has the parts of a batch in their order.
///
/// | versions 4, 5 | version 6 | version 3 |
/// |---|---|---|
/// | metadata of types not yet defined | same | an event block: each type's metadata right before its first event, stacks inside the events |
/// | | threads not yet defined | |
/// | stacks not yet written | same | |
/// | | label lists not yet written | |
/// | event blocks | same | |
///
/// Ids of metadata and stacks count from 1, thread indices from 0. An id is used again after a
/// sequence point (for a thread index: or a removal) has made it free, so a reader meets ids that
/// change their meaning ([FORMAT.md 9]).
///
/// ```
/// use nettrace_writer::*;
///
/// let session = Session {
///     types: vec![EventType {
///         provider: "Demo".into(),
///         event_id: 7,
///         name: "Hi".into(),
///         fields: vec![Field::new("n", FieldType::Int32)],
///         ..EventType::default()
///     }],
///     threads: vec![SessionThread::new(11), SessionThread::new(12)],
///     steps: vec![
///         Step::event(0, 0, 10, vec![Value::I32(1)]),
///         Step::event(0, 1, 10, vec![Value::I32(2)]),
///         Step::event(0, 0, 10, vec![Value::I32(3)]),
///         Step::Lose { thread: 1, count: 2 },
///         Step::sequence_point(),
///     ],
///     ..Session::new(Version::V4)
/// };
/// let recording = session.record();
/// // The run of the first thread comes first in the file.
/// let ticks: Vec<u64> = recording.events.iter().map(|event| event.blob.ticks).collect();
/// assert_eq!(ticks, [1_000_010, 1_000_030, 1_000_020]);
/// assert_eq!(recording.time_order(), [0, 2, 1]);
/// assert_eq!(recording.lost, 2);
/// ```
///
/// [FORMAT.md 9]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#9
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Version of the format in which the stream is written.
    pub version: Version,
    /// Content of the Trace block. Its `sync_ticks` is the time of the first step.
    pub trace: Trace,
    /// Layout of the blobs.
    pub layout: BlobLayout,
    /// Order in which the events of a batch are written.
    pub order: BatchOrder,
    /// Types of the events; a [`SessionEvent`] refers to them by index.
    pub types: Vec<EventType>,
    /// Threads of the session; its steps refer to them by index. In versions 3 to 5 entries with
    /// the same OS id are one thread.
    pub threads: Vec<SessionThread>,
    /// What happened in the session, in time order.
    pub steps: Vec<Step>,
    /// Maximum number of events in a block. With 0, only the limit of 8 MiB applies.
    pub events_per_block: usize,
    /// Maximum number of events in a batch, after which events are written as when a runtime's
    /// buffers are full; 0 for no limit.
    pub events_per_batch: usize,
    /// Number of unknown bytes to add to headers that a later version may extend: those of event
    /// and metadata blocks, and of the version 6 Trace block.
    pub header_extra: usize,
    /// Number of unknown bytes to add wherever else a reader must skip them: in metadata rows,
    /// fields, tags, uncompressed blobs and sequence points.
    pub row_extra: usize,
    /// Value of the padding bytes before the contents of blocks.
    pub padding_byte: u8,
    /// Whether an event without frames gets the id of an empty stack, as runtimes write it.
    /// Otherwise it gets id 0.
    pub interns_empty_stacks: bool,
    /// Whether the stream has an end mark.
    pub has_end: bool,
}

impl Session {
    /// Creates a session without steps.
    pub fn new(version: Version) -> Self {
        Session {
            version,
            trace: Trace::default(),
            layout: BlobLayout::Compressed,
            order: BatchOrder::ThreadRuns,
            types: Vec::new(),
            threads: Vec::new(),
            steps: Vec::new(),
            events_per_block: 0,
            events_per_batch: 16_384,
            header_extra: 0,
            row_extra: 0,
            padding_byte: 0,
            interns_empty_stacks: true,
            has_end: true,
        }
    }

    /// Writes the session as a stream.
    ///
    /// # Panics
    /// If something is too large for its count in the format, such as an array of 65,536 elements.
    pub fn record(&self) -> Recording {
        let mut recorder = Recorder::new(Cow::Borrowed(self));
        for step in &self.steps {
            recorder.step(Cow::Borrowed(step));
        }
        recorder.end();
        let Recorder { stream, events, lost, undone, .. } = recorder;
        Recording { stream, events, lost, undone }
    }
}

/// Order in which the events of a batch are written, and which of them are marked as sorted.
/// Version 3 always has time order and no marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchOrder {
    /// All events of a capture thread are written before those of the next, beginning with the
    /// thread that has the oldest event. The first event of each thread is marked. The runtimes
    /// write this order.
    #[default]
    ThreadRuns,
    /// The events are written in time order, and all of them are marked. The recorder one-collect
    /// writes this order.
    ByTime,
    /// The order of `ThreadRuns`, without marks. So readers can deliver events only at sequence
    /// points and at the end.
    Unmarked,
}

/// A type of events in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventType {
    /// Name of the provider.
    pub provider: String,
    /// Id of the event within the provider.
    pub event_id: u32,
    /// Name of the event; may be empty.
    pub name: String,
    /// Keywords of the event.
    pub keywords: u64,
    /// Version of the event.
    pub version: u8,
    /// Level of the event, 0 to 5.
    pub level: u8,
    /// OpCode of the event. Versions 3 and 4 cannot store it.
    pub opcode: Option<u8>,
    /// Fields of the payload. If the stream's version cannot describe one of them, it describes
    /// none.
    pub fields: Vec<Field>,
    /// Further optional metadata (version 6), written after opcode, keywords, level and version.
    pub optional: Vec<Optional>,
}

impl EventType {
    /// Creates a type without keywords and fields, of level 4 (informational).
    ///
    /// ```
    /// use nettrace_writer::{EventType, FieldType};
    /// let request = EventType::new("Shop", 1, "Request").field("path", FieldType::Text);
    /// assert_eq!(request.fields.len(), 1);
    /// ```
    pub fn new(provider: &str, event_id: u32, name: &str) -> Self {
        EventType {
            provider: provider.to_owned(),
            event_id,
            name: name.to_owned(),
            level: 4,
            ..EventType::default()
        }
    }

    /// Returns the type with one more field.
    #[must_use]
    pub fn field(mut self, name: &str, field_type: FieldType) -> Self {
        self.fields.push(Field::new(name, field_type));
        self
    }
}

/// A thread of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionThread {
    /// OS id of the thread, of which version 3 stores 32 bits.
    pub os_thread_id: u64,
    /// Id of the thread's process (version 6). Earlier versions only store the process of the
    /// trace.
    pub process_id: u64,
    /// Name of the thread (version 6).
    pub name: Option<String>,
}

impl SessionThread {
    /// Creates a thread of process 1234 that has no name.
    pub fn new(os_thread_id: u64) -> Self {
        SessionThread { os_thread_id, process_id: 1234, name: None }
    }
}

/// One step of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// An event is written.
    Event(SessionEvent),
    /// Events of a thread are dropped, so their sequence numbers are skipped (not in version 3).
    Lose {
        /// Index of the thread that would have written the events.
        thread: usize,
        /// Number of dropped events.
        count: u16,
    },
    /// All events of the batch are written.
    Flush,
    /// All events of the batch are written, then a sequence point (not in version 3).
    SequencePoint {
        /// Whether the sequence point lists the threads with their sequence numbers. In versions 4
        /// and 5 it always does.
        lists_threads: bool,
        /// Whether readers must forget all threads (version 6).
        forgets_threads: bool,
        /// Whether readers must forget all metadata (version 6).
        forgets_metadata: bool,
    },
    /// The thread with this index ends. Version 6 writes all events of the batch and a RemoveThread
    /// block. In versions 4 and 5 the next sequence point is the last that lists the thread, and
    /// its sequence numbers start again at 1. An event of the thread before that point cancels the
    /// end.
    RemoveThread(usize),
}

impl Step {
    /// Creates the step of an event without stack, activities and labels. The thread that it is
    /// about also writes it.
    pub fn event(
        event_type: usize,
        thread: usize,
        ticks_later: u32,
        values: impl IntoIterator<Item = Value>,
    ) -> Self {
        Step::Event(SessionEvent {
            event_type,
            thread,
            capture_thread: thread,
            ticks_later,
            values: values.into_iter().collect(),
            ..SessionEvent::default()
        })
    }

    /// Creates the step of a sequence point that lists the threads, and after which readers forget
    /// nothing.
    pub fn sequence_point() -> Self {
        Step::SequencePoint { lists_threads: true, forgets_threads: false, forgets_metadata: false }
    }
}

/// An event of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionEvent {
    /// Index of the event's type in [`Session::types`].
    pub event_type: usize,
    /// Index in [`Session::threads`] of the thread that the event is about.
    pub thread: usize,
    /// Index in [`Session::threads`] of the thread that writes the event.
    pub capture_thread: usize,
    /// Number of ticks between the previous event of the session and this one.
    pub ticks_later: u32,
    /// Number of events of the capture thread that were dropped immediately before this event (not
    /// in version 3).
    pub lost_before: u16,
    /// Number of the processor; `None` if it is not known.
    pub processor: Option<u16>,
    /// Addresses of the stack's frames, innermost first.
    pub stack: Vec<u64>,
    /// Id of the activity; zero for none. Version 6 stores it as a label.
    pub activity_id: GuidBytes,
    /// Id of the related activity; zero for none. Version 6 stores it as a label.
    pub related_activity_id: GuidBytes,
    /// Labels in addition to the two activities (version 6).
    pub labels: Vec<Label>,
    /// Values of the payload. They need not agree with the fields of the type.
    pub values: Vec<Value>,
}
