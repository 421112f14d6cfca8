//! Counters of a running process.

use super::LiveReport;
use super::counter_list::CounterList;
use super::notices::MetricsNotice;
use super::unseen_counters::{SeenNames, UnseenCounter};
use crate::document::SCHEMA;
use crate::hash::HashMap;
use crate::model::{Model, start_unix_ns};
use crate::report::counters::{CounterValues, Published, STARVATIONS, SeriesKey};
use crate::report::threadpool::is_starvation;
use crate::report::{
    CounterKind, CounterPoint, CounterSeries, CountersReport, Moment, OtherInterval,
};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Maximum number of points of a series in a snapshot.
const MAX_RECENT: usize = 120;
/// Maximum number of series, unless a caller sets another one.
const MAX_SERIES: usize = 10_000;
/// Maximum number of points that wait for [`LiveCounters::take_new`].
const MAX_NEW_POINTS: usize = 200_000;
/// Maximum number of notices, of publishers and of meters that are kept.
const MAX_NAMES: usize = 1000;
/// Maximum number of intervals without a value; after it a series has stopped.
const SILENT_INTERVALS: f64 = 3.0;
/// Nanoseconds per second.
const SECOND: f64 = 1e9;
/// Name of the publisher of all instruments; EventCounters are published by their provider.
const METRICS: &str = "System.Diagnostics.Metrics\\";

/// Live view of EventCounters and of instruments of System.Diagnostics.Metrics.
///
/// EventCounters of a provider are left out as soon as a meter of its name reports, as
/// dotnet-counters does it: .NET 9 and later publish `System.Runtime` both ways.
///
/// Memory is bounded by the number of series ([`LiveCounters::most_series`]), each with its newest
/// 120 points. If there are more series, stopped ones make room.
#[non_exhaustive]
pub struct LiveCounters {
    values: CounterValues,
    wanted: CounterList,
    names: SeenNames,
    own: OwnSession,
    most_series: usize,
    keeps_new: bool,
    has_start: bool,
    start_unix_ns: Option<i64>,
    /// Publishers by process, and provider or [`METRICS`].
    publishers: HashMap<(Option<u64>, String), Publisher>,
    meters: BTreeSet<(Option<u64>, String)>,
    /// Process of the first series, once there is one.
    first_process: Option<Option<u64>>,
    /// Whether several processes have series.
    has_several: bool,
    series: BTreeMap<SeriesKey, KeptSeries>,
    new_points: usize,
    /// Number of values that are not shown because there are too many series, or too many quantiles
    /// of a histogram.
    pub values_left_out: u64,
    notices: BTreeSet<MetricsNotice>,
    new_notices: Vec<MetricsNotice>,
}

/// Writes how much the view holds, and nothing of what it has seen.
impl fmt::Debug for LiveCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveCounters")
            .field("series", &self.series.len())
            .field("most_series", &self.most_series)
            .field("values_left_out", &self.values_left_out)
            .finish_non_exhaustive()
    }
}

/// Names of our own session in events: all sessions of a process see the values for each.
#[derive(Debug, Default)]
struct OwnSession {
    interval: Option<String>,
    /// Interval in seconds; 0 if unknown.
    seconds: f64,
    session: Option<String>,
    client: Option<String>,
}

/// Publisher of values, and the session whose values are shown.
#[derive(Debug)]
struct Publisher {
    session: String,
    /// Time of the session's first value.
    first_ns: i64,
    last_ns: i64,
    interval_seconds: f64,
}

#[derive(Debug)]
struct KeptSeries {
    /// Statistics of the series, without points.
    series: CounterSeries,
    recent: VecDeque<CounterPoint>,
    new: Vec<CounterPoint>,
    total_count: i64,
    total_sum: f64,
    last_ns: i64,
}

/// State of all series at a moment.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CountersSnapshot {
    /// Version of this document: [`SCHEMA`].
    pub schema: u32,
    /// Start of the session in nanoseconds since 1970-01-01 UTC; `None` if the stream does not
    /// contain it.
    pub start_unix_ns: Option<i64>,
    /// Moment of the snapshot, in nanoseconds since the session's start.
    pub now_ns: i64,
    /// Series, sorted by provider, name, process and tags.
    pub series: Vec<LiveSeries>,
    /// Number of values that are not shown because there are too many series, or too many quantiles
    /// of a histogram.
    pub values_left_out: u64,
}

