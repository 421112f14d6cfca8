//! Samples in a bounded number of rows: one row each at first, then sums over short slices of time.
//! If there are very many different stacks, the lightest become one stack for each thread.

use super::last_row::LastRow;
use super::nearly_sorted::is_sorted_by_few_moves;
use crate::hash::{HashMap, HashSet};
use crate::model::{Kind, Mode, Sample, StackHandle, TextHandle, ThreadHandle};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Minimum length of slices of time, in nanoseconds.
const MIN_SLICE_NANOS: i64 = 1_000_000;

/// Equal samples within a slice of time, with their key.
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

/// Distinct keys, each with the place of its last row.
#[derive(Debug, Default)]
struct SampleKeys {
    numbers: HashMap<SampleKey, u32>,
    keys: Vec<SampleKey>,
    /// Last row of each key, by number. It is only a hint.
    last_rows: Vec<LastRow>,
}

impl SampleKeys {
    fn number(&mut self, key: SampleKey) -> u32 {
        let next = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            self.last_rows.push(LastRow::NONE);
        }
        number
    }

    fn get(&self, number: u32) -> Option<&SampleKey> {
        self.keys.get(number as usize)
    }

    fn set_last_row(&mut self, number: u32, row: LastRow) {
        if let Some(last) = self.last_rows.get_mut(number as usize) {
            *last = row;
        }
    }
}

/// Equal samples within a slice of time, with the number of their key: a [`SampleRow`] in less
/// memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyedSample {
    pub(crate) nanos: i64,
    pub(crate) weight: u64,
    pub(crate) count: u64,
    pub(crate) samples: u32,
    /// Number of the key.
    pub(crate) key: u32,
}

/// Samples of one kind in time order.
#[derive(Debug, Default)]
pub(crate) struct SampleRows {
    pub(crate) rows: Vec<KeyedSample>,
    keys: SampleKeys,
    /// Length of slices of time in nanoseconds; 0 if each sample has its own row.
    pub(crate) slice_nanos: i64,
}

impl SampleRows {
    /// Creates samples of the same slices of time.
    pub(super) fn sliced(slice_nanos: i64) -> SampleRows {
        SampleRows { slice_nanos, ..SampleRows::default() }
    }

    /// Returns the keys by their numbers. Some may have no row.
    pub(crate) fn keys(&self) -> &[SampleKey] {
        &self.keys.keys
    }

    /// Adds a row, which need not be the latest.
    pub(super) fn push(&mut self, row: SampleRow) {
        let SampleRow { nanos, weight, samples, count, key } = row;
        let samples = u32::try_from(samples).unwrap_or(u32::MAX);
        let key = self.keys.number(key);
        self.rows.push(KeyedSample { nanos, weight, count, samples, key });
    }

    pub(super) fn sort(&mut self) {
        sort_by_time(&mut self.rows);
    }

    /// Returns the rows with their keys.
    pub(crate) fn into_rows(self) -> Vec<SampleRow> {
        let row = |row: &KeyedSample| {
            let KeyedSample { nanos, weight, count, samples, key } = *row;
            let key = *self.keys.get(key)?;
            Some(SampleRow { nanos, weight, samples: samples.into(), count, key })
        };
        self.rows.iter().filter_map(row).collect()
    }
}

/// Sorts rows by time, equal ones as they were. Samples of different threads are slightly out of
/// order.
fn sort_by_time(rows: &mut [KeyedSample]) {
    if !is_sorted_by_few_moves(rows, |row| row.nanos) {
        rows.sort_by_key(|row| row.nanos);
    }
}

/// Samples of one kind.
#[derive(Debug, Default)]
struct Samples {
    rows: Vec<KeyedSample>,
    keys: SampleKeys,
    /// Length of slices of time in nanoseconds; 0 while each sample has its own row.
    slice_nanos: i64,
    /// Number of samples without a row, because there is no room even without stacks.
    left_out: u64,
}

impl Samples {
    /// Adds a sample; returns whether it has a new row.
    fn add(&mut self, sample: &Sample) -> bool {
        let Sample { thread, stack, mode, label, nanos, weight, count, .. } = *sample;
        let key = self.keys.number(SampleKey { thread, stack, mode, label });
        self.push(KeyedSample { nanos, weight, samples: 1, count, key })
    }

    /// Adds a row to the last one of its key, if both are in one slice; else the row is a new one.
    fn push(&mut self, row: KeyedSample) -> bool {
        let is_new = !self.merge(&row);
        if is_new {
            self.set_last_row(&row, self.rows.len());
            self.rows.push(row);
        }
        is_new
    }

