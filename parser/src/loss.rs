//! Dropped events: gaps in the numbers that each capture thread gives its events (FORMAT.md 12).
//!
//! All arithmetic wraps in 32 bits, differences are read as signed. Versions 4 and 5 identify
//! threads by OS ids, which are recycled; version 6 by indices that rows define and end.

use crate::forget;
use std::collections::HashMap;

/// What a thread's numbers say so far.
#[derive(Debug, Clone, Copy)]
struct ThreadNumbers {
    last: u32,
    /// Sequence points that had passed when the thread was last met. One that the latest point
    /// does not list has ended: if its id comes back it is another thread.
    seen: u32,
    /// The next number is taken as it is: what came before is not known.
    takes_any: bool,
}

/// Events that the stream's numbers prove to be missing.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    total: u64,
    restarts: u64,
    by_thread: HashMap<u64, u64>,
    states: HashMap<u64, ThreadNumbers>,
    /// Sequence points of versions 4 and 5 passed so far.
    points: u32,
    /// The thread of the last event, and the number its next one must have. Runs of one thread are
    /// long, so most events need no look at the map.
    run_thread: u64,
    run_first: u32,
    run_next: u32,
    run_is_valid: bool,
    /// What happened is written down here instead of being counted.
    log: Option<Vec<Step>>,
}

/// One step of the count, for later.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Consecutive numbers of a thread.
    Run {
        thread: u64,
        first: u32,
        last: u32,
    },
    Define {
        thread: u64,
        is_replaced: bool,
    },
    Remove {
        thread: u64,
        number: u32,
    },
    BeginList,
    Listed {
        thread: u64,
        number: u32,
    },
    Forget,
}

/// By what was counted, however the stream came to tell it.
impl PartialEq for Losses {
    fn eq(&self, other: &Self) -> bool {
        (self.total, self.restarts) == (other.total, other.restarts) && self.by_thread == other.by_thread
    }
}

impl Eq for Losses {}

impl Losses {
    /// Events lost. Saturates.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How often an OS gave a thread's id to a new one while the old was not known to have ended
    /// (versions 4 and 5).
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Events lost by capture thread: its OS id, or its index in version 6. In no order.
    pub fn by_thread(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.by_thread.iter().map(|(thread, lost)| (*thread, *lost))
    }

    /// Number of capture threads that lost events.
    pub fn thread_count(&self) -> usize {
        self.by_thread.len()
    }

    /// The counts, without what further counting needs.
    pub(crate) fn settled(&self) -> Losses {
        let Losses { total, restarts, .. } = *self;
        Losses { total, restarts, by_thread: self.by_thread.clone(), ..Losses::default() }
    }

    /// Writes down what happens from now on, for [`Losses::replay`] of another.
    pub(crate) fn deferred() -> Losses {
        Losses { log: Some(Vec::new()), ..Losses::default() }
    }

