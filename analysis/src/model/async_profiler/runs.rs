//! What threads run over time, read in a pass of its own.

use super::reading::{AsyncReading, AsyncThread, KeepAsync};
use super::stack_list::NO_STACK;
use super::turns::{AsyncTurn, AsyncTurns};
use crate::hash::{HashMap, HashSet};
use nettrace_parser::{BlockKind, Reader, Source};
use std::sync::Arc;

/// Maximum number of times at which threads went on with another stack, which take 16 bytes each.
/// Later ones are unknown.
const MAX_RUNS: usize = 1 << 21;

/// End of the name of the async profiler's provider.
const PROVIDER_END: &str = ".AsyncProfilerEventSource";

/// Stacks of the async code that threads ran over time, by the async profiler of .NET 11.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AsyncRuns {
    stacks: Vec<Arc<[u64]>>,
    /// By process and OS thread.
    threads: HashMap<(Option<u64>, u64), Vec<AsyncRun>>,
    turns: AsyncTurns,
    /// Numbers of the stacks of state machines, whose tasks write events of their own.
    of_tasks: HashSet<u32>,
    left_out: u64,
    unread_buffers: u64,
}

/// Time from which on a thread runs the code of a stack, in ticks, and the stack's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AsyncRun {
    from: u64,
    stack: u32,
}

