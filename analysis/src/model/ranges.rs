//! Ranges of addresses that have lifetimes, which are found by address and time.
//!
//! Code is loaded and unloaded, and its memory is reused. A trace may report code at its load, its
//! unload and the end of the session, in any combination. If the start or the end of a lifetime is
//! unknown, the lifetime extends as far as nothing contradicts it.

use super::overlaps::{Life, Overlaps};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Number of ranges up to which a search examines them one by one. Only crafted traces have more
/// ranges that overlap, or that follow a very large one.
const FEW: u64 = 64;

/// A value that a range of addresses has for a period of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range<T> {
    pub(crate) start: u64,
    /// Last address of the range.
    pub(crate) last: u64,
    /// First tick of the period.
    pub(crate) from: u64,
    /// First tick after the period.
    pub(crate) to: u64,
    pub(crate) value: T,
}

impl<T> Range<T> {
    /// Returns the distance of `ticks` from the range's lifetime; 0 within the lifetime.
    fn distance(&self, ticks: u64) -> u64 {
        if ticks < self.from {
            self.from.saturating_sub(ticks)
        } else {
            ticks.saturating_sub(self.to.saturating_sub(1))
        }
    }
}

/// What a report says about a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportedRange {
    /// The range begins to exist now.
    Begins,
    /// The range exists, and it is unknown since when.
    Exists,
}

/// Ranges of one address space.
#[derive(Debug, Clone)]
pub(crate) struct Ranges<T> {
    rows: Vec<Range<T>>,
    /// Indices of the newest ranges at all addresses, by start, whether they still exist or not.
    /// They do not overlap.
    newest: BTreeMap<u64, u32>,
    /// Indices of `rows` sorted by start, each with the highest last address up to there; built by
    /// [`Ranges::sort`].
    sorted: Vec<(u32, u64)>,
    /// Index for addresses that many ranges cover; it is built on demand.
    overlaps: OnceLock<Overlaps>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Ranges {
            rows: Vec::new(),
            newest: BTreeMap::new(),
            sorted: Vec::new(),
            overlaps: OnceLock::new(),
        }
    }
}

impl<T: Copy + PartialEq> Ranges<T> {
    /// Returns the newest range that starts at `start`.
    pub(crate) fn at_start(&self, start: u64) -> Option<&Range<T>> {
        self.rows.get(*self.newest.get(&start)? as usize)
    }

    /// Returns the newest range that starts at `start`, and its row. `guess` is the row that is
    /// tried first.
    #[inline]
    pub(crate) fn row_at_start(&self, start: u64, guess: usize) -> Option<(usize, &Range<T>)> {
        // A range that still exists is the newest.
        match self.rows.get(guess) {
            Some(range) if range.start == start && range.to == u64::MAX => Some((guess, range)),
            _ => {
                let row = *self.newest.get(&start)? as usize;
                Some((row, self.rows.get(row)?))
            }
        }
    }

    /// Adds a range. Returns whether it replaces another one, so that addresses change their
    /// meaning at `ticks`.
    pub(crate) fn add(
        &mut self,
        reported: ReportedRange,
        start: u64,
        size: u64,
        ticks: u64,
        value: T,
    ) -> bool {
        let Some(last) = size.checked_sub(1).and_then(|size| start.checked_add(size)) else {
            return false;
        };
        let mut from = if reported == ReportedRange::Begins { ticks } else { 0 };
        let mut replaces = false;
        while let Some((at, row)) = self.overlapping(start, last) {
            replaces = true;
            self.newest.remove(&at);
            let Some(old) = self.rows.get_mut(row as usize) else { continue };
            if old.to == u64::MAX {
                // The end was not reported, but the old range cannot still exist.
                old.to = ticks;
            }
            if reported == ReportedRange::Exists {
                from = from.max(old.to);
            }
        }
        self.put(Range { start, last, from, to: u64::MAX, value });
        replaces
    }

    fn put(&mut self, range: Range<T>) {
        if let Ok(row) = u32::try_from(self.rows.len()) {
            self.newest.insert(range.start, row);
            self.rows.push(range);
        }
    }

    /// Ends the lifetime of the range that starts at `start` if `accepts` returns true for its
    /// value. Returns whether there was such a range.
    pub(crate) fn end(&mut self, start: u64, ticks: u64, accepts: impl Fn(&T) -> bool) -> bool {
        let Some(row) = self.newest.get(&start) else { return false };
        match self.rows.get_mut(*row as usize) {
            Some(range) if accepts(&range.value) => {
                range.to = range.to.min(ticks);
                true
            }
            _ => false,
        }
    }

