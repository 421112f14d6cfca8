//! Values of counters in the order in which a process publishes them.
//!
//! | event | meaning |
//! |---|---|
//! | `EventCounters` of any provider | a mean, or the growth of a sum, in an interval |
//! | `System.Diagnostics.Metrics` `…ValuePublished` | rate and sum, value, or quantiles of an instrument with its tags |
//! | `System.Diagnostics.Metrics` CollectionStart | length of the interval |
//!
//! Values of instruments are texts. An empty text means that there is no value now, and gives no
//! point.
//!
//! A meter and an instrument may have tags of their own, which come once, in
//! BeginInstrumentReporting, and which all series of the instrument get. `same_names.rs` tells
//! instruments with one name and equal tags apart.

use super::OtherInterval;
use super::same_names::{Publication, SameNames};
use super::series::{CounterKind, CounterPoint, Published, SeriesKey};
use crate::hash::HashMap;
use crate::model::{Moment, short};
use nettrace_export::tags_of;
use nettrace_parser::view::{self, CounterValue, KnownProvider, MetricKind, View};
use nettrace_parser::{DateTime, Event, Value};
use std::collections::BTreeSet;

/// Nanoseconds per second.
const SECOND: f64 = 1e9;

/// Maximum number of instruments whose own tags are kept.
const MAX_INSTRUMENTS: usize = 1_000;

/// Maximum number of intervals asked for in vain that are kept.
const MAX_OTHER_INTERVALS: usize = 100;

/// Maximum number of quantiles of a histogram event: each is a series with all tags, and .NET
/// publishes three.
const MAX_QUANTILES: usize = 16;

type Tags = Vec<(String, String)>;

/// Reads the values of all counters from the events of a trace.
#[derive(Debug, Default)]
pub(crate) struct CounterValues {
    /// Times of publications, by process and session.
    intervals: HashMap<(Option<u64>, String), PublicationInterval>,
    same_names: SameNames,
    /// Tags of instruments and their meters, by process and the instrument's id.
    own_tags: HashMap<(Option<u64>, i64), Tags>,
    /// Whether an up-down counter is an observable one, by process, meter and name.
    observable: HashMap<(Option<u64>, String, String), bool>,
    other_intervals: BTreeSet<OtherInterval>,
    /// Interval that the session requested, in seconds, which holds until the second publication.
    requested_seconds: f64,
    points: u64,
    quantiles_left_out: u64,
    /// Histogram of the last event, if that had no quantiles.
    idle: Option<Published>,
}

#[derive(Debug, Clone, Copy)]
struct PublicationInterval {
    last: i64,
    /// Time between publications, rounded to a tenth of a second.
    seconds: f64,
    /// Exact time between the last two publications.
    exact_seconds: f64,
    /// Number of publications so far.
    collections: u64,
    /// Smallest interval in seconds that the publications themselves name: late ones name a multiple.
    named_seconds: f64,
}

impl CounterValues {
    /// Sets the interval that the session requested, which the stream does not tell before the
    /// second publication.
    pub(crate) fn expect_interval(&mut self, seconds: f64) {
        self.requested_seconds = seconds;
    }

    /// Returns the number of quantiles left out because their event has more than 16.
    pub(crate) fn quantiles_left_out(&self) -> u64 {
        self.quantiles_left_out
    }

    /// Returns the intervals that sessions asked for in vain.
    pub(crate) fn take_other_intervals(&mut self) -> Vec<OtherInterval> {
        std::mem::take(&mut self.other_intervals).into_iter().collect()
    }

    /// Returns the interval in seconds that the publications for a session name, once there are three.
    pub(crate) fn named_interval(&self, process_id: Option<u64>, session: &str) -> Option<f64> {
        let interval = self.intervals.get(&(process_id, session.to_owned()))?;
        (interval.collections >= 3 && interval.named_seconds.is_finite())
            .then_some(interval.named_seconds)
    }

    /// Returns the histogram of the last event if it had no value in the interval. Its key has no
    /// `Percentile`, its point no value.
    pub(crate) fn take_idle(&mut self) -> Option<Published> {
        self.idle.take()
    }

    /// Passes on the values of an event, if its moment is selected. Returns whether the event is
    /// about a counter.
    pub(crate) fn read(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        mut pass: impl FnMut(Published),
    ) -> bool {
        if event.known_provider() == KnownProvider::Metrics {
            if event.name() == "CollectionStart" {
                self.collection_starts(event, moment);
                return false;
            }
            if event.name() == "BeginInstrumentReporting" {
                self.instrument_begins(event);
                return false;
            }
            if let Some(other) = OtherInterval::from_event(event) {
                if self.other_intervals.len() < MAX_OTHER_INTERVALS {
                    self.other_intervals.insert(other);
                }
                return false;
            }
            let metric = view::Metric::from_event(event);
            if let Some(metric) = metric.filter(|_| moment.is_selected) {
                self.metric(event.process_id(), &metric, moment, &mut pass);
            }
            return metric.is_some();
        }
        let counter = view::Counter::from_event(event);
        if let Some(counter) = counter.filter(|_| moment.is_selected)
            && let Some(published) = self.event_counter(event, &counter, moment)
        {
            pass(published);
        }
        counter.is_some()
    }

