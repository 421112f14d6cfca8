//! What a reader must find in a recorded session.

use crate::{Blob, Field, GuidBytes, Label, Stream, Value};

/// A session that was written, with the events in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The stream, with the map of its parts.
    pub stream: Stream,
    /// The events in file order.
    pub events: Vec<ExpectedEvent>,
    /// Number of events that the sequence numbers show to be lost. Numbers that nothing
    /// later reports do not count.
    pub lost: u64,
    /// Losses that look like one damaged number, each as its number of events (versions 4
    /// and 5). Example: a thread ends with number 5, its id comes back, and the new
    /// thread writes 1, 2, 8, so 5 events are lost. Where 6 was due came 1, which is 5
    /// too few; where 3 was due came 8, which is 5 too many. If 1 and 2 had been damaged
    /// it would look the same, so no reader can distinguish the two.
    pub undone: Vec<u64>,
}

impl Recording {
    /// Returns the events in time order, as indices into `events`; events with one
    /// timestamp are in file order.
    pub fn time_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.events.len()).collect();
        order.sort_by_key(|&at| self.events[at].blob.ticks);
        order
    }
}

/// An event with all that the stream stores about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExpectedEvent {
    /// Header and payload as written. Fields that the version does not have are as in
    /// [`Blob::default`]; in version 6 the thread ids are indices.
    pub blob: Blob,
    /// Provider.
    pub provider: String,
    /// Event id.
    pub event_id: u32,
    /// Event name.
    pub name: String,
    /// Keywords, from the labels or else from the metadata.
    pub keywords: u64,
    /// Level, from the labels or else from the metadata.
    pub level: u8,
    /// Version, from the labels or else from the metadata.
    pub version: u8,
    /// OpCode, from the labels or else from the metadata; `None` if neither has one.
    pub opcode: Option<u8>,
    /// Fields as the stream describes them; empty if its version cannot.
    pub fields: Vec<Field>,
    /// The values in the payload, whether described or not.
    pub values: Vec<Value>,
    /// Frames, leaf first, cut to the pointer size.
    pub stack: Vec<u64>,
    /// Activity, from header or labels; `None` if absent or zero.
    pub activity_id: Option<GuidBytes>,
    /// Related activity, from header or labels; `None` if absent or zero.
    pub related_activity_id: Option<GuidBytes>,
    /// All labels (version 6).
    pub labels: Vec<Label>,
    /// OS id of the thread that the event is about.
    pub os_thread_id: u64,
    /// Process of that thread.
    pub process_id: u64,
    /// Name of that thread (version 6).
    pub thread_name: Option<String>,
}
