//! Queues events in file order, and delivers them in time order.

use super::delivered::{Delivered, Receive};
use super::queued_event::{Ids, QueuedEvent, Segment, Segments, low_bits};
use super::runs::Runs;
use crate::blob::BlobHeader;
use crate::context::{Context, Resolved};
use crate::event::Event;
use crate::reader::BlobForm;
use crate::tables::{Covered, NO_SLOT};
use crate::work;

/// Minimum capacity, in events.
const MIN_CAPACITY: usize = 256;
/// Minimum number of delivered events whose space is reclaimed by moving the other events.
const MIN_RECLAIMED: usize = 4096;

/// Value that is the upper half of no thread id.
const UNSETTLED: u64 = u64::MAX;
/// Bit that is set in the upper half of no thread id.
const PASSED: u64 = 1 << 63;

/// Number of queued events, and number of bytes from the first to the last of them, at which
/// the queue counts as full.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    pub(super) events: usize,
    pub(super) bytes: u64,
}

/// Queued events, as in the diagram in [the module](super).
///
/// Queuing costs more than reading does, and nearly all of its cost is memory: for each event,
/// a record of 32 bytes is written and soon read again. So records do not move until they are
/// delivered, values that events share lie in segments, and values that can be found again
/// (the payload, the type's row) are not stored. Times within a run ascend, so a heap needs
/// only the first event of each run, and the usual event is compared only with the previous
/// event.
#[derive(Debug)]
pub(super) struct Queue {
    /// The first `count` records, in file order, are queued as long as a run contains them.
    /// Records after them are spare capacity, because assigning to a record is cheaper than
    /// `push`, which checks and updates the length.
    events: Vec<QueuedEvent>,
    count: usize,
    /// Number of delivered events among the first `count` records.
    gone: usize,
    runs: Runs,
    segments: Segments,
    /// Number of the newest segment.
    segment: u32,
    /// Base of the newest segment.
    base: u64,
    /// Upper half of the thread id of the newest segment, which is compared with the next event's.
    /// So that the comparison fails, it is [`UNSETTLED`] if the next event may need another segment
    /// for another reason, and has [`PASSED`] if the filter has taken the events between.
    high: u64,
    /// Processor of the newest segment.
    processor: u32,
    /// Whether the newest segment has activities or labels.
    has_extra: bool,
    /// Ranges of ids that are defined for the events of the current block.
    covered: Covered,
    /// Stream position of the end of the current block.
    block_end: u64,
    is_v6: bool,
    /// Number of records at which queuing pauses, because the queue is full or needs more capacity.
    stop: usize,
    /// Minimum time of an event that continues the newest run and is not late.
    last: u64,
    /// Newest time of any queued or delivered event outside the newest run.
    newest: u64,
    /// Newest time that may have been delivered.
    watermark: u64,
    /// Newest time of an event that the filter took and that was not marked sorted. It raises
    /// the watermark at the next sequence point, as if the event had been queued, so that the
    /// number of events out of order does not depend on the filter.
    newest_passed: u64,
    pub(super) out_of_order: u64,
    next: Fill,
    /// Stream position from which on the queue counts as full. It is `next.bytes` after the payload
    /// of the first queued event.
    full_at: u64,
}

impl Queue {
    pub(super) fn new(next: Fill) -> Queue {
        Queue {
            events: Vec::new(),
            count: 0,
            gone: 0,
            runs: Runs::default(),
            segments: Segments::default(),
            segment: 0,
            base: 0,
            high: UNSETTLED,
            processor: 0,
            has_extra: false,
            covered: Covered::default(),
            block_end: 0,
            is_v6: false,
            stop: 0,
            last: 0,
            newest: 0,
            watermark: 0,
            newest_passed: 0,
            out_of_order: 0,
            next,
            full_at: 0,
        }
    }

    /// Discards all events and times, but keeps the allocated memory.
    pub(super) fn begin_again(&mut self, next: Fill) {
        self.clear();
        (self.watermark, self.newest_passed, self.out_of_order) = (0, 0, 0);
        (self.last, self.newest) = (0, 0);
        self.plan(next);
    }

    /// Discards all queued events.
    fn clear(&mut self) {
        (self.count, self.gone) = (0, 0);
        self.runs.clear();
        self.segments.clear();
        self.high = UNSETTLED;
    }

