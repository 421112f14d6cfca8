//! Events in time order (FORMAT.md 11).
//!
//! ```text
//!   events, in file order   1 3 4 8 | *2 5 6 | *7 9     (* sorted)
//!   runs                    a-------  b------  c---
//!   heap of first times     1a 2b 7c  →  2b 3a 7c  →  3a 5b 7c  →  5b 7c 8a  →  7c 8a  →  8a 9c
//!   delivered               1            2            3 4          5 6          7         (up to the watermark, 7)
//! ```
//! Between two sequence points a writer flushes one thread's events after the other's: times ascend, and begin anew with
//! the next thread. Such a stretch is a *run*. An event that is marked *sorted* promises that nothing behind it is older:
//! everything that waits and is not younger may go. The newest such timestamp is the *watermark*.
//!
//! Events wait in file order, as records of 32 bytes; what many in a row have in common lies in *segments* beside them.
//! Nothing is sorted. A run begins where an event is older than the one before it, and lateness is asked for only there.
//! Now and then, and at every sequence point, runs are merged: the one whose first event is the oldest gives events as
//! long as they are not younger than the first one of another; of equal times the earlier run's go first. What is above
//! the watermark waits on in its place, until more has gone than waits: then the rest moves together.
//!
//! An event that is older than the watermark is out of order: it counts as if it had the watermark's time, which delivers
//! it at once, behind what was delivered before it. So the order does not depend on when runs are merged.

mod filter;
mod heads;
mod queue;
mod queued_event;
mod runs;
#[cfg(test)]
mod tests;

use crate::blob::BlobHeader;
use crate::block::trace::Trace;
use crate::damage::{Class, Damage};
use crate::error::{Error, Fault};
use crate::event::Event;
use crate::limits::Limits;
use crate::loss::Losses;
use crate::reader::{Reader, RunEnd, Step, TryEach, Visit};
use crate::source::{Source, index};
use crate::statistics::Statistics;
pub use filter::{Candidate, FilteredEvents, PendingFilter, Watermark};
use queue::{Fill, Queue};
use queued_event::Segments;

/// Runs are merged when this many events wait, beyond those that could not go the last time.
const BATCH_EVENTS: usize = 8192;
/// … or when they span this many bytes more than the last time.
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
    queue: Queue,
    /// The caller wants everything, also what is not in the batch under way.
    is_released: bool,
    /// Events were shown to a filter since everything was complete.
    has_filtered: bool,
    /// Header of the event lent last.
    header: BlobHeader,
}

/// When runs are merged for the first time.
fn first_fill(limits: Limits) -> Fill {
    Fill { events: BATCH_EVENTS.min(most_events(limits)), bytes: BATCH_BYTES.min(limits.queue_bytes) }
}

/// So many events wait at most.
fn most_events(limits: Limits) -> usize {
    limits.queue_events.clamp(1, Segments::MOST_EVENTS)
}

impl<S: Source> Reader<S> {
    /// Gives events in time order.
    pub fn time_ordered(self) -> TimeOrdered<S> {
        TimeOrdered::new(self)
    }
}

impl<S: Source> TimeOrdered<S> {
    pub(crate) fn new(reader: Reader<S>) -> Self {
        let queue = Queue::new(first_fill(reader.state().limits));
        let header = BlobHeader::default();
        TimeOrdered { reader, queue, is_released: false, has_filtered: false, header }
    }

