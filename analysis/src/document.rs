//! Parts that all JSON documents share: version, percentages, serialization of members.

/// Version of the documents, which is incremented when a member is removed or changes its meaning.
/// New members do not increment the version.
pub const SCHEMA: u32 = 1;

/// Returns a percentile of sorted values by nearest rank: the smallest value that `percent` of the
/// values do not exceed; 0 if there are none.
pub(crate) fn percentile<T: Copy + Default>(sorted: &[T], percent: u64) -> T {
    let rank = usize::try_from(nearest_rank(sorted.len() as u64, percent)).unwrap_or(usize::MAX);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Returns `percent` of `count`, rounded up; at least 1.
pub(crate) fn nearest_rank(count: u64, percent: u64) -> u64 {
    count.saturating_mul(percent).div_ceil(100).max(1)
}

/// Returns `part` as a percentage of `whole`; 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Serializes shared texts, and leaves out counts of 0 and flags that are false.
#[cfg(feature = "serde")]
mod members {
    use serde::Serializer;
    use std::ops::Deref;

    pub(crate) fn as_text<T, S>(text: &T, to: S) -> Result<S::Ok, S::Error>
    where
        T: Deref<Target: AsRef<str>>,
        S: Serializer,
    {
        to.serialize_str((**text).as_ref())
    }

    pub(crate) fn as_texts<T, S>(texts: &[T], to: S) -> Result<S::Ok, S::Error>
    where
        T: Deref<Target: AsRef<str>>,
        S: Serializer,
    {
        to.collect_seq(texts.iter().map(|text| (**text).as_ref()))
    }

    pub(crate) fn is_zero(count: &u64) -> bool {
        *count == 0
    }

    pub(crate) fn is_false(flag: &bool) -> bool {
        !*flag
    }
}
#[cfg(feature = "serde")]
pub(crate) use members::{as_text, as_texts, is_false, is_zero};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occur() {
        let values: Vec<u64> = (1..=10).collect();
        assert_eq!(
            [0, 50, 90, 99, 100].map(|percent| percentile(&values, percent)),
            [1, 5, 9, 10, 10]
        );
        assert_eq!((percentile::<u64>(&[], 50), percentile(&[7.5], 1)), (0, 7.5));
    }
}