/// State of a series at a moment.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LiveSeries {
    /// Name, statistics since the session's start, and newest 120 points.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub series: CounterSeries,
    /// Counters and increments: newest growth per second; `None` if unknown.
    pub rate_per_second: Option<f64>,
    /// Whether the series has had no value for three intervals.
    pub is_stopped: bool,
    /// Time of the last publication, in nanoseconds since the session's start. A histogram may be
    /// published without a value.
    pub last_ns: i64,
    /// Histograms: number of values since the session's start.
    pub total_count: i64,
    /// Histograms: sum of the values since the session's start.
    pub total_sum: f64,
}

impl LiveSeries {
    /// Returns the value that people want to see: growth per second for growing counters, else the
    /// last value.
    pub fn shown(&self) -> f64 {
        match self.series.points.last().filter(|_| self.series.total_is_level()) {
            Some(point) => self.series.shown(point),
            None => self.rate_per_second.unwrap_or(self.series.last),
        }
    }

    /// Returns the newest values as [`LiveSeries::shown`] gives them, oldest first.
    pub fn history(&self) -> Vec<f64> {
        self.series.points.iter().map(|point| self.series.shown(point)).collect()
    }
}

/// Keeps the last value of each series that has not stopped, for
/// [`CountersReport::write_openmetrics`]. Counts and sums of histograms are cumulative since the
/// session's start.
impl From<&CountersSnapshot> for CountersReport {
    fn from(snapshot: &CountersSnapshot) -> CountersReport {
        let last = |live: &LiveSeries| {
            let mut series = live.series.clone();
            let mut point = series.points.pop()?;
            if series.kind == CounterKind::Histogram {
                point.count = Some(live.total_count);
                point.sum = Some(live.total_sum);
                if live.last_ns > point.ts_ns {
                    // Count and sum hold until the last publication, which had no values and so no
                    // quantiles.
                    (point.ts_ns, point.value) = (live.last_ns, f64::NAN);
                }
            }
            series.points = vec![point];
            Some(series)
        };
        let going_on = snapshot.series.iter().filter(|live| !live.is_stopped);
        CountersReport {
            schema: SCHEMA,
            start_unix_ns: snapshot.start_unix_ns,
            series: going_on.filter_map(last).collect(),
            ..CountersReport::default()
        }
    }
}

impl Default for LiveCounters {
    /// Wants all counters.
    fn default() -> LiveCounters {
        LiveCounters {
            values: CounterValues::default(),
            wanted: CounterList::default(),
            names: SeenNames::default(),
            own: OwnSession::default(),
            most_series: MAX_SERIES,
            keeps_new: false,
            has_start: false,
            start_unix_ns: None,
            publishers: HashMap::default(),
            meters: BTreeSet::new(),
            first_process: None,
            has_several: false,
            series: BTreeMap::new(),
            new_points: 0,
            values_left_out: 0,
            notices: BTreeSet::new(),
            new_notices: Vec::new(),
        }
    }
}

impl LiveCounters {
    /// Wants only these counters, unless the list is empty.
    #[must_use]
    pub fn wanted(mut self, wanted: CounterList) -> LiveCounters {
        self.wanted = wanted;
        self
    }

    /// Sets the interval that the session requested, in seconds. A process shows each session the
    /// values for all sessions; if there are values for this interval, others are ignored.
    #[must_use]
    pub fn interval(mut self, seconds: f64) -> LiveCounters {
        self.values.expect_interval(seconds);
        self.own.seconds = seconds;
        self.own.interval = Some(format!("Interval={}", (seconds * 1e3).round()));
        self
    }

    /// Sets the `SessionId` and the `ClientId` of the session's metrics. If there are values for
    /// this session, values and notices for other sessions are ignored.
    #[must_use]
    pub fn session(mut self, session: &str, client: &str) -> LiveCounters {
        self.own.session = Some(session.to_owned());
        self.own.client = Some(client.to_owned());
        self
    }

    /// Sets the maximum number of series; the default is 10,000.
    #[must_use]
    pub fn most_series(mut self, most: usize) -> LiveCounters {
        self.most_series = most;
        self
    }

    /// Keeps every point until [`LiveCounters::take_new`] returns it, 200,000 at most.
    #[must_use]
    pub fn keeping_new(mut self) -> LiveCounters {
        self.keeps_new = true;
        self
    }

