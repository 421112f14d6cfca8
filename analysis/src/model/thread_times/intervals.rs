//! The times between the readings of a thread.
//!
//! A counter of the operating system stands still while a thread is on a processor, up to a tick of
//! 4 to 10 ms, and one of ready time grows when the thread gets a processor. So a reading may add
//! more time than passed since the one before, which belongs to the intervals before it.

use super::held_back::throttled_spans;
use super::rule::{Elapsed, scaled};
use super::{ThreadReading, ThreadTimes, TimedThread};
use std::collections::BTreeMap;

/// Maximum time that a counter can be ahead of its thread, in nanoseconds: two ticks of the slowest
/// kernels. More is no measurement.
const MAX_AHEAD_NANOS: u64 = 20_000_000;

/// What a thread did between two of its readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInterval {
    /// Begin, in nanoseconds since the session's start.
    pub from_nanos: i64,
    /// End, in nanoseconds since the session's start.
    pub to_nanos: i64,
    /// Time on a processor, in nanoseconds.
    pub ran_ns: u64,
    /// Time in which the thread was ready and had no processor, in nanoseconds.
    pub ready_ns: u64,
    /// Part of [`Self::ready_ns`] that lies between two readings of a control group of the process
    /// in which the group used up its limit of processor time. The kernel counts throttled periods
    /// for a group, not for its threads.
    pub throttled_ns: u64,
}

impl ThreadInterval {
    pub(super) fn elapsed(&self) -> Elapsed {
        Elapsed { nanos: self.nanos(), ran: self.ran_ns, ready: self.ready_ns }
    }

    fn nanos(&self) -> u64 {
        self.to_nanos.abs_diff(self.from_nanos)
    }

    /// Returns the time in the middle.
    pub(super) fn middle(&self) -> i64 {
        self.from_nanos.saturating_add_unsigned(self.nanos() / 2)
    }
}

impl ThreadTimes {
    /// Returns what each thread did between its readings, in time order, by the OS id of the thread.
    /// Threads that had one id after another are one.
    ///
    /// The kernel counts a wait for a processor when it ends, and the time on a processor at its
    /// ticks, so a reading may add more than the time since the one before it: the rest is moved to
    /// the intervals before. Within an interval, a thread may have run and been ready at any time of
    /// it.
    pub fn intervals(&self) -> BTreeMap<u64, Vec<ThreadInterval>> {
        let throttled = throttled_spans(&self.groups);
        let mut of_thread: BTreeMap<u64, Vec<ThreadInterval>> = BTreeMap::new();
        for thread in &self.threads {
            let intervals = of_thread.entry(thread.thread_id).or_default();
            // A thread that got the id of an earlier one was born after its last reading.
            let not_before = intervals.last().map_or(i64::MIN, |last| last.to_nanos);
            add_intervals(thread, self.earliest_birth(), not_before, intervals);
        }
        for intervals in of_thread.values_mut() {
            set_throttled(intervals, &throttled);
        }
        of_thread
    }
}

/// Sets the part of the ready time that lies in the spans. Both are in time order.
fn set_throttled(intervals: &mut [ThreadInterval], spans: &[(i64, i64)]) {
    let mut spans = spans;
    for interval in intervals.iter_mut().filter(|interval| interval.ready_ns > 0) {
        while let Some(((_, to), later)) = spans.split_first()
            && *to <= interval.from_nanos
        {
            spans = later;
        }
        let within = spans.iter().take_while(|(from, _)| *from < interval.to_nanos);
        let within = within.map(|(from, to)| {
            (*to).min(interval.to_nanos).abs_diff((*from).max(interval.from_nanos))
        });
        let within = within.fold(0, u64::saturating_add);
        interval.throttled_ns = scaled(interval.ready_ns, within, interval.nanos());
    }
}

/// Adds the intervals between the readings of a thread. The first reading counts from the thread's
/// birth, if that is not before `earliest_birth`. Intervals before `not_before` are left out.
pub(super) fn add_intervals(
    thread: &TimedThread,
    earliest_birth: i64,
    not_before: i64,
    all: &mut Vec<ThreadInterval>,
) {
    let first = all.len();
    let birth = thread.born_nanos.filter(|born| *born >= earliest_birth);
    let birth = birth.map(|nanos| ThreadReading { nanos, ran_ns: 0, ready_ns: 0 });
    let mut readings = birth.into_iter().chain(thread.readings.iter().copied());
    let Some(mut before) = readings.next() else { return };
    for reading in readings {
        let from = before.nanos.max(not_before);
        if reading.nanos > from {
            all.push(ThreadInterval {
                from_nanos: from,
                to_nanos: reading.nanos,
                ran_ns: reading.ran_ns.saturating_sub(before.ran_ns),
                ready_ns: reading.ready_ns.saturating_sub(before.ready_ns),
                throttled_ns: 0,
            });
        }
        before = reading;
    }
    spread_back(all.get_mut(first..).unwrap_or_default());
}

/// Moves the time that does not fit an interval to the intervals before it.
fn spread_back(intervals: &mut [ThreadInterval]) {
    let (mut ran, mut ready) = (0_u64, 0_u64);
    let mut first = None;
    for interval in intervals.iter_mut().rev() {
        let room = interval.nanos();
        let all = interval.ran_ns.saturating_add(ran);
        interval.ran_ns = all.min(room);
        ran = all.saturating_sub(interval.ran_ns);
        let room = room.saturating_sub(interval.ran_ns);
        let all = interval.ready_ns.saturating_add(ready);
        interval.ready_ns = all.min(room);
        ready = all.saturating_sub(interval.ready_ns);
        first = Some(interval);
    }
    // The birth of a thread is known to 10 ms.
    if let Some(first) = first {
        first.ran_ns = first.ran_ns.saturating_add(ran.min(MAX_AHEAD_NANOS));
    }
}

#[cfg(test)]
mod tests {
    use super::super::GroupLimits;
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
        add_intervals(&thread, -1_000_000_000, i64::MIN, &mut all);
        all.iter().map(|interval| (interval.ran_ns / MS, interval.ready_ns / MS)).collect()
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

    #[test]
    fn ready_time_is_throttled_as_far_as_throttled_periods_rose_meanwhile() {
        let ms = |at: i64| at * 1_000_000;
        let reading =
            |at, ready_ms: u64| ThreadReading { nanos: ms(at), ran_ns: 0, ready_ns: ready_ms * MS };
        let readings = vec![reading(0, 0), reading(50, 40), reading(100, 80), reading(150, 120)];
        let group = |level, at, throttled| GroupLimits {
            level,
            nanos: ms(at),
            throttled,
            ..GroupLimits::default()
        };
        let times = ThreadTimes {
            threads: vec![TimedThread { readings, ..TimedThread::new(7) }],
            groups: vec![
                group(0, 0, 3),
                group(1, 0, 9),
                group(0, 75, 4),
                group(1, 80, 9),
                group(0, 200, 4),
            ],
            ..ThreadTimes::default()
        };
        let intervals = times.intervals();
        let throttled: Vec<u64> =
            intervals[&7].iter().map(|interval| interval.throttled_ns / MS).collect();
        assert_eq!(throttled, [40, 20, 0]);
    }
}
