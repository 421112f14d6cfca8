//! Points of counters that stand for several neighbouring ones.

#[cfg(feature = "page")]
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

#[cfg(feature = "page")]
impl CounterSeries {
    /// Joins every `step` neighbouring points to one.
    pub(crate) fn join_points(&mut self, step: usize) {
        self.points = self.points.chunks(step.max(1)).filter_map(joined).collect();
    }
}

/// Joins points to one, which has the time of the first, and the mean, minimum and maximum of the
/// measured values. Values that are not finite are left out.
#[cfg(feature = "page")]
fn joined(points: &[CounterPoint]) -> Option<CounterPoint> {
    let (mut joined, mut measured, mut mean, mut last) = (0_u32, 0.0, 0.0, None);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for point in points.iter().filter(|point| point.value.is_finite()) {
        let value = point.value;
        joined = joined.saturating_add(1);
        let weight = point.count.map_or(1.0, |count| count as f64);
        if weight > 0.0 || last.is_none() {
            last = Some(value);
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
