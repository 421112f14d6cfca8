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

/// Events of one run that go one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stretch {
    pub(super) place: usize,
    pub(super) end: usize,
}

impl Stretch {
    fn count(self) -> usize {
        self.end.wrapping_sub(self.place)
    }
}

/// So many stretches are worked out at once, in a loop that does nothing else.
const AHEAD: usize = 64;

/// Runs in file order.
#[derive(Debug)]
pub(super) struct Runs {
    list: Vec<Run>,
    /// No run before this one has anything left, but for what is ahead.
    oldest: usize,
    /// The newest run may go on; until [`Runs::allow`] it has no end.
    is_open: bool,
    /// Events may go, and as many.
    is_allowed: bool,
    left: usize,
    /// First times of the runs, counted from the oldest, and the time up to which they may go; of those that are far apart
    /// in the wide heap.
    heads: Heads<u64>,
    wide_heads: Heads<u128>,
    is_wide: bool,
    base: u64,
    /// What goes next, in this order, from the first that is not yet gone. Runs have it no more.
    ahead: [Stretch; AHEAD],
    next: usize,
    filled: usize,
}

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            list: Vec::new(),
            oldest: 0,
            is_open: false,
            is_allowed: false,
            left: 0,
            heads: Heads::default(),
            wide_heads: Heads::default(),
            is_wide: false,
            base: 0,
            ahead: [Stretch::default(); AHEAD],
            next: 0,
            filled: 0,
        }
    }
}

impl Runs {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.oldest = 0;
        (self.is_open, self.is_allowed) = (false, false);
        (self.next, self.filled) = (0, 0);
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    #[inline(always)]
    pub(super) fn is_ready(&self) -> bool {
        self.next < self.filled
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
        (self.is_allowed, self.left) = (true, count);
        let runs = self.list.get(self.oldest..).unwrap_or_default();
        work::count(runs.len());
        let first = |run: &Run| events.get(run.next..run.end)?.first().map(|first| first.time);
        self.base = runs.iter().filter_map(first).min().unwrap_or(0);
        self.heads.clear();
        self.wide_heads.clear();
        let Some(limit) = limit.checked_sub(self.base) else { return };
        self.is_wide = newest.saturating_sub(self.base) > <u64 as Head>::MOST;
        let times = (self.oldest..).zip(runs);
        let times = times.filter_map(|(number, run)| Some((first(run)?.wrapping_sub(self.base), number)));
        if self.is_wide {
            times.for_each(|(time, number)| self.wide_heads.add(Head::new(time, number)));
            self.wide_heads.add(Head::new(limit, u128::NO_RUN));
        } else {
            times.for_each(|(time, number)| self.heads.add(Head::new(time, number)));
            self.heads.add(Head::new(limit.min(u64::MOST), u64::NO_RUN));
        }
        self.look_ahead(events);
    }

    /// Works out what goes next.
    #[inline(never)]
    fn look_ahead(&mut self, events: &[QueuedEvent]) {
        let (list, ahead, mut left) = (self.list.as_mut_slice(), &mut self.ahead, self.left);
        self.next = 0;
        self.filled = if self.is_wide {
            take_turns(&mut self.wide_heads, list, self.base, &mut left, events, ahead)
        } else {
            take_turns(&mut self.heads, list, self.base, &mut left, events, ahead)
        };
        self.left = left;
    }

    /// The place of the next event that may go, if one may.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<usize> {
        self.ahead().first().map(|stretch| stretch.place)
    }

    /// What goes next.
    #[inline(always)]
    pub(super) fn ahead(&self) -> &[Stretch] {
        self.ahead.get(self.next..self.filled).unwrap_or_default()
    }

    /// All that was ahead went, and what comes next is ahead: the number of events that went.
    #[inline(always)]
    pub(super) fn went(&mut self, events: &[QueuedEvent]) -> usize {
        let gone = self.ahead().iter().fold(0usize, |sum, stretch| sum.wrapping_add(stretch.count()));
        self.look_ahead(events);
        gone
    }

    /// What was ahead went, before the event in this place, which is ahead too: the number of events that went.
    pub(super) fn went_before(&mut self, place: usize) -> usize {
        let mut gone = 0usize;
        for stretch in self.ahead.get_mut(self.next..self.filled).unwrap_or_default() {
            if (stretch.place..stretch.end).contains(&place) {
                gone = gone.wrapping_add(place.wrapping_sub(stretch.place));
                stretch.place = place;
                break;
            }
            gone = gone.wrapping_add(stretch.count());
            self.next = self.next.wrapping_add(1);
        }
        gone
    }

    /// The next event went.
    #[inline(always)]
    pub(super) fn went_one(&mut self, events: &[QueuedEvent]) {
        let Some(stretch) = self.ahead.get_mut(self.next) else { return };
        stretch.place = stretch.place.wrapping_add(1);
        if stretch.place >= stretch.end {
            self.next = self.next.wrapping_add(1);
            if self.next >= self.filled {
                self.look_ahead(events);
            }
        }
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
        self.is_allowed = false;
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

/// Takes the events that go next from their runs, `left` at most: the number of stretches of them.
#[inline(always)]
fn take_turns<H: Head>(
    heads: &mut Heads<H>,
    runs: &mut [Run],
    base: u64,
    left: &mut usize,
    events: &[QueuedEvent],
    ahead: &mut [Stretch; AHEAD],
) -> usize {
    let mut filled = 0usize;
    for stretch in ahead {
        let first = heads.first();
        // Where the limit comes first there is no run.
        let Some(run) = runs.get_mut(first.run()) else { break };
        let bound = base.wrapping_add(first.goes_up_to(heads.second()));
        let place = run.next;
        let mut end = place.wrapping_add(1);
        let mut next = H::NONE;
        for event in events.get(end..run.end).unwrap_or_default() {
            if event.time > bound {
                next = H::new(event.time.wrapping_sub(base), first.run());
                break;
            }
            end = end.wrapping_add(1);
        }
        let count = end.wrapping_sub(place);
        let is_last = count >= *left;
        if is_last {
            end = place.wrapping_add(*left);
        }
        *left = left.saturating_sub(count);
        *stretch = Stretch { place, end };
        filled = filled.wrapping_add(1);
        run.next = end;
        if is_last {
            heads.clear();
            break;
        }
        heads.replace_first(next);
    }
    work::count(filled);
    filled
}
