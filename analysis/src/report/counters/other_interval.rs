//! Intervals of counters that a session asked for and did not get.

use nettrace_parser::Event;
use std::fmt;

/// Interval that a session asked for, and the one at which its values come: a process has one interval
/// for all sessions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OtherInterval {
    /// Provider of the EventCounters; `System.Diagnostics.Metrics` for all instruments.
    pub provider: String,
    /// Milliseconds between values that the session asked for.
    pub asked_ms: u64,
    /// Milliseconds between the values that come.
    pub came_ms: u64,
}

impl OtherInterval {
    /// Name of the provider of all instruments.
    pub(crate) const METRICS: &'static str = "System.Diagnostics.Metrics";

    /// Makes the pair of two intervals in seconds; `None` if they are equal, or not positive.
    pub(crate) fn new(provider: &str, asked: f64, came: f64) -> Option<OtherInterval> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float saturates"
        )]
        let millis = |seconds: f64| (seconds * 1e3).round() as u64;
        let (asked_ms, came_ms) = (millis(asked), millis(came));
        let provider = provider.to_owned();
        (asked_ms != came_ms && asked_ms > 0 && came_ms > 0).then_some(OtherInterval {
            provider,
            asked_ms,
            came_ms,
        })
    }

    /// Reads the event with which the runtime refuses to change the interval of its metrics.
    pub(crate) fn from_event(event: &Event<'_>) -> Option<OtherInterval> {
        if event.name() != "MultipleSessionsConfiguredIncorrectlyError" {
            return None;
        }
        let seconds = |name| event.field(name)?.to_text()?.trim().parse::<f64>().ok();
        // "Expected" is what the running session has, "actual" what was asked for.
        let came = seconds("expectedRefreshInterval")?;
        OtherInterval::new(Self::METRICS, seconds("actualRefreshInterval")?, came)
    }
}

impl fmt::Display for OtherInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [asked, came] = [self.asked_ms, self.came_ms].map(|millis| millis as f64 / 1e3);
        write!(
            f,
            "{}: values were asked for every {asked} s and come every {came} s, because another session \
             asked for that",
            self.provider
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_another_one_only_if_both_are_known_and_differ() {
        assert_eq!(OtherInterval::new("P", 1.0, 1.000_1), None);
        assert_eq!(OtherInterval::new("P", 0.0, 5.0), None);
        assert_eq!(OtherInterval::new("P", f64::NAN, 5.0), None);
        let other = OtherInterval::new("P", 1.0, 2.5).expect("two intervals");
        assert_eq!(
            other.to_string(),
            "P: values were asked for every 1 s and come every 2.5 s, because another session asked for that"
        );
    }
}
