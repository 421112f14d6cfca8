//! Hands regions to threads, and their parts to the caller's thread.

use super::parts::Part;
use crate::error::Error;
use crate::loss;
use crate::reader::Plan;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Message from a thread about its region.
#[derive(Debug)]
pub(super) enum DeskMessage<T> {
    Part(Part<T>, Counted),
    Done(Box<Done>),
}

/// Sum to which the bytes of a part belong until the part is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// Sum of the bytes made before the turn of their region.
    Ahead,
    /// Sum of the bytes made during the turn of their region.
    InTurn,
    /// No sum, because the caller's thread collects the part as soon as it is made.
    Not,
}

/// Result of a region that was read to its end.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) result: Result<(), Error>,
    /// Observations about sequence numbers, to be counted in stream order.
    pub(super) losses: Vec<loss::Observation>,
    /// Plan of the region, for reuse.
    pub(super) plan: Box<Plan>,
    pub(super) events: u64,
    pub(super) oldest: u64,
    pub(super) youngest: u64,
    pub(super) is_irregular: bool,
}

/// State that all threads share.
#[derive(Debug)]
pub(super) struct Desk<T> {
    state: Mutex<DeskState<T>>,
    /// Wakes workers that wait for a region, for their region's turn, or for room.
    moved: Condvar,
    /// Wakes the caller's thread, which waits for messages.
    came: Condvar,
    /// Maximum number of bytes of parts that may wait for their region's turn.
    max_ahead: usize,
    /// Number of threads other than the thread whose region is in turn.
    others: usize,
}

#[derive(Debug)]
struct DeskState<T> {
    /// Regions that no thread has begun to read, with their numbers.
    jobs: VecDeque<(u64, Box<Plan>)>,
    messages: VecDeque<(u64, DeskMessage<T>)>,
    /// Number of the region whose parts are being collected.
    turn: u64,
    ahead: usize,
    in_turn: usize,
    /// Largest total size in bytes of the parts of one region so far.
    largest: usize,
    /// Number of waiting workers. If there are none, no call is made to wake them.
    waiting: usize,
    is_caller_waiting: bool,
    is_over: bool,
}

/// Maximum number of bytes of parts of the region in turn that may wait to be collected.
const MAX_BYTES_IN_TURN: usize = 4 << 20;
/// Minimum number of bytes of parts that each thread may make before its region's turn, because
/// threads are not equally fast all the time. Half of the bytes of the largest region are added.
const MIN_BYTES_AHEAD: usize = 4 << 20;

/// Next task of the caller's thread.
#[derive(Debug)]
pub(super) enum Task<T> {
    Messages(VecDeque<(u64, DeskMessage<T>)>),
    Job(u64, Box<Plan>),
    /// A worker has panicked, so there is nothing to do any more.
    Over,
}

impl<T> Desk<T> {
    pub(super) fn new(threads: usize, max_ahead: usize) -> Desk<T> {
        let state = DeskState {
            jobs: VecDeque::new(),
            messages: VecDeque::new(),
            turn: 0,
            ahead: 0,
            in_turn: 0,
            largest: 0,
            waiting: 0,
            is_caller_waiting: false,
            is_over: false,
        };
        Desk {
            state: Mutex::new(state),
            moved: Condvar::new(),
            came: Condvar::new(),
            max_ahead,
            others: threads.saturating_sub(1),
        }
    }

    /// Returns the number of bytes of parts that may wait now. Half a region for each thread is
    /// enough that two threads do not wait for each other: a thread makes its second half in its
    /// turn, while the other thread makes the first half of the next region. More would only
    /// touch more new memory, which takes longer than making the parts.
    fn room(&self, state: &DeskState<T>) -> usize {
        let each = MIN_BYTES_AHEAD.saturating_add(state.largest / 2);
        each.saturating_mul(self.others).min(self.max_ahead)
    }

