//! Samples on their way from the sifter to the analysis.

use super::by_number::ByNumber;
use super::sifter::{MOST_NUMBERS, Row, Waiting};
use crate::convert::ConvertError;
use crate::driver::Analysis;
use crate::model::{StackHandle, ThreadHandle};
use nettrace_parser::Stack;

/// Handles of stacks by the numbers that the stream gives them for now.
#[derive(Debug)]
pub(super) struct Numbered {
    handles: ByNumber<StackHandle>,
    /// Reuses of memory when they were found: after one more, a stack may have a new handle.
    reuses: usize,
}

impl Default for Numbered {
    fn default() -> Numbered {
        Numbered { handles: ByNumber::new(Numbered::NONE), reuses: 0 }
    }
}

impl Numbered {
    /// Numbers mean something else from now on.
    pub(super) fn clear(&mut self) {
        self.handles.clear();
    }

    const NONE: StackHandle = StackHandle(u32::MAX);

    fn put(&mut self, number: u32, handle: StackHandle) {
        if (number as usize) < MOST_NUMBERS {
            self.handles.put(number, handle);
        }
    }
}

/// Samples on their way to the analysis.
pub(super) struct Taken<'a> {
    pub(super) threads: &'a mut [Row],
    pub(super) numbered: &'a mut Numbered,
    pub(super) process_id: Option<u64>,
    /// So many went.
    pub(super) at: usize,
}

impl Taken<'_> {
    /// Those before an event, or all; `stack_of` gives the stack of a number.
    #[inline]
    pub(super) fn until<'s>(
        &mut self,
        next: Option<(u64, u64)>,
        ready: &[Waiting],
        analysis: &mut Analysis<'_>,
        stack_of: impl Fn(u32) -> Stack<'s>,
    ) -> Result<(), ConvertError> {
        if self.numbered.reuses != analysis.model().reuses() {
            self.numbered.reuses = analysis.model().reuses();
            self.numbered.handles.clear();
        }
        let end = next.unwrap_or((u64::MAX, u64::MAX));
        for sample in ready.get(self.at..).unwrap_or_default() {
            if (sample.ticks, sample.at) > end {
                break;
            }
            self.at = self.at.saturating_add(1);
            let thread = match self.threads.get(sample.thread as usize) {
                Some(Row { handle: Some(handle), .. }) => *handle,
                _ => self.thread(sample.thread, analysis),
            };
            let stack = match self.numbered.handles.get(sample.stack) {
                Some(handle) if *handle != Numbered::NONE => *handle,
                _ => {
                    let stack = stack_of(sample.stack);
                    let handle = analysis.model_mut().stack_at(thread, sample.stack, stack, sample.ticks);
                    self.numbered.put(sample.stack, handle);
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
                let handle = analysis.model_mut().count_events(self.process_id, row.id, 0);
                row.handle = Some(handle);
                handle
            }
            None => ThreadHandle(0),
        }
    }
}
