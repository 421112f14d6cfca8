//! Computes the weights of CPU samples.
//!
//! A sample weighs the wall time until the next sample of its thread. The sampler works in rounds:
//! it samples one thread after the other, then pauses. A thread that was left out of a round did
//! not exist, so its sample before weighs at most five periods. If no thread was sampled for long,
//! the sampler was late, and threads continued what they did. The last sample of a thread weighs
//! one period. The period is the median time between consecutive samples of a thread, measured at
//! the start of the trace, because the header has only the requested period.
//!
//! The weights are thread time, not processor time: the runtime's sampler samples all threads,
//! running, waiting for a processor, or blocked.
//!
//! Samplers of operating systems sample processors, so sleeping threads have no samples. Each of
//! their samples weighs one period. The header's period is preferred, because the time between
//! samples of a thread that slept means nothing.

use super::handle::{StackHandle, ThreadHandle};
use super::profile::{ProfileKey, Totals};
use super::sample::{Kind, Mode, Sample};
use std::collections::VecDeque;

/// Maximum weight of a sample in periods, if its thread was left out of the next round.
const MAX_PERIODS: u64 = 5;
/// Maximum time between two consecutive samples of an operating system, in periods. It is more than
/// one, because processors are not sampled exactly once per period.
const JITTER: u64 = 2;
/// Number of gaps between samples whose median is taken as the period.
const MEASURED_GAPS: usize = 1024;
/// Maximum number of samples that are kept until the period is known. There is a maximum, because
/// few gaps can be measured in a trace whose clock hardly advances.
const MAX_EARLY_SAMPLES: usize = 64 * MEASURED_GAPS;

/// Newest sample of a thread, whose weight is not known yet, and the equal samples directly before
/// it.
#[derive(Debug, Clone, Copy)]
struct Open {
    nanos: i64,
    stack: StackHandle,
    /// Mode of the samples; `None` if there is no sample.
    mode: Option<Mode>,
    /// Round in which the newest sample was taken.
    round: u32,
    /// Number of samples before the newest one.
    before: u64,
    first_nanos: i64,
    weight: u64,
}

impl Open {
    const NONE: Open = Open {
        nanos: 0,
        stack: StackHandle(0),
        mode: None,
        round: 0,
        before: 0,
        first_nanos: 0,
        weight: 0,
    };

    #[inline(always)]
    fn at(stack: StackHandle, mode: Mode, nanos: i64) -> Open {
        Open { nanos, stack, mode: Some(mode), first_nanos: nanos, ..Open::NONE }
    }

    #[inline(always)]
    fn gap_to(&self, next: &Open) -> Gap {
        Gap {
            nanos: u64::try_from(next.nanos.saturating_sub(self.nanos)).unwrap_or(0),
            is_left_out: next.round.wrapping_sub(self.round) > 1,
        }
    }

    /// Adds the thread's next sample. Passes samples to `out` if their weight is known now.
    #[inline(always)]
    fn follow<E>(
        &mut self,
        thread: ThreadHandle,
        next: Open,
        gathers: bool,
        period: u64,
        mut out: impl FnMut(Weighed) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(mode) = self.mode else {
            *self = next;
            return Ok(());
        };
        let gap = self.gap_to(&next);
        let weight = weight(mode, gap, period);
        let is_like =
            (self.stack, self.mode) == (next.stack, next.mode) && self.nanos <= next.nanos;
        // A gap ends a group, so that formats with times can show the gap.
        if gathers && is_like && !is_sample_gap(mode, gap.nanos, weight) {
            self.before = self.before.saturating_add(1);
            self.weight = self.weight.saturating_add(weight);
            (self.nanos, self.round) = (next.nanos, next.round);
            return Ok(());
        }
        let weighed = self.weighed(thread, mode, weight);
        *self = next;
        out(weighed)
    }

    /// Returns all samples of the group. `weight` is the weight of the newest one.
    #[inline(always)]
    fn weighed(&self, thread: ThreadHandle, mode: Mode, weight: u64) -> Weighed {
        let Open { nanos, stack, before, first_nanos, .. } = *self;
        let count = before.saturating_add(1);
        let weight = weight.saturating_add(self.weight);
        Weighed { thread, stack, mode, count, weight, first_nanos, last_nanos: nanos }
    }
}

/// Time from one sample of a thread to the next one.
#[derive(Debug, Clone, Copy)]
struct Gap {
    nanos: u64,
    /// Whether a round in between left the thread out.
    is_left_out: bool,
}