    /// Locks the state, which a thread that panicked left intact.
    fn state(&self) -> MutexGuard<'_, DeskState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, mut state: MutexGuard<'s, DeskState<T>>) -> MutexGuard<'s, DeskState<T>> {
        state.waiting = state.waiting.saturating_add(1);
        let mut state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting = state.waiting.saturating_sub(1);
        state
    }

    fn wait_as_caller<'s>(
        &self,
        mut state: MutexGuard<'s, DeskState<T>>,
    ) -> MutexGuard<'s, DeskState<T>> {
        state.is_caller_waiting = true;
        let mut state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.is_caller_waiting = false;
        state
    }

    /// Wakes the workers that wait for the state to change.
    fn wake(&self, state: MutexGuard<'_, DeskState<T>>) {
        // A notification is a system call even if nobody waits.
        let is_waited_for = state.waiting > 0;
        drop(state);
        if is_waited_for {
            self.moved.notify_all();
        }
    }

    fn send(&self, mut state: MutexGuard<'_, DeskState<T>>, number: u64, message: DeskMessage<T>) {
        state.messages.push_back((number, message));
        let is_waited_for = state.is_caller_waiting;
        drop(state);
        if is_waited_for {
            self.came.notify_one();
        }
    }

    pub(super) fn add_job(&self, number: u64, plan: Box<Plan>) {
        let mut state = self.state();
        state.jobs.push_back((number, plan));
        self.wake(state);
    }

    /// Returns the next region for a worker; `None` if there will be no more.
    pub(super) fn next_job(&self) -> Option<(u64, Box<Plan>)> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state = self.wait(state);
        }
    }

    /// Passes on a part of a worker's region. Waits until there is room for the part, or until
    /// the region's turn.
    pub(super) fn hand_over(&self, number: u64, part: Part<T>) -> ControlFlow<()> {
        let mut state = self.state();
        let counted = loop {
            if state.is_over {
                return ControlFlow::Break(());
            }
            // The region in turn has a limit of its own: if it waited for room that other
            // regions take up, no thread could go on.
            if number <= state.turn {
                if state.in_turn < MAX_BYTES_IN_TURN {
                    break Counted::InTurn;
                }
            } else if state.ahead.saturating_add(part.bytes) <= self.room(&state) {
                break Counted::Ahead;
            }
            state = self.wait(state);
        };
        state.count(counted, part.bytes);
        self.send(state, number, DeskMessage::Part(part, counted));
        ControlFlow::Continue(())
    }

    /// Passes on the result of a worker's region.
    pub(super) fn finish(&self, number: u64, done: Box<Done>) {
        self.send(self.state(), number, DeskMessage::Done(done));
    }

    /// Returns the next task of the caller's thread: messages first, then a region.
    pub(super) fn next_task(&self) -> Task<T> {
        let mut state = self.state();
        loop {
            if !state.messages.is_empty() {
                return Task::Messages(std::mem::take(&mut state.messages));
            }
            if state.is_over {
                return Task::Over;
            }
            if let Some((number, plan)) = state.jobs.pop_front() {
                return Task::Job(number, plan);
            }
            state = self.wait_as_caller(state);
        }
    }

    /// Takes the available messages. With `is_waiting`, waits until there are some.
    pub(super) fn take_messages(&self, is_waiting: bool) -> VecDeque<(u64, DeskMessage<T>)> {
        let mut state = self.state();
        while is_waiting && state.messages.is_empty() && !state.is_over {
            state = self.wait_as_caller(state);
        }
        std::mem::take(&mut state.messages)
    }

    /// Counts a part that the caller's thread made before its region's turn. Returns `false` if
    /// there is no room for another part.
    pub(super) fn count_own(&self, bytes: usize) -> bool {
        let mut state = self.state();
        state.count(Counted::Ahead, bytes);
        state.ahead < self.room(&state)
    }

    /// Returns whether there is room for parts before the turn of their region.
    pub(super) fn has_room(&self) -> bool {
        let state = self.state();
        state.ahead < self.room(&state)
    }

    /// Counts a part as collected. The parts of its region that were collected so far have
    /// `region_bytes` bytes.
    pub(super) fn count_collected(&self, counted: Counted, bytes: usize, region_bytes: usize) {
        let mut state = self.state();
        state.largest = state.largest.max(region_bytes);
        match counted {
            Counted::Ahead => state.ahead = state.ahead.saturating_sub(bytes),
            Counted::InTurn => state.in_turn = state.in_turn.saturating_sub(bytes),
            Counted::Not => {}
        }
        self.wake(state);
    }

    /// Sets the region whose turn it is.
    pub(super) fn set_turn(&self, number: u64) {
        let mut state = self.state();
        state.turn = number;
        self.wake(state);
    }

    /// Ends reading for all threads.
    pub(super) fn close(&self) {
        self.state().is_over = true;
        self.moved.notify_all();
        self.came.notify_all();
    }
}

impl<T> DeskState<T> {
    fn count(&mut self, counted: Counted, bytes: usize) {
        match counted {
            Counted::Ahead => self.ahead = self.ahead.saturating_add(bytes),
            Counted::InTurn => self.in_turn = self.in_turn.saturating_add(bytes),
            Counted::Not => {}
        }
    }
}

/// Closes the desk if its thread panics, so that no other thread waits for it.
pub(super) struct CloseOnPanic<'d, T>(pub(super) &'d Desk<T>);

impl<T> Drop for CloseOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}
