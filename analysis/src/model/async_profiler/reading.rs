//! Follows the threads of a trace through their buffers.

use super::stack_list::{AsyncStackList, NO_STACK, shared};
use super::step::{AsyncStep, HiddenFrames, StackMoment};
use crate::hash::HashMap;
use nettrace_parser::Event;
use nettrace_parser::view::{AsyncBuffer, AsyncManifest, View};

/// Maximum number of dispatchers whose stacks are kept; beyond it, the older half is forgotten, by the ids,
/// which count up.
const MAX_DISPATCHERS: usize = 1 << 18;
/// Maximum number of threads that are followed. What further ones run is unknown.
const MAX_THREADS: usize = 1 << 14;
/// Maximum number of processes whose manifest is kept. Kinds of sub-events that later runtimes add end
/// the buffers of further ones.
const MAX_MANIFESTS: usize = 64;
/// Maximum number of nested contexts of a thread; beyond it, the outermost half is dropped.
const MAX_NESTED: usize = 256;
/// Maximum number of frames of a stack with the callers of what made it.
const MAX_FRAMES: usize = 1024;

/// Process and id of a dispatcher, which is 0 for none.
type DispatcherKey = (Option<u64>, u64);

/// Thread that is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AsyncThread {
    pub(super) process: Option<u64>,
    pub(super) os_thread: u64,
    /// Place among the threads, in the order in which their buffers came.
    pub(super) number: u32,
}

impl AsyncThread {
    /// Returns the ids of the process and the OS thread.
    pub(super) fn ids(self) -> (Option<u64>, u64) {
        (self.process, self.os_thread)
    }
}

/// Keeps some of what threads do, in ticks of the event clock. Each thread's acts come in order, those
/// of several threads in any.
pub(super) trait KeepAsync {
    /// A thread makes a dispatcher.
    fn created(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64);
    /// The stack that a dispatcher will go on with, which was made just now.
    fn will_run(&mut self, thread: AsyncThread, dispatcher: u64, stack: u32);
    /// A thread leaves a dispatcher, which is suspended. `stack`: what that will go on with, if that was
    /// told.
    fn suspended(&mut self, thread: AsyncThread, dispatcher: u64, stack: Option<u32>, ticks: u64);
    /// A thread resumes a dispatcher. `stack`: what goes on, and whether that is code of tasks.
    fn resumed(&mut self, thread: AsyncThread, dispatcher: u64, stack: (u32, bool), ticks: u64);
    /// A dispatcher is complete.
    fn completed(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64);
    /// A thread goes on with a dispatcher and its stack, or with no async code.
    fn goes_on(&mut self, thread: AsyncThread, runs: Option<(u64, u32)>, ticks: u64);
}

/// Context in which a thread runs a dispatcher.
#[derive(Debug, Clone, Copy)]
struct AsyncContext {
    dispatcher: u64,
    stack: u32,
    hidden: HiddenFrames,
    /// Number of its methods that have ended.
    ended: u64,
    /// Stack with which it is about to be suspended.
    suspends_with: Option<u32>,
}

/// Follows the threads of a trace through their buffers.
#[derive(Debug, Default)]
pub(super) struct AsyncReading<K> {
    pub(super) kept: K,
    pub(super) stacks: AsyncStackList,
    /// Stack of each dispatcher, and that of what made it.
    known: HashMap<DispatcherKey, Dispatcher>,
    /// Contexts of each thread, innermost last.
    contexts: Vec<Vec<AsyncContext>>,
    /// Time of what each thread told last.
    told: Vec<u64>,
    threads: HashMap<(Option<u64>, u64), u32>,
    /// What the manifest of each process tells of its buffers.
    manifests: HashMap<Option<u64>, AsyncManifest>,
    /// Number of buffers of further threads.
    pub(super) buffers_left_out: u64,
    pub(super) unread_buffers: u64,
}

#[derive(Debug, Clone, Copy)]
struct Dispatcher {
    stack: u32,
    hidden: HiddenFrames,
    /// Callers of what made it: a stack, and the number of its frames that had ended.
    made_by: (u32, u64),
}

impl Default for Dispatcher {
    fn default() -> Dispatcher {
        Dispatcher { stack: NO_STACK, hidden: HiddenFrames::default(), made_by: (NO_STACK, 0) }
    }
}

