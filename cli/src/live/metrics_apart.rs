//! EventCounters and metrics in two sessions.
//!
//! On .NET 9 and 10 one session with both can block the process for ever: while the
//! runtime's thread turns on metrics it holds the lock of all event listeners and waits for
//! the class constructor of `ArrayPoolEventSource`; the thread that polls counters may run
//! that constructor, and waits for the lock. Once metrics are on, that constructor has run,
//! so a later session with counters is safe: metrics first, then the rest.

use super::counters::METRICS;
use super::driver::SessionHandle;
use super::end_rule::EndRule;
use super::target::Reached;
use nettrace_ipc::{Provider, Providers, RequestError, Rundown, SessionConfig, Startup};
use std::io;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Versions in which one session with both may block.
const BLOCKING_VERSIONS: RangeInclusive<u32> = 9..=10;
/// Turns on the EventCounters of a provider.
const INTERVAL_ARGUMENT: &str = "EventCounterIntervalSec";
/// How long a process that was resumed is waited for until its metrics are on.
const METRICS_WAIT: Duration = Duration::from_secs(2);
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
    is_suspended: bool,
}

impl MetricsApart {
    /// `None`: one session is safe, or the process does not say its version.
    pub(crate) fn of(
        reached: &Reached,
        config: &SessionConfig,
        end: &EndRule,
    ) -> io::Result<Option<MetricsApart>> {
        let Ok(Some((metrics, rest))) = parts(config) else { return Ok(None) };
        let runtime = reached.runtime.clone();
        let asked = end.ask(move || {
            let info = runtime.info().ok()?;
            let is_suspended = matches!(runtime.startup_of(&info), Ok(Startup::Suspended));
            Some((info.version()?.major, is_suspended))
        })?;
        let Some((major, is_suspended)) = asked.flatten() else { return Ok(None) };
        let is_needed = BLOCKING_VERSIONS.contains(&major);
        Ok(is_needed.then_some(MetricsApart { metrics, rest, is_suspended }))
    }

    /// Waits until the second session may start. A process that waited at its start turns
    /// metrics on only some time after its resume, and sends an event then.
    pub(crate) fn wait(&self, metrics: &SessionHandle, end: &EndRule) {
        let most = Instant::now() + METRICS_WAIT;
        while self.is_suspended && metrics.received().events == 0 && Instant::now() < most {
            if !end.sleep_until(Instant::now() + Duration::from_millis(5)) {
                return;
            }
        }
    }
}

/// The metrics and the rest, if there are both metrics and EventCounters.
fn parts(config: &SessionConfig) -> Result<Option<(SessionConfig, SessionConfig)>, RequestError> {
    let is_metrics = |provider: &Provider| provider.name().eq_ignore_ascii_case(METRICS);
    let has_counters = |provider: &Provider| {
        provider.wire_arguments().is_some_and(|text| text.contains(INTERVAL_ARGUMENT))
    };
    let all = config.providers().iter().cloned();
    let (metrics, rest): (Vec<Provider>, Vec<Provider>) = all.partition(is_metrics);
    if metrics.is_empty() || !rest.iter().any(has_counters) {
        return Ok(None);
    }
    let metrics = config.clone().providing(Providers::new(metrics)?).rundown(Rundown::Off);
    let rest = config.clone().providing(Providers::new(rest)?);
    Ok(Some((metrics, rest)))
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
        let (metrics, rest) = parts(&config(&["A!", METRICS, "B"])).unwrap().unwrap();
        let names = |config: &SessionConfig| -> Vec<String> {
            config.providers().iter().map(|provider| provider.name().to_owned()).collect()
        };
        assert_eq!(
            (names(&metrics), names(&rest)),
            (vec![METRICS.into()], vec!["A".into(), "B".into()])
        );
    }
}
