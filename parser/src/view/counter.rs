//! View of EventCounters.

use super::View;
use crate::event::Event;
use crate::payload::{Utf16, Value};

/// Value of an EventCounter: the event `EventCounters` of any provider, with any id.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Counter<'r> {
    /// Name of the counter, such as `cpu-usage`.
    pub name: Utf16<'r>,
    /// Name of the counter for display, such as `CPU Usage`.
    pub display_name: Utf16<'r>,
    /// Unit for display; may be empty.
    pub display_units: Utf16<'r>,
    /// Value in the interval.
    pub value: CounterValue,
    /// Length in seconds of the interval that the value covers; `None` if the event does not say it.
    pub interval_seconds: Option<f64>,
    /// Requested interval in milliseconds, such as `Interval=1000`. It distinguishes the values of
    /// concurrent sessions, which receive each other's values.
    pub series: Utf16<'r>,
    /// Keys and values of the counter, as `key:value,…`.
    pub metadata: Utf16<'r>,
}

/// Value of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CounterValue {
    /// Distribution of the values recorded in the interval.
    Mean {
        /// Mean of the values.
        mean: f64,
        /// Standard deviation of the values.
        standard_deviation: f64,
        /// Number of values.
        count: i64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// Growth of a sum in the interval.
    Sum {
        /// Growth, in the unit of the counter.
        increment: f64,
    },
}

impl<'r> Counter<'r> {
    /// Returns the interval in seconds at which the session publishes its counters: the requested
    /// interval ([`series`](Self::series)), or else the interval that this value covers. `None` if the
    /// event has neither.
    pub fn publication_seconds(&self) -> Option<f64> {
        let series = self.series.to_string();
        let millis = series.strip_prefix("Interval=").and_then(|text| text.parse::<f64>().ok());
        millis.map(|millis| millis / 1e3).or(self.interval_seconds)
    }
}

impl<'r> View<'r> for Counter<'r> {
    fn from_event(event: &Event<'r>) -> Option<Counter<'r>> {
        if event.name() != "EventCounters" {
            return None;
        }
        let payload = event.field("Payload")?.as_object()?;
        let mut counter = Counter {
            name: Utf16::default(),
            display_name: Utf16::default(),
            display_units: Utf16::default(),
            value: CounterValue::Sum { increment: 0.0 },
            interval_seconds: None,
            series: Utf16::default(),
            metadata: Utf16::default(),
        };
        let (mut name, mut numbers) = (None, Numbers::default());
        // One walk over all fields, because their order depends on the runtime.
        for field in payload.fields() {
            let Ok(value) = field.value else { continue };
            match field.name() {
                "Name" => name = value.as_utf16(),
                "DisplayName" => counter.display_name = value.as_utf16().unwrap_or_default(),
                "DisplayUnits" => counter.display_units = value.as_utf16().unwrap_or_default(),
                "Series" => counter.series = value.as_utf16().unwrap_or_default(),
                "Metadata" => counter.metadata = value.as_utf16().unwrap_or_default(),
                // An interval of 0 tells nothing.
                "IntervalSec" => {
                    counter.interval_seconds = value.as_f64().filter(|seconds| *seconds > 0.0);
                }
                other => numbers.keep(other, &value),
            }
        }
        counter.name = name?;
        counter.value = numbers.value()?;
        Some(counter)
    }
}

/// Numbers of both kinds of counters, as far as they are present.
#[derive(Debug, Default)]
struct Numbers {
    mean: Option<f64>,
    standard_deviation: Option<f64>,
    count: Option<i64>,
    min: Option<f64>,
    max: Option<f64>,
    increment: Option<f64>,
}

impl Numbers {
    fn keep(&mut self, name: &str, value: &Value<'_>) {
        match name {
            "Mean" => self.mean = value.as_f64(),
            "StandardDeviation" => self.standard_deviation = value.as_f64(),
            "Count" => self.count = value.as_i64(),
            "Min" => self.min = value.as_f64(),
            "Max" => self.max = value.as_f64(),
            "Increment" => self.increment = value.as_f64(),
            _ => {}
        }
    }

    fn value(&self) -> Option<CounterValue> {
        if let Some(increment) = self.increment {
            return Some(CounterValue::Sum { increment });
        }
        Some(CounterValue::Mean {
            mean: self.mean?,
            standard_deviation: self.standard_deviation.unwrap_or(0.0),
            count: self.count.unwrap_or(0),
            min: self.min.unwrap_or(0.0),
            max: self.max.unwrap_or(0.0),
        })
    }
}
