//! Events at their turn in time order, and who receives them.

use crate::block::stack::Stack;
use crate::context::Context;
use crate::event::Event;
use crate::reader::Visit;

/// Event that was deferred, at its turn in time order.
#[derive(Debug, Clone, Copy)]
pub struct Delivered<'e> {
    pub(super) event: Event<'e>,
    pub(super) time: u64,
}

impl<'e> Delivered<'e> {
    /// Returns the event.
    #[inline(always)]
    pub fn event(&self) -> &Event<'e> {
        &self.event
    }

    /// Returns the place of the event in the order: the time in ticks by which it is ordered, which is
    /// later than its own if it came too late, and its [offset](Event::payload_offset).
    #[inline(always)]
    pub fn place(&self) -> (u64, u64) {
        (self.time, self.event.payload_at)
    }

    /// Returns the stack with a [number](super::Candidate::stack_number), as [`FilteredEvents::stack`](super::FilteredEvents::stack) does.
    pub fn stack(&self, number: u32) -> Stack<'e> {
        stack_at(self.event.context, number)
    }
}

/// Returns the stack with a [number](super::Candidate::stack_number).
pub(super) fn stack_at(context: &Context, number: u32) -> Stack<'_> {
    let bytes = context.tables.stacks.row(number.wrapping_sub(1)).unwrap_or_default();
    Stack::new(bytes, context.trace.pointer_size)
}

/// Receiver of events in time order. Its methods are inlined into the loop over the queue.
pub(super) trait Receive {
    fn event(&mut self, delivered: Delivered<'_>);
    fn wants_more(&self) -> bool;
}

impl<V: Visit> Receive for V {
    #[inline(always)]
    fn event(&mut self, delivered: Delivered<'_>) {
        Visit::event(self, delivered.event);
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        Visit::wants_more(self)
    }
}

/// Receiver that passes events to a function until it returns an error.
pub(super) struct TryDeliver<F, E> {
    pub(super) take: F,
    pub(super) result: Result<(), E>,
}

impl<F: FnMut(&Delivered<'_>) -> Result<(), E>, E> Receive for TryDeliver<F, E> {
    #[inline(always)]
    fn event(&mut self, delivered: Delivered<'_>) {
        if let Err(error) = (self.take)(&delivered) {
            self.result = Err(error);
        }
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.result.is_ok()
    }
}
