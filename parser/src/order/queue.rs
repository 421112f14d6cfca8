//! Events that wait for their turn, as marks, and their sorting.

use super::radix;
use crate::blob::BlobHeader;
use crate::guid::Guid;
use crate::reader::{Context, Resolved, Take};
use crate::tables::{NO_SLOT, Slot};

/// An event that waits: its header, its references and its place. One cache line.
#[derive(Debug, Clone, Copy)]
struct Mark {
    timestamp: u64,
    thread: u64,
    capture_thread: u64,
    /// Stream position of the payload.
    payload_at: u64,
    payload_size: u32,
    metadata: Slot,
    /// Slot of the stack; version 3: its size.
    stack: u32,
    /// Activity pair (versions 3 to 5), or slot of the labels (version 6).
    extra: u32,
    /// Slot of the thread row in version 6; before it the metadata id, which an undefined type has
    /// nothing else to tell by.
    thread_row_or_id: u32,
    sequence: u32,
    processor: u32,
    header_size: u8,
    is_sorted: bool,
}

impl Mark {
    const NOTHING: Mark = Mark {
        timestamp: 0,
        thread: 0,
        capture_thread: 0,
        payload_at: 0,
        payload_size: 0,
        metadata: NO_SLOT,
        stack: NO_SLOT,
        extra: NO_SLOT,
        thread_row_or_id: NO_SLOT,
        sequence: 0,
        processor: 0,
        header_size: 0,
        is_sorted: false,
    };
}

/// The size of a header that was read without a fault: at most 88.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a header's size is below 128")]
fn short(header_size: u32) -> u8 {
    header_size as u8
}

/// An index into what waits, which is in memory.
#[inline(always)]
fn place(packed: u64) -> usize {
    usize::try_from(packed).unwrap_or(usize::MAX)
}

/// When sorting begins: so many events, or bytes from the first to the last of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    pub(super) events: usize,
    pub(super) bytes: u64,
}

/// Events that wait, in file order, and those of them that are ready, by time.
#[derive(Debug)]
pub(super) struct Queue {
    marks: Vec<Mark>,
    /// The time each mark counts as: its own, or the watermark it came behind.
    times: Vec<u64>,
    /// Pairs of activity ids that marks refer to.
    activities: Vec<[Guid; 2]>,
    /// The pairs of the batch before, while those of the marks that wait on are taken over.
    activities_before: Vec<[Guid; 2]>,
    /// Times and places in `marks`, packed, by time. Those before `delivered` are done, those from
    /// `ready` on wait on.
    sorted: Vec<u64>,
    scratch: Vec<u64>,
    delivered: usize,
    ready: usize,
    place_bits: u32,
    /// The newest time that may have been delivered.
    watermark: u64,
    pub(super) out_of_order: u64,
    /// Sort when this is reached.
    pub(super) next: Fill,
}

impl Queue {
    pub(super) fn new(next: Fill) -> Queue {
        Queue {
            marks: Vec::new(),
            times: Vec::new(),
            activities: Vec::new(),
            activities_before: Vec::new(),
            sorted: Vec::new(),
            scratch: Vec::new(),
            delivered: 0,
            ready: 0,
            place_bits: 0,
            watermark: 0,
            out_of_order: 0,
            next,
        }
    }

    /// Forgets everything but the memory it has.
    pub(super) fn begin_again(&mut self, next: Fill) {
        self.marks.clear();
        self.times.clear();
        self.activities.clear();
        self.activities_before.clear();
        self.sorted.clear();
        (self.delivered, self.ready, self.watermark, self.out_of_order) = (0, 0, 0, 0);
        self.next = next;
    }

