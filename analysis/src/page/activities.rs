//! Activities, requests and tasks of a page. The longest have a row each, and the others are
//! counted by name, failure and length.

use super::Page;
use super::sums::Sums;
use crate::model::{Mode, Resolved};
use crate::report::{Lasted, Occurrence};
use std::cmp::Reverse;

/// Maximum number of rows.
const MAX_ROWS: usize = 60_000;
/// Maximum number of sums of activities without a row.
const MAX_SUMS: usize = 1 << 15;

/// Activities, requests, or one of the times of tasks.
#[derive(Debug)]
pub(super) struct PageActivities {
    rows: Vec<Occurrence>,
    /// Length in nanoseconds below which there is no row.
    least_nanos: u64,
    /// Sums without a row, by name, failure and bucket of length.
    others: Sums<3>,
}

impl Default for PageActivities {
    fn default() -> PageActivities {
        PageActivities { rows: Vec::new(), least_nanos: 0, others: Sums::new(MAX_SUMS) }
    }
}

impl PageActivities {
    pub(super) fn add(&mut self, ended: Occurrence) {
        if length(&ended) < self.least_nanos {
            self.leave_out(ended);
            return;
        }
        self.rows.push(ended);
        if self.rows.len() > MAX_ROWS {
            let most = MAX_ROWS / 2;
            self.rows.select_nth_unstable_by_key(most, |row| Reverse(length(row)));
            let others = self.rows.split_off(most);
            self.least_nanos = others.first().map_or(0, |row| length(row).saturating_add(1));
            others.into_iter().for_each(|row| self.leave_out(row));
        }
    }

    fn leave_out(&mut self, row: Occurrence) {
        let (bucket, nanos) = match row.lasted {
            Lasted::Nanos(nanos) => (bucket_of(nanos), nanos),
            Lasted::Open => (OPEN, 0),
            Lasted::Unknown => (UNKNOWN, 0),
        };
        self.others.add(row.start_nanos, [row.label, u32::from(row.is_error), bucket], nanos);
    }

    /// Writes rows and sums. `number` returns the number on the page of a label's name.
    pub(super) fn finish(
        mut self,
        name: &str,
        resolved: &Resolved<'_>,
        mut number: impl FnMut(u32) -> u64,
        page: &mut Page,
    ) {
        if self.rows.is_empty() {
            return;
        }
        self.rows.retain(|row| resolved.selected(row.stack, Mode::Unknown).is_some());
        self.rows.sort_by_key(|row| row.start_nanos);
        let rows = &self.rows;
        let columns = &mut page.columns;
        columns.add_steps(format!("{name}.t"), rows.iter().map(|row| row.start_nanos));
        // 0 says that the activity had not stopped, or that its length is unknown.
        let nanos = |row: &Occurrence| match row.lasted {
            Lasted::Nanos(nanos) => nanos.saturating_add(1),
            Lasted::Open | Lasted::Unknown => 0,
        };
        columns.add(format!("{name}.nanos"), rows.iter().map(nanos));
        if rows.iter().any(|row| row.lasted == Lasted::Unknown) {
            let unknown = rows.iter().map(|row| u64::from(row.lasted == Lasted::Unknown));
            columns.add(format!("{name}.unknown"), unknown);
        }
        columns.add(
            format!("{name}.name"),
            rows.iter().map(|row| number(row.label)).collect::<Vec<_>>(),
        );
        columns.add(format!("{name}.failed"), rows.iter().map(|row| u64::from(row.is_error)));
        let others = self.others.with_keys(|[label, failed, bucket]| {
            [u32::try_from(number(label)).unwrap_or(u32::MAX), failed, bucket]
        });
        page.add_sums(&format!("{name}.others"), others, ["name", "failed", "bucket"], true);
    }
}

/// Buckets of occurrences without a length, which follow those of lengths.
const OPEN: u32 = 64 * 8;
const UNKNOWN: u32 = OPEN + 1;

/// Returns the length of an occurrence. One that never ended, or whose length is unknown, counts as
/// the longest.
fn length(row: &Occurrence) -> u64 {
    match row.lasted {
        Lasted::Nanos(nanos) => nanos,
        Lasted::Open | Lasted::Unknown => u64::MAX,
    }
}

/// Returns the bucket of a length. Each power of two has eight buckets, so lengths in a bucket
/// differ by less than an eighth.
fn bucket_of(nanos: u64) -> u32 {
    let power = nanos.checked_ilog2().unwrap_or(0);
    if power < 3 {
        return u32::try_from(nanos).unwrap_or(0);
    }
    let eighth = u32::try_from(nanos >> power.saturating_sub(3) & 7).unwrap_or(0);
    power.saturating_mul(8).saturating_add(eighth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackHandle;

    #[test]
    fn lengths_of_one_bucket_differ_by_less_than_an_eighth() {
        let buckets: Vec<u32> = (0..5_000).map(bucket_of).collect();
        assert!(buckets.is_sorted());
        for bucket in buckets.chunk_by(|one, other| one == other).skip(8) {
            let lowest = buckets.partition_point(|other| *other < bucket[0]);
            assert!(bucket.len() <= lowest.div_ceil(8), "{} from {lowest}", bucket.len());
        }
        assert_eq!(bucket_of(u64::MAX), 63 * 8 + 7);
    }

    #[test]
    fn the_longest_have_rows_and_all_are_counted() {
        let mut kept = PageActivities::default();
        let all = 2 * MAX_ROWS as u64;
        for at in 0..all {
            kept.add(Occurrence {
                start_nanos: at.cast_signed(),
                lasted: Lasted::Nanos(at % 1_000),
                label: 0,
                stack: StackHandle(0),
                is_error: false,
            });
        }
        let rows = kept.rows.len() as u64;
        assert_eq!(rows + kept.others.count(), all);
        let longest = kept.rows.iter().filter(|row| row.lasted == Lasted::Nanos(999));
        assert_eq!(longest.count(), 120);
    }
}
