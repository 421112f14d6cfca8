//! Turns of threads: which dispatcher each of them makes, runs and completes.

use super::reading::AsyncThread;
use crate::hash::HashMap;

/// Maximum number of turns that are kept, which take 24 bytes each, and one more a thread. Later ones are
/// unknown.
const MAX_TURNS: usize = 1 << 20;

/// What a thread does with a dispatcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TurnStep {
    Creates,
    Completes,
    /// The thread runs it from now on. The dispatcher 0 is no async code.
    Runs {
        /// Whether what the thread ran before is suspended. Otherwise that is complete, or goes on later
        /// on the thread, or is not known to go on.
        suspends: bool,
    },
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
    /// State of each thread, by its number.
    threads: Vec<LastTurn>,
    /// Numbers of the threads by process and OS thread, once the turns are in order.
    numbers: HashMap<(Option<u64>, u64), u32>,
    left_out: u64,
}

/// State of a thread after its last turn that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastTurn {
    of: AsyncThread,
    /// Dispatcher that it runs.
    dispatcher: u64,
    /// Whether that is suspended.
    is_suspended: bool,
    /// Time of what it told last.
    ticks: u64,
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

    pub(super) fn suspended(&mut self, thread: AsyncThread, dispatcher: u64) {
        if let Some(last) = self.last_of(thread).filter(|last| last.dispatcher == dispatcher) {
            last.is_suspended = true;
        }
    }

    pub(super) fn goes_on(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        let Some(last) = self.last_of(thread).copied() else { return };
        let step = TurnStep::Runs { suspends: last.is_suspended };
        let is_kept = match last.dispatcher == dispatcher {
            true => self.turns.len() < MAX_TURNS,
            false => self.add(thread, dispatcher, ticks, step),
        };
        if let Some(last) = self.last_of(thread).filter(|_| is_kept) {
            *last = LastTurn { of: thread, dispatcher, is_suspended: false, ticks };
        }
    }

    fn last_of(&mut self, of: AsyncThread) -> Option<&mut LastTurn> {
        while self.threads.len() <= of.number as usize {
            let (dispatcher, is_suspended, ticks) = (0, false, 0);
            self.threads.push(LastTurn { of, dispatcher, is_suspended, ticks });
        }
        let last = self.threads.get_mut(of.number as usize)?;
        last.of = of;
        Some(last)
    }

    /// Adds a turn. Returns whether there is room for it.
    fn add(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64, step: TurnStep) -> bool {
        if self.turns.len() >= MAX_TURNS {
            self.left_out = self.left_out.saturating_add(1);
            return false;
        }
        if let Some(last) = self.last_of(thread) {
            last.ticks = ticks;
        }
        self.turns.push(StoredTurn { ticks, dispatcher, thread: thread.number, step });
        true
    }

    /// Puts the turns in the order of time. Those of a thread stay as they came. What a thread ran when
    /// its last turn was kept is not known to go on.
    pub(super) fn finish(mut self) -> AsyncTurns {
        for last in self.threads.iter().filter(|last| last.dispatcher != 0) {
            let (step, thread) = (TurnStep::Runs { suspends: false }, last.of.number);
            self.turns.push(StoredTurn { ticks: last.ticks, dispatcher: 0, thread, step });
        }
        // Threads that tell something at the same time are in one order, whichever buffer came first.
        let threads = &self.threads;
        let thread =
            |turn: &StoredTurn| threads.get(turn.thread as usize).map(|last| last.of.ids());
        self.turns.sort_by_key(|turn| (turn.ticks, thread(turn)));
        self.numbers = threads.iter().map(|last| (last.of.ids(), last.of.number)).collect();
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns the number of turns that found no room.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns whether a thread tells something at a time or later. Else, what it did then is not known:
    /// its buffer did not come, or it ran no async code any more.
    pub(super) fn has_after(&self, thread: (Option<u64>, u64), ticks: u64) -> bool {
        let last = self.numbers.get(&thread).and_then(|it| self.threads.get(*it as usize));
        last.is_some_and(|last| last.ticks >= ticks)
    }

    pub(super) fn get(&self, number: usize) -> Option<AsyncTurn> {
        let StoredTurn { ticks, dispatcher, thread, step } = *self.turns.get(number)?;
        let (process, os_thread) = self.threads.get(thread as usize)?.of.ids();
        Some(AsyncTurn { ticks, process, os_thread, dispatcher, step })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUSPENDS: TurnStep = TurnStep::Runs { suspends: true };
    const GOES_ON: TurnStep = TurnStep::Runs { suspends: false };

    fn thread(os_thread: u64, number: u32) -> AsyncThread {
        AsyncThread { process: None, os_thread, number }
    }

    fn steps(turns: AsyncTurns) -> Vec<(u64, u64, u64, TurnStep)> {
        let turns = turns.finish();
        let all = (0..).map_while(|number| turns.get(number));
        all.map(|turn| (turn.ticks, turn.os_thread, turn.dispatcher, turn.step)).collect()
    }

    #[test]
    fn what_runs_inside_another_dispatcher_does_not_suspend_it() {
        let (mut turns, thread) = (AsyncTurns::default(), thread(1, 0));
        turns.goes_on(thread, 7, 10);
        turns.goes_on(thread, 8, 20);
        turns.suspended(thread, 8);
        turns.goes_on(thread, 7, 30);
        turns.suspended(thread, 7);
        turns.goes_on(thread, 0, 40);
        let told = [(10, 1, 7, GOES_ON), (20, 1, 8, GOES_ON), (30, 1, 7, SUSPENDS)];
        assert_eq!(steps(turns), [&told[..], &[(40, 1, 0, SUSPENDS)]].concat());
    }

    #[test]
    fn turns_are_the_same_whichever_buffer_came_first() {
        let of = |threads: [u64; 2]| {
            let mut turns = AsyncTurns::default();
            for (number, os_thread) in (0..).zip(threads) {
                let thread = thread(os_thread, number);
                turns.created(thread, os_thread, 10);
                turns.goes_on(thread, os_thread, 10);
                turns.goes_on(thread, 0, 10 * os_thread);
            }
            steps(turns)
        };
        assert_eq!(of([1, 2]), of([2, 1]));
    }

    #[test]
    fn after_the_last_turn_that_finds_room_no_thread_is_known_to_go_on() {
        let (mut turns, last) = (AsyncTurns::default(), MAX_TURNS as u64);
        for ticks in 1..=last + 5 {
            let number = u32::try_from(ticks % 2).unwrap();
            turns.goes_on(thread(ticks % 2, number), ticks / 2 % 2 + 5, ticks);
        }
        assert!(turns.left_out > 0);
        let all = steps(turns);
        assert_eq!(all.len(), MAX_TURNS + 2);
        for thread in [0, 1] {
            let end = all.iter().rfind(|turn| turn.1 == thread).unwrap();
            assert!(end.0 <= last && end.2 == 0, "{end:?}");
        }
    }
}
