//! View of values of System.Diagnostics.Metrics.

use super::{KnownProvider, View};
use crate::event::Event;
use crate::payload::Utf16;

/// Value of an instrument: `CounterRateValuePublished`, `GaugeValuePublished`,
/// `HistogramValuePublished` and `UpDownCounterRateValuePublished` of
/// `System.Diagnostics.Metrics`, any version. Rates, values and quantiles are texts in the
/// invariant culture, and empty if the series has no value yet or has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Metric<'r> {
    /// Kind of instrument.
    pub kind: MetricKind,
    /// Id of the session for which the value was published.
    pub session_id: Utf16<'r>,
    /// Name of the meter.
    pub meter: Utf16<'r>,
    /// Version of the meter; may be empty.
    pub meter_version: Utf16<'r>,
    /// Name of the instrument.
    pub instrument: Utf16<'r>,
    /// Unit of the instrument; may be empty.
    pub unit: Utf16<'r>,
    /// Tags of the series, as `key=value,…`.
    pub tags: Utf16<'r>,
    /// Change since the last publication; `None` for gauges and histograms.
    pub rate: Option<Utf16<'r>>,
    /// Last value of a gauge, or sum of a counter (from version 1 on); `None` for histograms.
    pub value: Option<Utf16<'r>>,
    /// Quantiles of a histogram in the interval, such as `0.5=10.125;0.95=18.9375;…`.
    pub quantiles: Option<Utf16<'r>>,
    /// Number of values of a histogram in the interval.
    pub count: Option<i64>,
    /// Sum of the values of a histogram in the interval; `None` before version 1.
    pub sum: Option<f64>,
    /// Id of the instrument in the process; `None` before version 2.
    pub instrument_id: Option<i64>,
}

/// Kind of an instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// An instrument that only grows.
    Counter,
    /// An instrument that grows and shrinks.
    UpDownCounter,
    /// An instrument with a current value.
    Gauge,
    /// An instrument with a distribution.
    Histogram,
}

impl<'r> View<'r> for Metric<'r> {
    fn from_event(event: &Event<'r>) -> Option<Metric<'r>> {
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
        let (mut session_id, mut meter, mut instrument) = (None, None, None);
        let mut metric = Metric {
            kind,
            session_id: Utf16::default(),
            meter: Utf16::default(),
            meter_version: Utf16::default(),
            instrument: Utf16::default(),
            unit: Utf16::default(),
            tags: Utf16::default(),
            rate: None,
            value: None,
            quantiles: None,
            count: None,
            sum: None,
            instrument_id: None,
        };
        for field in event.fields() {
            let Ok(value) = field.value else { continue };
            match field.name() {
                "sessionId" => session_id = value.as_utf16(),
                "meterName" => meter = value.as_utf16(),
                "meterVersion" => metric.meter_version = value.as_utf16().unwrap_or_default(),
                "instrumentName" => instrument = value.as_utf16(),
                "unit" => metric.unit = value.as_utf16().unwrap_or_default(),
                "tags" => metric.tags = value.as_utf16().unwrap_or_default(),
                "rate" => metric.rate = value.as_utf16(),
                "value" | "lastValue" => metric.value = value.as_utf16(),
                "quantiles" => metric.quantiles = value.as_utf16(),
                "count" => metric.count = value.as_i64(),
                "sum" => metric.sum = value.as_f64(),
                "instrumentId" => metric.instrument_id = value.as_i64(),
                _ => {}
            }
        }
        metric.session_id = session_id?;
        metric.meter = meter?;
        metric.instrument = instrument?;
        Some(metric)
    }
}