    /// Adds a range that has existed since before the trace and ends now.
    pub(crate) fn add_ended(&mut self, start: u64, size: u64, ticks: u64, value: T) {
        let Some(last) = size.checked_sub(1).and_then(|size| start.checked_add(size)) else {
            return;
        };
        let range = Range { start, last, from: 0, to: ticks, value };
        if self.overlapping(start, last).is_none() {
            self.put(range);
        } else {
            self.rows.push(range);
        }
    }

    /// Returns the newest range that overlaps these addresses.
    fn overlapping(&self, start: u64, last: u64) -> Option<(u64, u32)> {
        let (at, row) = self.newest.range(..=last).next_back()?;
        let range = self.rows.get(*row as usize)?;
        (range.last >= start).then_some((*at, *row))
    }

    /// Sorts the ranges. Call it after the last change, before [`Ranges::find`].
    pub(crate) fn sort(&mut self) {
        let mut order: Vec<u32> =
            (0..self.rows.len()).filter_map(|row| u32::try_from(row).ok()).collect();
        let rows = &self.rows;
        order.sort_by_key(|row| rows.get(*row as usize).map_or(0, |range| range.start));
        let mut highest = 0;
        self.sorted = order
            .into_iter()
            .map(|row| {
                highest = rows.get(row as usize).map_or(highest, |range| range.last.max(highest));
                (row, highest)
            })
            .collect();
        self.overlaps = OnceLock::new();
    }

    /// Returns the youngest range at `address` that existed at the time `ticks`, or else the one
    /// nearest in time. Also returns whether the answer is the same for all times.
    pub(crate) fn find(&self, address: u64, ticks: u64) -> Option<(&Range<T>, bool)> {
        let end = self.count_up_to(address);
        let mut best: Option<&Range<T>> = None;
        let (mut found, mut looked_at) = (0u64, 0u64);
        for (row, highest) in self.sorted.get(..end)?.iter().rev() {
            if *highest < address {
                break;
            }
            if looked_at == FEW {
                return self.find_of_many(address, ticks, &mut looked_at);
            }
            looked_at = looked_at.saturating_add(1);
            let Some(range) = self.rows.get(*row as usize).filter(|range| range.last >= address)
            else {
                continue;
            };
            found = found.saturating_add(1);
            let rank = |range: &Range<T>| (range.distance(ticks), std::cmp::Reverse(range.from));
            if best.is_none_or(|best| rank(range) < rank(best)) {
                best = Some(range);
            }
        }
        best.map(|range| (range, found == 1))
    }

    /// Returns the number of ranges that start at or below an address.
    fn count_up_to(&self, address: u64) -> usize {
        self.sorted.partition_point(|(row, _)| {
            self.rows.get(*row as usize).is_some_and(|range| range.start <= address)
        })
    }

    #[cold]
    fn find_of_many(&self, address: u64, ticks: u64, steps: &mut u64) -> Option<(&Range<T>, bool)> {
        let overlaps = self.overlaps.get_or_init(|| {
            let lives = self.sorted.iter().filter_map(|(row, _)| {
                let Range { start, last, from, to, .. } = *self.rows.get(*row as usize)?;
                Some(Life { start, last, from, end: to.saturating_sub(1) })
            });
            Overlaps::new(lives.collect())
        });
        let (place, is_only) = overlaps.find(address, ticks, steps)?;
        let (row, _) = self.sorted.get(place)?;
        Some((self.rows.get(*row as usize)?, is_only))
    }