impl<K: KeepAsync> AsyncReading<K> {
    /// Takes an event, which may be a buffer.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if let Some(buffer) = AsyncBuffer::from_event(event) {
            self.buffer(event.process_id(), &buffer);
        }
    }

    pub(super) fn buffer(&mut self, process: Option<u64>, buffer: &AsyncBuffer<'_>) {
        let Some(thread) = self.thread(process, buffer.os_thread_id) else {
            self.buffers_left_out = self.buffers_left_out.saturating_add(1);
            return;
        };
        let mut told = self.told.get(thread.number as usize).copied().unwrap_or(0);
        if buffer.first_ticks < told {
            // It comes twice, or too late: what the thread did after it is known already.
            self.unread_buffers = self.unread_buffers.saturating_add(1);
            return;
        }
        let known = self.manifests.get(&process).copied().unwrap_or_default();
        let mut events = buffer.events_by(known);
        let mut count = 0u32;
        for event in events.by_ref() {
            count = count.saturating_add(1);
            told = told.max(event.ticks);
            if let Some(step) = AsyncStep::of_event(&event) {
                self.step(thread, event.ticks, step);
            }
        }
        if let Some(last) = self.told.get_mut(thread.number as usize) {
            *last = told;
        }
        if *events.manifest() != known
            && (self.manifests.len() < MAX_MANIFESTS || self.manifests.contains_key(&process))
        {
            self.manifests.insert(process, *events.manifest());
        }
        let is_whole = events.unread().is_empty() && count == buffer.event_count;
        self.unread_buffers = self.unread_buffers.saturating_add(u64::from(!is_whole));
    }

    /// Returns a thread; `None` if too many are followed.
    pub(super) fn thread(&mut self, process: Option<u64>, os_thread: u64) -> Option<AsyncThread> {
        let number = match self.threads.get(&(process, os_thread)) {
            Some(number) => *number,
            None if self.contexts.len() >= MAX_THREADS => return None,
            None => {
                let number = u32::try_from(self.contexts.len()).ok()?;
                self.contexts.push(Vec::new());
                self.told.push(0);
                self.threads.insert((process, os_thread), number);
                number
            }
        };
        Some(AsyncThread { process, os_thread, number })
    }

    pub(super) fn step(&mut self, thread: AsyncThread, ticks: u64, step: AsyncStep) {
        let process = thread.process;
        let Some(contexts) = self.contexts.get_mut(thread.number as usize) else { return };
        let top = contexts.last().copied();
        match step {
            AsyncStep::Reset => {
                contexts.clear();
                if top.is_some() {
                    self.kept.goes_on(thread, None, ticks);
                }
            }
            AsyncStep::Created { parent, dispatcher } => {
                if let Some(by) = top.filter(|top| top.dispatcher == parent) {
                    let known = known(&mut self.known, (process, dispatcher));
                    known.made_by = (by.stack, by.hidden.shown_of(by.ended));
                }
                self.kept.created(thread, dispatcher, ticks);
            }
            AsyncStep::Resumed(dispatcher) => {
                if contexts.len() >= MAX_NESTED {
                    contexts.drain(..MAX_NESTED / 2);
                }
                let known = self.known.get(&(process, dispatcher)).copied();
                let Dispatcher { stack, hidden, .. } = known.unwrap_or_default();
                contexts.push(AsyncContext {
                    dispatcher,
                    stack,
                    hidden,
                    ended: 0,
                    suspends_with: None,
                });
                self.kept.goes_on(thread, Some((dispatcher, stack)), ticks);
            }
            AsyncStep::Left { is_over } => {
                contexts.pop();
                let goes_on = contexts.last().map(|next| (next.dispatcher, next.stack));
                if let Some(AsyncContext { dispatcher, suspends_with, .. }) = top {
                    match is_over {
                        true => {
                            self.known.remove(&(process, dispatcher));
                            self.kept.completed(thread, dispatcher, ticks);
                        }
                        false => self.kept.suspended(thread, dispatcher, suspends_with, ticks),
                    }
                }
                self.kept.goes_on(thread, goes_on, ticks);
            }
            AsyncStep::MethodsEnd(count) => {
                if let Some(top) = contexts.last_mut() {
                    top.ended = top.ended.saturating_add(count);
                }
            }
            AsyncStep::Stack { dispatcher, of, is_of_task, addresses, hidden } => {
                let key = (process, dispatcher);
                let taken = StackTaken { of, addresses, hidden };
                let (stack, hidden) = take_stack(&mut self.known, &mut self.stacks, key, taken);
                let top = contexts.last_mut().filter(|top| top.dispatcher == dispatcher);
                match (of, top) {
                    (StackMoment::Created, _) => self.kept.will_run(thread, dispatcher, stack),
                    (StackMoment::Suspended, Some(top)) => {
                        top.suspends_with = (stack != NO_STACK).then_some(stack);
                    }
                    (StackMoment::Resumed | StackMoment::Appended, top) => {
                        if of == StackMoment::Resumed {
                            self.kept.resumed(thread, dispatcher, (stack, is_of_task), ticks);
                        }
                        if let Some(top) = top {
                            (top.stack, top.hidden) = (stack, hidden);
                            self.kept.goes_on(thread, Some((dispatcher, stack)), ticks);
                        }
                    }
                    (StackMoment::Suspended, None) => {}
                }
            }
        }
    }
}

