//! Event blobs: header and payload of one event, in all five layouts.

use crate::bytes::{GuidBytes, Sink, count32};
use crate::layout::Version;

/// Processor number of an unknown processor ([FORMAT.md 9.6]).
///
/// [FORMAT.md 9.6]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#9.6
pub const NO_PROCESSOR: u32 = u32::MAX;

/// Flags in a compressed header ([FORMAT.md 6.3], 7.4), which say what
/// [`Compressor`](super::Compressor) stores in it.
///
/// [FORMAT.md 6.3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.3
pub mod flag {
    /// The header has a MetadataId.
    pub const METADATA_ID: u8 = 0x01;
    /// The header has a sequence delta, a capture thread and a processor.
    pub const CAPTURE: u8 = 0x02;
    /// The header has a thread.
    pub const THREAD: u8 = 0x04;
    /// The header has a StackId.
    pub const STACK: u8 = 0x08;
    /// The header has an ActivityId; in version 6 a LabelListId.
    pub const ACTIVITY: u8 = 0x10;
    /// The header has a RelatedActivityId. Version 6 does not use this flag.
    pub const RELATED_ACTIVITY: u8 = 0x20;
    /// The event is sorted: no later event of the stream is older.
    pub const SORTED: u8 = 0x40;
    /// The header has a PayloadSize.
    pub const PAYLOAD_SIZE: u8 = 0x80;
}

/// One event: a payload, and a header with the fields of all versions. Each layout writes only the
/// fields that exist in it. A field that is `None` is written with the correct value.
///
/// [FORMAT.md 5] (version 3), 6.2 (versions 4 and 5), 7.4 (version 6):
///
/// | offset | V3 | V4/V5 uncompressed | V6 uncompressed |
/// |---|---|---|---|
/// | 0 | EventSize i32 | EventSize u32 | EventSize u32 |
/// | 4 | MetaDataId u32 | MetadataId u32 | MetadataId u32 (high bit: not sorted) |
/// | 8 | ThreadId i32 | SequenceNumber u32 | SequenceNumber u32 |
/// | 12 | TimeStamp i64 | ThreadId u64 | ThreadIndex u64 |
/// | 20 | ActivityId guid | CaptureThreadId u64 | CaptureThreadIndex u64 |
/// | 28 | | ProcessorNumber u32, StackId u32 | same |
/// | 36 | RelatedActivityId guid | TimeStamp u64 | TimeStamp u64 |
/// | 44 | | ActivityId guid | LabelListId u32, PayloadSize u32 |
/// | 52 | PayloadSize i32, payload, | | payload |
/// | 60 | StackSize i32, stack, padding | RelatedActivityId guid | |
/// | 76 | | PayloadSize u32, payload, padding | |
///
/// A compressed blob (V4 to V6) is one byte of flags, then the fields that differ from the
/// previous blob: see [`Compressor`].
///
/// ```
/// use nettrace_writer::{Blob, Sink, Value, payload};
///
/// let event = Blob { metadata_id: 1, thread_id: 11, ticks: 5, payload: payload(&[Value::I32(7)]), ..Blob::default() };
/// let mut sink = Sink::new();
/// event.encode_v4(&mut sink, true);
/// // 4 bytes of size, 76 of header, 4 of payload.
/// assert_eq!(sink.len(), 84);
/// ```
///
/// [FORMAT.md 5]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#5
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Id of the event type; 0 for a blob that defines an event type.
    pub metadata_id: u32,
    /// Sequence number of the event on its capture thread.
    pub sequence_number: u32,
    /// Thread that the event is about. It is an OS id, of which version 3 stores the low 32 bits;
    /// in version 6 it is the index of a row of a [`ThreadBlock`](super::ThreadBlock).
    pub thread_id: u64,
    /// Thread that wrote the event, in the form of `thread_id`.
    pub capture_thread_id: u64,
    /// Number of the processor, or [`NO_PROCESSOR`].
    pub processor: u32,
    /// Id of a stack in a [`StackBlock`](super::StackBlock); 0 for no stack.
    pub stack_id: u32,
    /// Timestamp in ticks of [`Trace::tick_frequency`](super::Trace::tick_frequency).
    pub ticks: u64,
    /// Id of the activity (versions 3–5).
    pub activity_id: GuidBytes,
    /// Id of the related activity (versions 3–5).
    pub related_activity_id: GuidBytes,
    /// Index of the label list (version 6); 0 for no labels.
    pub label_list_id: u32,
    /// Whether the event is sorted, which promises that no later event of the stream is older
    /// (versions 4–6).
    pub is_sorted: bool,
    /// Bytes of the payload.
    pub payload: Vec<u8>,
    /// Bytes of the stack (version 3).
    pub stack: Vec<u8>,
    /// Bytes to append after the payload, in version 3 after the stack. EventSize counts them in
    /// uncompressed layouts.
    pub extra: Vec<u8>,
    /// Flags to write in the compressed header; `None` for [`Compressor::needed_flags`].
    pub flags: Option<u8>,
    /// EventSize to write in an uncompressed layout instead of the correct one.
    pub event_size: Option<u32>,
    /// PayloadSize to write instead of the correct one.
    pub payload_size: Option<u32>,
    /// StackSize to write instead of the correct one (version 3).
    pub stack_size: Option<u32>,
}

