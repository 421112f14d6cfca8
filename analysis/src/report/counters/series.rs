//! Values of one counter over time.

use super::joined::JoinedPoints;

/// Maximum number of points of [`CounterSeries::shape`].
const MAX_SHAPE_POINTS: usize = 40;
/// Initial width of a point of a shape, in nanoseconds.
const FIRST_WIDTH: i64 = 100_000_000;

/// Provider and name of a series that is counted from events, as .NET has no such counter: workers
/// that the thread pool added because others were blocked.
pub(crate) const STARVATIONS: (&str, &str) =
    ("Microsoft-Windows-DotNETRuntime", "threadpool-starvation-adjustments");

/// Meaning of a counter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CounterKind {
    /// EventCounter whose value is the mean in an interval.
    Mean,
    /// EventCounter whose value is the growth of a sum in an interval.
    Increment,
    /// Instrument that only grows; its value is the growth in an interval.
    Counter,
    /// Instrument that grows and shrinks by what the program adds. The value is the sum of what was
    /// added since the metrics session began: the runtime does not tell the level before.
    /// [`CounterSeries::base`] tells whether that is certain.
    UpDownCounter,
    /// Instrument that grows and shrinks and that the runtime reads; its value is its level.
    ObservableUpDownCounter,
    /// Instrument with a current value.
    Gauge,
    /// Instrument with a distribution; the value is a quantile of an interval, which the tag
    /// `Percentile` names.
    Histogram,
}

impl CounterKind {
    /// Returns whether values are growth in an interval.
    pub fn is_rate(self) -> bool {
        matches!(self, CounterKind::Increment | CounterKind::Counter)
    }

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CounterKind::Mean => "mean",
            CounterKind::Increment => "increment",
            CounterKind::Counter => "counter",
            CounterKind::UpDownCounter => "up_down_counter",
            CounterKind::ObservableUpDownCounter => "observable_up_down_counter",
            CounterKind::Gauge => "gauge",
            CounterKind::Histogram => "histogram",
        }
    }
}

/// Level from which the values of an instrument are counted that grows and shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CounterBase {
    /// The level, which is unknown, that the instrument had when the metrics session began.
    SessionStart,
    /// That level, or 0 if the instrument is an observable one: the trace began after the metrics
    /// session, whose start tells which.
    Unknown,
}

/// Values of one counter with one set of tags.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CounterSeries {
    /// Provider of the EventCounter, or meter.
    pub provider: String,
    /// Name of the counter or instrument.
    pub name: String,
    /// Display name; empty if the counter has none.
    pub display_name: String,
    /// Meaning of the values.
    pub kind: CounterKind,
    /// Up-down counters: what their values are counted from; `None` for all other kinds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub base: Option<CounterBase>,
    /// Unit of the values; may be empty.
    pub unit: String,
    /// OS id of the process; `None` if the trace does not contain it. If several processes have
    /// counters, the first tag, `process_id`, has it too.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub process_id: Option<u64>,
    /// Names and values of tags. Further instruments with the name of another one have the tag
    /// `instrument` with the value `#2` and so on, in the order of first publication.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_map"))]
    pub tags: Vec<(String, String)>,
    /// Time between publications in seconds; `None` if the trace does not contain it.
    pub interval_seconds: Option<f64>,
    /// Number of published values.
    pub count: u64,
    /// Number of measured values: a mean or a histogram publishes one value for all that were
    /// measured in an interval, other counters one for each.
    pub values: u64,
    /// Smallest value; for means, the smallest measured value.
    pub min: f64,
    /// Mean of the values; means and quantiles are weighted by the number of values in the
    /// interval.
    pub mean: f64,
    /// Largest value; for means, the largest measured value.
    pub max: f64,
    /// Last value.
    pub last: f64,
    /// Counters and increments: growth in the whole trace.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub total: Option<f64>,
    /// Histograms: sum of all measured values.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sum: Option<f64>,
    /// Values in time order; empty unless requested.
    pub points: Vec<CounterPoint>,
    /// Sums and counts in intervals of time.
    #[cfg_attr(feature = "serde", serde(skip))]
    shape: Shape,
    /// Cumulative sum at the last point.
    #[cfg_attr(feature = "serde", serde(skip))]
    cumulative: f64,
}

/// Published value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CounterPoint {
    /// Time of publication, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// Value; in JSON `null` if it is not finite.
    pub value: f64,
    /// Counters and increments: cumulative sum since the creation of the instrument, or since the
    /// start of the trace if the events do not contain the former.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub total: Option<f64>,
    /// Means and histograms: number of values in the interval.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub count: Option<i64>,
    /// Histograms: sum of the values in the interval.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sum: Option<f64>,
    /// Means: smallest value in the interval.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub min: Option<f64>,
    /// Means: largest value in the interval.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub max: Option<f64>,
    /// Counters and increments: growth per second since the last publication; `None` if the stream
    /// does not tell the time between.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub rate_per_second: Option<f64>,
    /// Whether the value is what was added in the interval, as .NET 7 publishes up-down counters.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) is_change: bool,
    /// Rank among all points of all series.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) order: u64,
    /// What the point stands for, if it joins neighbouring ones.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub(crate) joined: Option<JoinedPoints>,
}

