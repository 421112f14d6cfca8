//! Turns of threads: which dispatcher each of them makes, runs and completes.

use super::reading::ThreadKey;
use crate::hash::HashMap;

/// Maximum number of turns that are kept, which take 24 bytes each. Later ones are unknown.
const MAX_TURNS: usize = 1 << 20;

/// What a thread does with a dispatcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TurnStep {
    Creates,
    Completes,
    /// The thread runs it from now on, in place of what it ran before. The dispatcher 0 is no async
    /// code.
    Runs,
}

/// Act of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AsyncTurn {
    pub(crate) ticks: u64,
    pub(crate) process: Option<u64>,
    pub(crate) os_thread: u64,
    pub(crate) dispatcher: u64,
    pub(crate) step: TurnStep,
}

/// Turns of all threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AsyncTurns {
    turns: Vec<StoredTurn>,
    threads: Vec<ThreadKey>,
    numbers: HashMap<ThreadKey, u32>,
    /// Dispatcher that each thread runs, and the time of what it told last.
    running: Vec<(u64, u64)>,
    left_out: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StoredTurn {
    ticks: u64,
    dispatcher: u64,
    thread: u32,
    step: TurnStep,
}

impl AsyncTurns {
    pub(super) fn created(&mut self, thread: ThreadKey, dispatcher: u64, ticks: u64) {
        self.add(thread, dispatcher, ticks, TurnStep::Creates);
    }

    pub(super) fn completed(&mut self, thread: ThreadKey, dispatcher: u64, ticks: u64) {
        self.add(thread, dispatcher, ticks, TurnStep::Completes);
    }

    pub(super) fn goes_on(&mut self, thread: ThreadKey, dispatcher: u64, ticks: u64) {
        let number = self.number(thread);
        let Some(running) = self.running.get_mut(number as usize) else { return };
        let (before, _) = std::mem::replace(running, (dispatcher, ticks));
        if before != dispatcher {
            self.add(thread, dispatcher, ticks, TurnStep::Runs);
        }
    }

    fn number(&mut self, thread: ThreadKey) -> u32 {
        let next = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(thread).or_insert(next);
        if number == next {
            self.threads.push(thread);
            self.running.push((0, 0));
        }
        number
    }

    fn add(&mut self, thread: ThreadKey, dispatcher: u64, ticks: u64, step: TurnStep) {
        if self.turns.len() >= MAX_TURNS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let thread = self.number(thread);
        if let Some((_, last)) = self.running.get_mut(thread as usize) {
            *last = ticks;
        }
        self.turns.push(StoredTurn { ticks, dispatcher, thread, step });
    }

    /// Puts the turns in the order of time. Those of a thread stay as they came. What a thread ran when
    /// its last buffer ended is not known to go on.
    pub(super) fn finish(mut self) -> AsyncTurns {
        let running = std::mem::take(&mut self.running).into_iter().zip(self.threads.clone());
        for ((_, ticks), thread) in running.filter(|((dispatcher, _), _)| *dispatcher != 0) {
            self.add(thread, 0, ticks, TurnStep::Runs);
        }
        self.turns.sort_by_key(|turn| turn.ticks);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns the number of turns that found no room.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn get(&self, number: usize) -> Option<AsyncTurn> {
        let StoredTurn { ticks, dispatcher, thread, step } = *self.turns.get(number)?;
        let (process, os_thread) = *self.threads.get(thread as usize)?;
        Some(AsyncTurn { ticks, process, os_thread, dispatcher, step })
    }
}