    /// What was written down since the last call.
    pub(crate) fn take_log(&mut self) -> Vec<Step> {
        self.end_run();
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Counts what another has written down. `false`: a number of version 6 fell, which the
    /// events' own place in the stream must be known for.
    pub(crate) fn replay(&mut self, steps: &[Step], is_v6: bool, limit: usize) -> bool {
        let mut is_regular = true;
        for step in steps {
            match *step {
                Step::Run { thread, first, last } => {
                    if !self.is_next(thread, first) {
                        if is_v6 {
                            is_regular &= self.event_v6(thread, first, limit);
                        } else {
                            self.event_v4(thread, first, limit);
                        }
                    }
                    self.run_next = last.wrapping_add(1);
                }
                Step::Define { thread, is_replaced } => self.define_thread(thread, is_replaced, limit),
                Step::Remove { thread, number } => self.remove_thread(thread, number, limit),
                Step::BeginList => self.begin_list_v4(),
                Step::Listed { thread, number } => self.listed(thread, number, limit),
                Step::Forget => self.forget_threads(),
            }
        }
        is_regular
    }

    /// Whether a step was only written down.
    fn defer(&mut self, step: Step) -> bool {
        if self.log.is_none() {
            return false;
        }
        self.end_run();
        if let Some(log) = &mut self.log {
            log.push(step);
        }
        true
    }

    /// An event. `true`: it is the next of its thread, and everything is done.
    #[inline(always)]
    pub(crate) fn is_next(&mut self, thread: u64, number: u32) -> bool {
        let is_next = self.run_is_valid && thread == self.run_thread && number == self.run_next;
        if is_next {
            self.run_next = number.wrapping_add(1);
        }
        is_next
    }

    /// The thread of the last event, and the number its next one must have.
    #[inline]
    pub(crate) fn run(&self) -> Option<(u64, u32)> {
        self.run_is_valid.then_some((self.run_thread, self.run_next))
    }

    /// The run went on to before this number.
    #[inline]
    pub(crate) fn advance_run(&mut self, next: u32) {
        self.run_next = next;
    }

    /// Puts the run's last number where the map has it.
    fn end_run(&mut self) {
        if self.run_is_valid {
            self.run_is_valid = false;
            let (thread, first, last) = (self.run_thread, self.run_first, self.run_next.wrapping_sub(1));
            match &mut self.log {
                Some(log) => log.push(Step::Run { thread, first, last }),
                None => self.put(thread, last, false),
            }
        }
    }

    fn put(&mut self, thread: u64, last: u32, takes_any: bool) {
        self.states.insert(thread, ThreadNumbers { last, seen: self.points, takes_any });
    }

    fn begin_run(&mut self, thread: u64, number: u32) {
        self.run_thread = thread;
        self.run_first = number;
        self.run_next = number.wrapping_add(1);
        self.run_is_valid = true;
    }

    fn lose(&mut self, thread: u64, count: u32, limit: usize) {
        if count == 0 {
            return;
        }
        self.total = self.total.saturating_add(u64::from(count));
        if self.by_thread.len() < limit || self.by_thread.contains_key(&thread) {
            let lost = self.by_thread.entry(thread).or_default();
            *lost = lost.saturating_add(u64::from(count));
        }
    }

    /// An event of versions 4 and 5 for which [`Losses::is_next`] said no.
    #[inline(never)]
    pub(crate) fn event_v4(&mut self, thread: u64, number: u32, limit: usize) {
        self.end_run();
        if self.log.is_some() {
            return self.begin_run(thread, number);
        }
        let lost = match self.states.get(&thread) {
            None => number.saturating_sub(1),
            Some(state) => {
                let step = number.wrapping_sub(state.last).wrapping_sub(1);
                match (step, state.seen != self.points) {
                    (0, _) => 0,
                    // A thread that ended and came back is a new one: it began at 1.
                    (_, true) => number.saturating_sub(1),
                    (step, false) if step.cast_signed() > 0 => step,
                    (_, false) => {
                        self.restarts = self.restarts.saturating_add(1);
                        number.saturating_sub(1)
                    }
                }
            }
        };
        self.lose(thread, lost, limit);
        self.begin_run(thread, number);
        self.bound(limit);
    }

    /// An event of version 6 for which [`Losses::is_next`] said no. `false`: the number fell.
    #[inline(never)]
    pub(crate) fn event_v6(&mut self, thread: u64, number: u32, limit: usize) -> bool {
        self.end_run();
        let state = self.states.get(&thread).copied();
        self.begin_run(thread, number);
        if self.log.is_some() {
            return true;
        }
        self.bound(limit);
        match state {
            // An unknown index: what its numbers began with is not known.
            None => true,
            Some(state) if state.takes_any => true,
            Some(state) => {
                let step = number.wrapping_sub(state.last).wrapping_sub(1);
                if step.cast_signed() > 0 {
                    self.lose(thread, step, limit);
                }
                step.cast_signed() >= 0
            }
        }
    }

    /// A thread row of version 6. `is_replaced`: the index was alive; nothing is counted across.
    pub(crate) fn define_thread(&mut self, thread: u64, is_replaced: bool, limit: usize) {
        if self.defer(Step::Define { thread, is_replaced }) {
            return;
        }
        self.end_run();
        self.put(thread, 0, is_replaced);
        self.bound(limit);
    }

    /// The end of a thread of version 6.
    pub(crate) fn remove_thread(&mut self, thread: u64, number: u32, limit: usize) {
        if self.defer(Step::Remove { thread, number }) {
            return;
        }
        self.listed(thread, number, limit);
        self.states.remove(&thread);
    }

    /// An entry of a sequence point: a lower bound of the thread's last number.
    pub(crate) fn listed(&mut self, thread: u64, number: u32, limit: usize) {
        if self.defer(Step::Listed { thread, number }) {
            return;
        }
        self.end_run();
        let state = self.states.get(&thread).copied();
        // One that the point before this did not list had ended: it is another thread by now.
        let is_same = |state: &ThreadNumbers| !state.takes_any && state.seen.wrapping_add(1) >= self.points;
        let last = state.filter(is_same).map_or(0, |state| state.last);
        let step = number.wrapping_sub(last);
        let is_ahead = step.cast_signed() > 0;
        if is_ahead && !state.is_some_and(|state| state.takes_any) {
            self.lose(thread, step, limit);
        }
        let last = if is_ahead { number } else { last };
        self.put(thread, last, false);
        self.bound(limit);
    }

    /// Before a sequence point of versions 4 and 5 lists its threads: those it leaves out have
    /// ended.
    pub(crate) fn begin_list_v4(&mut self) {
        if self.defer(Step::BeginList) {
            return;
        }
        self.end_run();
        self.points = self.points.wrapping_add(1);
    }

    /// Flag 1 of a version 6 sequence point, after its entries.
    pub(crate) fn forget_threads(&mut self) {
        if self.defer(Step::Forget) {
            return;
        }
        self.run_is_valid = false;
        forget::all(&mut self.states);
    }

    /// Keeps the number of threads within the limit: ended ones go first, then all.
    fn bound(&mut self, limit: usize) {
        if self.states.len() > limit {
            let points = self.points;
            self.states.retain(|_, state| state.seen == points);
            if self.states.len() > limit / 2 {
                self.states.clear();
            }
        }
    }
}
