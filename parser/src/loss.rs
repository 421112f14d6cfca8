//! Counts lost events by the gaps in the sequence numbers of each capture thread (FORMAT.md
//! 12).
//!
//! Arithmetic wraps at 32 bits, and differences are signed. These facts make counting hard:
//!
//! - Versions 4 and 5 identify threads by OS ids, which are reused. A thread is known to have
//!   ended when the next sequence point does not list it. So [`ThreadNumbers`] has the number
//!   of sequence points before the thread's last event. A sequence number that falls belongs to
//!   a new thread with an old id, and does not mean 2^32 lost events. Version 6 identifies
//!   threads by indexes that rows define and remove, so a sequence number that falls is damage.
//! - One damaged byte can make it look as if billions of events were lost. A later event or a
//!   sequence point may show that a sequence number was wrong. So gaps are kept until the next
//!   sequence point, and their losses can be taken back ([`gaps`]).
//! - When several threads read a stream, each records [`Observation`]s of its region, and one
//!   thread counts them in stream order ([`Losses::replay`]).
//! - A stream may claim any number of threads, so all maps here have a limit. Nothing is
//!   concluded from threads that were forgotten for that reason.

mod gaps;
mod lists;

use crate::error::Fault;
use crate::forget;
pub(crate) use gaps::RowPlace;
use gaps::{Gap, Gaps, Jump};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Maximum capacity, in entries of 16 bytes, that the list of a sequence point keeps for the
/// next one.
const MAX_KEPT_ENTRIES: usize = 1 << 12;

/// Maximum number of threads that are tracked at a time, and of entries of a sequence point.
/// If a stream has more, the losses are a lower bound.
const MAX_THREADS: usize = 1 << 16;

/// Number of threads above which threads that have ended are forgotten.
const MAX_THREADS_WITH_ENDED: usize = 1 << 10;

/// Number of sequence points, counted from a thread's last event or entry, after which the thread
/// may be forgotten.
const MIN_LISTS_WITHOUT: u32 = 16;

/// Sequence numbers of a thread, as far as they are known.
#[derive(Debug, Clone, Copy)]
struct ThreadNumbers {
    last: u32,
    /// Number of sequence points before the thread's last event or entry. If it differs from the
    /// number of sequence points so far, the thread has ended: if its id appears again, it stands
    /// for another thread.
    seen: u32,
    /// Whether any next sequence number is accepted, because the previous one is unknown.
    takes_any: bool,
    /// Time of the thread's last event (versions 4 and 5).
    ticks: u64,
}

/// Events that are missing according to the stream's sequence numbers.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    // Counts.
    total: u64,
    restarts: u64,
    by_thread: HashMap<u64, u64>,
    is_at_least: bool,
    longest_gap: u32,

    // Threads.
    states: HashMap<u64, ThreadNumbers>,
    /// Number of sequence points before threads were last forgotten, because there were too many or
    /// a block contradicted itself. Until the second sequence point after that, sequence numbers of
    /// unknown threads prove no loss: such a thread may be one that was forgotten.
    forgot: Option<u32>,
    /// Current run of sequence numbers, which are those of the thread of the last event. Threads
    /// write many events in a row, so most events need no lookup in `states`.
    run: Option<NumberRun>,

    // Sequence points of versions 4 and 5. All entries take effect together, because an id may
    // be listed several times.
    /// Number of sequence points so far.
    points: u32,
    /// Entries of the sequence point that is being read.
    list: Vec<(u64, u32)>,
    /// Whether the sequence point has more entries than `list` may hold.
    list_is_cut: bool,

    // Losses that may be taken back.
    gaps: Gaps,
    /// Number of restarts counted before the block that is being read.
    restarts_before: u64,
    /// The last sequence point of versions 4 and 5.
    point: Option<RowPlace>,
    /// Sequence numbers of each thread that are lost according to the sequence point `point`. If
    /// the thread continues with the first of them, the sequence point was wrong.
    ahead: HashMap<u64, Gap>,
    /// Contradictions that are not reported yet.
    contradictions: Vec<(Option<RowPlace>, Fault)>,

    /// Recorded observations; `None` if they are counted at once.
    log: Option<Vec<Observation>>,
    /// Number of recorded observations other than runs.
    others: usize,
    /// Whether the counts were stated, so that nothing is counted: blocks are skipped.
    is_stated: bool,
    /// Losses since the last call of [`Losses::take_found`]; `None` if nobody asks for them.
    found: Option<Vec<FoundLoss>>,
}

