//! Sorts rows of which nearly all are in order, in time and memory for the few that are not.

/// Maximum number of places that rows are moved by, for each row of all.
const MAX_MOVES: usize = 4;

/// Moves each row back to its place behind the last one with the same key or a lower one. Returns
/// whether all rows are in order; if too many are not, the others stay as they are, and a stable sort
/// still gives what it would have given at first.
#[must_use]
pub(super) fn is_sorted_by_few_moves<T, K: Ord>(rows: &mut [T], key: impl Fn(&T) -> K) -> bool {
    let mut left = rows.len().saturating_mul(MAX_MOVES);
    for place in 1..rows.len() {
        let Some((before, [row, ..])) = rows.split_at_checked(place) else { break };
        let of_row = key(row);
        let is_before = |other: &T| key(other) <= of_row;
        if before.last().is_some_and(is_before) {
            continue;
        }
        let moved = before.iter().rev().take(left).take_while(|other| !is_before(other)).count();
        if moved >= left {
            return false;
        }
        left = left.saturating_sub(moved);
        let moving = rows.get_mut(place.saturating_sub(moved)..=place);
        moving.into_iter().for_each(|moving| moving.rotate_right(1));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_slightly_out_of_order_are_sorted_and_equal_ones_stay_in_their_order() {
        let mut rows: Vec<(u32, u32)> = (0..1000).map(|at| (at / 3 * 10, at)).collect();
        (0..990).step_by(7).for_each(|at| rows.swap(at, at + 5));
        let mut wanted = rows.clone();
        wanted.sort_by_key(|row| row.0);
        assert!(is_sorted_by_few_moves(&mut rows, |row| row.0));
        assert_eq!(rows, wanted);
    }

    #[test]
    fn rows_far_out_of_order_are_left_to_a_stable_sort() {
        let mut rows: Vec<(u32, u32)> = (0..1000).map(|at| ((1000 - at) / 3, at)).collect();
        let mut wanted = rows.clone();
        wanted.sort_by_key(|row| row.0);
        assert!(!is_sorted_by_few_moves(&mut rows, |row| row.0));
        rows.sort_by_key(|row| row.0);
        assert_eq!(rows, wanted);
    }
}
