//! Samples of a page, one row each; of very long traces, sums over short stretches of time.

use crate::model::{Kind, Mode, Sample, StackHandle, TextHandle, ThreadHandle};
use std::collections::{BTreeMap, HashMap};

/// Rows of a kind that a page takes, at most. A browser adds up this many in a few milliseconds.
const MOST_ROWS: usize = 1 << 20;
/// The shortest stretch of time over which samples are added up.
const SHORTEST_NANOS: i64 = 1_000_000;

/// Samples that are alike, in a stretch of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleRow {
    pub(crate) nanos: i64,
    pub(crate) weight: u64,
    pub(crate) samples: u64,
    pub(crate) count: u64,
    pub(crate) key: SampleKey,
}

/// What samples that are added up have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SampleKey {
    pub(crate) thread: ThreadHandle,
    pub(crate) stack: StackHandle,
    pub(crate) mode: Mode,
    pub(crate) label: Option<TextHandle>,
}

/// Samples of one kind.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    rows: Vec<SampleRow>,
    /// Samples within this many nanoseconds are added up. 0: each sample has a row of its own.
    stretch_nanos: i64,
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

    /// Adds up what is alike, over longer stretches until half of the rows is free.
    fn thin_out(&mut self, most: usize) {
        for _ in 0..40 {
            self.stretch_nanos = self.stretch_nanos.saturating_mul(2).max(SHORTEST_NANOS);
            self.add_up();
            if self.rows.len() < most / 2 {
                return;
            }
        }
        // More different stacks than rows: what has the least weight goes.
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.weight));
        self.rows.truncate(most / 2);
    }

    fn add_up(&mut self) {
        let mut places: HashMap<(i64, SampleKey), usize> = HashMap::new();
        let mut rows: Vec<SampleRow> = Vec::with_capacity(self.rows.len() / 2);
        for row in &self.rows {
            let stretch = row.nanos.div_euclid(self.stretch_nanos.max(1));
            let place = *places.entry((stretch, row.key)).or_insert(rows.len());
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

    /// The rows by time, and over how many nanoseconds samples were added up.
    fn finish(mut self) -> (Vec<SampleRow>, i64) {
        if self.stretch_nanos > 0 {
            self.add_up();
        }
        // Samples of several threads come a little out of order.
        self.rows.sort_by_key(|row| row.nanos);
        (self.rows, self.stretch_nanos)
    }
}

/// Samples by kind.
#[derive(Debug, Default)]
pub(crate) struct SamplesByKind(BTreeMap<Kind, Samples>);

impl SamplesByKind {
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.0.entry(sample.kind).or_default().add(sample, MOST_ROWS);
    }

    /// Kind, rows, stretch.
    pub(crate) fn finish(self) -> impl Iterator<Item = (Kind, Vec<SampleRow>, i64)> {
        self.0.into_iter().map(|(kind, samples)| {
            let (rows, stretch) = samples.finish();
            (kind, rows, stretch)
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
    fn what_is_too_much_is_added_up_over_stretches_and_no_weight_is_lost() {
        let mut samples = Samples::default();
        for index in 0..10_000 {
            samples.add(&sample(index * 100_000, (index % 3) as u32), 1000);
        }
        let (rows, stretch) = samples.finish();
        assert!(rows.len() < 1000 && stretch >= SHORTEST_NANOS, "{} rows, {stretch}", rows.len());
        assert_eq!(rows.iter().map(|row| row.weight).sum::<u64>(), 100_000);
        assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), 10_000);
        assert!(rows.is_sorted_by_key(|row| row.nanos));
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut samples = Samples::default();
        (0..10).for_each(|index| samples.add(&sample(100 - index, 1), 1000));
        let (rows, stretch) = samples.finish();
        assert_eq!((rows.len(), stretch, rows[0].nanos), (10, 0, 91));
    }
}
