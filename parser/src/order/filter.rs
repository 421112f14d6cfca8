//! A filter in front of the queue of time order.
//!
//! An event that is pending costs more than reading it did: a record of 32 bytes, a merge, a way back to the payload. A
//! caller that needs only a few numbers of an event, or nothing at all, takes them when the event is read, in file order.
//! The filter defers all others, and they come in time order as usual.

use super::TimeOrdered;
use super::queue::Queue;
use crate::blob::BlobHeader;
use crate::block::stack::Stack;
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use crate::reader::{BlobForm, RunEnd, Step, Take};
use crate::source::Source;
use crate::tables::{Covered, NO_SLOT};

/// Decides which events are deferred until their turn in time order.
pub trait PendingFilter {
    /// An event, in file order. `true`: it is deferred, and given in time order. `false`: the caller is done with it.
    /// Mark it `#[inline(always)]` if it is short.
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool;

    /// Whether enough was taken for [`FilteredEvents::advance`] to come back when it can.
    fn is_full(&self) -> bool {
        false
    }

    /// Asked when what was taken must not grow further. The newest time among it: everything up to that time then counts
    /// as complete, although an older event may still come. `None`: there is room.
    fn flush_up_to(&self) -> Option<u64> {
        None
    }
}

/// An event that was just read, and may be deferred.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'e> {
    event: Event<'e>,
    is_late: bool,
}

impl<'e> Candidate<'e> {
    /// The event.
    #[inline(always)]
    pub fn event(&self) -> &Event<'e> {
        &self.event
    }

    /// Whether younger events may have been given already, so that it is out of order.
    #[inline(always)]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// A number that stands for the event's type until the next sequence point, also if the stream gives
    /// its id to another meanwhile. `None`: the type is not defined.
    #[inline(always)]
    pub fn type_number(&self) -> Option<u32> {
        let metadata = &self.event.context.tables.metadata;
        let slot = metadata.slot(u64::from(self.event.header.metadata_id));
        (slot != NO_SLOT).then_some(slot)
    }

    /// The same for its stack, for [`FilteredEvents::stack`]; 0 for none. What [`Event::stack_id`] is for an
    /// event in time order. Version 3, whose stacks have no ids: `None`.
    #[inline(always)]
    pub fn stack_number(&self) -> Option<u32> {
        if self.event.context.is_v3() {
            return None;
        }
        Some(match self.event.header.stack {
            0 => 0,
            id => self.event.context.tables.stacks.slot(id).wrapping_add(1),
        })
    }
}

/// The time up to which all events were read, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watermark {
    /// Up to this time, itself included.
    UpTo(u64),
    /// Everything so far, and numbers of stacks and types die: a sequence point comes, or the end.
    All,
}

/// Takes what a run gives: shows it to the filter, and queues what that defers.
struct Filtered<'a, F> {
    filter: &'a mut F,
    queue: &'a mut Queue,
}

impl<F: PendingFilter> Take for Filtered<'_, F> {
    #[inline(always)]
    fn begin(&mut self, end: u64, covered: &Covered) {
        self.queue.begin(end, covered);
    }

    #[inline(always)]
    fn take(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload: &[u8],
        payload_at: u64,
        form: BlobForm,
    ) -> bool {
        let event = Event { header, resolved: None, row: None, context, rest: payload, payload_at };
        let is_late = self.queue.is_late(header);
        if self.filter.is_deferred(&Candidate { event, is_late }) {
            self.queue.append(context, header, payload_at, form)
        } else {
            self.queue.pass(header);
            !self.filter.is_full()
        }
    }
}

