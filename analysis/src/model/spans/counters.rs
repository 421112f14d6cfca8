//! Makes the marks for counters: EventCounters, and instruments of System.Diagnostics.Metrics.

use super::{SpanMoment, Spans};
use crate::model::short;
use nettrace_parser::Utf16;
use nettrace_parser::view::{Counter, CounterValue, Metric, MetricKind, View};

/// Maximum number of quantiles that are shown for an event. There is a maximum because each one
/// repeats the name and all tags. .NET publishes three.
const MAX_QUANTILES: usize = 16;

impl Spans {
    /// Makes the mark for a value of an EventCounter: its mean, or the growth of its sum.
    pub(super) fn event_counter(&mut self, moment: SpanMoment<'_, '_>) {
        let Some(counter) = Counter::from_event(moment.event) else { return };
        let value = match counter.value {
            CounterValue::Mean { mean, .. } => mean,
            CounterValue::Sum { increment } => increment,
            _ => return,
        };
        let name = format!("{}/{}", short(moment.event.provider()), counter.name);
        self.point(moment, name, counter.display_units, value);
    }

    /// Makes the marks for the values of an instrument: the growth of counters, each quantile of
    /// histograms, and the value of other instruments.
    pub(super) fn metric(&mut self, moment: SpanMoment<'_, '_>) {
        let Some(metric) = Metric::from_event(moment.event) else { return };
        let mut name = format!("{}/{}", metric.meter, metric.instrument);
        if !metric.tags.is_empty() {
            name = format!("{name}[{}]", metric.tags);
        }
        let value = match metric.kind {
            MetricKind::Counter => metric.rate,
            MetricKind::Histogram => None,
            _ => metric.value,
        };
        if let Some(value) = value.and_then(|value| value.to_string().parse().ok()) {
            self.point(moment, name, metric.unit, value);
        } else if let Some(quantiles) = metric.quantiles {
            for quantile in quantiles.to_string().split(';').take(MAX_QUANTILES) {
                let Some((at, value)) = quantile.split_once('=') else { continue };
                let (Ok(at), Ok(value)) = (at.parse::<f64>(), value.parse()) else { continue };
                self.point(moment, format!("{name} p{}", at * 100.0), metric.unit, value);
            }
        }
    }

    fn point(&mut self, moment: SpanMoment<'_, '_>, name: String, unit: Utf16<'_>, value: f64) {
        // The formats cannot represent NaN and infinity.
        if value.is_finite() {
            self.counter(moment, name, unit.to_string(), value);
        }
    }
}
