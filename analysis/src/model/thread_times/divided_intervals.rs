//! How the time between two readings of a thread is divided among its samples, for documents that
//! select ranges of time after the last event.

use super::gathered::{GatheredSamples, SeenInterval};
use super::rule::{Elapsed, SampleClass, Shares, scaled, whole_of};
use super::{ThreadInterval, ThreadTimes, Unsampled};

/// Number of which shares are parts.
const WHOLE_SHARE: u32 = u32::MAX;

/// Parts of the time of samples in an interval, by the class of the samples.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClassShares {
    /// Parts in which the thread ran, in the order of [`SampleClass`].
    ran: [u32; 3],
    /// Part in which the thread was ready, of samples of which it is not known whether it ran.
    unknown_ready: u32,
}

impl ClassShares {
    /// Returns how the time of an interval is divided whose samples need not be known. `None` if
    /// they must be, or if the interval is divided as one with others.
    pub(super) fn of_one(seen: &SeenInterval) -> Option<ClassShares> {
        let elapsed = seen.interval.elapsed();
        if seen.is_merged {
            return None;
        }
        if elapsed.is_full() {
            let ran = share(seen.seen.min(elapsed.ran), seen.seen);
            return Some(ClassShares { ran: [ran; 3], unknown_ready: 0 });
        }
        (elapsed.ran == 0 && elapsed.ready == 0).then(ClassShares::default)
    }

    /// Divides the time of samples. The rule gives samples of one class equal shares.
    pub(super) fn new(
        elapsed: Elapsed,
        samples: impl Iterator<Item = (SampleClass, u64)>,
    ) -> ClassShares {
        let shares = Shares::new(elapsed, whole_of(samples));
        let part = |part: u64| u32::try_from(part).unwrap_or(WHOLE_SHARE);
        let whole = WHOLE_SHARE.into();
        ClassShares {
            ran: shares.ran_parts(whole).map(part),
            unknown_ready: part(shares.unknown_ready_part(whole)),
        }
    }

    /// Returns the parts of some time of a sample in which the thread ran, was ready, and waited.
    pub(crate) fn parts(&self, class: SampleClass, nanos: u64) -> [u64; 3] {
        let part = |share: u32| scaled(nanos, share.into(), WHOLE_SHARE.into());
        let ran = part(self.ran.get(class as usize).copied().unwrap_or(0));
        let rest = nanos.saturating_sub(ran);
        let ready = match class {
            SampleClass::Runs => rest,
            SampleClass::Unknown => part(self.unknown_ready).min(rest),
            SampleClass::Waits => 0,
        };
        [ran, ready, rest.saturating_sub(ready)]
    }
}

/// Returns a part of a time as a share of it.
fn share(part: u64, whole: u64) -> u32 {
    u32::try_from(scaled(WHOLE_SHARE.into(), part, whole)).unwrap_or(WHOLE_SHARE)
}

/// The time between two readings of a thread, once it is divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DividedInterval {
    pub(crate) from_nanos: i64,
    pub(crate) to_nanos: i64,
    /// How the time of samples is divided; `None` if the interval is divided as one with others.
    pub(crate) shares: Option<ClassShares>,
    /// Why no sample has the rest of the processor time.
    pub(crate) unsampled: Unsampled,
    /// Processor time that no sample has, in nanoseconds.
    pub(crate) unsampled_ns: u64,
}

impl DividedInterval {
    pub(super) fn new(
        interval: &ThreadInterval,
        shares: Option<ClassShares>,
        (unsampled, unsampled_ns): (Unsampled, u64),
    ) -> DividedInterval {
        let ThreadInterval { from_nanos, to_nanos, .. } = *interval;
        DividedInterval { from_nanos, to_nanos, shares, unsampled, unsampled_ns }
    }

    /// Returns the time in the middle, by which filters of times choose intervals.
    pub(crate) fn middle(&self) -> i64 {
        let nanos = self.to_nanos.abs_diff(self.from_nanos);
        self.from_nanos.saturating_add_unsigned(nanos / 2)
    }
}

/// Returns the times between two totals of the process with the processor time that no thread's
/// readings have. Totals are exact to 10 ms, so only what exceeds all earlier differences counts.
pub(super) fn ended_intervals(
    times: &ThreadTimes,
    gathered: &GatheredSamples,
) -> Vec<DividedInterval> {
    let mut read: Vec<(i64, u64)> = gathered
        .intervals
        .iter()
        .map(|seen| (seen.interval.to_nanos, seen.interval.ran_ns))
        .collect();
    read.sort_unstable();
    let (mut of_threads, mut at, mut most) = (0_u64, 0_usize, 0_u64);
    let first_ns = times.process.first().map_or(0, |total| total.ran_ns());
    let mut intervals = Vec::new();
    for pair in times.process.windows(2) {
        let [before, after] = pair else { continue };
        while let Some((_, ran)) = read.get(at).filter(|(to, _)| *to <= after.nanos) {
            of_threads = of_threads.saturating_add(*ran);
            at = at.saturating_add(1);
        }
        let of_process = after.ran_ns().saturating_sub(first_ns);
        let exceeds = of_process.saturating_sub(of_threads);
        intervals.push(DividedInterval {
            from_nanos: before.nanos,
            to_nanos: after.nanos,
            shares: None,
            unsampled: Unsampled::Ended,
            unsampled_ns: exceeds.saturating_sub(most),
        });
        most = most.max(exceeds);
    }
    intervals
}
