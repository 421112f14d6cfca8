//! What .NET 11's async profiler says of the callers of async code:
//! `System.Runtime.CompilerServices.AsyncProfilerEventSource`.
//!
//! The runtime writes the stack of callers itself, whenever a thread resumes async code. A buffer
//! comes when it is full, so later than the samples that it explains. So [`AsyncRuns`] are read in a
//! pass of their own, and the analysis is given them.

use crate::hash::HashMap;
use nettrace_parser::view::{AsyncBuffer, AsyncDetail, AsyncEvent, View};
use nettrace_parser::{Event, Reader, Source};
use std::sync::Arc;

/// Maximum number of distinct stacks. Further ones are unknown.
const MAX_STACKS: usize = 1 << 16;
/// Maximum number of times at which threads went on with another stack, which take 16 bytes each.
/// Later ones are unknown.
const MAX_RUNS: usize = 1 << 21;
/// Maximum number of dispatchers whose stacks are kept. Further ones are unknown.
const MAX_DISPATCHERS: usize = 1 << 18;
/// Maximum number of frames of all stacks, which take 8 bytes each. Further stacks are unknown.
const MAX_KEPT_FRAMES: usize = 1 << 22;
/// Maximum number of threads that are followed. What further ones run is unknown.
const MAX_THREADS: usize = 1 << 14;
/// Maximum number of nested contexts of a thread; beyond it, the outermost half is dropped.
const MAX_NESTED: usize = 256;
/// Maximum number of frames of a stack with the callers of what made it.
const MAX_FRAMES: usize = 1024;

/// Stacks of the async code that threads ran over time, by the async profiler of .NET 11.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AsyncRuns {
    stacks: Vec<Arc<[u64]>>,
    threads: HashMap<(Option<u64>, u64), Vec<AsyncRun>>,
    left_out: u64,
}

/// Time from which on a thread runs the code of a stack, in ticks, and the stack's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AsyncRun {
    from: u64,
    stack: u32,
}

impl AsyncRuns {
    /// Reads the buffers of a trace; `None` if there are none.
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn read<S: Source>(
        reader: &mut Reader<S>,
    ) -> Result<Option<AsyncRuns>, nettrace_parser::Error> {
        let mut reading = Reading::default();
        reader.for_each(|event| reading.event(&event))?;
        Ok((!reading.runs.threads.is_empty()).then_some(reading.runs))
    }

    /// Returns the number of stacks, of times at which a thread went on, and of buffers of further
    /// threads that found no room. The callers of async code are unknown then.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of the stack that a thread ran at a time; `None` if it is not known.
    pub(super) fn stack_at(&self, process: Option<u64>, thread: u64, ticks: u64) -> Option<u32> {
        let rows = self.threads.get(&(process, thread))?;
        let after = rows.partition_point(|run| run.from <= ticks);
        let run = rows.get(after.checked_sub(1)?)?;
        (run.stack != NO_STACK).then_some(run.stack)
    }

    /// Returns the addresses of a stack, innermost first.
    pub(super) fn addresses(&self, stack: u32) -> &[u64] {
        self.stacks.get(stack as usize).map_or(&[], |stack| stack)
    }
}

/// What a sub-event says. Numbers are ids of dispatchers, which are 0 for none.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AsyncStep {
    Created {
        parent: u64,
        dispatcher: u64,
    },
    Resumed(u64),
    /// The thread leaves its innermost context: `is_over` if that is complete.
    Left {
        is_over: bool,
    },
    /// The innermost context goes on with the method this many frames further.
    MethodsEnd(u64),
    Stack {
        dispatcher: u64,
        is_appended: bool,
        is_resumed: bool,
        addresses: Vec<u64>,
    },
    /// What was known about the thread is over.
    Reset,
}