/// Returns what is known of a dispatcher. One that another thread has completed in a buffer that came
/// earlier stays until there is no room.
fn known(all: &mut HashMap<DispatcherKey, Dispatcher>, key: DispatcherKey) -> &mut Dispatcher {
    if all.len() >= MAX_DISPATCHERS && !all.contains_key(&key) {
        let mut ids: Vec<u64> = all.keys().map(|(_, id)| *id).collect();
        let (_, middle, _) = ids.select_nth_unstable(MAX_DISPATCHERS / 2);
        let middle = *middle;
        all.retain(|(_, id), _| *id > middle);
    }
    all.entry(key).or_default()
}

/// Stack of a dispatcher in a sub-event.
struct StackTaken {
    of: StackMoment,
    addresses: Vec<u64>,
    hidden: HiddenFrames,
}

/// Takes the stack of a dispatcher, and returns its number. One without frames is the known one.
fn take_stack(
    all: &mut HashMap<DispatcherKey, Dispatcher>,
    stacks: &mut AsyncStackList,
    key: DispatcherKey,
    StackTaken { of, addresses, hidden }: StackTaken,
) -> (u32, HiddenFrames) {
    if addresses.is_empty() {
        let known = all.get(&key).copied().unwrap_or_default();
        return (known.stack, known.hidden);
    }
    let known = known(all, key);
    let mut frames = addresses;
    if of == StackMoment::Appended {
        frames.splice(0..0, stacks.addresses(known.stack).iter().copied());
    } else {
        known.hidden = hidden;
        let (stack, ended) = known.made_by;
        let ended = usize::try_from(ended).unwrap_or(usize::MAX);
        let callers = stacks.addresses(stack).get(ended..).unwrap_or_default();
        // The stack of a state machine has those that await it, too.
        let shared = shared(&frames, callers);
        frames.extend(callers.get(shared..).unwrap_or_default());
    }
    frames.truncate(MAX_FRAMES);
    known.stack = stacks.number(frames);
    (known.stack, known.hidden)
}

#[cfg(test)]
mod tests {
    use super::super::stack_list::MAX_KEPT_FRAMES;
    use super::*;

    /// Keeps nothing.
    #[derive(Debug, Default)]
    struct Nothing;

    impl KeepAsync for Nothing {
        fn created(&mut self, _: AsyncThread, _: u64, _: u64) {}
        fn will_run(&mut self, _: AsyncThread, _: u64, _: u32) {}
        fn suspended(&mut self, _: AsyncThread, _: u64, _: Option<u32>, _: u64) {}
        fn resumed(&mut self, _: AsyncThread, _: u64, _: (u32, bool), _: u64) {}
        fn completed(&mut self, _: AsyncThread, _: u64, _: u64) {}
        fn goes_on(&mut self, _: AsyncThread, _: Option<(u64, u32)>, _: u64) {}
    }

    /// Returns a buffer of a thread from a time on, which states a number of sub-events and has these bytes
    /// of them.
    fn buffer(from: u64, count: u32, events: &[u8]) -> Vec<u8> {
        let size = u32::try_from(events.len() + 37).unwrap();
        let head = [&[1][..], &size.to_le_bytes(), &[0; 4], &9u64.to_le_bytes()].concat();
        let times = [from, from + 10].map(u64::to_le_bytes).concat();
        [&head, &count.to_le_bytes()[..], &times, events].concat()
    }

    #[test]
    fn a_kind_of_a_later_runtime_does_not_hide_what_follows() {
        // The manifest has kind 24 with sizes of one byte; then a context is resumed with its stack.
        let manifest = [22, 0, 9, 0, 1, 1, 1, 1, 0, 1, 24, 1, 1];
        let later = [24, 1, 2, 8, 8, 2, 1, 1, 5, 7, 1, 5, 0, 0, 0, 1, 5, 0x40];
        let mut reading = AsyncReading::<Nothing>::default();
        let mut from = 0;
        let mut take = |process, count, bytes: &[u8]| {
            from += 10;
            let bytes = buffer(from, count, bytes);
            reading.buffer(process, &AsyncBuffer::from_bytes(&bytes).unwrap());
            (reading.unread_buffers, reading.stacks.stacks.len())
        };
        assert_eq!(take(Some(1), 1, &manifest), (0, 0));
        assert_eq!(take(Some(2), 3, &later), (1, 0), "another process has no manifest");
        assert_eq!(take(Some(1), 3, &later), (1, 1));
        assert_eq!(take(Some(1), 4, &later), (2, 1), "one sub-event less than stated");
        assert_eq!(reading.stacks.addresses(0), [0x40]);
    }

