//! Weights of samples by the processor time that their threads used.
//!
//! The sampler takes the stack of each thread in each round, whatever the thread does. So each second
//! is divided among the samples of each thread as the time between two readings of a recording is:
//! see [`Shares`].

use crate::hash::HashMap;
use crate::model::thread_times::{Elapsed, Shares, scaled};
use crate::report::increase;

/// Weight of a sample whose thread ran all the time.
pub(super) const WHOLE: u64 = 1000;
/// Minimum time of a process that its threads do not have, for it to be that of threads that have
/// ended, in nanoseconds: two ticks in which the system counts the process.
const MIN_OTHERS_NANOS: i64 = 20_000_000;

/// Time that a thread used, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsedTime {
    pub(super) ran: u64,
    /// Time in which the thread was ready and had no processor.
    pub(super) ready: u64,
}

/// Processor times used in a span of time, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UsedTimes {
    /// Times of each thread, by OS id.
    pub(super) of_threads: HashMap<u64, UsedTime>,
    /// Time of threads that have ended in the span.
    pub(super) of_others: u64,
    pub(super) of_process: u64,
    /// Length of the span.
    pub(super) span: u64,
}

impl UsedTimes {
    pub(super) fn add(&mut self, other: &UsedTimes) {
        for (thread, used) in &other.of_threads {
            let sum = self.of_threads.entry(*thread).or_default();
            increase(&mut sum.ran, used.ran);
            increase(&mut sum.ready, used.ready);
        }
        increase(&mut self.of_others, other.of_others);
        increase(&mut self.of_process, other.of_process);
        increase(&mut self.span, other.span);
    }
}

/// Latest processor times that the operating system reported.
#[derive(Debug, Default)]
pub(super) struct ProcessorTimes {
    of_threads: HashMap<u64, UsedTime>,
    of_process: u64,
    /// Time of the process that no thread has had so far. It may be negative, because the system
    /// counts the process in ticks.
    of_others: i64,
    at_ns: Option<i64>,
}

impl ProcessorTimes {
    /// Sets the current times. Returns the times used since the last call; `None` at the first
    /// call.
    pub(super) fn take(
        &mut self,
        now_ns: i64,
        of_process: u64,
        of_threads: impl IntoIterator<Item = (u64, UsedTime)>,
    ) -> Option<UsedTimes> {
        // This also forgets threads that have ended.
        let before = std::mem::replace(&mut self.of_threads, of_threads.into_iter().collect());
        let process_before = std::mem::replace(&mut self.of_process, of_process);
        let since = self.at_ns.replace(now_ns)?;
        let span = u64::try_from(now_ns.saturating_sub(since)).ok().filter(|span| *span > 0)?;
        let used = self.of_threads.iter().map(|(id, now)| {
            // A new thread has used all of its time in the span.
            let before = before.get(id).copied().unwrap_or_default();
            let ran = now.ran.saturating_sub(before.ran);
            (*id, UsedTime { ran, ready: now.ready.saturating_sub(before.ready) })
        });
        let of_threads: HashMap<u64, UsedTime> = used.collect();
        let known = of_threads.values().map(|used| used.ran).fold(0, u64::saturating_add);
        let of_process = of_process.saturating_sub(process_before);
        let others = self.of_others.saturating_add_unsigned(of_process);
        self.of_others = others.saturating_sub_unsigned(known);
        let of_others = match self.of_others >= MIN_OTHERS_NANOS {
            true => std::mem::take(&mut self.of_others).unsigned_abs(),
            false => 0,
        };
        Some(UsedTimes { of_threads, of_others, of_process, span })
    }
}

/// Number of samples of a thread by state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) managed: u64,
    pub(super) native: u64,
    pub(super) waiting: u64,
}

/// Time that threads ran in a span of time, by where it is, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RanTimes {
    /// Time of samples of threads that ran nearly all the time.
    pub(super) measured: u64,
    /// Time that samples share.
    pub(super) estimated: u64,
    /// Time that no sample has.
    pub(super) unsampled: u64,
    /// Time of the threads that record.
    pub(super) recording: u64,
    /// Time in which threads were ready.
    pub(super) ready: u64,
}

impl RanTimes {
    pub(super) fn add(&mut self, other: &RanTimes) {
        increase(&mut self.measured, other.measured);
        increase(&mut self.estimated, other.estimated);
        increase(&mut self.unsampled, other.unsampled);
        increase(&mut self.recording, other.recording);
        increase(&mut self.ready, other.ready);
    }
}

/// Numbers of samples of each thread by class, by OS id of the thread.
pub(super) type ClassCounts = HashMap<u64, [u64; 3]>;

/// Weights of the samples of a span of time, in parts of [`WHOLE`].
#[derive(Debug, Default)]
pub(super) struct SampleWeights {
    /// Weights of samples of each class, by OS id of the thread.
    of_threads: HashMap<u64, [u64; 3]>,
    /// Weights of samples of threads that have ended.
    of_others: [u64; 3],
    pub(super) ran: RanTimes,
}

impl SampleWeights {
    /// Weights of samples of each class whose threads have no times: waits have none.
    pub(super) const UNKNOWN: [u64; 3] = [WHOLE, WHOLE, 0];

