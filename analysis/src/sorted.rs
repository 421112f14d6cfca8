//! Sorting of rows that are few: one copy of the sort for all of them.
//!
//! `slice::sort_by` is compiled anew for each type of row and each order, some 3,500 lines for the compiler's back end each
//! time. With fifty reports' tables that was a seventh of what it had to do for this crate. Here the numbers of rows are
//! sorted, through a call for each comparison, and then the rows are put in their places. What sorts samples or objects
//! by the million goes on to use the slice's own.

use std::cmp::Ordering;
use std::mem;

/// Stable sorts as those of slices, for tables that people read.
pub(crate) trait SortFew<T> {
    /// As `slice::sort_by`.
    fn sort_few_by(&mut self, order: impl FnMut(&T, &T) -> Ordering);

    /// As `slice::sort_by_key`.
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

/// For each place of the sorted rows, which row belongs there.
fn sorted_places(rows: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows).collect();
    places.sort_by(|one, other| order(*one, *other));
    places
}

/// The swaps that bring each row to its place: along each cycle, from its first place on.
fn for_each_swap(places: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..places.len() {
        let mut at = first;
        // A place that was served names itself.
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
