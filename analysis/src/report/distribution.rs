//! Distributions of a quantity: count, sum, extremes, percentiles.

use crate::document::nearest_rank;

/// Binary logarithm of the number of buckets per power of two.
const PARTS_LOG2: u32 = 7;

/// Number of buckets per power of two.
const PARTS: usize = 1 << PARTS_LOG2;

/// Maximum number of values that are kept for exact percentiles.
const FEW: usize = 128;

/// Counts values in buckets whose width is at most 1/128 of their lower bound. Memory is bounded,
/// however many values there are, and a percentile is wrong by at most 0.4 %.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distribution {
    /// Number of values in each bucket, once there are more than [`FEW`].
    buckets: Buckets,
    /// All values, as long as there are at most [`FEW`].
    few: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// Numbers of values by bucket: the buckets of each power of two lie together, and only the powers
/// that values have take memory. A bucket is found without hashing.
#[derive(Debug, Clone, Default)]
struct Buckets(Vec<Option<Box<[u64; PARTS]>>>);

impl Buckets {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn put(&mut self, bucket: u32, count: u64) {
        let (power, part) = ((bucket >> PARTS_LOG2) as usize, bucket as usize % PARTS);
        if self.0.len() <= power {
            self.0.resize_with(power.saturating_add(1), || None);
        }
        let Some(power) = self.0.get_mut(power) else { return };
        let parts = power.get_or_insert_with(|| Box::new([0; PARTS]));
        if let Some(sum) = parts.get_mut(part) {
            *sum = sum.saturating_add(count);
        }
    }

    /// Returns the buckets that have values, and their numbers, the lowest first.
    fn rows(&self) -> impl Iterator<Item = (u32, u64)> {
        let powers = (0_u32..).zip(&self.0);
        let powers = powers.filter_map(|(power, parts)| Some((power, parts.as_deref()?)));
        let parts = powers.flat_map(|(power, parts)| {
            let first = power << PARTS_LOG2;
            parts.iter().zip(first..).map(|(count, bucket)| (bucket, *count))
        });
        parts.filter(|(_, count)| *count > 0)
    }
}

impl Distribution {
    pub(crate) fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(u128::from(value));
        self.keep(value);
    }

    /// Keeps a value, in its bucket if there are many.
    fn keep(&mut self, value: u64) {
        if self.buckets.is_empty() && self.few.len() < FEW {
            return self.few.push(value);
        }
        if !self.few.is_empty() {
            self.spread_few();
        }
        self.buckets.put(bucket_of(value), 1);
    }

    pub(crate) fn merge(&mut self, other: &Distribution) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        other.few.iter().for_each(|value| self.keep(*value));
        other.buckets.rows().for_each(|(bucket, count)| self.buckets.put(bucket, count));
        if !self.buckets.is_empty() {
            self.spread_few();
        }
    }

    /// Moves the values that were kept into their buckets.
    fn spread_few(&mut self) {
        for few in std::mem::take(&mut self.few) {
            self.buckets.put(bucket_of(few), 1);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn sum(&self) -> u64 {
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }

    /// Returns the smallest values that at least so many percent of all values do not exceed.
    fn percentiles<const COUNT: usize>(&self, percents: [u64; COUNT]) -> [u64; COUNT] {
        let mut few = self.few.clone();
        few.sort_unstable();
        percents.map(|percent| {
            let rank = nearest_rank(self.count, percent);
            let place = usize::try_from(rank.saturating_sub(1)).unwrap_or(usize::MAX);
            if let Some(value) = few.get(place) {
                return *value;
            }
            let mut seen = 0_u64;
            let bucket = self.buckets.rows().find(|(_, count)| {
                seen = seen.saturating_add(*count);
                seen >= rank
            });
            bucket.map_or(self.max, |(bucket, _)| middle_of(bucket).clamp(self.min, self.max))
        })
    }

    pub(crate) fn spread(&self) -> Spread {
        let [p50_ns, p90_ns, p95_ns, p99_ns] = self.percentiles([50, 90, 95, 99]);
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        Spread {
            count: self.count,
            total_ns: self.sum(),
            mean_ns: u64::try_from(mean).unwrap_or(u64::MAX),
            min_ns: self.min,
            p50_ns,
            p90_ns,
            p95_ns,
            p99_ns,
            max_ns: self.max,
        }
    }
}

/// Distribution of durations, in nanoseconds. Percentiles are exact for up to 128 durations, and
/// within 0.4 % for more; the other members are always exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Spread {
    /// Number of durations.
    pub count: u64,
    /// Sum, in nanoseconds.
    pub total_ns: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: u64,
    /// Shortest duration, in nanoseconds.
    pub min_ns: u64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 90th percentile, in nanoseconds.
    pub p90_ns: u64,
    /// 95th percentile, in nanoseconds.
    pub p95_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// Longest duration, in nanoseconds.
    pub max_ns: u64,
}

