//! Times at which a program compiled methods, and the number of its requests.
//!
//! A comparison needs exact sums, so the spans of a page, of which only the longest are kept, do
//! not serve here.

use crate::model::{Category, MarkChoice, Sample, Span};
use crate::over_time::{Gathers, SamplesByKind};

/// Maximum number of rows that are kept. Beyond it, rows that are close in time are added up. A
/// trace is compared in at most 24 time slices, so this moves less than a thousandth of a slice
/// into its neighbour.
const MAX_ROWS: usize = 1 << 16;

/// Work that was done at a moment, or within a short time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedWork {
    /// Time of the first piece of work.
    pub(super) nanos: i64,
    /// Nanoseconds that all pieces took together.
    pub(super) spent_nanos: u64,
    /// Number of pieces of work.
    pub(super) count: u64,
}

/// Work of one sort over time: exact sums in bounded memory.
#[derive(Debug, Default)]
pub(super) struct WorkOverTime {
    rows: Vec<TimedWork>,
}

impl WorkOverTime {
    fn add(&mut self, nanos: i64, spent_nanos: u64) {
        if self.rows.len() >= MAX_ROWS {
            self.add_up(MAX_ROWS / 2);
        }
        self.rows.push(TimedWork { nanos, spent_nanos, count: 1 });
    }

    /// Adds up rows within equal parts of the time from the first row to the last. At most `most` +
    /// 1 rows are left.
    fn add_up(&mut self, most: usize) {
        self.rows.sort_unstable_by_key(|row| row.nanos);
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return };
        let first = first.nanos;
        let range = last.nanos.saturating_sub(first);
        let width = range.checked_div(i64::try_from(most).unwrap_or(i64::MAX)).unwrap_or(0);
        let width = width.saturating_add(1);
        let part = |nanos: i64| nanos.saturating_sub(first).checked_div(width);
        self.rows.dedup_by(|row, sum| {
            let is_same = part(row.nanos) == part(sum.nanos);
            if is_same {
                sum.spent_nanos = sum.spent_nanos.saturating_add(row.spent_nanos);
                sum.count = sum.count.saturating_add(row.count);
            }
            is_same
        });
    }

    pub(super) fn rows(&self) -> &[TimedWork] {
        &self.rows
    }
}

/// Maximum number of rows of samples.
const MAX_SAMPLE_ROWS: usize = 1 << 21;

/// Samples, compilations and requests of a trace.
#[derive(Debug)]
pub(super) struct GatheredWork {
    pub(super) samples: SamplesByKind,
    /// Compilations, by the time of their start.
    pub(super) compiled: WorkOverTime,
    /// Number of activities that are named like requests.
    pub(super) requests: u64,
    pub(super) first_request_ns: Option<i64>,
}

impl Default for GatheredWork {
    fn default() -> GatheredWork {
        GatheredWork {
            samples: SamplesByKind::new(MAX_SAMPLE_ROWS),
            compiled: WorkOverTime::default(),
            requests: 0,
            first_request_ns: None,
        }
    }
}

impl Gathers for GatheredWork {
    const MARKS: MarkChoice = MarkChoice::All;

    fn sample(&mut self, sample: &Sample) {
        self.samples.add(sample);
    }

    fn span(&mut self, span: &Span) {
        match span.category {
            Category::Jit => self.compiled.add(span.start_nanos, span.nanos),
            Category::Activity if is_request(&span.name) => {
                let end = span.end_nanos();
                self.requests = self.requests.saturating_add(1);
                self.first_request_ns =
                    Some(self.first_request_ns.map_or(end, |first| first.min(end)));
            }
            _ => {}
        }
    }
}

fn is_request(name: &str) -> bool {
    name.ends_with("Request") || name.contains("HttpRequestIn")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_very_much_work_sums_are_exact_and_memory_is_bounded() {
        let mut work = WorkOverTime::default();
        let many = 400_000_i64;
        for nanos in 0..many {
            // Out of order: spans come by their ends.
            work.add((nanos ^ 7) * 1000, 3);
        }
        assert!(work.rows().len() <= MAX_ROWS, "{}", work.rows().len());
        assert_eq!(work.rows().iter().map(|row| row.count).sum::<u64>(), 400_000);
        assert_eq!(work.rows().iter().map(|row| row.spent_nanos).sum::<u64>(), 1_200_000);
        // Each quarter of the time has a quarter of the work.
        for quarter in 0..4 {
            let times = quarter * many * 250..(quarter + 1) * many * 250;
            let rows = work.rows().iter().filter(|row| times.contains(&row.nanos));
            let count = rows.map(|row| row.count).sum::<u64>();
            assert!(count.abs_diff(100_000) < 50, "{quarter}: {count}");
        }
    }

    #[test]
    fn work_of_one_moment_or_of_all_of_time_is_added_up_too() {
        let mut work = WorkOverTime::default();
        (0..100_000).for_each(|_| work.add(5, 1));
        assert!(work.rows().len() <= MAX_ROWS);
        assert_eq!(work.rows()[0], TimedWork { nanos: 5, spent_nanos: 65_536, count: 65_536 });
        (0..100_000).for_each(|at| work.add(if at % 2 == 0 { i64::MIN } else { i64::MAX }, 1));
        assert!(work.rows().len() <= MAX_ROWS);
        assert_eq!(work.rows().iter().map(|row| row.count).sum::<u64>(), 200_000);
    }
}
