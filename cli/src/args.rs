//! The command line.

use crate::condition::Condition;
mod live;

pub(crate) use live::*;

use crate::filter::{EventPattern, ProviderPattern};
use crate::live::amount::Bytes;
use crate::samples::{KindArg, NameStyleArg, StateArg};
use crate::time_range::TimeRange;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use regex::Regex;
use std::ffi::OsString;
use std::num::NonZeroUsize;
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
/// everything else to stderr. A trace without a command is summed up: what it is, what stands out.
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
    Schema(SchemaArgs),
    Check(CheckArgs),
    Report(ReportArgs),
    Convert(ConvertArgs),
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

    /// Give up when a compressed trace unpacks to more than this: 500MB, 1.5TB
    #[arg(long, value_name = "SIZE", default_value = "64GiB")]
    pub(crate) input_limit: Bytes,
}

/// With how many threads.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ThreadArgs {
    /// Threads that read events of a plain file; default: one for each processor
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
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

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

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

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

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
passes that matches one of each. Of several --where all must hold.

Conditions: FIELD=VALUE, !=, <, <=, >, >=, and FIELD~REGEX, !~. Numbers are compared as numbers, also \
hexadecimal ones (0x1f); values of enumerations are also their names; fields of objects are Object.Field.

NDJSON has the fields in \"payload\". Addresses and fields meant to be read in hexadecimal are strings, \
\"0x1f\"; enumerations are numbers; NaN and infinities are strings; bytes that no field takes are in \
\"payload_rest\", and what is wrong with fields in \"payload_faults\".

CSV has a column for each field if --fields, or one --event without wildcards, is given; else the column \
payload holds them as JSON.

Examples:
  nettrace events trace.nettrace --limit 20
  nettrace events trace.nettrace --provider '*Runtime' --time 1.5s..3s
  nettrace events trace.nettrace --event GC/Start --where Reason=Induced
  nettrace events trace.nettrace --event Exception/Start --where 'ExceptionMessage~time.?out'
  nettrace events trace.nettrace --event GC/AllocationTick --fields TypeName,AllocationAmount64 --format csv
  nettrace events trace.nettrace --format ndjson --stacks | jq -c 'select(.tid == 17401)'";

/// The events, one a line
#[derive(Debug, Args)]
#[command(after_help = EVENTS_EXAMPLES)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    /// text for reading, ndjson for programs: one JSON object a line, csv for tables
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    /// By time, or as they lie in the file
    #[arg(long, value_enum, value_name = "ORDER", default_value_t)]
    pub(crate) order: Order,

    /// Only events of providers like this: * and ? are wildcards, case does not matter
    #[arg(long, value_name = "GLOB")]
    #[arg(help_heading = "Which events")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only events of this id or name: GC/Start, GCStart, GCStart_V2, Provider/Name; wildcards as above
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

    /// Only events whose field fulfils this, such as Count>3, Name=abc, Message~timeout
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) conditions: Vec<Condition>,

    /// Stop after so many events
    #[arg(long, short = 'n', value_name = "N")]
    #[arg(help_heading = "Which events")]
    pub(crate) limit: Option<u64>,

    /// Show only these fields of payloads, in this order
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,

    /// Show stacks, innermost frame first
    #[arg(long)]
    pub(crate) stacks: bool,

    /// Show what is stored: ticks, keywords, opcode, processor, sequence number, offset, payload in hex
    #[arg(long)]
    pub(crate) raw: bool,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,

    /// Whole numbers from 2^53 on as JSON numbers, or as strings for readers that make doubles of all numbers
    #[arg(long, value_enum, value_name = "AS", default_value_t)]
    pub(crate) big_ints: BigInts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    #[default]
    Text,
    Ndjson,
    Csv,
}

/// How whole numbers are written that a double does not hold exactly: from 2^53 on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BigInts {
    #[default]
    Number,
    String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    #[default]
    Time,
    File,
}

/// Which samples count, and how frames are named.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Only samples of this OS thread; may be given several times
    #[arg(long, value_name = "TID")]
    pub(crate) thread: Vec<u64>,

    /// Only samples of this OS process; may be given several times
    #[arg(long, value_name = "PID")]
    pub(crate) process: Vec<u64>,

    /// Only samples from FROM until before TO, such as 1.5s..3s, 200ms.., ..10us; without unit: seconds
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) time: Option<TimeRange>,

    /// Only stacks with a frame like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) frame: Option<Regex>,

    /// No stacks with a frame like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Option<Regex>,

    /// Only samples in this state; may be given several times
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) state: Vec<StateArg>,

    /// How much of a name to show
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    pub(crate) names: NameStyleArg,

    /// Names as the runtime stores them: lambdas, async methods and types in the compiler's notation
    #[arg(long)]
    pub(crate) raw_names: bool,

    /// Names for what the trace does not name, such as /tmp/perf-1234.map of process 1234
    #[arg(long, value_name = "FILE")]
    pub(crate) perf_map: Vec<PathBuf>,

    /// Names of native code, from the ELF files below this folder that the trace says were mapped (version 6)
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
}

const REPORT_EXAMPLES: &str = "
Times of topN, tree and threads are wall time between samples, not time on a processor: the runtime's sampler \
stops threads whether they run or wait. --state managed leaves those out that were in native code or waiting.

Examples:
  nettrace report topN trace.nettrace
  nettrace report topN trace.nettrace --inclusive -n 50 --state managed
  nettrace report tree trace.nettrace --from 'Program.Main' --min 2
  nettrace report threads trace.nettrace --json | jq '.threads[0]'
  nettrace report gc trace.nettrace --timeline
  nettrace report activities trace.nettrace --id //1/5
  nettrace report counters trace.nettrace --format openmetrics
  nettrace report jit trace.nettrace --before 500ms --top 50
  nettrace report alloc trace.nettrace --thread 17401 --json | jq '.sources[0].types[0]'";

