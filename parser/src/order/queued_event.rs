//! Stores a queued event, and the values that it shares with the events around it.

use crate::blob::BlobHeader;
use crate::block::metadata::Metadata;
use crate::context::{Context, Resolved};
use crate::tables::{NO_SLOT, Slot};
use nettrace_guid::Guid;

/// Values of a queued event that differ from event to event, in half a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct QueuedEvent {
    /// Time for the order: the event's own time, or the watermark if the event was late.
    pub(super) time: u64,
    /// Position of the payload, relative to the segment's base.
    payload_at: u32,
    payload_size: u32,
    pub(super) metadata: Slot,
    /// Slot of the stack; in version 3 the size of the stack.
    stack: u32,
    /// Low bits of the thread's id; in version 6 the slot of the thread's row.
    thread: u32,
    /// From the lowest bit: 24 bits of segment number, 7 bits of header size, 1 bit for
    /// the sorted mark.
    packed: u32,
}

/// Slots and ids of an event, in the form in which [`QueuedEvent`] stores them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    pub(super) metadata: Slot,
    pub(super) stack: u32,
    pub(super) thread: u32,
}

const SEGMENT_BITS: u32 = 24;
const SEGMENT_MASK: u32 = (1 << SEGMENT_BITS) - 1;
const HEADER_SIZE_MASK: u32 = 0x7f;
const SORTED: u32 = 1 << 31;

/// Values that consecutive events share, mostly because they come from one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) capture_thread: u64,
    /// Stream position to which payload positions are relative.
    pub(super) base: u64,
    /// Number of ticks from a late event's own time to its time for the order.
    pub(super) late_by: u64,
    /// High bits of the thread's id; in version 6, the id of a thread without a row.
    pub(super) thread: u64,
    pub(super) processor: u32,
    /// Sequence number that an event of this segment at index 0 would have.
    pub(super) sequence: u32,
    /// Index of the activity ids (versions 3 to 5), or slot of the labels (version 6).
    pub(super) extra: u32,
    /// Before version 6, the metadata id of an event without a type.
    pub(super) metadata_id: u32,
}

/// Segments to which queued events refer.
#[derive(Debug, Default)]
pub(super) struct Segments {
    list: Vec<Segment>,
    /// Pairs of activity ids to which segments refer.
    activities: Vec<[Guid; 2]>,
    /// Previous segments and pairs of activity ids. [`Segments::carry`] copies those that are still
    /// in use.
    before: (Vec<Segment>, Vec<[Guid; 2]>),
}

/// Converts an index to the width of sequence numbers, which wrap.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "only differences count, and they wrap")]
pub(super) fn low_bits(place: usize) -> u32 {
    place as u32
}

impl QueuedEvent {
    pub(super) const NOTHING: QueuedEvent = QueuedEvent {
        time: 0,
        payload_at: 0,
        payload_size: 0,
        metadata: NO_SLOT,
        stack: NO_SLOT,
        thread: NO_SLOT,
        packed: 0,
    };

    /// Creates a record. `segment` is the number of the event's segment; `payload_at` is
    /// relative to its base.
    #[inline(always)]
    pub(super) fn new(
        time: u64,
        header: &BlobHeader,
        payload_at: u32,
        ids: Ids,
        segment: u32,
    ) -> QueuedEvent {
        QueuedEvent {
            time,
            payload_at,
            payload_size: header.payload_size,
            metadata: ids.metadata,
            stack: ids.stack,
            thread: ids.thread,
            // A header that was decoded without a fault has at most 88 bytes.
            packed: segment
                | header.header_size << SEGMENT_BITS
                | if header.is_sorted { SORTED } else { 0 },
        }
    }

    #[inline(always)]
    pub(super) fn segment(&self) -> usize {
        (self.packed & SEGMENT_MASK) as usize
    }

    fn header_size(&self) -> u32 {
        self.packed >> SEGMENT_BITS & HEADER_SIZE_MASK
    }

    /// Restores the header of the event at index `place`, and returns its slots. `V` is the
    /// stream's version, for which the compiler specialises the code.
    #[inline(always)]
    pub(super) fn recall<const V: u8>(
        &self,
        place: usize,
        segment: &Segment,
        header: &mut BlobHeader,
        context: &Context,
        row: Option<&Metadata>,
    ) -> Resolved {
        (header.activity, header.related_activity) = (Guid::ZERO, Guid::ZERO);
        header.metadata_id = match row {
            Some(row) => row.id,
            None => segment.id_without_type(),
        };
        header.sequence = if V == 3 { 0 } else { segment.sequence.wrapping_add(low_bits(place)) };
        header.thread = if V == 6 {
            context.tables.threads.row(self.thread).map_or(segment.thread, |row| row.index)
        } else {
            u64::from(self.thread) | segment.thread
        };
        header.capture_thread = segment.capture_thread;
        header.processor = segment.processor;
        header.timestamp = self.time.wrapping_sub(segment.late_by);
        header.payload_size = self.payload_size;
        header.header_size = self.header_size();
        header.is_sorted = self.packed & SORTED != 0;
        let stack = if V == 3 {
            header.stack_size = self.stack;
            NO_SLOT
        } else {
            self.stack
        };
        let (thread, labels) =
            if V == 6 { (self.thread, segment.extra) } else { (NO_SLOT, NO_SLOT) };
        Resolved { metadata: self.metadata, stack, thread, labels }
    }
}