impl Default for Blob {
    /// Returns a blob in which every field is zero or empty, except that the processor is unknown.
    fn default() -> Self {
        Blob {
            metadata_id: 0,
            sequence_number: 0,
            thread_id: 0,
            capture_thread_id: 0,
            processor: NO_PROCESSOR,
            stack_id: 0,
            ticks: 0,
            activity_id: [0; 16],
            related_activity_id: [0; 16],
            label_list_id: 0,
            is_sorted: false,
            payload: Vec::new(),
            stack: Vec::new(),
            extra: Vec::new(),
            flags: None,
            event_size: None,
            payload_size: None,
            stack_size: None,
        }
    }
}

impl Blob {
    /// Creates a blob that defines an event type, as the runtimes write it: it is sorted, and all
    /// its fields except thread and time are zero.
    pub fn definition(thread_id: u64, ticks: u64, payload: Vec<u8>) -> Self {
        Blob { thread_id, ticks, is_sorted: true, payload, ..Blob::default() }
    }

    fn written_payload_size(&self) -> u32 {
        self.payload_size.unwrap_or_else(|| count32(self.payload.len()))
    }

    fn id_with_sorted_bit(&self) -> u32 {
        self.metadata_id | if self.is_sorted { 0 } else { 0x8000_0000 }
    }

    /// Writes the blob in the layout of version 3, padded to a multiple of 4 bytes.
    pub fn encode_v3(&self, sink: &mut Sink) {
        let unpadded = 52 + self.payload.len() + 4 + self.stack.len() + self.extra.len();
        let padding = unpadded.wrapping_neg() % 4;
        sink.u32(self.event_size.unwrap_or_else(|| count32(unpadded + padding)));
        sink.u32(self.metadata_id).u32(self.thread_id as u32).u64(self.ticks);
        sink.guid(&self.activity_id).guid(&self.related_activity_id);
        sink.u32(self.written_payload_size()).raw(&self.payload);
        sink.u32(self.stack_size.unwrap_or_else(|| count32(self.stack.len()))).raw(&self.stack);
        sink.raw(&self.extra).fill(0, padding);
    }

    /// Writes the blob in the uncompressed layout of versions 4 and 5. `padded` says whether
    /// padding fills the blob up to a multiple of 4 bytes, as in runtimes.
    pub fn encode_v4(&self, sink: &mut Sink, padded: bool) {
        let unpadded = 76 + self.payload.len() + self.extra.len();
        let padding = if padded { unpadded.wrapping_neg() % 4 } else { 0 };
        sink.u32(self.event_size.unwrap_or_else(|| count32(unpadded + padding)));
        self.encode_common(sink);
        sink.guid(&self.activity_id).guid(&self.related_activity_id);
        sink.u32(self.written_payload_size()).raw(&self.payload).raw(&self.extra);
        sink.fill(0, padding);
    }

    /// Writes the blob in the uncompressed layout of version 6, which has no padding.
    pub fn encode_v6(&self, sink: &mut Sink) {
        let size = 48 + self.payload.len() + self.extra.len();
        sink.u32(self.event_size.unwrap_or_else(|| count32(size)));
        self.encode_common(sink);
        sink.u32(self.label_list_id).u32(self.written_payload_size());
        sink.raw(&self.payload).raw(&self.extra);
    }

    fn encode_common(&self, sink: &mut Sink) {
        sink.u32(self.id_with_sorted_bit()).u32(self.sequence_number);
        sink.u64(self.thread_id).u64(self.capture_thread_id);
        sink.u32(self.processor).u32(self.stack_id).u64(self.ticks);
    }
}

/// Writes the compressed blobs of one block. A header stores only the fields that differ from the
/// previous blob, so the compressor keeps those of the last blob.
///
/// [FORMAT.md 6.3], in version 6 7.4:
///
/// | flag | field | encoding | without the flag |
/// |---|---|---|---|
/// | 0x01 | MetadataId | varuint32 | as before |
/// | 0x02 | number − number before − 1, capture thread, processor | varuint32, 64, 32 | number + 1 (V4: not if MetadataId is 0), others as before |
/// | 0x04 | thread | varuint64 | as before |
/// | 0x08 | StackId | varuint32 | as before |
/// | always | ticks − ticks before, modulo 2^64 | varuint64 | |
/// | 0x10 | ActivityId; V6: LabelListId | guid; varuint32 | as before |
/// | 0x20 | RelatedActivityId; V6: nothing | guid | as before |
/// | 0x40 | sorted | – | not sorted |
/// | 0x80 | PayloadSize | varuint32 | as before |
///
/// [FORMAT.md 6.3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.3
#[derive(Clone, Debug)]
pub struct Compressor {
    version: Version,
    before: Blob,
    payload_size: u32,
    overlong: usize,
}