    /// Adds a row to the last one of its key, if both are in one slice.
    fn merge(&mut self, row: &KeyedSample) -> bool {
        if let Some(last) = self.keys.last_rows.get(row.key as usize)
            && let Some(place) = last.place_in_one(row.nanos)
            && let Some(sum) = self.rows.get_mut(place)
            && sum.key == row.key
            && let Some(samples) = sum.samples.checked_add(row.samples)
        {
            sum.samples = samples;
            sum.weight = sum.weight.saturating_add(row.weight);
            sum.count = sum.count.saturating_add(row.count);
            sum.nanos = sum.nanos.min(row.nanos);
            return true;
        }
        false
    }

    fn set_last_row(&mut self, row: &KeyedSample, place: usize) {
        if self.slice_nanos > 0 {
            let last = LastRow::new(place, row.nanos, self.slice_nanos);
            self.keys.set_last_row(row.key, last);
        }
    }

    /// Sums equal samples over longer slices until half of the rows are free. First forgets the
    /// lightest stacks, so that there are fewer different samples than rows.
    fn thin_out(&mut self) {
        let most = self.rows.len();
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
        let mut weights: Vec<Option<u64>> = vec![None; self.keys.keys.len()];
        for row in &self.rows {
            if let Some(weight) = weights.get_mut(row.key as usize) {
                *weight = Some(weight.unwrap_or(0).saturating_add(row.weight));
            }
        }
        let weights = self.keys.keys.iter().zip(weights);
        let weights: Vec<_> = weights.filter_map(|(key, weight)| Some((*key, weight?))).collect();
        if weights.len() <= most_keys {
            return;
        }
        let mut rests: HashSet<SampleKey> =
            weights.iter().map(|(key, _)| *key).filter(SampleKey::is_rest).collect();
        let stacks = weights.into_iter().filter(|(key, _)| !key.is_rest());
        let mut heaviest: Vec<_> = stacks.map(|(key, weight)| (Reverse(weight), key)).collect();
        heaviest.sort_unstable();
        heaviest.truncate(most_keys);
        let kept: HashSet<SampleKey> = heaviest.into_iter().map(|(_, key)| key).collect();
        let old = std::mem::take(&mut self.keys);
        // What becomes of a key: its new number, or `None` if its samples are left out.
        let mut numbers: Vec<Option<Option<u32>>> = vec![None; old.keys.len()];
        let (keys, left_out) = (&mut self.keys, &mut self.left_out);
        let mut new_key = |key: SampleKey| {
            if key.is_rest() || kept.contains(&key) {
                return Some(key);
            }
            let with_label = key.rest();
            let without = SampleKey { label: None, ..with_label };
            // Keys with labels may take half of the room; the rest is for keys without labels.
            let found = [(with_label, most_rests / 2), (without, most_rests)];
            let found =
                found.into_iter().find(|(key, most)| rests.contains(key) || rests.len() < *most);
            rests.extend(found.map(|(key, _)| key));
            found.map(|(key, _)| key)
        };
        self.rows.retain_mut(|row| {
            let (Some(key), Some(number)) = (old.get(row.key), numbers.get_mut(row.key as usize))
            else {
                return false;
            };
            let number = *number.get_or_insert_with(|| new_key(*key).map(|key| keys.number(key)));
            match number {
                Some(number) => row.key = number,
                None => *left_out = left_out.saturating_add(row.samples.into()),
            }
            number.is_some()
        });
    }

    /// Sums the rows of each key in a slice of time.
    fn add_up(&mut self) {
        let order = |row: &KeyedSample| (row.nanos, row.key);
        if !is_sorted_by_few_moves(&mut self.rows, order) {
            // A stable sort would take memory for as many rows again.
            self.rows.sort_unstable_by_key(order);
        }
        self.keys.last_rows.fill(LastRow::NONE);
        let mut kept = 0_usize;
        for place in 0..self.rows.len() {
            let Some(row) = self.rows.get(place).copied() else { break };
            if self.merge(&row) {
                continue;
            }
            self.set_last_row(&row, kept);
            if let Some(free) = self.rows.get_mut(kept) {
                *free = row;
            }
            kept = kept.saturating_add(1);
        }
        self.rows.truncate(kept);
    }

    #[cfg(feature = "page")]
    fn forgotten(&self) -> Forgotten {
        let is_rest = |row: &&KeyedSample| self.keys.get(row.key).is_some_and(SampleKey::is_rest);
        let rests = self.rows.iter().filter(is_rest);
        let without_stack = rests.fold(0u64, |sum, row| sum.saturating_add(row.samples.into()));
        Forgotten { without_stack, left_out: self.left_out }
    }