/// Events that a thread lost, or a new thread with an old id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FoundLoss {
    pub(crate) thread: u64,
    /// Number of lost events; 0 for a new thread.
    pub(crate) events: u32,
}

/// Consecutive sequence numbers of a thread, with the times of the first and the last event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberRun {
    thread: u64,
    first: u32,
    /// Sequence number that the thread's next event must have.
    next: u32,
    first_ticks: u64,
    ticks: u64,
}

/// Fact about a stream on which the counts depend. It is recorded to be counted later.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Observation {
    NumberRun(NumberRun),
    Define {
        thread: u64,
        is_replaced: bool,
    },
    Remove {
        thread: u64,
        number: u32,
    },
    /// An entry of a version 6 sequence point.
    Listed {
        thread: u64,
        number: u32,
    },
    /// An entry of a version 4 or 5 sequence point.
    Entry {
        thread: u64,
        number: u32,
    },
    EndList {
        is_whole: bool,
        has_all: bool,
    },
    Forget,
    PassPoint,
    /// Mark after which further observations were not recorded.
    TooMany,
}

/// Compares only the counts.
impl PartialEq for Losses {
    fn eq(&self, other: &Self) -> bool {
        (self.total, self.restarts) == (other.total, other.restarts)
            && self.by_thread == other.by_thread
    }
}

impl Eq for Losses {}

impl Losses {
    /// Returns the number of lost events. Gaps at sequence numbers that prove to be wrong, and
    /// gaps in blocks that [contradict themselves](crate::format_guide#13.6), do not count.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of times that a new thread had the id of a thread that was not known
    /// to have ended (versions 4 and 5).
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Returns pairs of a capture thread (OS id, or index in version 6) and the number of its
    /// lost events, in no order.
    pub fn by_thread(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.by_thread.iter().map(|(thread, lost)| (*thread, *lost))
    }

    /// Returns whether the counts are lower bounds, because the stream has more than the 65,536
    /// threads that are tracked at a time.
    pub fn is_at_least(&self) -> bool {
        self.is_at_least
    }

    /// Returns the largest number of consecutive events that a thread lost.
    pub fn longest_gap(&self) -> u32 {
        self.longest_gap
    }

    /// Returns the counts without the state that further counting needs.
    pub(crate) fn settled(&self) -> Losses {
        let Losses { total, restarts, is_at_least, longest_gap, .. } = *self;
        let by_thread = self.by_thread.clone();
        Losses { total, restarts, is_at_least, longest_gap, by_thread, ..Losses::default() }
    }

    /// Creates an instance that records observations for [`Losses::replay`].
    pub(crate) fn deferred() -> Losses {
        Losses { log: Some(Vec::new()), ..Losses::default() }
    }

    /// Creates an instance that also lists what it counts, for [`Losses::take_found`].
    pub(crate) fn listed() -> Losses {
        Losses { found: Some(Vec::new()), ..Losses::default() }
    }

