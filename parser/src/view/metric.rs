//! System.Diagnostics.Metrics.

use super::KnownProvider;
use crate::event::Event;
use crate::payload::Utf16;

/// A value of an instrument: `System.Diagnostics.Metrics` `CounterRateValuePublished`,
/// `GaugeValuePublished`, `HistogramValuePublished` and `UpDownCounterRateValuePublished`, any
/// version. Numbers are texts in the invariant culture; an empty one means that the series ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Metric<'r> {
    /// What kind of value.
    pub kind: MetricKind,
    /// The session it was published for.
    pub session_id: Utf16<'r>,
    /// The meter.
    pub meter: Utf16<'r>,
    /// The instrument.
    pub instrument: Utf16<'r>,
    /// Its unit.
    pub unit: Utf16<'r>,
    /// `key=value,…`.
    pub tags: Utf16<'r>,
    /// The change since the last publication; counters and up-down counters.
    pub rate: Option<Utf16<'r>>,
    /// The value: of a gauge the last one, of counters the sum (from version 1 on).
    pub value: Option<Utf16<'r>>,
    /// `0.5=10.125;0.95=18.9375;…`; histograms.
    pub quantiles: Option<Utf16<'r>>,
    /// Number of values in the interval; histograms.
    pub count: Option<i64>,
    /// Sum of the values in the interval; histograms from version 1 on.
    pub sum: Option<Utf16<'r>>,
}

/// Kinds of instruments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// Grows only.
    Counter,
    /// Grows and shrinks.
    UpDownCounter,
    /// Has a value.
    Gauge,
    /// Has a distribution.
    Histogram,
}

impl<'r> Metric<'r> {
    /// The view of an event.
    pub fn of(event: &Event<'r>) -> Option<Metric<'r>> {
        if event.known_provider() != KnownProvider::Metrics {
            return None;
        }
        let kind = match event.name() {
            "CounterRateValuePublished" => MetricKind::Counter,
            "UpDownCounterRateValuePublished" => MetricKind::UpDownCounter,
            "GaugeValuePublished" => MetricKind::Gauge,
            "HistogramValuePublished" => MetricKind::Histogram,
            _ => return None,
        };
        let text = |name| event.field(name).and_then(|value| value.as_utf16());
        Some(Metric {
            kind,
            session_id: text("sessionId")?,
            meter: text("meterName")?,
            instrument: text("instrumentName")?,
            unit: text("unit").unwrap_or_default(),
            tags: text("tags").unwrap_or_default(),
            rate: text("rate"),
            value: text("value").or_else(|| text("lastValue")),
            quantiles: text("quantiles"),
            count: event.field("count").and_then(|value| value.as_i64()),
            sum: text("sum"),
        })
    }
}
