//! Passes pending samples to the analysis, each with the handles of its thread and stack.

use super::by_number::ByNumber;
use super::filter::{CountedThread, MAX_NUMBERS, PendingSample};
use crate::convert::ConvertError;
use crate::driver::Analysis;
use crate::model::{RUNTIME_FRAMES, StackHandle, ThreadHandle};
use nettrace_parser::Stack;

/// Handles of stacks, by the stream's ids, which are valid until the next sequence point.
#[derive(Debug)]
pub(super) struct StackHandles {
    handles: ByNumber<StackHandle>,
    /// Value of [`Model::reuses`](crate::model::Model::reuses) when the handles were looked up.
    /// After a reuse of memory, stacks through it get new handles.
    reuses: usize,
}

impl Default for StackHandles {
    fn default() -> StackHandles {
        StackHandles { handles: ByNumber::new(StackHandles::NONE), reuses: 0 }
    }
}

impl StackHandles {
    /// Forgets all handles, because a sequence point gives the ids a new meaning.
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

/// Passes sorted samples to the analysis, in time order with the deferred events.
pub(super) struct SampleFeed<'a> {
    pub(super) threads: &'a mut [CountedThread],
    pub(super) handles: &'a mut StackHandles,
    /// Number of samples that were passed on.
    pub(super) at: usize,
}

impl SampleFeed<'_> {
    /// Passes on the samples before `end` (ticks and stream position of a deferred event).
    /// `stack_of` returns the stack of an id.
    #[inline(always)]
    pub(super) fn until<'s>(
        &mut self,
        end: (u64, u64),
        ready: &[PendingSample],
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> Result<(), ConvertError> {
        match ready.get(self.at) {
            Some(next) if (next.ticks, next.at) <= end => {
                self.pass_on(end, ready, analysis, stack_of)
            }
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn pass_on<'s>(
        &mut self,
        end: (u64, u64),
        ready: &[PendingSample],
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> Result<(), ConvertError> {
        if self.handles.reuses != analysis.model().reuses() {
            self.handles.reuses = analysis.model().reuses();
            self.handles.handles.clear();
        }
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
                    // A stack that has lost its callers may have other callers in the next sample.
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
