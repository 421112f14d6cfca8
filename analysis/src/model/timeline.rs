//! Samples of one thread in time order, merged into runs and stored compactly.

use super::handle::{StackHandle, ThreadHandle};
use super::sample::{Kind, Mode, Sample};
use super::thread_times::{SampleDivider, TimePart};
use std::slice;

/// Samples of one thread in time order, for formats with a time axis. Equal consecutive samples are
/// merged. A run takes eight bytes, and so does a gap without samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Timeline {
    /// A row has stack with mode, and the weight; or it has [`GAP`] and a length. Values that do
    /// not fit take three rows: [`ESCAPE`], stack and mode, and the two halves of the weight.
    rows: Vec<[u32; 2]>,
    last: Option<TimelineRun>,
    first_nanos: Option<i64>,
    /// End of the newest sample: its time plus its weight.
    end_nanos: i64,
    weight: u64,
}

/// A part of a [`Timeline`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Piece {
    /// Consecutive samples that are merged.
    Run(TimelineRun),
    /// A time without samples, in nanoseconds: the thread did not exist or slept, or the sampler
    /// was stopped.
    Gap(u64),
}

/// Consecutive samples with equal stack and mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct TimelineRun {
    pub stack: StackHandle,
    pub mode: Mode,
    /// Sum of the samples' weights.
    pub weight: u64,
}

/// Number in place of the mode which marks a gap after [`ESCAPE`].
const GAP_NUMBER: u32 = 8;
/// Row that announces two rows, which have the values that do not fit into one. Ordinary rows never
/// have its stack number, 2^29 − 1.
const ESCAPE: [u32; 2] = [u32::MAX, u32::MAX];
/// Number in place of stack and mode which marks a gap.
const GAP: u32 = MAX_STACKS << 3;
/// First number of a stack that does not fit into a row.
const MAX_STACKS: u32 = u32::MAX >> 3;

impl Timeline {
    /// Adds the next sample.
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.weight = self.weight.saturating_add(sample.weight);
        if self.first_nanos.is_none() {
            (self.first_nanos, self.end_nanos) = (Some(sample.nanos), sample.nanos);
        }
        if sample.nanos > self.end_nanos {
            self.put_gap(sample.nanos.saturating_sub(self.end_nanos).cast_unsigned());
            self.end_nanos = sample.nanos;
        }
        self.end_nanos = self.end_nanos.saturating_add_unsigned(sample.weight);
        match &mut self.last {
            Some(last) if last.stack == sample.stack && last.mode == sample.mode => {
                last.weight = last.weight.saturating_add(sample.weight);
            }
            last => {
                let next =
                    TimelineRun { stack: sample.stack, mode: sample.mode, weight: sample.weight };
                if let Some(done) = last.replace(next) {
                    self.put(done);
                }
            }
        }
    }

    #[inline]
    fn put(&mut self, run: TimelineRun) {
        match u32::try_from(run.weight) {
            Ok(weight) if run.stack.0 < MAX_STACKS => {
                self.rows.push([run.stack.0 << 3 | run.mode.number(), weight]);
            }
            _ => self.put_large(run),
        }
    }

    fn put_gap(&mut self, nanos: u64) {
        if let Some(done) = self.last.take() {
            self.put(done);
        }
        match u32::try_from(nanos) {
            Ok(nanos) => self.rows.push([GAP, nanos]),
            Err(_) => self.put_escaped([0, GAP_NUMBER], nanos),
        }
    }

    #[cold]
    fn put_large(&mut self, run: TimelineRun) {
        self.put_escaped([run.stack.0, run.mode.number()], run.weight);
    }

    fn put_escaped(&mut self, head: [u32; 2], weight: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let halves = [weight as u32, (weight >> 32) as u32];
        self.rows.extend([ESCAPE, head, halves]);
    }

    /// Returns the samples divided by the readings of their thread: each run becomes its parts in
    /// the order in which they are in [`PartKind`](super::PartKind), between one reading and the
    /// next.
    pub(crate) fn divided(&self, mut divider: SampleDivider<'_>) -> Timeline {
        let mut divided = Timeline::default();
        let mut at = self.first_nanos.unwrap_or(0);
        let mut parts = Vec::new();
        for piece in self.pieces() {
            let TimelineRun { stack, mode, weight } = match piece {
                Piece::Run(run) => run,
                Piece::Gap(nanos) => {
                    at = at.saturating_add_unsigned(nanos);
                    continue;
                }
            };
            parts.clear();
            divider.divide((stack, mode), at, weight, &mut parts);
            for TimePart { mode, nanos: weight, .. } in parts.iter().copied() {
                let (kind, thread) = (Kind::Cpu, ThreadHandle(0));
                let nanos = at;
                let sample = Sample { mode, weight, ..Sample::new(kind, thread, stack, nanos) };
                divided.add(&sample);
                at = at.saturating_add_unsigned(weight);
            }
        }
        divided
    }

    /// Returns the time of the first sample, in nanoseconds since the session's start.
    pub(crate) fn first_nanos(&self) -> Option<i64> {
        self.first_nanos
    }

    /// Returns the sum of the weights of all samples.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Returns the samples, in time order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = TimelineRun> + '_ {
        self.pieces().filter_map(|piece| match piece {
            Piece::Run(run) => Some(run),
            Piece::Gap(_) => None,
        })
    }

    /// Returns samples and gaps in time order, starting at [`Timeline::first_nanos`]. Where samples
    /// of an operating system are closer to each other than their period, the following samples are
    /// shifted to later times, up to the next gap.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        Pieces { rows: self.rows.iter(), last: self.last }
    }
}

