//! Value over time, in bounded memory.

/// Period of time with its values.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SeriesPoint {
    /// Time of the first value, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Last value.
    pub last: f64,
}

const MAX_POINTS: usize = 512;

/// Keeps a value over time. If there are too many points, neighbouring points are merged, keeping
/// the extremes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    points: Vec<SeriesPoint>,
    /// Minimum time between points, in nanoseconds; closer points are merged.
    step_ns: i64,
}

impl Series {
    /// Adds a value, which must not be older than the previous one.
    pub(crate) fn add(&mut self, ts_ns: i64, value: f64) {
        let point = SeriesPoint { ts_ns, min: value, max: value, last: value };
        // A value that has not changed adds no information.
        if self.points.last().is_some_and(|last| last.last == value) {
            return;
        }
        self.push(point);
        while self.points.len() > MAX_POINTS {
            self.step_ns = self.step_ns.saturating_mul(2).max(1_000_000);
            for point in std::mem::take(&mut self.points) {
                self.push(point);
            }
        }
    }

    fn push(&mut self, point: SeriesPoint) {
        let step_ns = self.step_ns;
        match self.points.last_mut() {
            Some(last) if point.ts_ns.saturating_sub(last.ts_ns) < step_ns => {
                last.min = last.min.min(point.min);
                last.max = last.max.max(point.max);
                last.last = point.last;
            }
            _ => self.points.push(point),
        }
    }

    pub(crate) fn points(&self) -> Vec<SeriesPoint> {
        self.points.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_extremes_in_few_points() {
        let mut series = Series::default();
        for at in 0..100_000i64 {
            series.add(at * 1_000, if at == 54_321 { 999.0 } else { (at % 7) as f64 });
        }
        let points = series.points();
        assert!(points.len() <= MAX_POINTS && points.len() > 10, "{}", points.len());
        assert_eq!(points.iter().map(|point| point.max).fold(0.0, f64::max), 999.0);
        assert_eq!((points[0].ts_ns, points.last().unwrap().last), (0, (99_999 % 7) as f64));
        assert!(points.is_sorted_by_key(|point| point.ts_ns));
    }

    #[test]
    fn values_at_one_time_and_at_hostile_times_are_kept_in_bounds() {
        let mut series = Series::default();
        for at in 0..2_000 {
            series.add(if at < 1_000 { 5 } else { i64::MAX }, f64::from(at));
        }
        assert!(series.points().len() <= MAX_POINTS);
    }

    #[test]
    fn a_value_that_stays_is_one_point() {
        let mut series = Series::default();
        for at in 0..10 {
            series.add(at, 3.0);
        }
        assert_eq!(series.points().len(), 1);
    }
}
