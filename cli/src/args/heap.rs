//! The command line of `nettrace heap`.

use super::ReadArgs;
use clap::{Args, ValueEnum};
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
  nettrace heap dump.nettrace --json | jq '.types[0]'";

/// What is on the managed heap, who keeps it alive, and what grew
#[derive(Debug, Args)]
#[command(after_help = HEAP_EXAMPLES)]
pub(crate) struct HeapArgs {
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