struct Pieces<'t> {
    rows: slice::Iter<'t, [u32; 2]>,
    last: Option<TimelineRun>,
}

impl Pieces<'_> {
    #[cold]
    fn large(&mut self) -> Option<Piece> {
        let ([stack, number], [low, high]) = (*self.rows.next()?, *self.rows.next()?);
        let weight = u64::from(high) << 32 | u64::from(low);
        Some(match number {
            GAP_NUMBER => Piece::Gap(weight),
            number => {
                let (stack, mode) = (StackHandle(stack), Mode::from_number(number));
                Piece::Run(TimelineRun { stack, mode, weight })
            }
        })
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    #[inline]
    fn next(&mut self) -> Option<Piece> {
        match self.rows.next() {
            Some(&ESCAPE) => self.large(),
            Some(&[GAP, nanos]) => Some(Piece::Gap(u64::from(nanos))),
            Some(&[head, weight]) => {
                let (stack, mode) = (StackHandle(head >> 3), Mode::from_number(head & 7));
                Some(Piece::Run(TimelineRun { stack, mode, weight: u64::from(weight) }))
            }
            None => self.last.take().map(Piece::Run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline_of(samples: &[(i64, u32, Mode, u64)]) -> Timeline {
        let mut timeline = Timeline::default();
        for (nanos, stack, mode, weight) in samples.iter().copied() {
            timeline.add(&Sample {
                mode,
                weight,
                ..Sample::new(Kind::Cpu, ThreadHandle(0), StackHandle(stack), nanos)
            });
        }
        timeline
    }

    #[test]
    fn equal_neighbours_are_one_run_and_all_come_back() {
        let timeline = timeline_of(&[
            (3, 1, Mode::Managed, 5),
            (8, 1, Mode::Managed, 7),
            (15, 1, Mode::External, 1),
            (16, u32::MAX, Mode::Unknown, u64::MAX),
        ]);
        let runs: Vec<_> = timeline.runs().map(|run| (run.stack.0, run.mode, run.weight)).collect();
        assert_eq!(
            runs,
            [(1, Mode::Managed, 12), (1, Mode::External, 1), (u32::MAX, Mode::Unknown, u64::MAX)]
        );
        assert_eq!(timeline.first_nanos(), Some(3));
    }

    #[test]
    fn time_without_samples_lies_between_them() {
        const FAR: i64 = 1 << 40;
        let timeline = timeline_of(&[
            (-5, 1, Mode::Managed, 5),
            (10, 1, Mode::Managed, 10),
            // This sample is early, so the next one is shifted.
            (15, 2, Mode::OnCpu, 10),
            (31, 2, Mode::OnCpu, 10),
            (FAR, 2, Mode::OnCpu, 1),
        ]);
        let run = |stack, mode, weight| {
            Piece::Run(TimelineRun { stack: StackHandle(stack), mode, weight })
        };
        let expected = [
            run(1, Mode::Managed, 5),
            Piece::Gap(10),
            run(1, Mode::Managed, 10),
            run(2, Mode::OnCpu, 10),
            Piece::Gap(1),
            run(2, Mode::OnCpu, 10),
            Piece::Gap((FAR - 41).cast_unsigned()),
            run(2, Mode::OnCpu, 1),
        ];
        assert_eq!(timeline.pieces().collect::<Vec<_>>(), expected);
        assert_eq!((timeline.runs().count(), timeline.weight()), (5, 36));
        // The longest possible gap takes as much room as others.
        let timeline =
            timeline_of(&[(i64::MIN, 1, Mode::Managed, 0), (i64::MAX, 1, Mode::Managed, 0)]);
        assert_eq!(timeline.pieces().count(), 3);
        assert!(timeline.rows.len() < 8);
    }

    #[test]
    fn a_long_run_of_each_mode_comes_back() {
        for mode in (0..8).map(Mode::from_number) {
            let runs: Vec<_> = timeline_of(&[(0, 1, mode, u64::MAX / 2)]).runs().collect();
            assert_eq!(runs.iter().map(|run| run.mode).collect::<Vec<_>>(), [mode]);
        }
    }
}
