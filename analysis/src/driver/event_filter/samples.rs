//! Hands pending samples to the analysis, each with the handles of its thread and stack.

use super::by_number::ByNumber;
use super::filter::{CountedThread, MAX_NUMBERS, PendingSample};
use crate::convert::ConvertError;
use crate::driver::Analysis;
use crate::model::{RUNTIME_FRAMES, StackHandle, ThreadHandle};
use nettrace_parser::Stack;

/// Handles of stacks, by the numbers that the stream uses until the next sequence point.
#[derive(Debug)]
pub(super) struct StackHandles {
    handles: ByNumber<StackHandle>,
    /// The model's [`Model::reuses`](crate::model::Model::reuses) when the handles were
    /// looked up. Once the runtime places another method at an address, a stack with that
    /// address gets a new handle.
    reuses: usize,
}

impl Default for StackHandles {
    fn default() -> StackHandles {
        StackHandles { handles: ByNumber::new(StackHandles::NONE), reuses: 0 }
    }
}

impl StackHandles {
    /// Forgets all handles: a sequence point gives the numbers a new meaning.
    pub(super) fn clear(&mut self) {
        self.handles.clear();
    }

    const NONE: StackHandle = StackHandle(u32::MAX);

    fn put(&mut self, number: u32, handle: StackHandle) {
        if (number as usize) < MAX_NUMBERS {
            self.handles.put(number, handle);
        }
    }
}

/// Hands sorted samples to the analysis, interleaved with the deferred events.
pub(super) struct SampleFeed<'a> {
    pub(super) threads: &'a mut [CountedThread],
    pub(super) handles: &'a mut StackHandles,
    /// How many of the samples were handed over.
    pub(super) at: usize,
}

impl SampleFeed<'_> {
    /// Hands over the samples before `next` (ticks and stream position of a deferred
    /// event), or all if there is none. `stack_of` gives the stack of a number.
    #[inline]
    pub(super) fn until<'s>(
        &mut self,
        next: Option<(u64, u64)>,
        ready: &[PendingSample],
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> Result<(), ConvertError> {
        if self.handles.reuses != analysis.model().reuses() {
            self.handles.reuses = analysis.model().reuses();
            self.handles.handles.clear();
        }
        let end = next.unwrap_or((u64::MAX, u64::MAX));
        for sample in ready.get(self.at..).unwrap_or_default() {
            if (sample.ticks, sample.at) > end {
                break;
            }
            self.at = self.at.saturating_add(1);
            let thread = match self.threads.get(sample.thread as usize) {
                Some(CountedThread { handle: Some(handle), .. }) => *handle,
                _ => self.thread(sample.thread, analysis),
            };
            let stack = match self.handles.handles.get(sample.stack) {
                Some(handle) if *handle != StackHandles::NONE => {
                    analysis.model_mut().sampled(thread, *handle);
                    *handle
                }
                _ => {
                    let stack = stack_of(sample.stack);
                    let model = analysis.model_mut();
                    let handle = model.sample_stack_at(thread, sample.stack, stack, sample.ticks);
                    // One that has lost its callers may have others in the next sample.
                    if stack.len() != RUNTIME_FRAMES {
                        self.handles.put(sample.stack, handle);
                    }
                    handle
                }
            };
            analysis.cpu_sample(sample.ticks, thread, stack, sample.mode)?;
        }
        Ok(())
    }

    #[cold]
    fn thread(&mut self, place: u32, analysis: &mut Analysis<'_>) -> ThreadHandle {
        match self.threads.get_mut(place as usize) {
            Some(row) => {
                let handle = analysis.model_mut().count_events(row.process_id, row.thread_id, 0);
                row.handle = Some(handle);
                handle
            }
            None => ThreadHandle(0),
        }
    }
}