fn report_help() -> String {
    format!("Reports:\n{}{REPORT_EXAMPLES}", crate::commands::reports())
}

/// Where time went and what the runtime did
#[derive(Debug, Args)]
#[command(after_help = report_help(), override_usage = "nettrace report [OPTIONS] <REPORT> <FILE>")]
pub(crate) struct ReportArgs {
    /// One of the reports below, and the trace; in either order
    #[arg(value_names = ["REPORT", "FILE"], num_args = 1..=2, required = true)]
    pub(crate) what: Vec<OsString>,

    /// Read the file instead of mapping it into memory, for files that may shrink meanwhile
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Give up when a compressed trace unpacks to more than this: 500MB, 1.5TB
    #[arg(long, value_name = "SIZE", default_value = "64GiB")]
    pub(crate) input_limit: Bytes,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,

    /// topN: order by total instead of self
    #[arg(long)]
    pub(crate) inclusive: bool,

    /// topN: each thread by itself
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// topN: what rows stand for
    #[arg(long, value_enum, value_name = "GROUP", default_value_t)]
    pub(crate) by: GroupByArg,

    /// tree: begin at frames like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) from: Option<Regex>,

    /// tree: turned around, callers below whom they call
    #[arg(long)]
    pub(crate) callers: bool,

    /// tree: leave out what has less of all time, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub(crate) min: f64,

    /// gc, jit: in the order of time
    #[arg(long)]
    pub(crate) timeline: bool,

    /// activities, http: the events of this activity and of those inside of it: a path such as //1/5, or
    /// another id
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// counters: how to write them
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: CounterFormat,

    /// Only what was before this time since the session's start, such as 500ms; jit: in the order of time
    #[arg(long, value_name = "TIME", value_parser = crate::time_range::nanos, conflicts_with = "time")]
    pub(crate) before: Option<i64>,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CounterFormat {
    /// For reading: least, mean, most, last, trend
    #[default]
    Table,
    /// All values, with the columns of dotnet-counters
    Csv,
    /// All values, as one object
    Json,
    /// All values, one a line
    Ndjson,
    /// All values, for Prometheus and others
    Openmetrics,
}

/// `1`, `0.5`, `2%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a percentage is due, such as 1 or 0.5%".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupByArg {
    #[default]
    Method,
    Module,
    Namespace,
    Type,
}

const CONVERT_EXAMPLES: &str = "\
The format is taken from the name of the output if --format does not say it. Several formats or outputs are \
written in one pass. Without -o the output lies beside the trace.

Examples:
  nettrace convert trace.nettrace --format speedscope
  nettrace convert trace.nettrace.gz -o profile.pb.gz
  nettrace convert trace.nettrace -o a.speedscope.json -o b.folded --state managed
  nettrace convert trace.nettrace --format folded --kind alloc -o - | flamegraph.pl > alloc.svg";

fn convert_help() -> String {
    format!("Formats:\n{}\n{CONVERT_EXAMPLES}", crate::commands::formats("  "))
}

/// Write a trace's stacks in another tool's format
#[derive(Debug, Args)]
#[command(after_help = convert_help())]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// One of the formats below; may be given several times. `--format list` shows them too
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// Where to write, - for standard output; may be given several times
    #[arg(long, short = 'o', value_name = "OUT")]
    pub(crate) output: Vec<PathBuf>,

    /// What to count: cpu, alloc, exceptions, contention, waits, threads, off-cpu, or an event: GC/Start,
    /// GCStart, Provider/Name, Provider/ID
    #[arg(long, visible_alias = "event", value_name = "KIND")]
    pub(crate) kind: Vec<KindArg>,

    /// With an event as --kind: the field whose value is its weight
    #[arg(long, value_name = "FIELD")]
    pub(crate) weight: Option<String>,

    /// folded, svg: the thread in front of each stack
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// folded: what the numbers count
    #[arg(long, value_enum, value_name = "UNIT", default_value_t)]
    pub(crate) unit: UnitArg,

    /// Overwrite files that are there
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

impl ConvertArgs {
    /// The events that are to be counted.
    pub(crate) fn event_names(&self) -> Vec<&str> {
        self.kind.iter().filter_map(KindArg::event_name).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitArg {
    /// Weight: nanoseconds, bytes, or whatever the kind has
    #[default]
    Ns,
    Samples,
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

const CHECK_EXAMPLES: &str = "\
Exit codes: 0 nothing found, or notes only; 3 something cannot be read; 4 notes only, with --strict.

Examples:
  nettrace check trace.nettrace
  nettrace check trace.nettrace --json | jq .counts
  my-writer | nettrace check --strict -";

/// Whether a trace keeps to the format: damage, broken rules, missing events, each with its place and section
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with 4 when there are notes and nothing worse
    #[arg(long)]
    pub(crate) strict: bool,
}

const SCHEMA_EXAMPLES: &str = "\
Fields are those of payloads, in payload order. They are described by the stream itself or, for events of \
the native runtime and some others, by the built-in catalog.

Examples:
  nettrace schema trace.nettrace
  nettrace schema trace.nettrace --provider '*Runtime' --event 'GC/*'
  nettrace schema trace.nettrace --json | jq '.types[] | select(.source == \"none\") | .name'";

/// Which event types the trace defines, with the fields of their payloads
#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Only types of providers like this: * and ? are wildcards, case does not matter
    #[arg(long, value_name = "GLOB")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only types of this id or name, as in nettrace events
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) event: Vec<EventPattern>,
}
