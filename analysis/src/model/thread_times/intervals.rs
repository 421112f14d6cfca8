//! The times between the readings of a thread.
//!
//! A counter of the operating system stands still while a thread is on a processor, up to a tick of
//! 4 to 10 ms, and one of ready time grows when the thread gets a processor. So a reading may add
//! more time than passed since the one before, which belongs to the intervals before it.

use super::rule::Elapsed;
use super::{ThreadReading, TimedThread};

/// Maximum time that a counter can be ahead of its thread, in nanoseconds: two ticks of the slowest
/// kernels. More is no measurement.
const MAX_AHEAD_NANOS: u64 = 20_000_000;

/// Time between two readings of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadInterval {
    /// Begin and end, in nanoseconds since the session's start.
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) ran: u64,
    pub(super) ready: u64,
}

impl ReadInterval {
    pub(super) fn elapsed(&self) -> Elapsed {
        Elapsed { nanos: self.nanos(), ran: self.ran, ready: self.ready }
    }

    fn nanos(&self) -> u64 {
        self.to.abs_diff(self.from)
    }

    /// Returns the time in the middle.
    pub(super) fn middle(&self) -> i64 {
        self.from.saturating_add_unsigned(self.nanos() / 2)
    }
}

/// Adds the intervals between the readings of a thread. Those before `not_before` are left out.
pub(super) fn add_intervals(thread: &TimedThread, not_before: i64, all: &mut Vec<ReadInterval>) {
    let first = all.len();
    let birth = thread.counts_from().map(|nanos| ThreadReading { nanos, ran_ns: 0, ready_ns: 0 });
    let mut readings = birth.into_iter().chain(thread.readings.iter().copied());
    let Some(mut before) = readings.next() else { return };
    for reading in readings {
        let from = before.nanos.max(not_before);
        if reading.nanos > from {
            all.push(ReadInterval {
                from,
                to: reading.nanos,
                ran: reading.ran_ns.saturating_sub(before.ran_ns),
                ready: reading.ready_ns.saturating_sub(before.ready_ns),
            });
        }
        before = reading;
    }
    spread_back(all.get_mut(first..).unwrap_or_default());
}

/// Moves the time that does not fit an interval to the intervals before it.
fn spread_back(intervals: &mut [ReadInterval]) {
    let (mut ran, mut ready) = (0_u64, 0_u64);
    let mut first = None;
    for interval in intervals.iter_mut().rev() {
        let room = interval.nanos();
        let all = interval.ran.saturating_add(ran);
        interval.ran = all.min(room);
        ran = all.saturating_sub(interval.ran);
        let room = room.saturating_sub(interval.ran);
        let all = interval.ready.saturating_add(ready);
        interval.ready = all.min(room);
        ready = all.saturating_sub(interval.ready);
        first = Some(interval);
    }
    // The birth of a thread is known to 10 ms.
    if let Some(first) = first {
        first.ran = first.ran.saturating_add(ran.min(MAX_AHEAD_NANOS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn intervals(born: Option<i64>, readings: &[(u64, u64, u64)]) -> Vec<(u64, u64)> {
        let mut thread = TimedThread::new(7);
        thread.born_nanos = born;
        thread.readings = readings
            .iter()
            .map(|(at, ran, ready)| ThreadReading {
                nanos: i64::try_from(at * MS).unwrap(),
                ran_ns: ran * MS,
                ready_ns: ready * MS,
            })
            .collect();
        let mut all = Vec::new();
        add_intervals(&thread, i64::MIN, &mut all);
        all.iter().map(|interval| (interval.ran / MS, interval.ready / MS)).collect()
    }

    #[test]
    fn a_counter_that_stood_still_ran_before() {
        let readings = [(0, 0, 0), (50, 46, 0), (100, 100, 0), (150, 147, 0)];
        assert_eq!(intervals(None, &readings), [(50, 0), (50, 0), (47, 0)]);
    }

    #[test]
    fn ready_time_that_was_counted_at_its_end_lies_before_it() {
        let readings = [(0, 0, 0), (50, 10, 0), (100, 10, 0), (150, 40, 100)];
        assert_eq!(intervals(None, &readings), [(10, 30), (0, 50), (30, 20)]);
    }

    #[test]
    fn a_first_reading_counts_from_the_birth_of_a_thread_of_the_session() {
        let readings = [(50, 30, 0), (100, 40, 0)];
        assert_eq!(intervals(Some(10_000_000), &readings), [(30, 0), (10, 0)]);
        assert_eq!(intervals(Some(-200_000_000), &readings), [(30, 0), (10, 0)]);
        assert_eq!(intervals(Some(-5_000_000_000), &readings), [(10, 0)]);
        assert_eq!(intervals(None, &readings), [(10, 0)]);
    }

    #[test]
    fn more_time_than_a_thread_lived_is_no_measurement() {
        assert_eq!(intervals(Some(0), &[(10, 4_000_000, 4_000_000)]), [(30, 0)]);
    }
}
