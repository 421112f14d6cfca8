//! Sorts short lists of rows, with a single compiled copy of the sort.
//!
//! `slice::sort_by` is compiled for each type of row and each comparison, to some 3,500 lines of
//! LLVM IR each time: a seventh of the compilation work for this crate with its fifty reports.
//! Here, row indices are sorted with an indirect call for each comparison, and then the rows are
//! moved to their places. Code that sorts millions of samples or objects uses the slice's own sort.

use std::cmp::Ordering;
use std::mem;

/// Stable sorts for tables that people read.
pub(crate) trait SortFew<T> {
    /// Sorts as `slice::sort_by` does.
    fn sort_few_by(&mut self, order: impl FnMut(&T, &T) -> Ordering);

    /// Sorts as `slice::sort_by_key` does.
    fn sort_few_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> SortFew<T> for [T] {
    fn sort_few_by(&mut self, mut order: impl FnMut(&T, &T) -> Ordering) {
        let mut places =
            sorted_places(self.len(), &mut |one, other| match (self.get(one), self.get(other)) {
                (Some(one), Some(other)) => order(one, other),
                _ => Ordering::Equal,
            });
        for_each_swap(&mut places, &mut |one, other| self.swap(one, other));
    }

    fn sort_few_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.sort_few_by(|one, other| key(one).cmp(&key(other)));
    }
}

/// Returns, for each position in the sorted order, the row that belongs there.
fn sorted_places(rows: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows).collect();
    places.sort_by(|one, other| order(*one, *other));
    places
}

/// Calls `swap` for the swaps that bring each row to its place, along each cycle of the
/// permutation.
fn for_each_swap(places: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..places.len() {
        let mut at = first;
        // A position that is done refers to itself.
        while let Some(place) = places.get_mut(at) {
            let from = mem::replace(place, at);
            if from == first || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_sorted_as_the_slices_own_sort_does_it(rows in prop::collection::vec(0..20_u8, 0..200)) {
            let numbered: Vec<(u8, usize)> = rows.iter().copied().zip(0..).collect();
            let (mut few, mut all) = (numbered.clone(), numbered);
            few.sort_few_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
            all.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
            prop_assert_eq!(&few, &all);
            few.sort_few_by_key(|row| row.0 % 3);
            all.sort_by_key(|row| row.0 % 3);
            prop_assert_eq!(few, all);
        }
    }
}