    /// Takes the losses found since the last call.
    pub(crate) fn take_found(&mut self) -> Vec<FoundLoss> {
        self.found.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Creates an instance with the counts of these losses, which counts nothing more.
    pub(crate) fn stated(found: impl Iterator<Item = FoundLoss>, is_at_least: bool) -> Losses {
        let mut losses = Losses { is_at_least, is_stated: true, ..Losses::default() };
        for FoundLoss { thread, events } in found {
            match events {
                0 => losses.restarts = losses.restarts.saturating_add(1),
                _ => {
                    losses.lose(thread, 0, events, usize::MAX);
                }
            }
        }
        losses
    }

    /// Takes the observations recorded since the last call.
    pub(crate) fn take_log(&mut self) -> Vec<Observation> {
        self.end_run();
        self.others = 0;
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Counts recorded observations. Returns `false` if there is a contradiction: to report its
    /// place, the events must be read again.
    pub(crate) fn replay(&mut self, steps: &[Observation], is_v6: bool, limit: usize) -> bool {
        let mut is_regular = true;
        for step in steps {
            match *step {
                Observation::NumberRun(NumberRun { thread, first, next, first_ticks, ticks }) => {
                    if !self.count_if_next(thread, first, first_ticks) {
                        is_regular &= if is_v6 {
                            self.count_event_v6(thread, first, limit)
                        } else {
                            self.count_event_v4(thread, first, first_ticks, None, limit)
                        };
                    }
                    self.advance_run(next, ticks);
                }
                Observation::Define { thread, is_replaced } => {
                    self.define_thread(thread, is_replaced, limit)
                }
                Observation::Remove { thread, number } => self.remove_thread(thread, number, limit),
                Observation::Listed { thread, number } => self.count_listed(thread, number, limit),
                Observation::Entry { thread, number } => self.add_list_entry_v4(thread, number),
                Observation::EndList { is_whole, has_all } => {
                    is_regular &= self.end_list_v4(is_whole, has_all, limit)
                }
                Observation::Forget => self.forget_threads(),
                Observation::PassPoint => self.pass_point_v6(),
                Observation::TooMany => is_regular = false,
            }
        }
        is_regular && self.contradictions.is_empty()
    }

    /// Returns whether observations are counted at once.
    fn counts(&self) -> bool {
        self.log.is_none() && !self.is_stated
    }

    /// Records an observation if this instance records. Returns `false` if it has to be counted.
    fn defer(&mut self, step: Observation) -> bool {
        if self.counts() {
            return false;
        }
        self.end_run();
        if let Some(log) = &mut self.log {
            match self.others.cmp(&MAX_THREADS) {
                Ordering::Less => log.push(step),
                Ordering::Equal => log.push(Observation::TooMany),
                Ordering::Greater => return true,
            }
            self.others = self.others.saturating_add(1);
        }
        true
    }

    /// Counts an event if it is the next event of the current run. Returns whether it is; if
    /// not, the event still has to be counted.
    #[inline(always)]
    pub(crate) fn count_if_next(&mut self, thread: u64, number: u32, ticks: u64) -> bool {
        match &mut self.run {
            Some(run) if run.thread == thread && run.next == number => {
                run.next = number.wrapping_add(1);
                run.ticks = ticks;
                true
            }
            _ => false,
        }
    }

    /// Returns the thread of the last event, and the sequence number that the thread's next event
    /// must have.
    #[inline]
    pub(crate) fn current_run(&self) -> Option<(u64, u32)> {
        self.run.map(|run| (run.thread, run.next))
    }

    /// Continues the run up to the sequence number before `next`. The event with that number has
    /// this time.
    #[inline]
    pub(crate) fn advance_run(&mut self, next: u32, ticks: u64) {
        if let Some(run) = &mut self.run
            && run.next != next
        {
            (run.next, run.ticks) = (next, ticks);
        }
    }

    /// Ends the run. Records it, or writes its last sequence number back to `states`.
    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        match &mut self.log {
            Some(log) => log.push(Observation::NumberRun(run)),
            None if self.is_stated => {}
            None => self.put(run.thread, run.next.wrapping_sub(1), false, run.ticks),
        }
    }

    fn put(&mut self, thread: u64, last: u32, takes_any: bool, ticks: u64) {
        let seen = self.points;
        self.states.insert(thread, ThreadNumbers { last, seen, takes_any, ticks });
    }

    /// Begins a block whose events are counted.
    pub(crate) fn begin_block(&mut self) {
        self.gaps.begin_block();
        self.restarts_before = self.restarts;
    }

    /// Takes back the losses counted in the current block, because it contradicts itself. From then
    /// on, any next sequence number of a thread is accepted.
    #[cold]
    pub(crate) fn distrust_block(&mut self) {
        self.end_run();
        self.restarts = self.restarts_before;
        for gap in self.gaps.take_of_block() {
            self.take_back(gap);
        }
        // The threads that wrote in the block are unknown, too, so no thread is kept.
        forget::all(&mut self.states);
        self.forgot = Some(self.points);
    }

    /// Subtracts the events of a gap, which were not lost after all.
    fn take_back(&mut self, gap: Gap) {
        let count = u64::from(gap.lost);
        self.total = self.total.saturating_sub(count);
        if let Some(lost) = self.by_thread.get_mut(&gap.thread) {
            *lost = lost.saturating_sub(count);
            if *lost == 0 {
                self.by_thread.remove(&gap.thread);
            }
        }
    }

    /// Takes the contradictions that are not reported yet.
    pub(crate) fn take_contradictions(&mut self) -> Vec<(Option<RowPlace>, Fault)> {
        std::mem::take(&mut self.contradictions)
    }

    /// Reports a thread's jump as a contradiction, because the sequence number or the thread's id
    /// is wrong. Takes back the loss that the jump caused.
    #[cold]
    fn contradict(&mut self, thread: u64, jump: Jump, fault: Fault) {
        if let Some(gap) = self.gaps.take_gap(thread, &jump) {
            self.take_back(gap);
        }
        self.restarts = self.restarts.saturating_sub(u64::from(jump.is_restart));
        self.gaps.settle(thread);
        self.contradictions.push((jump.place, fault));
    }

    fn begin_run(&mut self, thread: u64, number: u32, ticks: u64) {
        let next = number.wrapping_add(1);
        self.run = Some(NumberRun { thread, first: number, next, first_ticks: ticks, ticks });
    }

    /// Counts `count` sequence numbers, starting with `from`, as lost. Returns the index of this
    /// gap in `gaps`.
    fn lose(&mut self, thread: u64, from: u32, count: u32, limit: usize) -> usize {
        if count == 0 {
            return usize::MAX;
        }
        let place = self.gaps.add_gap(Gap { thread, from, lost: count });
        if let Some(found) = &mut self.found {
            found.push(FoundLoss { thread, events: count });
        }
        self.total = self.total.saturating_add(u64::from(count));
        self.longest_gap = self.longest_gap.max(count);
        if self.by_thread.len() >= limit.min(MAX_THREADS) && !self.by_thread.contains_key(&thread) {
            self.is_at_least = true;
        } else {
            let lost = self.by_thread.entry(thread).or_default();
            *lost = lost.saturating_add(u64::from(count));
        }
        place
    }

    /// Counts an event of versions 4 and 5 for which [`Losses::count_if_next`] returned
    /// `false`. Returns `false` if it is older than the thread's previous event.
    #[inline(never)]
    pub(crate) fn count_event_v4(
        &mut self,
        thread: u64,
        number: u32,
        ticks: u64,
        place: Option<RowPlace>,
        limit: usize,
    ) -> bool {
        self.end_run();
        if !self.counts() {
            self.begin_run(thread, number, ticks);
            return true;
        }
        let state = self.states.get(&thread).copied();
        // If the thread had ended, this is a new one, whose numbers start at 1.
        let from = state
            .filter(|state| state.seen == self.points)
            .map_or(1, |state| state.last.wrapping_add(1));
        let is_next = state.is_some_and(|state| state.last.wrapping_add(1) == number)
            || number == from
            || state.is_none() && self.forgot == Some(self.points)
            || self.was_listed_wrong(thread, number);
        if !is_next {
            self.jump(thread, from, number, place, limit);
        }
        self.begin_run(thread, number, ticks);
        self.limit_threads(limit);
        state.is_none_or(|state| state.ticks <= ticks)
    }

    /// Counts a jump: the sequence number of a thread is `to` where `from` was expected.
    fn jump(&mut self, thread: u64, from: u32, to: u32, place: Option<RowPlace>, limit: usize) {
        let step = to.wrapping_sub(from);
        // A first number above 2^31 is a loss, and later numbers may have wrapped.
        let came_back = |jump: &Jump| jump.from != 1 || jump.to.cast_signed() > 0 || from > jump.to;
        // In the numbers 7, 900, 9 the second jump undoes the first, so 900 was an 8, and
        // nothing was lost. This rule reduces the mutants that are wrong without a sign from 37
        // to 26 of 8,469 (docs/decisions/05-recovery.md).
        if let Some(before) = self.gaps.jump_of(thread).filter(came_back)
            && before.to.wrapping_sub(before.from).wrapping_add(step) == 0
        {
            return self.contradict(thread, before, Fault::NumbersJump(before.to));
        }
        let is_restart = from != 1 && step.cast_signed() < 0;
        self.restarts = self.restarts.saturating_add(u64::from(is_restart));
        if let Some(found) = self.found.as_mut().filter(|_| is_restart) {
            found.push(FoundLoss { thread, events: 0 });
        }
        // A number that falls belongs to a new thread with this id, whose numbers start at 1.
        let (first, lost) = match step.cast_signed() {
            ..0 => (1, to.saturating_sub(1)),
            _ => (from, step),
        };
        let gap = self.lose(thread, first, lost, limit);
        self.gaps.note_jump(thread, Jump { from, first, to, is_restart, gap, place });
    }

    /// Counts an event of version 6 for which [`Losses::count_if_next`] returned `false`. Returns
    /// `false` if its sequence number is lower than the thread's previous one.
    #[inline(never)]
    pub(crate) fn count_event_v6(&mut self, thread: u64, number: u32, limit: usize) -> bool {
        self.end_run();
        let state = self.states.get(&thread).copied();
        self.begin_run(thread, number, 0);
        if !self.counts() {
            return true;
        }
        self.limit_threads(limit);
        match state {
            // The index is undefined, so the thread's previous number is unknown.
            None => true,
            Some(state) if state.takes_any => true,
            Some(state) => {
                let from = state.last.wrapping_add(1);
                let step = number.wrapping_sub(from);
                if step.cast_signed() > 0 {
                    self.lose(thread, from, step, limit);
                }
                step.cast_signed() >= 0
            }
        }
    }

    /// Defines a thread of version 6. If its index was in use (`is_replaced`), any first sequence
    /// number is accepted.
    pub(crate) fn define_thread(&mut self, thread: u64, is_replaced: bool, limit: usize) {
        if self.defer(Observation::Define { thread, is_replaced }) {
            return;
        }
        self.end_run();
        self.put(thread, 0, is_replaced, 0);
        self.limit_threads(limit);
    }

    /// Removes a thread of version 6, which has ended.
    pub(crate) fn remove_thread(&mut self, thread: u64, number: u32, limit: usize) {
        if self.defer(Observation::Remove { thread, number }) {
            return;
        }
        self.count_listed(thread, number, limit);
        self.states.remove(&thread);
    }

    /// Counts an entry of a sequence point: the thread's last sequence number is at least `number`.
    pub(crate) fn count_listed(&mut self, thread: u64, number: u32, limit: usize) {
        if self.defer(Observation::Listed { thread, number }) {
            return;
        }
        self.end_run();
        let state = self.states.get(&thread).copied();
        let last = self.last_listable(thread);
        let step = number.wrapping_sub(last);
        let jump = self.gaps.jump_of(thread);
        // No known thread begins with a number above 2^31. If such a thread is then listed with
        // a small number, its first number was more likely wrong than that its numbers have
        // wrapped.
        let began_wrong = jump.is_some_and(|jump| {
            jump.from == 1 && jump.to.cast_signed() < 0 && number.cast_signed() >= 0
        });
        let is_ahead = step.cast_signed() > 0 && !began_wrong;
        let is_forgotten = state.is_none() && self.has_forgotten();
        if is_ahead && !is_forgotten && !state.is_some_and(|state| state.takes_any) {
            self.lose(thread, last.wrapping_add(1), step, limit);
        }
        // Numbers above the listed one, after a jump, did not belong to the thread.
        let jump = jump.filter(|_| step.cast_signed() < 0 || began_wrong);
        if let Some(jump) = jump {
            self.contradict(thread, jump, Fault::NumbersJump(jump.to));
        }
        self.gaps.settle(thread);
        let last = if is_ahead || is_forgotten || jump.is_some() { number } else { last };
        let ticks = state.map_or(0, |state| state.ticks);
        self.put(thread, last, false, ticks);
        self.limit_threads(limit);
    }

    /// Returns the sequence number with which a thread's entry in a sequence point is compared.
    /// This is the last one of the thread. If the previous sequence point did not list the thread,
    /// it is 0, because the entry is then about another thread.
    fn last_listable(&self, thread: u64) -> u32 {
        let is_listable =
            |state: &&ThreadNumbers| !state.takes_any && state.seen.wrapping_add(1) >= self.points;
        self.states.get(&thread).filter(is_listable).map_or(0, |state| state.last)
    }

    /// Forgets all gaps, after the entries of a version 6 sequence point. They are not needed
    /// any more, and make room for later gaps.
    pub(crate) fn pass_point_v6(&mut self) {
        if !self.defer(Observation::PassPoint) {
            self.gaps.forget();
        }
    }

    /// Forgets all threads, after the entries of a version 6 sequence point with flag 1.
    pub(crate) fn forget_threads(&mut self) {
        if self.defer(Observation::Forget) {
            return;
        }
        self.run = None;
        forget::all(&mut self.states);
    }

    /// Returns whether a thread that the previous sequence point listed may have been
    /// forgotten.
    fn has_forgotten(&self) -> bool {
        self.forgot.is_some_and(|forgot| forgot.wrapping_add(1) >= self.points)
    }

    /// Forgets threads that ended long ago, because a session may last for days.
    fn forget_ended(&mut self) {
        let points = self.points;
        if self.states.len() > MAX_THREADS_WITH_ENDED && points.is_multiple_of(MIN_LISTS_WITHOUT) {
            self.states.retain(|_, state| points.wrapping_sub(state.seen) < MIN_LISTS_WITHOUT);
        }
    }

    /// Forgets ended threads if there are more threads than the limit, and all threads if that
    /// is not enough.
    fn limit_threads(&mut self, limit: usize) {
        let limit = limit.min(MAX_THREADS);
        if self.states.len() > limit {
            let points = self.points;
            self.states.retain(|_, state| state.seen == points);
            if self.states.len() > limit / 2 {
                // To forget only some would gain nothing: numbers of unknown ids would have to
                // be accepted just the same, because each may be a forgotten thread's.
                self.states.clear();
                (self.forgot, self.is_at_least) = (Some(points), true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_end_leave_nothing_behind_however_long_a_session_lasts() {
        let mut losses = Losses::default();
        let mut most = 0;
        for point in 0..2_000u64 {
            // 50 threads end. Thread 1 stays, thread 2 stays but never writes. Each thread that
            // writes loses an event.
            for thread in [1].into_iter().chain(1_000 + point * 50..1_050 + point * 50) {
                let number = if thread == 1 { 2 * point as u32 + 2 } else { 2 };
                assert!(losses.count_event_v4(thread, number, point, None, usize::MAX));
            }
            losses.add_list_entry_v4(1, 2 * point as u32 + 2);
            losses.add_list_entry_v4(2, 0);
            assert!(losses.end_list_v4(true, false, usize::MAX));
            most = most.max(losses.states.len());
        }
        assert_eq!((losses.total(), losses.restarts()), (2_000 * 51, 0));
        assert!(most < 3 * MAX_THREADS_WITH_ENDED, "{most} threads are known");
        assert!(losses.states.contains_key(&2), "a thread that is listed is known");
    }
}