    /// The next event in time order, or `None` at the end.
    ///
    /// # Errors
    /// As [`Reader::next_event`].
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        loop {
            if let Some((resolved, payload_at)) =
                self.queue.pop(&self.reader.state().context, &mut self.header)
            {
                let (context, source) = (&self.reader.state().context, self.reader.source());
                let (window, start) = (source.bytes(), source.start());
                return Ok(Some(Event::new(
                    context,
                    &self.header,
                    Some(resolved),
                    payload_at,
                    window,
                    start,
                )));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Gives all events that are left to `take`, in time order.
    ///
    /// # Errors
    /// As [`Reader::for_each`].
    #[inline]
    pub fn for_each(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.visit(&mut take)
    }

    /// The same with a visitor, as [`Reader::visit`]. The fastest way through a stream in time order: an
    /// event that a short visitor takes needs no place in memory.
    ///
    /// # Errors
    /// As [`Reader::for_each`].
    #[inline]
    pub fn visit(&mut self, visitor: &mut impl Visit) -> Result<(), Error> {
        while visitor.wants_more() {
            let (context, source) = (&self.reader.state().context, self.reader.source());
            self.queue.give(context, source.bytes(), source.start(), visitor);
            if !self.queue.has_ready() && !self.fill()? {
                break;
            }
        }
        Ok(())
    }

    /// Gives the events that are left to `take`, in time order, until it fails: see [`Reader::try_for_each`].
    ///
    /// # Errors
    /// What `take` reports, and what [`Reader::for_each`] does.
    #[inline]
    pub fn try_for_each<E: From<Error>>(
        &mut self,
        take: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut each = TryEach::new(take);
        self.visit(&mut each)?;
        each.result
    }

    /// Reads on until events are ready. `false`: there are no more.
    #[inline(never)]
    fn fill(&mut self) -> Result<bool, Error> {
        if self.queue.finish() {
            self.plan_next();
        }
        if std::mem::take(&mut self.is_released) && !self.queue.is_empty() {
            self.queue.allow_all();
            return Ok(true);
        }
        loop {
            self.reader.keep_from(self.queue.position());
            match self.reader.step()? {
                Step::Event => {
                    let state = self.reader.state();
                    self.queue.push(&state.context, &state.cursor.header, state.cursor.payload_at);
                    self.fill_from_block();
                    if self.queue.is_full() && self.merge_batch() {
                        return Ok(true);
                    }
                }
                // What waits holds the bytes behind it, too: it may not wait for ever.
                Step::Block(_) | Step::Skipped(_) | Step::Passed if self.spans_too_much() => {
                    self.queue.allow_all();
                    self.note_limit();
                    return Ok(true);
                }
                Step::Block(_) | Step::Skipped(_) | Step::Passed => {}
                Step::Barrier | Step::End if !self.queue.is_empty() => {
                    self.queue.allow_all();
                    return Ok(true);
                }
                Step::Barrier => {}
                Step::End => return Ok(false),
            }
        }
    }

    /// Takes the events that are left in the current block, as long as there is room.
    fn fill_from_block(&mut self) {
        while !self.queue.is_full() {
            match self.reader.run(&mut self.queue) {
                RunEnd::Between if self.queue.grow() => {}
                RunEnd::Between => return,
                RunEnd::OnBlob if self.reader.accept() => {
                    let state = self.reader.state();
                    self.queue.push(&state.context, &state.cursor.header, state.cursor.payload_at);
                }
                RunEnd::OnBlob => {}
            }
        }
    }

    /// Lets go what may. `true`: something may.
    fn merge_batch(&mut self) -> bool {
        let limits = self.reader.state().limits;
        let waiting = self.queue.waiting();
        let is_over = waiting >= most_events(limits) || self.queue.bytes() >= limits.queue_bytes;
        // At the limit the oldest half goes, although something older may still come.
        let at_least = if is_over { waiting.div_ceil(2) } else { 0 };
        if self.queue.allow_to_watermark(at_least) {
            self.note_limit();
        }
        let may_go = self.queue.has_ready();
        if !may_go {
            self.plan_next();
        }
        may_go
    }

    /// Whether the stream went on for too long without an event that could let others go.
    fn spans_too_much(&self) -> bool {
        let limit = self.reader.state().limits.queue_bytes;
        self.queue.position().is_some_and(|first| self.reader.reached().saturating_sub(first) >= limit)
    }

    fn note_limit(&mut self) {
        let cursor = &self.reader.state().cursor;
        let frame = cursor.frame;
        // The newest event that waits is the current one, unless its block is over.
        let newest = self.queue.newest_position().unwrap_or(cursor.blob).max(frame.body.start);
        let at = index(newest, frame.body.start);
        let damage = &mut self.reader.state_mut().damage;
        damage.in_block(frame).add(Class::Note, at, 0, "time order", Fault::QueueLimit);
    }

    /// Looking again pays when as much again waits.
    fn plan_next(&mut self) {
        let limits = self.reader.state().limits;
        // Up to where reading is: the events that went may have been the last ones.
        let reached = self.reader.reached().max(self.reader.state().cursor.at);
        let span = self.queue.position().map_or(0, |first| reached.saturating_sub(first));
        self.queue.plan(Fill {
            events: self
                .queue
                .waiting()
                .saturating_mul(2)
                .saturating_add(BATCH_EVENTS)
                .min(most_events(limits)),
            bytes: span.saturating_mul(2).saturating_add(BATCH_BYTES).min(limits.queue_bytes),
        });
    }

    /// Lets everything that waits be delivered by the next calls of
    /// [`next_event`](Self::next_event), for live use when no bytes come. An older event that comes
    /// later is still delivered, and counted by [`out_of_order`](Self::out_of_order).
    pub fn release(&mut self) {
        self.is_released = true;
    }

    /// Number of events that wait.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Events that came too late for their place: delivered, but behind younger ones.
    pub fn out_of_order(&self) -> u64 {
        self.queue.out_of_order
    }

    /// The reader, for everything but events.
    pub fn reader(&self) -> &Reader<S> {
        &self.reader
    }

    /// See [`Reader::source_mut`].
    pub fn source_mut(&mut self) -> &mut S {
        self.reader.source_mut()
    }

    /// See [`Reader::into_source`]. Events that wait are lost.
    pub fn into_source(self) -> S {
        self.reader.into_source()
    }

    pub(crate) fn into_reader(self) -> Reader<S> {
        self.reader
    }

    pub(crate) fn reader_mut(&mut self) -> &mut Reader<S> {
        &mut self.reader
    }

    /// Begins again, with the memory it has: the reader has another stretch of the stream to read.
    pub(crate) fn begin_again(&mut self) {
        self.queue.begin_again(first_fill(self.reader.state().limits));
        (self.is_released, self.has_filtered) = (false, false);
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
}
