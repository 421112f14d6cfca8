//! Runs of events whose times ascend, and the order in which they take turns.

use super::heads::{Head, Heads};
use super::queued_event::QueuedEvent;
use crate::work;

/// Events in consecutive places whose times ascend: those that have not gone.
#[derive(Debug, Clone, Copy)]
struct Run {
    next: usize,
    end: usize,
}

/// Runs in file order.
#[derive(Debug, Default)]
pub(super) struct Runs {
    list: Vec<Run>,
    /// No run before this one has anything left.
    oldest: usize,
    /// The newest run may go on; until [`Runs::allow`] it has no end.
    is_open: bool,
    /// Events may go, up to this time, itself included, and as many.
    is_allowed: bool,
    limit: u64,
    left: usize,
    /// First times of the runs, counted from the oldest; of those that are far apart in the wide heap.
    heads: Heads<u64>,
    wide_heads: Heads<u128>,
    is_wide: bool,
    base: u64,
    is_ready: bool,
    /// The run whose turn it is, and the time up to which it gives events before another's turn comes.
    turn: usize,
    bound: u64,
}

impl Runs {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.oldest = 0;
        (self.is_open, self.is_allowed, self.is_ready) = (false, false, false);
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    #[inline(always)]
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// The event in this place begins a run.
    pub(super) fn begin(&mut self, place: usize) {
        self.close(place);
        self.list.push(Run { next: place, end: usize::MAX });
        self.is_open = true;
    }

    /// Says where the newest run ends, as far as it is known.
    fn close(&mut self, end: usize) {
        if let Some(run) = self.list.last_mut().filter(|_| self.is_open) {
            run.end = end;
        }
    }

    /// Lets events go, up to a time and as many; `events` are all there are, of which none is younger than `newest`.
    pub(super) fn allow(&mut self, limit: u64, count: usize, newest: u64, events: &[QueuedEvent]) {
        self.close(events.len());
        (self.is_allowed, self.limit, self.left) = (true, limit, count);
        let runs = self.list.get(self.oldest..).unwrap_or_default();
        work::count(runs.len());
        let first = |run: &Run| events.get(run.next..run.end)?.first().map(|first| first.time);
        self.base = runs.iter().filter_map(first).min().unwrap_or(0);
        self.is_wide = newest.saturating_sub(self.base) > <u64 as Head>::MOST;
        self.heads.clear();
        self.wide_heads.clear();
        for (number, run) in (self.oldest..).zip(runs) {
            let Some(time) = first(run).map(|time| time.wrapping_sub(self.base)) else { continue };
            if self.is_wide {
                self.wide_heads.add(Head::new(time, number));
            } else {
                self.heads.add(Head::new(time, number));
            }
        }
        if self.is_wide {
            self.choose(self.wide_heads.first_two());
        } else {
            self.choose(self.heads.first_two());
        }
    }

    /// Whose turn is it, and how far?
    #[inline(always)]
    fn choose<H: Head>(&mut self, (first, next): (H, H)) {
        self.turn = first.run();
        let time = first.time().wrapping_add(self.base);
        self.is_ready = (time <= self.limit) & (self.left > 0) & (first != H::NONE);
        // An earlier run goes first where times are equal. Its time is not 0 then: it would be the first.
        let bound = next.time().saturating_add(self.base).wrapping_sub(u64::from(next.run() < self.turn));
        self.bound = if next == H::NONE { self.limit } else { bound.min(self.limit) };
    }

