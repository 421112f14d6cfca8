//! Weights of a thread's samples by the processor time that it used.
//!
//! The sampler takes the stack of each thread in each round, whatever the thread does. A method on
//! the stack shows most waits, but not waits in native code that inlined methods call, such as
//! `Thread.Join`. So the samples of a thread together weigh as much as it ran: samples in managed
//! code first, then samples in native code.

use crate::report::increase;
use std::collections::HashMap;

/// Weight of a sample whose thread ran all the time.
pub(super) const WHOLE: u64 = 1000;

/// Processor times used in a span of time, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UsedTimes {
    /// Time of each thread, by OS id.
    pub(super) of_threads: HashMap<u64, u64>,
    /// Time of threads that have ended in the span.
    pub(super) of_others: u64,
    /// Length of the span.
    pub(super) span: u64,
}

impl UsedTimes {
    pub(super) fn add(&mut self, other: &UsedTimes) {
        for (thread, nanos) in &other.of_threads {
            increase(self.of_threads.entry(*thread).or_default(), *nanos);
        }
        self.of_others = self.of_others.saturating_add(other.of_others);
        self.span = self.span.saturating_add(other.span);
    }
}

/// Latest processor times that the operating system reported.
#[derive(Debug, Default)]
pub(super) struct ProcessorTimes {
    of_threads: HashMap<u64, u64>,
    of_process: u64,
    at_ns: Option<i64>,
}

impl ProcessorTimes {
    /// Sets the current times. Returns the times used since the last call; `None` at the first
    /// call.
    pub(super) fn take(
        &mut self,
        now_ns: i64,
        of_process: u64,
        of_threads: impl IntoIterator<Item = (u64, u64)>,
    ) -> Option<UsedTimes> {
        // This also forgets threads that have ended.
        let before = std::mem::replace(&mut self.of_threads, of_threads.into_iter().collect());
        let process_before = std::mem::replace(&mut self.of_process, of_process);
        let since = self.at_ns.replace(now_ns)?;
        let span = u64::try_from(now_ns.saturating_sub(since)).ok().filter(|span| *span > 0)?;
        let used = self.of_threads.iter().map(|(id, now)| {
            // A new thread has used all of its time in the span.
            (*id, now.saturating_sub(before.get(id).copied().unwrap_or(0)))
        });
        let of_threads: HashMap<u64, u64> = used.collect();
        let known = of_threads.values().copied().fold(0, u64::saturating_add);
        let of_others = of_process.saturating_sub(process_before).saturating_sub(known);
        Some(UsedTimes { of_threads, of_others, span })
    }
}

/// Number of samples of a thread by state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) managed: u64,
    pub(super) native: u64,
    pub(super) waiting: u64,
}

impl Seen {
    pub(super) fn all(self) -> u64 {
        self.managed.saturating_add(self.native).saturating_add(self.waiting)
    }

    pub(super) fn add(&mut self, other: Seen) {
        self.managed = self.managed.saturating_add(other.managed);
        self.native = self.native.saturating_add(other.native);
        self.waiting = self.waiting.saturating_add(other.waiting);
    }
}

/// Weight of a sample of a thread, in parts of [`WHOLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SampleWeights {
    pub(super) managed: u64,
    pub(super) native: u64,
}

impl SampleWeights {
    /// Weights for a thread whose processor time is unknown.
    pub(super) const UNKNOWN: SampleWeights = SampleWeights { managed: WHOLE, native: WHOLE };

    /// Computes the weights for samples of a thread, or of several, that used `used_ns` of
    /// processor time in `span_ns`, in which the sampler made `rounds` rounds.
    pub(super) fn new(seen: Seen, rounds: u64, used_ns: u64, span_ns: u64) -> SampleWeights {
        let ran = u128::from(rounds).saturating_mul(u128::from(WHOLE));
        let ran = ran.saturating_mul(u128::from(used_ns)).checked_div(u128::from(span_ns));
        let ran = ran.unwrap_or(0);
        let weight = |ran: u128, samples: u64| {
            let each = ran.checked_div(u128::from(samples)).unwrap_or(0);
            u64::try_from(each).map_or(WHOLE, |each| each.min(WHOLE))
        };
        let of_managed = u128::from(seen.managed).saturating_mul(u128::from(WHOLE));
        SampleWeights {
            managed: weight(ran, seen.managed),
            native: weight(ran.saturating_sub(of_managed), seen.native),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_weigh_as_much_as_their_thread_ran_managed_ones_first() {
        let seen = Seen { managed: 20, native: 80, waiting: 100 };
        let weights = |percent: u64| SampleWeights::new(seen, seen.all(), percent, 100);
        assert_eq!(weights(100), SampleWeights { managed: 1000, native: 1000 });
        // 60 of 200 samples: 20 managed ones, and half of 80.
        assert_eq!(weights(30), SampleWeights { managed: 1000, native: 500 });
        assert_eq!(weights(5), SampleWeights { managed: 500, native: 0 });
        assert_eq!(weights(0), SampleWeights { managed: 0, native: 0 });
    }

    #[test]
    fn times_are_those_since_the_last_ones_and_what_is_left_is_of_threads_that_ended() {
        let mut times = ProcessorTimes::default();
        assert!(times.take(10, 1000, [(1, 500)]).is_none());
        let used = times.take(30, 1150, [(1, 600), (2, 7)]).unwrap();
        let of_threads = HashMap::from([(1, 100), (2, 7)]);
        assert_eq!(used, UsedTimes { of_threads, of_others: 43, span: 20 });
        let used = times.take(40, 1150, [(2, 7)]).unwrap();
        assert_eq!(used.of_threads, HashMap::from([(2, 0)]));
    }
}
