//! The command line of `nettrace events`.

use super::{DuringArgs, InputArgs, ThreadArgs};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use nettrace_export::{
    Detail, EventForm, EventPattern, FilterOptions, GRAMMAR, Predicate, ProviderPattern, TimeRange,
};

const EVENTS_EXAMPLES: &str = "\
Times are relative to the session's start. --provider and --event may be repeated: an event is shown if it \
matches at least one of each. If --where is repeated, all conditions must hold.

NDJSON has the fields in \"payload\". Addresses and fields meant to be read in hexadecimal are strings, \
\"0x1f\"; enumerations are numbers; NaN and infinities are strings; bytes after the last field are in \
\"payload_rest\", and fields that could not be read in \"payload_faults\".

CSV has one column for each field with --fields, or with one --event without wildcards; otherwise the column \
payload holds all fields as JSON.

Examples:
  nettrace events trace.nettrace --limit 20
  nettrace events trace.nettrace --provider '*Runtime' --time 1.5s..3s
  nettrace events trace.nettrace --event GC/Start --where Reason=Induced
  nettrace events trace.nettrace \\
      --where 'GC/Start and (Depth>=2 or Reason=Induced)'
  nettrace events trace.nettrace --event Exception/Start \\
      --where 'ExceptionMessage~time.?out'
  nettrace events trace.nettrace --event GC/AllocationTick \\
      --fields TypeName,AllocationAmount64 --format csv
  nettrace events trace.nettrace --format ndjson --stacks \\
      | jq -c 'select(.tid == 17401)'";

#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{EVENTS_EXAMPLES}"))]
pub(crate) struct EventsArgs {
    /// Output format: text for people, ndjson with one JSON object per line for programs, csv for
    /// spreadsheets
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    /// Order of the events: by time, or as they are stored in the file
    #[arg(long, value_enum, value_name = "ORDER", default_value_t)]
    pub(crate) order: Order,

    #[command(flatten)]
    pub(crate) filter: EventFilterArgs,

    /// Only events from FROM up to, but not including, TO, such as 1.5s..3s, 200ms..,
    /// ..10us; a number without a unit means seconds
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) time: Option<TimeRange>,

    #[command(flatten)]
    pub(crate) during: DuringArgs,

    /// Only events that meet this condition, such as Count>3, 'Name=abc and not
    /// Message~timeout'; see below
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    #[arg(value_parser = super::condition::condition)]
    #[arg(help_heading = "Which events")]
    pub(crate) conditions: Vec<Predicate>,

    /// Stop after this many events
    #[arg(long, short = 'n', value_name = "N")]
    #[arg(help_heading = "Which events")]
    pub(crate) limit: Option<u64>,

    /// Show only these payload fields, in this order
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,

    /// Show stacks, innermost frame first: names as text, addresses for programs
    #[arg(long)]
    pub(crate) stacks: bool,

    #[command(flatten)]
    pub(crate) shape: ShapeArgs,

    /// Put an apostrophe before texts that a spreadsheet would run as formulas (csv).
    /// Default: on if stdout or stderr is a terminal, off with --raw and in scripts
    #[arg(long, value_name = "WHETHER", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) csv_safe: Option<bool>,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,

    /// How to write integers of 2^53 and above (ndjson): many JSON readers use doubles,
    /// which cannot hold them exactly
    #[arg(long, value_enum, value_name = "AS", default_value_t)]
    pub(crate) big_ints: BigInts,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

impl EventsArgs {
    /// Returns the conditions that an event must meet to be shown.
    pub(crate) fn filter_options(&self) -> FilterOptions {
        let mut options = self.filter.options(&self.conditions);
        options.time = self.time;
        options
    }
}

/// Options that choose how much is shown of each event.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ShapeArgs {
    /// Show addresses instead of names (text)
    #[arg(long, requires = "stacks", conflicts_with = "frames")]
    pub(crate) raw_stacks: bool,

    /// Add the names of the frames as "frames", beside the addresses in "stack" (ndjson,
    /// csv)
    #[arg(long, requires = "stacks")]
    pub(crate) frames: bool,

    /// Show stored values: ticks, keywords, opcode, processor, sequence number, offset,
    /// payload in hex
    #[arg(long)]
    pub(crate) raw: bool,
}

impl ShapeArgs {
    /// Returns whether names of frames are shown: in text unless the user wants addresses, in other
    /// formats only with `--frames`.
    pub(crate) fn shows_names(&self, format: EventFormat, has_stacks: bool) -> bool {
        self.frames || has_stacks && !self.raw_stacks && format == EventFormat::Text
    }

    pub(crate) fn detail(&self, format: EventFormat, has_stacks: bool, is_utc: bool) -> Detail {
        let mut detail = Detail::default();
        detail.stacks = has_stacks;
        detail.frames = self.shows_names(format, has_stacks);
        detail.raw = self.raw;
        detail.utc = is_utc;
        detail
    }
}

/// Options that choose events by provider, name and thread.
#[derive(Debug, Clone, Args)]
pub(crate) struct EventFilterArgs {
    /// Only events of providers whose name matches; * and ? are wildcards, case is
    /// ignored
    #[arg(long, value_name = "GLOB")]
    #[arg(help_heading = "Which events")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only events with this id or name: GC/Start, GCStart, GCStart_V2, Provider/Name;
    /// wildcards as for --provider
    #[arg(long, value_name = "NAME|ID")]
    #[arg(help_heading = "Which events")]
    pub(crate) event: Vec<EventPattern>,

    /// Only events of this OS thread
    #[arg(long, value_name = "TID", allow_negative_numbers = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) thread: Vec<i64>,
}

impl EventFilterArgs {
    pub(crate) fn options(&self, conditions: &[Predicate]) -> FilterOptions {
        let mut options = FilterOptions::default();
        options.providers.clone_from(&self.provider);
        options.events.clone_from(&self.event);
        options.threads.clone_from(&self.thread);
        options.conditions = conditions.to_vec();
        options
    }
}

/// Refusal of `--utc` with CSV.
const NO_UTC_IN_CSV: &str = "--utc is for text: csv has the time in nanoseconds since the session's start, and nettrace info when that was";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    #[default]
    Text,
    Ndjson,
    Csv,
}

impl EventFormat {
    pub(crate) fn form(self) -> EventForm {
        match self {
            EventFormat::Text => EventForm::Text,
            EventFormat::Ndjson => EventForm::Ndjson,
            EventFormat::Csv => EventForm::Csv,
        }
    }

    /// Refuses `--utc` in CSV, whose column of times has one meaning.
    pub(crate) fn check_utc(self, is_utc: bool) -> Result<(), Failure> {
        if is_utc && self == EventFormat::Csv { Err(Failure::usage(NO_UTC_IN_CSV)) } else { Ok(()) }
    }
}

/// How to write integers of 2^53 and above, which a double cannot hold exactly.
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
