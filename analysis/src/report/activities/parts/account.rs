//! Account of the time of one open activity.

use super::accounts::AccountNumber;
use super::carrier::emptied;
use super::{At, Doing, Parts, ThreadWork, WorkPiece};
use crate::hash::HashMap;
use crate::model::activity_id::ActivityId;
use crate::model::{Resolved, ThreadHandle};
use crate::report::counts::increase;
use crate::sorted::SortFew;

/// Number of pieces from which on they are summed up.
const MANY_PIECES: usize = 64;
/// Maximum number of pieces that wait until a thread shows whether it still works for the activity.
const MAX_PIECES: usize = 256;
/// Maximum number of threads for which a closed account keeps memory.
const KEPT_CARRIERS: usize = 16;
/// Maximum number of stretches that are kept of an activity.
pub(super) const MAX_STRETCHES: usize = 10_000;

/// Sums of an activity's time by work, in nanoseconds.
#[derive(Debug, Default, Clone)]
pub(crate) struct PartTotals {
    running: u64,
    waiting: u64,
    gc: u64,
    lock: u64,
    jit: u64,
    awaited: u64,
    /// Time after the thread was last seen, without a sample.
    left: u64,
    unknown: u64,
    /// Work that is known once frames have names; `None` if there is none.
    by_stack: Option<Box<HashMap<ThreadWork, u64>>>,
}

impl PartTotals {
    fn add(&mut self, (paused, rest): (u64, u64), what: ThreadWork) {
        let sum = match what {
            ThreadWork::Running => &mut self.running,
            ThreadWork::Left(None) => &mut self.left,
            ThreadWork::Native(_) | ThreadWork::Left(Some(_)) | ThreadWork::Between(_) => {
                self.by_stack.get_or_insert_default().entry(what).or_default()
            }
            ThreadWork::Waiting => &mut self.waiting,
            ThreadWork::Lock => &mut self.lock,
            ThreadWork::Jit => &mut self.jit,
            ThreadWork::Await => &mut self.awaited,
            ThreadWork::Silent | ThreadWork::Unknown => &mut self.unknown,
        };
        increase(sum, rest);
        increase(&mut self.gc, paused);
    }

    /// Returns the sums with the awaits, and with what may be one, as unknown time.
    pub(super) fn without_awaits(mut self) -> PartTotals {
        for sum in [&mut self.awaited, &mut self.left] {
            increase(&mut self.unknown, std::mem::take(sum));
        }
        if let Some(by_stack) = &mut self.by_stack {
            by_stack.retain(|what, nanos| {
                let may_be_await = matches!(what, ThreadWork::Left(_) | ThreadWork::Between(_));
                increase(&mut self.unknown, if may_be_await { *nanos } else { 0 });
                !may_be_await
            });
        }
        self
    }

    pub(crate) fn merge(&mut self, other: &PartTotals) {
        increase(&mut self.running, other.running);
        increase(&mut self.waiting, other.waiting);
        increase(&mut self.gc, other.gc);
        increase(&mut self.lock, other.lock);
        increase(&mut self.jit, other.jit);
        increase(&mut self.awaited, other.awaited);
        increase(&mut self.left, other.left);
        increase(&mut self.unknown, other.unknown);
        if let Some(others) = &other.by_stack {
            let own = self.by_stack.get_or_insert_default();
            others.iter().for_each(|(what, nanos)| increase(own.entry(*what).or_default(), *nanos));
        }
    }

    /// Returns the parts, which add up to `duration`.
    pub(crate) fn parts(&self, duration: u64, is_sampled: bool, resolved: &Resolved<'_>) -> Parts {
        let mut parts = Parts { gc_ns: self.gc, ..Parts::default() };
        let by_stack = self.by_stack.iter().flat_map(|of| of.iter());
        let others = [
            (ThreadWork::Running, self.running),
            (ThreadWork::Waiting, self.waiting),
            (ThreadWork::Lock, self.lock),
            (ThreadWork::Jit, self.jit),
            (ThreadWork::Await, self.awaited),
            (ThreadWork::Left(None), self.left),
            (ThreadWork::Unknown, self.unknown),
        ];
        for (what, nanos) in by_stack.map(|(what, nanos)| (*what, *nanos)).chain(others) {
            let part = parts.part_mut(what.doing(resolved, is_sampled));
            *part = part.saturating_add(nanos);
        }
        parts.fit(duration)
    }
}

/// Stretch of an activity's time line.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinePart {
    pub(super) from: At,
    pub(super) to: At,
    what: ThreadWork,
    pub(super) thread: Option<ThreadHandle>,
}

impl LinePart {
    pub(super) fn doing(&self, resolved: &Resolved<'_>, is_sampled: bool) -> Doing {
        self.what.doing(resolved, is_sampled)
    }
}

/// Time in which a thread worked for an activity, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpanOfThread {
    pub(super) thread: ThreadHandle,
    pub(super) from: i64,
    pub(super) to: i64,
    /// Whether the thread may have left the activity before the end, and done something else there.
    pub(super) may_have_left: bool,
}