/// A CPU sample with its weight, or several consecutive samples of a thread with equal stack and
/// mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighed {
    pub(crate) thread: ThreadHandle,
    pub(crate) stack: StackHandle,
    pub(crate) mode: Mode,
    pub(crate) count: u64,
    /// Sum of the samples' weights.
    pub(crate) weight: u64,
    pub(crate) first_nanos: i64,
    pub(crate) last_nanos: i64,
}

impl Weighed {
    /// Returns the samples as a single one, which has their number as count and the time of the
    /// first.
    pub(crate) fn sample(&self) -> Sample {
        let Weighed { thread, stack, mode, count, weight, first_nanos, .. } = *self;
        Sample { mode, count, weight, ..Sample::new(Kind::Cpu, thread, stack, first_nanos) }
    }

    /// Returns the key of the profile's row to which the samples belong.
    #[inline]
    pub(crate) fn key(&self) -> ProfileKey {
        let Weighed { thread, stack, mode, .. } = *self;
        ProfileKey { kind: Kind::Cpu, thread, stack, mode, label: None, endpoint: None }
    }

    /// Returns the totals of the samples, to be added to a profile.
    #[inline]
    pub(crate) fn totals(&self) -> Totals {
        let Weighed { count, weight, first_nanos, last_nanos, .. } = *self;
        Totals { samples: count, count, weight, estimated: 0, first_nanos, last_nanos }
    }
}

/// Computes the weights of CPU samples while the samples arrive.
#[derive(Debug)]
pub(crate) struct CpuWeights {
    /// Newest sample of each thread, by the thread's index.
    open: Vec<Open>,
    /// First samples with the gaps after them, which are kept until the period is known.
    early: VecDeque<(Weighed, Gap)>,
    gaps: Vec<u64>,
    /// Number of the sampler's current round.
    round: u32,
    period_nanos: Option<u64>,
    /// Period according to the stream's header, in nanoseconds.
    expected_nanos: Option<u64>,
    /// Whether an operating system took all samples so far.
    is_on_cpu: bool,
    /// Whether consecutive samples with equal stack and mode are merged.
    gathers: bool,
}

/// Default period of the runtime's sampler, in nanoseconds.
const USUAL_NANOS: u64 = 1_000_000;

impl CpuWeights {
    pub(crate) fn new() -> CpuWeights {
        CpuWeights {
            open: Vec::new(),
            early: VecDeque::new(),
            gaps: Vec::new(),
            round: 0,
            period_nanos: None,
            expected_nanos: None,
            is_on_cpu: true,
            gathers: false,
        }
    }

    /// Sets the period that the stream's header contains.
    pub(crate) fn expect(&mut self, nanos: u64) {
        self.expected_nanos = Some(nanos).filter(|nanos| *nanos > 0);
    }

    /// Sets whether consecutive samples of a thread with equal stack and mode are merged.
    pub(crate) fn gather(&mut self, gathers: bool) {
        self.gathers = gathers;
    }

    /// Returns the period, once it has been measured.
    pub(crate) fn period_nanos(&self) -> Option<u64> {
        self.period_nanos
    }

    /// Adds a sample. Passes samples to `out` if their weight is known now, in time order for each
    /// thread.
    #[inline(always)]
    pub(crate) fn add<E>(
        &mut self,
        thread: ThreadHandle,
        stack: StackHandle,
        mode: Mode,
        nanos: i64,
        out: impl FnMut(Weighed) -> Result<(), E>,
    ) -> Result<(), E> {
        match (self.period_nanos, self.open.get_mut(thread.index())) {
            (Some(period), Some(open)) => {
                let gathers = self.gathers;
                // The stream does not mark rounds of the sampler. A second sample of a thread shows
                // that a new round has begun.
                let is_next = open.mode.is_some() && open.round == self.round;
                self.round = self.round.wrapping_add(u32::from(is_next));
                let next = Open { round: self.round, ..Open::at(stack, mode, nanos) };
                open.follow(thread, next, gathers, period, out)
            }
            _ => self.add_early(thread, Open::at(stack, mode, nanos), out),
        }
    }