    /// Divides the times that threads used among their samples. `is_recording` says whether a thread
    /// records.
    pub(super) fn new(
        counts: &ClassCounts,
        used: &UsedTimes,
        is_recording: impl Fn(u64) -> bool,
    ) -> SampleWeights {
        let all = |counts: &[u64; 3]| counts.iter().copied().fold(0, u64::saturating_add);
        // Number of the sampler's rounds: a thread that exists all the time has a sample in each.
        let rounds = counts.values().map(all).max().unwrap_or(0);
        let times = |counts: &[u64; 3]| counts.map(|count| scaled(count, used.span, rounds));
        let mut weights = SampleWeights::default();
        let ran = &mut weights.ran;
        for (thread, UsedTime { ran: thread_ran, ready }) in &used.of_threads {
            if is_recording(*thread) {
                increase(&mut ran.recording, *thread_ran);
                continue;
            }
            increase(&mut ran.ready, *ready);
            let counts = counts.get(thread).copied().unwrap_or_default();
            let elapsed = Elapsed { nanos: used.span, ran: *thread_ran, ready: *ready };
            let shares = Shares::new(elapsed, times(&counts));
            let sum = if shares.is_ran_measured() { &mut ran.measured } else { &mut ran.estimated };
            increase(sum, thread_ran.saturating_sub(shares.left()));
            increase(&mut ran.unsampled, shares.left());
            weights.of_threads.insert(*thread, shares.ran_parts(WHOLE));
        }
        let mut others = [0_u64; 3];
        for counts in counts.iter().filter(|it| !used.of_threads.contains_key(it.0)).map(|it| it.1)
        {
            others.iter_mut().zip(counts).for_each(|(sum, count)| increase(sum, *count));
        }
        let others = times(&others);
        let elapsed = Elapsed { nanos: all(&others), ran: used.of_others, ready: 0 };
        let shares = Shares::new(elapsed, others);
        increase(&mut ran.estimated, used.of_others.saturating_sub(shares.left()));
        increase(&mut ran.unsampled, shares.left());
        weights.of_others = shares.ran_parts(WHOLE);
        weights
    }

    /// Returns the weights of a thread's samples of each class.
    pub(super) fn of_thread(&self, thread: u64) -> [u64; 3] {
        self.of_threads.get(&thread).copied().unwrap_or(self.of_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ran(ran: u64) -> UsedTime {
        UsedTime { ran, ready: 0 }
    }

    #[test]
    fn samples_weigh_as_much_as_their_thread_ran_those_that_can_run_first() {
        let counts = HashMap::from_iter([(1, [20, 80, 100])]);
        let weights = |percent: u64| {
            let of_threads = HashMap::from_iter([(1, ran(percent * MS))]);
            let used = UsedTimes { of_threads, span: 100 * MS, ..UsedTimes::default() };
            SampleWeights::new(&counts, &used, |_| false).of_thread(1)
        };
        assert_eq!(weights(100), [1000, 1000, 1000]);
        // 60 of 200 samples: 20 that can run, and half of 80.
        assert_eq!(weights(30), [1000, 500, 0]);
        assert_eq!(weights(5), [500, 0, 0]);
        assert_eq!(weights(60), [1000, 1000, 200], "waking takes time, too");
        assert_eq!(weights(0), [0, 0, 0]);
    }

    #[test]
    fn the_time_of_a_second_is_measured_estimated_without_samples_or_that_of_the_recording() {
        let counts = HashMap::from_iter([(1, [100, 0, 0]), (2, [0, 100, 0])]);
        let of_threads = [(1, ran(98 * MS)), (2, ran(40 * MS)), (3, ran(7 * MS)), (4, ran(5 * MS))];
        let used = UsedTimes {
            of_threads: HashMap::from_iter(of_threads),
            of_others: 3 * MS,
            of_process: 153 * MS,
            span: 100 * MS,
        };
        let times = SampleWeights::new(&counts, &used, |thread| thread == 4).ran;
        let expected = RanTimes {
            measured: 98 * MS,
            estimated: 40 * MS,
            unsampled: 10 * MS,
            recording: 5 * MS,
            ready: 0,
        };
        assert_eq!(times, expected);
    }

    #[test]
    fn times_are_those_since_the_last_ones_and_what_is_left_is_of_threads_that_ended() {
        let mut times = ProcessorTimes::default();
        assert!(times.take(10, 1000 * MS, [(1, ran(500 * MS))]).is_none());
        let used = times.take(30, 1150 * MS, [(1, ran(600 * MS)), (2, ran(7 * MS))]).unwrap();
        let of_threads = HashMap::from_iter([(1, ran(100 * MS)), (2, ran(7 * MS))]);
        let of_process = 150 * MS;
        assert_eq!(used, UsedTimes { of_threads, of_others: 43 * MS, of_process, span: 20 });
        let used = times.take(40, 1150 * MS, [(2, ran(7 * MS))]).unwrap();
        assert_eq!(used.of_threads, HashMap::from_iter([(2, ran(0))]));
    }

    #[test]
    fn ticks_of_the_process_are_no_threads_that_ended() {
        let mut times = ProcessorTimes::default();
        // The process is counted in steps of 10 ms, and its only thread exactly.
        let rounds = (0..100).map(|round: u64| {
            let ran_ns = round * 7 * MS;
            times.take(round as i64, ran_ns / (10 * MS) * 10 * MS, [(1, ran(ran_ns))])
        });
        assert_eq!(rounds.flatten().map(|used| used.of_others).sum::<u64>(), 0);
    }
}
