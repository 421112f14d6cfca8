//! Merges pending events by time. The threads of a trace write theirs one after another, each in
//! ascending order, so they come in few runs, and merging those takes less than sorting.

use super::filter::Pending;
use nettrace_parser::unstable::Watermark;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The runs of pending events that are complete.
#[derive(Debug, Default)]
pub(super) struct EventRuns {
    /// The run whose events are next.
    current: Option<EventRun>,
    others: BinaryHeap<Reverse<EventRun>>,
}

/// A run, by the place of its next event: ticks and stream position, which no two events share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EventRun {
    place: (u64, u64),
    /// Index of the next event, and of the first one behind the run.
    next: usize,
    end: usize,
}

impl EventRuns {
    /// Finds the runs of the events that are complete.
    pub(super) fn find(&mut self, pending: &[Pending], complete: Watermark) {
        self.others.clear();
        let mut next = 0usize;
        for run in pending.chunk_by(|one, other| one.ticks <= other.ticks) {
            let count = match complete {
                Watermark::UpTo(ticks) => run.partition_point(|event| event.ticks <= ticks),
                Watermark::All => run.len(),
            };
            let end = next.saturating_add(count);
            if let Some(first) = run.first().filter(|_| count > 0) {
                self.others.push(Reverse(EventRun { place: first.place(), next, end }));
            }
            next = next.saturating_add(run.len());
        }
        self.current = self.others.pop().map(|Reverse(run)| run);
    }

    /// Returns whether an event is before `end`, or there.
    #[inline(always)]
    pub(super) fn has_until(&self, end: (u64, u64)) -> bool {
        self.current.is_some_and(|run| run.place <= end)
    }

    /// Passes the events up to `end` to `take`, in the order of their places.
    #[inline(always)]
    pub(super) fn take_until<E>(
        &mut self,
        end: (u64, u64),
        pending: &[Pending],
        mut take: impl FnMut(&Pending) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(run) = &mut self.current {
            let other = self.others.peek().map_or((u64::MAX, u64::MAX), |Reverse(run)| run.place);
            let bound = end.min(other);
            let rows = pending.get(run.next..run.end).unwrap_or_default();
            let mut taken = 0usize;
            let left = loop {
                let Some(event) = rows.get(taken) else { break None };
                if event.place() > bound {
                    break Some(event.place());
                }
                taken = taken.saturating_add(1);
                take(event)?;
            };
            run.next = run.next.saturating_add(taken);
            match left {
                None => self.current = self.others.pop().map(|Reverse(run)| run),
                Some(place) => {
                    run.place = place;
                    if place > other
                        && let Some(mut first) = self.others.peek_mut()
                    {
                        std::mem::swap(run, &mut first.0);
                    }
                }
            }
            if !self.has_until(end) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::event_filter::filter::PendingEvent;
    use crate::model::Mode;

    fn rows(ticks: &[u64]) -> Vec<Pending> {
        let what = PendingEvent::Sample(Mode::Unknown);
        let row =
            |(at, ticks): (u64, &u64)| Pending { ticks: *ticks, at, stack: 0, thread: 0, what };
        (0..).zip(ticks).map(row).collect()
    }

    fn taken(runs: &mut EventRuns, rows: &[Pending], end: (u64, u64)) -> Vec<(u64, u64)> {
        let mut places = Vec::new();
        let take = |event: &Pending| {
            places.push(event.place());
            Ok::<(), ()>(())
        };
        if runs.has_until(end) {
            runs.take_until(end, rows, take).unwrap();
        }
        places
    }

    #[test]
    fn events_come_by_time_and_those_of_one_time_as_in_the_file() {
        let rows = rows(&[1, 3, 3, 9, 2, 3, 4, 10, 0, 3]);
        let mut runs = EventRuns::default();
        runs.find(&rows, Watermark::UpTo(9));
        assert!(runs.has_until((0, 8)) && !runs.has_until((0, 7)));
        assert_eq!(taken(&mut runs, &rows, (0, 7)), []);
        assert_eq!(taken(&mut runs, &rows, (3, 2)), [(0, 8), (1, 0), (2, 4), (3, 1), (3, 2)]);
        let end = (u64::MAX, u64::MAX);
        assert_eq!(taken(&mut runs, &rows, end), [(3, 5), (3, 9), (4, 6), (9, 3)]);
        assert!(!runs.has_until(end));
        runs.find(&rows, Watermark::All);
        assert_eq!(taken(&mut runs, &rows, end).len(), rows.len());
    }

    #[test]
    fn any_order_is_that_of_a_stable_sort() {
        let mut state = 1u64;
        for count in 0..200 {
            let ticks: Vec<u64> = (0..count)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 60) % 7
                })
                .collect();
            let rows = rows(&ticks);
            let mut sorted: Vec<(u64, u64)> = rows.iter().map(Pending::place).collect();
            sorted.sort();
            let mut runs = EventRuns::default();
            runs.find(&rows, Watermark::All);
            let mut all = Vec::new();
            for end in (0..7).flat_map(|ticks| [(ticks, 40), (ticks, 90)]) {
                all.extend(taken(&mut runs, &rows, end));
                assert_eq!(all.len(), sorted.iter().filter(|place| **place <= end).count());
            }
            all.extend(taken(&mut runs, &rows, (u64::MAX, u64::MAX)));
            assert_eq!(all, sorted);
        }
    }
}