    fn finish(mut self) -> SampleRows {
        if self.slice_nanos > 0 {
            self.add_up();
        }
        sort_by_time(&mut self.rows);
        SampleRows { rows: self.rows, keys: self.keys, slice_nanos: self.slice_nanos }
    }
}

/// Numbers of samples whose stacks or whole rows were given up.
#[cfg(feature = "page")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Forgotten {
    /// Number of samples without their stacks, which are part of all sums.
    pub(crate) without_stack: u64,
    /// Number of samples that are part of no sum.
    pub(crate) left_out: u64,
}

/// Samples of each kind.
#[derive(Debug)]
pub(crate) struct SamplesByKind {
    by_kind: BTreeMap<Kind, Samples>,
    /// Number of rows of all kinds.
    rows: usize,
    max_rows: usize,
}

impl SamplesByKind {
    /// Creates a collection of at most `max_rows` rows of all kinds together.
    pub(crate) fn new(max_rows: usize) -> SamplesByKind {
        SamplesByKind { by_kind: BTreeMap::new(), rows: 0, max_rows }
    }

    pub(crate) fn add(&mut self, sample: &Sample) {
        let is_new = self.by_kind.entry(sample.kind).or_default().add(sample);
        self.rows = self.rows.saturating_add(usize::from(is_new));
        if self.rows >= self.max_rows {
            let most = self.by_kind.values_mut().max_by_key(|samples| samples.rows.len());
            most.into_iter().for_each(Samples::thin_out);
            self.rows = self.by_kind.values().map(|samples| samples.rows.len()).sum();
        }
    }

    /// Returns the numbers of samples whose stacks or rows were given up, for kinds with such
    /// samples.
    #[cfg(feature = "page")]
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = (Kind, Forgotten)> {
        self.by_kind
            .iter()
            .map(|(kind, samples)| (*kind, samples.forgotten()))
            .filter(|(_, forgotten)| forgotten.without_stack > 0 || forgotten.left_out > 0)
    }

    /// Takes the rows of each kind.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (Kind, SampleRows)> + use<> {
        let by_kind = std::mem::take(&mut self.by_kind);
        by_kind.into_iter().map(|(kind, samples)| (kind, samples.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(nanos: i64, stack: u32) -> Sample {
        Sample {
            mode: Mode::Managed,
            weight: 10,
            ..Sample::new(Kind::Cpu, ThreadHandle(0), StackHandle(stack), nanos)
        }
    }

    fn finished(mut samples: SamplesByKind) -> (Vec<SampleRow>, i64) {
        let (_, samples) = samples.take().next().unwrap();
        let slice = samples.slice_nanos;
        (samples.into_rows(), slice)
    }

    fn forgotten(samples: &SamplesByKind) -> Forgotten {
        samples.forgotten().map(|(_, forgotten)| forgotten).next().unwrap()
    }

    #[test]
    fn samples_beyond_the_budget_are_merged_over_time_without_losing_weight() {
        let mut samples = SamplesByKind::new(1000);
        for index in 0..10_000 {
            samples.add(&sample(index * 100_000, (index % 3) as u32));
        }
        let (rows, slice) = finished(samples);
        assert!(rows.len() < 1000 && slice >= MIN_SLICE_NANOS, "{} rows, {slice}", rows.len());
        assert_eq!(rows.iter().map(|row| row.weight).sum::<u64>(), 100_000);
        assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), 10_000);
        assert!(rows.is_sorted_by_key(|row| row.nanos));
    }

    #[test]
    fn of_too_many_different_stacks_the_lightest_are_forgotten_and_their_sums_stay() {
        let mut samples = SamplesByKind::new(1000);
        let (many, each) = (20_000, 100_000);
        for index in 0..many {
            // Every fourth sample has one of ten stacks.
            let stack = if index % 4 == 0 { index % 10 } else { index + 10 };
            samples.add(&sample(i64::from(index) * each, stack));
        }
        let forgotten = forgotten(&samples);
        let (rows, slice) = finished(samples);
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
        let mut samples = SamplesByKind::new(1000);
        for index in 0..10_000 {
            let thread = ThreadHandle(index);
            samples.add(&Sample { thread, ..sample(i64::from(index), index) });
        }
        let forgotten = forgotten(&samples);
        let (rows, _) = finished(samples);
        let there = rows.iter().map(|row| row.samples).sum::<u64>();
        assert!(rows.len() < 1000 && forgotten.left_out > 0, "{}, {forgotten:?}", rows.len());
        assert_eq!(there + forgotten.left_out, 10_000);
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut samples = SamplesByKind::new(1000);
        (0..10).for_each(|index| samples.add(&sample(100 - index, 1)));
        let (rows, slice) = finished(samples);
        assert_eq!((rows.len(), slice, rows[0].nanos), (10, 0, 91));
    }
}
