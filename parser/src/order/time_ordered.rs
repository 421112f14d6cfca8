//! Fills the queue with a reader's events, and returns them in time order.

use super::delivered::{Delivered, TryDeliver, stack_at};
use super::filter::{Candidate, DeferAll, Filtered, FilteredEvents, PendingFilter, Watermark};
use super::queue::{Fill, Queue};
use super::queued_event::Segments;
use crate::blob::BlobHeader;
use crate::block::stack::Stack;
use crate::block::trace::Trace;
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::event::Event;
use crate::limits::Limits;
use crate::reader::{Reader, RunEnd, Step, TryEach, Visit};
use crate::source::{Source, index};
use std::fmt;

/// Number of queued events at which runs are merged, in addition to twice the number of events that
/// the last merge left in the queue.
const BATCH_EVENTS: usize = 8192;
/// Number of bytes from the first to the last queued event at which runs are merged, in addition to
/// twice the number that the last merge left.
const BATCH_BYTES: u64 = 1 << 20;

/// Delivers a reader's events by timestamp, and by position in the file if timestamps are equal.
/// An event that arrives too late for its place comes after newer events, and is counted by
/// [`out_of_order`](Self::out_of_order).
///
/// The queue is bounded by the stream's sequence points and sorted marks, and by
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
#[must_use]
pub struct TimeOrdered<S> {
    reader: Reader<S>,
    queue: Queue,
    /// Whether [`release`](Self::release) was called, so that all queued events come next.
    is_released: bool,
    /// Whether events were read since the last sequence point.
    has_read: bool,
    /// Header of the most recently returned event.
    header: BlobHeader,
}

/// Shows the reader and how many events wait, and none of them.
impl<S> fmt::Debug for TimeOrdered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeOrdered")
            .field("reader", &self.reader)
            .field("waiting", &self.queue.waiting())
            .finish_non_exhaustive()
    }
}

/// Returns the fill of the queue at which runs are merged for the first time.
fn first_fill(limits: Limits) -> Fill {
    Fill {
        events: BATCH_EVENTS.min(max_events(limits)),
        bytes: BATCH_BYTES.min(limits.queue_bytes),
    }
}

/// Returns the maximum number of queued events.
fn max_events(limits: Limits) -> usize {
    limits.queue_events.clamp(1, Segments::MAX_EVENTS)
}

impl<S: Source> Reader<S> {
    /// Converts the reader to one that returns events in time order.
    pub fn time_ordered(self) -> TimeOrdered<S> {
        TimeOrdered::new(self)
    }
}

impl<S: Source> TimeOrdered<S> {
    pub(crate) fn new(reader: Reader<S>) -> Self {
        let queue = Queue::new(first_fill(reader.state().limits));
        let header = BlobHeader::default();
        TimeOrdered { reader, queue, is_released: false, has_read: false, header }
    }

