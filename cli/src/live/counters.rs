//! Providers that make a runtime publish counters, or send the events of a condition.

use crate::args::profiles::RUNTIME;
use crate::args::providers::default_keywords;
use nettrace_analysis::live::{CounterChoice, CounterList};
use nettrace_export::{CounterName, Predicate};
use nettrace_ipc::{Arguments, EventFilter, Level, Provider, RequestError};
use nettrace_parser::catalog::{self, CatalogEvent};
use std::time::Duration;

/// Name of the provider that publishes instruments of System.Diagnostics.Metrics.
pub(crate) const METRICS: &str = "System.Diagnostics.Metrics";
/// Keyword of the values of time series.
pub(crate) const TIME_SERIES_KEYWORD: u64 = 0x2;
/// Keyword of the events that list the instruments.
const INSTRUMENTS_KEYWORD: u64 = 0x4;
/// Maximum number of time series; the runtime leaves out further ones. dotnet-counters has the same
/// limit: tools share a session only if they agree.
const MAX_SERIES: u32 = 1000;
/// Maximum number of histograms; dotnet-counters has the same.
const MAX_HISTOGRAMS: u32 = 10;
/// Name of the session of instruments that several tools share, from .NET 8 on. With another name,
/// a second tool would end the publishing for the first. Before .NET 8 the name has no effect.
pub(crate) const SHARED: &str = "SHARED";

/// Argument that turns on the EventCounters of a provider.
pub(super) const INTERVAL_ARGUMENT: &str = "EventCounterIntervalSec";
/// Name of a provider of EventCounters and, from .NET 9 on, of a meter whose instruments have the
/// same values.
const SYSTEM_RUNTIME: &str = "System.Runtime";
/// Beginning of the names of instruments of the meter System.Runtime; its EventCounters have other
/// names.
const ITS_INSTRUMENTS: &str = "dotnet.";

/// Providers of EventCounters in .NET and in libraries that many programs use. A provider
/// that a process does not have costs nothing.
pub(crate) const KNOWN: [&str; 12] = [
    SYSTEM_RUNTIME,
    "Microsoft.AspNetCore.Hosting",
    "Microsoft-AspNetCore-Server-Kestrel",
    "Microsoft.AspNetCore.Http.Connections",
    "System.Net.Http",
    "System.Net.NameResolution",
    "System.Net.Security",
    "System.Net.Sockets",
    "Microsoft.EntityFrameworkCore",
    "Microsoft.Data.SqlClient.EventSource",
    "Npgsql",
    "Grpc.AspNetCore.Server",
];

/// EventCounters of .NET, which are not instruments, so no metrics session is needed for
/// them.
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

/// Returns the providers that publish these counters every `interval`.
pub(crate) fn providers(
    counters: &[&CounterName],
    interval: Duration,
) -> Result<Vec<Provider>, RequestError> {
    let seconds = interval.as_secs_f64().to_string();
    let mut wanted = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    let mut instruments = Vec::new();
    for counter in counters {
        let is_instrument =
            counter.provider() == SYSTEM_RUNTIME && counter.name().starts_with(ITS_INSTRUMENTS);
        if !is_instrument && !named.contains(&counter.provider()) {
            named.push(counter.provider());
            wanted.push(event_counters(counter.provider(), &seconds)?);
        }
        let instrument = format!("{}\\{}", counter.provider(), counter.name());
        if !EVENT_COUNTERS.contains(&counter.name()) && !instruments.contains(&instrument) {
            instruments.push(instrument);
        }
    }
    if !instruments.is_empty() {
        // A histogram has a series for each set of tags, and the runtime leaves out any of them. It
        // must not leave out the series that a condition is about.
        let is_histogram = counters.iter().any(|counter| counter.is_histogram());
        let most_histograms = if is_histogram { MAX_SERIES } else { MAX_HISTOGRAMS };
        wanted.push(metrics(&instruments, &seconds, MAX_SERIES, most_histograms)?);
    }
    Ok(wanted)
}

/// Returns the provider that publishes its EventCounters, and sends nothing else: counters have no
/// keywords and are written at every level.
pub(super) fn event_counters(name: &str, seconds: &str) -> Result<Provider, RequestError> {
    let arguments = Arguments::pairs([(INTERVAL_ARGUMENT, seconds)])?;
    Ok(Provider::new(name)?.keywords(0).level(Level::Critical).arguments(arguments))
}

/// Returns the name by which the runtime tells this command from others that share a session.
pub(crate) fn client_id() -> String {
    format!("nettrace-{}", std::process::id())
}

/// Returns the provider that publishes instruments, each as `METER` or `METER\INSTRUMENT`.
fn metrics(
    instruments: &[String],
    seconds: &str,
    most_series: u32,
    most_histograms: u32,
) -> Result<Provider, RequestError> {
    let arguments = Arguments::pairs([
        ("SessionId", SHARED),
        ("ClientId", &client_id()),
        ("Metrics", &instruments.join(",")),
        ("RefreshInterval", seconds),
        ("MaxTimeSeries", &most_series.to_string()),
        ("MaxHistograms", &most_histograms.to_string()),
    ])?;
    let provider =
        Provider::new(METRICS)?.keywords(TIME_SERIES_KEYWORD).level(Level::Informational);
    Ok(provider.arguments(arguments))
}

/// Returns the provider that lists the instruments, without values.
pub(crate) fn listing() -> Result<Provider, RequestError> {
    let arguments = Arguments::pairs([("SessionId", SHARED), ("ClientId", &client_id())])?;
    let provider =
        Provider::new(METRICS)?.keywords(INSTRUMENTS_KEYWORD).level(Level::Informational);
    Ok(provider.arguments(arguments))
}

