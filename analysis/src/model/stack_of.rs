//! The part of [`Model`] that stores the stacks of events and samples, and repairs them.

use super::Model;
use super::async_profiler::AsyncRuns;
use super::async_stacks::{AsyncStacks, AwaitFields, TaskStep, ThreadPlace};
use super::cut_stacks::{CutStacks, StackOf};
use super::handle::{ProcessHandle, StackHandle, ThreadHandle};
use super::sample::Mode;
use super::thread_times::Unsampled;
use nettrace_parser::{Event, Stack};
use std::sync::Arc;

impl Model {
    /// Returns the handle of a CPU sample's stack. `number` is the id by which the stream refers to
    /// the stack at present.
    pub(crate) fn sample_stack_at(
        &mut self,
        thread: ThreadHandle,
        number: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        self.stack_at((StackOf::Sample, thread), number, stack, ticks)
    }

    /// Records that an event starts a request to an endpoint, which it names.
    pub(crate) fn endpoint_started(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        endpoint: &str,
    ) {
        let stack = self.stack_of(event, thread);
        self.endpoints.started(thread, endpoint, stack);
    }

    /// Records a stack of a thread, which may go through the handler of an endpoint.
    #[inline]
    pub(crate) fn saw(&mut self, thread: ThreadHandle, stack: StackHandle) {
        self.endpoints.saw(thread, stack, &self.stacks);
    }

    /// Counts a sample by what the sampler says of its thread.
    #[inline]
    pub(crate) fn count_sample(&mut self, stack: StackHandle, mode: Mode) {
        self.stacks.count_sample(stack, mode);
    }

    /// Records the stack of a CPU sample, which is known already. It may complete later stacks of
    /// the thread.
    #[inline]
    pub(crate) fn sampled(&mut self, thread: ThreadHandle, stack: StackHandle) {
        self.repairs.whole(StackOf::Sample, thread, stack);
    }

    #[inline(always)]
    fn stack_at(
        &mut self,
        (of, thread): (StackOf, ThreadHandle),
        number: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        let process = self.process_of_thread(thread);
        let frames = stack.len();
        let handle = self.stacks.intern(process, number, stack, ticks);
        self.repairs.with_callers(&mut self.stacks, (of, thread), handle, frames, ticks)
    }

    /// Joins stacks with the callers of async code. This must be done before the first event.
    pub(crate) fn join_async_callers(&mut self, runs: Option<Arc<AsyncRuns>>) {
        self.async_stacks = Some(Box::new(AsyncStacks::new(runs)));
    }

    /// Returns what the async profiler says of threads, if stacks are joined with it.
    pub(crate) fn async_runs(&self) -> Option<Arc<AsyncRuns>> {
        self.async_stacks.as_ref()?.profiled_runs().cloned()
    }

    /// Takes an event of a task, which may tell the callers of async code.
    pub(crate) fn follow_task(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        fields: &AwaitFields,
    ) {
        let Some(step) = self.task_step(*event, fields) else { return };
        let stack = match step.needs_stack() {
            true => {
                self.task_stack_at(thread, event.stack_id(), event.stack(), event.timestamp_ticks())
            }
            false => AwaitFields::NO_STACK,
        };
        self.task_stepped(step, thread, stack);
    }

    /// Returns what an event of a task with this payload says, if its fields have places that are
    /// known. `None` if [`Model::task_step`] must look.
    #[inline(never)]
    pub(crate) fn task_step_at_places(
        &mut self,
        payload: &[u8],
        fields: &AwaitFields,
    ) -> Option<TaskStep> {
        fields.step_at_places(payload, &mut self.texts)
    }

    /// Returns what an event of a task says; `None` if it is damaged. The event is a copy, so that
    /// that of the caller can stay in registers.
    #[inline(never)]
    pub(crate) fn task_step(&mut self, event: Event<'_>, fields: &AwaitFields) -> Option<TaskStep> {
        fields.step(&event, &mut self.texts)
    }

    /// Returns the handle of the stack of an event of a task. `number` is the id by which the stream
    /// refers to the stack at present.
    pub(crate) fn task_stack_at(
        &mut self,
        thread: ThreadHandle,
        number: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        let process = self.process_of_thread(thread);
        self.stacks.intern_of_task(process, number, stack, ticks)
    }

    /// Takes what an event of a task says. `stack`: that of the event, if the step needs it.
    pub(crate) fn task_stepped(
        &mut self,
        step: TaskStep,
        thread: ThreadHandle,
        stack: StackHandle,
    ) {
        let process = self.process_of_thread(thread);
        if let Some(async_stacks) = &mut self.async_stacks {
            async_stacks.follow(step, process, thread, stack);
        }
    }

    fn process_of_thread(&self, thread: ThreadHandle) -> ProcessHandle {
        self.threads.get(thread).map_or(ProcessHandle(0), |row| row.process)
    }

    /// Returns the handle of a thread's stack with the callers of what the thread runs, if stacks are
    /// to have them.
    #[inline(always)]
    pub(crate) fn with_async_callers(
        &mut self,
        thread: ThreadHandle,
        stack: StackHandle,
        ticks: u64,
    ) -> StackHandle {
        match self.async_stacks {
            None => stack,
            Some(_) => self.joined(thread, stack, ticks),
        }
    }

    #[inline(never)]
    fn joined(&mut self, thread: ThreadHandle, stack: StackHandle, ticks: u64) -> StackHandle {
        let Some(async_stacks) = &mut self.async_stacks else { return stack };
        let os_thread = self.threads.get(thread).and_then(|row| row.os_thread_id);
        let process = self.stacks.process(stack).unwrap_or(ProcessHandle(0));
        let id = self.processes.get(process.index()).and_then(|row| row.id);
        let place = ThreadPlace { thread, process, id, os_thread, ticks };
        async_stacks.join(&place, stack, &mut self.stacks)
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
    #[inline(never)]
    pub fn stack_of(&mut self, event: &Event<'_>, thread: ThreadHandle) -> StackHandle {
        let place = (event.payload_offset(), event.stack_id(), thread);
        if let Some((_, known)) = self.last_stack.filter(|(last, _)| *last == place) {
            return known;
        }
        let of = (StackOf::Event, thread);
        let stack = self.stack_at(of, event.stack_id(), event.stack(), event.timestamp_ticks());
        let stack = self.with_async_callers(thread, stack, event.timestamp_ticks());
        self.last_stack = Some((place, stack));
        stack
    }

    /// Returns the handle of a stack of `addresses`, innermost first, which are a part of an
    /// event's stack.
    pub(crate) fn stack_of_addresses(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        addresses: &[u64],
    ) -> StackHandle {
        let process = self.process_of_thread(thread);
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

    /// Returns the handle of the stack that stands for processor time without samples.
    pub(super) fn unsampled_stack(&mut self, unsampled: Unsampled) -> StackHandle {
        let bytes = unsampled.address().to_le_bytes();
        self.stacks.intern(Unsampled::PROCESS, u32::MAX, Stack::new(&bytes, 8), 0)
    }

    /// Returns the handle of an event's stack as it was recorded. The stack is neither repaired nor
    /// used to repair later ones, so that reading the stacks of more events changes no sample.
    #[cfg(feature = "page")]
    pub(crate) fn recorded_stack_of(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
    ) -> StackHandle {
        let process = self.process_of_thread(thread);
        self.stacks.intern(process, event.stack_id(), event.stack(), event.timestamp_ticks())
    }
}