/// Key of a series.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SeriesKey {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) kind: CounterKind,
    /// OS id of the process; `None` if the stream does not contain it.
    pub(crate) process_id: Option<u64>,
    pub(crate) tags: Vec<(String, String)>,
    /// Session for which the values are published. Concurrent sessions see each other's values.
    pub(crate) session: String,
}

/// Value that a process publishes, with its series.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) key: SeriesKey,
    pub(crate) unit: String,
    /// Display name; empty if the counter has none.
    pub(crate) display_name: String,
    /// Time between publications in seconds; 0 while unknown.
    pub(crate) interval_seconds: f64,
    /// Up-down counters: whether the instrument is an observable one; `None` if the stream has not
    /// told so far.
    pub(crate) is_observable: Option<bool>,
    pub(crate) point: CounterPoint,
}

#[cfg(feature = "serde")]
fn as_map<S: serde::Serializer>(
    tags: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tags.iter().map(|(key, value)| (key, value)))
}

impl CounterSeries {
    pub(crate) fn new(
        provider: &str,
        name: &str,
        kind: CounterKind,
        unit: &str,
        tags: Vec<(String, String)>,
        display_name: &str,
    ) -> CounterSeries {
        CounterSeries {
            provider: provider.to_owned(),
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            kind,
            base: (kind == CounterKind::UpDownCounter).then_some(CounterBase::Unknown),
            unit: unit.to_owned(),
            process_id: None,
            tags,
            interval_seconds: None,
            count: 0,
            values: 0,
            min: 0.0,
            mean: 0.0,
            max: 0.0,
            last: 0.0,
            points: Vec::new(),
            total: kind.is_rate().then_some(0.0),
            sum: None,
            shape: Shape::default(),
            cumulative: 0.0,
        }
    }

    /// Returns whether the total is of interest rather than its growth: .NET publishes the number
    /// of threads of the pool and the length of its queue as counters that only grow.
    pub fn total_is_level(&self) -> bool {
        const LEVELS: [(&str, &str); 3] = [
            ("System.Runtime", "dotnet.thread_pool.thread.count"),
            ("System.Runtime", "dotnet.thread_pool.queue.length"),
            (STARVATIONS.0, STARVATIONS.1),
        ];
        self.kind.is_rate() && LEVELS.contains(&(&self.provider, &self.name))
    }

    /// Returns the value of a point that people want to see: growth per second for growing
    /// counters, else the value.
    pub fn shown(&self, point: &CounterPoint) -> f64 {
        let level = point.total.filter(|_| self.total_is_level());
        level.or(point.rate_per_second).unwrap_or(point.value)
    }

    /// Returns the percentile of a histogram's series, such as 99.9; `None` for other counters.
    pub fn percentile(&self) -> Option<f64> {
        let (_, value) = self.tags.last().filter(|_| self.kind == CounterKind::Histogram)?;
        value.parse().ok()
    }

    /// Returns the tags without the percentile of a histogram, which is the last tag.
    pub fn tags_without_percentile(&self) -> &[(String, String)] {
        match (self.kind, self.tags.as_slice()) {
            (CounterKind::Histogram, [tags @ .., _]) => tags,
            (_, tags) => tags,
        }
    }

    /// Creates a series without values for a key.
    pub(crate) fn from_key(key: &SeriesKey, unit: &str, display_name: &str) -> CounterSeries {
        let tags = key.tags.clone();
        let of = CounterSeries::new(&key.provider, &key.name, key.kind, unit, tags, display_name);
        CounterSeries { process_id: key.process_id, ..of }
    }

    /// Takes over what an event tells about a series, and its point.
    pub(crate) fn publish(&mut self, published: &Published, keeps_point: bool) {
        if published.interval_seconds > 0.0 {
            self.interval_seconds = Some(published.interval_seconds);
        }
        if let Some(is_observable) = published.is_observable {
            (self.kind, self.base) = match is_observable {
                true => (CounterKind::ObservableUpDownCounter, None),
                false => (CounterKind::UpDownCounter, Some(CounterBase::SessionStart)),
            };
        }
        self.add(published.point, keeps_point);
    }

    /// Adds the process id as the first tag.
    pub(crate) fn add_process_tag(&mut self) {
        let id = self.process_id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        self.tags.insert(0, ("process_id".to_owned(), id));
    }

    pub(crate) fn with_points(mut self, points: Vec<CounterPoint>) -> CounterSeries {
        self.points = points;
        self
    }

