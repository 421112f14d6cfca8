//! What .NET 11's async profiler says of the callers of async code:
//! `System.Runtime.CompilerServices.AsyncProfilerEventSource`.
//!
//! The runtime writes the stack of callers itself, whenever a thread resumes async code. A buffer
//! comes when it is full, so later than the samples that it explains. So [`AsyncRuns`] are read in a
//! pass of their own, and the analysis is given them.

use crate::hash::HashMap;
use nettrace_parser::view::{AsyncBuffer, AsyncDetail, AsyncEvent, AsyncManifest, View};
use nettrace_parser::{BlockKind, Event, Reader, Source};
use std::sync::Arc;

/// Maximum number of distinct stacks. Further ones are unknown.
const MAX_STACKS: usize = 1 << 16;
/// Maximum number of times at which threads went on with another stack, which take 16 bytes each.
/// Later ones are unknown.
const MAX_RUNS: usize = 1 << 21;
/// Maximum number of times at which dispatchers are suspended or resumed, which take 40 bytes each.
const MAX_EDGES: usize = 1 << 19;
/// Maximum number of dispatchers whose stacks are kept. Further ones are unknown.
const MAX_DISPATCHERS: usize = 1 << 18;
/// Maximum number of frames of all stacks, which take 8 bytes each. Further stacks are unknown.
const MAX_KEPT_FRAMES: usize = 1 << 22;
/// Maximum number of threads that are followed. What further ones run is unknown.
const MAX_THREADS: usize = 1 << 14;
/// Maximum number of processes whose manifest is kept. Kinds of sub-events that later runtimes add end
/// the buffers of further ones.
const MAX_MANIFESTS: usize = 64;
/// Maximum number of nested contexts of a thread; beyond it, the outermost half is dropped.
const MAX_NESTED: usize = 256;
/// Maximum number of frames of a stack with the callers of what made it.
const MAX_FRAMES: usize = 1024;

/// End of the name of the async profiler's provider.
const PROVIDER_END: &str = ".AsyncProfilerEventSource";

/// Stacks of the async code that threads ran over time, by the async profiler of .NET 11.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AsyncRuns {
    stacks: Vec<Arc<[u64]>>,
    threads: HashMap<(Option<u64>, u64), Vec<AsyncRun>>,
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
        let mut reading = Reading::default();
        reader.for_each(|event| reading.event(&event))?;
        Ok((!reading.runs.threads.is_empty()).then_some(reading.runs))
    }

    /// Returns the number of stacks, of times at which a thread went on, and of buffers of further
    /// threads that found no room. The callers of async code are unknown then.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of buffers that could not be read to their end. The callers of async code
    /// may be unknown then.
    pub fn unread_buffers(&self) -> u64 {
        self.unread_buffers
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
        /// Whether it is code of a state machine, whose tasks write events of their own.
        is_of_task: bool,
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
                    is_of_task: matches!(id, 16 | 19),
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
    /// What the manifest of each process tells of its buffers.
    manifests: HashMap<Option<u64>, AsyncManifest>,
    /// Number of frames of all stacks.
    frames: usize,
    count: usize,
    /// When dispatchers are suspended and resumed, instead of what threads run; `None` if that is not
    /// asked.
    edges: Option<Vec<PauseEdge>>,
    /// Number of further edges.
    edges_left_out: u64,
}

