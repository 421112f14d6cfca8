//! The command line of `nettrace counters`.

use super::{TalkArgs, TargetArgs};
use crate::args::amount::Span;
use clap::{Args, ValueEnum};
use nettrace_analysis::live::CounterList;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

const COUNTERS_EXAMPLES: &str = "\
Without --counters: all instruments, and the EventCounters of .NET and of the program. Rates are per second, by the time \
that really passed. An UpDownCounter is what the program added since the session began, because the runtime does not tell its \
level; an ObservableUpDownCounter is its level. CSV has the growth in an interval, as dotnet-counters writes it. EventCounters of a name that is also a \
meter are left out; --counters 'EventCounters\\System.Runtime' asks for them. Instruments that have the same name are kept \
apart: the second one has the tag instrument=#2, in the order in which they were first published.

Examples:
  nettrace counters -p 4711
  nettrace counters -n shop \\
      --counters 'System.Runtime[cpu-usage,gc-heap-size],Shop.Orders'
  nettrace counters -p 4711 --format csv -o counters.csv --duration 1min
  nettrace counters -p 4711 --refresh-interval 5 --format ndjson | jq -c .
  nettrace counters -- dotnet shop.dll";

#[derive(Debug, Args)]
#[command(after_help = COUNTERS_EXAMPLES)]
pub(crate) struct CountersArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Start this program and show its counters from its beginning
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["process_id", "name", "port"])]
    #[arg(help_heading = "Which process")]
    pub(crate) command: Vec<OsString>,

    /// Show what the started program prints, too; then no screen is shown
    #[arg(long, help_heading = "Which process")]
    pub(crate) show_child_io: bool,

    /// Which counters: PROVIDER[COUNTER,COUNTER],PROVIDER; a name may end in *
    #[arg(long, value_name = "LIST", help_heading = "Which counters")]
    pub(crate) counters: Vec<CounterList>,

    /// How often values are published, in seconds or as a time: 5, 500ms
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    #[arg(help_heading = "Which counters")]
    pub(crate) refresh_interval: Span,

    /// Maximum number of time series (combinations of instrument and tags) that the
    /// process publishes
    #[arg(long = "maxTimeSeries", visible_alias = "max-time-series", value_name = "N")]
    #[arg(default_value = "1000", help_heading = "Which counters")]
    pub(crate) max_time_series: NonZeroU32,

    /// Maximum number of histograms that the process publishes
    #[arg(long = "maxHistograms", visible_alias = "max-histograms", value_name = "N")]
    #[arg(default_value = "10", help_heading = "Which counters")]
    pub(crate) max_histograms: NonZeroU32,

    /// Write values instead of showing a screen; default with -o: csv, else lines for
    /// people
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<LiveCounterFormat>,

    /// The file to write; default: standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Serve the last value of each series to Prometheus at this address, such as
    /// 127.0.0.1:9464; a bare port listens on localhost only. Lines are then written only
    /// with --format or -o
    #[arg(long, value_name = "ADDRESS", value_parser = listening)]
    pub(crate) openmetrics_listen: Option<SocketAddr>,

    /// Answer requests of --openmetrics-listen for this host, too; others than localhost
    /// are refused unless they are named
    #[arg(long, value_name = "HOST", requires = "openmetrics_listen")]
    pub(crate) openmetrics_host: Vec<String>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

impl CountersArgs {
    /// Returns the counters of all `--counters` options as one list.
    pub(crate) fn list(&self) -> CounterList {
        let mut all = CounterList::default();
        for list in &self.counters {
            all.choices.extend(list.choices.iter().cloned());
        }
        all
    }
}

/// Format of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveCounterFormat {
    /// One line per value, with the columns of dotnet-counters
    Csv,
    /// One document at the end, like report counters --json
    Json,
    /// One JSON object per line and value
    Ndjson,
    /// The last value of each series, for Prometheus; a file is replaced whenever there are new
    /// values
    Openmetrics,
}

/// Parses an address to listen at: `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, or a port.
fn listening(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port: &str| port.parse().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let port = text.strip_prefix("localhost:").or(text.strip_prefix(':')).unwrap_or(text);
    text.parse()
        .or_else(|_| loopback(port))
        .map_err(|_| "not an address; write 127.0.0.1:9464, [::1]:9464 or a port".to_owned())
}

/// Parses an interval from 100 ms, the shortest that runtimes have, to one day.
fn interval(text: &str) -> Result<Span, String> {
    let span: Span = text.parse()?;
    let allowed = Duration::from_millis(100)..=Duration::from_secs(24 * 3600);
    match allowed.contains(&span.0) {
        true => Ok(span),
        false => Err("it is not between 100ms and 24h".to_owned()),
    }
}
