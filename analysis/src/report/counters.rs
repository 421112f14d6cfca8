//! Counters: EventCounters of any provider, and instruments of System.Diagnostics.Metrics.
//!
//! | event | what it says |
//! |---|---|
//! | `EventCounters` of any provider | a mean, or the growth of a sum, in an interval |
//! | `System.Diagnostics.Metrics` `…ValuePublished` | rate and sum, value, or quantiles of an instrument with its tags |
//! | `System.Diagnostics.Metrics` CollectionStart | how long the interval is |
//!
//! Values of instruments are texts. An empty one says that there is no value yet or no longer: it is no point.

use super::counter_series::{CounterKind, CounterPoint, CounterSeries};
use super::{Moment, Recording, Report, SCHEMA};
use crate::model::{Model, Resolved, short};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{self, CounterValue, KnownProvider, MetricKind};
use std::collections::HashMap;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// Most quantiles of a histogram's event. Each is a series with all of its tags; .NET publishes three.
const MOST_QUANTILES: usize = 16;

/// All values of all counters.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CountersReport {
    /// Version of this document.
    pub schema: u32,
    /// The session's start as nanoseconds since 1970-01-01 UTC; `None` when the stream does not say.
    pub start_unix_ns: Option<i64>,
    /// By provider, name and tags.
    pub series: Vec<CounterSeries>,
    /// Values of histograms that are left out because an event has more than 16 quantiles. Left out of JSON if there
    /// are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "super::is_zero"))]
    pub quantiles_left_out: u64,
}

/// What a series is known by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    provider: String,
    name: String,
    kind: CounterKind,
    tags: Vec<(String, String)>,
    /// Whose session it was published for: sessions side by side see each other's values.
    session: String,
}

/// Makes a [`CountersReport`]. What it keeps is bounded by series, if points are not asked for.
#[derive(Debug)]
pub struct Counters {
    series: HashMap<Key, CounterSeries>,
    keeps_points: bool,
    start_unix_ns: Option<i64>,
    has_start: bool,
    /// Seconds between publications of instruments, by session.
    intervals: HashMap<String, Interval>,
    points: u64,
    quantiles_left_out: u64,
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    last: i64,
    seconds: f64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters::new()
    }
}

impl Counters {
    /// All series with all points.
    pub fn new() -> Counters {
        Counters {
            series: HashMap::new(),
            keeps_points: true,
            start_unix_ns: None,
            has_start: false,
            intervals: HashMap::new(),
            points: 0,
            quantiles_left_out: 0,
        }
    }

    /// Series without their points: what a table shows.
    #[must_use]
    pub fn without_points(mut self) -> Counters {
        self.keeps_points = false;
        self
    }

    fn add(&mut self, key: Key, unit: &str, display_name: &str, interval: f64, point: CounterPoint) {
        let order = self.points;
        self.points = self.points.saturating_add(1);
        let keeps_points = self.keeps_points;
        let series = self.series.entry(key).or_insert_with_key(|key| {
            CounterSeries::new(&key.provider, &key.name, key.kind, unit, key.tags.clone(), display_name)
        });
        if interval > 0.0 {
            series.interval_seconds = interval;
        }
        series.add(CounterPoint { order, ..point }, keeps_points);
    }

    fn event_counter(&mut self, event: &Event<'_>, counter: &view::Counter<'_>, moment: &Moment) {
        let none = CounterPoint { ts_ns: moment.nanos, ..CounterPoint::default() };
        let (kind, point) = match counter.value {
            CounterValue::Mean { mean, count, min, max, .. } => {
                let point =
                    CounterPoint { value: mean, count: Some(count), min: Some(min), max: Some(max), ..none };
                (CounterKind::Mean, point)
            }
            CounterValue::Sum { increment } => {
                (CounterKind::Increment, CounterPoint { value: increment, ..none })
            }
            _ => return,
        };
        let key = Key {
            provider: short(event.provider()).to_owned(),
            name: counter.name.to_string(),
            kind,
            tags: tags_of(&counter.metadata.to_string(), ':'),
            session: counter.series.to_string(),
        };
        let told = counter.series.to_string();
        let told = told.strip_prefix("Interval=").and_then(|millis| millis.parse::<f64>().ok());
        let interval = told.map_or(counter.interval_seconds, |millis| millis / 1e3);
        self.add(key, &counter.display_units.to_string(), &counter.display_name.to_string(), interval, point);
    }

