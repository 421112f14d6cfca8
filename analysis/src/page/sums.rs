//! Counts by time of rows for which a page has no room, so that ranges of time still have exact
//! sums.

use crate::hash::HashMap;
use crate::html::Columns;
use serde_json::{Value, json};

/// Minimum length of a bin of time, in nanoseconds.
const MIN_BIN_NANOS: i64 = 1_000_000;

/// Counts by bin of time and key. If there are too many, bins become longer, and the counts stay
/// exact.
#[derive(Debug)]
pub(super) struct Sums<const N: usize> {
    rows: HashMap<(i64, [u32; N]), Sum>,
    bin_nanos: i64,
    /// Maximum number of rows.
    most: usize,
    /// Number of occurrences for which there is no room even with the longest bins.
    left_out: u64,
}

#[derive(Debug, Clone, Copy)]
struct Sum {
    /// Time of the first occurrence.
    first_nanos: i64,
    last_nanos: i64,
    count: u64,
    total: u64,
    max: u64,
}

impl Sum {
    fn merge(&mut self, other: Sum) {
        self.first_nanos = self.first_nanos.min(other.first_nanos);
        self.last_nanos = self.last_nanos.max(other.last_nanos);
        self.count = self.count.saturating_add(other.count);
        self.total = self.total.saturating_add(other.total);
        self.max = self.max.max(other.max);
    }
}

impl<const N: usize> Sums<N> {
    pub(super) fn new(most: usize) -> Sums<N> {
        Sums { rows: HashMap::default(), bin_nanos: MIN_BIN_NANOS, most, left_out: 0 }
    }

    /// Adds an occurrence that began at `nanos` and has a size, such as a duration.
    pub(super) fn add(&mut self, nanos: i64, key: [u32; N], size: u64) {
        let sum = Sum { first_nanos: nanos, last_nanos: nanos, count: 1, total: size, max: size };
        let bin = nanos.div_euclid(self.bin_nanos);
        if let Some(known) = self.rows.get_mut(&(bin, key)) {
            known.merge(sum);
            return;
        }
        if self.rows.len() >= self.most {
            if self.bin_nanos == i64::MAX {
                self.left_out = self.left_out.saturating_add(1);
                return;
            }
            self.lengthen();
            return self.add(nanos, key, size);
        }
        self.rows.insert((bin, key), sum);
    }

    /// Lengthens bins until half of the rows are free, or bins cannot be longer.
    fn lengthen(&mut self) {
        while self.rows.len() > self.most / 2 && self.bin_nanos < i64::MAX {
            self.bin_nanos = self.bin_nanos.saturating_mul(2);
            for ((_, key), sum) in std::mem::take(&mut self.rows) {
                let bin = sum.first_nanos.div_euclid(self.bin_nanos);
                self.rows.entry((bin, key)).and_modify(|known| known.merge(sum)).or_insert(sum);
            }
        }
    }

    /// Returns the number of occurrences that found room.
    #[cfg(test)]
    pub(super) fn count(&self) -> u64 {
        self.rows.values().map(|sum| sum.count).sum()
    }

    /// Replaces each key. `key` must map different keys to different ones.
    pub(super) fn with_keys(self, mut key: impl FnMut([u32; N]) -> [u32; N]) -> Sums<N> {
        let rows = self.rows.into_iter().map(|((bin, old), sum)| ((bin, key(old)), sum)).collect();
        Sums { rows, ..self }
    }

    /// Writes the sums in time order: first time, keys, count; with `has_sizes` also the sum of the
    /// sizes and the largest size. Returns what the document says about them; `None` if there are
    /// none.
    pub(super) fn write(
        self,
        name: &str,
        keys: [&str; N],
        has_sizes: bool,
        columns: &mut Columns,
    ) -> Option<Value> {
        let mut rows: Vec<([u32; N], Sum)> =
            self.rows.into_iter().map(|((_, key), sum)| (key, sum)).collect();
        if rows.is_empty() {
            return None;
        }
        rows.sort_unstable_by_key(|(key, sum)| (sum.first_nanos, *key));
        columns.add_steps(format!("{name}.t"), rows.iter().map(|(_, sum)| sum.first_nanos));
        columns.add(
            format!("{name}.lasts"),
            rows.iter()
                .map(|(_, sum)| sum.last_nanos.saturating_sub(sum.first_nanos).cast_unsigned()),
        );
        for (at, word) in keys.iter().enumerate() {
            let values = rows.iter().map(|(key, _)| u64::from(key.get(at).copied().unwrap_or(0)));
            columns.add(format!("{name}.{word}"), values);
        }
        columns.add(format!("{name}.count"), rows.iter().map(|(_, sum)| sum.count));
        if has_sizes {
            columns.add(format!("{name}.total"), rows.iter().map(|(_, sum)| sum.total));
            columns.add(format!("{name}.max"), rows.iter().map(|(_, sum)| sum.max));
        }
        Some(json!({ "bin_ns": self.bin_nanos, "left_out": self.left_out }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_become_longer_and_the_sums_stay() {
        let mut sums = Sums::new(100);
        for at in 0..50_000_u32 {
            sums.add(i64::from(at) * 100_000, [at % 3], u64::from(at));
        }
        assert!(sums.rows.len() <= 100 && sums.bin_nanos > MIN_BIN_NANOS, "{sums:?}");
        assert_eq!(sums.rows.values().map(|sum| sum.count).sum::<u64>(), 50_000);
        assert_eq!(sums.rows.values().map(|sum| sum.max).max(), Some(49_999));
        let bin = sums.bin_nanos;
        let first = sums.rows.iter().filter(|((at, _), _)| *at == 0);
        let wanted = (bin + 99_999) / 100_000;
        assert_eq!(first.map(|(_, sum)| sum.count).sum::<u64>(), wanted.cast_unsigned());
        assert_eq!(sums.left_out, 0);
    }

    #[test]
    fn keys_for_which_there_is_no_room_are_counted() {
        let mut sums = Sums::new(10);
        (0..25).for_each(|key| sums.add(0, [key], 1));
        assert_eq!((sums.rows.len(), sums.left_out), (10, 15));
    }
}
