//! Events that a reader must find in a recorded session.

use crate::{Blob, Field, GuidBytes, Label, Stream, Value};

/// A stream, and the events that a reader must find in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The stream, with the positions of its parts.
    pub stream: Stream,
    /// The events that a reader must find, in file order.
    pub events: Vec<ExpectedEvent>,
    /// Number of lost events that a reader can find by gaps in sequence numbers. A dropped event
    /// counts only if a later event or sequence point shows the gap.
    pub lost: u64,
    /// Losses that a reader cannot distinguish from damaged sequence numbers (versions 4 and 5).
    /// Each is given as its number of events.
    ///
    /// Example: a thread ends with sequence number 5. A new thread with its id writes 1, 2, 8, so 5
    /// events are lost. But 1 is 5 below the expected 6, and 8 is 5 above the expected 3: the
    /// numbers 6 and 7, damaged, would look the same.
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

/// An event with everything that the stream stores about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExpectedEvent {
    /// Header and payload of the event as they are written. Fields that the version does not have
    /// are those of [`Blob::default`]. In version 6 the thread ids are indices.
    pub blob: Blob,
    /// Name of the provider.
    pub provider: String,
    /// Id of the event within the provider.
    pub event_id: u32,
    /// Name of the event.
    pub name: String,
    /// Keywords in the labels, otherwise those in the metadata.
    pub keywords: u64,
    /// Level in the labels, otherwise the one in the metadata.
    pub level: u8,
    /// Version in the labels, otherwise the one in the metadata.
    pub version: u8,
    /// OpCode in the labels, otherwise the one in the metadata; `None` if neither has one.
    pub opcode: Option<u8>,
    /// Fields as the stream describes them; empty if its version cannot describe them.
    pub fields: Vec<Field>,
    /// Values of the payload, even if `fields` is empty.
    pub values: Vec<Value>,
    /// Addresses of the stack's frames, innermost first, cut to the pointer size.
    pub stack: Vec<u64>,
    /// Id of the activity, from header or labels; `None` if absent or zero.
    pub activity_id: Option<GuidBytes>,
    /// Id of the related activity, from header or labels; `None` if absent or zero.
    pub related_activity_id: Option<GuidBytes>,
    /// All labels of the event (version 6).
    pub labels: Vec<Label>,
    /// OS id of the thread that the event is about.
    pub os_thread_id: u64,
    /// Id of the process to which that thread belongs.
    pub process_id: u64,
    /// Name of that thread (version 6).
    pub thread_name: Option<String>,
}
