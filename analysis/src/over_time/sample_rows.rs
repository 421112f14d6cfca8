//! Samples in a bounded number of rows: one row each at first, then sums over short slices of time.
//! If there are very many different stacks, the lightest become one stack for each thread.

use crate::hash::{HashMap, HashSet};
use crate::model::{Kind, Mode, Sample, StackHandle, TextHandle, ThreadHandle};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of rows of a kind of samples. A browser sums this many in a few milliseconds.
const MAX_ROWS: usize = 1 << 20;
/// Minimum length of slices of time, in nanoseconds.
const MIN_SLICE_NANOS: i64 = 1_000_000;

/// Equal samples within a slice of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleRow {
    pub(crate) nanos: i64,
    pub(crate) weight: u64,
    pub(crate) samples: u64,
    pub(crate) count: u64,
    pub(crate) key: SampleKey,
}

/// Properties that all samples of a row share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SampleKey {
    pub(crate) thread: ThreadHandle,
    pub(crate) stack: StackHandle,
    pub(crate) mode: Mode,
    pub(crate) label: Option<TextHandle>,
}

/// Replaces stacks for which there is no room.
const UNKNOWN_STACK: StackHandle = StackHandle(u32::MAX);

impl SampleKey {
    /// Returns the key without the stack.
    fn rest(self) -> SampleKey {
        SampleKey { stack: UNKNOWN_STACK, ..self }
    }

    /// Returns whether there is no room for the stack.
    pub(crate) fn is_rest(&self) -> bool {
        self.stack == UNKNOWN_STACK
    }
}

/// Samples of one kind.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    rows: Vec<SampleRow>,
    /// Length of slices of time in nanoseconds; 0 while each sample has its own row.
    slice_nanos: i64,
    /// Number of samples without a row, because there is no room even without stacks.
    left_out: u64,
}

impl Samples {
    fn add(&mut self, sample: &Sample, most: usize) {
        let Sample { thread, stack, mode, label, nanos, weight, count, .. } = *sample;
        let key = SampleKey { thread, stack, mode, label };
        self.rows.push(SampleRow { nanos, weight, samples: 1, count, key });
        if self.rows.len() >= most {
            self.thin_out(most);
        }
    }

    /// Sums equal samples over longer slices until half of the rows are free. First forgets the
    /// lightest stacks, so that there are fewer different samples than rows.
    fn thin_out(&mut self, most: usize) {
        self.forget_stacks(most / 8, most / 16);
        self.slice_nanos = self.slice_nanos.max(MIN_SLICE_NANOS);
        self.add_up();
        // Slices of the greatest length leave at most two rows of a key: before the session's
        // start, and after it.
        while self.rows.len() >= most / 2 && self.slice_nanos < i64::MAX {
            self.slice_nanos = self.slice_nanos.saturating_mul(2);
            self.add_up();
        }
    }

    /// Keeps the stacks of the `most_keys` heaviest keys. Samples of the other keys are summed by
    /// thread, mode and label in at most `most_rests` keys without a stack.
    fn forget_stacks(&mut self, most_keys: usize, most_rests: usize) {
        let mut weights: HashMap<SampleKey, u64> = HashMap::default();
        for row in &self.rows {
            let weight = weights.entry(row.key).or_default();
            *weight = weight.saturating_add(row.weight);
        }
        if weights.len() <= most_keys {
            return;
        }
        let mut rests: HashSet<SampleKey> =
            weights.keys().copied().filter(SampleKey::is_rest).collect();
        let stacks = weights.into_iter().filter(|(key, _)| !key.is_rest());
        let mut keys: Vec<_> = stacks.map(|(key, weight)| (Reverse(weight), key)).collect();
        keys.sort_unstable();
        keys.truncate(most_keys);
        let kept: HashSet<SampleKey> = keys.into_iter().map(|(_, key)| key).collect();
        let left_out = &mut self.left_out;
        self.rows.retain_mut(|row| {
            if row.key.is_rest() || kept.contains(&row.key) {
                return true;
            }
            let with_label = row.key.rest();
            let without = SampleKey { label: None, ..with_label };
            // Keys with labels may take half of the room; the rest is for keys without labels.
            let found = [(with_label, most_rests / 2), (without, most_rests)];
            let found =
                found.into_iter().find(|(key, most)| rests.contains(key) || rests.len() < *most);
            match found {
                Some((key, _)) => {
                    rests.insert(key);
                    row.key = key;
                }
                None => *left_out = left_out.saturating_add(row.samples),
            }
            found.is_some()
        });
    }

    fn add_up(&mut self) {
        let mut places: HashMap<(i64, SampleKey), usize> = HashMap::default();
        let mut rows: Vec<SampleRow> = Vec::with_capacity(self.rows.len() / 2);
        for row in &self.rows {
            let slice = row.nanos.div_euclid(self.slice_nanos.max(1));
            let place = *places.entry((slice, row.key)).or_insert(rows.len());
            match rows.get_mut(place) {
                Some(sum) => {
                    sum.weight = sum.weight.saturating_add(row.weight);
                    sum.samples = sum.samples.saturating_add(row.samples);
                    sum.count = sum.count.saturating_add(row.count);
                    sum.nanos = sum.nanos.min(row.nanos);
                }
                None => rows.push(*row),
            }
        }
        self.rows = rows;
    }

