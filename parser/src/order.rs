//! Events in time order (format.md 11).
//!
//! ```text
//!            file order                      watermark          delivered
//!   thread 7  1 3 4 8 |                      (newest sorted
//!   thread 9        *2 5 6 |                  event: 2)         1 2
//!   thread 7                 *7 9            7                  3 4 5 6 7 …
//! ```
//! Between two sequence points a writer flushes one thread's run after the other. An event that is
//! marked *sorted* (`*`) promises that nothing behind it is older: everything that waits and is not
//! younger may go. The newest such timestamp is the *watermark*.
//!
//! Events wait as 64-byte marks in file order. Now and then, and at every sequence point, their
//! times are packed with their places into one integer each and sorted; what is not above the
//! watermark is delivered, the rest waits on. An event that is older than the watermark is out of
//! order: it counts as if it had the watermark's time, which delivers it at once, behind what was
//! delivered before it. So the order does not depend on when sorting happens.

use crate::blob::BlobHeader;
use crate::block::trace::Trace;
use crate::damage::{Class, Damage};
use crate::error::{Error, Fault};
use crate::event::Event;
use crate::guid::Guid;
use crate::loss::Losses;
use crate::reader::{Reader, Resolved, Step};
use crate::source::Source;
use crate::statistics::Statistics;
use crate::tables::{NO_SLOT, Slot};

/// An event that waits: its header, its references and its place.
#[derive(Debug, Clone, Copy)]
struct Mark {
    timestamp: u64,
    thread: u64,
    capture_thread: u64,
    /// Stream position of the payload.
    payload_at: u64,
    payload_size: u32,
    metadata: Slot,
    metadata_id: u32,
    /// Slot of the stack; version 3: its size.
    stack: u32,
    /// Activity pair (versions 3 to 5), or slot of the labels (version 6).
    extra: u32,
    /// Slot of the thread row (version 6).
    thread_row: Slot,
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
        metadata_id: 0,
        stack: NO_SLOT,
        extra: NO_SLOT,
        thread_row: NO_SLOT,
        sequence: 0,
        processor: 0,
        header_size: 0,
        is_sorted: false,
    };
}

/// Sorting begins when this many events wait, beyond those that could not go the last time.
const BATCH_EVENTS: usize = 4096;
/// … or when they span so many bytes more than the last time.
const BATCH_BYTES: u64 = 1 << 20;

/// Gives a reader's events in time order: by timestamp, and by place in the file where timestamps
/// are equal.
///
/// What waits is bounded by the stream's sequence points and sorted marks, and by
/// [`Limits::queue_events`](crate::Limits::queue_events) and
/// [`Limits::queue_bytes`](crate::Limits::queue_bytes).
///
/// ```
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut events = Reader::from_slice(&bytes).time_ordered();
/// let mut last = 0;
/// while let Some(event) = events.next_event()? {
///     assert!(event.timestamp_ticks() >= last);
///     last = event.timestamp_ticks();
/// }
/// assert_eq!(events.out_of_order(), 0);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct TimeOrdered<S> {
    reader: Reader<S>,
    /// Events that wait, in file order.
    marks: Vec<Mark>,
    /// The time each of them counts as.
    times: Vec<u64>,
    /// Pairs of activity ids that marks refer to.
    activities: Vec<[Guid; 2]>,
    /// Places in `marks`, by time; those before `delivered` are done, those from `ready` on wait.
    sorted: Vec<u64>,
    delivered: usize,
    ready: usize,
    place_bits: u32,
    watermark: u64,
    /// Sort when so many events, or bytes, wait.
    next_events: usize,
    next_bytes: u64,
    /// Everything must go: a sequence point, the end, or the caller's wish.
    is_barrier: bool,
    out_of_order: u64,
    header: BlobHeader,
}

impl<S: Source> TimeOrdered<S> {
    pub(crate) fn new(reader: Reader<S>) -> Self {
        let limits = reader.state().limits;
        TimeOrdered {
            reader,
            marks: Vec::new(),
            times: Vec::new(),
            activities: Vec::new(),
            sorted: Vec::new(),
            delivered: 0,
            ready: 0,
            place_bits: 0,
            watermark: 0,
            next_events: BATCH_EVENTS.min(limits.queue_events.max(1)),
            next_bytes: BATCH_BYTES.min(limits.queue_bytes),
            is_barrier: false,
            out_of_order: 0,
            header: BlobHeader::default(),
        }
    }

