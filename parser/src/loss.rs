//! Dropped events: gaps in the numbers that each capture thread gives its events (FORMAT.md 12).
//!
//! All arithmetic wraps in 32 bits, differences are read as signed. Versions 4 and 5 identify
//! threads by OS ids, which are recycled; version 6 by indices that rows define and end.

mod gaps;

use crate::error::Fault;
use crate::forget;
pub(crate) use gaps::Place;
use gaps::{Gap, Gaps, Jump};
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
    /// Contradictions that had been met then. If there are more now, events of the thread may be among what is doubted.
    doubts: u32,
    /// Time of its last event (versions 4 and 5).
    ticks: u64,
}

/// Events that the stream's numbers prove to be missing.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    total: u64,
    doubted: u64,
    restarts: u64,
    /// Contradictions so far.
    doubts: u32,
    gaps: Gaps,
    /// Before the block that is being read.
    restarts_before: u64,
    /// Contradictions that show only behind them, until they are told.
    contradictions: Vec<(Option<Place>, Fault)>,
    by_thread: HashMap<u64, u64>,
    states: HashMap<u64, ThreadNumbers>,
    /// Sequence points of versions 4 and 5 passed so far.
    points: u32,
    /// The thread of the last event, and the number its next one must have. Runs of one thread are
    /// long, so most events need no look at the map.
    run_thread: u64,
    run_first: u32,
    run_next: u32,
    run_first_ticks: u64,
    run_ticks: u64,
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
        first_ticks: u64,
        last_ticks: u64,
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
    EndList,
    Forget,
}

/// By what was counted, however the stream came to tell it.
impl PartialEq for Losses {
    fn eq(&self, other: &Self) -> bool {
        (self.total, self.doubted, self.restarts) == (other.total, other.doubted, other.restarts)
            && self.by_thread == other.by_thread
    }
}

impl Eq for Losses {}

