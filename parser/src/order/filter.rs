//! A filter in front of the queue of time order.
//!
//! Queuing an event costs more than reading it did: a record of 32 bytes, a merge, and
//! finding the payload again. A caller that needs only a few numbers of an event, or
//! nothing at all, can take them as the event is read, in file order. The filter defers
//! the other events, which are delivered in time order as usual.

use super::queue::Queue;
use crate::blob::BlobHeader;
use crate::block::stack::Stack;
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use crate::reader::{BlobForm, Take};
use crate::tables::{Covered, NO_SLOT};

/// Decides which events are deferred and delivered in time order.
pub trait PendingFilter {
    /// Decides whether an event is deferred. Called for each event, in file order.
    /// Returns `true` to defer it to its turn in time order; `false` if the caller is
    /// done with it. Mark short implementations `#[inline(always)]`.
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool;

    /// Returns whether the caller has taken enough for [`FilteredEvents::advance`] to
    /// return as soon as it can.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns the newest time in the taken data if the data should not grow any further:
    /// everything up to that time then counts as complete, although an older event may
    /// still arrive. Returns `None` if there is room for more.
    fn flush_up_to(&self) -> Option<u64> {
        None
    }
}

/// An event that was just read and may be deferred.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'e> {
    pub(super) event: Event<'e>,
    pub(super) is_late: bool,
}

impl<'e> Candidate<'e> {
    /// Returns the event.
    #[inline(always)]
    pub fn event(&self) -> &Event<'e> {
        &self.event
    }

    /// Returns whether newer events may have been delivered already, which makes this one
    /// out of order.
    #[inline(always)]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns a number that identifies the event's type until the next sequence point,
    /// even if the stream reuses the type's id before. `None` if the type is not defined.
    #[inline(always)]
    pub fn type_number(&self) -> Option<u32> {
        let metadata = &self.event.context.tables.metadata;
        let slot = metadata.slot(u64::from(self.event.header.metadata_id));
        (slot != NO_SLOT).then_some(slot)
    }

    /// Returns a number that identifies the event's stack, for [`FilteredEvents::stack`];
    /// 0 if it has none. It equals the [`Event::stack_id`] of an event in time order.
    /// `None` in version 3, where stacks have no ids.
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

/// The time up to which all events have been read, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watermark {
    /// Everything up to and including this time.
    UpTo(u64),
    /// Everything read so far. The numbers of stacks and types become invalid, because a
    /// sequence point or the end comes next.
    All,
}

/// Defers every event.
pub(super) struct DeferAll;

impl PendingFilter for DeferAll {
    #[inline(always)]
    fn is_deferred(&mut self, _: &Candidate<'_>) -> bool {
        true
    }
}

/// Shows the events of a run to the filter, and queues those that it defers.
pub(super) struct Filtered<'a, F> {
    pub(super) filter: &'a mut F,
    pub(super) queue: &'a mut Queue,
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
            // Which events are out of order must not depend on those that the filter
            // takes.
            self.queue.note_passed(header);
            !self.filter.is_full()
        }
    }
}

/// Events in time order that pass a filter first.
pub trait FilteredEvents {
    /// Reads on, passing events to `filter`, until some are complete: no older event can
    /// follow. Take the deferred ones among them with [`FilteredEvents::ready`]; until
    /// all are taken, this call does nothing. Returns `None` if there are no more events.
    ///
    /// Events that `filter` does not defer also count towards
    /// [`TimeOrdered::out_of_order`](super::TimeOrdered::out_of_order).
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
    /// Those of [`Reader::next_event`](crate::Reader::next_event).
    fn advance(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error>;

    /// Takes the next deferred event that is complete, in time order.
    fn ready(&mut self) -> Option<Event<'_>>;

    /// Returns the timestamp and [offset](Event::payload_offset) of the event that
    /// [`FilteredEvents::ready`] would return next.
    fn peek(&self) -> Option<(u64, u64)>;

    /// Returns the stack with a [number](Candidate::stack_number); empty for 0, and for a
    /// number that has become invalid.
    fn stack(&self, number: u32) -> Stack<'_>;
}