    /// Number of events that wait.
    pub(super) fn waiting(&self) -> usize {
        self.marks.len() - self.delivered
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Whether events are ready.
    pub(super) fn has_ready(&self) -> bool {
        self.delivered < self.ready
    }

    /// Bytes of the stream from the first event that waits to the last.
    pub(super) fn bytes(&self) -> u64 {
        match (self.marks.first(), self.marks.last()) {
            (Some(first), Some(last)) => last.payload_at.saturating_sub(first.payload_at),
            _ => 0,
        }
    }

    /// Stream position of the first event that waits.
    pub(super) fn position(&self) -> Option<u64> {
        self.marks.first().map(|mark| mark.payload_at - u64::from(mark.header_size))
    }

    /// Stream position of the last event that waits.
    pub(super) fn newest_position(&self) -> Option<u64> {
        self.marks.last().map(|mark| mark.payload_at - u64::from(mark.header_size))
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.marks.len() >= self.next.events || self.bytes() >= self.next.bytes
    }

    /// Takes an event.
    #[inline(always)]
    pub(super) fn push(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) {
        let resolved = context.resolved(header);
        let is_v6 = context.is_v6();
        let extra = if is_v6 {
            resolved.labels
        } else if header.activity.is_zero() && header.related_activity.is_zero() {
            NO_SLOT
        } else {
            self.activity_pair([header.activity, header.related_activity])
        };
        let time = header.timestamp.max(self.watermark);
        self.out_of_order += u64::from(header.timestamp < self.watermark);
        if header.is_sorted {
            self.watermark = time;
        }
        self.marks.push(Mark {
            timestamp: header.timestamp,
            thread: header.thread,
            capture_thread: header.capture_thread,
            payload_at,
            payload_size: header.payload_size,
            metadata: resolved.metadata,
            stack: if context.is_v3() { header.stack_size } else { resolved.stack },
            extra,
            thread_row_or_id: if is_v6 { resolved.thread } else { header.metadata_id },
            sequence: header.sequence,
            processor: header.processor,
            header_size: short(header.header_size),
            is_sorted: header.is_sorted,
        });
        self.times.push(time);
    }

    /// Whether younger events may have been delivered already.
    #[inline(always)]
    pub(super) fn is_late(&self, header: &BlobHeader) -> bool {
        header.timestamp < self.watermark
    }

    /// Heeds what an event that does not wait tells of the order.
    #[inline(always)]
    pub(super) fn pass(&mut self, header: &BlobHeader) {
        self.out_of_order += u64::from(self.is_late(header));
        if header.is_sorted {
            self.raise_watermark(header.timestamp);
        }
    }

    /// The newest time that may have been delivered.
    pub(super) fn watermark(&self) -> u64 {
        self.watermark
    }

    #[inline(always)]
    pub(super) fn raise_watermark(&mut self, time: u64) {
        self.watermark = self.watermark.max(time);
    }

    /// The time that the next event that is ready counts as, and the stream position of its payload.
    #[inline]
    pub(super) fn peek(&self) -> Option<(u64, u64)> {
        if !self.has_ready() {
            return None;
        }
        let place = self.place_of(self.delivered);
        Some((self.times.get(place).copied()?, self.marks.get(place)?.payload_at))
    }

    /// The number of a pair of activity ids. Runs of events share theirs.
    fn activity_pair(&mut self, pair: [Guid; 2]) -> u32 {
        if self.activities.last() != Some(&pair) {
            self.activities.push(pair);
        }
        u32::try_from(self.activities.len().saturating_sub(1)).unwrap_or(NO_SLOT)
    }

    /// The next event that is ready: writes its header, and gives its references and the stream
    /// position of its payload.
    #[inline]
    pub(super) fn pop(&mut self, context: &Context, header: &mut BlobHeader) -> Option<(Resolved, u64)> {
        if self.delivered >= self.ready {
            return None;
        }
        let place = self.place_of(self.delivered);
        self.delivered += 1;
        let mark = self.marks.get(place).unwrap_or(&Mark::NOTHING);
        let is_v6 = context.is_v6();
        let (metadata_id, thread_row) = if is_v6 {
            (context.tables.metadata.row(mark.metadata).map_or(0, |row| row.id), mark.thread_row_or_id)
        } else {
            (mark.thread_row_or_id, NO_SLOT)
        };
        let labels = if is_v6 { mark.extra } else { NO_SLOT };
        if !is_v6 && mark.extra != NO_SLOT {
            let pair = self.activities.get(mark.extra as usize).copied().unwrap_or_default();
            [header.activity, header.related_activity] = pair;
        } else {
            (header.activity, header.related_activity) = (Guid::ZERO, Guid::ZERO);
        }
        header.metadata_id = metadata_id;
        header.sequence = mark.sequence;
        header.thread = mark.thread;
        header.capture_thread = mark.capture_thread;
        header.processor = mark.processor;
        header.timestamp = mark.timestamp;
        header.payload_size = mark.payload_size;
        header.header_size = u32::from(mark.header_size);
        header.is_sorted = mark.is_sorted;
        let stack = if context.is_v3() {
            header.stack_size = mark.stack;
            NO_SLOT
        } else {
            mark.stack
        };
        let resolved = Resolved { metadata: mark.metadata, stack, thread: thread_row, labels };
        Some((resolved, mark.payload_at))
    }

    #[inline]
    fn place_of(&self, index: usize) -> usize {
        let packed = self.sorted.get(index).copied().unwrap_or_default();
        place(packed & ((1u64 << self.place_bits) - 1))
    }

    /// Sorts what waits, and makes what is not above the watermark ready. With `at_least`, so many
    /// of the oldest become ready all the same; `true`: that was needed.
    #[inline(never)]
    pub(super) fn sort_to_watermark(&mut self, at_least: usize) -> bool {
        self.sort();
        let watermark = self.watermark;
        let (times, mask) = (&self.times, (1u64 << self.place_bits) - 1);
        let may_go = |packed: &u64| times.get(place(*packed & mask)).is_some_and(|time| *time <= watermark);
        self.ready = self.sorted.partition_point(may_go);
        let is_forced = self.ready < at_least.min(self.sorted.len());
        if is_forced {
            self.ready = at_least.min(self.sorted.len());
            let last = self.place_of(self.ready.saturating_sub(1));
            let time = self.times.get(last).copied().unwrap_or_default();
            self.watermark = self.watermark.max(time);
        }
        is_forced
    }

    /// Makes everything ready.
    #[inline(never)]
    pub(super) fn sort_all(&mut self) {
        self.sort();
        self.ready = self.sorted.len();
        let newest = self.times.iter().copied().max().unwrap_or_default();
        self.watermark = self.watermark.max(newest);
    }

    /// Sorts the places of all marks by time. Time and place are packed into one integer, so that
    /// equal times keep file order and nothing but integers is moved.
    fn sort(&mut self) {
        self.delivered = 0;
        self.sorted.clear();
        self.place_bits = usize::BITS - self.times.len().leading_zeros();
        let (mut least, mut most, mut is_sorted, mut last) = (u64::MAX, 0, true, 0);
        for &time in &self.times {
            least = least.min(time);
            most = most.max(time);
            is_sorted &= last <= time;
            last = time;
        }
        let range = most.saturating_sub(least);
        if range.leading_zeros() < self.place_bits {
            return self.sort_wide();
        }
        let bits = self.place_bits;
        let packed = self.times.iter().enumerate().map(|(place, time)| (time - least) << bits | place as u64);
        self.sorted.extend(packed);
        if !is_sorted {
            radix::sort(&mut self.sorted, &mut self.scratch, bits, u64::BITS - range.leading_zeros());
        }
    }

    /// The same for times too far apart to be packed, which no real stream has.
    #[cold]
    fn sort_wide(&mut self) {
        self.sorted.extend(0..self.times.len() as u64);
        let times = &self.times;
        self.sorted.sort_by_key(|place| times.get(self::place(*place)).copied().unwrap_or_default());
    }

    /// Forgets the events that were delivered, when all that were ready were. `false`: there was
    /// nothing to forget.
    pub(super) fn finish(&mut self) -> bool {
        if self.ready == 0 || self.delivered < self.ready {
            return false;
        }
        if self.ready >= self.sorted.len() {
            self.marks.clear();
            self.times.clear();
            self.activities.clear();
        } else {
            self.keep_waiting();
        }
        self.sorted.clear();
        (self.delivered, self.ready) = (0, 0);
        true
    }

    /// Keeps the marks that were not ready, in file order.
    fn keep_waiting(&mut self) {
        let mask = (1u64 << self.place_bits) - 1;
        let waiting = self.sorted.get_mut(self.ready..).unwrap_or_default();
        waiting.iter_mut().for_each(|packed| *packed &= mask);
        waiting.sort_unstable();
        for (index, place) in waiting.iter().enumerate() {
            let place = self::place(*place);
            if place != index {
                self.marks.copy_within(place..place + 1, index);
                self.times.copy_within(place..place + 1, index);
            }
        }
        let count = waiting.len();
        self.marks.truncate(count);
        self.times.truncate(count);
        if !self.activities.is_empty() {
            self.keep_activities();
        }
    }

    /// Keeps the activity pairs of the marks that wait on. (In version 6 there are none, and marks
    /// refer to labels.)
    fn keep_activities(&mut self) {
        std::mem::swap(&mut self.activities, &mut self.activities_before);
        self.activities.clear();
        let mut marks = std::mem::take(&mut self.marks);
        for mark in marks.iter_mut().filter(|mark| mark.extra != NO_SLOT) {
            let pair = self.activities_before.get(mark.extra as usize).copied().unwrap_or_default();
            mark.extra = self.activity_pair(pair);
        }
        self.marks = marks;
    }
}

impl Take for Queue {
    #[inline(always)]
    fn take(&mut self, context: &Context, header: &BlobHeader, _: &[u8], payload_at: u64) -> bool {
        self.push(context, header, payload_at);
        let first = self.marks.first().map_or(payload_at, |mark| mark.payload_at);
        self.marks.len() < self.next.events && payload_at.wrapping_sub(first) < self.next.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_cache_line() {
        assert_eq!(size_of::<Mark>(), 64);
    }
}
