//! The stacks of events and samples: which handle each has, whole or repaired, and what they show.

use super::Model;
use super::cut_stacks::{CutStacks, StackOf};
use super::handle::{ProcessHandle, StackHandle, ThreadHandle};
use nettrace_parser::{Event, Stack};

impl Model {
    /// Returns the handle of the stack of a CPU sample. `number` is the stream's current number for
    /// it.
    pub(crate) fn sample_stack_at(
        &mut self,
        thread: ThreadHandle,
        number: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        self.stack_at((StackOf::Sample, thread), number, stack, ticks)
    }

    /// Records that the start of a request names the endpoint that it is for.
    pub(crate) fn endpoint_started(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        endpoint: &str,
    ) {
        let stack = self.stack_of(event, thread);
        self.endpoints.started(thread, endpoint, stack);
    }

    /// Records that a thread was seen with a stack, maybe in the handler of an endpoint.
    #[inline]
    pub(crate) fn saw(&mut self, thread: ThreadHandle, stack: StackHandle) {
        self.endpoints.saw(thread, stack, &self.stacks);
    }

    /// Records that a CPU sample of a thread has a stack that is known, and whole.
    #[inline]
    pub(crate) fn sampled(&mut self, thread: ThreadHandle, stack: StackHandle) {
        self.repairs.whole(StackOf::Sample, thread, stack);
    }

    fn stack_at(
        &mut self,
        (of, thread): (StackOf, ThreadHandle),
        number: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        let process = self.threads.get(thread).map_or(ProcessHandle(0), |row| row.process);
        let frames = stack.len();
        let handle = self.stacks.intern(process, number, stack, ticks);
        self.repairs.with_callers(&mut self.stacks, (of, thread), handle, frames, ticks)
    }

    /// Sets how stacks that lost their callers are treated. This must be done before the first
    /// event.
    pub(crate) fn set_cut_stacks(&mut self, how: CutStacks) {
        self.repairs.how = how;
    }

    /// Returns how stacks that lost their callers are treated.
    pub(crate) fn cut_stacks(&self) -> CutStacks {
        self.repairs.how
    }

    /// Returns the handle of an event's stack. `thread` is the result of [`Model::learn`] for the
    /// event.
    #[inline]
    pub fn stack_of(&mut self, event: &Event<'_>, thread: ThreadHandle) -> StackHandle {
        let of = (StackOf::Event, thread);
        self.stack_at(of, event.stack_id(), event.stack(), event.timestamp_ticks())
    }

    /// Returns the handle of a stack with some frames of an event's thread, innermost first.
    pub(crate) fn stack_of_addresses(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        addresses: &[u64],
    ) -> StackHandle {
        let process = self.threads.get(thread).map_or(ProcessHandle(0), |row| row.process);
        let bytes: Vec<u8> = addresses.iter().flat_map(|it| it.to_le_bytes()).collect();
        let ticks = event.timestamp_ticks();
        self.stacks.intern(process, event.stack_id(), Stack::new(&bytes, 8), ticks)
    }

    /// Returns the handle of a CPU sample's stack.
    pub(crate) fn sample_stack_of(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
    ) -> StackHandle {
        self.sample_stack_at(thread, event.stack_id(), event.stack(), event.timestamp_ticks())
    }

    /// Returns the handle of an event's stack as the stream has it: it is not repaired, and repairs
    /// none of those after it, so that reading the stacks of more events changes none of the
    /// samples.
    #[cfg(feature = "page")]
    pub(crate) fn recorded_stack_of(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
    ) -> StackHandle {
        let process = self.threads.get(thread).map_or(ProcessHandle(0), |row| row.process);
        self.stacks.intern(process, event.stack_id(), event.stack(), event.timestamp_ticks())
    }
}