/// Time at which a dispatcher is suspended, or resumed with a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PauseEdge {
    process: Option<u64>,
    dispatcher: u64,
    ticks: u64,
    /// Number of the stack that is resumed, and whether it is one of a task; `None` if the dispatcher is
    /// suspended.
    resumed: Option<(u32, bool)>,
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
        if let Some(buffer) = AsyncBuffer::from_event(event) {
            self.buffer(event.process_id(), &buffer);
        }
    }

    fn buffer(&mut self, process: Option<u64>, buffer: &AsyncBuffer<'_>) {
        let key = (process, buffer.os_thread_id);
        if self.contexts.len() >= MAX_THREADS && !self.contexts.contains_key(&key) {
            self.runs.left_out = self.runs.left_out.saturating_add(1);
            return;
        }
        let known = self.manifests.get(&process).copied().unwrap_or_default();
        let mut events = buffer.events_by(known);
        let mut count = 0u32;
        for event in events.by_ref() {
            count = count.saturating_add(1);
            if let Some(step) = AsyncStep::of_event(&event) {
                self.step(key, event.ticks, step);
            }
        }
        if *events.manifest() != known
            && (self.manifests.len() < MAX_MANIFESTS || self.manifests.contains_key(&process))
        {
            self.manifests.insert(process, *events.manifest());
        }
        let is_whole = events.unread().is_empty() && count == buffer.event_count;
        let unread = &mut self.runs.unread_buffers;
        *unread = unread.saturating_add(u64::from(!is_whole));
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
                self.edge(PauseEdge { process, dispatcher, ticks, resumed: None });
            }
            AsyncStep::Resumed(dispatcher) => {
                if contexts.len() >= MAX_NESTED {
                    contexts.drain(..MAX_NESTED / 2);
                }
                contexts.push(AsyncContext { dispatcher, ended: 0 });
                self.goes_on(key, ticks);
            }
            AsyncStep::Left { is_over } => {
                if let Some(AsyncContext { dispatcher, .. }) = contexts.pop() {
                    match is_over {
                        true => drop(self.known.remove(&(process, dispatcher))),
                        false => self.edge(PauseEdge { process, dispatcher, ticks, resumed: None }),
                    }
                }
                self.goes_on(key, ticks);
            }
            AsyncStep::MethodsEnd(count) => {
                if let Some(top) = contexts.last_mut() {
                    top.ended = top.ended.saturating_add(count);
                }
            }
            AsyncStep::Stack { dispatcher, is_appended, is_resumed, is_of_task, addresses } => {
                self.stack((process, dispatcher), is_appended, addresses);
                let known = self.known.get(&(process, dispatcher));
                if let Some(Dispatcher { stack, .. }) = known.filter(|_| is_resumed).copied() {
                    let resumed = Some((stack, is_of_task));
                    self.edge(PauseEdge { process, dispatcher, ticks, resumed });
                }
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

    /// Notes that a dispatcher is suspended or resumed.
    fn edge(&mut self, edge: PauseEdge) {
        match &mut self.edges {
            Some(edges) if edges.len() < MAX_EDGES => edges.push(edge),
            Some(_) => self.edges_left_out = self.edges_left_out.saturating_add(1),
            None => {}
        }
    }

    /// Notes that a thread goes on with its innermost context.
    fn goes_on(&mut self, key: (Option<u64>, u64), from: u64) {
        if self.edges.is_some() {
            return;
        }
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

/// Times in which async code was suspended, by what the async profiler says.
#[derive(Debug)]
pub(crate) struct AsyncPauses {
    reading: Reading,
}

/// Time in which a chain of async calls was suspended, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AsyncPause {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Number of the stack that was resumed; its innermost method had awaited.
    pub(crate) stack: usize,
    /// Whether the chain is one of tasks, which write events of their awaits, too.
    pub(crate) is_of_task: bool,
}

impl Default for AsyncPauses {
    fn default() -> AsyncPauses {
        let edges = Some(Vec::new());
        AsyncPauses { reading: Reading { edges, ..Reading::default() } }
    }
}

impl AsyncPauses {
    /// Takes a buffer of the async profiler.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        self.reading.event(event);
    }

    /// Returns the addresses of the stacks from a number on, innermost first.
    pub(crate) fn stacks_from(&self, number: usize) -> impl Iterator<Item = &[u64]> {
        self.reading.runs.stacks.iter().skip(number).map(|stack| &**stack)
    }

    /// Returns the pauses that have ended, and the number of what found no room. Buffers of several
    /// threads come in any order, so it is known only at the end what belongs together.
    pub(crate) fn finish(mut self) -> (Vec<AsyncPause>, u64) {
        let mut edges = self.reading.edges.take().unwrap_or_default();
        edges.sort_unstable();
        let pauses = edges.windows(2).filter_map(|pair| {
            let [one, other] = pair else { return None };
            let is_pause = (one.process, one.dispatcher) == (other.process, other.dispatcher);
            let is_pause = is_pause && one.resumed.is_none();
            let (stack, is_of_task) = other.resumed.filter(|_| is_pause)?;
            let stack = usize::try_from(stack).ok().filter(|_| stack != NO_STACK)?;
            Some(AsyncPause { from: one.ticks, to: other.ticks, stack, is_of_task })
        });
        let left_out = self.reading.edges_left_out.saturating_add(self.reading.runs.left_out);
        (pauses.collect(), left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a buffer of a thread that states a number of sub-events and has these bytes of them.
    fn buffer(count: u32, events: &[u8]) -> Vec<u8> {
        let size = u32::try_from(events.len() + 37).unwrap();
        let head = [&[1][..], &size.to_le_bytes(), &[0; 4], &9u64.to_le_bytes()].concat();
        let times = [10u64, 20].map(u64::to_le_bytes).concat();
        [&head, &count.to_le_bytes()[..], &times, events].concat()
    }

    #[test]
    fn a_kind_of_a_later_runtime_does_not_hide_what_follows() {
        // The manifest has kind 24 with sizes of one byte; then a context is resumed with its stack.
        let manifest = [22, 0, 9, 0, 1, 1, 1, 1, 0, 1, 24, 1, 1];
        let later = [24, 1, 2, 8, 8, 2, 1, 1, 5, 7, 1, 5, 0, 0, 0, 1, 5, 0x40];
        let mut reading = Reading::default();
        let mut take = |process, count, bytes: &[u8]| {
            let bytes = buffer(count, bytes);
            reading.buffer(process, &AsyncBuffer::from_bytes(&bytes).unwrap());
            (reading.runs.unread_buffers(), reading.runs.stacks.len())
        };
        assert_eq!(take(Some(1), 1, &manifest), (0, 0));
        assert_eq!(take(Some(2), 3, &later), (1, 0), "another process has no manifest");
        assert_eq!(take(Some(1), 3, &later), (1, 1));
        assert_eq!(take(Some(1), 4, &later), (2, 1), "one sub-event less than stated");
        assert_eq!(reading.runs.addresses(0), [0x40]);
    }

    #[test]
    fn a_pause_ends_when_its_dispatcher_goes_on_though_another_thread_tells_it_first() {
        let mut pauses = AsyncPauses::default();
        let mut step = |thread, ticks, step| pauses.reading.step((None, thread), ticks, step);
        let stack = |dispatcher| AsyncStep::Stack {
            dispatcher,
            is_appended: false,
            is_resumed: true,
            is_of_task: false,
            addresses: vec![0x40],
        };
        // The second thread's buffer comes first.
        step(2, 50, AsyncStep::Resumed(7));
        step(2, 51, stack(7));
        step(2, 60, AsyncStep::Left { is_over: true });
        step(1, 10, AsyncStep::Created { parent: 0, dispatcher: 7 });
        step(1, 20, AsyncStep::Resumed(7));
        step(1, 21, stack(7));
        step(1, 30, AsyncStep::Left { is_over: false });
        step(1, 90, AsyncStep::Created { parent: 0, dispatcher: 8 });
        let pause = |from, to| AsyncPause { from, to, stack: 0, is_of_task: false };
        assert_eq!(pauses.stacks_from(0).collect::<Vec<_>>(), [[0x40]]);
        assert_eq!(pauses.finish(), (vec![pause(10, 21), pause(30, 51)], 0));
    }

    #[test]
    fn edges_that_find_no_room_are_counted() {
        let mut pauses = AsyncPauses::default();
        for dispatcher in 0..MAX_EDGES as u64 + 3 {
            let step = AsyncStep::Created { parent: 0, dispatcher };
            pauses.reading.step((None, 1), dispatcher, step);
        }
        assert_eq!(pauses.finish(), (Vec::new(), 3));
    }

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
            let stack = AsyncStep::Stack {
                dispatcher: 9_999,
                is_appended: false,
                is_resumed: true,
                is_of_task: false,
                addresses,
            };
            reading.step(key, 10_000, stack);
        }
        assert!(reading.frames <= MAX_KEPT_FRAMES, "{}", reading.frames);
        assert_eq!(reading.runs.stacks.len(), MAX_KEPT_FRAMES / 250);
        assert!(reading.runs.left_out() > 0);
    }
}
