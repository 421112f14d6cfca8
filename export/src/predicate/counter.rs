//! Counters in conditions: `System.Runtime/cpu-usage > 80`, `Meter/instrument{route=/}
//! p99 > 500ms`.
//!
//! A counter is an EventCounter, or an instrument of System.Diagnostics.Metrics. Counters
//! that grow (`exception-count`, a `Counter`) are compared by their growth per second, so
//! that the publication interval does not matter.

use super::Operator;
use super::quantity::Quantity;
use crate::tags::tags_of;
use nettrace_parser::view::{self, CounterValue, KnownProvider, MetricKind, View};
use nettrace_parser::{Event, Value};
use std::fmt;

/// Maximum number of series of one counter, which differ in their tags. Further series are ignored.
const MAX_SERIES: usize = 1000;
/// Maximum number of metrics sessions whose interval is kept. A process usually has one session,
/// which tools share.
const MAX_SESSIONS: usize = 64;
/// Number of publication intervals without a value after which a series counts as ended.
const MAX_SILENT_INTERVALS: i64 = 3;
/// Length of a second, in nanoseconds.
const SECOND_NANOS: i64 = 1_000_000_000;

/// Counter in a condition: `PROVIDER/NAME`, with required tags and, for a histogram, the
/// percentile.
///
/// ```
/// use nettrace_export::Predicate;
///
/// let predicate = Predicate::parse_event("Shop/order.duration{kind=book} p99 > 500ms for 10s")?;
/// let counter = predicate.counters()[0];
/// assert_eq!((counter.provider(), counter.name()), ("Shop", "order.duration"));
/// assert_eq!(counter.to_string(), "Shop/order.duration{kind=book} p99");
/// # Ok::<(), nettrace_export::PredicateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterName {
    provider: String,
    name: String,
    tags: Vec<(String, String)>,
    /// Percentile of a histogram as written, without the `p`, such as `99.9`.
    percentile: Option<String>,
}

impl CounterName {
    /// Parses a counter's name: the text before an operator, which contains a slash.
    pub(super) fn parse(text: &str) -> Result<CounterName, String> {
        let (provider, rest) = text.split_once('/').ok_or("a counter is PROVIDER/NAME")?;
        let (name, tags, after) = match rest.split_once('{') {
            Some((name, rest)) => {
                let (tags, after) = rest.rsplit_once('}').ok_or("the brace is not closed")?;
                (name.trim(), tags, after.trim())
            }
            None => match rest.trim().rsplit_once(char::is_whitespace) {
                Some((name, percentile)) => (name.trim(), "", percentile),
                None => (rest.trim(), "", ""),
            },
        };
        let percentile = match after {
            "" => None,
            text => match text.strip_prefix('p').map(|digits| (digits, digits.parse::<f64>())) {
                Some((digits, Ok(number))) if (0.0..=100.0).contains(&number) => {
                    Some(digits.to_owned())
                }
                _ => {
                    let form = "a condition on an event is 'Provider/Event where FIELD>VALUE'";
                    return Err(format!("\"{text}\" is no percentile such as p99; {form}"));
                }
            },
        };
        let mut pairs = Vec::new();
        for tag in tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
            let (key, value) =
                tag.split_once('=').ok_or_else(|| format!("\"{tag}\" is no TAG=VALUE"))?;
            pairs.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        let provider = provider.trim();
        if provider.is_empty() || name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("\"{text}\" is no counter; write PROVIDER/NAME"));
        }
        if provider.contains(['*', '?']) || name.contains(['*', '?']) {
            return Err("counters are asked for by their names, without * and ?".to_owned());
        }
        Ok(CounterName {
            provider: provider.to_owned(),
            name: name.to_owned(),
            tags: pairs,
            percentile,
        })
    }

    /// Returns the EventSource or meter that publishes the counter.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the name of the counter, without provider and tags.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the counter must be a histogram, because it has a percentile.
    pub fn is_histogram(&self) -> bool {
        self.percentile.is_some()
    }

    fn quantile(&self) -> Option<f64> {
        Some(self.percentile.as_ref()?.parse::<f64>().ok()? / 100.0)
    }
}

impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)?;
        if !self.tags.is_empty() {
            let tags: Vec<String> =
                self.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
            write!(f, "{{{}}}", tags.join(","))?;
        }
        match &self.percentile {
            Some(percentile) => write!(f, " p{percentile}"),
            None => Ok(()),
        }
    }
}

/// A comparison of a counter with a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CounterComparison {
    pub(crate) counter: CounterName,
    pub(crate) operator: Operator,
    /// The number as written.
    pub(crate) value: String,
}

