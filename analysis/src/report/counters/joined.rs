//! Points of counters that stand for several neighbouring ones.

use super::series::{CounterPoint, CounterSeries};

/// What a point stands for that joins neighbouring points.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(crate) struct JoinedPoints {
    /// Number of joined points.
    joined: u32,
    /// Number of measured values.
    measured: f64,
    /// Last value.
    last: f64,
}

impl CounterSeries {
    /// Joins neighbouring points by twos.
    pub(super) fn halve_points(&mut self) {
        self.points = self.points.chunks(2).filter_map(joined).collect();
    }

    /// Joins the last point to the one before it, if that stands for fewer than `step` points.
    pub(super) fn join_last_point(&mut self, step: u32) {
        let Some(new) = self.points.pop() else { return };
        let is_full = |last: &CounterPoint| last.joined.is_none_or(|all| all.joined >= step);
        match self.points.pop() {
            Some(last) if is_full(&last) => {
                self.points.extend([Some(last), joined(&[new])].into_iter().flatten())
            }
            last => {
                let both: Vec<CounterPoint> = last.into_iter().chain([new]).collect();
                self.points.extend(joined(&both));
            }
        }
    }
}

/// Joins points, each of which may stand for several, to one, which has the time of the first, and
/// the mean, minimum and maximum of the measured values. Values that are not finite are left out.
fn joined(points: &[CounterPoint]) -> Option<CounterPoint> {
    let (mut joined, mut measured, mut mean, mut last) = (0_u32, 0.0, 0.0, None);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for point in points.iter().filter(|point| point.value.is_finite()) {
        let value = point.value;
        let of = point.joined.unwrap_or_else(|| JoinedPoints {
            joined: 1,
            measured: point.count.map_or(1.0, |count| count as f64),
            last: value,
        });
        joined = joined.saturating_add(of.joined);
        let weight = of.measured;
        if weight > 0.0 || last.is_none() {
            last = Some(of.last);
        }
        if weight > 0.0 {
            measured += weight;
            mean += (value - mean) * (weight / measured);
            least = least.min(point.min.unwrap_or(value));
            most = most.max(point.max.unwrap_or(value));
        }
    }
    let last = last?;
    let (value, least, most) =
        if measured > 0.0 { (mean, least, most) } else { (last, last, last) };
    Some(CounterPoint {
        ts_ns: points.first()?.ts_ns,
        value,
        // Histograms have a sum in each point.
        sum: points.iter().map(|point| point.sum).sum(),
        min: Some(least),
        max: Some(most),
        joined: Some(JoinedPoints { joined, measured, last }),
        ..CounterPoint::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::counters::CounterKind;

    #[test]
    fn points_joined_step_by_step_are_those_joined_at_once() {
        let mut series = CounterSeries::new("P", "n", CounterKind::Gauge, "", Vec::new(), "");
        let value =
            |at: i64| CounterPoint { ts_ns: at, value: (at % 5) as f64, ..CounterPoint::default() };
        for at in 0..64 {
            series.add(value(at), true);
            if at >= 16 {
                series.join_last_point(2);
            }
            if at == 15 {
                series.halve_points();
            }
        }
        series.halve_points();
        let all: Vec<CounterPoint> = (0..64).map(value).collect();
        let at_once: Vec<CounterPoint> = all.chunks(4).filter_map(joined).collect();
        assert_eq!(series.points.len(), 16);
        for (one, other) in series.points.iter().zip(&at_once) {
            assert_eq!((one.ts_ns, one.min, one.max), (other.ts_ns, other.min, other.max));
            assert_eq!(one.joined, other.joined);
            assert!((one.value - other.value).abs() < 1e-9, "{one:?} {other:?}");
        }
    }
}