    /// Returns the series with new points since the last call, with these points. Their statistics
    /// are since the session's start.
    pub fn take_new(&mut self) -> CountersReport {
        let mut report = CountersReport {
            schema: SCHEMA,
            start_unix_ns: self.start_unix_ns,
            series: Vec::new(),
            ..CountersReport::default()
        };
        if std::mem::take(&mut self.new_points) > 0 {
            for kept in self.series.values_mut().filter(|kept| !kept.new.is_empty()) {
                let points = std::mem::take(&mut kept.new);
                report.series.push(kept.shown(points, self.has_several));
            }
        }
        report
    }

    /// Returns the notices of the process about its metrics since the last call, each once.
    pub fn take_notices(&mut self) -> Vec<MetricsNotice> {
        std::mem::take(&mut self.new_notices)
    }

    /// Returns the wanted counters without a value so far, in the order of the list. Values arrive
    /// at the end of each interval.
    pub fn unseen(&self) -> Vec<UnseenCounter> {
        self.names.unseen(&self.wanted)
    }

    fn add(&mut self, published: Published) {
        let is_metric = !matches!(published.key.kind, CounterKind::Mean | CounterKind::Increment);
        let mut key = published.key.clone();
        let (interval_seconds, point) = (published.interval_seconds, published.point);
        if is_metric {
            let is_wanted = self.wanted.has_instrument(&key.provider, &key.name);
            self.names.publish(&self.wanted, &key.provider, &key.name, is_wanted);
            if !is_wanted {
                return;
            }
            self.leave_out_event_counters(key.process_id, &key.provider);
        } else {
            let is_meter = self.meters.contains(&(key.process_id, key.provider.clone()))
                && !self.wanted.insists_on_event_counters(&key.provider);
            let is_wanted = self.wanted.has_event_counter(&key.provider, &key.name);
            let is_shown = is_wanted && !is_meter;
            self.names.publish(&self.wanted, &key.provider, &key.name, is_shown);
            if !is_shown {
                return;
            }
        }
        let session = std::mem::take(&mut key.session);
        if !self.takes_session(&key, is_metric, session, point.ts_ns, interval_seconds) {
            return;
        }
        if !is_metric {
            self.check_event_counters(&key, interval_seconds, point.ts_ns);
        }
        if self.series.len() >= self.most_series
            && !self.series.contains_key(&key)
            && !self.make_room(point.ts_ns)
        {
            self.values_left_out = self.values_left_out.saturating_add(1);
            return;
        }
        let first_process = *self.first_process.get_or_insert(key.process_id);
        self.has_several |= first_process != key.process_id;
        let kept = self.series.entry(key).or_insert_with_key(|key| KeptSeries {
            series: CounterSeries::from_key(key, &published.unit, &published.display_name),
            recent: VecDeque::new(),
            new: Vec::new(),
            total_count: 0,
            total_sum: 0.0,
            last_ns: 0,
        });
        kept.series.publish(&published, true);
        let Some(point) = kept.series.points.pop() else { return };
        kept.last_ns = point.ts_ns;
        if kept.series.kind == CounterKind::Histogram {
            kept.total_count = kept.total_count.saturating_add(point.count.unwrap_or(0).max(0));
            kept.total_sum += point.sum.unwrap_or(0.0);
        }
        if kept.recent.len() >= MAX_RECENT {
            kept.recent.pop_front();
        }
        kept.recent.push_back(point);
        if !self.keeps_new {
            return;
        }
        match self.new_points < MAX_NEW_POINTS {
            true => {
                self.new_points = self.new_points.saturating_add(1);
                kept.new.push(point);
            }
            false => self.values_left_out = self.values_left_out.saturating_add(1),
        }
    }

    /// Notes that a histogram had no value in the interval, so that neither its publisher nor its
    /// series counts as stopped.
    fn refresh(&mut self, idle: Published) {
        let Published { mut key, interval_seconds, point, .. } = idle;
        let session = std::mem::take(&mut key.session);
        if !self.takes_session(&key, true, session, point.ts_ns, interval_seconds) {
            return;
        }
        // A histogram has a series for each quantile, which is the last tag.
        let is_its = |other: &SeriesKey| {
            let tags = other.tags.split_last().map(|(_, tags)| tags);
            tags == Some(&*key.tags)
                && other.kind == key.kind
                && other.process_id == key.process_id
                && other.name == key.name
                && other.provider == key.provider
        };
        let after = self.series.range_mut(key.clone()..);
        let near = after.take_while(|(other, _)| {
            other.tags.starts_with(&key.tags)
                && other.process_id == key.process_id
                && other.name == key.name
                && other.provider == key.provider
        });
        for (_, kept) in near.filter(|(other, _)| is_its(other)) {
            kept.last_ns = kept.last_ns.max(point.ts_ns);
        }
    }

