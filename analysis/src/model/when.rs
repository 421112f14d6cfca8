//! Weights of CPU samples over time, in a fixed number of cells.
//!
//! The duration of the trace is unknown before its end. So cells start narrow, and each time the
//! trace outgrows them, pairs of cells are merged. At the end, at least as many cells are filled as
//! are to be shown.

use super::handle::StackHandle;
use super::profile::DividedTimes;
use super::sample::Mode;
use crate::hash::HashMap;

/// Number of cells that are kept.
const CELLS: usize = 64;

/// Weights of CPU samples over time, by stack and mode.
#[derive(Debug, Clone)]
pub(crate) struct When {
    from_nanos: i64,
    width_nanos: u64,
    /// End of the last sample, in nanoseconds after `from_nanos`.
    end_nanos: u64,
    rows: HashMap<(StackHandle, Mode), [u64; CELLS]>,
}

/// Weights of a stack in each cell that is shown, over the whole trace, in nanoseconds.
pub(crate) type Cells = [u64; When::SHOWN];

impl When {
    /// Number of cells that are shown.
    pub(crate) const SHOWN: usize = 32;

    /// Creates cells without samples. They start at a time, in nanoseconds since the session's
    /// start.
    pub(crate) fn new(from_nanos: i64) -> When {
        When { from_nanos, width_nanos: 1, end_nanos: 0, rows: HashMap::default() }
    }

    /// Adds a sample whose weight is spread over the time that starts at `nanos`.
    pub(crate) fn add(&mut self, stack: StackHandle, mode: Mode, nanos: i64, weight: u64) {
        let begin = u64::try_from(nanos.saturating_sub(self.from_nanos)).unwrap_or(0);
        let end = begin.saturating_add(weight);
        self.end_nanos = self.end_nanos.max(end);
        while self.width_nanos.saturating_mul(CELLS as u64) < end {
            self.widen();
        }
        let width = self.width_nanos;
        let row = self.rows.entry((stack, mode)).or_insert([0; CELLS]);
        let mut at = begin;
        while at < end {
            let Some(cell) = at.checked_div(width) else { return };
            let next = cell.saturating_add(1).saturating_mul(width).min(end);
            let sum = usize::try_from(cell).ok().and_then(|cell| row.get_mut(cell));
            let Some(sum) = sum.filter(|_| next > at) else { return };
            *sum = sum.saturating_add(next.saturating_sub(at));
            at = next;
        }
    }

    fn widen(&mut self) {
        self.width_nanos = self.width_nanos.saturating_mul(2);
        for row in self.rows.values_mut() {
            let mut wide = [0; CELLS];
            for (sum, pair) in wide.iter_mut().zip(row.chunks(2)) {
                *sum = pair.iter().copied().fold(0, u64::saturating_add);
            }
            *row = wide;
        }
    }

    /// Divides the weights of each stack and mode among the modes of their parts, in proportion.
    pub(super) fn divide(&mut self, divided: &DividedTimes<(StackHandle, Mode)>) {
        let mut rows: HashMap<(StackHandle, Mode), [u64; CELLS]> = HashMap::default();
        for ((stack, mode), cells) in &self.rows {
            let parts = divided.parts(&(*stack, *mode));
            let whole = parts.iter().map(|part| part.nanos).fold(0, u64::saturating_add);
            for part in parts {
                let sums = rows.entry((*stack, part.mode)).or_insert([0; CELLS]);
                for (sum, cell) in sums.iter_mut().zip(cells) {
                    let part = u128::from(*cell).saturating_mul(u128::from(part.nanos));
                    let part = part.checked_div(u128::from(whole)).unwrap_or(0);
                    *sum = sum.saturating_add(u64::try_from(part).unwrap_or(u64::MAX));
                }
            }
        }
        self.rows = rows;
    }

    /// Returns the weights of each stack and mode, in no particular order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (StackHandle, Mode, Cells)> + '_ {
        self.rows.iter().map(|((stack, mode), row)| (*stack, *mode, self.shown(row)))
    }

    /// Returns the time range that the cells cover, in nanoseconds since the session's start.
    pub(crate) fn extent_nanos(&self) -> (i64, i64) {
        (self.from_nanos, self.from_nanos.saturating_add_unsigned(self.end_nanos))
    }

    fn shown(&self, row: &[u64; CELLS]) -> Cells {
        let mut cells = [0; When::SHOWN];
        let mut before = 0;
        for (number, cell) in (1..).zip(&mut cells) {
            let all = u128::from(self.end_nanos).saturating_mul(number);
            let end = all.checked_div(When::SHOWN as u128).unwrap_or(0);
            let until = self.until(row, end);
            *cell = u64::try_from(until.saturating_sub(before)).unwrap_or(u64::MAX);
            before = until;
        }
        cells
    }

    /// Returns the weight that a row has before a point in time. Within a cell, weight counts as
    /// evenly distributed.
    fn until(&self, row: &[u64; CELLS], end: u128) -> u128 {
        let (mut sum, mut begin) = (0u128, 0u128);
        let last = u128::from(self.end_nanos);
        for weight in row {
            let next = begin.saturating_add(u128::from(self.width_nanos)).min(last);
            let part = end.min(next).saturating_sub(begin);
            let whole = next.saturating_sub(begin);
            let weight = u128::from(*weight);
            sum = sum.saturating_add(weight.saturating_mul(part).checked_div(whole).unwrap_or(0));
            begin = next;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(when: &When, stack: u32) -> Cells {
        when.rows().find(|(of, ..)| of.0 == stack).map(|(.., cells)| cells).unwrap()
    }

    #[test]
    fn cells_are_of_the_whole_trace_however_long_it_is() {
        for length in [3_200_u64, 64_000, 3_200_000_000, 32 << 50] {
            let mut when = When::new(100);
            let cell = length / 32;
            when.add(StackHandle(1), Mode::Managed, 100, cell);
            when.add(
                StackHandle(2),
                Mode::Managed,
                100 + i64::try_from(cell * 16).unwrap(),
                cell * 16,
            );
            let (first, second) = (cells(&when, 1), cells(&when, 2));
            assert_eq!(first.iter().sum::<u64>(), cell, "{length}");
            assert_eq!(second.iter().sum::<u64>(), cell * 16, "{length}");
            assert!(
                first[0] * 2 > cell && first[3..].iter().all(|sum| *sum == 0),
                "{length} {first:?}"
            );
            let late = &second[18..];
            assert!(second[..14].iter().all(|sum| *sum == 0), "{length} {second:?}");
            assert!(late.iter().all(|sum| sum.abs_diff(cell) <= 1), "{length} {second:?}");
            assert_eq!(when.extent_nanos(), (100, 100 + i64::try_from(length).unwrap()));
        }
    }

    #[test]
    fn durations_of_any_length_are_counted() {
        let mut when = When::new(i64::MIN);
        when.add(StackHandle(1), Mode::Managed, i64::MAX, u64::MAX);
        when.add(StackHandle(1), Mode::Managed, i64::MIN, 5);
        assert!(when.rows().all(|(.., cells)| cells.iter().any(|sum| *sum > 0)));
    }
}