    fn event_counter(
        &mut self,
        event: &Event<'_>,
        counter: &view::Counter<'_>,
        moment: &Moment,
    ) -> Option<Published> {
        let none = self.point(moment);
        let (kind, point) = match counter.value {
            CounterValue::Mean { mean, count, min, max, .. } => {
                let point = CounterPoint {
                    value: mean,
                    count: Some(count),
                    min: Some(min),
                    max: Some(max),
                    ..none
                };
                (CounterKind::Mean, point)
            }
            CounterValue::Sum { increment } => {
                let rate_per_second =
                    counter.interval_seconds.and_then(|seconds| per_second(increment, seconds));
                let point = CounterPoint { value: increment, rate_per_second, ..none };
                (CounterKind::Increment, point)
            }
            _ => return None,
        };
        let key = SeriesKey {
            provider: short(event.provider()).to_owned(),
            name: counter.name.to_string(),
            kind,
            process_id: event.process_id(),
            tags: tags_of(&counter.metadata.to_string(), ':'),
            session: counter.series.to_string(),
        };
        Some(Published {
            key,
            unit: counter.display_units.to_string(),
            display_name: counter.display_name.to_string(),
            interval_seconds: counter.publication_seconds().unwrap_or(0.0),
            is_observable: None,
            point,
        })
    }

    fn metric(
        &mut self,
        process_id: Option<u64>,
        metric: &view::Metric<'_>,
        moment: &Moment,
        pass: &mut impl FnMut(Published),
    ) {
        let number =
            |text: Option<nettrace_parser::Utf16<'_>>| text?.to_string().parse::<f64>().ok();
        let (rate, value) = (number(metric.rate), number(metric.value));
        let (kind, value) = match metric.kind {
            MetricKind::Counter => (CounterKind::Counter, rate),
            MetricKind::UpDownCounter => (CounterKind::UpDownCounter, value.or(rate)),
            MetricKind::Gauge => (CounterKind::Gauge, value),
            MetricKind::Histogram => (CounterKind::Histogram, None),
            _ => return,
        };
        // The first version of the event has only the change.
        let is_change = kind == CounterKind::UpDownCounter && metric.value.is_none();
        let is_observable = match kind {
            CounterKind::UpDownCounter if is_change => Some(false),
            CounterKind::UpDownCounter => {
                self.is_observable(process_id, metric, value.is_some() && rate.is_none())
            }
            _ => None,
        };
        let total = if metric.kind == MetricKind::Counter { number(metric.value) } else { None };
        let session = metric.session_id.to_string();
        let publisher = (process_id, session);
        let interval = self.intervals.get(&publisher).copied();
        let (_, session) = publisher;
        let collection = interval.map_or(0, |interval| interval.collections);
        let interval = interval.filter(|interval| interval.seconds > 0.0);
        let (interval_seconds, exact_seconds) = interval
            .map_or((self.requested_seconds, self.requested_seconds), |interval| {
                (interval.seconds, interval.exact_seconds)
            });
        let mut key = SeriesKey {
            provider: metric.meter.to_string(),
            name: metric.instrument.to_string(),
            kind,
            process_id,
            tags: tags_of(&metric.tags.to_string(), '='),
            session,
        };
        let own = metric.instrument_id.and_then(|id| self.own_tags.get(&(process_id, id)));
        let own = own.map_or(&[][..], Vec::as_slice);
        key.tags.extend(own.iter().cloned());
        let publication = Publication { ts_ns: moment.nanos, collection, interval_seconds };
        if let Some(tag) = self.same_names.tag(&key, own, metric.instrument_id, publication) {
            key.tags.push(tag);
        }
        let unit = metric.unit.to_string();
        if let Some(value) = value {
            let rate_per_second =
                if kind.is_rate() { per_second(value, exact_seconds) } else { None };
            let next = self.point(moment);
            let point = CounterPoint { value, total, rate_per_second, is_change, ..next };
            let display_name = String::new();
            pass(Published { key, unit, display_name, interval_seconds, is_observable, point });
            return;
        }
        let Some(quantiles) = metric.quantiles.map(|quantiles| quantiles.to_string()) else {
            return;
        };
        if quantiles.is_empty() {
            let (point, display_name) = (self.point(moment), String::new());
            self.idle =
                Some(Published { key, unit, display_name, interval_seconds, is_observable, point });
            return;
        }
        let pairs = quantiles.split(';').filter_map(|pair| {
            let (quantile, value) = pair.split_once('=')?;
            Some((quantile.trim().parse::<f64>().ok()?, value.trim().parse::<f64>().ok()?))
        });
        for (place, (quantile, value)) in pairs.enumerate() {
            if place >= MAX_QUANTILES {
                self.quantiles_left_out = self.quantiles_left_out.saturating_add(1);
                continue;
            }
            let mut key = key.clone();
            key.tags.push(("Percentile".to_owned(), percentile_text(quantile)));
            let point = self.point(moment);
            let point = CounterPoint { value, count: metric.count, sum: metric.sum, ..point };
            let (unit, display_name) = (unit.clone(), String::new());
            pass(Published { key, unit, display_name, interval_seconds, is_observable, point });
        }
    }