    #[test]
    fn a_buffer_that_comes_twice_or_too_late_counts_once_or_as_unread() {
        let mut reading = AsyncReading::<Nothing>::default();
        for from in [10, 20, 20, 10] {
            // The thread is in the context of 5 after each of them.
            let bytes = buffer(from, 1, &[2, 5, 1, 5]);
            reading.buffer(None, &AsyncBuffer::from_bytes(&bytes).unwrap());
        }
        assert_eq!((reading.contexts[0].len(), reading.unread_buffers), (2, 2));
    }

    #[test]
    fn chains_that_nobody_completes_give_way_to_later_ones() {
        let (mut reading, last) = (AsyncReading::<Nothing>::default(), MAX_DISPATCHERS as u64 + 9);
        let thread = reading.thread(None, 1).unwrap();
        for dispatcher in 0..=last {
            let (of, hidden) = (StackMoment::Created, HiddenFrames::default());
            let addresses = vec![0x40];
            let stack = AsyncStep::Stack { dispatcher, of, is_of_task: false, addresses, hidden };
            reading.step(thread, dispatcher, stack);
        }
        assert_eq!(reading.known[&(None, last)].stack, 0);
        assert!(reading.known.len() <= MAX_DISPATCHERS);
    }

    /// Returns the addresses of a dispatcher that is made in another one, by their stacks when they are
    /// resumed. `raw`: frames of the maker; 0 has no code. `ended`: number of them that end before.
    fn made_in(raw: &[u64], ended: u64, own: &[u64]) -> Vec<u64> {
        let mut reading = AsyncReading::<Nothing>::default();
        let thread = reading.thread(None, 1).unwrap();
        let resumed = |dispatcher, raw: &[u64]| AsyncStep::Stack {
            dispatcher,
            of: StackMoment::Resumed,
            is_of_task: true,
            addresses: raw.iter().copied().filter(|address| *address != 0).collect(),
            hidden: HiddenFrames::from_code(raw.iter().map(|address| *address != 0)),
        };
        for step in [
            AsyncStep::Resumed(1),
            resumed(1, raw),
            AsyncStep::MethodsEnd(ended),
            AsyncStep::Created { parent: 1, dispatcher: 2 },
            AsyncStep::Resumed(2),
            resumed(2, own),
        ] {
            reading.step(thread, 0, step);
        }
        reading.stacks.stacks.last().unwrap().to_vec()
    }

    #[test]
    fn what_is_made_in_a_method_has_the_methods_that_have_not_ended_as_callers() {
        assert_eq!(made_in(&[0, 0xa, 0xb], 1, &[0xc]), [0xc, 0xa, 0xb], "an awaiter without code");
        assert_eq!(made_in(&[0, 0xa, 0, 0xb], 2, &[0xc]), [0xc, 0xb]);
        assert_eq!(made_in(&[0xa, 0xb], 9, &[0xc]), [0xc]);
    }

    #[test]
    fn callers_that_a_stack_has_are_not_there_twice() {
        assert_eq!(made_in(&[0xa, 0xb], 0, &[0xc, 0xa, 0xb]), [0xc, 0xa, 0xb]);
        assert_eq!(made_in(&[0xa, 0xb], 0, &[0xc, 0xa]), [0xc, 0xa, 0xb]);
        assert_eq!(made_in(&[0xa, 0xb], 1, &[0xa, 0xb]), [0xa, 0xb], "a loop");
    }

    #[test]
    fn what_finds_no_room_is_counted_and_takes_none() {
        let mut reading = AsyncReading::<Nothing>::default();
        let thread = reading.thread(None, 1).unwrap();
        for dispatcher in 0..10_000 {
            reading.step(thread, dispatcher, AsyncStep::Resumed(dispatcher));
        }
        assert!(reading.contexts[0].len() <= MAX_NESTED);
        assert_eq!(reading.stacks.left_out, 0);
        for number in 0..2 * MAX_KEPT_FRAMES as u64 / 250 {
            let addresses = (0..250).map(|frame| number << 8 | frame | 1 << 40).collect();
            let stack = AsyncStep::Stack {
                dispatcher: 9_999,
                of: StackMoment::Resumed,
                hidden: HiddenFrames::default(),
                is_of_task: false,
                addresses,
            };
            reading.step(thread, 10_000, stack);
        }
        assert!(reading.stacks.frames <= MAX_KEPT_FRAMES, "{}", reading.stacks.frames);
        assert_eq!(reading.stacks.stacks.len(), MAX_KEPT_FRAMES / 250);
        assert!(reading.stacks.left_out > 0);
    }
}