/// Number of spans among which one is looked for that goes on. Few threads work for an activity at once.
pub(super) const RECENT_SPANS: usize = 4;

/// Account of an open activity.
#[derive(Debug)]
pub(super) struct Account {
    /// Numbers of the activities around it, innermost first.
    pub(super) above: Vec<AccountNumber>,
    /// Activity id in the events of its threads.
    pub(super) id: Option<ActivityId>,
    /// Whether other open activities may have the id.
    pub(super) may_repeat: bool,
    /// Whether its threads are known by what the async profiler says alone.
    pub(super) is_by_turns: bool,
    /// Threads known to work for the activity or for one inside it.
    pub(super) carriers: Vec<ThreadHandle>,
    /// Point up to which time has been summed up.
    summed: At,
    pieces: Vec<WorkPiece>,
    pub(super) totals: PartTotals,
    /// Work that counts while no thread works for the activity.
    otherwise: ThreadWork,
    pub(super) line: Option<Vec<LinePart>>,
    /// Times of its threads; `None` unless they are kept.
    pub(super) spans: Option<Vec<SpanOfThread>>,
}

impl Account {
    /// Creates an account that is not open.
    pub(super) fn closed() -> Account {
        let start = At { nanos: 0, paused: 0 };
        Account {
            above: Vec::new(),
            id: None,
            may_repeat: false,
            is_by_turns: false,
            carriers: Vec::new(),
            summed: start,
            pieces: Vec::new(),
            totals: PartTotals::default(),
            otherwise: ThreadWork::Unknown,
            line: None,
            spans: None,
        }
    }

    /// Opens a closed account for an activity. `above`: activities around it; `is_followed`: whether
    /// the id flows to every thread that works for the activity.
    pub(super) fn reopen(
        &mut self,
        id: Option<ActivityId>,
        above: &[AccountNumber],
        at: At,
        is_followed: bool,
    ) {
        self.id = id;
        self.above.clear();
        self.above.extend_from_slice(above);
        self.summed = at;
        self.otherwise = if is_followed { ThreadWork::Await } else { ThreadWork::Unknown };
    }

    /// Returns the sums, and empties the account for another activity.
    pub(super) fn close(&mut self) -> PartTotals {
        if self.carriers.capacity() > KEPT_CARRIERS {
            self.carriers = Vec::new();
        }
        emptied(&mut self.pieces);
        std::mem::take(&mut self.totals)
    }

    /// Adds time in which a thread worked for the activity. Returns whether pieces should be summed
    /// up.
    pub(super) fn add(&mut self, piece: WorkPiece) -> bool {
        // Time after which a thread may have left counts if no other one worked then: see `count`.
        if !matches!(piece.what, ThreadWork::Left(_)) {
            self.keep_span(piece.thread, (piece.from.nanos, piece.to.nanos), false);
        }
        if let Some(last) = self.pieces.last_mut()
            && (last.thread, last.what, last.to) == (piece.thread, piece.what, piece.from)
        {
            last.to = piece.to;
        } else if piece.to.nanos > piece.from.nanos {
            self.pieces.push(piece);
        }
        self.pieces.len() >= MANY_PIECES
    }

    /// Sums up the time before a point; if too many pieces wait, all time until the newest piece.
    pub(super) fn sum_up_early(&mut self, until: At) {
        let newest = self.pieces.iter().map(|piece| piece.to).max_by_key(|at| at.nanos);
        let until = newest.filter(|_| self.pieces.len() >= MAX_PIECES).unwrap_or(until);
        self.sum_up(until);
    }

    /// Sums up all time before a point.
    pub(super) fn sum_up(&mut self, until: At) {
        if until.nanos <= self.summed.nanos {
            return;
        }
        match self.pieces.is_sorted_by(|one, next| one.to.nanos <= next.from.nanos) {
            true => self.sum_up_in_turn(until),
            false => self.sum_up_together(until),
        }
        self.summed = until;
        self.pieces.retain(|piece| piece.to.nanos > until.nanos);
    }

    /// Sums up all time before a point. No thread worked at the same time as another one.
    fn sum_up_in_turn(&mut self, until: At) {
        let mut from = self.summed;
        for at in 0..self.pieces.len() {
            let Some(piece) = self.pieces.get(at).copied() else { break };
            if piece.from.nanos >= until.nanos {
                break;
            }
            if piece.to.nanos <= from.nanos {
                continue;
            }
            if piece.from.nanos > from.nanos {
                self.count(from, piece.from, self.otherwise, None);
                from = piece.from;
            }
            let to = if piece.to.nanos < until.nanos { piece.to } else { until };
            self.count(from, to, piece.what, Some(piece.thread));
            from = to;
        }
        if from.nanos < until.nanos {
            self.count(from, until, self.otherwise, None);
        }
    }

