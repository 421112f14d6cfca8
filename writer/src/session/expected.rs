//! Events that a reader must find in a recorded session.

use crate::{Blob, Field, GuidBytes, Label, Stream, Value};

/// A stream, and the events that a reader must find in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The stream, with the positions of its parts.
    pub stream: Stream,
    /// The events in file order.
    pub events: Vec<ExpectedEvent>,
    /// Number of lost events that a reader can find by sequence numbers. Dropped events count only
    /// if a later event or sequence point shows the gap.
    pub lost: u64,
    /// Losses that a reader cannot distinguish from a damaged number, each as its number of events
    /// (versions 4 and 5). Example: a thread ends with number 5, and a new thread with its id
    /// writes 1, 2, 8, so 5 events are lost. The number 1 is 5 below the expected 6, and 8 is 5
    /// above the expected 3. Damaged numbers 6 and 7 would look the same.
    pub undone: Vec<u64>,
}

impl Recording {
    /// Returns the events in time order, as indices into `events`. Events with equal timestamps
    /// stay in file order.
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
    /// Header and payload as written. Fields that the version lacks are those of
    /// [`Blob::default`]. In version 6 the thread ids are indices.
    pub blob: Blob,
    /// Provider.
    pub provider: String,
    /// Event id.
    pub event_id: u32,
    /// Event name.
    pub name: String,
    /// Keywords from the labels, otherwise from the metadata.
    pub keywords: u64,
    /// Level from the labels, otherwise from the metadata.
    pub level: u8,
    /// Version from the labels, otherwise from the metadata.
    pub version: u8,
    /// OpCode from the labels, otherwise from the metadata; `None` if neither has one.
    pub opcode: Option<u8>,
    /// Fields as the stream describes them; empty if its version cannot.
    pub fields: Vec<Field>,
    /// Values of the payload, even if `fields` is empty.
    pub values: Vec<Value>,
    /// Addresses, innermost first, cut to the pointer size.
    pub stack: Vec<u64>,
    /// Activity, from header or labels; `None` if absent or zero.
    pub activity_id: Option<GuidBytes>,
    /// Related activity, from header or labels; `None` if absent or zero.
    pub related_activity_id: Option<GuidBytes>,
    /// All labels (version 6).
    pub labels: Vec<Label>,
    /// OS id of the thread that the event is about.
    pub os_thread_id: u64,
    /// Process id of the thread.
    pub process_id: u64,
    /// Name of the thread (version 6).
    pub thread_name: Option<String>,
}