    fn forgotten(&self) -> Forgotten {
        let rests = self.rows.iter().filter(|row| row.key.is_rest());
        let without_stack = rests.fold(0u64, |sum, row| sum.saturating_add(row.samples));
        Forgotten { without_stack, left_out: self.left_out }
    }

    /// Returns the rows in time order, and the length of a slice in nanoseconds.
    fn finish(mut self) -> (Vec<SampleRow>, i64) {
        if self.slice_nanos > 0 {
            self.add_up();
        }
        // Samples of different threads are slightly out of order.
        self.rows.sort_by_key(|row| row.nanos);
        (self.rows, self.slice_nanos)
    }
}

/// Numbers of samples whose stacks or whole rows were given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Forgotten {
    /// Number of samples without their stacks, which are part of all sums.
    pub(crate) without_stack: u64,
    /// Number of samples that are part of no sum.
    pub(crate) left_out: u64,
}

/// Samples of each kind.
#[derive(Debug, Default)]
pub(crate) struct SamplesByKind(BTreeMap<Kind, Samples>);

impl SamplesByKind {
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.0.entry(sample.kind).or_default().add(sample, MAX_ROWS);
    }

    /// Returns the numbers of samples whose stacks or rows were given up, for kinds with such
    /// samples.
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = (Kind, Forgotten)> {
        self.0
            .iter()
            .map(|(kind, samples)| (*kind, samples.forgotten()))
            .filter(|(_, forgotten)| forgotten.without_stack > 0 || forgotten.left_out > 0)
    }

    /// Returns the rows of each kind in time order, and the length of a slice in nanoseconds.
    pub(crate) fn finish(self) -> impl Iterator<Item = (Kind, Vec<SampleRow>, i64)> {
        self.0.into_iter().map(|(kind, samples)| {
            let (rows, slice) = samples.finish();
            (kind, rows, slice)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(nanos: i64, stack: u32) -> Sample {
        Sample {
            kind: Kind::Cpu,
            thread: ThreadHandle(0),
            stack: StackHandle(stack),
            mode: Mode::Managed,
            nanos,
            count: 1,
            weight: 10,
            label: None,
        }
    }

    #[test]
    fn samples_beyond_the_budget_are_merged_over_time_without_losing_weight() {
        let mut samples = Samples::default();
        for index in 0..10_000 {
            samples.add(&sample(index * 100_000, (index % 3) as u32), 1000);
        }
        let (rows, slice) = samples.finish();
        assert!(rows.len() < 1000 && slice >= MIN_SLICE_NANOS, "{} rows, {slice}", rows.len());
        assert_eq!(rows.iter().map(|row| row.weight).sum::<u64>(), 100_000);
        assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), 10_000);
        assert!(rows.is_sorted_by_key(|row| row.nanos));
    }

    #[test]
    fn of_too_many_different_stacks_the_lightest_are_forgotten_and_their_sums_stay() {
        let mut samples = Samples::default();
        let (many, each) = (20_000, 100_000);
        for index in 0..many {
            // Every fourth sample has one of ten stacks.
            let stack = if index % 4 == 0 { index % 10 } else { index + 10 };
            samples.add(&sample(i64::from(index) * each, stack), 1000);
        }
        let forgotten = samples.forgotten();
        let (rows, slice) = samples.finish();
        assert!(rows.len() < 1000, "{}", rows.len());
        assert_eq!(rows.iter().map(|row| row.weight).sum::<u64>(), 200_000);
        assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), 20_000);
        let sum = |wanted: &dyn Fn(&SampleRow) -> bool| {
            rows.iter().filter(|row| wanted(row)).map(|row| row.samples).sum::<u64>()
        };
        assert_eq!(sum(&|row| row.key.stack.0 < 10), 5_000, "the heavy ones are known");
        assert_eq!(sum(&|row| row.key.is_rest()), forgotten.without_stack);
        assert!(forgotten.without_stack > 14_000 && forgotten.left_out == 0, "{forgotten:?}");
        // Each half of the time has half of the samples.
        let half = i64::from(many) * each / 2;
        let late = sum(&|row| row.nanos >= half);
        assert!(late.abs_diff(10_000) < 700, "{late} in slices of {slice} ns");
    }

    #[test]
    fn rows_beyond_the_budget_are_counted_even_without_stacks() {
        let mut samples = Samples::default();
        for index in 0..10_000 {
            let thread = ThreadHandle(index);
            samples.add(&Sample { thread, ..sample(i64::from(index), index) }, 1000);
        }
        let forgotten = samples.forgotten();
        let (rows, _) = samples.finish();
        let there = rows.iter().map(|row| row.samples).sum::<u64>();
        assert!(rows.len() < 1000 && forgotten.left_out > 0, "{}, {forgotten:?}", rows.len());
        assert_eq!(there + forgotten.left_out, 10_000);
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut samples = Samples::default();
        (0..10).for_each(|index| samples.add(&sample(100 - index, 1), 1000));
        let (rows, slice) = samples.finish();
        assert_eq!((rows.len(), slice, rows[0].nanos), (10, 0, 91));
    }
}
