//! Splits a request for EventCounters and metrics into two or three sessions.
//!
//! On .NET 8 to 10 one session with both can block the process for ever. The thread of the runtime
//! that turns on metrics holds the lock of all event listeners and waits for the class constructor
//! of `ArrayPoolEventSource`. The thread that polls counters may be running that constructor, and
//! waits for the lock. Once metrics are on, the constructor has run, so metrics begin first, and a
//! session with counters later is safe.
//!
//! A process that waits at its start enables no provider before it is resumed, although it has
//! answered. So in such a process the counters wait for the [first values](super::first_values) of
//! the metrics; all other providers start with the metrics, so that a recording begins with the
//! first method.

use super::counters::{INTERVAL_ARGUMENT, METRICS};
use super::end_rule::EndRule;
use super::target::Reached;
use nettrace_ipc::{Provider, Providers, Rundown, SessionConfig, Startup};
use std::io;
use std::ops::RangeInclusive;

/// Versions of .NET that may block if one session has metrics and EventCounters.
const BLOCKING_VERSIONS: RangeInclusive<u32> = 8..=10;
/// Reason for several sessions, for messages.
pub(crate) const REASON: &str =
    "this version of .NET may block for ever if one session asks for metrics and EventCounters";

/// The sessions that one request needs, in the order in which they begin.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// Metrics, if they have a session of their own.
    pub(crate) metrics: Option<SessionConfig>,
    /// All providers that have no session of their own; the metrics, if nothing is left but
    /// EventCounters that begin later.
    pub(crate) main: SessionConfig,
    /// EventCounters that may begin only after the first values of metrics, because the process
    /// waits at its start.
    pub(crate) counters: Option<SessionConfig>,
}

impl Sessions {
    /// Returns the sessions that a request to a process needs; `None` if it was time to end before
    /// the process answered.
    pub(crate) fn for_process(
        reached: &Reached,
        config: &SessionConfig,
        end: &EndRule,
    ) -> io::Result<Option<Sessions>> {
        // Only a request for both needs to know which process it is.
        if split(config, false).is_none() {
            return Ok(Some(Sessions::one(config)));
        }
        let runtime = reached.runtime.clone();
        let asked = end.ask(move || {
            let info = runtime.info().ok()?;
            let is_suspended = !matches!(runtime.startup_of(&info), Ok(Startup::Running));
            Some((info.version()?.major, is_suspended))
        })?;
        let Some(asked) = asked else { return Ok(None) };
        // A process of unknown version gets one session.
        let needed = asked
            .filter(|(major, _)| BLOCKING_VERSIONS.contains(major))
            .and_then(|(_, is_suspended)| split(config, is_suspended));
        Ok(Some(needed.unwrap_or_else(|| Sessions::one(config))))
    }

    /// Returns one session for the whole request.
    pub(crate) fn one(config: &SessionConfig) -> Sessions {
        Sessions { metrics: None, main: config.clone(), counters: None }
    }

    pub(crate) fn are_several(&self) -> bool {
        self.metrics.is_some() || self.counters.is_some()
    }
}

/// Splits a request into sessions; `None` unless it asks for both metrics and EventCounters.
/// `is_suspended`: whether the process waits at its start.
fn split(config: &SessionConfig, is_suspended: bool) -> Option<Sessions> {
    let is_metrics = |provider: &Provider| provider.name().eq_ignore_ascii_case(METRICS);
    let has_counters = |provider: &Provider| provider.has_argument(INTERVAL_ARGUMENT);
    let all = config.providers().iter().cloned();
    let (metrics, rest): (Vec<Provider>, Vec<Provider>) = all.partition(is_metrics);
    if metrics.is_empty() || !rest.iter().any(has_counters) {
        return None;
    }
    let config_for = |providers| Some(config.clone().providing(Providers::new(providers).ok()?));
    let metrics = config_for(metrics)?.rundown(Rundown::Off);
    if !is_suspended {
        return Some(Sessions { metrics: Some(metrics), main: config_for(rest)?, counters: None });
    }
    let (counters, plain): (Vec<Provider>, Vec<Provider>) =
        rest.into_iter().partition(has_counters);
    let counters = Some(config_for(counters)?.rundown(Rundown::Off));
    Some(match plain.is_empty() {
        true => Sessions { metrics: None, main: metrics, counters },
        false => Sessions { metrics: Some(metrics), main: config_for(plain)?, counters },
    })
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
            assert!(split(&config(whole), false).is_none(), "{whole:?}");
        }
        let names = |config: &Option<SessionConfig>| -> Vec<String> {
            let providers = config.iter().flat_map(|config| config.providers().iter());
            providers.map(|provider| provider.name().to_owned()).collect()
        };
        let none: [&str; 0] = [];
        for (wanted, is_suspended, metrics, main, counters) in [
            (&["A!", METRICS, "B"][..], false, &[METRICS][..], &["A", "B"][..], &none[..]),
            (&["A!", METRICS, "B"], true, &[METRICS], &["B"], &["A"]),
            (&["A!", METRICS], true, &none, &[METRICS], &["A"]),
        ] {
            let sessions = split(&config(wanted), is_suspended).unwrap();
            assert_eq!(names(&sessions.metrics), metrics, "{wanted:?}");
            assert_eq!(names(&Some(sessions.main)), main, "{wanted:?}");
            assert_eq!(names(&sessions.counters), counters, "{wanted:?}");
        }
    }
}