impl CounterComparison {
    /// Parses a comparison of a counter. The error is a message and whether the text after the name
    /// is wrong; `false` means that the name is.
    pub(super) fn parse(
        name: &str,
        operator: Operator,
        value: &str,
    ) -> Result<CounterComparison, (bool, String)> {
        let counter = CounterName::parse(name).map_err(|error| (false, error))?;
        if matches!(
            operator,
            Operator::Fits | Operator::FitsNot | Operator::Contains | Operator::ContainsNot
        ) {
            return Err((
                true,
                format!("a counter is a number: {} does not go with it", operator.sign()),
            ));
        }
        if value.parse::<Quantity>().is_err() {
            return Err((true, format!("\"{value}\" is no number; write 80, 80%, 500MB or 250ms")));
        }
        Ok(CounterComparison { counter, operator, value: value.to_owned() })
    }
}

/// Publication intervals of instruments. Every session of System.Diagnostics.Metrics reports its
/// interval at the start of a collection. The first tool that uses a shared session chooses the
/// interval for all tools, so it may differ from the requested interval.
#[derive(Debug, Default)]
pub(super) struct Intervals(Vec<(String, f64)>);

impl Intervals {
    fn take(&mut self, event: &Event<'_>) {
        if event.name() != "CollectionStart" {
            return;
        }
        let date = |name: &str| match event.field(name)? {
            Value::DateTime(date) => i64::try_from(date.unix_nanos()).ok(),
            _ => None,
        };
        let span = date("intervalStartTime").zip(date("intervalEndTime"));
        let Some(nanos) = span.map(|(start, end)| end.saturating_sub(start)) else { return };
        let text = |value: Value<'_>| value.to_text();
        let Some(session) = event.field("sessionId").and_then(text) else { return };
        if nanos <= 0 {
            return;
        }
        let seconds = nanos as f64 / SECOND_NANOS as f64;
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == session) {
            *known = seconds;
        } else if self.0.len() < MAX_SESSIONS {
            self.0.push((session, seconds));
        }
    }

    /// Returns the publication interval of a session, in seconds. If the session has not reported
    /// it, that is 1, which tools request.
    fn seconds(&self, session: &str) -> f64 {
        self.0.iter().find(|(known, _)| known == session).map_or(1.0, |(_, seconds)| *seconds)
    }
}

/// Values of one series of a counter, from one event.
#[derive(Debug)]
pub(super) struct Sample {
    provider: String,
    pub(super) name: String,
    /// Tags as the event spells them.
    pub(super) tags: String,
    /// Whether the value comes from System.Diagnostics.Metrics.
    pub(super) is_instrument: bool,
    unit: String,
    value: Measured,
    interval_seconds: f64,
    nanos: i64,
}

#[derive(Debug)]
enum Measured {
    /// A value; for a counter that grows, the growth per second.
    Value(f64),
    /// Quantiles of a histogram with their values.
    Quantiles(Vec<(f64, f64)>),
}

impl Sample {
    /// Reads a counter's value from an event, or `None` if it has none. The event may also report a
    /// publication interval.
    pub(super) fn from_event(event: &Event<'_>, intervals: &mut Intervals) -> Option<Sample> {
        let nanos = event.nanos()?;
        if event.known_provider() == KnownProvider::Metrics {
            let Some(metric) = view::Metric::from_event(event) else {
                intervals.take(event);
                return None;
            };
            let interval_seconds = intervals.seconds(&metric.session_id.to_string());
            return Sample::from_metric(&metric, interval_seconds, nanos);
        }
        let counter = view::Counter::from_event(event)?;
        let value = match counter.value {
            CounterValue::Mean { mean, .. } => mean,
            CounterValue::Sum { increment } => {
                counter.interval_seconds.map_or(increment, |seconds| increment / seconds)
            }
            _ => return None,
        };
        Some(Sample {
            provider: event.provider().to_owned(),
            name: counter.name.to_string(),
            tags: counter.metadata.to_string(),
            is_instrument: false,
            unit: counter.display_units.to_string(),
            value: Measured::Value(value),
            interval_seconds: counter.publication_seconds().unwrap_or(0.0),
            nanos,
        })
    }

    fn from_metric(metric: &view::Metric<'_>, interval_seconds: f64, nanos: i64) -> Option<Sample> {
        let number =
            |text: Option<nettrace_parser::Utf16<'_>>| text?.to_string().parse::<f64>().ok();
        let value = match metric.kind {
            MetricKind::Histogram => {
                let quantiles = metric.quantiles?.to_string();
                let pairs = quantiles.split(';').filter_map(|pair| {
                    let (quantile, value) = pair.split_once('=')?;
                    Some((quantile.trim().parse().ok()?, value.trim().parse().ok()?))
                });
                Measured::Quantiles(pairs.collect())
            }
            // The published value is the growth in one interval.
            MetricKind::Counter => Measured::Value(number(metric.rate)? / interval_seconds),
            // The first version of the event only contains the change.
            MetricKind::UpDownCounter => {
                Measured::Value(number(metric.value).or(number(metric.rate))?)
            }
            MetricKind::Gauge => Measured::Value(number(metric.value)?),
            _ => return None,
        };
        Some(Sample {
            provider: metric.meter.to_string(),
            name: metric.instrument.to_string(),
            tags: metric.tags.to_string(),
            is_instrument: true,
            unit: metric.unit.to_string(),
            value,
            interval_seconds,
            nanos,
        })
    }

