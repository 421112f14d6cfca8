//! Samples of one thread in time order, kept small.

use super::handle::StackHandle;
use super::sample::{Mode, Sample};
use std::slice;

/// The samples of one thread in time order, for formats that show when what ran. Equal neighbours
/// are one; each takes eight bytes.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Stack and mode, weight. What does not fit follows an [`ESCAPE`] in two rows: stack and mode, then
    /// the weight's halves.
    rows: Vec<[u32; 2]>,
    last: Option<Run>,
    first_nanos: Option<i64>,
    weight: u64,
}

/// Samples that follow each other and have the same stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Their stack.
    pub stack: StackHandle,
    /// Their mode.
    pub mode: Mode,
    /// Their weights' sum.
    pub weight: u64,
}

const MODES: [Mode; 4] = [Mode::Managed, Mode::External, Mode::OnCpu, Mode::Unknown];

#[inline]
fn number(mode: Mode) -> u32 {
    match mode {
        Mode::Managed => 0,
        Mode::External => 1,
        Mode::OnCpu => 2,
        Mode::Unknown => 3,
    }
}

fn mode(number: u32) -> Mode {
    MODES.get(number as usize).copied().unwrap_or(Mode::Unknown)
}

/// Stands in front of rows that hold what does not fit into one. No stack has so high a number: it would
/// be one of 2^30.
const ESCAPE: [u32; 2] = [u32::MAX, u32::MAX];
/// Stacks from this one on do not fit.
const MOST_STACKS: u32 = u32::MAX >> 2;

impl Timeline {
    /// Adds the next sample.
    #[inline]
    pub fn add(&mut self, sample: &Sample) {
        self.first_nanos.get_or_insert(sample.nanos);
        self.weight = self.weight.saturating_add(sample.weight);
        match &mut self.last {
            Some(last) if last.stack == sample.stack && last.mode == sample.mode => {
                last.weight = last.weight.saturating_add(sample.weight);
            }
            last => {
                let next = Run { stack: sample.stack, mode: sample.mode, weight: sample.weight };
                if let Some(done) = last.replace(next) {
                    self.put(done);
                }
            }
        }
    }

    #[inline]
    fn put(&mut self, run: Run) {
        match u32::try_from(run.weight) {
            Ok(weight) if run.stack.0 < MOST_STACKS => {
                self.rows.push([run.stack.0 << 2 | number(run.mode), weight]);
            }
            _ => self.put_large(run),
        }
    }

    #[cold]
    fn put_large(&mut self, run: Run) {
        let [a, b, c, d, e, f, g, h] = run.weight.to_le_bytes();
        let halves = [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])];
        self.rows.extend([ESCAPE, [run.stack.0, number(run.mode)], halves]);
    }

    /// Time of the first sample, in nanoseconds since the session's start.
    pub fn first_nanos(&self) -> Option<i64> {
        self.first_nanos
    }

    /// The weights' sum.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The samples, in time order.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        Runs { rows: self.rows.iter(), last: self.last }
    }
}

struct Runs<'t> {
    rows: slice::Iter<'t, [u32; 2]>,
    last: Option<Run>,
}

impl Runs<'_> {
    #[cold]
    fn large(&mut self) -> Option<Run> {
        let ([stack, number], [low, high]) = (*self.rows.next()?, *self.rows.next()?);
        let weight = u64::from(high) << 32 | u64::from(low);
        Some(Run { stack: StackHandle(stack), mode: mode(number), weight })
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        match self.rows.next() {
            Some(&ESCAPE) => self.large(),
            Some(&[head, weight]) => {
                Some(Run { stack: StackHandle(head >> 2), mode: mode(head & 3), weight: u64::from(weight) })
            }
            None => self.last.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle::ThreadHandle;
    use super::super::sample::Kind;
    use super::*;

    #[test]
    fn equal_neighbours_are_one_run_and_all_come_back() {
        let mut timeline = Timeline::default();
        let samples = [
            (1, Mode::Managed, 5),
            (1, Mode::Managed, 7),
            (1, Mode::External, 1),
            (u32::MAX, Mode::Unknown, u64::MAX),
        ];
        for (stack, mode, weight) in samples {
            timeline.add(&Sample {
                kind: Kind::Cpu,
                thread: ThreadHandle(0),
                stack: StackHandle(stack),
                mode,
                nanos: 3,
                count: 1,
                weight,
                label: None,
            });
        }
        let runs: Vec<_> = timeline.runs().map(|run| (run.stack.0, run.mode, run.weight)).collect();
        assert_eq!(
            runs,
            [(1, Mode::Managed, 12), (1, Mode::External, 1), (u32::MAX, Mode::Unknown, u64::MAX)]
        );
        assert_eq!(timeline.first_nanos(), Some(3));
    }
}