/// Events in time order. A filter sees each of them first.
pub trait FilteredEvents {
    /// Reads on, showing events to `filter`, until some are complete: nothing that is older will come.
    /// Those that were deferred are to be taken by [`FilteredEvents::ready`]; before all are, this does nothing.
    /// `None`: there are no more events.
    ///
    /// What `filter` did not defer counts towards [`TimeOrdered::out_of_order`] all the same.
    ///
    /// ```
    /// use nettrace_parser::Reader;
    /// use nettrace_parser::internal::{Candidate, PendingFilter, FilteredEvents};
    ///
    /// /// Defers events with a stack, and counts the others.
    /// struct WithStack(u64);
    /// impl PendingFilter for WithStack {
    ///     fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
    ///         let has_stack = candidate.stack_number() != Some(0);
    ///         self.0 += u64::from(!has_stack);
    ///         has_stack
    ///     }
    /// }
    ///
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut events = Reader::from_slice(&bytes).time_ordered();
    /// let (mut filter, mut with_stack) = (WithStack(0), 0);
    /// while events.advance(&mut filter)?.is_some() {
    ///     while let Some(event) = events.ready() {
    ///         with_stack += u64::from(event.stack_id() != 0);
    ///     }
    /// }
    /// assert_eq!(with_stack + filter.0, events.reader().statistics().events);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reader::next_event`](crate::Reader::next_event).
    fn advance(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error>;

    /// The next of the events that waited and are complete, in time order.
    fn ready(&mut self) -> Option<Event<'_>>;

    /// Timestamp and [offset](Event::payload_offset) of what [`FilteredEvents::ready`] gives next.
    fn peek(&self) -> Option<(u64, u64)>;

    /// The stack of a [number](Candidate::stack_number); empty for 0, and for one that died.
    fn stack(&self, number: u32) -> Stack<'_>;
}

impl<S: Source> FilteredEvents for TimeOrdered<S> {
    fn advance(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error> {
        if self.queue.has_ready() {
            return Ok(Some(self.complete()));
        }
        if self.queue.finish() {
            self.plan_next();
        }
        loop {
            self.reader.keep_from(self.queue.position());
            match self.reader.step()? {
                Step::Event => {
                    self.has_filtered = true;
                    self.filter_current(filter);
                    self.filter_block(filter);
                    if let Some(newest) = filter.flush_up_to() {
                        self.queue.allow_all();
                        self.queue.raise_watermark(newest);
                        self.note_limit();
                        return Ok(Some(self.complete()));
                    }
                    if self.queue.is_full() && self.merge_batch() {
                        return Ok(Some(self.complete()));
                    }
                    if filter.is_full() {
                        self.queue.allow_to_watermark(0);
                        return Ok(Some(self.complete()));
                    }
                }
                // What waits holds the bytes behind it, too: it may not wait for ever.
                Step::Block(_) | Step::Skipped(_) | Step::Passed if self.spans_too_much() => {
                    self.queue.allow_all();
                    self.note_limit();
                    return Ok(Some(self.complete()));
                }
                Step::Block(_) | Step::Skipped(_) | Step::Passed => {}
                Step::Barrier | Step::End if std::mem::take(&mut self.has_filtered) => {
                    self.queue.allow_all();
                    return Ok(Some(Watermark::All));
                }
                Step::Barrier => {}
                Step::End => return Ok(None),
            }
        }
    }

    #[inline]
    fn ready(&mut self) -> Option<Event<'_>> {
        let (resolved, payload_at) = self.queue.pop(&self.reader.state().context, &mut self.header)?;
        let (context, source) = (&self.reader.state().context, self.reader.source());
        let (window, start) = (source.bytes(), source.start());
        Some(Event::new(context, &self.header, Some(resolved), payload_at, window, start))
    }

    #[inline]
    fn peek(&self) -> Option<(u64, u64)> {
        self.queue.peek()
    }

    fn stack(&self, number: u32) -> Stack<'_> {
        let context = &self.reader.state().context;
        let bytes = context.tables.stacks.row(number.wrapping_sub(1)).unwrap_or_default();
        Stack::new(bytes, context.trace.pointer_size)
    }
}

impl<S: Source> TimeOrdered<S> {
    fn complete(&self) -> Watermark {
        Watermark::UpTo(self.queue.watermark())
    }

    /// Shows the event that the cursor is on.
    fn filter_current(&mut self, filter: &mut impl PendingFilter) {
        let state = self.reader.state();
        let (context, header) = (&state.context, &state.cursor.header);
        let source = self.reader.source();
        let event =
            Event::new(context, header, None, state.cursor.payload_at, source.bytes(), source.start());
        let is_late = self.queue.is_late(header);
        if filter.is_deferred(&Candidate { event, is_late }) {
            self.queue.push(context, header, state.cursor.payload_at);
        } else {
            self.queue.pass(header);
        }
    }

    /// Shows the events that are left in the current block, as long as there is room.
    fn filter_block<F: PendingFilter>(&mut self, filter: &mut F) {
        while !self.queue.is_full() && !filter.is_full() {
            match self.reader.run(&mut Filtered { filter, queue: &mut self.queue }) {
                RunEnd::Between if self.queue.grow() => {}
                RunEnd::Between => return,
                RunEnd::OnBlob if self.reader.accept() => self.filter_current(filter),
                RunEnd::OnBlob => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;
    use nettrace_testdata::synth::{Blob, EventBlock, SequencePoint, Stream, Trace, Version};

    /// Takes everything, and notes what is late.
    struct Taking(Vec<bool>);

    impl PendingFilter for Taking {
        fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
            self.0.push(candidate.is_late());
            false
        }

        fn is_full(&self) -> bool {
            false
        }

        fn flush_up_to(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn behind_a_sequence_point_what_is_older_than_one_that_did_not_wait_is_late() {
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
