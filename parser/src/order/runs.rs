//! Merges runs, which are events in file order whose times never decrease. [`super`] has an
//! example.

use super::heads::{Head, Heads};
use super::queued_event::QueuedEvent;
use crate::work;

/// Part of a run that has not been delivered: indexes `next..end` of the queue.
#[derive(Debug, Clone, Copy)]
struct Run {
    next: usize,
    end: usize,
}

/// Consecutive events of one run that are delivered without interruption.
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

/// Number of stretches that are computed at a time. No visitor is called meanwhile, so the state of
/// the heap can stay in registers.
const AHEAD_STRETCHES: usize = 64;

/// Runs, in file order.
#[derive(Debug)]
pub(super) struct Runs {
    list: Vec<Run>,
    /// Index of the first run that has not been delivered completely.
    oldest: usize,
    /// Whether the newest run can still grow. It has no end until [`Runs::begin_delivery`].
    is_open: bool,
    /// Whether events are being delivered: from [`Runs::begin_delivery`] to
    /// [`Runs::end_delivery`].
    is_delivering: bool,
    /// Number of events that may still be delivered.
    left: usize,
    /// First time of each run, relative to `base`, and the time up to which events may be
    /// delivered.
    heads: Heads<u64>,
    /// Replacement for `heads` if times are too far apart for 64 bits (`is_wide`).
    wide_heads: Heads<u128>,
    is_wide: bool,
    /// Earliest first time of all runs.
    base: u64,
    /// Stretches in the order of delivery. Those at `next..filled` have not been delivered, but
    /// their events no longer belong to a run of `list`.
    ahead: [Stretch; AHEAD_STRETCHES],
    next: usize,
    filled: usize,
}

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            list: Vec::new(),
            oldest: 0,
            is_open: false,
            is_delivering: false,
            left: 0,
            heads: Heads::default(),
            wide_heads: Heads::default(),
            is_wide: false,
            base: 0,
            ahead: [Stretch::default(); AHEAD_STRETCHES],
            next: 0,
            filled: 0,
        }
    }
}

impl Runs {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.oldest = 0;
        (self.is_open, self.is_delivering) = (false, false);
        (self.next, self.filled) = (0, 0);
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    #[inline(always)]
    pub(super) fn is_ready(&self) -> bool {
        self.next < self.filled
    }

    pub(super) fn is_delivering(&self) -> bool {
        self.is_delivering
    }

    /// Starts a run at the event with this index.
    pub(super) fn begin(&mut self, place: usize) {
        self.close(place);
        self.list.push(Run { next: place, end: usize::MAX });
        self.is_open = true;
    }

    /// Sets the end of the newest run, if it is open.
    fn close(&mut self, end: usize) {
        if let Some(run) = self.list.last_mut().filter(|_| self.is_open) {
            run.end = end;
        }
    }

    /// Begins to deliver up to `count` events with times up to and including `limit`. `events` is
    /// the whole queue, and `newest` at least its newest time.
    pub(super) fn begin_delivery(
        &mut self,
        limit: u64,
        count: usize,
        newest: u64,
        events: &[QueuedEvent],
    ) {
        // No event is added while events are delivered, so the newest run has an end.
        self.close(events.len());
        (self.is_delivering, self.left) = (true, count);
        let runs = self.list.get(self.oldest..).unwrap_or_default();
        work::count(runs.len());
        let first = |run: &Run| events.get(run.next..run.end)?.first().map(|first| first.time);
        self.base = runs.iter().filter_map(first).min().unwrap_or(0);
        self.heads.clear();
        self.wide_heads.clear();
        let Some(limit) = limit.checked_sub(self.base) else { return };
        // Only corrupt times are further apart than 2^40 ticks. Heads of 64 bits compare faster.
        self.is_wide = newest.saturating_sub(self.base) > <u64 as Head>::MAX_TIME;
        let times = (self.oldest..).zip(runs);
        let times =
            times.filter_map(|(number, run)| Some((first(run)?.wrapping_sub(self.base), number)));
        // The limit is one more head, without a run. Runs stop before it as they stop before
        // each other, so events are not compared with the limit.
        if self.is_wide {
            times.for_each(|(time, number)| self.wide_heads.add(Head::new(time, number)));
            self.wide_heads.add(Head::new(limit, u128::NO_RUN));
        } else {
            times.for_each(|(time, number)| self.heads.add(Head::new(time, number)));
            self.heads.add(Head::new(limit.min(u64::MAX_TIME), u64::NO_RUN));
        }
        self.look_ahead(events);
    }

