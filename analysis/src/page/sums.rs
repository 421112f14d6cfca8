//! Counts by time of rows for which a page has no room, so that ranges of time still have exact
//! sums.

use crate::hash::HashMap;
use crate::html::Columns;
use crate::over_time::LastRow;
use serde_json::{Value, json};

/// Minimum length of a bin of time, in nanoseconds.
const MIN_BIN_NANOS: i64 = 1_000_000;

/// Counts by bin of time and key. If there are too many, bins become longer, and the counts stay
/// exact.
#[derive(Debug)]
pub(super) struct Sums<const N: usize> {
    /// Rows, of which several may have one bin and key if occurrences are out of order.
    rows: Vec<Sum>,
    numbers: HashMap<[u32; N], u32>,
    /// Keys by number.
    keys: Vec<SumKey<N>>,
    bin_nanos: i64,
    /// Maximum number of rows.
    most: usize,
    /// Number of occurrences for which there is no room even with the longest bins.
    left_out: u64,
}

#[derive(Debug, Clone, Copy)]
struct SumKey<const N: usize> {
    key: [u32; N],
    last: LastRow,
}

#[derive(Debug, Clone, Copy)]
struct Sum {
    /// Time of the first occurrence.
    first_nanos: i64,
    last_nanos: i64,
    total: u64,
    max: u64,
    count: u32,
    /// Number of the key.
    key: u32,
}

impl Sum {
    fn merge(&mut self, other: &Sum) {
        self.first_nanos = self.first_nanos.min(other.first_nanos);
        self.last_nanos = self.last_nanos.max(other.last_nanos);
        self.count = self.count.saturating_add(other.count);
        self.total = self.total.saturating_add(other.total);
        self.max = self.max.max(other.max);
    }
}

impl<const N: usize> Sums<N> {
    pub(super) fn new(most: usize) -> Sums<N> {
        Sums { bin_nanos: MIN_BIN_NANOS, ..Sums::exact(most) }
    }

    /// Creates sums that have the exact time of each occurrence, as long as there is room.
    pub(super) fn exact(most: usize) -> Sums<N> {
        Sums {
            rows: Vec::new(),
            numbers: HashMap::default(),
            keys: Vec::new(),
            bin_nanos: 1,
            most,
            left_out: 0,
        }
    }

