//! EventCounters and metrics in two sessions.
//!
//! On .NET 8 to 10 one session with both can block the process for ever: while the
//! runtime's thread turns on metrics it holds the lock of all event listeners and waits for
//! the class constructor of `ArrayPoolEventSource`; the thread that polls counters may run
//! that constructor, and waits for the lock. Once metrics are on, that constructor has run,
//! so a later session with counters is safe: metrics first, then the rest.
//!
//! A process that waits at its start turns nothing on before it is resumed, whatever it
//! has answered. There the counters wait for the [first values](super::first_values) of the metrics; what is
//! neither starts with the metrics, so that a recording begins with the first method.

use super::counters::METRICS;
use super::driver::SessionHandle;
use super::end_rule::EndRule;
use super::target::Reached;
use nettrace_ipc::{Provider, Providers, RequestError, Rundown, SessionConfig, Startup};
use std::io;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Versions in which one session with both may block.
const BLOCKING_VERSIONS: RangeInclusive<u32> = 8..=10;
/// Turns on the EventCounters of a provider.
const INTERVAL_ARGUMENT: &str = "EventCounterIntervalSec";
/// How often it is looked whether the metrics of a process that was resumed are on.
const METRICS_CHECK: Duration = Duration::from_millis(5);
/// Why there are two, for messages.
pub(crate) const REASON: &str =
    "this version of .NET may block for ever if one session asks for metrics and EventCounters";

/// One request as two.
#[derive(Debug)]
pub(crate) struct MetricsApart {
    /// Starts first.
    pub(crate) metrics: SessionConfig,
    /// Everything else. Starts once the first has been answered.
    pub(crate) rest: SessionConfig,
    /// What of the rest may start before the process is resumed; `None`: nothing.
    pub(crate) plain: Option<SessionConfig>,
    /// What of the rest may not.
    pub(crate) counters: SessionConfig,
    pub(crate) is_suspended: bool,
}

impl MetricsApart {
    /// `Some(None)`: one session is safe, or the process does not know its version. `None`: it
    /// was time to end before the process answered, so there is no use in asking more.
    pub(crate) fn of(
        reached: &Reached,
        config: &SessionConfig,
        end: &EndRule,
    ) -> io::Result<Option<Option<MetricsApart>>> {
        let Ok(Some(apart)) = parts(config) else { return Ok(Some(None)) };
        let runtime = reached.runtime.clone();
        let asked = end.ask(move || {
            let info = runtime.info().ok()?;
            let is_suspended = !matches!(runtime.startup_of(&info), Ok(Startup::Running));
            Some((info.version()?.major, is_suspended))
        })?;
        let Some(asked) = asked else { return Ok(None) };
        let needed = asked.filter(|(major, _)| BLOCKING_VERSIONS.contains(major));
        Ok(Some(needed.map(|(_, is_suspended)| MetricsApart { is_suspended, ..apart })))
    }

    /// Waits until the second session may start, however long the process takes for the
    /// first values of its metrics after its resume. `is_over`: the session with the metrics has ended.
    pub(crate) fn wait(&self, metrics: &SessionHandle, is_over: impl Fn() -> bool, end: &EndRule) {
        while self.is_suspended && !metrics.first_values().let_counters_begin() && !is_over() {
            if !end.sleep_until(Instant::now() + METRICS_CHECK) {
                return;
            }
        }
    }
}

/// The parts, if there are both metrics and EventCounters.
fn parts(config: &SessionConfig) -> Result<Option<MetricsApart>, RequestError> {
    let is_metrics = |provider: &Provider| provider.name().eq_ignore_ascii_case(METRICS);
    let has_counters = |provider: &Provider| {
        provider.wire_arguments().is_some_and(|text| text.contains(INTERVAL_ARGUMENT))
    };
    let all = config.providers().iter().cloned();
    let (metrics, rest): (Vec<Provider>, Vec<Provider>) = all.partition(is_metrics);
    if metrics.is_empty() || !rest.iter().any(has_counters) {
        return Ok(None);
    }
    let (counters, plain): (Vec<Provider>, Vec<Provider>) =
        rest.iter().cloned().partition(has_counters);
    let with = |providers| Ok(config.clone().providing(Providers::new(providers)?));
    Ok(Some(MetricsApart {
        metrics: with(metrics)?.rundown(Rundown::Off),
        rest: with(rest)?,
        plain: if plain.is_empty() { None } else { Some(with(plain)?) },
        counters: with(counters)?.rundown(Rundown::Off),
        is_suspended: false,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_ipc::Arguments;

    fn config(providers: &[&str]) -> SessionConfig {
        let interval = Arguments::pairs([(INTERVAL_ARGUMENT, "1")]).unwrap();
        let provider = |name: &&str| match name.strip_suffix('!') {
            Some(name) => Provider::new(name).unwrap().arguments(interval.clone()),
            None => Provider::new(name).unwrap(),
        };
        SessionConfig::new(Providers::new(providers.iter().map(provider)).unwrap())
    }

    #[test]
    fn metrics_and_event_counters_are_parted_and_nothing_else_is() {
        for whole in [&["A!", "B"][..], &[METRICS, "A"], &[METRICS]] {
            assert!(parts(&config(whole)).unwrap().is_none(), "{whole:?}");
        }
        let apart = parts(&config(&["A!", METRICS, "B"])).unwrap().unwrap();
        let names = |config: &SessionConfig| -> Vec<String> {
            config.providers().iter().map(|provider| provider.name().to_owned()).collect()
        };
        assert_eq!(names(&apart.metrics), [METRICS]);
        assert_eq!(names(&apart.rest), ["A", "B"]);
        assert_eq!(names(&apart.counters), ["A"]);
        assert_eq!(names(apart.plain.as_ref().unwrap()), ["B"]);
        assert!(parts(&config(&["A!", METRICS])).unwrap().unwrap().plain.is_none());
    }
}
