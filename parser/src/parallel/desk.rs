//! Where threads leave what they made, and where they get their next region.

use super::parts::Part;
use crate::error::Error;
use crate::loss;
use crate::reader::Plan;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a thread says of a region.
#[derive(Debug)]
pub(super) enum Message<T> {
    Part(Part<T>, Counted),
    Done(Box<Done>),
}

/// How the bytes of a part that was not collected yet are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// Its region's turn had not come.
    Ahead,
    /// It had.
    InTurn,
    /// It is not: the caller's thread collects it as soon as it is made.
    Not,
}

/// The end of a region.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) result: Result<(), Error>,
    pub(super) losses: Vec<loss::Observation>,
    /// What was read.
    pub(super) plan: Box<Plan>,
    pub(super) events: u64,
    pub(super) oldest: u64,
    pub(super) youngest: u64,
    pub(super) is_irregular: bool,
}

/// What the threads share.
#[derive(Debug)]
pub(super) struct Desk<T> {
    state: Mutex<State<T>>,
    /// Workers wait here for regions, for their region's turn, and for room.
    moved: Condvar,
    /// The caller's thread waits here for messages.
    came: Condvar,
    /// Bytes of parts that may wait for their region's turn, whatever the regions' size.
    most_ahead: usize,
    /// Threads whose region is not the one in turn.
    others: usize,
}

#[derive(Debug)]
struct State<T> {
    /// Regions that no thread has begun to read, with their numbers.
    jobs: VecDeque<(u64, Box<Plan>)>,
    messages: VecDeque<(u64, Message<T>)>,
    /// Number of the region whose parts are being collected.
    turn: u64,
    ahead: usize,
    in_turn: usize,
    /// Bytes made of the largest region so far.
    largest: usize,
    /// Number of waiting workers: if it is 0, the call that wakes them is saved.
    waiting: usize,
    is_caller_waiting: bool,
    is_over: bool,
}

/// Bytes of parts of the region in turn that may wait to be collected.
const MOST_IN_TURN: usize = 4 << 20;
/// Bytes of parts that each thread may be ahead, in addition to half a region, because
/// threads are not equally fast all the time.
const AHEAD_LEAST: usize = 4 << 20;

/// What there is to do for the caller's thread.
#[derive(Debug)]
pub(super) enum Task<T> {
    Messages(VecDeque<(u64, Message<T>)>),
    Job(u64, Box<Plan>),
    /// A worker has panicked.
    Over,
}

impl<T> Desk<T> {
    pub(super) fn new(threads: usize, most_ahead: usize) -> Desk<T> {
        let state = State {
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
            most_ahead,
            others: threads.saturating_sub(1),
        }
    }

    /// Returns bytes of parts that may wait now. Two threads never wait for each other if
    /// one is half a region ahead when its turn comes: it makes the other half while the
    /// other thread makes half of the next region. To hold more would only touch more
    /// memory for the first time, which takes longer than making what is held.
    fn room(&self, state: &State<T>) -> usize {
        let each = AHEAD_LEAST.saturating_add(state.largest / 2);
        each.saturating_mul(self.others).min(self.most_ahead)
    }

    /// Returns a thread that panicked left the state intact.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.waiting = state.waiting.saturating_add(1);
        let mut state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting = state.waiting.saturating_sub(1);
        state
    }

    fn wait_as_caller<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.is_caller_waiting = true;
        let mut state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.is_caller_waiting = false;
        state
    }

    /// Wakes workers that wait for what has changed.
    fn wake(&self, state: MutexGuard<'_, State<T>>) {
        // Counted, because a notification is a system call even if nobody waits.
        let is_waited_for = state.waiting > 0;
        drop(state);
        if is_waited_for {
            self.moved.notify_all();
        }
    }

    fn send(&self, mut state: MutexGuard<'_, State<T>>, number: u64, message: Message<T>) {
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

    /// Leaves a part of a worker's region. Waits until there is room for it, or until it
    /// is the region's turn.
    pub(super) fn hand_over(&self, number: u64, part: Part<T>) -> ControlFlow<()> {
        let mut state = self.state();
        let counted = loop {
            if state.is_over {
                return ControlFlow::Break(());
            }
            // The region whose turn it is has a limit of its own: were it to wait for room
            // that others take up, nobody could go on.
            if number <= state.turn {
                if state.in_turn < MOST_IN_TURN {
                    break Counted::InTurn;
                }
            } else if state.ahead.saturating_add(part.bytes) <= self.room(&state) {
                break Counted::Ahead;
            }
            state = self.wait(state);
        };
        state.count(counted, part.bytes);
        self.send(state, number, Message::Part(part, counted));
        ControlFlow::Continue(())
    }

    /// Leaves the end of a worker's region.
    pub(super) fn finish(&self, number: u64, done: Box<Done>) {
        self.send(self.state(), number, Message::Done(done));
    }

    /// What the caller's thread does next: it collects before it reads a region itself.
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

    /// Messages that are there; with `is_waiting`, waits for some.
    pub(super) fn messages(&self, is_waiting: bool) -> VecDeque<(u64, Message<T>)> {
        let mut state = self.state();
        while is_waiting && state.messages.is_empty() && !state.is_over {
            state = self.wait_as_caller(state);
        }
        std::mem::take(&mut state.messages)
    }

    /// Counts a part that the caller's thread has made before its region's turn. `false`
    /// if there is no room for more.
    pub(super) fn count_own(&self, bytes: usize) -> bool {
        let mut state = self.state();
        state.count(Counted::Ahead, bytes);
        state.ahead < self.room(&state)
    }

    /// Returns whether there is room for parts whose turn has not come.
    pub(super) fn has_room(&self) -> bool {
        let state = self.state();
        state.ahead < self.room(&state)
    }

    /// A part was collected; its region has come to `of_region` bytes so far.
    pub(super) fn collected(&self, counted: Counted, bytes: usize, of_region: usize) {
        let mut state = self.state();
        state.largest = state.largest.max(of_region);
        match counted {
            Counted::Ahead => state.ahead = state.ahead.saturating_sub(bytes),
            Counted::InTurn => state.in_turn = state.in_turn.saturating_sub(bytes),
            Counted::Not => {}
        }
        self.wake(state);
    }

    /// It is the next region's turn.
    pub(super) fn set_turn(&self, number: u64) {
        let mut state = self.state();
        state.turn = number;
        self.wake(state);
    }

    /// Nothing more is read.
    pub(super) fn close(&self) {
        self.state().is_over = true;
        self.moved.notify_all();
        self.came.notify_all();
    }
}

impl<T> State<T> {
    fn count(&mut self, counted: Counted, bytes: usize) {
        match counted {
            Counted::Ahead => self.ahead = self.ahead.saturating_add(bytes),
            Counted::InTurn => self.in_turn = self.in_turn.saturating_add(bytes),
            Counted::Not => {}
        }
    }
}

/// Closes the desk if its thread panics, so that no other waits for it.
pub(super) struct CloseOnPanic<'d, T>(pub(super) &'d Desk<T>);

impl<T> Drop for CloseOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}