    pub(super) fn is_of(&self, provider: &str) -> bool {
        self.provider.eq_ignore_ascii_case(provider)
    }

    pub(super) fn is_meant(&self, counter: &CounterName) -> bool {
        let has_tags = || {
            let tags = tags_of(&self.tags, if self.is_instrument { '=' } else { ':' });
            let has = |(key, value): &(String, String)| {
                tags.iter().any(|(its, text)| (its, text) == (key, value))
            };
            counter.tags.iter().all(has)
        };
        self.is_of(&counter.provider)
            && self.name.eq_ignore_ascii_case(&counter.name)
            && (counter.tags.is_empty() || has_tags())
    }
}

/// A comparison of a counter, with the last values of the counter.
#[derive(Debug)]
pub(super) struct CounterTest {
    pub(super) comparison: CounterComparison,
    limit: Option<Quantity>,
    /// Last value of each series, with its tags, its time and whether it satisfies the comparison.
    series: Vec<Last>,
    /// Whether there is a value that has not been evaluated yet.
    pub(super) is_fresh: bool,
    pub(super) has_value: bool,
    pub(super) has_held: bool,
    pub(super) trouble: Option<String>,
}

#[derive(Debug)]
struct Last {
    tags: String,
    value: f64,
    nanos: i64,
    holds: bool,
}

impl CounterTest {
    pub(super) fn new(comparison: &CounterComparison) -> CounterTest {
        CounterTest {
            limit: comparison.value.parse().ok(),
            comparison: comparison.clone(),
            series: Vec::new(),
            is_fresh: false,
            has_value: false,
            has_held: false,
            trouble: None,
        }
    }

    /// Records a value if it belongs to the counter. Returns whether the value belongs to it.
    pub(super) fn take(&mut self, sample: &Sample) -> bool {
        let counter = &self.comparison.counter;
        if !sample.is_meant(counter) {
            return false;
        }
        self.has_value = true;
        let value = match (&sample.value, counter.quantile()) {
            (Measured::Value(value), None) => *value,
            (Measured::Quantiles(all), Some(wanted)) => {
                match all.iter().find(|(quantile, _)| (quantile - wanted).abs() < 1e-9) {
                    Some((_, value)) => *value,
                    // Nothing was measured in this interval.
                    None if all.is_empty() => return false,
                    None => {
                        let known: Vec<String> = all
                            .iter()
                            .map(|(quantile, _)| format!("p{}", quantile * 100.0))
                            .collect();
                        self.trouble =
                            Some(format!("{counter}: published are {}", known.join(", ")));
                        return false;
                    }
                }
            }
            (Measured::Quantiles(_), None) => {
                let text = format!(
                    "{counter} is a histogram: write which percentile, as in {counter} p99"
                );
                self.trouble = Some(text);
                return false;
            }
            (Measured::Value(_), Some(_)) => {
                self.trouble = Some(format!("{counter} is no histogram: it has no percentiles"));
                return false;
            }
        };
        let Some(wanted) = self.limit.and_then(|limit| limit.in_unit(&sample.unit)) else {
            let unit = if sample.unit.is_empty() { "no unit" } else { &sample.unit };
            self.trouble = Some(format!(
                "{counter} has {unit}: {} cannot be compared with it",
                self.comparison.value
            ));
            return false;
        };
        let holds = self.comparison.operator.holds(value.partial_cmp(&wanted));
        let last = Last { tags: sample.tags.clone(), value, nanos: sample.nanos, holds };
        let age = sample.interval_nanos().max(SECOND_NANOS).saturating_mul(MAX_SILENT_INTERVALS);
        self.series.retain(|other| {
            other.tags != sample.tags && sample.nanos.saturating_sub(other.nanos) <= age
        });
        if self.series.len() < MAX_SERIES {
            self.series.push(last);
        }
        self.has_held |= holds;
        self.is_fresh = true;
        true
    }

    /// Returns whether a series of the counter satisfies the comparison.
    pub(super) fn holds(&self) -> bool {
        self.series.iter().any(|series| series.holds)
    }

    /// Returns a value that satisfies the comparison, or else the newest value.
    pub(super) fn value(&self) -> Option<f64> {
        let found = self.series.iter().find(|series| series.holds).or(self.series.last());
        found.map(|series| series.value)
    }
}

impl Sample {
    pub(super) fn nanos(&self) -> i64 {
        self.nanos
    }

    pub(super) fn interval_nanos(&self) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "what is too large ends at the limit")]
        let nanos = (self.interval_seconds * 1e9) as i64;
        nanos
    }
}