impl Segment {
    const NOTHING: Segment = Segment {
        capture_thread: 0,
        base: 0,
        late_by: 0,
        thread: 0,
        processor: 0,
        sequence: 0,
        extra: NO_SLOT,
        metadata_id: 0,
    };

    /// Returns the stream position of an event's payload.
    #[inline(always)]
    pub(super) fn payload_at(&self, event: &QueuedEvent) -> u64 {
        self.base.wrapping_add(u64::from(event.payload_at))
    }

    /// Returns the metadata id of an event without a type, which is rare.
    #[cold]
    fn id_without_type(&self) -> u32 {
        self.metadata_id
    }

    /// Returns the stream position of the event's first byte.
    pub(super) fn position(&self, event: &QueuedEvent) -> u64 {
        self.payload_at(event).saturating_sub(u64::from(event.header_size()))
    }
}

impl Segments {
    /// Maximum number of queued events. Each may have its own segment, and segments of delivered
    /// events remain for a while, so the number of segments may be several times as large.
    pub(super) const MAX_EVENTS: usize = 1 << (SEGMENT_BITS - 2);

    /// Returns the segment of an event.
    #[inline(always)]
    pub(super) fn segment_of(&self, event: &QueuedEvent) -> &Segment {
        self.list.get(event.segment()).unwrap_or(&Segment::NOTHING)
    }

    /// Returns the activity ids of a segment that has any.
    #[inline]
    pub(super) fn activities(&self, segment: &Segment) -> [Guid; 2] {
        self.activities.get(segment.extra as usize).copied().unwrap_or_default()
    }

    pub(super) fn newest(&self) -> &Segment {
        self.list.last().unwrap_or(&Segment::NOTHING)
    }

    /// Returns the number of a segment, after adding it if it is not the newest.
    pub(super) fn intern(&mut self, segment: Segment) -> u32 {
        if self.list.last() != Some(&segment) {
            self.list.push(segment);
        }
        low_bits(self.list.len()).wrapping_sub(1) & SEGMENT_MASK
    }

    /// Returns [`Segment::extra`] for an event before version 6, and adds its activities.
    #[inline]
    pub(super) fn intern_extra(&mut self, header: &BlobHeader) -> u32 {
        if header.activity.is_zero() && header.related_activity.is_zero() {
            return NO_SLOT;
        }
        self.intern_activities([header.activity, header.related_activity])
    }

    /// Returns the index of a pair of activity ids, after adding it if it is not the newest.
    #[inline]
    fn intern_activities(&mut self, pair: [Guid; 2]) -> u32 {
        if self.activities.last() != Some(&pair) {
            self.activities.push(pair);
        }
        u32::try_from(self.activities.len().saturating_sub(1)).unwrap_or(NO_SLOT)
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.activities.clear();
    }

    /// Returns whether segments that are not in use must be removed.
    pub(super) fn are_many(&self) -> bool {
        self.list.len() > 2 * Self::MAX_EVENTS
    }

    /// Starts over without segments. [`Segments::carry`] adds the segments still in use.
    pub(super) fn begin_carrying(&mut self) {
        std::mem::swap(&mut self.list, &mut self.before.0);
        std::mem::swap(&mut self.activities, &mut self.before.1);
        self.clear();
    }

    /// Adds the segments of events that moved to the front by `moved_by`. `has_activities` is
    /// `false` in version 6, where segments refer to labels.
    pub(super) fn carry(
        &mut self,
        events: &mut [QueuedEvent],
        moved_by: usize,
        has_activities: bool,
    ) {
        let mut last = usize::MAX;
        let mut number = 0;
        for event in events {
            if event.segment() != last {
                last = event.segment();
                let mut segment = self.before.0.get(last).copied().unwrap_or(Segment::NOTHING);
                segment.sequence = segment.sequence.wrapping_add(low_bits(moved_by));
                if has_activities && segment.extra != NO_SLOT {
                    let pair =
                        self.before.1.get(segment.extra as usize).copied().unwrap_or_default();
                    segment.extra = self.intern_activities(pair);
                }
                number = self.intern(segment);
            }
            event.packed = event.packed & !SEGMENT_MASK | number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_events_that_wait_are_one_cache_line() {
        assert_eq!((size_of::<QueuedEvent>(), align_of::<QueuedEvent>()), (32, 32));
    }
}
