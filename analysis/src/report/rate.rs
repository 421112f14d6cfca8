//! Number of occurrences over time.

/// Maximum number of intervals; beyond it, neighbouring intervals are merged in pairs.
const MAX_INTERVALS: usize = 120;
/// Initial length of an interval, in nanoseconds: 1 ms.
const FIRST_WIDTH: i64 = 1_000_000;

/// Counts occurrences in intervals of equal length, which doubles as the trace grows.
#[derive(Debug, Clone)]
pub(crate) struct RateCounter {
    width: i64,
    counts: Vec<u64>,
    /// Times of the first occurrences, used instead of `counts` while there are few: there may be a
    /// counter for each event of a trace, and intervals need more memory.
    few: [i64; FEW],
    few_count: usize,
}

/// Maximum number of occurrences whose times are stored.
const FEW: usize = 4;

impl Default for RateCounter {
    fn default() -> RateCounter {
        RateCounter { width: FIRST_WIDTH, counts: Vec::new(), few: [0; FEW], few_count: 0 }
    }
}

impl RateCounter {
    /// Counts an occurrence. `nanos`: nanoseconds since the session's start; earlier times count as
    /// the start.
    pub(crate) fn add(&mut self, nanos: i64) {
        if self.counts.is_empty() {
            if let Some(place) = self.few.get_mut(self.few_count) {
                *place = nanos;
                self.few_count = self.few_count.saturating_add(1);
                return;
            }
            self.spread();
        }
        self.put(nanos);
    }

    fn few(&self) -> impl Iterator<Item = i64> + use<> {
        self.few.into_iter().take(self.few_count)
    }

    /// Moves the stored times into intervals.
    fn spread(&mut self) {
        let few = self.few();
        self.few_count = 0;
        few.for_each(|nanos| self.put(nanos));
    }

    fn put(&mut self, nanos: i64) {
        let nanos = nanos.max(0);
        loop {
            let at =
                usize::try_from(nanos.checked_div(self.width).unwrap_or(0)).unwrap_or(usize::MAX);
            if at < MAX_INTERVALS {
                if at >= self.counts.len() {
                    self.counts.resize(at.saturating_add(1), 0);
                }
                if let Some(count) = self.counts.get_mut(at) {
                    *count = count.saturating_add(1);
                }
                return;
            }
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let sum = |pair: &[u64]| pair.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        self.counts = self.counts.chunks(2).map(sum).collect();
    }

    pub(crate) fn merge(&mut self, other: &RateCounter) {
        if other.counts.is_empty() {
            return other.few().for_each(|nanos| self.add(nanos));
        }
        self.spread();
        let mut other = other.clone();
        while self.width < other.width {
            self.halve();
        }
        while other.width < self.width {
            other.halve();
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, count) in self.counts.iter_mut().zip(other.counts) {
            *mine = mine.saturating_add(count);
        }
    }

    pub(crate) fn rate(mut self) -> Rate {
        self.spread();
        Rate { stretch_ns: self.width, counts: self.counts }
    }
}

/// Number of occurrences in each interval since the session's start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Rate {
    /// Length of an interval, in nanoseconds.
    pub stretch_ns: i64,
    /// Number of occurrences in each interval; the first interval begins at the session's start. At
    /// most 120 intervals.
    pub counts: Vec<u64>,
}

impl Rate {
    /// Returns the highest number of occurrences per second. Intervals shorter than a second are
    /// added up to one; longer intervals give their mean.
    pub fn peak_per_second(&self) -> f64 {
        if self.stretch_ns <= 0 {
            return 0.0;
        }
        let width = self.stretch_ns as f64;
        let (mut together, mut length) = (1_usize, width);
        while length < 1e9 && together < self.counts.len() {
            together = together.saturating_add(1);
            length += width;
        }
        let sum =
            |counts: &[u64]| counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let most = self.counts.windows(together).map(sum).max().unwrap_or(0);
        most as f64 * 1e9 / length.max(1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_of_a_whole_second_and_not_of_a_moment() {
        let peak = |stretch_ns, counts: &[u64]| {
            Rate { stretch_ns, counts: counts.to_vec() }.peak_per_second()
        };
        assert_eq!(peak(100_000_000, &[0, 20, 0, 5]), 25.0, "all of it is within a second");
        assert_eq!(peak(500_000_000, &[0, 20, 10, 5, 20]), 30.0);
        assert_eq!(peak(2_000_000_000, &[10, 40]), 20.0);
        assert_eq!(peak(1_000_000, &[]), 0.0);
        assert_eq!(Rate::default().peak_per_second(), 0.0);
    }

    #[test]
    fn stretches_grow_with_the_trace_and_nothing_is_lost() {
        let mut counter = RateCounter::default();
        [-5, 0, 999_999, 1_000_000, 119_000_000].into_iter().for_each(|nanos| counter.add(nanos));
        assert_eq!((counter.counts.len(), counter.width), (120, 1_000_000));
        counter.add(120_000_000);
        assert_eq!((counter.counts.len(), counter.width), (61, 2_000_000));
        counter.add(i64::MAX);
        let mut other = RateCounter::default();
        other.add(5);
        other.merge(&counter);
        other.add(5);
        assert_eq!(other.rate().counts.iter().sum::<u64>(), 9);
        let rate = counter.rate();
        assert_eq!(rate.counts.iter().sum::<u64>(), 7);
        assert!(rate.counts.len() <= MAX_INTERVALS);
        assert!(rate.peak_per_second() > 0.0);
    }
}