    /// Returns whether an up-down counter is an observable one: its start told, or a value did that
    /// `has_only_level`, as only the first one of an observable instrument does. The instruments of
    /// System.Runtime that grow and shrink are all observable.
    fn is_observable(
        &mut self,
        process_id: Option<u64>,
        metric: &view::Metric<'_>,
        has_only_level: bool,
    ) -> Option<bool> {
        let key = (process_id, metric.meter.to_string(), metric.instrument.to_string());
        let told = self.observable.get(&key).copied();
        if told.is_none() && has_only_level && self.observable.len() < MAX_INSTRUMENTS {
            self.observable.insert(key, true);
        }
        told.or((has_only_level || metric.meter == "System.Runtime").then_some(true))
    }

    /// Returns the next point, without its value.
    fn point(&mut self, moment: &Moment) -> CounterPoint {
        let order = self.points;
        self.points = self.points.saturating_add(1);
        CounterPoint { ts_ns: moment.nanos, order, ..CounterPoint::default() }
    }

    /// Keeps the tags of an instrument and its meter, which values do not repeat.
    fn instrument_begins(&mut self, event: &Event<'_>) {
        let text = |name| event.field(name).and_then(|value| value.to_text()).unwrap_or_default();
        let kind = text("instrumentType");
        if kind.contains("UpDownCounter") && self.observable.len() < MAX_INSTRUMENTS {
            let key = (event.process_id(), text("meterName"), text("instrumentName"));
            self.observable.insert(key, kind.starts_with("Observable"));
        }
        let id = event.field("instrumentId").and_then(|value| value.as_i64());
        let Some(key) = id.map(|id| (event.process_id(), id)) else { return };
        if self.own_tags.len() >= MAX_INSTRUMENTS && !self.own_tags.contains_key(&key) {
            return;
        }
        let [meter, instrument] = [text("meterTags"), text("instrumentTags")];
        // Shortened, because each series has a copy.
        let mut tags = tags_of(short(&meter), '=');
        tags.extend(tags_of(short(&instrument), '='));
        if !tags.is_empty() {
            self.own_tags.insert(key, tags);
        }
    }

    fn collection_starts(&mut self, event: &Event<'_>, moment: &Moment) {
        let session =
            event.field("sessionId").and_then(|value| value.to_text()).unwrap_or_default();
        let publisher = (event.process_id(), session);
        let known = self.intervals.get(&publisher).copied();
        let between = known.map(|known| moment.nanos.saturating_sub(known.last) as f64 / SECOND);
        let exact_seconds = between.unwrap_or(0.0);
        // Rounded, because publications are sometimes slightly late.
        let seconds = (exact_seconds * 10.0).round() / 10.0;
        if self.intervals.len() < 1000 || known.is_some() {
            let collections = known.map_or(0, |known| known.collections).saturating_add(1);
            let time = |name| match event.field(name)? {
                Value::DateTime(time) => Some(time),
                _ => None,
            };
            let named = time("intervalStartTime").zip(time("intervalEndTime"));
            let named = named.map_or(f64::INFINITY, |(start, end)| seconds_between(start, end));
            let named_seconds = known.map_or(named, |known| known.named_seconds.min(named));
            let interval = PublicationInterval {
                last: moment.nanos,
                seconds,
                exact_seconds,
                collections,
                named_seconds,
            };
            self.intervals.insert(publisher, interval);
        }
    }
}

/// Returns the seconds from one time to another.
fn seconds_between(start: DateTime, end: DateTime) -> f64 {
    end.unix_nanos().saturating_sub(start.unix_nanos()) as f64 / SECOND
}

/// Returns the growth per second; `None` if the length of the interval is unknown.
fn per_second(growth: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| growth / seconds)
}

/// Returns the percentile of a quantile, such as `99.9` for 0.999.
fn percentile_text(quantile: f64) -> String {
    ((quantile * 1e8).round() / 1e6).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_percentiles() {
        assert_eq!(
            [0.5, 0.95, 0.57, 0.999, 1.0].map(percentile_text),
            ["50", "95", "57", "99.9", "100"]
        );
    }
}