impl AsyncStep {
    fn of_event(event: &AsyncEvent<'_>) -> Option<AsyncStep> {
        Some(match (event.detail, event.id) {
            (AsyncDetail::Created { parent, dispatcher }, _) => {
                AsyncStep::Created { parent, dispatcher }
            }
            (AsyncDetail::Resumed { dispatcher }, _) => AsyncStep::Resumed(dispatcher),
            (AsyncDetail::Unwound { frames }, _) => AsyncStep::MethodsEnd(frames),
            (AsyncDetail::Stack(stack), id) => {
                // The start of a method is no return address. A library's awaiter has no code.
                let shown = |address: u64, is_start| {
                    (address != 0).then(|| address.saturating_add(u64::from(is_start)))
                };
                AsyncStep::Stack {
                    dispatcher: stack.dispatcher,
                    is_appended: id == 19,
                    is_resumed: matches!(id, 7 | 16),
                    addresses: (stack.frames())
                        .filter_map(|frame| shown(frame.address, frame.state.is_some()))
                        .collect(),
                }
            }
            (_, 3 | 13) => AsyncStep::Left { is_over: false },
            (_, 4 | 14) => AsyncStep::Left { is_over: true },
            (_, 10 | 18) => AsyncStep::MethodsEnd(1),
            (_, 20) => AsyncStep::Reset,
            _ => return None,
        })
    }
}

/// Number of the stack without frames.
const NO_STACK: u32 = u32::MAX;

/// A context in which a thread runs async code.
#[derive(Debug, Clone, Copy)]
struct AsyncContext {
    dispatcher: u64,
    /// Number of its methods that have ended.
    ended: u64,
}

#[derive(Debug, Default)]
struct Reading {
    runs: AsyncRuns,
    numbers: HashMap<Arc<[u64]>, u32>,
    /// Stack of each dispatcher, and that of what made it.
    known: HashMap<(Option<u64>, u64), Dispatcher>,
    contexts: HashMap<(Option<u64>, u64), Vec<AsyncContext>>,
    /// Number of frames of all stacks.
    frames: usize,
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Dispatcher {
    stack: u32,
    /// Callers of what made it: a stack, and the number of its frames that had ended.
    made_by: (u32, u64),
}

impl Default for Dispatcher {
    fn default() -> Dispatcher {
        Dispatcher { stack: NO_STACK, made_by: (NO_STACK, 0) }
    }
}

impl Reading {
    fn event(&mut self, event: &Event<'_>) {
        let Some(buffer) = AsyncBuffer::from_event(event) else { return };
        let key = (event.process_id(), buffer.os_thread_id);
        if self.contexts.len() >= MAX_THREADS && !self.contexts.contains_key(&key) {
            self.runs.left_out = self.runs.left_out.saturating_add(1);
            return;
        }
        for event in buffer.events() {
            if let Some(step) = AsyncStep::of_event(&event) {
                self.step(key, event.ticks, step);
            }
        }
    }

    fn step(&mut self, key: (Option<u64>, u64), ticks: u64, step: AsyncStep) {
        let process = key.0;
        let contexts = self.contexts.entry(key).or_default();
        let top = contexts.last().copied();
        match step {
            AsyncStep::Reset => contexts.clear(),
            AsyncStep::Created { parent, dispatcher } => {
                let by = top.filter(|top| top.dispatcher == parent);
                let stack = self.known.get(&(process, parent)).map_or(NO_STACK, |it| it.stack);
                if let Some(by) = by
                    && let Some(known) = self.dispatcher((process, dispatcher))
                {
                    known.made_by = (stack, by.ended);
                }
            }
            AsyncStep::Resumed(dispatcher) => {
                if contexts.len() >= MAX_NESTED {
                    contexts.drain(..MAX_NESTED / 2);
                }
                contexts.push(AsyncContext { dispatcher, ended: 0 });
                self.goes_on(key, ticks);
            }
            AsyncStep::Left { is_over } => {
                let left = contexts.pop();
                if let Some(left) = left.filter(|_| is_over) {
                    self.known.remove(&(process, left.dispatcher));
                }
                self.goes_on(key, ticks);
            }
            AsyncStep::MethodsEnd(count) => {
                if let Some(top) = contexts.last_mut() {
                    top.ended = top.ended.saturating_add(count);
                }
            }
            AsyncStep::Stack { dispatcher, is_appended, is_resumed, addresses } => {
                self.stack((process, dispatcher), is_appended, addresses);
                if is_resumed || is_appended {
                    self.goes_on(key, ticks);
                }
            }
        }
    }