    /// Sums up all time before a point.
    fn sum_up_together(&mut self, until: At) {
        let start = self.summed;
        let is_inside = |at: &At| at.nanos > start.nanos && at.nanos < until.nanos;
        let mut points: Vec<At> =
            self.pieces.iter().flat_map(|piece| [piece.from, piece.to]).filter(is_inside).collect();
        points.push(until);
        points.sort_few_by_key(|at| at.nanos);
        points.dedup_by_key(|at| at.nanos);
        let mut from = start;
        for to in points {
            // `points` has every start and end of a piece, so a piece covers all or nothing of the
            // time between two of them.
            let has_all =
                |piece: &&WorkPiece| piece.from.nanos <= from.nanos && piece.to.nanos >= to.nanos;
            let best = self.pieces.iter().filter(has_all).max_by_key(|piece| piece.what.rank());
            let best = best.copied();
            let what = best.map_or(self.otherwise, |piece| piece.what);
            self.count(from, to, what, best.map(|piece| piece.thread));
            from = to;
        }
    }

    /// Keeps a time of a thread, if times are kept.
    fn keep_span(&mut self, thread: ThreadHandle, (from, to): (i64, i64), may_have_left: bool) {
        let Some(spans) = &mut self.spans else { return };
        let mut recent = spans.iter_mut().rev().take(RECENT_SPANS);
        if let Some(before) = recent.find(|span| span.thread == thread && span.to == from) {
            (before.to, before.may_have_left) = (to, may_have_left);
        } else if from < to && spans.len() < MAX_STRETCHES {
            spans.push(SpanOfThread { thread, from, to, may_have_left });
        }
    }

    /// Counts time between two points.
    fn count(&mut self, from: At, to: At, what: ThreadWork, thread: Option<ThreadHandle>) {
        self.totals.add(to.since(from), what);
        if let (ThreadWork::Left(_), Some(thread)) = (what, thread) {
            self.keep_span(thread, (from.nanos, to.nanos), true);
        }
        if let Some(line) = &mut self.line
            && line.len() < MAX_STRETCHES
        {
            line.push(LinePart { from, to, what, thread });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> At {
        At { nanos, paused: u64::try_from(nanos.clamp(30, 40) - 30).unwrap() }
    }

    fn new(at: At, is_followed: bool) -> Account {
        let mut account = Account::closed();
        account.reopen(None, &[], at, is_followed);
        account
    }

    fn piece(thread: u32, from: i64, to: i64, what: ThreadWork) -> WorkPiece {
        WorkPiece { from: at(from), to: at(to), what, thread: ThreadHandle(thread) }
    }

    #[test]
    fn the_thread_that_does_most_counts_and_a_pause_stops_all() {
        let mut account = new(at(0), true);
        account.add(piece(1, 10, 60, ThreadWork::Lock));
        account.add(piece(2, 20, 50, ThreadWork::Running));
        account.add(piece(3, 0, 5, ThreadWork::Jit));
        account.sum_up(at(100));
        let totals = &account.totals;
        // 0–5 jit, 5–10 await, 10–20 lock, 20–50 running except for the pause 30–40,
        // 50–60 lock, 60–100 await.
        assert_eq!(
            (totals.jit, totals.lock, totals.running, totals.gc, totals.awaited),
            (5, 20, 20, 10, 45)
        );
        account.sum_up(at(90));
        assert_eq!((account.totals.awaited, account.pieces.len()), (45, 0));
    }

    #[test]
    fn intermediate_sums_do_not_change_the_result() {
        let pieces = [
            piece(1, 10, 60, ThreadWork::Lock),
            piece(2, 20, 50, ThreadWork::Running),
            piece(2, 50, 55, ThreadWork::Waiting),
        ];
        let mut whole = new(at(0), false);
        let mut parted = new(at(0), false);
        for piece in pieces {
            whole.add(piece);
            parted.add(piece);
        }
        parted.sum_up(at(25));
        parted.sum_up(at(45));
        parted.sum_up(at(70));
        whole.sum_up(at(70));
        let numbers = |account: &Account| {
            let totals = &account.totals;
            (totals.running, totals.lock, totals.waiting, totals.gc, totals.unknown)
        };
        assert_eq!((numbers(&whole), numbers(&parted)), ((20, 20, 0, 10, 20), numbers(&whole)));
    }

    #[test]
    fn pieces_do_not_pile_up() {
        let mut account = new(at(0), true);
        for number in 0..100_000 {
            let what = if number % 2 == 0 { ThreadWork::Running } else { ThreadWork::Waiting };
            if account.add(piece(1, number * 10, number * 10 + 10, what)) {
                // A thread has not shown for long whether it works for the activity.
                account.sum_up_early(at(0));
            }
            assert!(account.pieces.len() <= MAX_PIECES);
        }
        account.sum_up(at(1_000_000));
        let totals = &account.totals;
        assert_eq!(
            (totals.running, totals.waiting, totals.gc, totals.awaited),
            (500_000, 499_990, 10, 0)
        );
    }
}