/// Returns the bucket of a value. Values below 128 have one bucket each; above, each power of two
/// has 128 buckets.
fn bucket_of(value: u64) -> u32 {
    let power = value.checked_ilog2().unwrap_or(0).saturating_sub(PARTS_LOG2);
    let part = u32::try_from(value >> power).unwrap_or(u32::MAX);
    (power << PARTS_LOG2).saturating_add(part)
}

fn middle_of(bucket: u32) -> u64 {
    let first_power = 1_u32 << PARTS_LOG2;
    if bucket < first_power << 1 {
        return u64::from(bucket);
    }
    let power = (bucket >> PARTS_LOG2).saturating_sub(1);
    let part = u64::from(bucket.saturating_sub(power << PARTS_LOG2));
    (part << power).saturating_add((1 << power) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_exact_and_percentiles_are_near() {
        let mut distribution = Distribution::default();
        (1..=1000_u64).for_each(|value| distribution.add(value * 1_000_003));
        let spread = distribution.spread();
        assert_eq!((spread.count, spread.min_ns, spread.max_ns), (1000, 1_000_003, 1_000_003_000));
        assert_eq!(spread.total_ns, 500_500 * 1_000_003);
        let reported = [spread.p50_ns, spread.p90_ns, spread.p95_ns, spread.p99_ns];
        for (reported, true_value) in reported.into_iter().zip([500_u64, 900, 950, 990]) {
            let true_value = true_value * 1_000_003;
            assert!(reported.abs_diff(true_value) * 250 <= true_value, "{reported} {true_value}");
        }
    }

    #[test]
    fn percentiles_of_few_values_are_values_of_theirs() {
        let mut one = Distribution::default();
        [290_000_001, 250_000_002].into_iter().for_each(|value| one.add(value));
        let mut other = Distribution::default();
        [230_000_003, 200_000_004].into_iter().for_each(|value| other.add(value));
        one.merge(&other);
        let spread = one.spread();
        assert_eq!((spread.p50_ns, spread.p90_ns), (230_000_003, 290_000_001));
        (0..FEW as u64).for_each(|value| one.add(value));
        assert!(one.few.is_empty(), "they are many now");
    }

    #[test]
    fn small_values_are_exact_and_the_largest_has_a_bucket() {
        let mut distribution = Distribution::default();
        [0, 3, 200, u64::MAX].into_iter().for_each(|value| distribution.add(value));
        let spread = distribution.spread();
        assert_eq!((spread.p50_ns, spread.min_ns, spread.max_ns), (3, 0, u64::MAX));
        assert_eq!(spread.total_ns, u64::MAX);
        for value in [0, 1, 127, 128, 129, 255, 256, 1 << 40, u64::MAX >> 1] {
            let middle = middle_of(bucket_of(value));
            assert!(middle.abs_diff(value) <= value / 256, "{value} {middle}");
        }
    }

    #[test]
    fn two_are_merged_as_if_they_were_one() {
        let (mut one, mut other, mut both) =
            <(Distribution, Distribution, Distribution)>::default();
        for value in 0..500 {
            if value % 3 == 0 { &mut one } else { &mut other }.add(value * value);
            both.add(value * value);
        }
        one.merge(&other);
        one.merge(&Distribution::default());
        assert_eq!(one.spread(), both.spread());
    }

    #[test]
    fn the_spread_of_no_values_is_zeros() {
        assert_eq!(Distribution::default().spread(), Spread::default());
    }
}
