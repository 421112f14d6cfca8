//! The command line.

mod live;

pub(crate) use live::*;

use crate::filter::{EventPattern, ProviderPattern};
use crate::time_range::TimeRange;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (reads nettrace 3 (NetPerf), 4, 5, 6)");

const AFTER_HELP: &str = "\
Exit codes:
  0  all was read
  1  failed: no such file, not a trace, a version that is not read
  2  wrong usage
  3  the trace is damaged or incomplete: what is readable was delivered, the rest is told on stderr";

/// Read .nettrace and .netperf files: what .NET's EventPipe, dotnet-trace and one-collect record.
///
/// A trace is a file, plain or gzip whatever its name, or - for standard input. Results go to stdout,
/// everything else to stderr.
#[derive(Debug, Parser)]
#[command(name = "nettrace", version = VERSION, after_help = AFTER_HELP, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; auto minds NO_COLOR, CLICOLOR_FORCE and TERM=dumb
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, hide_default_value = true)]
    #[arg(help_heading = "Options of all commands")]
    pub(crate) color: ColorChoice,

    /// Say nothing on stderr but errors: no progress, no warnings
    #[arg(long, short, global = true, help_heading = "Options of all commands")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Info(InfoArgs),
    Stats(StatsArgs),
    Events(EventsArgs),
    Ps(PsArgs),
    Collect(Box<CollectArgs>),
    Watch(Box<WatchArgs>),
    Process(Box<ProcessArgs>),
    Replay(ReplayArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Which trace.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Read the file instead of mapping it into memory, for files that may shrink meanwhile
    #[arg(long)]
    pub(crate) no_mmap: bool,
}

const INFO_EXAMPLES: &str = "\
Examples:
  nettrace info trace.nettrace
  nettrace info trace.nettrace --json | jq .lost
  gzip -dc trace.nettrace.gz | nettrace info -";

/// What a trace is: process, machine, start, duration, providers, losses, damage
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

const STATS_EXAMPLES: &str = "\
Examples:
  nettrace stats trace.nettrace
  nettrace stats trace.nettrace --sort bytes
  nettrace stats trace.nettrace --json | jq '.types[] | select(.events > 1000) | .name'";

/// Which events happened how often, how large they are, from when to when
#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// What to sort by; ties by provider, id and version
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: SortKey,

    /// Show times as UTC instead of time since the session's start
    #[arg(long)]
    pub(crate) utc: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    /// Number of events, most first
    #[default]
    Count,
    /// Payload bytes, most first
    Bytes,
    /// Events with a stack, most first
    Stacks,
    /// Provider, id and version
    Name,
    /// Time of the first event
    First,
    /// Time of the last event
    Last,
}

const EVENTS_EXAMPLES: &str = "\
Times are those since the session's start. --provider and --event may be given several times: an event \
passes that matches one of each.

Examples:
  nettrace events trace.nettrace --limit 20
  nettrace events trace.nettrace --provider '*Runtime' --time 1.5s..3s
  nettrace events trace.nettrace --format ndjson --stacks | jq -c 'select(.tid == 17401)'";

/// The events, one a line
#[derive(Debug, Args)]
#[command(after_help = EVENTS_EXAMPLES)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// text for reading, ndjson for programs: one JSON object a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    /// By time, or as they lie in the file
    #[arg(long, value_enum, value_name = "ORDER", default_value_t)]
    pub(crate) order: Order,

    /// Only events of providers like this: * and ? are wildcards, case does not matter
    #[arg(long, value_name = "GLOB")]
    #[arg(help_heading = "Which events")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only events of this id or name; wildcards as above, Provider/Name is possible
    #[arg(long, value_name = "NAME|ID")]
    #[arg(help_heading = "Which events")]
    pub(crate) event: Vec<EventPattern>,

    /// Only events about this OS thread
    #[arg(long, value_name = "TID", allow_negative_numbers = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) thread: Vec<i64>,

    /// Only events from FROM until before TO, such as 1.5s..3s, 200ms.., ..10us; without unit: seconds
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) time: Option<TimeRange>,

    /// Stop after so many events
    #[arg(long, short = 'n', value_name = "N")]
    #[arg(help_heading = "Which events")]
    pub(crate) limit: Option<u64>,

    /// Show stacks, innermost frame first
    #[arg(long)]
    pub(crate) stacks: bool,

    /// Show what is stored: ticks, keywords, opcode, processor, sequence number, offset, payload in hex
    #[arg(long)]
    pub(crate) raw: bool,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    #[default]
    Text,
    Ndjson,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    #[default]
    Time,
    File,
}

/// Print a script that completes this command in a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace completions bash > /etc/bash_completion.d/nettrace")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace man | man -l -\n  nettrace man events > nettrace-events.1")]
pub(crate) struct ManArgs {
    /// Of this command; without: of nettrace
    pub(crate) command: Option<String>,
}