    /// Returns the next event in time order, or `None` at the end.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        while !self.queue.has_ready() {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(self.ready())
    }

    /// Passes all remaining events to `take`, in time order.
    ///
    /// # Errors
    /// The errors of [`Reader::for_each`].
    #[inline]
    pub fn for_each(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.visit(&mut take)
    }

    /// Passes the remaining events to a visitor, like [`Reader::visit`]. This is the fastest way
    /// to read a stream in time order, because a short visitor is inlined, so that no [`Event`]
    /// is built in memory.
    ///
    /// # Errors
    /// The errors of [`Reader::for_each`].
    #[inline]
    pub fn visit(&mut self, visitor: &mut impl Visit) -> Result<(), Error> {
        while visitor.wants_more() {
            let (context, source) = (&self.reader.state().context, self.reader.source());
            self.queue.deliver(context, source.bytes(), source.start(), visitor);
            if !self.queue.has_ready() && !self.fill()? {
                break;
            }
        }
        Ok(())
    }

    /// Passes the remaining events to `take`, in time order, until it returns an error,
    /// like [`Reader::try_for_each`].
    ///
    /// # Errors
    /// The errors of `take` and of [`Reader::for_each`].
    #[inline]
    pub fn try_for_each<E: From<Error>>(
        &mut self,
        take: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut each = TryEach::new(take);
        self.visit(&mut each)?;
        each.result
    }

    /// Reads until events can be delivered. Returns `false` if there are no more events.
    #[inline(never)]
    fn fill(&mut self) -> Result<bool, Error> {
        Ok(self.read_on(&mut DeferAll)?.is_some())
    }

    /// Implements [`FilteredEvents::advance`] when no event is ready.
    #[inline(always)]
    fn read_on(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error> {
        if self.queue.finish() {
            self.plan_next();
        }
        if std::mem::take(&mut self.is_released) && !self.queue.is_empty() {
            self.queue.release_all();
            return Ok(Some(self.complete()));
        }
        loop {
            self.reader.keep_from(self.queue.position());
            match self.reader.step()? {
                Step::Event => {
                    self.has_read = true;
                    self.filter_current(filter);
                    self.filter_block(filter);
                    if let Some(newest) = filter.flush_up_to() {
                        self.queue.release_all();
                        self.queue.raise_watermark(newest);
                        self.note_limit();
                        return Ok(Some(self.complete()));
                    }
                    if self.queue.is_full() && self.merge_batch() {
                        return Ok(Some(self.complete()));
                    }
                    if filter.is_full() {
                        self.queue.release_to_watermark(0);
                        return Ok(Some(self.complete()));
                    }
                }
                // All bytes after a queued event are kept in memory.
                Step::Block(_) | Step::Skipped(_) | Step::Passed if self.spans_too_much() => {
                    self.queue.release_all();
                    self.note_limit();
                    return Ok(Some(self.complete()));
                }
                Step::Block(_) | Step::Skipped(_) | Step::Passed => {}
                Step::Barrier | Step::End if std::mem::take(&mut self.has_read) => {
                    self.queue.release_all();
                    return Ok(Some(Watermark::All));
                }
                Step::Barrier => {}
                Step::End => return Ok(None),
            }
        }
    }

    fn complete(&self) -> Watermark {
        Watermark::UpTo(self.queue.watermark())
    }

    /// Passes the event at the cursor to the filter.
    #[inline(always)]
    fn filter_current(&mut self, filter: &mut impl PendingFilter) {
        let state = self.reader.state();
        let (header, payload_at) = (&state.cursor.header, state.cursor.payload_at);
        let source = self.reader.source();
        let (window, start) = (source.bytes(), source.start());
        let event = Event::new(&state.context, header, None, payload_at, window, start);
        let is_late = self.queue.is_late(header);
        if filter.is_deferred(&Candidate { event, is_late }) {
            self.queue.push(&state.context, header, payload_at);
        } else {
            self.queue.note_passed(header);
        }
    }

    /// Passes the remaining events of the current block to the filter, as long as the queue has
    /// room.
    #[inline(always)]
    fn filter_block(&mut self, filter: &mut impl PendingFilter) {
        while !self.queue.is_full() && !filter.is_full() {
            match self.reader.pass_events(&mut Filtered { filter, queue: &mut self.queue }) {
                RunEnd::Between if self.queue.grow() => {}
                RunEnd::Between => return,
                RunEnd::OnBlob if self.reader.accept() => self.filter_current(filter),
                RunEnd::OnBlob => {}
            }
        }
    }

    /// Makes events ready that can be delivered, and returns whether there are any.
    fn merge_batch(&mut self) -> bool {
        let limits = self.reader.state().limits;
        let waiting = self.queue.waiting();
        let is_over = waiting >= max_events(limits) || self.queue.bytes() >= limits.queue_bytes;
        // At the limit, the oldest half is delivered, although an older event may still
        // arrive.
        let at_least = if is_over { waiting.div_ceil(2) } else { 0 };
        if self.queue.release_to_watermark(at_least) {
            self.note_limit();
        }
        let may_go = self.queue.has_ready();
        if !may_go {
            self.plan_next();
        }
        may_go
    }

    /// Returns whether the bytes from the first queued event on exceed the limit.
    fn spans_too_much(&self) -> bool {
        let limit = self.reader.state().limits.queue_bytes;
        self.queue
            .position()
            .is_some_and(|first| self.reader.reached().saturating_sub(first) >= limit)
    }

    fn note_limit(&mut self) {
        let cursor = &self.reader.state().cursor;
        let frame = cursor.frame;
        // The last queued event is the current one, unless its block is finished.
        let last = self.queue.last_position().unwrap_or(cursor.blob).max(frame.body.start);
        let at = index(last, frame.body.start);
        let damage = &mut self.reader.state_mut().damage;
        damage.in_block(frame).add(Class::Note, at, 0, "time order", Fault::QueueLimit);
    }

    /// Plans the next merge for when the number of queued events has about doubled.
    fn plan_next(&mut self) {
        let limits = self.reader.state().limits;
        // The queue may be empty, so the range ends at the position of the reader.
        let reached = self.reader.reached().max(self.reader.state().cursor.at);
        let span = self.queue.position().map_or(0, |first| reached.saturating_sub(first));
        self.queue.plan(Fill {
            events: self
                .queue
                .waiting()
                .saturating_mul(2)
                .saturating_add(BATCH_EVENTS)
                .min(max_events(limits)),
            bytes: span.saturating_mul(2).saturating_add(BATCH_BYTES).min(limits.queue_bytes),
        });
    }

    /// Makes the next calls of [`next_event`](Self::next_event) return all queued events, for
    /// live streams that are idle. Older events that arrive later are still delivered, and
    /// counted by [`out_of_order`](Self::out_of_order).
    pub fn release(&mut self) {
        self.is_released = true;
    }

    /// Returns the number of queued events.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Returns the number of events that arrived too late for their place, and were delivered
    /// after newer events.
    pub fn out_of_order(&self) -> u64 {
        self.queue.out_of_order
    }

    /// Returns the reader, for everything except events.
    pub fn reader(&self) -> &Reader<S> {
        &self.reader
    }

    pub(crate) fn into_reader(self) -> Reader<S> {
        self.reader
    }

    pub(crate) fn reader_mut(&mut self) -> &mut Reader<S> {
        &mut self.reader
    }

    /// Starts over with another region of the stream, but keeps the allocated memory.
    pub(crate) fn begin_again(&mut self) {
        self.queue.begin_again(first_fill(self.reader.state().limits));
        (self.is_released, self.has_read) = (false, false);
    }

    /// Returns the session, like [`Reader::trace`].
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    pub fn trace(&mut self) -> Result<&Trace, Error> {
        self.reader.trace()
    }
}

