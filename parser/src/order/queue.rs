//! Events that wait for their turn, as marks, and when and how they are sorted.

use super::mark::{Mark, short};
use super::packing::{Packing, place};
use super::radix;
use crate::blob::BlobHeader;
use crate::context::{Context, Resolved};
use crate::event::Event;
use crate::reader::{Take, Visit};
use crate::tables::NO_SLOT;
use crate::work;
use nettrace_guid::Guid;

/// Bits of a word of [`Queue::places`].
const PLACES_A_WORD: usize = 64;

/// The number of events that room is made for at first.
const LEAST_ROOM: usize = 256;

/// When sorting begins: at this number of events, or of bytes from the first to the last of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    pub(super) events: usize,
    pub(super) bytes: u64,
}

/// Events that wait, in file order, and those of them that are ready, by time.
#[derive(Debug)]
pub(super) struct Queue {
    /// The first `count` of these are events that wait; what is behind them is room for more.
    marks: Vec<Mark>,
    /// As long as `marks`. While events are taken: the time that each counts as, its own or the watermark
    /// it came behind. Once they are sorted: times and places in `marks`, packed, by time; then those
    /// before `delivered` are done, and those from `ready` on wait on.
    keys: Vec<u64>,
    scratch: Vec<u64>,
    /// A bit for each place in `marks`, while those that wait on are found.
    places: Vec<u64>,
    count: usize,
    delivered: usize,
    ready: usize,
    packing: Packing,
    /// Pairs of activity ids that marks refer to.
    activities: Vec<[Guid; 2]>,
    /// The pairs of the batch before, while those of the marks that wait on are taken over.
    activities_before: Vec<[Guid; 2]>,
    /// The newest time that may have been delivered.
    watermark: u64,
    /// The newest time of an event that did not wait and promised nothing.
    newest_passed: u64,
    pub(super) out_of_order: u64,
    /// Sort when this is reached.
    next: Fill,
    /// Stream position of a payload that is `next.bytes` behind the first.
    full_at: u64,
}

impl Queue {
    pub(super) fn new(next: Fill) -> Queue {
        Queue {
            marks: Vec::new(),
            keys: Vec::new(),
            scratch: Vec::new(),
            places: Vec::new(),
            count: 0,
            delivered: 0,
            ready: 0,
            packing: Packing::default(),
            activities: Vec::new(),
            activities_before: Vec::new(),
            watermark: 0,
            newest_passed: 0,
            out_of_order: 0,
            next,
            full_at: 0,
        }
    }

    /// Forgets everything but the memory it has.
    pub(super) fn begin_again(&mut self, next: Fill) {
        self.activities.clear();
        self.activities_before.clear();
        self.packing.times.clear();
        (self.count, self.delivered, self.ready) = (0, 0, 0);
        (self.watermark, self.newest_passed, self.out_of_order) = (0, 0, 0);
        self.plan(next);
    }

    /// Sets when to sort.
    pub(super) fn plan(&mut self, next: Fill) {
        self.next = next;
        self.full_at = self.first().map_or(0, |first| first.payload_at.saturating_add(next.bytes));
    }

    /// Number of events that wait.
    pub(super) fn waiting(&self) -> usize {
        self.count.saturating_sub(self.delivered)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether events are ready.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        self.delivered < self.ready
    }

    fn first(&self) -> Option<&Mark> {
        self.marks.first().filter(|_| self.count > 0)
    }

    fn last(&self) -> Option<&Mark> {
        self.marks.get(self.count.checked_sub(1)?)
    }

    /// Bytes of the stream from the first event that waits to the last.
    pub(super) fn bytes(&self) -> u64 {
        match (self.first(), self.last()) {
            (Some(first), Some(last)) => last.payload_at.saturating_sub(first.payload_at),
            _ => 0,
        }
    }

    /// Stream position of the first event that waits.
    pub(super) fn position(&self) -> Option<u64> {
        self.first().map(|mark| mark.payload_at.saturating_sub(u64::from(mark.header_size)))
    }

    /// Stream position of the last event that waits.
    pub(super) fn newest_position(&self) -> Option<u64> {
        self.last().map(|mark| mark.payload_at.saturating_sub(u64::from(mark.header_size)))
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count >= self.next.events || self.bytes() >= self.next.bytes
    }