    /// Computes the stretches to deliver next.
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

    /// Returns the index of the next event that may be delivered, if there is one.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<usize> {
        self.ahead().first().map(|stretch| stretch.place)
    }

    /// Returns the stretches to deliver next.
    #[inline(always)]
    pub(super) fn ahead(&self) -> &[Stretch] {
        self.ahead.get(self.next..self.filled).unwrap_or_default()
    }

    /// Marks all stretches ahead as delivered, and computes the next stretches. Returns the
    /// number of delivered events.
    #[inline(always)]
    pub(super) fn mark_ahead_delivered(&mut self, events: &[QueuedEvent]) -> usize {
        let delivered =
            self.ahead().iter().fold(0usize, |sum, stretch| sum.wrapping_add(stretch.count()));
        self.look_ahead(events);
        delivered
    }

    /// Marks the events before the event at `place` as delivered, and returns their number. The
    /// event must lie in one of the stretches that [`Runs::ahead`] returns.
    pub(super) fn mark_delivered_before(&mut self, place: usize) -> usize {
        let mut delivered = 0usize;
        for stretch in self.ahead.get_mut(self.next..self.filled).unwrap_or_default() {
            if (stretch.place..stretch.end).contains(&place) {
                delivered = delivered.wrapping_add(place.wrapping_sub(stretch.place));
                stretch.place = place;
                break;
            }
            delivered = delivered.wrapping_add(stretch.count());
            self.next = self.next.wrapping_add(1);
        }
        delivered
    }

    /// Marks the next event as delivered.
    #[inline(always)]
    pub(super) fn mark_one_delivered(&mut self, events: &[QueuedEvent]) {
        let Some(stretch) = self.ahead.get_mut(self.next) else { return };
        stretch.place = stretch.place.wrapping_add(1);
        if stretch.place >= stretch.end {
            self.next = self.next.wrapping_add(1);
            if self.next >= self.filled {
                self.look_ahead(events);
            }
        }
    }

    /// Returns the times of all queued events.
    pub(super) fn times(&self, events: &[QueuedEvent]) -> Vec<u64> {
        let runs = self.list.get(self.oldest..).unwrap_or_default();
        let waiting = runs.iter().filter_map(|run| events.get(run.next..run.end.min(events.len())));
        waiting.flatten().map(|event| event.time).collect()
    }

    /// Ends the delivery when nothing is ready. Removes delivered runs, and returns the new
    /// length of the queue, which ends with the last queued event. The first queued event is at
    /// [`Runs::first`].
    pub(super) fn end_delivery(&mut self) -> usize {
        self.is_delivering = false;
        // Drops delivered runs at the end, so that new events follow the last queued event.
        while let Some(run) = self.list.last() {
            if run.next < run.end {
                break;
            }
            // The next event begins a new run.
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

    /// Returns the index of the first queued event, in file order.
    pub(super) fn first(&self) -> usize {
        self.list.get(self.oldest).map_or(0, |run| run.next)
    }

    /// Moves the queued events to the front. `moved` gets the events of each run at their new
    /// place, and the distance by which they moved. Returns the number of queued events.
    pub(super) fn compact(
        &mut self,
        events: &mut [QueuedEvent],
        mut moved: impl FnMut(&mut [QueuedEvent], usize),
    ) -> usize {
        let all = events.len();
        let mut count = 0usize;
        // Runs move in file order and towards the front, so none is overwritten.
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

/// Takes the next stretches from their runs, up to `left` events. Returns the number of
/// stretches.
#[inline(always)]
fn take_turns<H: Head>(
    heads: &mut Heads<H>,
    runs: &mut [Run],
    base: u64,
    left: &mut usize,
    events: &[QueuedEvent],
    ahead: &mut [Stretch; AHEAD_STRETCHES],
) -> usize {
    let mut filled = 0usize;
    for stretch in ahead {
        let first = heads.first();
        // No run comes first if the limit does, or if no head is left.
        let Some(run) = runs.get_mut(first.run()) else { break };
        // Up to this time, in recorded streams for hundreds of events, the heap does not change.
        let bound = base.wrapping_add(first.goes_up_to(heads.second()));
        // The first event is delivered in any case, so each turn makes progress.
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