    /// Returns the first and last address of each range.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.rows.iter().map(|range| (range.start, range.last))
    }

    /// Returns the lowest start of a range above `address`.
    pub(crate) fn next_start(&self, address: u64) -> Option<u64> {
        let (row, _) = self.sorted.get(self.count_up_to(address))?;
        self.rows.get(*row as usize).map(|range| range.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(ranges: &Ranges<char>, address: u64, ticks: u64) -> Option<char> {
        ranges.find(address, ticks).map(|(range, _)| range.value)
    }

    #[test]
    fn an_address_means_what_lived_there_at_the_time() {
        let mut ranges = Ranges::default();
        assert!(!ranges.add(ReportedRange::Begins, 100, 10, 50, 'a'));
        assert!(ranges.end(100, 80, |value| *value == 'a'));
        assert!(ranges.add(ReportedRange::Begins, 95, 10, 90, 'b'));
        ranges.sort();
        let at = |address, ticks| find(&ranges, address, ticks);
        assert_eq!((at(100, 60), at(100, 95), at(100, 1_000)), (Some('a'), Some('b'), Some('b')));
        assert_eq!((at(100, 10), at(100, 81), at(100, 89)), (Some('a'), Some('a'), Some('b')));
        assert_eq!(
            (at(109, 95), at(104, 95), at(105, 95), at(94, 95)),
            (Some('a'), Some('b'), Some('a'), None)
        );
    }

    #[test]
    fn code_listed_at_the_end_was_there_since_its_address_was_free() {
        let mut ranges = Ranges::default();
        ranges.add_ended(100, 10, 80, 'a');
        ranges.add(ReportedRange::Exists, 100, 10, 500, 'b');
        ranges.add(ReportedRange::Exists, 200, 10, 500, 'c');
        ranges.sort();
        assert_eq!((find(&ranges, 105, 79), find(&ranges, 105, 80)), (Some('a'), Some('b')));
        assert_eq!(find(&ranges, 209, 0), Some('c'));
    }

    #[test]
    fn empty_ranges_and_ranges_beyond_the_last_address_are_ignored() {
        let mut ranges = Ranges::default();
        ranges.add(ReportedRange::Begins, 100, 0, 1, 'a');
        ranges.add(ReportedRange::Begins, u64::MAX, 2, 1, 'b');
        assert!(ranges.rows.is_empty());
    }

    /// Tests that both search methods give equal results on all kinds of ranges, many of which
    /// overlap.
    #[test]
    fn many_overlapping_ranges_are_resolved_like_few() {
        let mut random = 7u64;
        let mut next = |most: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        for count in [1, 2, 16, 17, 32, 33, 64, 300] {
            for spread in [1, 5, 400] {
                let mut ranges = Ranges::default();
                for value in 0..count {
                    let start = if next(20) == 0 { u64::MAX - next(50) } else { next(spread) };
                    let size = next(40) + 1;
                    match next(4) {
                        0 => ranges.add_ended(start, size, next(100), value),
                        1 => drop(ranges.add(ReportedRange::Exists, start, size, next(100), value)),
                        2 => drop(ranges.end(start, next(100), |_| true)),
                        _ => drop(ranges.add(ReportedRange::Begins, start, size, next(100), value)),
                    }
                }
                ranges.sort();
                for _ in 0..2000 {
                    let address =
                        if next(20) == 0 { u64::MAX - next(50) } else { next(spread + 45) };
                    let ticks = next(110);
                    let one_by_one = {
                        let rank = |range: &Range<u64>| {
                            (range.distance(ticks), std::cmp::Reverse(range.from))
                        };
                        let there =
                            ranges.sorted.iter().rev().map(|(row, _)| &ranges.rows[*row as usize]);
                        let there =
                            there.filter(|range| range.start <= address && address <= range.last);
                        let only = there.clone().count() == 1;
                        there.min_by_key(|range| rank(range)).map(|range| (*range, only))
                    };
                    let of_many = ranges
                        .find_of_many(address, ticks, &mut 0)
                        .map(|(range, only)| (*range, only));
                    assert_eq!(of_many, one_by_one, "{count} {spread} {address} {ticks}");
                    assert_eq!(
                        ranges.find(address, ticks).map(|(range, only)| (*range, only)),
                        one_by_one
                    );
                }
            }
        }
    }

    #[test]
    fn an_address_is_found_in_few_steps_for_any_ranges() {
        let count = 20_000u64;
        let mut same = Ranges::default();
        let mut after_one = Ranges::default();
        let mut within = Ranges::default();
        after_one.add(ReportedRange::Begins, 0, u64::MAX, 0, 0);
        for value in 0..count {
            same.add(ReportedRange::Begins, 100, 10, value, value);
            after_one.add(ReportedRange::Begins, 100 + value * 10, 5, value, value);
            within.add(ReportedRange::Begins, value, 4 * count - 2 * value, value, value);
        }
        for (name, ranges) in
            [("same", &mut same), ("after", &mut after_one), ("within", &mut within)]
        {
            ranges.sort();
            let mut most = 0;
            for address in (0..count * 12).step_by(97) {
                for ticks in [0, address / 12, count / 2, u64::MAX] {
                    let mut steps = 0;
                    ranges.find_of_many(address, ticks, &mut steps);
                    most = most.max(steps);
                }
            }
            assert!(most > 0 && most < 2500, "{name}: {most} steps");
        }
    }
}
