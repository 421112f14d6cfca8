//! Times in which any thread was at a stack. Threads that are there one after another add up to a
//! time as if one thread was there; threads side by side do not.
//!
//! Times are kept as ranges of cells. Cells start narrow, and each time that there are too many
//! ranges, all cells become twice as wide.

use super::handle::StackHandle;
use super::profile::DividedTimes;
use super::sample::Mode;
use crate::hash::HashMap;

/// Maximum number of ranges that are kept: 2 MiB of them.
const MAX_RANGES: usize = 1 << 18;
/// Width of cells at the beginning, in nanoseconds.
const FIRST_WIDTH_NANOS: u64 = 1 << 14;

/// Times in which any thread was at a stack, by stack and mode.
#[derive(Debug, Clone)]
pub(crate) struct Presence {
    width_nanos: u64,
    /// Ranges of each stack, in the order in which they were added.
    rows: HashMap<(StackHandle, Mode), Vec<CellRange>>,
    /// Number of ranges of all stacks.
    ranges: usize,
}

/// Range of cells; its end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CellRange {
    begin: u32,
    end: u32,
}

impl CellRange {
    /// Extends the range by another one that overlaps or touches it. Returns whether it does.
    fn join(&mut self, other: CellRange) -> bool {
        let touches = other.begin <= self.end && self.begin <= other.end;
        if touches {
            self.begin = self.begin.min(other.begin);
            self.end = self.end.max(other.end);
        }
        touches
    }

    /// Returns the range in cells of twice the width. Halves are rounded to the even number, so that
    /// each range gets empty in the end, and widening ends however many stacks there are.
    fn widened(self) -> CellRange {
        let half = |cell: u32| (cell / 2).saturating_add(cell & (cell >> 1) & 1);
        CellRange { begin: half(self.begin), end: half(self.end) }
    }
}

/// Sorts ranges, and joins those that overlap.
fn join_all(ranges: &mut Vec<CellRange>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| before.join(*next));
}

impl Default for Presence {
    fn default() -> Presence {
        Presence { width_nanos: FIRST_WIDTH_NANOS, rows: HashMap::default(), ranges: 0 }
    }
}

impl Presence {
    /// Adds that a thread was at a stack for `weight` nanoseconds from `nanos` on, which counts
    /// from the session's start.
    pub(crate) fn add(&mut self, stack: StackHandle, mode: Mode, nanos: i64, weight: u64) {
        let begin = u64::try_from(nanos).unwrap_or(0);
        let end = begin.saturating_add(weight);
        while self.cell(end) == u32::MAX {
            self.widen();
        }
        // Rounding both ends makes short times neither longer nor shorter on average.
        let range = CellRange { begin: self.cell(begin), end: self.cell(end) };
        if range.begin == range.end {
            return;
        }
        let row = self.rows.entry((stack, mode)).or_default();
        if row.last_mut().is_some_and(|last| last.join(range)) {
            return;
        }
        row.push(range);
        self.ranges = self.ranges.saturating_add(1);
        if self.ranges > MAX_RANGES {
            self.shrink();
        }
    }

    /// Returns the number of the cell that begins nearest to a time.
    fn cell(&self, nanos: u64) -> u32 {
        let cell = nanos.saturating_add(self.width_nanos / 2).checked_div(self.width_nanos);
        cell.and_then(|cell| u32::try_from(cell).ok()).unwrap_or(u32::MAX)
    }

    fn shrink(&mut self) {
        self.rows.values_mut().for_each(join_all);
        self.count();
        while self.ranges > MAX_RANGES / 2 {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.width_nanos = self.width_nanos.saturating_mul(2);
        self.rows.retain(|_, ranges| {
            ranges.iter_mut().for_each(|range| *range = range.widened());
            ranges.retain(|range| range.begin < range.end);
            join_all(ranges);
            !ranges.is_empty()
        });
        self.count();
    }

    /// Gives the times of each stack and mode to the mode of its longest part.
    pub(super) fn divide(&mut self, divided: &DividedTimes<(StackHandle, Mode)>) {
        let mut rows: HashMap<(StackHandle, Mode), Vec<CellRange>> = HashMap::default();
        for ((stack, mode), ranges) in std::mem::take(&mut self.rows) {
            let parts = divided.parts(&(stack, mode)).iter();
            let longest = parts.max_by_key(|part| part.nanos).map_or(mode, |part| part.mode);
            rows.entry((stack, longest)).or_default().extend(ranges);
        }
        self.rows = rows;
    }

    fn count(&mut self) {
        self.ranges = self.rows.values().map(Vec::len).fold(0, usize::saturating_add);
    }

    /// Returns the time in which any thread was at one of these stacks, in nanoseconds.
    pub(crate) fn nanos_at(&self, stacks: impl IntoIterator<Item = (StackHandle, Mode)>) -> u64 {
        let rows = stacks.into_iter().filter_map(|stack| self.rows.get(&stack));
        let mut ranges: Vec<CellRange> = rows.flatten().copied().collect();
        join_all(&mut ranges);
        let cells = ranges.iter().map(|range| u64::from(range.end.saturating_sub(range.begin)));
        cells.fold(0, u64::saturating_add).saturating_mul(self.width_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn add(presence: &mut Presence, stack: u32, from_ms: i64, ms: u64) {
        presence.add(StackHandle(stack), Mode::External, from_ms * 1_000_000, ms * MS);
    }

    fn millis(presence: &Presence, stacks: &[u32]) -> u64 {
        let stacks = stacks.iter().map(|stack| (StackHandle(*stack), Mode::External));
        (presence.nanos_at(stacks) + MS / 2) / MS
    }

    #[test]
    fn times_side_by_side_count_once_and_others_add_up() {
        let mut presence = Presence::default();
        // A long stay ends after a short one, and is added later.
        add(&mut presence, 1, 300, 10);
        add(&mut presence, 1, 0, 100);
        add(&mut presence, 1, 50, 100);
        add(&mut presence, 2, 120, 100);
        assert_eq!(millis(&presence, &[1]), 160);
        assert_eq!(millis(&presence, &[2]), 100);
        assert_eq!(millis(&presence, &[1, 2]), 230);
        assert_eq!(millis(&presence, &[3]), 0);
    }

    #[test]
    fn memory_is_bounded_and_the_sum_stays_about_right() {
        let mut presence = Presence::default();
        for at in 0..600_000 {
            add(&mut presence, 1, at * 4, 2);
        }
        assert!(presence.ranges <= MAX_RANGES);
        let millis = millis(&presence, &[1]);
        assert!((1_000_000..=1_400_000).contains(&millis), "{millis}");
    }

    #[test]
    fn more_stacks_at_one_time_than_ranges_are_kept_end_in_none() {
        let mut presence = Presence::default();
        for stack in 0..300_000 {
            presence.add(StackHandle(stack), Mode::External, 0, 1_000_000);
        }
        assert!(presence.ranges <= MAX_RANGES);
    }

    #[test]
    fn times_of_any_length_are_counted() {
        let mut presence = Presence::default();
        presence.add(StackHandle(1), Mode::External, i64::MIN, 5);
        presence.add(StackHandle(1), Mode::External, i64::MAX, u64::MAX);
        assert!(presence.nanos_at([(StackHandle(1), Mode::External)]) > 1 << 62);
    }
}