    /// Returns whether values published for this session are shown. Values for our own session are;
    /// until one has come, the values for the session that was seen first.
    fn takes_session(
        &mut self,
        key: &SeriesKey,
        is_metric: bool,
        session: String,
        ts_ns: i64,
        interval_seconds: f64,
    ) -> bool {
        let own = if is_metric { &self.own.session } else { &self.own.interval };
        let is_own = own.as_ref() == Some(&session);
        let name = if is_metric { METRICS } else { &key.provider };
        let name = (key.process_id, name.to_owned());
        let Some(publisher) = self.publishers.get_mut(&name) else {
            if self.publishers.len() < MAX_NAMES {
                let publisher =
                    Publisher { session, first_ns: ts_ns, last_ns: ts_ns, interval_seconds };
                self.publishers.insert(name, publisher);
            }
            return true;
        };
        if publisher.session != session {
            let is_silent = is_stopped(publisher.last_ns, publisher.interval_seconds, ts_ns);
            if !is_own && !is_silent {
                return false;
            }
            (publisher.session, publisher.first_ns) = (session, ts_ns);
        }
        publisher.last_ns = ts_ns;
        publisher.interval_seconds = interval_seconds;
        true
    }

    /// Notes that a provider's EventCounters come at another interval than was asked for, if that
    /// goes on for twice the longer one.
    fn check_event_counters(&mut self, key: &SeriesKey, seconds: f64, ts_ns: i64) {
        let Some(publisher) = self.publishers.get(&(key.process_id, key.provider.clone())) else {
            return;
        };
        let passed = ts_ns.saturating_sub(publisher.first_ns) as f64 / SECOND;
        let is_own = self.own.interval.as_ref() == Some(&publisher.session);
        if !is_own && passed >= 2.0 * seconds.max(self.own.seconds) {
            let other = OtherInterval::new(&key.provider, self.own.seconds, seconds);
            self.add_notice(other.map(MetricsNotice::OtherInterval));
        }
    }

    /// Notes that instruments are published at another interval than was asked for, unless a notice
    /// of the runtime has said so.
    fn check_metrics(&mut self, event: &Event<'_>) {
        let name = (event.process_id(), METRICS.to_owned());
        let Some(publisher) = self.publishers.get(&name) else { return };
        let named = self.values.named_interval(event.process_id(), &publisher.session);
        let is_told =
            |notice: &MetricsNotice| matches!(notice, MetricsNotice::OtherConfiguration { .. });
        if let Some(seconds) = named.filter(|_| !self.notices.iter().any(is_told)) {
            let other = OtherInterval::new(OtherInterval::METRICS, self.own.seconds, seconds);
            self.add_notice(other.map(MetricsNotice::OtherInterval));
        }
    }

    fn add_notice(&mut self, notice: Option<MetricsNotice>) {
        let Some(notice) = notice.filter(|_| self.notices.len() < MAX_NAMES) else { return };
        if self.notices.insert(notice.clone()) {
            self.new_notices.push(notice);
        }
    }

    /// Leaves out EventCounters of a meter's name from now on.
    fn leave_out_event_counters(&mut self, process_id: Option<u64>, meter: &str) {
        let name = (process_id, meter.to_owned());
        if self.meters.len() >= MAX_NAMES || !self.meters.insert(name) {
            return;
        }
        if !self.wanted.insists_on_event_counters(meter) {
            self.series.retain(|key, _| {
                key.provider != meter
                    || key.process_id != process_id
                    || !matches!(key.kind, CounterKind::Mean | CounterKind::Increment)
            });
        }
    }

