//! Arguments of commands that show what a trace is and holds, and whether it keeps to the format.

use super::amount::Bytes;
use super::{FormArg, InputArgs, ThreadArgs};
use clap::{Args, ValueEnum};
use nettrace_export::{EventPattern, ProviderPattern};

const INFO_EXAMPLES: &str = "\
Examples:
  nettrace info trace.nettrace
  nettrace info trace.nettrace --json | jq .lost
  gzip -dc trace.nettrace.gz | nettrace info -";

#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,
}

const STATS_EXAMPLES: &str = "\
Examples:
  nettrace stats trace.nettrace
  nettrace stats trace.nettrace --sort bytes
  nettrace stats trace.nettrace --json \\
      | jq '.types[] | select(.events > 1000) | .name'";

#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,

    /// What to sort by; equal rows are sorted by provider, id and version
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

const CHECK_EXAMPLES: &str = "\
Exit codes: 0 nothing found, or only notes; 3 something cannot be read; 4 only notes, with --strict.

Examples:
  nettrace check trace.nettrace
  nettrace check trace.nettrace --json | jq .counts
  my-writer | nettrace check --strict -";

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,

    /// Exit with 4 if there are notes but nothing worse
    #[arg(long)]
    pub(crate) strict: bool,

    /// How much of what follows the end mark to look at: how many bytes there are, and
    /// whether a stream goes on there
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub(crate) tail_limit: Bytes,
}

const SCHEMA_EXAMPLES: &str = "\
Fields are those of payloads, in payload order. They are described by the stream itself or, for events of \
the native runtime and some others, by the built-in catalog.

Examples:
  nettrace schema trace.nettrace
  nettrace schema trace.nettrace --provider '*Runtime' --event 'GC/*'
  nettrace schema trace.nettrace --json \\
      | jq '.types[] | select(.source == \"none\") | .name'";

#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,

    /// Only types of providers whose name matches; * and ? are wildcards, case is ignored
    #[arg(long, value_name = "GLOB")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only types with this id or name, as in nettrace events
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) event: Vec<EventPattern>,
}