impl AsyncRuns {
    /// Returns whether the async profiler may have written to a trace, which the definitions of its
    /// event types show: no event is read. `blocks` is made by [`Reader::blocks_only`].
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn occur<S: Source>(blocks: &mut Reader<S>) -> Result<bool, nettrace_parser::Error> {
        // Names are UTF-16 up to version 5, and UTF-8 from version 6 on.
        let wide: Vec<u8> = PROVIDER_END.bytes().flat_map(|byte| [byte, 0]).collect();
        let has = |content: &[u8], name: &[u8]| content.windows(name.len()).any(|it| it == name);
        while let Some(block) = blocks.next_block()? {
            if block.kind == BlockKind::Metadata
                && (has(block.content, &wide) || has(block.content, PROVIDER_END.as_bytes()))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the buffers of a trace; `None` if there are none.
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn read<S: Source>(
        reader: &mut Reader<S>,
    ) -> Result<Option<AsyncRuns>, nettrace_parser::Error> {
        let mut reading = AsyncReading::<KeptRuns>::default();
        reader.for_each(|event| reading.event(&event))?;
        Ok(AsyncRuns::from_reading(reading))
    }

    fn from_reading(reading: AsyncReading<KeptRuns>) -> Option<AsyncRuns> {
        let AsyncReading { kept, stacks, buffers_left_out, unread_buffers, .. } = reading;
        let left_out = [kept.left_out, stacks.left_out, buffers_left_out];
        let turns = kept.turns.finish();
        let threads = kept.threads.into_iter().filter(|(_, runs)| !runs.is_empty());
        let threads: HashMap<_, _> =
            threads.map(|(of, runs)| ((of.process, of.os_thread), runs)).collect();
        let has_any = !threads.is_empty() || !turns.is_empty();
        has_any.then(|| AsyncRuns {
            stacks: stacks.stacks,
            threads,
            turns,
            of_tasks: kept.of_tasks,
            left_out: left_out.into_iter().fold(0, u64::saturating_add),
            unread_buffers,
        })
    }

    /// Returns the number of stacks, of times at which a thread went on, and of buffers of further
    /// threads that found no room. The callers of async code are unknown then.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of turns of threads that found no room. What threads did for activities is not
    /// known then.
    pub fn turns_left_out(&self) -> u64 {
        self.turns.left_out()
    }

    /// Returns the number of buffers that could not be read to their end, or came twice or after later
    /// ones of their thread. The callers of async code may be unknown then.
    pub fn unread_buffers(&self) -> u64 {
        self.unread_buffers
    }

    /// Returns the number of the stack that a thread ran at a time; `None` if it is not known.
    pub(in crate::model) fn stack_at(
        &self,
        process: Option<u64>,
        thread: u64,
        ticks: u64,
    ) -> Option<u32> {
        let rows = self.threads.get(&(process, thread))?;
        let after = rows.partition_point(|run| run.from <= ticks);
        let run = rows.get(after.checked_sub(1)?)?;
        (run.stack != NO_STACK).then_some(run.stack)
    }

    /// Returns the addresses of the stack that a thread ran at a time, innermost first, and whether they
    /// are those of a state machine, whose tasks write events of their own.
    pub(crate) fn resumed_at(
        &self,
        process: Option<u64>,
        thread: u64,
        ticks: u64,
    ) -> Option<(&[u64], bool)> {
        let stack = self.stack_at(process, thread, ticks)?;
        Some((self.addresses(stack), self.of_tasks.contains(&stack)))
    }

    /// Returns a turn of the threads by its number, in the order of time.
    pub(crate) fn turn(&self, number: usize) -> Option<AsyncTurn> {
        self.turns.get(number)
    }

    /// Returns whether a thread tells something at a time or later.
    pub(crate) fn has_turns_after(&self, process: Option<u64>, thread: u64, ticks: u64) -> bool {
        self.turns.has_after((process, thread), ticks)
    }

    /// Returns the addresses of a stack, innermost first.
    pub(in crate::model) fn addresses(&self, stack: u32) -> &[u64] {
        self.stacks.get(stack as usize).map_or(&[], |stack| stack)
    }
}

/// What threads run when, while it is read.
#[derive(Debug, Default)]
pub(super) struct KeptRuns {
    /// By the number of the thread.
    threads: Vec<(AsyncThread, Vec<AsyncRun>)>,
    count: usize,
    pub(super) turns: AsyncTurns,
    of_tasks: HashSet<u32>,
    left_out: u64,
}

impl KeptRuns {
    /// Adds a time at which a thread goes on with a stack.
    fn run(&mut self, thread: AsyncThread, stack: u32, from: u64) {
        while self.threads.len() <= thread.number as usize {
            self.threads.push((thread, Vec::new()));
        }
        let Some((of, rows)) = self.threads.get_mut(thread.number as usize) else { return };
        *of = thread;
        if rows.last().map_or(NO_STACK, |last| last.stack) == stack {
            return;
        }
        if self.count >= MAX_RUNS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.count = self.count.saturating_add(1);
        let from = rows.last().map_or(from, |last| from.max(last.from));
        rows.push(AsyncRun { from, stack });
    }
}

impl KeepAsync for KeptRuns {
    fn created(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        self.turns.created(thread, dispatcher, ticks);
    }

    fn will_run(&mut self, _: AsyncThread, _: u64, _: u32) {}

    fn suspended(&mut self, thread: AsyncThread, dispatcher: u64, _: Option<u32>, _: u64) {
        self.turns.suspended(thread, dispatcher);
    }

    fn resumed(&mut self, _: AsyncThread, _: u64, (stack, is_of_task): (u32, bool), _: u64) {
        if is_of_task {
            self.of_tasks.insert(stack);
        }
    }

    fn completed(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        self.turns.completed(thread, dispatcher, ticks);
    }

    fn goes_on(&mut self, thread: AsyncThread, runs: Option<(u64, u32)>, ticks: u64) {
        let (dispatcher, stack) = runs.unwrap_or((0, NO_STACK));
        self.turns.goes_on(thread, dispatcher, ticks);
        self.run(thread, stack, ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_left_async_code_runs_no_stack_of_it() {
        let mut kept = KeptRuns::default();
        let thread = AsyncThread { process: Some(1), os_thread: 9, number: 0 };
        kept.goes_on(thread, Some((7, 3)), 10);
        kept.goes_on(thread, None, 20);
        let runs = AsyncRuns {
            threads: [((Some(1), 9), kept.threads[0].1.clone())].into_iter().collect(),
            ..AsyncRuns::default()
        };
        let at = |ticks| runs.stack_at(Some(1), 9, ticks);
        assert_eq!((at(9), at(10), at(19), at(20)), (None, Some(3), Some(3), None));
    }
}
