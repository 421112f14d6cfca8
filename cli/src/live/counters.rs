//! What makes a runtime publish counters, and the events that conditions ask for.

use crate::args::providers::default_keywords;
use nettrace_export::{CounterName, Predicate};
use nettrace_ipc::{Arguments, Level, Provider, RequestError};
use nettrace_parser::catalog::{self, CatalogEvent};
use std::time::Duration;

/// Publishes instruments of System.Diagnostics.Metrics.
const METRICS: &str = "System.Diagnostics.Metrics";
/// Values of time series.
const TIME_SERIES: u64 = 0x2;
/// Instruments with more tags than that, and histograms, are left out by the runtime.
const MOST_SERIES: &str = "1000";
const MOST_HISTOGRAMS: &str = "20";

/// EventCounters of .NET, which are no instruments: nobody needs to be asked for those.
const EVENT_COUNTERS: [&str; 26] = [
    "active-timer-count",
    "alloc-rate",
    "assembly-count",
    "cpu-usage",
    "exception-count",
    "gc-committed",
    "gc-fragmentation",
    "gc-heap-size",
    "gen-0-gc-count",
    "gen-0-size",
    "gen-1-gc-count",
    "gen-1-size",
    "gen-2-gc-count",
    "gen-2-size",
    "il-bytes-jitted",
    "loh-size",
    "methods-jitted-count",
    "monitor-lock-contention-count",
    "poh-size",
    "threadpool-completed-items-count",
    "threadpool-queue-length",
    "threadpool-thread-count",
    "time-in-gc",
    "time-in-jit",
    "total-pause-time-by-gc",
    "working-set",
];

/// The providers that publish these counters every `interval`.
pub(crate) fn providers(
    counters: &[&CounterName],
    interval: Duration,
) -> Result<Vec<Provider>, RequestError> {
    let seconds = interval.as_secs_f64().to_string();
    let mut wanted = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    let mut instruments = Vec::new();
    for counter in counters {
        if !named.contains(&counter.provider()) {
            named.push(counter.provider());
            // Counters have no keywords and are written at every level; nothing else is wanted.
            let provider = Provider::new(counter.provider())?.keywords(0).level(Level::Critical);
            wanted
                .push(provider.arguments(Arguments::pairs([("EventCounterIntervalSec", seconds.as_str())])?));
        }
        let instrument = format!("{}\\{}", counter.provider(), counter.name());
        if !EVENT_COUNTERS.contains(&counter.name()) && !instruments.contains(&instrument) {
            instruments.push(instrument);
        }
    }
    if !instruments.is_empty() {
        let id = format!("nettrace-{}", std::process::id());
        let arguments = Arguments::pairs([
            // Without it a second tool would end the first one's publishing; before .NET 8 it is a name as any other.
            ("SessionId", "SHARED"),
            ("ClientId", id.as_str()),
            ("Metrics", instruments.join(",").as_str()),
            ("RefreshInterval", seconds.as_str()),
            ("MaxTimeSeries", MOST_SERIES),
            ("MaxHistograms", MOST_HISTOGRAMS),
        ])?;
        let provider = Provider::new(METRICS)?.keywords(TIME_SERIES).level(Level::Informational);
        wanted.push(provider.arguments(arguments));
    }
    Ok(wanted)
}

/// The providers that send the events of a condition: those of the runtime with their keywords and levels, of others all.
/// Names with wildcards ask for nothing that is not in the catalog.
pub(crate) fn providers_of_events(condition: &Predicate) -> Result<Vec<Provider>, RequestError> {
    let mut wanted = Vec::new();
    for event in condition.events() {
        let before = wanted.len();
        let (provider, name) = event.split_once('/').unwrap_or(("*", event));
        let is_meant = |known: &&CatalogEvent| {
            let is_its = provider.contains(['*', '?']) || known.provider.eq_ignore_ascii_case(provider);
            known.matches_name(event) || is_its && (known.matches_name(name) || name.parse() == Ok(known.id))
        };
        for known in catalog::events().filter(is_meant) {
            let level = Level::from_number(u32::from(known.level)).unwrap_or(Level::Verbose);
            wanted.push(Provider::new(known.provider)?.exact_keywords(known.keywords).level(level));
        }
        if wanted.len() == before && !provider.contains(['*', '?']) {
            wanted.push(Provider::new(provider)?.keywords(default_keywords(provider)).level(Level::Verbose));
        }
    }
    Ok(wanted)
}