    /// Counts a worker that the thread pool added because others were blocked.
    fn add_starvation(&mut self, event: &Event<'_>, moment: &Moment) {
        let key = SeriesKey {
            provider: STARVATIONS.0.to_owned(),
            name: STARVATIONS.1.to_owned(),
            kind: CounterKind::Increment,
            process_id: event.process_id(),
            tags: Vec::new(),
            session: String::new(),
        };
        let point = CounterPoint { ts_ns: moment.nanos, value: 1.0, ..CounterPoint::default() };
        let (unit, display_name) = ("{adjustment}".to_owned(), String::new());
        self.add(Published {
            key,
            unit,
            display_name,
            interval_seconds: 0.0,
            is_observable: None,
            point,
        });
    }

    /// Removes the series that stopped first. Returns whether any had stopped.
    fn make_room(&mut self, now_ns: i64) -> bool {
        let stopped = self.series.iter().filter(|(_, kept)| kept.is_stopped(now_ns));
        let first = stopped.min_by_key(|(_, kept)| kept.last_ns).map(|(key, _)| key.clone());
        first.is_some_and(|key| self.series.remove(&key).is_some())
    }

    fn metrics_event(&mut self, event: &Event<'_>) {
        if event.name() == "BeginInstrumentReporting" {
            let text = |name| event.field(name).and_then(|value| value.to_text());
            let (Some(meter), Some(instrument)) = (text("meterName"), text("instrumentName"))
            else {
                return;
            };
            let is_wanted = self.wanted.has_instrument(&meter, &instrument);
            self.names.publish(&self.wanted, &meter, &instrument, is_wanted);
            if is_wanted {
                self.leave_out_event_counters(event.process_id(), &meter);
            }
            return;
        }
        let Some((notice, session)) = MetricsNotice::from_event(event) else { return };
        let is_ours = |own: &Option<String>| own.as_ref().is_none_or(|own| *own == session);
        if is_ours(&self.own.session) || is_ours(&self.own.client) {
            self.add_notice(Some(notice));
        }
    }
}

impl KeptSeries {
    fn shown(&self, points: Vec<CounterPoint>, has_several: bool) -> CounterSeries {
        let mut series = self.series.clone().with_points(points);
        if has_several {
            series.add_process_tag();
        }
        series
    }

    fn is_stopped(&self, now_ns: i64) -> bool {
        is_stopped(self.last_ns, self.series.interval_seconds.unwrap_or(0.0), now_ns)
    }
}

fn is_stopped(last_ns: i64, interval_seconds: f64, now_ns: i64) -> bool {
    let interval = if interval_seconds > 0.0 { interval_seconds } else { 1.0 };
    now_ns.saturating_sub(last_ns) as f64 > interval * SILENT_INTERVALS * SECOND
}

impl LiveReport for LiveCounters {
    type Snapshot = CountersSnapshot;

    fn event(&mut self, event: &Event<'_>, moment: &Moment, _: &mut Model) -> bool {
        if !self.has_start {
            self.has_start = true;
            self.start_unix_ns = start_unix_ns(event);
        }
        if event.known_provider() == KnownProvider::Metrics {
            self.metrics_event(event);
        }
        if event.known_provider() == KnownProvider::Runtime {
            if is_starvation(event) && moment.is_selected {
                self.add_starvation(event, moment);
                return true;
            }
            return false;
        }
        // Taken out for the call, as the closure needs all of `self`.
        let mut values = std::mem::take(&mut self.values);
        let quantiles_before = values.quantiles_left_out();
        let is_its = values.read(event, moment, |published| self.add(published));
        let quantiles = values.quantiles_left_out().saturating_sub(quantiles_before);
        self.values_left_out = self.values_left_out.saturating_add(quantiles);
        let idle = values.take_idle();
        self.values = values;
        if let Some(idle) = idle {
            self.refresh(idle);
        }
        if event.name() == "CollectionStart" && event.known_provider() == KnownProvider::Metrics {
            self.check_metrics(event);
        }
        is_its
    }

    fn snapshot(&self, now_ns: i64, _: &Model) -> CountersSnapshot {
        let live = |kept: &KeptSeries| LiveSeries {
            series: kept.shown(kept.recent.iter().copied().collect(), self.has_several),
            rate_per_second: kept.recent.back().and_then(|point| point.rate_per_second),
            is_stopped: kept.is_stopped(now_ns),
            last_ns: kept.last_ns,
            total_count: kept.total_count,
            total_sum: kept.total_sum,
        };
        CountersSnapshot {
            schema: SCHEMA,
            start_unix_ns: self.start_unix_ns,
            now_ns,
            series: self.series.values().map(live).collect(),
            values_left_out: self.values_left_out,
        }
    }
}
