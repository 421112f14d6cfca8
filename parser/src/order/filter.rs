//! Lets a caller take events in file order, before they are queued for time order.
//!
//! Queuing an event costs more than reading it. A caller that needs only a few numbers of an
//! event, or nothing, can take them as the event is read, and defer all other events, which
//! are delivered in time order as usual.

use super::delivered::Delivered;
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
    /// Returns `true` to defer an event to its turn in time order, `false` if the caller is
    /// done with it. Called for each event, in file order. Mark short implementations
    /// `#[inline(always)]`.
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool;

    /// Returns whether [`FilteredEvents::advance`] should return as soon as it can.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns the newest time of the taken events if no more should be taken before they are
    /// used. Everything up to this time then counts as complete, although an older event may
    /// still arrive. Returns `None` if more can be taken.
    fn flush_up_to(&self) -> Option<u64> {
        None
    }
}

/// Event that was just read, for the filter to take or to defer.
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

    /// Returns whether the event is out of order, because newer events may have been delivered.
    #[inline(always)]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns a number that identifies the event's type until the next sequence point, even if the
    /// stream reuses the type's id before that. `None` if the type is not defined.
    #[inline(always)]
    pub fn type_number(&self) -> Option<u32> {
        let metadata = &self.event.context.tables.metadata;
        let slot = metadata.slot(u64::from(self.event.header.metadata_id));
        (slot != NO_SLOT).then_some(slot)
    }

    /// Returns the number of the event's stack for [`FilteredEvents::stack`], which is also the
    /// [`Event::stack_id`] of an event in time order; 0 without a stack. `None` in version 3,
    /// where stacks have no ids.
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

/// Time in ticks up to which all events have been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watermark {
    /// All events up to and including this time.
    UpTo(u64),
    /// All events so far, because a sequence point or the stream's end comes next. Numbers of
    /// stacks and types become invalid.
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

/// Passes the events of a block to the filter, and queues the events that it defers.
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
            // Events must not become out of order, or stop being it, because of the filter.
            self.queue.note_passed(header);
            !self.filter.is_full()
        }
    }
}

/// Delivers events in time order after a filter has seen them in file order.
pub trait FilteredEvents {
    /// Reads further events and passes them to `filter`. Returns when some of them are complete: no
    /// older event can follow. [`FilteredEvents::ready`] returns the deferred events among these;
    /// while it has events left, this call does nothing. Returns `None` if there are no more
    /// events.
    ///
    /// Events that `filter` does not defer also count towards
    /// [`TimeOrdered::out_of_order`](super::TimeOrdered::out_of_order).
    ///
    /// ```
    /// use nettrace_parser::Reader;
    /// use nettrace_parser::unstable::{Candidate, PendingFilter, FilteredEvents};
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
    /// The errors of [`Reader::next_event`](crate::Reader::next_event).
    fn advance(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error>;

    /// Takes the next deferred event, in time order; `None` if an older event may still follow.
    fn ready(&mut self) -> Option<Event<'_>>;

    /// Passes the deferred events that [`FilteredEvents::ready`] would return to `take`, until it
    /// returns an error. This is the fastest way to take them.
    ///
    /// # Errors
    /// Those of `take`.
    fn deliver<E>(&mut self, take: impl FnMut(&Delivered<'_>) -> Result<(), E>) -> Result<(), E>;

    /// Returns the stack with a [number](Candidate::stack_number); empty for 0, and for a number
    /// that is not valid any more.
    fn stack(&self, number: u32) -> Stack<'_>;
}
