//! Samples of one thread in time order, kept small.

use super::handle::StackHandle;
use super::sample::{Mode, Sample};
use super::varints::{self, Varints};

/// The samples of one thread in time order, for formats that show when what ran. Equal neighbours
/// are one; each takes a few bytes.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Varints: stack and mode, weight.
    bytes: Vec<u8>,
    last: Option<Run>,
    first_nanos: Option<i64>,
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

impl Timeline {
    /// Adds the next sample.
    #[inline]
    pub fn add(&mut self, sample: &Sample) {
        self.first_nanos.get_or_insert(sample.nanos);
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

    fn put(&mut self, run: Run) {
        let mode = MODES.iter().position(|mode| *mode == run.mode).unwrap_or(0);
        varints::push(&mut self.bytes, u64::from(run.stack.0) << 2 | mode as u64);
        varints::push(&mut self.bytes, run.weight);
    }

    /// Time of the first sample, in nanoseconds since the session's start.
    pub fn first_nanos(&self) -> Option<i64> {
        self.first_nanos
    }

    /// The samples, in time order.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let mut numbers = Varints::new(&self.bytes);
        let mut varint = move || numbers.next();
        let stored = std::iter::from_fn(move || {
            let (head, weight) = (varint()?, varint()?);
            let mode = MODES.get(usize::try_from(head & 3).unwrap_or(0)).copied().unwrap_or(Mode::Unknown);
            Some(Run { stack: StackHandle(u32::try_from(head >> 2).unwrap_or(u32::MAX)), mode, weight })
        });
        stored.chain(self.last)
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
