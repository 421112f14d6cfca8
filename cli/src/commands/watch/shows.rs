//! Meaning of each `--show`: the providers that it requests, and the events that it shows.

use crate::args::profiles::RUNTIME;
use crate::args::{EventFormat, Show, WatchArgs};
use nettrace_analysis::live::WatchKind;
use nettrace_ipc::{Level, Provider, RequestError};

const LOGGING: &str = "Microsoft-Extensions-Logging";
/// Keyword `FormattedMessage`, for messages as text.
const FORMATTED_KEYWORD: u64 = 0x4;
/// Keyword `JsonMessage`, for exceptions, and for scopes with the names of their values.
const JSON_KEYWORD: u64 = 0x8;

/// Returns whether rows are shown instead of events.
pub(super) fn shows_rows(args: &WatchArgs) -> bool {
    // `--raw` shows stored values, which only events have.
    !args.show.is_empty() && args.format == EventFormat::Text && !args.shape.raw
}

/// Returns the providers that `--show` needs.
pub(super) fn providers(args: &WatchArgs) -> Result<Vec<Provider>, RequestError> {
    let mut wanted = Vec::new();
    for show in &args.show {
        let (name, keywords, level) = match show {
            Show::Http => {
                wanted.extend(requests()?);
                continue;
            }
            Show::Gc => (RUNTIME, 0x1, Level::Informational),
            Show::Exceptions => (RUNTIME, 0x8000, Level::Informational),
            Show::Contention => (RUNTIME, 0x4000, Level::Informational),
            // Durations need the start of a compilation, an event of level Verbose.
            Show::Jit if shows_rows(args) => (RUNTIME, 0x10, Level::Verbose),
            Show::Jit => (RUNTIME, 0x10, Level::Informational),
            Show::Threadpool => (RUNTIME, 0x10000, Level::Informational),
            // Level Verbose, because the application's own configuration limits its messages.
            Show::Logs if shows_rows(args) || args.format == EventFormat::Ndjson => {
                (LOGGING, FORMATTED_KEYWORD | JSON_KEYWORD, Level::Verbose)
            }
            Show::Logs => (LOGGING, FORMATTED_KEYWORD, Level::Verbose),
        };
        wanted.push(Provider::new(name)?.keywords(keywords).level(level));
    }
    Ok(wanted)
}

/// Returns the providers of HTTP requests that are sent and answered. The provider of tasks gives
/// their events the activity ids that match starts with stops.
pub(crate) fn requests() -> Result<Vec<Provider>, RequestError> {
    let sources =
        ["System.Net.Http", "Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel"];
    let tasks = Provider::new("System.Threading.Tasks.TplEventSource")?;
    let mut wanted = vec![tasks.keywords(0x80).level(Level::Informational)];
    for name in sources {
        let keywords = crate::args::providers::default_keywords(name);
        wanted.push(Provider::new(name)?.keywords(keywords).level(Level::Informational));
    }
    Ok(wanted)
}

/// Returns patterns of the events that a `--show` value stands for.
pub(super) fn events(show: Show) -> &'static [&'static str] {
    match show {
        // The start, the end, the heap sizes, and the reason.
        Show::Gc => &[
            "Microsoft-Windows-DotNETRuntime/1",
            "Microsoft-Windows-DotNETRuntime/2",
            "Microsoft-Windows-DotNETRuntime/4",
            "Microsoft-Windows-DotNETRuntime/35",
        ],
        Show::Exceptions => &["Microsoft-Windows-DotNETRuntime/80"],
        Show::Contention => {
            &["Microsoft-Windows-DotNETRuntime/81", "Microsoft-Windows-DotNETRuntime/91"]
        }
        // The method that was compiled, and its tier.
        Show::Jit => &["Microsoft-Windows-DotNETRuntime/143"],
        // Threads that come and go, and changes of the pool's size with their reasons.
        Show::Threadpool => &[
            "Microsoft-Windows-DotNETRuntime/50",
            "Microsoft-Windows-DotNETRuntime/51",
            "Microsoft-Windows-DotNETRuntime/55",
            "Microsoft-Windows-DotNETRuntime/59",
        ],
        Show::Http => &[
            "System.Net.Http/Request*",
            "Microsoft.AspNetCore.Hosting/Request*",
            "Microsoft-AspNetCore-Server-Kestrel/Request*",
        ],
        Show::Logs => &["Microsoft-Extensions-Logging/FormattedMessage"],
    }
}

pub(super) fn kind(show: Show) -> WatchKind {
    match show {
        Show::Gc => WatchKind::Gc,
        Show::Exceptions => WatchKind::Exceptions,
        Show::Contention => WatchKind::Contention,
        Show::Logs => WatchKind::Logs,
        Show::Http => WatchKind::Http,
        Show::Jit => WatchKind::Jit,
        Show::Threadpool => WatchKind::Threadpool,
    }
}