    /// The next event in time order, or `None` at the end.
    ///
    /// # Errors
    /// As [`Reader::next_event`].
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        loop {
            if self.delivered < self.ready {
                let place = self.place_of(self.delivered);
                self.delivered += 1;
                return Ok(Some(self.lend(place)));
            }
            self.finish_batch();
            match self.reader.step()? {
                Step::Event => {
                    self.take_mark();
                    if self.marks.len() >= self.next_events || self.waiting_bytes() >= self.next_bytes {
                        self.sort_batch();
                    }
                }
                Step::Block(_) => {}
                Step::Barrier => self.deliver_all(),
                Step::End if self.marks.is_empty() => return Ok(None),
                Step::End => self.deliver_all(),
            }
        }
    }

    /// Lets everything that waits be delivered by the next calls of
    /// [`next_event`](Self::next_event), for live use when no bytes come. An older event that comes
    /// later is still delivered, and counted by [`out_of_order`](Self::out_of_order).
    pub fn release(&mut self) {
        if self.delivered < self.ready {
            // The batch under way is a part of all; the rest follows when it is done.
            self.is_barrier = true;
            return;
        }
        self.finish_batch();
        self.deliver_all();
    }

    /// Number of events that wait.
    pub fn waiting(&self) -> usize {
        self.marks.len() - self.delivered
    }

    /// Events that came too late for their place: delivered, but behind younger ones.
    pub fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// The reader, for everything but events.
    pub fn reader(&self) -> &Reader<S> {
        &self.reader
    }

    /// See [`Reader::trace`].
    ///
    /// # Errors
    /// As [`Reader::next_event`].
    pub fn trace(&mut self) -> Result<&Trace, Error> {
        self.reader.trace()
    }

    /// See [`Reader::losses`].
    pub fn losses(&self) -> &Losses {
        self.reader.losses()
    }

    /// See [`Reader::damage`].
    pub fn damage(&self) -> &Damage {
        self.reader.damage()
    }

    /// See [`Reader::statistics`].
    pub fn statistics(&self) -> &Statistics {
        self.reader.statistics()
    }

    /// See [`Reader::is_complete`].
    pub fn is_complete(&self) -> bool {
        self.reader.is_complete()
    }

    fn take_mark(&mut self) {
        let state = self.reader.state();
        let cursor = &state.cursor;
        let resolved = state.context.resolved(&cursor.header);
        let header = &cursor.header;
        let pair = [header.activity, header.related_activity];
        let extra = if state.context.is_v6() {
            resolved.labels
        } else if pair == [Guid::ZERO; 2] {
            NO_SLOT
        } else {
            if self.activities.last() != Some(&pair) {
                self.activities.push(pair);
            }
            (self.activities.len() - 1) as u32
        };
        let mark = Mark {
            timestamp: header.timestamp,
            thread: header.thread,
            capture_thread: header.capture_thread,
            payload_at: cursor.payload_at,
            payload_size: header.payload_size,
            metadata: resolved.metadata,
            metadata_id: header.metadata_id,
            stack: if state.context.is_v3() { header.stack } else { resolved.stack },
            extra,
            thread_row: resolved.thread,
            sequence: header.sequence,
            processor: header.processor,
            header_size: header.header_size as u8,
            is_sorted: header.is_sorted,
        };
        let time = header.timestamp.max(self.watermark);
        self.out_of_order += u64::from(header.timestamp < self.watermark);
        if header.is_sorted {
            self.watermark = time;
        }
        if self.marks.is_empty() {
            let from = mark.payload_at - u64::from(mark.header_size);
            self.reader.keep_from(Some(from));
        }
        self.marks.push(mark);
        self.times.push(time);
    }

    /// The event at a place in `marks`.
    fn lend(&mut self, place: usize) -> Event<'_> {
        let mark = self.marks.get(place).copied().unwrap_or(Mark::NOTHING);
        let state = self.reader.state();
        let (pair, labels) = match state.context.is_v6() {
            true => ([Guid::ZERO; 2], mark.extra),
            false => (self.activities.get(mark.extra as usize).copied().unwrap_or_default(), NO_SLOT),
        };
        let [activity, related_activity] = pair;
        self.header = BlobHeader {
            metadata_id: mark.metadata_id,
            sequence: mark.sequence,
            thread: mark.thread,
            capture_thread: mark.capture_thread,
            processor: mark.processor,
            stack: mark.stack,
            timestamp: mark.timestamp,
            activity,
            related_activity,
            label_list: 0,
            payload_size: mark.payload_size,
            header_size: u32::from(mark.header_size),
            is_sorted: mark.is_sorted,
            has_reserved_flag: false,
        };
        let resolved =
            Resolved { metadata: mark.metadata, stack: mark.stack, thread: mark.thread_row, labels };
        let source = self.reader.source();
        state.context.event(&self.header, Some(resolved), mark.payload_at, source.bytes(), source.start())
    }

    /// Bytes of the stream from the first event that waits to the one just read.
    fn waiting_bytes(&self) -> u64 {
        match (self.marks.first(), self.marks.last()) {
            (Some(first), Some(last)) => last.payload_at.saturating_sub(first.payload_at),
            _ => 0,
        }
    }

    #[inline]
    fn place_of(&self, index: usize) -> usize {
        let packed = self.sorted.get(index).copied().unwrap_or_default();
        (packed & ((1u64 << self.place_bits) - 1)) as usize
    }

    /// Sorts what waits, and makes what is not above the watermark ready.
    #[inline(never)]
    fn sort_batch(&mut self) {
        let limits = self.reader.state().limits;
        let is_full = self.marks.len() >= limits.queue_events || self.waiting_bytes() >= limits.queue_bytes;
        self.sort();
        let watermark = self.watermark;
        let (times, mask) = (&self.times, (1u64 << self.place_bits) - 1);
        let is_above =
            |packed: &u64| times.get((*packed & mask) as usize).is_none_or(|time| *time > watermark);
        self.ready = self.sorted.partition_point(|packed| !is_above(packed));
        if is_full && self.ready < self.sorted.len() / 2 {
            // The oldest half goes, although something older may still come.
            self.ready = self.sorted.len().div_ceil(2);
            if let Some(time) = self.ready.checked_sub(1).and_then(|last| self.times.get(self.place_of(last)))
            {
                self.watermark = self.watermark.max(*time);
            }
            let cursor = &self.reader.state().cursor;
            let (frame, at) = (cursor.frame, (cursor.blob - cursor.frame.body.start) as usize);
            let damage = &mut self.reader.state_mut().damage;
            damage.in_block(frame).add(Class::Note, at, 0, "time order", Fault::QueueLimit);
        }
        if self.ready == 0 {
            self.plan_next();
        }
    }

    /// Everything that waits becomes ready.
    #[inline(never)]
    fn deliver_all(&mut self) {
        self.sort();
        self.ready = self.sorted.len();
        self.is_barrier = false;
        if let Some(time) = self.times.iter().max() {
            self.watermark = self.watermark.max(*time);
        }
    }

    /// Sorts the places of all marks by time. Time and place are packed into one integer, so that
    /// equal times keep file order and nothing but integers is moved.
    fn sort(&mut self) {
        self.delivered = 0;
        self.sorted.clear();
        let count = self.times.len();
        self.place_bits = usize::BITS - count.leading_zeros();
        let least = self.times.iter().copied().min().unwrap_or(0);
        let most = self.times.iter().copied().max().unwrap_or(0);
        if (most - least).leading_zeros() < self.place_bits {
            return self.sort_wide();
        }
        let bits = self.place_bits;
        let packed = self.times.iter().enumerate().map(|(place, time)| (time - least) << bits | place as u64);
        self.sorted.extend(packed);
        if !self.sorted.is_sorted() {
            self.sorted.sort_unstable();
        }
    }

    /// The same for times too far apart to be packed, which no real stream has.
    #[cold]
    fn sort_wide(&mut self) {
        self.sorted.extend(0..self.times.len() as u64);
        let times = &self.times;
        self.sorted.sort_by_key(|place| times.get(*place as usize).copied().unwrap_or_default());
    }

    /// Forgets the marks that were delivered.
    fn finish_batch(&mut self) {
        if self.ready == 0 {
            return;
        }
        if self.ready >= self.sorted.len() {
            self.marks.clear();
            self.times.clear();
        } else {
            self.keep_waiting();
        }
        self.sorted.clear();
        self.delivered = 0;
        self.ready = 0;
        if self.marks.is_empty() {
            self.activities.clear();
        }
        let keep = self.marks.first().map(|mark| mark.payload_at - u64::from(mark.header_size));
        self.reader.keep_from(keep);
        self.plan_next();
        if std::mem::take(&mut self.is_barrier) {
            self.deliver_all();
        }
    }

    /// Keeps the marks that were not ready, in file order.
    fn keep_waiting(&mut self) {
        let mask = (1u64 << self.place_bits) - 1;
        let mut waiting: Vec<u64> = Vec::new();
        std::mem::swap(&mut waiting, &mut self.sorted);
        waiting.drain(..self.ready);
        waiting.iter_mut().for_each(|packed| *packed &= mask);
        waiting.sort_unstable();
        for (index, place) in waiting.iter().enumerate() {
            let place = *place as usize;
            if let (Some(mark), Some(time)) = (self.marks.get(place).copied(), self.times.get(place).copied())
            {
                if let (Some(to), Some(to_time)) = (self.marks.get_mut(index), self.times.get_mut(index)) {
                    *to = mark;
                    *to_time = time;
                }
            }
        }
        self.marks.truncate(waiting.len());
        self.times.truncate(waiting.len());
        std::mem::swap(&mut waiting, &mut self.sorted);
    }

    /// Sorting again pays when as much again waits.
    fn plan_next(&mut self) {
        let limits = self.reader.state().limits;
        self.next_events = (self.marks.len() * 2 + BATCH_EVENTS).min(limits.queue_events.max(1));
        self.next_bytes = (self.waiting_bytes() * 2 + BATCH_BYTES).min(limits.queue_bytes);
    }
}
