//! Events, one a line.

use super::{InputArgs, ThreadArgs};
use clap::{Args, ValueEnum};
use nettrace_export::{EventPattern, FilterOptions, GRAMMAR, Predicate, ProviderPattern, TimeRange};

const EVENTS_EXAMPLES: &str = "\
Times count from the session's start. --provider and --event may be repeated: an event is shown if it matches \
at least one of each. If --where is repeated, all conditions must hold.

NDJSON has the fields in \"payload\". Addresses and fields meant to be read in hexadecimal are strings, \
\"0x1f\"; enumerations are numbers; NaN and infinities are strings; bytes behind the last field are in \
\"payload_rest\", and faults of fields in \"payload_faults\".

CSV has one column for each field with --fields, or with one --event without wildcards; otherwise the column \
payload holds all fields as JSON.

Examples:
  nettrace events trace.nettrace --limit 20
  nettrace events trace.nettrace --provider '*Runtime' --time 1.5s..3s
  nettrace events trace.nettrace --event GC/Start --where Reason=Induced
  nettrace events trace.nettrace --where 'GC/Start and (Depth>=2 or Reason=Induced)'
  nettrace events trace.nettrace --event Exception/Start --where 'ExceptionMessage~time.?out'
  nettrace events trace.nettrace --event GC/AllocationTick --fields TypeName,AllocationAmount64 --format csv
  nettrace events trace.nettrace --format ndjson --stacks | jq -c 'select(.tid == 17401)'";

/// Print the events, one per line
#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{EVENTS_EXAMPLES}"))]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    /// text is for people; ndjson has one JSON object per line, for programs; csv is for spreadsheets
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    /// By time, or in the order in which they are stored in the file
    #[arg(long, value_enum, value_name = "ORDER", default_value_t)]
    pub(crate) order: Order,

    #[command(flatten)]
    pub(crate) filter: EventFilterArgs,

    /// Only events from FROM up to, but not including, TO, such as 1.5s..3s, 200ms.., ..10us; a number
    /// without a unit means seconds
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) time: Option<TimeRange>,

    /// Only events that fulfil this, such as Count>3, 'Name=abc and not Message~timeout'; see below
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) conditions: Vec<Predicate>,

    /// Stop after this many events
    #[arg(long, short = 'n', value_name = "N")]
    #[arg(help_heading = "Which events")]
    pub(crate) limit: Option<u64>,

    /// Show only these fields of payloads, in this order
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,

    /// Show stacks, innermost frame first: names as text, addresses for programs
    #[arg(long)]
    pub(crate) stacks: bool,

    /// Show addresses instead of names (text)
    #[arg(long, requires = "stacks", conflicts_with = "frames")]
    pub(crate) raw_stacks: bool,

    /// Add the names of the frames as "frames", beside the addresses in "stack" (ndjson, csv)
    #[arg(long, requires = "stacks")]
    pub(crate) frames: bool,

    /// Show stored values: ticks, keywords, opcode, processor, sequence number, offset, payload in hex
    #[arg(long)]
    pub(crate) raw: bool,

    /// CSV for spreadsheets: texts that they would run as formulas begin with an apostrophe. Without: on where somebody
    /// sits at a terminal, off with --raw and in scripts
    #[arg(long, value_name = "WHETHER", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) csv_safe: Option<bool>,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,

    /// How to write integers from 2^53 on: many JSON readers use doubles, which cannot hold them exactly
    #[arg(long, value_enum, value_name = "AS", default_value_t)]
    pub(crate) big_ints: BigInts,
}

impl EventsArgs {
    /// What the events have to be.
    pub(crate) fn filter_options(&self) -> FilterOptions {
        let mut options = FilterOptions::default();
        options.providers.clone_from(&self.filter.provider);
        options.events.clone_from(&self.filter.event);
        options.threads.clone_from(&self.filter.thread);
        options.time = self.time;
        options.conditions.clone_from(&self.conditions);
        options
    }
}

/// Which events.
#[derive(Debug, Clone, Args)]
pub(crate) struct EventFilterArgs {
    /// Only events of providers with such a name; * and ? are wildcards, case does not matter
    #[arg(long, value_name = "GLOB")]
    #[arg(help_heading = "Which events")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only events with this id or name: GC/Start, GCStart, GCStart_V2, Provider/Name; wildcards as for
    /// --provider
    #[arg(long, value_name = "NAME|ID")]
    #[arg(help_heading = "Which events")]
    pub(crate) event: Vec<EventPattern>,

    /// Only events of this OS thread
    #[arg(long, value_name = "TID", allow_negative_numbers = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) thread: Vec<i64>,
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
