//! Numbers distinct values in the order of first appearance.

use crate::hash::HashMap;
use std::hash::Hash;

/// Distinct values with their numbers: 0, 1, 2 …
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbering<T: Eq + Hash>(HashMap<T, u32>);

impl<T: Eq + Hash> Default for Numbering<T> {
    fn default() -> Numbering<T> {
        Numbering(HashMap::default())
    }
}

impl<T: Eq + Hash> Numbering<T> {
    /// Returns the number of a value. A new value is added.
    pub(crate) fn number(&mut self, value: T) -> u32 {
        self.add(value).0
    }

    /// Returns the number of a value, and whether the value is new.
    pub(crate) fn add(&mut self, value: T) -> (u32, bool) {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let number = *self.0.entry(value).or_insert(next);
        (number, number == next)
    }

    /// Returns the number of a value plus 1, for ids where 0 stands for none, and whether the value
    /// is new.
    pub(crate) fn id(&mut self, value: T) -> (u64, bool) {
        let (number, is_new) = self.add(value);
        (u64::from(number).saturating_add(1), is_new)
    }

    /// Returns the values in the order of their numbers.
    pub(crate) fn into_values(self) -> Vec<T> {
        let mut values: Vec<(T, u32)> = self.0.into_iter().collect();
        values.sort_unstable_by_key(|(_, number)| *number);
        values.into_iter().map(|(value, _)| value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number() {
        let mut numbering = Numbering::default();
        assert_eq!(["b", "a", "b"].map(|value| numbering.number(value)), [0, 1, 0]);
        assert_eq!((numbering.id("a"), numbering.id("c")), ((2, false), (3, true)));
        assert_eq!(numbering.into_values(), ["b", "a", "c"]);
    }
}