impl<S: Source> FilteredEvents for TimeOrdered<S> {
    fn advance(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error> {
        if self.queue.has_ready() {
            return Ok(Some(self.complete()));
        }
        self.read_on(filter)
    }

    #[inline]
    fn ready(&mut self) -> Option<Event<'_>> {
        let (resolved, payload_at) =
            self.queue.pop(&self.reader.state().context, &mut self.header)?;
        let (context, source) = (&self.reader.state().context, self.reader.source());
        let (window, start) = (source.bytes(), source.start());
        Some(Event::new(context, &self.header, Some(resolved), payload_at, window, start))
    }

    #[inline]
    fn deliver<E>(&mut self, take: impl FnMut(&Delivered<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut receiver = TryDeliver { take, result: Ok(()) };
        let (context, source) = (&self.reader.state().context, self.reader.source());
        self.queue.deliver(context, source.bytes(), source.start(), &mut receiver);
        receiver.result
    }

    fn stack(&self, number: u32) -> Stack<'_> {
        stack_at(&self.reader.state().context, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_testdata::synth::{Blob, EventBlock, SequencePoint, Stream, Trace, Version};

    /// Filter that takes all events, and notes for each whether it is late.
    struct Taking(Vec<bool>);

    impl PendingFilter for Taking {
        fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
            self.0.push(candidate.is_late());
            false
        }
    }

    /// Filter that defers all events.
    struct Deferring;

    impl PendingFilter for Deferring {
        fn is_deferred(&mut self, _: &Candidate<'_>) -> bool {
            true
        }
    }

    #[test]
    fn delivery_goes_on_after_the_event_that_was_refused() {
        let event = |ticks| Blob { ticks, is_sorted: false, ..Blob::default() };
        let mut stream = Stream::new(Version::V4);
        stream.trace(&Trace::default());
        stream.event_block(&EventBlock::new([30, 10].map(event)));
        stream.event_block(&EventBlock::new([20, 40].map(event)));
        stream.end();
        let mut events = Reader::from_slice(&stream.bytes).time_ordered();
        let mut times = Vec::new();
        while events.advance(&mut Deferring).unwrap().is_some() {
            let refused = events.deliver(|next| {
                times.push(next.place().0);
                if times.len() == 2 { Err(next.event().timestamp_ticks()) } else { Ok(()) }
            });
            assert_eq!(refused, if times.len() == 2 { Err(20) } else { Ok(()) });
        }
        assert_eq!(times, [10, 20, 30, 40]);
    }

    #[test]
    fn after_a_sequence_point_what_is_older_than_one_that_did_not_wait_is_late() {
        let event = |ticks| EventBlock::new([Blob { ticks, is_sorted: false, ..Blob::default() }]);
        let mut stream = Stream::new(Version::V4);
        stream.trace(&Trace::default());
        stream.event_block(&event(10)).event_block(&event(5));
        stream.sequence_point(&SequencePoint { ticks: 10, ..SequencePoint::default() });
        stream.event_block(&event(9)).event_block(&event(10));
        stream.end();
        let mut events = Reader::from_slice(&stream.bytes).time_ordered();
        let mut filter = Taking(Vec::new());
        while events.advance(&mut filter).unwrap().is_some() {}
        assert_eq!(filter.0, [false, false, true, false]);
        let mut all = Reader::from_slice(&stream.bytes).time_ordered();
        while all.next_event().unwrap().is_some() {}
        assert_eq!((events.out_of_order(), all.out_of_order()), (1, 1));
    }
}