/// Returns the provider that reports when the thread pool gets workers because workers are blocked.
/// Runtimes without event filters also send other events about workers.
pub(crate) fn pool_adjustments() -> Result<Provider, RequestError> {
    /// Id of `ThreadPoolWorkerThreadAdjustmentAdjustment`.
    const ADJUSTMENT: u32 = 55;
    const THREADING: u64 = 0x1_0000;
    let provider = Provider::new(RUNTIME)?.exact_keywords(THREADING).level(Level::Informational);
    Ok(provider.filter(EventFilter::only([ADJUSTMENT])))
}

/// Returns a provider that sends nothing, for a session that needs no events yet: the runtime's
/// loader has no critical events.
pub(crate) fn silent() -> Result<Provider, RequestError> {
    Ok(Provider::new(RUNTIME)?.keywords(0x8).level(Level::Critical))
}

/// The counters that a view shows.
#[derive(Debug)]
pub(crate) struct CounterRequest<'r> {
    /// The counters that were chosen; all if empty.
    pub(crate) list: &'r CounterList,
    /// Providers that the process may have in addition to [`KNOWN`].
    pub(crate) found: &'r [String],
    /// Meters of the process; `None` if its runtime knows patterns of names.
    pub(crate) meters: Option<&'r [String]>,
    pub(crate) interval: Duration,
    pub(crate) max_time_series: u32,
    pub(crate) max_histograms: u32,
}

impl CounterRequest<'_> {
    pub(crate) fn providers(&self) -> Result<Vec<Provider>, RequestError> {
        let seconds = self.interval.as_secs_f64().to_string();
        let mut wanted = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut instruments: Vec<String> = Vec::new();
        let is_wanted = |name: &&str| !self.has_runtime_meter() || *name != SYSTEM_RUNTIME;
        let all =
            || KNOWN.into_iter().chain(self.found.iter().map(String::as_str)).filter(is_wanted);
        if self.list.choices.is_empty() {
            names.extend(all());
            match self.meters {
                Some(meters) => instruments.extend(meters.iter().cloned()),
                None => instruments.push("*".to_owned()),
            }
            // Only from .NET 9 on, where stacks can be left out, which would cost more than all
            // else.
            if self.has_runtime_meter() {
                wanted.push(pool_adjustments()?);
            }
        }
        for choice in &self.list.choices {
            let start = choice.provider.strip_suffix('*');
            match start {
                Some(start) => names.extend(all().filter(|name| begins(name, start))),
                None if self.wants_event_counters(choice) => names.push(&choice.provider),
                None => {}
            }
            if choice.event_counters_only {
                continue;
            }
            let meters: Vec<&str> = match (start, self.meters) {
                (Some(start), Some(meters)) => {
                    meters.iter().map(String::as_str).filter(|name| begins(name, start)).collect()
                }
                _ => vec![&choice.provider],
            };
            for meter in meters {
                // A pattern of meters requests all their instruments; a filter applies when they
                // come.
                if choice.counters.is_empty() || start.is_some() {
                    instruments.push(meter.to_owned());
                } else {
                    let named = |counter: &String| format!("{meter}\\{counter}");
                    instruments.extend(choice.counters.iter().map(named));
                }
            }
        }
        for (at, name) in names.iter().enumerate() {
            if names.iter().take(at).any(|other| other.eq_ignore_ascii_case(name)) {
                continue;
            }
            wanted.push(event_counters(name, &seconds)?);
        }
        if !instruments.is_empty() {
            let (series, histograms) = (self.max_time_series, self.max_histograms);
            wanted.push(metrics(&instruments, &seconds, series, histograms)?);
        }
        Ok(wanted)
    }

    /// Returns whether there is a meter of the runtime: versions that know patterns have one.
    fn has_runtime_meter(&self) -> bool {
        self.meters.is_none()
    }

    /// Returns whether a choice may mean EventCounters.
    fn wants_event_counters(&self, choice: &CounterChoice) -> bool {
        choice.provider != SYSTEM_RUNTIME
            || !self.has_runtime_meter()
            || choice.event_counters_only
            || choice.counters.iter().any(|name| EVENT_COUNTERS.contains(&name.as_str()))
    }
}

fn begins(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(start))
}

/// Returns the providers that send the events of a condition: the runtime's provider with the
/// keywords and levels of the events, other providers with all events. A provider's name with
/// wildcards only finds events of the catalog.
pub(crate) fn providers_of_events(condition: &Predicate) -> Result<Vec<Provider>, RequestError> {
    let mut wanted = Vec::new();
    for event in condition.events() {
        let before = wanted.len();
        let (provider, name) = event.split_once('/').unwrap_or(("*", event));
        let is_meant = |known: &&CatalogEvent| {
            let is_its =
                provider.contains(['*', '?']) || known.provider.eq_ignore_ascii_case(provider);
            known.matches_name(event)
                || is_its && (known.matches_name(name) || name.parse() == Ok(known.id))
        };
        for known in catalog::events().filter(is_meant) {
            let level = Level::from_number(u32::from(known.level)).unwrap_or(Level::Verbose);
            wanted.push(Provider::new(known.provider)?.exact_keywords(known.keywords).level(level));
        }
        if wanted.len() == before && !provider.contains(['*', '?']) {
            wanted.push(
                Provider::new(provider)?.keywords(default_keywords(provider)).level(Level::Verbose),
            );
        }
    }
    Ok(wanted)
}