    /// Sets the numbers of events and bytes at which the queue counts as full.
    pub(super) fn plan(&mut self, next: Fill) {
        self.next = next;
        self.full_at = self.first().map_or(0, |first| first.saturating_add(next.bytes));
    }

    /// Returns the number of queued events.
    pub(super) fn waiting(&self) -> usize {
        self.count.saturating_sub(self.gone)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == self.gone
    }

    /// Returns whether events are ready to be delivered.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        self.runs.is_ready()
    }

    /// Returns the first queued event.
    fn first_event(&self) -> Option<&QueuedEvent> {
        self.events.get(self.runs.first()).filter(|_| !self.is_empty())
    }

    fn last_event(&self) -> Option<&QueuedEvent> {
        self.events.get(self.count.checked_sub(1)?).filter(|_| !self.is_empty())
    }

    /// Returns the stream position of the first queued event's payload.
    fn first(&self) -> Option<u64> {
        self.first_event().map(|event| self.segments.segment_of(event).payload_at(event))
    }

    /// Returns the number of bytes of the stream from the first to the last queued event.
    pub(super) fn bytes(&self) -> u64 {
        let last = self.last_event().map(|event| self.segments.segment_of(event).payload_at(event));
        last.unwrap_or(0).saturating_sub(self.first().unwrap_or(0))
    }

    /// Returns the stream position of the first queued event.
    pub(super) fn position(&self) -> Option<u64> {
        self.first_event().map(|event| self.segments.segment_of(event).position(event))
    }

    /// Returns the stream position of the last queued event.
    pub(super) fn last_position(&self) -> Option<u64> {
        self.last_event().map(|event| self.segments.segment_of(event).position(event))
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.waiting() >= self.next.events || self.bytes() >= self.next.bytes
    }

    /// Prepares for the events of a block that ends at `end`.
    #[inline(never)]
    pub(super) fn begin(&mut self, end: u64, covered: &Covered) {
        self.covered = *covered;
        self.block_end = end;
        self.high = UNSETTLED;
        self.make_room();
        // One index serves both limits, because each event is compared with it.
        self.stop = self.max_index().min(self.events.len());
    }

    /// Returns the number of records up to which events may be queued, with room for at least
    /// one event.
    fn max_index(&self) -> usize {
        self.gone.saturating_add(self.next.events).max(self.count.saturating_add(1))
    }

    fn make_room(&mut self) {
        if self.count >= self.events.len() {
            // New capacity is written to, so no more than will be used.
            let room = self.count.saturating_mul(2).max(MIN_CAPACITY);
            let room = room.min(self.max_index()).max(self.count.saturating_add(1));
            self.events.resize(room, QueuedEvent::NOTHING);
        }
    }

    /// Allocates capacity if the events of a block had to pause only for lack of it. Returns
    /// `true` if they can go on.
    pub(super) fn grow(&mut self) -> bool {
        let is_out_of_room = self.count >= self.events.len() && !self.is_full();
        if is_out_of_room {
            self.make_room();
        }
        is_out_of_room
    }

    /// Queues an event that may have undefined ids or an unusual header.
    pub(super) fn push(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) {
        // No value is taken over from the previous event.
        self.begin(payload_at, &context.tables.covered);
        self.settle(context, header, payload_at);
        self.put(context, header, payload_at, ids(context, header));
        // The special values of this event do not apply to the next.
        self.high = UNSETTLED;
    }

    /// Queues the next event of a block, whose ids are all defined. Returns `false` if the block
    /// must pause after this event.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload_at: u64,
        form: BlobForm,
    ) -> bool {
        let changes = form.changes_sticky_fields.unwrap_or_else(|| {
            let has_guids = !(header.activity.is_zero() && header.related_activity.is_zero());
            (header.processor != self.processor)
                | has_guids
                | (header.label_list != 0)
                | self.has_extra
        });
        let high = if form.is_v6 { 0 } else { upper_half(header.thread) };
        if changes | (high != self.high) {
            return if high | PASSED == self.high | PASSED && !form.is_v6 {
                self.append_changed(context, header, payload_at)
            } else {
                self.append_unsettled(context, header, payload_at)
            };
        }
        let ids = self.ids_of_run(header, form.is_v6);
        self.put(context, header, payload_at, ids)
    }

    /// Returns the slots of ids that are all defined, and in order.
    #[inline(always)]
    fn ids_of_run(&self, header: &BlobHeader, is_v6: bool) -> Ids {
        let thread = low_bits_of_thread(header.thread);
        Ids {
            metadata: self.covered.metadata.slot(header.metadata_id),
            stack: self.covered.stacks.slot(header.stack),
            thread: if is_v6 { self.covered.threads.slot(thread) } else { thread },
        }
    }

    /// Queues the next event of a block, before version 6, if it differs from the last queued event
    /// in its processor or its activity ids, or the filter took events between them, but the upper
    /// half of its thread id is the same. In the trace of a server that handles many requests at a
    /// time, most events are like this.
    #[inline(never)]
    fn append_changed(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) -> bool {
        let extra = self.segments.intern_extra(header);
        let segment = Segment {
            capture_thread: header.capture_thread,
            processor: header.processor,
            extra,
            sequence: self.sequence_at_first(context, header),
            ..*self.segments.newest()
        };
        self.segment = self.segments.intern(segment);
        (self.processor, self.has_extra) = (segment.processor, extra != NO_SLOT);
        self.high &= !PASSED;
        let ids = self.ids_of_run(header, false);
        self.put(context, header, payload_at, ids)
    }

    /// Queues the next event of a block, which may need another segment than the previous event.
    #[inline(never)]
    fn append_unsettled(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload_at: u64,
    ) -> bool {
        self.settle(context, header, payload_at);
        self.put(context, header, payload_at, ids(context, header))
    }

    #[inline(always)]
    fn put(&mut self, context: &Context, header: &BlobHeader, payload_at: u64, ids: Ids) -> bool {
        // The usual event continues its run, and is only stored. `last` is never below the
        // watermark, so one comparison finds an event that begins a run or is late. A late event
        // is queued with the time of the watermark; its segment stores the difference.
        let mut time = header.timestamp;
        if time < self.last {
            time = self.turn_back(context, header, payload_at);
        }
        let at = self.count;
        if let Some(event) = self.events.get_mut(at) {
            *event = QueuedEvent::new(
                time,
                header,
                within_4_gib(payload_at, self.base),
                ids,
                self.segment,
            );
        }
        self.last = time;
        self.count = at.wrapping_add(1);
        if header.is_sorted {
            self.watermark = time;
        }
        self.count < self.stop && payload_at < self.full_at
    }

    /// Sets the segment of the next event. If the queue is empty, the event also determines the
    /// position at which the queue is full; if no run is open, it starts one.
    #[inline(never)]
    fn settle(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) {
        if self.is_empty() {
            self.full_at = payload_at.saturating_add(self.next.bytes);
        }
        if !self.runs.is_open() {
            self.runs.begin(self.count);
            // Any event continues the new run, unless it is late.
            self.last = self.watermark;
        }
        self.is_v6 = context.is_v6();
        let resolved = context.resolved(header);
        let has_thread_row = self.is_v6 && resolved.thread != NO_SLOT;
        let segment = Segment {
            capture_thread: header.capture_thread,
            // The base is kept if it suits the rest of the block.
            base: match self.segments.newest().base {
                base if payload_at >= base
                    && self.block_end.saturating_sub(base) <= u64::from(u32::MAX) =>
                {
                    base
                }
                _ => payload_at,
            },
            late_by: self.watermark.saturating_sub(header.timestamp),
            thread: match (self.is_v6, has_thread_row) {
                (false, _) => upper_half(header.thread) << 32,
                (true, true) => 0,
                (true, false) => header.thread,
            },
            processor: header.processor,
            sequence: self.sequence_at_first(context, header),
            extra: if self.is_v6 { resolved.labels } else { self.segments.intern_extra(header) },
            metadata_id: if resolved.metadata == NO_SLOT { header.metadata_id } else { 0 },
        };
        self.segment = self.segments.intern(segment);
        (self.base, self.processor) = (segment.base, segment.processor);
        self.has_extra = segment.extra != NO_SLOT;
        // The next event needs its own segment if this one is late or has no type. It must be
        // looked up if slots cannot be computed from ids.
        let is_unsettled = segment.late_by != 0
            || resolved.metadata == NO_SLOT
            || !self.covered.has_slots_in_order;
        self.high = match (is_unsettled, self.is_v6) {
            (true, _) => UNSETTLED,
            (false, true) => 0,
            (false, false) => upper_half(segment.thread),
        };
    }

    /// Returns the sequence number that an event at index 0 would have: those of a thread increase as
    /// indices do.
    #[inline]
    fn sequence_at_first(&self, context: &Context, header: &BlobHeader) -> u32 {
        if context.is_v3() { 0 } else { header.sequence.wrapping_sub(low_bits(self.count)) }
    }

    /// Handles an event that is older than the previous one or late. Starts a run if necessary,
    /// and returns the time by which the event is ordered.
    #[inline(never)]
    fn turn_back(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) -> u64 {
        if self.is_late(header) {
            self.out_of_order = self.out_of_order.wrapping_add(1);
            self.settle(context, header, payload_at);
        }
        let time = header.timestamp.max(self.watermark);
        if time < self.last {
            self.newest = self.newest.max(self.last);
            self.runs.begin(self.count);
        }
        time
    }

    /// Returns whether newer events may have been delivered already.
    #[inline(always)]
    pub(super) fn is_late(&self, header: &BlobHeader) -> bool {
        header.timestamp < self.watermark
    }

    /// Accounts for an event that the filter took: its time affects the order.
    #[inline(always)]
    pub(super) fn note_passed(&mut self, header: &BlobHeader) {
        self.out_of_order = self.out_of_order.wrapping_add(u64::from(self.is_late(header)));
        if header.is_sorted {
            self.raise_watermark(header.timestamp);
        } else {
            self.newest_passed = self.newest_passed.max(header.timestamp);
        }
        // The sequence number advanced and the index in the queue did not, so the next event
        // needs another segment.
        self.high |= PASSED;
    }

    /// Returns the newest time that may have been delivered.
    pub(super) fn watermark(&self) -> u64 {
        self.watermark
    }

    #[inline(always)]
    pub(super) fn raise_watermark(&mut self, time: u64) {
        self.watermark = self.watermark.max(time);
        self.last = self.last.max(self.watermark);
    }

    /// Removes the next event that is ready. Writes its header to `header`, and returns its slots
    /// and the stream position of its payload.
    #[inline]
    pub(super) fn pop(
        &mut self,
        context: &Context,
        header: &mut BlobHeader,
    ) -> Option<(Resolved, u64)> {
        let place = self.runs.next()?;
        let event = *self.events.get(place)?;
        self.gone = self.gone.wrapping_add(1);
        self.runs.mark_one_delivered(self.events.get(..self.count).unwrap_or_default());
        let segment = self.segments.segment_of(&event);
        let row = context.tables.metadata.row(event.metadata);
        let resolved = if context.is_v6() {
            event.recall::<6>(place, segment, header, context, row)
        } else if context.is_v3() {
            event.recall::<3>(place, segment, header, context, row)
        } else {
            event.recall::<4>(place, segment, header, context, row)
        };
        if !context.is_v6() && segment.extra != NO_SLOT {
            [header.activity, header.related_activity] = self.segments.activities(segment);
        }
        Some((resolved, segment.payload_at(&event)))
    }

    /// Passes the events that are ready to `visitor`, as long as it wants more, each with the time by
    /// which it is ordered.
    #[inline(always)]
    pub(super) fn deliver(
        &mut self,
        context: &Context,
        window: &[u8],
        start: u64,
        visitor: &mut impl Receive,
    ) {
        // There is one loop per version, so that the compiler knows which fields to
        // restore.
        if context.is_v6() {
            self.deliver_version::<6>(context, window, start, visitor);
        } else if context.is_v3() {
            self.deliver_version::<3>(context, window, start, visitor);
        } else {
            self.deliver_version::<4>(context, window, start, visitor);
        }
    }

    #[inline(always)]
    fn deliver_version<const V: u8>(
        &mut self,
        context: &Context,
        window: &[u8],
        start: u64,
        visitor: &mut impl Receive,
    ) {
        let events = self.events.get(..self.count).unwrap_or_default();
        while self.runs.is_ready() && visitor.wants_more() {
            let mut stopped_at = None;
            'ahead: for stretch in self.runs.ahead() {
                let Some(stretch_events) = events.get(stretch.place..stretch.end) else { continue };
                let mut place = stretch.place;
                for event in stretch_events {
                    if !visitor.wants_more() {
                        stopped_at = Some(place);
                        break 'ahead;
                    }
                    let segment = self.segments.segment_of(event);
                    let row = context.tables.metadata.row(event.metadata);
                    let payload_at = segment.payload_at(event);
                    // A local variable needs no memory if the visitor is inlined.
                    let mut header = BlobHeader::default();
                    let resolved = event.recall::<V>(place, segment, &mut header, context, row);
                    let time = event.time;
                    place = place.wrapping_add(1);
                    if V < 6 && segment.extra != NO_SLOT {
                        let [activity, related_activity] = self.segments.activities(segment);
                        let header = BlobHeader { activity, related_activity, ..header };
                        let event = Event::with_row(
                            context, &header, resolved, row, payload_at, window, start,
                        );
                        visitor.event(Delivered { event, time });
                    } else {
                        // A separate call lets the compiler see that there are no
                        // activities.
                        let event = Event::with_row(
                            context, &header, resolved, row, payload_at, window, start,
                        );
                        visitor.event(Delivered { event, time });
                    }
                }
            }
            self.gone = self.gone.wrapping_add(match stopped_at {
                Some(place) => self.runs.mark_delivered_before(place),
                None => self.runs.mark_ahead_delivered(events),
            });
        }
    }

    /// Makes the events up to the time `limit` ready, at most `count` of them.
    fn release(&mut self, limit: u64, count: usize) {
        let events = self.events.get(..self.count).unwrap_or_default();
        self.runs.begin_delivery(limit, count, self.newest.max(self.last), events);
    }

    /// Makes all events up to the watermark ready. If these are fewer than `at_least`, makes
    /// exactly this number of the oldest events ready, and returns `true`.
    #[inline(never)]
    pub(super) fn release_to_watermark(&mut self, at_least: usize) -> bool {
        let forced = self.time_of(at_least).filter(|time| *time > self.watermark);
        if let Some(time) = forced {
            self.raise_watermark(time);
            self.release(time, at_least);
        } else {
            self.release(self.watermark, usize::MAX);
        }
        if !self.has_ready() {
            self.stop_delivering();
        }
        forced.is_some()
    }

    /// Returns the time of the newest of the `at_least` oldest events. It is slow, but only
    /// called when a limit is reached.
    fn time_of(&self, at_least: usize) -> Option<u64> {
        let place = at_least.min(self.waiting()).checked_sub(1)?;
        let mut times = self.runs.times(self.events.get(..self.count)?);
        work::count(times.len());
        (place < times.len()).then(|| *times.select_nth_unstable(place).1)
    }

    /// Makes all events ready.
    #[inline(never)]
    pub(super) fn release_all(&mut self) {
        if !self.is_empty() {
            self.release(u64::MAX, usize::MAX);
            self.raise_watermark(self.newest.max(self.last));
        }
        self.raise_watermark(self.newest_passed);
    }

    /// Ends a delivery if all events that were ready have been delivered, and discards them.
    /// Otherwise returns `false`.
    pub(super) fn finish(&mut self) -> bool {
        if !self.runs.is_delivering() || self.has_ready() {
            return false;
        }
        self.stop_delivering();
        true
    }

    /// Discards delivered events, as far as this is worth its cost.
    fn stop_delivering(&mut self) {
        let count = self.runs.end_delivery();
        let waiting = self.waiting();
        if waiting == 0 {
            self.clear();
        } else {
            self.count = count;
            self.gone = count.saturating_sub(waiting);
            if self.gone > waiting.saturating_add(MIN_RECLAIMED) || self.segments.are_many() {
                self.compact();
            }
        }
        self.high = UNSETTLED;
        self.plan(self.next);
    }

    /// Reclaims the space of delivered events.
    fn compact(&mut self) {
        work::count(self.waiting());
        self.segments.begin_carrying();
        let (segments, has_activities) = (&mut self.segments, !self.is_v6);
        let queued = self.events.get_mut(..self.count).unwrap_or_default();
        self.count =
            self.runs.compact(queued, |events, by| segments.carry(events, by, has_activities));
        self.gone = 0;
    }
}

/// Looks up the ids of an event.
fn ids(context: &Context, header: &BlobHeader) -> Ids {
    let resolved = context.resolved(header);
    Ids {
        metadata: resolved.metadata,
        stack: if context.is_v3() { header.stack_size } else { resolved.stack },
        thread: if context.is_v6() { resolved.thread } else { low_bits_of_thread(header.thread) },
    }
}

#[inline(always)]
fn upper_half(thread: u64) -> u64 {
    thread >> 32
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the other half is kept elsewhere")]
fn low_bits_of_thread(thread: u64) -> u32 {
    thread as u32
}

/// Returns the distance of a payload from the base of its segment, which is below 4 GiB.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a segment has another base if not")]
fn within_4_gib(payload_at: u64, base: u64) -> u32 {
    payload_at.wrapping_sub(base) as u32
}
