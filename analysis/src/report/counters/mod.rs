//! Counters over time: EventCounters of any provider, and instruments of
//! System.Diagnostics.Metrics.

mod csv;
mod joined;
mod openmetrics;
mod other_interval;
mod same_names;
mod series;
mod values;

pub use other_interval::OtherInterval;
pub use series::{CounterBase, CounterKind, CounterPoint, CounterSeries};
pub(crate) use series::{Published, STARVATIONS, SeriesKey};
pub(crate) use values::CounterValues;

use super::contract::{Moment, Recording, Report, SCHEMA};
use crate::hash::HashMap;
use crate::model::{Model, Resolved};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Values of all counters.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CountersReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Start of the session in nanoseconds since 1970-01-01 UTC; `None` if the stream does not
    /// contain it.
    pub start_unix_ns: Option<i64>,
    /// Series, sorted by provider, name, process and tags.
    pub series: Vec<CounterSeries>,
    /// Intervals that sessions asked for in vain, because another session had set one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub other_intervals: Vec<OtherInterval>,
    /// Number of quantiles left out because their event has more than 16.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub quantiles_left_out: u64,
    /// Number of selected events.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
    /// Number of values for which each point stands; 0 or 1 if for one.
    #[cfg_attr(feature = "serde", serde(skip))]
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page joins points"))]
    pub(crate) step: u32,
}

/// Computes a [`CountersReport`]. Memory is bounded by the number of series only [without
/// points](Counters::without_points).
#[derive(Debug)]
pub struct Counters {
    series: HashMap<SeriesKey, CounterSeries>,
    /// Maximum number of points of all series.
    most_points: usize,
    points: usize,
    /// Number of values that are joined to a point.
    step: u32,
    values: CounterValues,
    used: u64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            series: HashMap::default(),
            most_points: usize::MAX,
            points: 0,
            step: 1,
            values: CounterValues::default(),
            used: 0,
        }
    }
}

impl Counters {
    /// Leaves out the points, which tables do not need.
    #[must_use]
    pub fn without_points(self) -> Counters {
        self.at_most_points(0)
    }

    /// Keeps at most this many points of all series, or two of each series. If there are more,
    /// neighbouring points are joined.
    #[must_use]
    pub(crate) fn at_most_points(self, most: usize) -> Counters {
        Counters { most_points: most, ..self }
    }

    /// Joins points until half of the room is free.
    fn join_points(&mut self) {
        let most = self.most_points.max(self.series.len().saturating_mul(2));
        if self.points <= most {
            return;
        }
        self.step = self.step.saturating_mul(2);
        self.series.values_mut().for_each(CounterSeries::halve_points);
        self.points = self.series.values().map(|series| series.points.len()).sum();
    }
}

impl Report for Counters {
    type Output = CountersReport;

    const NAME: &'static str = "counters";
    const ABOUT: &'static str = "EventCounters and metrics over time";
    const RECORD: &'static [Recording] = &[
        // EventCounters are emitted only if an interval is set.
        Recording::new("System.Runtime", 0, 4).arguments("EventCounterIntervalSec=1"),
        // Instruments are emitted only for named meters. .NET 8 does not support patterns.
        Recording::new("System.Diagnostics.Metrics", 2, 4).arguments("Metrics=*").since(9),
    ];

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Metrics || event.name() == "EventCounters"
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, _: &mut Model) -> bool {
        let Counters { series, points, step, .. } = self;
        let keeps_points = self.most_points > 0;
        let is_about = self.values.read(event, moment, |published| {
            let series = series.entry(published.key.clone()).or_insert_with_key(|key| {
                CounterSeries::from_key(key, &published.unit, &published.display_name)
            });
            let before = series.points.len();
            series.publish(&published, keeps_points);
            if *step > 1 {
                series.join_last_point(*step);
            }
            *points = points.saturating_add(series.points.len().saturating_sub(before));
        });
        self.join_points();
        self.used = self.used.saturating_add(u64::from(is_about && moment.is_selected));
        is_about
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> CountersReport {
        let mut all: Vec<(SeriesKey, CounterSeries)> = self.series.into_iter().collect();
        // Concurrent sessions publish equal series: keep the one with most values.
        all.sort_few_by(|(one, one_series), (other, other_series)| {
            fn same(key: &SeriesKey) -> impl Ord + '_ {
                (&key.provider, &key.name, key.process_id, &key.tags, key.kind)
            }
            same(one)
                .cmp(&same(other))
                .then_with(|| other_series.count.cmp(&one_series.count))
                .then_with(|| one.session.cmp(&other.session))
        });
        all.dedup_by(|(one, _), (other, _)| {
            one.provider == other.provider
                && one.name == other.name
                && one.process_id == other.process_id
                && one.tags == other.tags
                && one.kind == other.kind
        });
        let mut series: Vec<CounterSeries> = all.into_iter().map(|(_, series)| series).collect();
        let first_process = series.first().and_then(|series| series.process_id);
        if series.iter().any(|series| series.process_id != first_process) {
            series.iter_mut().for_each(CounterSeries::add_process_tag);
        }
        CountersReport {
            schema: SCHEMA,
            start_unix_ns: resolved.model().start_unix_ns(),
            series,
            other_intervals: self.values.take_other_intervals(),
            quantiles_left_out: self.values.quantiles_left_out(),
            used: self.used,
            step: self.step,
        }
    }
}