    /// Adds a sample that is the first of its thread, or comes before the period is known.
    #[cold]
    #[inline(never)]
    fn add_early<E>(
        &mut self,
        thread: ThreadHandle,
        next: Open,
        out: impl FnMut(Weighed) -> Result<(), E>,
    ) -> Result<(), E> {
        self.is_on_cpu &= next.mode == Some(Mode::OnCpu);
        let place = thread.index();
        if self.open.len() <= place {
            // Threads are numbered without gaps.
            self.open.resize(place.saturating_add(1), Open::NONE);
        }
        let (gathers, period) = (self.gathers, self.period_nanos);
        let Some(open) = self.open.get_mut(place) else { return Ok(()) };
        let is_next = open.mode.is_some() && open.round == self.round;
        self.round = self.round.wrapping_add(u32::from(is_next));
        let next = Open { round: self.round, ..next };
        if let Some(period) = period {
            return open.follow(thread, next, gathers, period, out);
        }
        let before = std::mem::replace(open, next);
        match before.mode {
            // `fix_period` sets the weight.
            Some(mode) => self.measure(before.weighed(thread, mode, 0), before.gap_to(&next), out),
            None => Ok(()),
        }
    }

    #[cold]
    fn measure<E>(
        &mut self,
        weighed: Weighed,
        gap: Gap,
        out: impl FnMut(Weighed) -> Result<(), E>,
    ) -> Result<(), E> {
        self.early.push_back((weighed, gap));
        // Samples at one time are duplicates, or the clock did not advance.
        if gap.nanos > 0 {
            self.gaps.push(gap.nanos);
        }
        if self.gaps.len() < MEASURED_GAPS && self.early.len() < MAX_EARLY_SAMPLES {
            return Ok(());
        }
        self.fix_period(out)
    }

    fn fix_period<E>(&mut self, mut out: impl FnMut(Weighed) -> Result<(), E>) -> Result<(), E> {
        self.gaps.sort_unstable();
        // The median, because a few late rounds would move a mean.
        let measured = self.gaps.get(self.gaps.len() / 2).copied();
        let announced = self.expected_nanos;
        let period = if self.is_on_cpu { announced.or(measured) } else { measured.or(announced) };
        let period = period.unwrap_or(USUAL_NANOS);
        self.gaps = Vec::new();
        self.period_nanos = Some(period);
        std::mem::take(&mut self.early).into_iter().try_for_each(|(mut weighed, gap)| {
            weighed.weight = weight(weighed.mode, gap, period);
            out(weighed)
        })
    }

    /// Passes all samples that are left to `out`, at the end of the trace.
    pub(crate) fn finish<E>(
        &mut self,
        mut out: impl FnMut(Weighed) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.period_nanos.is_none() {
            self.fix_period(&mut out)?;
        }
        let period = self.period_nanos.unwrap_or(USUAL_NANOS);
        let open = std::mem::take(&mut self.open);
        let threads = ThreadHandle::all(open.len());
        let mut there =
            threads.zip(open).filter_map(|(thread, open)| Some((thread, open, open.mode?)));
        there.try_for_each(|(thread, open, mode)| out(open.weighed(thread, mode, period)))
    }
}

/// Returns whether a thread has a time without samples between a sample with this weight and the
/// next one, which comes `gap` nanoseconds later.
#[inline(always)]
pub(crate) fn is_sample_gap(mode: Mode, gap: u64, weight: u64) -> bool {
    match mode {
        Mode::OnCpu => gap > weight.saturating_mul(JITTER),
        _ => gap > weight,
    }
}

