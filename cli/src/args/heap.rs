//! The command line of `nettrace heap`.

use super::ReadArgs;
use clap::{Args, Subcommand, ValueEnum};
use regex::Regex;
use std::path::PathBuf;

const HEAP_EXAMPLES: &str = "\
A dump is made of a collection that the session asks for: record with --providers \
Microsoft-Windows-DotNETRuntime:0x1980001:5. \
What an object retains would go with it: all that is kept alive by nothing else. Of a type, that is what lies below any \
of its objects, counted once.

The second dump of a trace is --dump 2 or FILE#2.

Examples:
  nettrace heap dump.nettrace
  nettrace heap dump.nettrace --sort retained --type '^Shop\\.'
  nettrace heap dump.nettrace --by roots
  nettrace heap paths dump.nettrace --type Session
  nettrace heap diff before.nettrace after.nettrace
  nettrace heap dump.nettrace --json | jq '.types[0]'";

/// What is on the managed heap, who keeps it alive, and what grew
#[derive(Debug, Args)]
#[command(after_help = HEAP_EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "QUESTION",
    subcommand_help_heading = "Questions"
)]
pub(crate) struct HeapArgs {
    #[command(subcommand)]
    pub(crate) question: Option<HeapQuestion>,

    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Rows
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 30)]
    pub(crate) number: usize,

    /// What the table lists; JSON has all
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub(crate) by: HeapBy,

    /// What types and modules are sorted by
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: HeapSort,

    /// Only types whose names fit this regular expression
    #[arg(long = "type", value_name = "REGEX")]
    pub(crate) type_name: Option<Regex>,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which dump, and how the trace is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct DumpArgs {
    /// The dump of this number, from 1; without: the first
    #[arg(long, value_name = "N")]
    pub(crate) dump: Option<usize>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeapBy {
    /// Types of objects
    #[default]
    Types,
    /// Modules of the types
    Modules,
    /// Kinds of roots, and the static variables that keep most alive
    Roots,
    /// Generations, large and pinned objects
    Generations,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeapSort {
    /// Own bytes, most first
    #[default]
    Bytes,
    /// Objects, most first
    Count,
    /// Bytes that would go with them, most first
    Retained,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HeapQuestion {
    Paths(HeapPathsArgs),
    Objects(HeapObjectsArgs),
    Tree(HeapTreeArgs),
    Diff(HeapDiffArgs),
}

const PATHS_EXAMPLES: &str = "\
Each object is held through many references; shown is a shortest way from a root, with static variables first. Objects \
that are held through the same types are one row. Events name no fields, and of a static variable not the class.

Examples:
  nettrace heap paths dump.nettrace --type 'Shop\\.Session$'
  nettrace heap paths dump.nettrace --object 0x7f5335009660";

/// Through what objects are kept alive
#[derive(Debug, Args)]
#[command(after_help = PATHS_EXAMPLES)]
pub(crate) struct HeapPathsArgs {
    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Objects of types whose names fit this regular expression
    #[arg(long = "type", value_name = "REGEX", required_unless_present = "object")]
    pub(crate) type_name: Option<Regex>,

    /// The object at this address, in hexadecimal
    #[arg(long, value_name = "ADDRESS", conflicts_with = "type_name", value_parser = address)]
    pub(crate) object: Option<u64>,

    /// Rows
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 10)]
    pub(crate) number: usize,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The largest objects: address, size, generation, what they retain
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace heap objects dump.nettrace --type 'byte\\[\\]' --sort retained")]
pub(crate) struct HeapObjectsArgs {
    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Objects of types whose names fit this regular expression; without: of all
    #[arg(long = "type", value_name = "REGEX")]
    pub(crate) type_name: Option<Regex>,

    /// What they are sorted by
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: ObjectSort,

    /// Rows, also of JSON
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 30)]
    pub(crate) number: usize,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectSort {
    /// Own bytes, most first
    #[default]
    Bytes,
    /// Bytes that would go with it, most first
    Retained,
}

/// What keeps how much alive, from the roots down: the dominator tree, by type
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace heap tree dump.nettrace --min 5%")]
pub(crate) struct HeapTreeArgs {
    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Leave out what keeps less than this alive, in percent of all that roots reach
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub(crate) min: f64,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

const DIFF_EXAMPLES: &str = "\
FILE#2 is the second dump of a trace. Of one file given twice the first dump is compared with the last.

Examples:
  nettrace heap diff before.nettrace after.nettrace
  nettrace heap diff both.nettrace#1 both.nettrace#2 --sort retained";

/// What grew between two dumps
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct HeapDiffArgs {
    /// The first dump: a trace, or FILE#N
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,

    /// The second dump
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// Only types whose names fit this regular expression
    #[arg(long = "type", value_name = "REGEX")]
    pub(crate) type_name: Option<Regex>,

    /// By the growth of what they are sorted
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: HeapSort,

    /// Rows
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 30)]
    pub(crate) number: usize,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// `0x7f5335009660`; the front may be left out.
fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u64::from_str_radix(digits, 16).map_err(|_| "an address is written as 0x7f5335009660".to_owned())
}

/// `1%`, `0.5`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    let is_share = |number: &f64| (0.0..=100.0).contains(number);
    number.ok().filter(is_share).ok_or_else(|| "give percent: 1%, 0.5%".to_owned())
}
