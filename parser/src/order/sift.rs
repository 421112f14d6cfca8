//! Events that need not wait for their turn.
//!
//! Waiting costs more than reading: a record of 32 bytes, a merge, a way back to the payload. Who knows
//! by an event's type that it is of no use, or takes from it the few numbers that are, says so when it
//! is met, in file order; what is left comes in time order as ever.

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

/// Decides which events wait.
pub trait Sift {
    /// An event, in file order. `true`: it waits and is given in time order. `false`: that was all.
    /// Mark it `#[inline(always)]` if it is short.
    fn waits(&mut self, met: &Met<'_>) -> bool;

    /// Whether enough was taken for [`SiftedEvents::advance`] to come back when it can.
    fn is_full(&self) -> bool;

    /// The newest time that was taken, if what was taken may not grow further: then everything up to
    /// it counts as complete, although something older may still come.
    fn must_go(&self) -> Option<u64>;
}

/// An event, when it is met.
#[derive(Debug, Clone, Copy)]
pub struct Met<'e> {
    event: Event<'e>,
    is_late: bool,
}

impl<'e> Met<'e> {
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

    /// The same for its stack, for [`SiftedEvents::stack`]; 0 for none. What [`Event::stack_id`] is for an
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

/// Up to which time everything was met, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Complete {
    /// Up to this time, itself included.
    UpTo(u64),
    /// Everything so far, and numbers of stacks and types die: a sequence point comes, or the end.
    All,
}

/// Takes what a run gives: to the sifter, and to the queue what waits.
struct Sifted<'a, F> {
    sift: &'a mut F,
    queue: &'a mut Queue,
}

impl<F: Sift> Take for Sifted<'_, F> {
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
        if self.sift.waits(&Met { event, is_late }) {
            self.queue.append(context, header, payload_at, form)
        } else {
            self.queue.pass(header);
            !self.sift.is_full()
        }
    }
}

/// Events in time order, of which a sifter sees each before it waits.
pub trait SiftedEvents {
    /// Reads on, showing events to `sift`, until some are complete: nothing that is older will come.
    /// Those that wait are to be taken by [`SiftedEvents::ready`]; before all are, this does nothing.
    /// `None`: there are no more events.
    ///
    /// What `sift` did not let wait counts towards [`TimeOrdered::out_of_order`] all the same.
    ///
    /// ```
    /// use nettrace_parser::Reader;
    /// use nettrace_parser::internal::{Met, Sift, SiftedEvents};
    ///
    /// /// Lets events with a stack wait, and counts the others.
    /// struct WithStack(u64);
    /// impl Sift for WithStack {
    ///     fn waits(&mut self, met: &Met<'_>) -> bool {
    ///         let has_stack = met.stack_number() != Some(0);
    ///         self.0 += u64::from(!has_stack);
    ///         has_stack
    ///     }
    ///     fn is_full(&self) -> bool {
    ///         false
    ///     }
    ///     fn must_go(&self) -> Option<u64> {
    ///         None
    ///     }
    /// }
    ///
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut events = Reader::from_slice(&bytes).time_ordered();
    /// let (mut sift, mut with_stack) = (WithStack(0), 0);
    /// while events.advance(&mut sift)?.is_some() {
    ///     while let Some(event) = events.ready() {
    ///         with_stack += u64::from(event.stack_id() != 0);
    ///     }
    /// }
    /// assert_eq!(with_stack + sift.0, events.reader().statistics().events);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reader::next_event`](crate::Reader::next_event).
    fn advance(&mut self, sift: &mut impl Sift) -> Result<Option<Complete>, Error>;

    /// The next of the events that waited and are complete, in time order.
    fn ready(&mut self) -> Option<Event<'_>>;

    /// Timestamp and [offset](Event::payload_offset) of what [`SiftedEvents::ready`] gives next.
    fn peek(&self) -> Option<(u64, u64)>;

    /// The stack of a [number](Met::stack_number); empty for 0, and for one that died.
    fn stack(&self, number: u32) -> Stack<'_>;
}

impl<S: Source> SiftedEvents for TimeOrdered<S> {
    fn advance(&mut self, sift: &mut impl Sift) -> Result<Option<Complete>, Error> {
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
                    self.has_sifted = true;
                    self.sift_current(sift);
                    self.sift_block(sift);
                    if let Some(newest) = sift.must_go() {
                        self.queue.allow_all();
                        self.queue.raise_watermark(newest);
                        self.note_limit();
                        return Ok(Some(self.complete()));
                    }
                    if self.queue.is_full() && self.merge_batch() {
                        return Ok(Some(self.complete()));
                    }
                    if sift.is_full() {
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
                Step::Barrier | Step::End if std::mem::take(&mut self.has_sifted) => {
                    self.queue.allow_all();
                    return Ok(Some(Complete::All));
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
    fn complete(&self) -> Complete {
        Complete::UpTo(self.queue.watermark())
    }

    /// Shows the event that the cursor is on.
    fn sift_current(&mut self, sift: &mut impl Sift) {
        let state = self.reader.state();
        let (context, header) = (&state.context, &state.cursor.header);
        let source = self.reader.source();
        let event =
            Event::new(context, header, None, state.cursor.payload_at, source.bytes(), source.start());
        let is_late = self.queue.is_late(header);
        if sift.waits(&Met { event, is_late }) {
            self.queue.push(context, header, state.cursor.payload_at);
        } else {
            self.queue.pass(header);
        }
    }

    /// Shows the events that are left in the current block, as long as there is room.
    fn sift_block<F: Sift>(&mut self, sift: &mut F) {
        while !self.queue.is_full() && !sift.is_full() {
            match self.reader.run(&mut Sifted { sift, queue: &mut self.queue }) {
                RunEnd::Between if self.queue.grow() => {}
                RunEnd::Between => return,
                RunEnd::OnBlob if self.reader.accept() => self.sift_current(sift),
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

    impl Sift for Taking {
        fn waits(&mut self, met: &Met<'_>) -> bool {
            self.0.push(met.is_late());
            false
        }

        fn is_full(&self) -> bool {
            false
        }

        fn must_go(&self) -> Option<u64> {
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
        let mut sift = Taking(Vec::new());
        while events.advance(&mut sift).unwrap().is_some() {}
        assert_eq!(sift.0, [false, false, true, false]);
        let mut all = Reader::from_slice(&stream.bytes).time_ordered();
        while all.next_event().unwrap().is_some() {}
        assert_eq!((events.out_of_order(), all.out_of_order()), (1, 1));
    }
}
