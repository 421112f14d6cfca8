//! The last row of a key, to which further occurrences are added that lie in the same slice of time.

/// Place of the last row of a key, and the slice of time in which it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastRow {
    place: usize,
    /// First and last time of the slice, in nanoseconds.
    from_nanos: i64,
    to_nanos: i64,
}

impl LastRow {
    /// There is no row.
    pub(crate) const NONE: LastRow =
        LastRow { place: usize::MAX, from_nanos: i64::MAX, to_nanos: i64::MIN };

    /// Creates the last row, whose time is `nanos`, if slices have a length of `slice_nanos`.
    pub(crate) fn new(place: usize, nanos: i64, slice_nanos: i64) -> LastRow {
        let since = nanos.checked_rem_euclid(slice_nanos).unwrap_or(0);
        let left = slice_nanos.saturating_sub(since).saturating_sub(1).max(0);
        LastRow {
            place,
            from_nanos: nanos.saturating_sub(since),
            to_nanos: nanos.saturating_add(left),
        }
    }

    /// Creates the last row, if there is only one slice.
    #[cfg(any(test, feature = "page"))]
    pub(crate) fn of_one_slice(place: usize) -> LastRow {
        LastRow { place, from_nanos: i64::MIN, to_nanos: i64::MAX }
    }

    /// Returns the place of the row, if a time lies in its slice.
    #[inline]
    pub(crate) fn place_in_one(&self, nanos: i64) -> Option<usize> {
        (self.from_nanos <= nanos && nanos <= self.to_nanos).then_some(self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_in_one_slice_with_the_times_that_have_the_same_quotient() {
        let times = [i64::MIN, i64::MIN + 1, -1001, -1000, -999, -1, 0, 1, 999, 1000, i64::MAX];
        for slice in [1, 2, 999, 1000, i64::MAX] {
            for one in times {
                let row = LastRow::new(7, one, slice);
                for other in times {
                    let is_one = one.div_euclid(slice) == other.div_euclid(slice);
                    let place = row.place_in_one(other);
                    assert_eq!(place, is_one.then_some(7), "{one} {other} {slice}");
                }
            }
        }
        assert_eq!(LastRow::NONE.place_in_one(0), None);
        assert_eq!(LastRow::of_one_slice(7).place_in_one(-1), Some(7));
    }
}
