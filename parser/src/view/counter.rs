//! EventCounters.

use crate::event::Event;
use crate::payload::{Object, Utf16, Value};

/// One value of an EventCounter: the event `EventCounters` of any provider, any id.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Counter<'r> {
    /// The counter's name.
    pub name: Utf16<'r>,
    /// Its name for people.
    pub display_name: Utf16<'r>,
    /// The unit for people, possibly empty.
    pub display_units: Utf16<'r>,
    /// What was counted.
    pub value: CounterValue,
    /// Seconds this value stands for.
    pub interval_seconds: f64,
    /// `Interval=1000`: the interval asked for in milliseconds. Sessions side by side get each
    /// other's values; this tells them apart.
    pub series: Utf16<'r>,
    /// Keys and values of the counter, `key:value,…`.
    pub metadata: Utf16<'r>,
}

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CounterValue {
    /// The distribution of the values written in the interval.
    Mean {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        standard_deviation: f64,
        /// Number of values.
        count: i64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A sum's growth in the interval.
    Sum {
        /// The growth.
        increment: f64,
    },
}

impl<'r> Counter<'r> {
    /// The view of an event.
    pub fn of(event: &Event<'r>) -> Option<Counter<'r>> {
        if event.name() != "EventCounters" {
            return None;
        }
        let payload = event.field("Payload")?.as_object()?;
        let text = |name| payload.field(name).and_then(|value| value.as_utf16()).unwrap_or_default();
        Some(Counter {
            name: payload.field("Name")?.as_utf16()?,
            display_name: text("DisplayName"),
            display_units: text("DisplayUnits"),
            value: counter_value(&payload)?,
            interval_seconds: payload.field("IntervalSec").and_then(|value| value.as_f64()).unwrap_or(0.0),
            series: text("Series"),
            metadata: text("Metadata"),
        })
    }
}

fn counter_value(payload: &Object<'_>) -> Option<CounterValue> {
    let number = |name| payload.field(name).and_then(|value| value.as_f64());
    match number("Increment") {
        Some(increment) => Some(CounterValue::Sum { increment }),
        None => Some(CounterValue::Mean {
            mean: number("Mean")?,
            standard_deviation: number("StandardDeviation").unwrap_or(0.0),
            count: payload.field("Count").as_ref().and_then(Value::as_i64).unwrap_or(0),
            min: number("Min").unwrap_or(0.0),
            max: number("Max").unwrap_or(0.0),
        }),
    }
}