    /// The place of the next event that may go, if one may.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<usize> {
        if self.is_ready { self.list.get(self.turn).map(|run| run.next) } else { None }
    }

    /// What the run whose turn it is has, and may be too young: the first place, the events, the time up to which they
    /// may go.
    #[inline(always)]
    pub(super) fn stretch<'e>(&self, events: &'e [QueuedEvent]) -> (usize, &'e [QueuedEvent], u64) {
        let Some(run) = self.list.get(self.turn) else { return (0, &[], 0) };
        let end = run.end.min(run.next.saturating_add(self.left));
        (run.next, events.get(run.next..end).unwrap_or_default(), self.bound)
    }

    /// So many events of the run whose turn it is went, and no more of them may, before it is another's turn.
    #[inline(always)]
    pub(super) fn went(&mut self, count: usize, events: &[QueuedEvent]) {
        if self.is_wide {
            self.take_turns::<u128>(count, events);
        } else {
            self.take_turns::<u64>(count, events);
        }
    }

    /// So many went, and more may.
    #[inline(always)]
    pub(super) fn went_some(&mut self, count: usize, events: &[QueuedEvent]) {
        let Some(run) = self.list.get_mut(self.turn) else { return };
        let next = run.next.wrapping_add(count);
        let is_over = self.left <= count || next >= run.end;
        if is_over || events.get(next).is_none_or(|event| event.time > self.bound) {
            return self.went(count, events);
        }
        run.next = next;
        self.left = self.left.wrapping_sub(count);
    }

    #[inline(never)]
    fn take_turns<H: Head>(&mut self, count: usize, events: &[QueuedEvent])
    where
        Runs: Has<H>,
    {
        work::count(1);
        self.left = self.left.saturating_sub(count);
        let mut next = None;
        if let Some(run) = self.list.get_mut(self.turn) {
            run.next = run.next.wrapping_add(count);
            next = events.get(run.next).filter(|_| run.next < run.end);
        }
        let (turn, base) = (self.turn, self.base);
        let heads: &mut Heads<H> = self.heads_mut();
        match next {
            Some(event) => heads.replace_first(H::new(event.time.wrapping_sub(base), turn)),
            None => heads.remove_first(),
        }
        let two = heads.first_two();
        self.choose(two);
    }

    /// The times of all events that wait.
    pub(super) fn times(&self, events: &[QueuedEvent]) -> Vec<u64> {
        let runs = self.list.get(self.oldest..).unwrap_or_default();
        let waiting = runs.iter().filter_map(|run| events.get(run.next..run.end.min(events.len())));
        waiting.flatten().map(|event| event.time).collect()
    }

    /// Nothing goes for now. Gives up runs at the end that have nothing left, and says how many events are left then. The
    /// place of the first that waits is [`Runs::first`].
    pub(super) fn rest(&mut self) -> usize {
        (self.is_allowed, self.is_ready) = (false, false);
        while let Some(run) = self.list.last() {
            if run.next < run.end {
                break;
            }
            // What comes next does not go on where something is missing.
            self.is_open = false;
            self.list.pop();
        }
        while self.list.get(self.oldest).is_some_and(|run| run.next >= run.end) {
            self.oldest = self.oldest.wrapping_add(1);
        }
        let Some(last) = self.list.last_mut() else { return 0 };
        let end = last.end;
        if self.is_open {
            last.end = usize::MAX;
        }
        end
    }

    /// The place of the first event that waits, in file order.
    pub(super) fn first(&self) -> usize {
        self.list.get(self.oldest).map_or(0, |run| run.next)
    }

    /// Moves what waits to the front; `moved` is told of each run in its new place, and of how far it moved. Gives the new
    /// number of events.
    pub(super) fn compact(
        &mut self,
        events: &mut [QueuedEvent],
        mut moved: impl FnMut(&mut [QueuedEvent], usize),
    ) -> usize {
        let all = events.len();
        let mut count = 0usize;
        self.list.retain_mut(|run| {
            let (from, to) = (run.next, run.end.min(all));
            let length = to.saturating_sub(from);
            if length == 0 {
                return false;
            }
            events.copy_within(from..to, count);
            let end = count.saturating_add(length);
            moved(events.get_mut(count..end).unwrap_or_default(), from.saturating_sub(count));
            *run = Run { next: count, end: if run.end > all { run.end } else { end } };
            count = end;
            true
        });
        self.oldest = 0;
        count
    }
}

/// The heap of a kind of heads.
trait Has<H> {
    fn heads_mut(&mut self) -> &mut Heads<H>;
}

impl Has<u64> for Runs {
    #[inline(always)]
    fn heads_mut(&mut self) -> &mut Heads<u64> {
        &mut self.heads
    }
}

impl Has<u128> for Runs {
    #[inline(always)]
    fn heads_mut(&mut self) -> &mut Heads<u128> {
        &mut self.wide_heads
    }
}
