//! A table whose rows are found by numbers that are valid until the next sequence point.

/// Rows by number. Clearing takes time in proportion to the number of rows, however large their
/// numbers are.
#[derive(Debug)]
pub(super) struct ByNumber<T> {
    rows: Vec<T>,
    put: Vec<u32>,
    none: T,
}

impl<T: Copy> ByNumber<T> {
    /// Creates an empty table; `none` marks unused numbers.
    pub(super) fn new(none: T) -> ByNumber<T> {
        ByNumber { rows: Vec::new(), put: Vec::new(), none }
    }

    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.rows.get(number as usize)
    }

    pub(super) fn put(&mut self, number: u32, row: T) {
        let place = number as usize;
        if self.rows.len() <= place {
            self.rows.resize(place.saturating_add(1), self.none);
        }
        if let Some(known) = self.rows.get_mut(place) {
            *known = row;
            self.put.push(number);
        }
    }

    pub(super) fn clear(&mut self) {
        for number in self.put.drain(..) {
            if let Some(row) = self.rows.get_mut(number as usize) {
                *row = self.none;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that clearing resets only the rows that were put, here one of a million. Resetting
    /// all would take 10^12 steps.
    #[test]
    fn a_large_number_costs_once() {
        let mut rows = ByNumber::new(0u32);
        rows.put(1_000_000, 1);
        for round in 1..1_000_000 {
            assert_eq!(rows.get(1_000_000), Some(&1));
            rows.clear();
            assert_eq!(rows.get(1_000_000), Some(&0), "{round}");
            rows.put(1_000_000, 1);
        }
        assert_eq!((rows.get(999_999), rows.get(1_000_001)), (Some(&0), None));
    }
}