    fn dispatcher(&mut self, key: (Option<u64>, u64)) -> Option<&mut Dispatcher> {
        let has_room = self.known.len() < MAX_DISPATCHERS || self.known.contains_key(&key);
        has_room.then(|| self.known.entry(key).or_default())
    }

    /// Takes the stack of a dispatcher. One without frames is the known one.
    fn stack(&mut self, key: (Option<u64>, u64), is_appended: bool, addresses: Vec<u64>) {
        if addresses.is_empty() {
            return;
        }
        let Some(known) = self.dispatcher(key).copied() else { return };
        let mut frames = match is_appended {
            true => self.runs.addresses(known.stack).to_vec(),
            false => Vec::new(),
        };
        frames.extend(addresses);
        if !is_appended {
            let (stack, ended) = known.made_by;
            let ended = usize::try_from(ended).unwrap_or(usize::MAX);
            frames.extend(self.runs.addresses(stack).get(ended..).unwrap_or_default());
        }
        frames.truncate(MAX_FRAMES);
        let stack = self.number(frames);
        if let Some(known) = self.dispatcher(key) {
            known.stack = stack;
        }
    }

    fn number(&mut self, frames: Vec<u64>) -> u32 {
        if let Some(known) = self.numbers.get(&*frames) {
            return *known;
        }
        let all = self.frames.saturating_add(frames.len());
        if self.runs.stacks.len() >= MAX_STACKS || all > MAX_KEPT_FRAMES {
            self.runs.left_out = self.runs.left_out.saturating_add(1);
            return NO_STACK;
        }
        let number = u32::try_from(self.runs.stacks.len()).unwrap_or(NO_STACK);
        self.frames = all;
        let frames: Arc<[u64]> = frames.into();
        self.runs.stacks.push(Arc::clone(&frames));
        self.numbers.insert(frames, number);
        number
    }

    /// Notes that a thread goes on with its innermost context.
    fn goes_on(&mut self, key: (Option<u64>, u64), from: u64) {
        let top = self.contexts.get(&key).and_then(|contexts| contexts.last());
        // What a thread runs outside of async code has no callers to be found.
        let Some(top) = top else { return };
        let known = self.known.get(&(key.0, top.dispatcher));
        let stack = known.map_or(NO_STACK, |known| known.stack);
        let rows = self.runs.threads.entry(key).or_default();
        if rows.last().is_some_and(|last| last.stack == stack) {
            return;
        }
        if self.count >= MAX_RUNS {
            self.runs.left_out = self.runs.left_out.saturating_add(1);
            return;
        }
        self.count = self.count.saturating_add(1);
        let from = rows.last().map_or(from, |last| from.max(last.from));
        rows.push(AsyncRun { from, stack });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted_and_takes_none() {
        let mut reading = Reading::default();
        let key = (None, 1);
        for dispatcher in 0..10_000 {
            reading.step(key, dispatcher, AsyncStep::Resumed(dispatcher));
        }
        assert!(reading.contexts[&key].len() <= MAX_NESTED);
        assert_eq!(reading.runs.left_out(), 0);
        for number in 0..2 * MAX_KEPT_FRAMES as u64 / 250 {
            let addresses = (0..250).map(|frame| number << 8 | frame | 1 << 40).collect();
            let (is_appended, is_resumed) = (false, true);
            let stack = AsyncStep::Stack { dispatcher: 9_999, is_appended, is_resumed, addresses };
            reading.step(key, 10_000, stack);
        }
        assert!(reading.frames <= MAX_KEPT_FRAMES, "{}", reading.frames);
        assert_eq!(reading.runs.stacks.len(), MAX_KEPT_FRAMES / 250);
        assert!(reading.runs.left_out() > 0);
    }
}
