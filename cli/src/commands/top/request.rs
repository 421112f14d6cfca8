//! Configures the sessions of `top`. Only events of the view are requested, because each costs the
//! process time.

use crate::args::TopView;
use crate::args::profiles::RUNTIME;
use crate::commands::watch;
use crate::live::counters;
use crate::live::method_names::METHOD_KEYWORDS;
use nettrace_ipc::{Arguments, Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use std::num::NonZeroU32;

/// Keyword for collections and, at level Verbose, for allocation ticks.
const GC: u64 = 0x1;
const CONTENTION: u64 = 0x4000;
const EXCEPTIONS: u64 = 0x8000;
/// Provider of Kestrel, which is left out because Hosting reports the same requests.
const KESTREL: &str = "Microsoft-AspNetCore-Server-Kestrel";

/// Lists whose events a session requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestedLists {
    /// Lists made of samples and counters: methods, threads and waits.
    Samples,
    View(TopView),
    /// All lists.
    All,
}

/// Returns the configuration of the first session: samples, names of methods, counters once a
/// second, and the events of the lists.
pub(super) fn config(
    shown: RequestedLists,
    buffer: NonZeroU32,
) -> Result<SessionConfig, RequestError> {
    let sampler = Provider::new("Microsoft-DotNETCore-SampleProfiler")?;
    let counters = Provider::new("System.Runtime")?.keywords(0).level(Level::Critical);
    let mut wanted = vec![
        sampler.keywords(0).level(Level::Verbose),
        Provider::new(RUNTIME)?.keywords(METHOD_KEYWORDS).level(Level::Verbose),
        counters.arguments(Arguments::pairs([("EventCounterIntervalSec", "1")])?),
    ];
    match shown {
        RequestedLists::Samples => {}
        RequestedLists::View(view) => wanted.extend(providers(view)?),
        RequestedLists::All => {
            for view in
                [TopView::Allocations, TopView::Exceptions, TopView::Contention, TopView::Http]
            {
                wanted.extend(providers(view)?);
            }
        }
    }
    session(wanted, buffer)
}

/// Returns the configuration of a view's additional session; `None` if it needs none.
pub(super) fn beside(
    view: TopView,
    buffer: NonZeroU32,
) -> Result<Option<SessionConfig>, RequestError> {
    let wanted = providers(view)?;
    if wanted.is_empty() { Ok(None) } else { session(wanted, buffer).map(Some) }
}

/// Returns the configuration of the session for the reasons why the thread pool grows. Stacks are
/// off, because they cost time.
pub(super) fn pool(buffer: NonZeroU32) -> Result<SessionConfig, RequestError> {
    Ok(session(vec![counters::pool_adjustments()?], buffer)?.stacks(false))
}

fn session(wanted: Vec<Provider>, buffer: NonZeroU32) -> Result<SessionConfig, RequestError> {
    let config = SessionConfig::new(Providers::new(wanted)?);
    Ok(config.rundown(Rundown::Off).buffer_megabytes(buffer))
}

fn providers(view: TopView) -> Result<Vec<Provider>, RequestError> {
    let runtime = |keywords, level| -> Result<_, RequestError> {
        Ok(vec![Provider::new(RUNTIME)?.keywords(keywords).level(level)])
    };
    match view {
        TopView::Methods | TopView::Threads | TopView::Waits => Ok(Vec::new()),
        TopView::Allocations => runtime(GC, Level::Verbose),
        TopView::Exceptions => runtime(EXCEPTIONS, Level::Informational),
        TopView::Contention => runtime(CONTENTION, Level::Informational),
        TopView::Http => {
            let mut wanted = watch::requests()?;
            wanted.retain(|provider| provider.name() != KESTREL);
            Ok(wanted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_asked_for_only_where_they_are_looked_at() {
        let buffer = NonZeroU32::MIN;
        let names = |config: SessionConfig| -> Vec<String> {
            config.providers().iter().map(Provider::to_string).collect()
        };
        let samples = names(config(RequestedLists::Samples, buffer).unwrap());
        assert_eq!(samples.len(), 3, "{samples:?}");
        for view in [TopView::Methods, TopView::Threads, TopView::Waits] {
            assert!(beside(view, buffer).unwrap().is_none());
            assert_eq!(names(config(RequestedLists::View(view), buffer).unwrap()), samples);
        }
        let contention = names(beside(TopView::Contention, buffer).unwrap().unwrap());
        assert_eq!(contention.len(), 1, "{contention:?}");
        let http = names(beside(TopView::Http, buffer).unwrap().unwrap());
        assert!(http.iter().all(|name| !name.starts_with(KESTREL)), "{http:?}");
        assert_eq!(
            names(config(RequestedLists::All, buffer).unwrap()).len(),
            samples.len() + http.len()
        );
    }
}
