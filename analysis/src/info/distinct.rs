//! Counts different numbers exactly up to a limit, so that memory is bounded.

use crate::hash::HashSet;

/// Maximum number of different numbers that are counted exactly. As many take about a megabyte.
const MAX_EXACT: usize = 1 << 16;

/// A set of different numbers, of which at most [`MAX_EXACT`] are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Distinct {
    numbers: HashSet<u64>,
    has_more: bool,
}

/// A count that may be a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) number: u64,
    /// Whether the count may be too small.
    pub(super) is_at_least: bool,
}

impl Distinct {
    /// Adds a number.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) {
        if self.numbers.len() < MAX_EXACT {
            self.numbers.insert(number);
        } else if !self.has_more {
            self.has_more = !self.numbers.contains(&number);
        }
    }

    /// Adds all numbers of another set.
    pub(super) fn join(&mut self, other: Distinct) {
        other.numbers.into_iter().for_each(|number| self.insert(number));
        self.has_more |= other.has_more;
    }

    /// Returns how many different numbers were added.
    pub(super) fn count(&self) -> Count {
        Count { number: self.numbers.len() as u64, is_at_least: self.has_more }
    }

    /// Returns the number, if exactly one was added.
    pub(super) fn only(&self) -> Option<u64> {
        self.numbers.iter().next().copied().filter(|_| self.numbers.len() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_exactly_up_to_the_limit_in_any_parts() {
        for (count, step) in [(0u64, 1), (1, 1), (65_536, 3), (65_537, 1), (200_000, 1 << 20)] {
            let mut all = Distinct::default();
            let mut parts = [Distinct::default(), Distinct::default(), Distinct::default()];
            for number in 0..count {
                all.insert(number * step);
                all.insert(number * step);
                parts[usize::try_from(number % 7 % 3).unwrap()].insert(number * step);
            }
            let mut joined = Distinct::default();
            parts.into_iter().for_each(|part| joined.join(part));
            assert_eq!(joined.count(), all.count());
            let expected = Count { number: count.min(65_536), is_at_least: count > 65_536 };
            assert_eq!(all.count(), expected);
            assert_eq!(all.only(), (count == 1).then_some(0));
        }
    }
}
