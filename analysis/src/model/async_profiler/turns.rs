//! Turns of threads: which dispatcher each of them makes, runs and completes.

use super::reading::AsyncThread;

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
    /// By their numbers.
    threads: Vec<TurningThread>,
    left_out: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TurningThread {
    of: AsyncThread,
    /// Dispatcher that it runs.
    running: u64,
    /// Time of what it told last.
    last: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StoredTurn {
    ticks: u64,
    dispatcher: u64,
    thread: u32,
    step: TurnStep,
}

impl AsyncTurns {
    pub(super) fn created(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        self.add(thread, dispatcher, ticks, TurnStep::Creates);
    }

    pub(super) fn completed(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        self.add(thread, dispatcher, ticks, TurnStep::Completes);
    }

    pub(super) fn goes_on(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        let Some(row) = self.thread(thread) else { return };
        row.last = ticks;
        let before = std::mem::replace(&mut row.running, dispatcher);
        if before != dispatcher {
            self.add(thread, dispatcher, ticks, TurnStep::Runs);
        }
    }

    fn thread(&mut self, of: AsyncThread) -> Option<&mut TurningThread> {
        while self.threads.len() <= of.number as usize {
            self.threads.push(TurningThread { of, running: 0, last: 0 });
        }
        let row = self.threads.get_mut(of.number as usize)?;
        row.of = of;
        Some(row)
    }

    fn add(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64, step: TurnStep) {
        if self.turns.len() >= MAX_TURNS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        if let Some(row) = self.thread(thread) {
            row.last = ticks;
        }
        self.turns.push(StoredTurn { ticks, dispatcher, thread: thread.number, step });
    }

    /// Puts the turns in the order of time. Those of a thread stay as they came. What a thread ran when
    /// its last buffer ended is not known to go on.
    pub(super) fn finish(mut self) -> AsyncTurns {
        for row in self.threads.clone().into_iter().filter(|row| row.running != 0) {
            self.add(row.of, 0, row.last, TurnStep::Runs);
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
        let AsyncThread { process, os_thread, .. } = self.threads.get(thread as usize)?.of;
        Some(AsyncTurn { ticks, process, os_thread, dispatcher, step })
    }
}