    /// Adds an occurrence that began at `nanos` and has a size, such as a duration.
    pub(super) fn add(&mut self, nanos: i64, key: [u32; N], size: u64) {
        let (first_nanos, last_nanos) = (nanos, nanos);
        let known = self.numbers.get(&key).copied();
        let number = known.unwrap_or_else(|| u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
        let sum = Sum { first_nanos, last_nanos, count: 1, total: size, max: size, key: number };
        if known.is_some() && self.merge(&sum) {
            return;
        }
        if self.rows.len() >= self.most {
            if self.bin_nanos < i64::MAX {
                self.make_room();
                return self.add(nanos, key, size);
            }
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        if known.is_none() {
            self.numbers.insert(key, number);
            self.keys.push(SumKey { key, last: LastRow::NONE });
        }
        self.push(sum);
    }

    /// Adds a sum to the last row of its key, if both are in one bin.
    fn merge(&mut self, sum: &Sum) -> bool {
        let Some(of) = self.keys.get(sum.key as usize) else { return false };
        let last = of.last.place_in_one(sum.first_nanos).and_then(|last| self.rows.get_mut(last));
        let Some(row) = last.filter(|row| row.count.checked_add(sum.count).is_some()) else {
            return false;
        };
        row.merge(sum);
        true
    }

    fn push(&mut self, sum: Sum) {
        if let Some(of) = self.keys.get_mut(sum.key as usize) {
            of.last = last_row(self.rows.len(), &sum, self.bin_nanos);
        }
        self.rows.push(sum);
    }

    /// Merges rows. If that does not free a quarter, lengthens bins until half of the rows are free,
    /// or bins cannot be longer.
    fn make_room(&mut self) {
        self.add_up();
        if self.rows.len() > self.most.saturating_sub(self.most / 4) {
            while self.rows.len() > self.most / 2 && self.bin_nanos < i64::MAX {
                self.bin_nanos = self.bin_nanos.saturating_mul(2).max(MIN_BIN_NANOS);
                self.add_up();
            }
        }
    }

    /// Merges the rows of each bin and key.
    fn add_up(&mut self) {
        // Rows came in time order, in a few runs, which a stable sort joins.
        self.rows.sort_by_key(|sum| (sum.first_nanos, sum.key));
        self.keys.iter_mut().for_each(|of| of.last = LastRow::NONE);
        let rows = self.rows.len();
        let mut kept = 0_usize;
        for place in 0..rows {
            let Some(sum) = self.rows.get(place).copied() else { break };
            if self.merge(&sum) {
                continue;
            }
            if let Some(of) = self.keys.get_mut(sum.key as usize) {
                of.last = last_row(kept, &sum, self.bin_nanos);
            }
            if let Some(free) = self.rows.get_mut(kept) {
                *free = sum;
            }
            kept = kept.saturating_add(1);
        }
        self.rows.truncate(kept);
    }

    /// Returns the number of occurrences that found room.
    #[cfg(test)]
    pub(super) fn count(&self) -> u64 {
        self.rows.iter().map(|sum| u64::from(sum.count)).sum()
    }

    /// Returns the length of bins, if times are not exact.
    pub(super) fn bin_if_longer(&self) -> Option<u64> {
        u64::try_from(self.bin_nanos).ok().filter(|nanos| *nanos > 1)
    }

    /// Replaces each key. `key` must map different keys to different ones.
    pub(super) fn with_keys(mut self, mut key: impl FnMut([u32; N]) -> [u32; N]) -> Sums<N> {
        self.numbers = HashMap::default();
        self.keys.iter_mut().for_each(|of| of.key = key(of.key));
        self
    }

    /// Returns the sums in time order, and their keys by number.
    fn into_rows(mut self) -> (Vec<Sum>, Vec<SumKey<N>>) {
        self.add_up();
        let Sums { mut rows, keys, .. } = self;
        rows.sort_by_key(|sum| {
            (sum.first_nanos, keys.get(sum.key as usize).map_or([0; N], |of| of.key))
        });
        (rows, keys)
    }

    /// Writes the sums of the sizes, in the order in which [`Sums::write`] writes the rows.
    pub(super) fn write_totals(self, name: &str, columns: &mut Columns) {
        let (rows, _) = self.into_rows();
        columns.add(name, rows.iter().map(|sum| sum.total));
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
        let about = json!({ "bin_ns": self.bin_nanos, "left_out": self.left_out });
        let (rows, numbered) = self.into_rows();
        if rows.is_empty() {
            return None;
        }
        let key_of = |sum: &Sum| numbered.get(sum.key as usize).map_or([0; N], |of| of.key);
        columns.add_steps(format!("{name}.t"), rows.iter().map(|sum| sum.first_nanos));
        columns.add(
            format!("{name}.lasts"),
            rows.iter().map(|sum| sum.last_nanos.saturating_sub(sum.first_nanos).cast_unsigned()),
        );
        for (at, word) in keys.iter().enumerate() {
            let values =
                rows.iter().map(|sum| u64::from(key_of(sum).get(at).copied().unwrap_or(0)));
            columns.add(format!("{name}.{word}"), values);
        }
        columns.add(format!("{name}.count"), rows.iter().map(|sum| sum.count.into()));
        if has_sizes {
            columns.add(format!("{name}.total"), rows.iter().map(|sum| sum.total));
            columns.add(format!("{name}.max"), rows.iter().map(|sum| sum.max));
        }
        Some(about)
    }
}

/// Returns the last row of a key. The longest bins are one.
fn last_row(place: usize, sum: &Sum, bin_nanos: i64) -> LastRow {
    match bin_nanos {
        i64::MAX => LastRow::of_one_slice(place),
        _ => LastRow::new(place, sum.first_nanos, bin_nanos),
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
        assert_eq!(sums.count(), 50_000);
        assert_eq!(sums.rows.iter().map(|sum| sum.max).max(), Some(49_999));
        let bin = sums.bin_nanos;
        let first = sums.rows.iter().filter(|sum| sum.first_nanos < bin);
        let wanted = (bin + 99_999) / 100_000;
        assert_eq!(i64::from(first.map(|sum| sum.count).sum::<u32>()), wanted);
        assert_eq!(sums.left_out, 0);
    }

    #[test]
    fn sums_with_exact_times_have_bins_when_there_is_no_more_room() {
        let mut sums = Sums::exact(100);
        (0..100).for_each(|at| sums.add(i64::from(at), [at % 2], 1));
        assert_eq!((sums.rows.len(), sums.bin_if_longer()), (100, None));
        sums.add(100, [0], 1);
        assert_eq!((sums.rows.len(), sums.count()), (2, 101));
        assert_eq!(sums.bin_if_longer(), Some(1_000_000));
    }

    #[test]
    fn occurrences_out_of_order_are_one_row_of_their_bin() {
        let mut sums = Sums::new(1000);
        (0..8_u32).for_each(|at| sums.add(i64::from(at % 2) * 10_000_000, [7], at.into()));
        assert_eq!(sums.rows.len(), 8);
        let mut columns = Columns::default();
        assert!(sums.write("sums", ["key"], false, &mut columns).is_some());
        // Two times, how long each lasts, two keys, two counts.
        let bytes = columns.pieces().concat();
        assert_eq!(bytes[bytes.len() - 6..], [0, 0, 7, 7, 4, 4]);
    }

    #[test]
    fn keys_for_which_there_is_no_room_are_counted() {
        let mut sums = Sums::new(10);
        (0..25).for_each(|key| sums.add(0, [key], 1));
        assert_eq!((sums.rows.len(), sums.left_out), (10, 15));
    }
}