    /// Takes an event. `false`: that is enough of them.
    #[inline(always)]
    pub(super) fn push(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) -> bool {
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
        self.out_of_order = self.out_of_order.wrapping_add(u64::from(header.timestamp < self.watermark));
        if header.is_sorted {
            self.watermark = time;
        }
        let at = self.count;
        if at == 0 || at >= self.keys.len() {
            self.make_room(payload_at);
        }
        if let (Some(key), Some(mark)) = (self.keys.get_mut(at), self.marks.get_mut(at)) {
            *key = time;
            *mark = Mark {
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
            };
        }
        self.count = at.wrapping_add(1);
        self.count < self.next.events && payload_at < self.full_at
    }

    /// Makes room for an event; the first one tells where the stretch ends that may wait.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, payload_at: u64) {
        if self.count == 0 {
            self.full_at = payload_at.saturating_add(self.next.bytes);
        }
        if self.count >= self.keys.len() {
            // Room that is made is memory that is written, so no more of it than is planned for.
            let doubled = self.count.saturating_mul(2).max(LEAST_ROOM);
            let room = doubled.min(self.next.events.saturating_add(1)).max(self.count.saturating_add(1));
            self.marks.resize(room, Mark::NOTHING);
            self.keys.resize(room, 0);
        }
    }

    /// Whether younger events may have been delivered already.
    #[inline(always)]
    pub(super) fn is_late(&self, header: &BlobHeader) -> bool {
        header.timestamp < self.watermark
    }

    /// Heeds what an event that does not wait says about the order.
    #[inline(always)]
    pub(super) fn pass(&mut self, header: &BlobHeader) {
        self.out_of_order = self.out_of_order.wrapping_add(u64::from(self.is_late(header)));
        if header.is_sorted {
            self.raise_watermark(header.timestamp);
        } else {
            self.newest_passed = self.newest_passed.max(header.timestamp);
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
        let key = *self.keys.get(self.delivered)?;
        Some((self.packing.time(key), self.marks.get(self.packing.place(key))?.payload_at))
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
        if !self.has_ready() {
            return None;
        }
        let key = self.keys.get(self.delivered).copied().unwrap_or_default();
        self.delivered = self.delivered.wrapping_add(1);
        let mark = self.marks.get(self.packing.place(key)).unwrap_or(&Mark::NOTHING);
        let resolved = mark.recall(header, context, context.is_v6(), &self.activities);
        Some((resolved, mark.payload_at))
    }

    /// Gives the events that are ready to `visitor`, for as long as it wants more.
    #[inline(always)]
    pub(super) fn give(&mut self, context: &Context, window: &[u8], start: u64, visitor: &mut impl Visit) {
        // A loop each, in which the compiler knows what there is to recall.
        if context.is_v6() {
            self.give_of::<true>(context, window, start, visitor);
        } else {
            self.give_of::<false>(context, window, start, visitor);
        }
    }

    #[inline(always)]
    fn give_of<const IS_V6: bool>(
        &mut self,
        context: &Context,
        window: &[u8],
        start: u64,
        visitor: &mut impl Visit,
    ) {
        let (marks, mask) = (self.marks.as_slice(), self.packing.mask());
        let mut left = self.keys.get(self.delivered..self.ready).unwrap_or_default().iter();
        while visitor.wants_more()
            && let Some(key) = left.next()
        {
            let mark = marks.get(place(*key & mask)).unwrap_or(&Mark::NOTHING);
            // A local, which needs no place in memory if the visitor is inlined.
            let mut header = BlobHeader::default();
            let resolved = mark.recall(&mut header, context, IS_V6, &self.activities);
            visitor.event(Event::new(context, &header, Some(resolved), mark.payload_at, window, start));
        }
        self.delivered = self.ready.saturating_sub(left.len());
    }

    /// Sorts what waits, and makes what is not above the watermark ready. With `at_least`, so many
    /// of the oldest become ready all the same; `true`: that was needed.
    #[inline(never)]
    pub(super) fn sort_to_watermark(&mut self, at_least: usize) -> bool {
        self.sort();
        let (packing, watermark) = (&self.packing, self.watermark);
        let keys = self.keys.get(..self.count).unwrap_or_default();
        self.ready = keys.partition_point(|key| packing.time(*key) <= watermark);
        let at_least = at_least.min(self.count);
        let is_forced = self.ready < at_least;
        if is_forced {
            self.ready = at_least;
            self.raise_to_ready();
        }
        if self.ready == 0 {
            self.keep_waiting();
        }
        is_forced
    }

    /// Makes everything ready.
    #[inline(never)]
    pub(super) fn sort_all(&mut self) {
        self.sort();
        self.ready = self.count;
        self.raise_to_ready();
        self.raise_watermark(self.newest_passed);
    }

    /// What is ready may have been delivered.
    fn raise_to_ready(&mut self) {
        let newest = self.ready.checked_sub(1).and_then(|last| self.keys.get(last));
        self.raise_watermark(newest.map_or(0, |key| self.packing.time(*key)));
    }

    /// Sorts the places of all marks by time.
    fn sort(&mut self) {
        work::count(self.count);
        self.delivered = 0;
        let bits = usize::BITS.saturating_sub(self.count.leading_zeros());
        let times = self.keys.get_mut(..self.count).unwrap_or_default();
        let (mut least, mut most, mut is_sorted, mut last) = (u64::MAX, 0, true, 0);
        for &time in &*times {
            least = least.min(time);
            most = most.max(time);
            is_sorted &= last <= time;
            last = time;
        }
        (self.packing.place_bits, self.packing.least) = (bits, least);
        let range = most.saturating_sub(least);
        if range.leading_zeros() < bits {
            return self.sort_wide();
        }
        for (place, key) in (0u64..).zip(&mut *times) {
            *key = key.wrapping_sub(least) << bits | place;
        }
        if !is_sorted {
            let time_bits = u64::BITS.saturating_sub(range.leading_zeros());
            radix::sort(&mut self.keys, &mut self.scratch, self.count, bits, time_bits);
        }
    }

    /// The same for times too far apart to be packed.
    #[cold]
    fn sort_wide(&mut self) {
        let keys = self.keys.get_mut(..self.count).unwrap_or_default();
        self.packing.times.extend_from_slice(keys);
        (0u64..).zip(&mut *keys).for_each(|(place, key)| *key = place);
        let packing = &self.packing;
        keys.sort_by_key(|key| packing.time(*key));
    }

    /// Forgets the events that were delivered, when all that were ready were. `false`: there was
    /// nothing to forget.
    pub(super) fn finish(&mut self) -> bool {
        if self.ready == 0 || self.has_ready() {
            return false;
        }
        self.keep_waiting();
        true
    }

    /// Keeps the marks that are not ready, in file order, and has times for keys again.
    fn keep_waiting(&mut self) {
        let (packing, room) = (&self.packing, self.keys.len());
        let waiting = self.keys.get(self.ready..self.count).unwrap_or_default();
        // A bit for each place brings them into file order without comparisons.
        self.places.clear();
        if !waiting.is_empty() {
            self.places.resize(room.div_ceil(PLACES_A_WORD), 0);
            self.scratch.resize(room, 0);
        }
        for key in waiting {
            let place = packing.place(*key);
            if let (Some(time), Some(word)) =
                (self.scratch.get_mut(place), self.places.get_mut(place / PLACES_A_WORD))
            {
                *time = packing.time(*key);
                *word |= 1 << (place % PLACES_A_WORD);
            }
        }
        let mut count = 0;
        for (index, word) in self.places.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                let place = index.wrapping_mul(PLACES_A_WORD).wrapping_add(word.trailing_zeros() as usize);
                word &= word.wrapping_sub(1);
                self.marks.copy_within(place..=place, count);
                if let (Some(key), Some(time)) = (self.keys.get_mut(count), self.scratch.get(place)) {
                    *key = *time;
                }
                count = count.wrapping_add(1);
            }
        }
        self.count = count;
        (self.delivered, self.ready) = (0, 0);
        self.packing.times.clear();
        self.plan(self.next);
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
        let waiting = marks.iter_mut().take(self.count);
        for mark in waiting.filter(|mark| mark.extra != NO_SLOT) {
            let pair = self.activities_before.get(mark.extra as usize).copied().unwrap_or_default();
            mark.extra = self.activity_pair(pair);
        }
        self.marks = marks;
    }
}

impl Take for Queue {
    #[inline(always)]
    fn take(&mut self, context: &Context, header: &BlobHeader, _: &[u8], payload_at: u64) -> bool {
        self.push(context, header, payload_at)
    }
}