impl Compressor {
    /// Creates a compressor for the start of a block, where all fields of the previous blob count
    /// as zero.
    pub fn new(version: Version) -> Self {
        // The first header of a block inherits zeros: processor 0, not an unknown one.
        let before = Blob { processor: 0, ..Blob::default() };
        Compressor { version, before, payload_size: 0, overlong: 0 }
    }

    /// Makes the compressor add `extra` needless bytes to every varuint, up to 5 bytes for 32 bits
    /// and 10 bytes for 64.
    #[must_use]
    pub fn overlong_varuints(mut self, extra: usize) -> Self {
        self.overlong = extra;
        self
    }

    fn number_without_flag(&self, metadata_id: u32) -> u32 {
        // Before version 6, blobs of type 0 are definitions, which have no number.
        let counts = metadata_id != 0 || self.version == Version::V6;
        self.before.sequence_number.wrapping_add(u32::from(counts))
    }

    /// Returns the flags of the fields that have to be stored, because without them a reader would
    /// take other values for `blob`.
    pub fn needed_flags(&self, blob: &Blob) -> u8 {
        let before = &self.before;
        let capture_differs = blob.sequence_number != self.number_without_flag(blob.metadata_id)
            || blob.capture_thread_id != before.capture_thread_id
            || blob.processor != before.processor;
        let is_v6 = self.version == Version::V6;
        let activity_differs = match is_v6 {
            true => blob.label_list_id != before.label_list_id,
            false => blob.activity_id != before.activity_id,
        };
        let related_differs = !is_v6 && blob.related_activity_id != before.related_activity_id;
        [
            (flag::METADATA_ID, blob.metadata_id != before.metadata_id),
            (flag::CAPTURE, capture_differs),
            (flag::THREAD, blob.thread_id != before.thread_id),
            (flag::STACK, blob.stack_id != before.stack_id),
            (flag::ACTIVITY, activity_differs),
            (flag::RELATED_ACTIVITY, related_differs),
            (flag::SORTED, blob.is_sorted),
            (flag::PAYLOAD_SIZE, blob.written_payload_size() != self.payload_size),
        ]
        .into_iter()
        .filter(|(_, is_needed)| *is_needed)
        .fold(0, |flags, (flag, _)| flags | flag)
    }

    /// Writes a blob. The header has the blob's own flags, or those of [`Compressor::needed_flags`]
    /// if it has none.
    pub fn encode(&mut self, blob: &Blob, sink: &mut Sink) {
        let flags = blob.flags.unwrap_or_else(|| self.needed_flags(blob));
        let is_v6 = self.version == Version::V6;
        let has = |flag: u8| flags & flag != 0;
        sink.u8(flags);
        if has(flag::METADATA_ID) {
            self.before.metadata_id = blob.metadata_id;
            self.varuint32(sink, blob.metadata_id);
        }
        if has(flag::CAPTURE) {
            let delta =
                blob.sequence_number.wrapping_sub(self.before.sequence_number).wrapping_sub(1);
            self.before.sequence_number = blob.sequence_number;
            self.before.capture_thread_id = blob.capture_thread_id;
            self.before.processor = blob.processor;
            self.varuint32(sink, delta);
            self.varuint64(sink, blob.capture_thread_id);
            self.varuint32(sink, blob.processor);
        } else {
            self.before.sequence_number = self.number_without_flag(self.before.metadata_id);
        }
        if has(flag::THREAD) {
            self.before.thread_id = blob.thread_id;
            self.varuint64(sink, blob.thread_id);
        }
        if has(flag::STACK) {
            self.before.stack_id = blob.stack_id;
            self.varuint32(sink, blob.stack_id);
        }
        self.varuint64(sink, blob.ticks.wrapping_sub(self.before.ticks));
        self.before.ticks = blob.ticks;
        if has(flag::ACTIVITY) && is_v6 {
            self.before.label_list_id = blob.label_list_id;
            self.varuint32(sink, blob.label_list_id);
        } else if has(flag::ACTIVITY) {
            self.before.activity_id = blob.activity_id;
            sink.guid(&blob.activity_id);
        }
        if has(flag::RELATED_ACTIVITY) && !is_v6 {
            self.before.related_activity_id = blob.related_activity_id;
            sink.guid(&blob.related_activity_id);
        }
        if has(flag::PAYLOAD_SIZE) {
            self.payload_size = blob.written_payload_size();
            self.varuint32(sink, self.payload_size);
        }
        sink.raw(&blob.payload);
    }

    fn varuint32(&self, sink: &mut Sink, value: u32) {
        self.varuint(sink, u64::from(value), 5);
    }

    fn varuint64(&self, sink: &mut Sink, value: u64) {
        self.varuint(sink, value, 10);
    }

    fn varuint(&self, sink: &mut Sink, value: u64, max_bytes: usize) {
        let shortest = (64 - value.leading_zeros()).div_ceil(7).max(1) as usize;
        sink.varuint_overlong(value, self.overlong.min(max_bytes - shortest));
    }
}