    fn metric(&mut self, metric: &view::Metric<'_>, moment: &Moment) {
        let number = |text: Option<nettrace_parser::Utf16<'_>>| text?.to_string().parse::<f64>().ok();
        let (rate, value) = (number(metric.rate), number(metric.value));
        let point = CounterPoint { ts_ns: moment.nanos, ..CounterPoint::default() };
        let (kind, value) = match metric.kind {
            MetricKind::Counter => (CounterKind::Counter, rate),
            // The first version has the change only.
            MetricKind::UpDownCounter => (CounterKind::UpDownCounter, value.or(rate)),
            MetricKind::Gauge => (CounterKind::Gauge, value),
            MetricKind::Histogram => (CounterKind::Histogram, None),
            _ => return,
        };
        let total = if metric.kind == MetricKind::Counter { number(metric.value) } else { None };
        let session = metric.session_id.to_string();
        let interval = self.intervals.get(&session).map_or(0.0, |interval| interval.seconds);
        let key = Key {
            provider: metric.meter.to_string(),
            name: metric.instrument.to_string(),
            kind,
            tags: tags_of(&metric.tags.to_string(), '='),
            session,
        };
        let unit = metric.unit.to_string();
        if let Some(value) = value {
            let point = CounterPoint { value, total, ..point };
            self.add(key, &unit, "", interval, point);
            return;
        }
        let Some(quantiles) = metric.quantiles.map(|quantiles| quantiles.to_string()) else { return };
        let pairs = quantiles.split(';').filter_map(|pair| {
            let (quantile, value) = pair.split_once('=')?;
            Some((quantile.trim().parse::<f64>().ok()?, value.trim().parse::<f64>().ok()?))
        });
        for (place, (quantile, value)) in pairs.enumerate() {
            if place >= MOST_QUANTILES {
                self.quantiles_left_out = self.quantiles_left_out.saturating_add(1);
                continue;
            }
            let mut key = key.clone();
            key.tags.push(("Percentile".to_owned(), percentile_text(quantile)));
            let point = CounterPoint { value, count: metric.count, sum: metric.sum, ..point };
            self.add(key, &unit, "", interval, point);
        }
    }

    fn collection_starts(&mut self, event: &Event<'_>, moment: &Moment) {
        let session = event.field("sessionId").and_then(|value| value.to_text()).unwrap_or_default();
        let known = self.intervals.get(&session).copied();
        let between = known.map(|known| moment.nanos.saturating_sub(known.last) as f64 / SECOND);
        // Collections are a little late at times.
        let seconds = between.map_or(0.0, |between| (between * 10.0).round() / 10.0);
        if self.intervals.len() < 1000 || known.is_some() {
            self.intervals.insert(session, Interval { last: moment.nanos, seconds });
        }
    }
}

impl Report for Counters {
    type Output = CountersReport;

    const NAME: &'static str = "counters";
    const ABOUT: &'static str = "EventCounters and metrics over time";
    const RECORD: &'static [Recording] = &[
        // Without an interval counters are not raised at all.
        Recording::new("System.Runtime", 0, 4).arguments("EventCounterIntervalSec=1"),
        // Nor instruments of meters that are not named. .NET 8 knows no pattern.
        Recording::new("System.Diagnostics.Metrics", 2, 4).arguments("Metrics=*").since(9),
    ];

    fn event(&mut self, event: &Event<'_>, moment: &Moment, _: &mut Model) -> bool {
        if !self.has_start {
            self.has_start = true;
            let since_start = i128::from(event.nanos().unwrap_or(0));
            let start = event.unix_nanos().map(|unix| unix.saturating_sub(since_start));
            self.start_unix_ns = start.and_then(|start| i64::try_from(start).ok());
        }
        if event.known_provider() == KnownProvider::Metrics {
            if event.name() == "CollectionStart" {
                self.collection_starts(event, moment);
                return false;
            }
            let metric = view::Metric::of(event);
            if let Some(metric) = metric.filter(|_| moment.is_selected) {
                self.metric(&metric, moment);
            }
            return metric.is_some();
        }
        let counter = view::Counter::of(event);
        if let Some(counter) = counter.filter(|_| moment.is_selected) {
            self.event_counter(event, &counter, moment);
        }
        counter.is_some()
    }

    fn finish(self, _: &Resolved<'_>) -> CountersReport {
        let mut all: Vec<(Key, CounterSeries)> = self.series.into_iter().collect();
        // Of sessions that saw the same, the one that saw most.
        all.sort_few_by(|(one, one_series), (other, other_series)| {
            fn same(key: &Key) -> impl Ord + '_ {
                (&key.provider, &key.name, &key.tags, key.kind)
            }
            same(one)
                .cmp(&same(other))
                .then_with(|| other_series.count.cmp(&one_series.count))
                .then_with(|| one.session.cmp(&other.session))
        });
        all.dedup_by(|(one, _), (other, _)| {
            one.provider == other.provider
                && one.name == other.name
                && one.tags == other.tags
                && one.kind == other.kind
        });
        let series = all.into_iter().map(|(_, series)| series).collect();
        CountersReport {
            schema: SCHEMA,
            start_unix_ns: self.start_unix_ns,
            series,
            quantiles_left_out: self.quantiles_left_out,
        }
    }
}

/// `a=1,b=2` as pairs. A comma inside a value is known by what follows, which then has no `=`.
fn tags_of(text: &str, separator: char) -> Vec<(String, String)> {
    let mut tags: Vec<(String, String)> = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        match (part.split_once(separator), tags.last_mut()) {
            (Some((key, value)), _) => tags.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(part);
            }
            (None, None) => tags.push((part.to_owned(), String::new())),
        }
    }
    tags
}

/// `50` of 0.5, `99.9` of 0.999.
fn percentile_text(quantile: f64) -> String {
    ((quantile * 1e8).round() / 1e6).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_pairs_even_if_values_have_commas() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(tags_of("kind=tëä,core=0", '='), [pair("kind", "tëä"), pair("core", "0")]);
        assert_eq!(tags_of("a=1,2,b=x=y", '='), [pair("a", "1,2"), pair("b", "x=y")]);
        assert_eq!(tags_of("alone", '='), [pair("alone", "")]);
        assert_eq!(tags_of("", '='), []);
    }

    #[test]
    fn quantiles_are_percentiles() {
        assert_eq!([0.5, 0.95, 0.57, 0.999, 1.0].map(percentile_text), ["50", "95", "57", "99.9", "100"]);
    }
}