    pub(crate) fn add(&mut self, mut point: CounterPoint, keeps_point: bool) {
        if point.is_change {
            self.cumulative += point.value;
            point.value = self.cumulative;
        }
        let value = point.value;
        if self.kind.is_rate() {
            self.cumulative = point.total.unwrap_or(self.cumulative + value);
            point.total = Some(self.cumulative);
            self.total = Some(self.total.unwrap_or(0.0) + value);
        }
        if let Some(sum) = point.sum {
            self.sum = Some(self.sum.unwrap_or(0.0) + sum);
        }
        self.count = self.count.saturating_add(1);
        let measured = point.count.map_or(1, |count| u64::try_from(count).unwrap_or(0));
        if measured > 0 {
            let is_first = self.values == 0;
            self.values = self.values.saturating_add(measured);
            let (least, most) = (point.min.unwrap_or(value), point.max.unwrap_or(value));
            self.min = if is_first { least } else { self.min.min(least) };
            self.max = if is_first { most } else { self.max.max(most) };
            // Compared first, because the difference of two infinities is not a number.
            if is_first {
                self.mean = value;
            } else if self.mean != value {
                self.mean += (value - self.mean) * (measured as f64 / self.values as f64);
            }
            self.last = value;
        }
        self.shape.add(point.ts_ns, value);
        if keeps_point {
            self.points.push(point);
        }
    }

    /// Returns the means of at most 40 equal intervals of time, without empty ones.
    pub fn shape(&self) -> Vec<f64> {
        let mean = |(sum, count): &(f64, u32)| (*count > 0).then(|| sum / f64::from(*count));
        self.shape.stretches.iter().filter_map(mean).collect()
    }

    /// Returns the tags as in `a=1,b=2`.
    pub fn tags_text(&self, separator: &str) -> String {
        let pairs: Vec<String> =
            self.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(separator)
    }
}

/// Sums and counts of values in intervals of equal length, which doubles as the trace grows.
#[derive(Debug, Clone, PartialEq)]
struct Shape {
    width: i64,
    stretches: Vec<(f64, u32)>,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { width: FIRST_WIDTH, stretches: Vec::new() }
    }
}

impl Shape {
    fn add(&mut self, nanos: i64, value: f64) {
        let nanos = nanos.max(0);
        loop {
            let at =
                usize::try_from(nanos.checked_div(self.width).unwrap_or(0)).unwrap_or(usize::MAX);
            if at < MAX_SHAPE_POINTS {
                if at >= self.stretches.len() {
                    self.stretches.resize(at.saturating_add(1), (0.0, 0));
                }
                if let Some((sum, count)) = self.stretches.get_mut(at) {
                    *sum += value;
                    *count = count.saturating_add(1);
                }
                return;
            }
            self.width = self.width.saturating_mul(2);
            let joined = |pair: &[(f64, u32)]| {
                pair.iter()
                    .fold((0.0, 0_u32), |all, part| (all.0 + part.0, all.1.saturating_add(part.1)))
            };
            self.stretches = self.stretches.chunks(2).map(joined).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[(i64, f64)]) -> CounterSeries {
        let mut series = CounterSeries::new("P", "n", CounterKind::Counter, "", Vec::new(), "");
        for (ts_ns, value) in values {
            series.add(
                CounterPoint { ts_ns: *ts_ns, value: *value, ..CounterPoint::default() },
                true,
            );
        }
        series
    }

    #[test]
    fn a_series_knows_its_extremes_mean_last_and_sum() {
        let series = series(&[(1_000_000_000, 4.0), (2_000_000_000, -2.0), (3_000_000_000, 1.0)]);
        assert_eq!((series.min, series.mean, series.max, series.last), (-2.0, 1.0, 4.0, 1.0));
        assert_eq!(
            series.points.iter().map(|point| point.total.unwrap()).collect::<Vec<_>>(),
            [4.0, 2.0, 3.0]
        );
    }

    #[test]
    fn means_of_intervals_weigh_what_was_measured_in_them() {
        let mut series = CounterSeries::new("P", "n", CounterKind::Mean, "", Vec::new(), "");
        for (value, count, min, max) in
            [(2.0, 3, 1.0, 3.0), (0.0, 0, 0.0, 0.0), (10.0, 1, 10.0, 10.0)]
        {
            let (count, min, max) = (Some(count), Some(min), Some(max));
            series.add(CounterPoint { value, count, min, max, ..CounterPoint::default() }, true);
        }
        assert_eq!((series.values, series.min, series.mean, series.max), (4, 1.0, 4.0, 10.0));
        assert_eq!(series.count, 3);
        assert_eq!((series.last, series.total, series.points.len()), (10.0, None, 3));
    }

    #[test]
    fn a_shape_stays_short() {
        let values: Vec<(i64, f64)> =
            (0..10_000).map(|at| (at * 1_000_000_000, at as f64)).collect();
        let shape = series(&values).shape();
        assert!((20..=MAX_SHAPE_POINTS).contains(&shape.len()), "{}", shape.len());
        assert!(shape.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(series(&[(i64::MAX, 1.0)]).shape(), [1.0]);
        assert!(series(&[]).shape().is_empty());
    }
}