impl Losses {
    /// Events lost. Saturates. Those that only contradictory rows tell of are not among them: see
    /// [`Losses::doubted`].
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Events that seem to be lost by numbers that contradict others, or that stand among
    /// [doubted](crate::Event::is_doubted) rows or on both sides of them. They may be there, or lost by the writer, or
    /// damage made them up ([FORMAT.md 13.6](crate::format_guide#13.6)). Saturates.
    pub fn doubted(&self) -> u64 {
        self.doubted
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
        let Losses { total, doubted, restarts, .. } = *self;
        Losses { total, doubted, restarts, by_thread: self.by_thread.clone(), ..Losses::default() }
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

    /// Counts what another has written down. `false`: there is a contradiction, which the events' own place in the
    /// stream must be known for.
    pub(crate) fn replay(&mut self, steps: &[Step], is_v6: bool, limit: usize) -> bool {
        let mut is_regular = true;
        for step in steps {
            match *step {
                Step::Run { thread, first, last, first_ticks, last_ticks } => {
                    if !self.is_next(thread, first, first_ticks) {
                        is_regular &= if is_v6 {
                            self.event_v6(thread, first, limit)
                        } else {
                            self.event_v4(thread, first, first_ticks, None, limit)
                        };
                    }
                    self.advance_run(last.wrapping_add(1), last_ticks);
                }
                Step::Define { thread, is_replaced } => self.define_thread(thread, is_replaced, limit),
                Step::Remove { thread, number } => self.remove_thread(thread, number, limit),
                Step::BeginList => self.begin_list_v4(),
                Step::Listed { thread, number } => self.listed(thread, number, limit),
                Step::EndList => is_regular &= self.end_list_v4(),
                Step::Forget => self.forget_threads(),
            }
        }
        is_regular && self.contradictions.is_empty()
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
    pub(crate) fn is_next(&mut self, thread: u64, number: u32, ticks: u64) -> bool {
        let is_next = self.run_is_valid && thread == self.run_thread && number == self.run_next;
        if is_next {
            self.run_next = number.wrapping_add(1);
            self.run_ticks = ticks;
        }
        is_next
    }

    /// The thread of the last event, and the number its next one must have.
    #[inline]
    pub(crate) fn run(&self) -> Option<(u64, u32)> {
        self.run_is_valid.then_some((self.run_thread, self.run_next))
    }

    /// The run went on to before this number, and to this time.
    #[inline]
    pub(crate) fn advance_run(&mut self, next: u32, ticks: u64) {
        self.run_next = next;
        self.run_ticks = ticks;
    }

    /// Puts the run's last number where the map has it.
    fn end_run(&mut self) {
        if self.run_is_valid {
            self.run_is_valid = false;
            let (thread, first, last) = (self.run_thread, self.run_first, self.run_next.wrapping_sub(1));
            let (first_ticks, last_ticks) = (self.run_first_ticks, self.run_ticks);
            match &mut self.log {
                Some(log) => log.push(Step::Run { thread, first, last, first_ticks, last_ticks }),
                None => self.put(thread, last, false, last_ticks),
            }
        }
    }

    fn put(&mut self, thread: u64, last: u32, takes_any: bool, ticks: u64) {
        let (seen, doubts) = (self.points, self.doubts);
        self.states.insert(thread, ThreadNumbers { last, seen, takes_any, doubts, ticks });
    }

    /// A block begins whose events are counted.
    pub(crate) fn begin_block(&mut self) {
        self.gaps.begin_block();
        self.restarts_before = self.restarts;
    }

    /// The block that is being read contradicts itself: what its rows told is doubted, and so is what numbers behind
    /// it tell, until each thread was met again.
    #[cold]
    pub(crate) fn doubt_block(&mut self) {
        self.end_run();
        self.doubts = self.doubts.wrapping_add(1);
        self.restarts = self.restarts_before;
        for gap in self.gaps.take_of_block() {
            self.doubt(gap);
        }
    }

    /// A loss that was counted is doubted.
    fn doubt(&mut self, gap: Gap) {
        let count = u64::from(gap.lost);
        self.total = self.total.saturating_sub(count);
        self.doubted = self.doubted.saturating_add(count);
        if let Some(lost) = self.by_thread.get_mut(&gap.thread) {
            *lost = lost.saturating_sub(count);
            if *lost == 0 {
                self.by_thread.remove(&gap.thread);
            }
        }
    }

    /// Contradictions that showed only behind them, and have not been told yet.
    pub(crate) fn take_contradictions(&mut self) -> Vec<(Option<Place>, Fault)> {
        std::mem::take(&mut self.contradictions)
    }

    /// A jump of a thread was none: its number, or the thread's id, is wrong.
    #[cold]
    fn contradict(&mut self, thread: u64, jump: Jump, fault: Fault) {
        if let Some(gap) = self.gaps.take_gap(thread, jump.first) {
            self.doubt(gap);
        }
        self.restarts = self.restarts.saturating_sub(u64::from(jump.is_restart));
        self.gaps.settle(thread);
        self.contradictions.push((jump.place, fault));
    }

    fn begin_run(&mut self, thread: u64, number: u32, ticks: u64) {
        (self.run_first_ticks, self.run_ticks) = (ticks, ticks);
        self.run_thread = thread;
        self.run_first = number;
        self.run_next = number.wrapping_add(1);
        self.run_is_valid = true;
    }

    /// Numbers from `from` on are missing, as many as `count`.
    fn lose(&mut self, thread: u64, from: u32, count: u32, is_doubted: bool, limit: usize) {
        if count == 0 {
            return;
        }
        if is_doubted {
            self.doubted = self.doubted.saturating_add(u64::from(count));
            return;
        }
        self.gaps.lose(Gap { thread, from, lost: count });
        self.total = self.total.saturating_add(u64::from(count));
        if self.by_thread.len() < limit || self.by_thread.contains_key(&thread) {
            let lost = self.by_thread.entry(thread).or_default();
            *lost = lost.saturating_add(u64::from(count));
        }
    }

    /// An event of versions 4 and 5 for which [`Losses::is_next`] said no. `false`: it is older than one before it of
    /// the same thread.
    #[inline(never)]
    pub(crate) fn event_v4(
        &mut self,
        thread: u64,
        number: u32,
        ticks: u64,
        place: Option<Place>,
        limit: usize,
    ) -> bool {
        self.end_run();
        if self.log.is_some() {
            self.begin_run(thread, number, ticks);
            return true;
        }
        let state = self.states.get(&thread).copied();
        // One that was not met before may have begun among what is doubted.
        let is_doubted = state.map_or(self.doubts != 0, |state| state.doubts != self.doubts);
        // A thread that ended and came back is a new one: it began at 1.
        let from =
            state.filter(|state| state.seen == self.points).map_or(1, |state| state.last.wrapping_add(1));
        let is_next = state.is_some_and(|state| state.last.wrapping_add(1) == number) || number == from;
        if !is_next {
            self.jump(thread, from, number, is_doubted, place, limit);
        }
        self.begin_run(thread, number, ticks);
        self.bound(limit);
        is_doubted || state.is_none_or(|state| state.ticks <= ticks)
    }

    /// Number `to` of a thread, where `from` was to come.
    fn jump(
        &mut self,
        thread: u64,
        from: u32,
        to: u32,
        is_doubted: bool,
        place: Option<Place>,
        limit: usize,
    ) {
        let step = to.wrapping_sub(from);
        // A first number beyond 2^31 is no step back.
        let came_back = |jump: &Jump| jump.from != 1 || jump.to.cast_signed() > 0;
        if let Some(before) = self.gaps.jump_of(thread).filter(came_back)
            && before.to.wrapping_sub(before.from).wrapping_add(step) == 0
        {
            return self.contradict(thread, before, Fault::NumbersJump(before.to));
        }
        // Behind what is doubted a number that falls is as good as one that rises.
        let is_restart = from != 1 && step.cast_signed() < 0 && !is_doubted;
        self.restarts = self.restarts.saturating_add(u64::from(is_restart));
        let (first, lost) = match step.cast_signed() {
            ..0 if from == 1 => (1, to.saturating_sub(1)),
            ..0 if is_doubted => (1, 0),
            ..0 => (1, to.saturating_sub(1)),
            _ => (from, step),
        };
        self.lose(thread, first, lost, is_doubted, limit);
        if !is_doubted {
            self.gaps.jump(thread, Jump { from, first, to, is_restart, place });
        }
    }

    /// An event of version 6 for which [`Losses::is_next`] said no. `false`: the number fell.
    #[inline(never)]
    pub(crate) fn event_v6(&mut self, thread: u64, number: u32, limit: usize) -> bool {
        self.end_run();
        let state = self.states.get(&thread).copied();
        self.begin_run(thread, number, 0);
        if self.log.is_some() {
            return true;
        }
        self.bound(limit);
        match state {
            // An unknown index: what its numbers began with is not known.
            None => true,
            Some(state) if state.takes_any => true,
            Some(state) => {
                let (from, is_doubted) = (state.last.wrapping_add(1), state.doubts != self.doubts);
                let step = number.wrapping_sub(from);
                if step.cast_signed() > 0 {
                    self.lose(thread, from, step, is_doubted, limit);
                }
                step.cast_signed() >= 0 || is_doubted
            }
        }
    }

    /// A thread row of version 6. `is_replaced`: the index was alive; nothing is counted across.
    pub(crate) fn define_thread(&mut self, thread: u64, is_replaced: bool, limit: usize) {
        if self.defer(Step::Define { thread, is_replaced }) {
            return;
        }
        self.end_run();
        self.put(thread, 0, is_replaced, 0);
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
            let is_doubted = state.map_or(self.doubts != 0, |state| state.doubts != self.doubts);
            self.lose(thread, last.wrapping_add(1), step, is_doubted, limit);
        }
        // It wrote no more than this. Numbers beyond, behind one that was not the next, were none of its own.
        let jump = self.gaps.jump_of(thread).filter(|_| step.cast_signed() < 0);
        if let Some(jump) = jump {
            self.contradict(thread, jump, Fault::NumbersJump(jump.to));
        }
        self.gaps.settle(thread);
        let last = if is_ahead || jump.is_some() { number } else { last };
        let ticks = state.map_or(0, |state| state.ticks);
        self.put(thread, last, false, ticks);
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

    /// Behind the threads that a sequence point of versions 4 and 5 lists. One that wrote since the last point, and
    /// not from 1 on, is listed: if not, and another thread lacks its number, there is no such thread. Without that it may
    /// have lost its beginning and have ended. `false`: there may be some.
    pub(crate) fn end_list_v4(&mut self) -> bool {
        if self.defer(Step::EndList) {
            return true;
        }
        let strays = self.gaps.pass_point();
        for (thread, jump) in &strays {
            // Its numbers are those that the thread lacks which it is.
            let Some(gap) = self.gaps.take_gap_around(jump.to) else { continue };
            self.doubt(gap);
            self.contradict(*thread, *jump, Fault::StrayThread(*thread));
            self.states.remove(thread);
        }
        self.gaps.forget();
        strays.is_empty()
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