#[inline(always)]
fn weight(mode: Mode, gap: Gap, period: u64) -> u64 {
    match mode {
        Mode::OnCpu => period,
        _ if gap.is_left_out => gap.nanos.min(period.saturating_mul(MAX_PERIODS)),
        _ => gap.nanos,
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Profile;
    use super::*;
    use std::convert::Infallible;

    fn weights(samples: &[(u32, i64)]) -> (Vec<(u32, i64, u64)>, CpuWeights) {
        let mut cpu = CpuWeights::new();
        let mut seen = Vec::new();
        let mut out = |weighed: Weighed| {
            seen.push((weighed.thread.0, weighed.first_nanos, weighed.weight));
            Ok::<_, Infallible>(())
        };
        for (thread, nanos) in samples {
            cpu.add(ThreadHandle(*thread), StackHandle(0), Mode::Managed, *nanos, &mut out)
                .unwrap();
        }
        cpu.finish(&mut out).unwrap();
        (seen, cpu)
    }

    #[test]
    fn a_sample_weighs_the_time_to_the_threads_next_also_if_the_sampler_is_late() {
        let (seen, cpu) =
            weights(&[(1, 0), (2, 0), (1, 10), (2, 10), (1, 20), (1, 1000), (2, 1000), (1, 1010)]);
        assert_eq!(cpu.period_nanos(), Some(10));
        let of =
            |thread| seen.iter().filter(|s| s.0 == thread).map(|s| (s.1, s.2)).collect::<Vec<_>>();
        assert_eq!(of(1), [(0, 10), (10, 10), (20, 980), (1000, 10), (1010, 10)]);
        assert_eq!(of(2), [(0, 10), (10, 50), (1000, 10)], "it was left out at 20");
        assert!(cpu.open.is_empty());
    }

    #[test]
    fn a_thread_that_is_left_out_of_rounds_did_not_exist() {
        let others = (0..100).map(|at| (1, at * 10));
        let mut samples: Vec<(u32, i64)> = others.collect();
        samples.extend([(2, 3), (2, 13), (2, 913), (2, 923)]);
        samples.sort_by_key(|(_, nanos)| *nanos);
        let (seen, _) = weights(&samples);
        let of_2: Vec<u64> = seen.iter().filter(|s| s.0 == 2).map(|s| s.2).collect();
        assert_eq!(of_2, [10, 50, 10, 10]);
    }

    #[test]
    fn a_threads_only_sample_weighs_one_period() {
        let (seen, _) = weights(&[(1, 5)]);
        assert_eq!(seen, [(1, 5, 1_000_000)]);
    }

    #[test]
    fn a_sample_of_an_operating_system_weighs_the_announced_period() {
        let mut cpu = CpuWeights::new();
        cpu.expect(4);
        let mut seen = Vec::new();
        let mut out = |weighed: Weighed| {
            seen.push(weighed.weight);
            Ok::<_, Infallible>(())
        };
        for nanos in [0, 100, 103, 900] {
            cpu.add(ThreadHandle(1), StackHandle(0), Mode::OnCpu, nanos, &mut out).unwrap();
        }
        cpu.finish(&mut out).unwrap();
        assert_eq!(seen, [4, 4, 4, 4]);
    }

    #[test]
    fn samples_of_a_thread_that_stays_where_it_is_may_go_out_as_one() {
        let sums = |gathers| {
            let mut cpu = CpuWeights::new();
            cpu.gather(gathers);
            let (mut profile, mut given) = (Profile::default(), 0);
            let mut out = |weighed: Weighed| {
                profile.add_totals(weighed.key(), &weighed.totals());
                given += 1;
                Ok::<_, Infallible>(())
            };
            for at in 0..3000 {
                // One of two threads stays in place for long, and the clock goes backwards once.
                let nanos = if at == 2000 { 1 } else { i64::from(at) * 10 };
                let (thread, stack) =
                    (ThreadHandle(at % 2), StackHandle(if at % 2 == 0 { at / 500 } else { at }));
                cpu.add(thread, stack, Mode::Managed, nanos, &mut out).unwrap();
            }
            cpu.finish(&mut out).unwrap();
            (profile.rows(), given)
        };
        let (gathered, alone) = (sums(true), sums(false));
        assert_eq!(gathered.0, alone.0);
        assert!(gathered.1 < alone.1 - 400, "{} {}", gathered.1, alone.1);
    }

    #[test]
    fn samples_of_one_moment_do_not_wait_for_a_period_without_end() {
        let mut cpu = CpuWeights::new();
        let mut seen = 0;
        let mut out = |_: Weighed| {
            seen += 1;
            Ok::<_, Infallible>(())
        };
        let many = MAX_EARLY_SAMPLES + 1000;
        for _ in 0..many {
            cpu.add(ThreadHandle(1), StackHandle(0), Mode::Managed, 7, &mut out).unwrap();
        }
        assert!(cpu.early.is_empty() && cpu.early.capacity() == 0);
        assert_eq!(cpu.period_nanos(), Some(USUAL_NANOS), "no gap was measured");
        cpu.finish(&mut out).unwrap();
        assert_eq!(seen, many);
    }

    #[test]
    fn the_period_is_measured_over_the_first_samples() {
        let samples: Vec<(u32, i64)> =
            (0..3000).map(|i| (1, if i < 2000 { i * 7 } else { 14_000 + i * 9 })).collect();
        let (seen, cpu) = weights(&samples);
        assert_eq!((cpu.period_nanos(), seen.len()), (Some(7), 3000));
    }
}
