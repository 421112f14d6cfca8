//! Samples of one thread with the time of each, stored compactly.

use super::handle::{StackHandle, TextHandle};
use super::sample::{Mode, Sample};
use super::varints::{self, Varints};

/// Samples of one kind and thread in time order, for formats that show times and can only be
/// written when all names are known. A sample takes 6 to 12 bytes.
///
/// [`Timeline`](super::Timeline) is smaller, but merges samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Track {
    /// Varints: for each sample, the time since the end of the sample before (zigzag), stack and
    /// mode, weight, label.
    bytes: Vec<u8>,
    end_nanos: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct TimedSample {
    /// Time, in nanoseconds since the session's start.
    pub nanos: i64,
    pub stack: StackHandle,
    pub mode: Mode,
    /// Weight of the sample, in the unit of its kind.
    pub weight: u64,
    pub label: Option<TextHandle>,
}

impl Track {
    /// Adds the next sample.
    pub(crate) fn add(&mut self, sample: &Sample) {
        let Sample { nanos, stack, mode, weight, label, .. } = *sample;
        self.push(&TimedSample { nanos, stack, mode, weight, label });
    }

    /// Adds a sample of another track.
    pub(crate) fn push(&mut self, sample: &TimedSample) {
        let gap = sample.nanos.wrapping_sub(self.end_nanos);
        varints::push(&mut self.bytes, (gap << 1 ^ gap >> 63).cast_unsigned());
        let mode = u64::from(sample.mode.number());
        varints::push(&mut self.bytes, u64::from(sample.stack.0) << 3 | mode);
        varints::push(&mut self.bytes, sample.weight);
        varints::push(
            &mut self.bytes,
            sample.label.map_or(0, |label| u64::from(label.0).saturating_add(1)),
        );
        self.end_nanos = sample.nanos.saturating_add_unsigned(sample.weight);
    }

    /// Returns the samples, in time order.
    pub(crate) fn samples(&self) -> impl Iterator<Item = TimedSample> + '_ {
        let mut numbers = Varints::new(&self.bytes);
        let mut varint = move || numbers.next();
        let mut end_nanos = 0i64;
        std::iter::from_fn(move || {
            let (gap, head, weight, label) = (varint()?, varint()?, varint()?, varint()?);
            let gap = (gap >> 1).cast_signed() ^ (gap & 1).cast_signed().wrapping_neg();
            let nanos = end_nanos.wrapping_add(gap);
            end_nanos = nanos.saturating_add_unsigned(weight);
            Some(TimedSample {
                nanos,
                stack: StackHandle(u32::try_from(head >> 3).unwrap_or(u32::MAX)),
                mode: Mode::from_number(u32::try_from(head & 7).unwrap_or(u32::MAX)),
                weight,
                label: label
                    .checked_sub(1)
                    .and_then(|label| u32::try_from(label).ok())
                    .map(TextHandle),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle::ThreadHandle;
    use super::super::sample::Kind;
    use super::*;

    #[test]
    fn every_sample_comes_back_with_its_time() {
        let rows = [
            (5, 1, Mode::Managed, 10, None),
            // Directly after the first, after a gap, and with an earlier time.
            (15, 1, Mode::External, 0, Some(TextHandle(0))),
            (100, u32::MAX, Mode::OnCpu, u64::MAX, Some(TextHandle(7))),
            (i64::MIN, 0, Mode::Unknown, 1, None),
            (i64::MAX, 0, Mode::Blocked, 1, None),
        ];
        let mut track = Track::default();
        for (nanos, stack, mode, weight, label) in rows {
            let (kind, thread, stack) = (Kind::Cpu, ThreadHandle(0), StackHandle(stack));
            track.add(&Sample { mode, weight, label, ..Sample::new(kind, thread, stack, nanos) });
        }
        let back: Vec<_> = track
            .samples()
            .map(|sample| (sample.nanos, sample.stack.0, sample.mode, sample.weight, sample.label))
            .collect();
        assert_eq!(back, rows);
    }
}
