//! Passes pending samples and events of tasks to the analysis, each with the handles of its thread
//! and stack.

use super::by_number::ByNumber;
use super::filter::{CountedThread, MAX_NUMBERS, Pending, PendingEvent};
use super::runs::EventRuns;
use crate::convert::ConvertError;
use crate::driver::Analysis;
use crate::model::{AwaitFields, RUNTIME_FRAMES, StackHandle, ThreadHandle};
use nettrace_parser::Stack;

/// Handles of stacks, by the stream's ids, which are valid until the next sequence point.
#[derive(Debug)]
pub(super) struct StackHandles {
    samples: ByNumber<StackHandle>,
    /// Handles for events of tasks, which are not repaired.
    tasks: ByNumber<StackHandle>,
    /// Value of [`Model::reuses`](crate::model::Model::reuses) when the handles were looked up.
    /// After a reuse of memory, stacks through it get new handles.
    reuses: usize,
}

impl Default for StackHandles {
    fn default() -> StackHandles {
        let none = || ByNumber::new(StackHandles::NONE);
        StackHandles { samples: none(), tasks: none(), reuses: 0 }
    }
}

impl StackHandles {
    /// Forgets all handles, because a sequence point gives the ids a new meaning.
    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.tasks.clear();
    }

    const NONE: StackHandle = StackHandle(u32::MAX);

    fn put(of: &mut ByNumber<StackHandle>, number: u32, handle: StackHandle) {
        if (number as usize) < MAX_NUMBERS {
            of.put(number, handle);
        }
    }

    #[inline(always)]
    fn of_sample<'s>(
        &mut self,
        sample: &Pending,
        thread: ThreadHandle,
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> StackHandle {
        if let Some(handle) = self.samples.get(sample.stack)
            && *handle != StackHandles::NONE
        {
            analysis.model_mut().sampled(thread, *handle);
            return *handle;
        }
        let stack = stack_of(sample.stack);
        let model = analysis.model_mut();
        let handle = model.sample_stack_at(thread, sample.stack, stack, sample.ticks);
        // A stack that has lost its callers may have other callers in the next sample.
        if stack.len() != RUNTIME_FRAMES {
            StackHandles::put(&mut self.samples, sample.stack, handle);
        }
        handle
    }

    #[inline(always)]
    fn of_task<'s>(
        &mut self,
        event: &Pending,
        thread: ThreadHandle,
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> StackHandle {
        if let Some(handle) = self.tasks.get(event.stack)
            && *handle != StackHandles::NONE
        {
            return *handle;
        }
        let stack = stack_of(event.stack);
        let model = analysis.model_mut();
        let handle = model.task_stack_at(thread, event.stack, stack, event.ticks);
        StackHandles::put(&mut self.tasks, event.stack, handle);
        handle
    }
}

/// Passes pending events to the analysis, in time order with the deferred events.
pub(super) struct PendingFeed<'a> {
    pub(super) threads: &'a mut [CountedThread],
    pub(super) runs: &'a mut EventRuns,
    pub(super) pending: &'a [Pending],
    pub(super) handles: &'a mut StackHandles,
}

impl PendingFeed<'_> {
    /// Passes on the pending events before `end` (ticks and stream position of a deferred event).
    /// `stack_of` returns the stack of an id.
    #[inline(always)]
    pub(super) fn until<'s>(
        &mut self,
        end: (u64, u64),
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> Result<(), ConvertError> {
        match self.runs.has_until(end) {
            true => self.pass_on(end, analysis, stack_of),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn pass_on<'s>(
        &mut self,
        end: (u64, u64),
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> Result<(), ConvertError> {
        if self.handles.reuses != analysis.model().reuses() {
            self.handles.reuses = analysis.model().reuses();
            self.handles.clear();
        }
        let (threads, handles) = (&mut *self.threads, &mut *self.handles);
        self.runs.take_until(end, self.pending, |next| {
            let thread = match threads.get(next.thread as usize) {
                Some(CountedThread { handle: Some(handle), .. }) => *handle,
                _ => counted(threads, next.thread, analysis),
            };
            match next.what {
                PendingEvent::Sample(mode) => {
                    let stack = handles.of_sample(next, thread, analysis, &stack_of);
                    analysis.cpu_sample(next.ticks, thread, stack, mode)
                }
                PendingEvent::Task(step) => {
                    let stack = match step.needs_stack() {
                        true => handles.of_task(next, thread, analysis, &stack_of),
                        false => AwaitFields::NO_STACK,
                    };
                    analysis.model_mut().task_stepped(step, thread, stack);
                    Ok(())
                }
            }
        })
    }
}

/// Counts a thread, which gets a handle.
#[cold]
fn counted(threads: &mut [CountedThread], place: u32, analysis: &mut Analysis<'_>) -> ThreadHandle {
    match threads.get_mut(place as usize) {
        Some(row) => {
            let handle = analysis.model_mut().count_events(row.process_id, row.thread_id, 0);
            row.handle = Some(handle);
            handle
        }
        None => ThreadHandle(0),
    }
}
