//! The command line of `nettrace heap`.

use super::input::trace_file;
use super::samples::percent;
use super::{FormArg, ReadArgs, TalkArgs, TargetArgs, WithCommon};
use crate::args::amount::{self, Span};
use crate::expression::{Regex, regex};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const HEAP_EXAMPLES: &str = "\
To record a heap dump, collect with --providers Microsoft-Windows-DotNETRuntime:0x1980001:5. It makes the runtime \
run a collection and report every object that survives.

The retained size of an object is what would be freed with it: the object and all that only it keeps alive. The \
retained size of a type covers all its objects; what several of them share is counted once.

The dump of a running process is taken at once. The process is paused while the runtime reports its objects: about a second \
for a few million of them. nettrace prints how long the pause was.

The second dump of a trace is --dump 2 or FILE#2. Where the program collects younger generations just as a dump is asked for, \
the runtime makes a dump of that collection, too; objects of older generations in it may be garbage, so it is shown only if asked for.

Examples:
  nettrace heap dump.nettrace
  nettrace heap dump.nettrace --sort retained --type '^Shop\\.'
  nettrace heap dump.nettrace --by roots
  nettrace heap paths dump.nettrace --type Session
  nettrace heap diff before.nettrace after.nettrace
  nettrace heap -p 4711 --save dump.nettrace
  nettrace heap -n shop --by roots
  nettrace heap --after 10s -- dotnet shop.dll
  nettrace heap dump.nettrace --json | jq '.types[0]'";

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

    /// The trace, or a .gcdump: a file, plain, gzip or zstd, or - for standard input
    #[arg(value_name = "FILE", value_parser = trace_file())]
    #[arg(conflicts_with_all = ["process_id", "name", "port", "program"])]
    pub(crate) file: Option<PathBuf>,

    /// The process with this id
    #[arg(long, short, value_name = "PID", help_heading = "Which process", group = "target")]
    #[arg(value_parser = super::live::pid)]
    pub(crate) process_id: Option<u32>,

    /// The process of this name, if there is only one; -n NAME is the same if no other
    /// option names a process
    #[arg(long, value_name = "NAME", help_heading = "Which process", group = "target")]
    pub(crate) name: Option<String>,

    /// A diagnostic port: PATH or tcp://HOST:PORT, where nettrace listens and runtimes
    /// connect; with ,connect appended, nettrace connects to a runtime that listens there
    #[arg(long, visible_aliases = ["diagnostic-port", "dport"], value_name = "ADDRESS")]
    #[arg(help_heading = "Which process", group = "target")]
    pub(crate) port: Option<String>,

    /// Start this program, and take a dump after one second, or after --after
    #[arg(last = true, value_name = "COMMAND", help_heading = "Which process", group = "target")]
    pub(crate) program: Vec<OsString>,

    /// How long to let the process run before the dump is taken
    #[arg(long, value_name = "TIME", help_heading = "Which process", conflicts_with = "file")]
    pub(crate) after: Option<Span>,

    /// Also keep the trace in this file
    #[arg(long, value_name = "FILE", help_heading = "Which process", conflicts_with = "file")]
    pub(crate) save: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// How many rows to show at most; default: 30. If neither a trace nor another option
    /// names the process, -n NAME does
    #[arg(short, value_name = "N")]
    pub(crate) n: Option<String>,

    /// How many rows to show at most
    #[arg(long, visible_alias = "top", value_name = "N")]
    pub(crate) number: Option<usize>,

    /// What the table lists; JSON has all lists
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub(crate) by: HeapBy,

    /// What to sort types and modules by
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: HeapSort,

    /// Only types whose names match this regular expression
    #[arg(long = "type", value_name = "REGEX", value_parser = regex)]
    pub(crate) type_name: Option<Regex>,

    #[command(flatten)]
    pub(crate) form: FormArg,
}

/// Where `nettrace heap` finds its dump.
#[derive(Debug)]
pub(crate) enum HeapSource<'a> {
    Trace(&'a PathBuf),
    Process(TargetArgs),
}

impl HeapArgs {
    /// Returns the trace or the process that was named; `None` if neither was.
    pub(crate) fn source(&self) -> Option<HeapSource<'_>> {
        if let Some(file) = &self.file {
            return Some(HeapSource::Trace(file));
        }
        let is_named = self.process_id.is_some() || self.name.is_some() || self.port.is_some();
        let is_known = is_named || !self.program.is_empty();
        let name = self.name.clone().or_else(|| self.n.clone().filter(|_| !is_known));
        if !is_known && name.is_none() {
            return None;
        }
        let (process_id, port) = (self.process_id, self.port.clone());
        Some(HeapSource::Process(TargetArgs { process_id, name, port }))
    }

    /// Returns the maximum number of rows of a table.
    ///
    /// # Errors
    ///
    /// The value of `-n` stands for a number of rows, but is not a number.
    pub(crate) fn rows(&self) -> Result<usize, String> {
        let is_name = self.file.is_none() && self.process_id.is_none() && self.name.is_none();
        let is_name = is_name && self.port.is_none() && self.program.is_empty();
        match (&self.n, self.number) {
            (Some(text), _) if !is_name => {
                text.parse().map_err(|_| format!("-n {text}: give a number of rows"))
            }
            (_, number) => Ok(number.unwrap_or(30)),
        }
    }
}

/// Options that choose a dump, and how the trace is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct DumpArgs {
    /// The number of the dump in the trace; default: the first of a collection of all generations
    #[arg(long, value_name = "N")]
    pub(crate) dump: Option<usize>,

    #[command(flatten)]
    pub(crate) modules: ModuleFilesArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// Option that names the files of the program.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModuleFilesArgs {
    /// A folder with the .dll files of the program, or such a file: they have the outer types
    /// of nested types, which dumps lack. Those beside the trace, and those of a running
    /// process, are read as well
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeapBy {
    /// Types of objects
    #[default]
    Types,
    /// Modules that define the types
    Modules,
    /// Kinds of roots, and the static variables that keep the most alive
    Roots,
    /// Generations, and the heaps of large and of pinned objects
    Generations,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeapSort {
    /// Own size, largest first
    #[default]
    Bytes,
    /// Number of objects, most first
    Count,
    /// Retained size, largest first
    Retained,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HeapQuestion {
    /// How objects are kept alive: paths from the roots
    Paths(WithCommon<HeapPathsArgs>),
    /// The largest objects: address, size, generation, retained size
    Objects(WithCommon<HeapObjectsArgs>),
    /// How much memory is kept alive by what: the dominator tree, from the roots down, by
    /// type
    Tree(WithCommon<HeapTreeArgs>),
    /// What grew between two dumps
    Diff(WithCommon<HeapDiffArgs>),
}

const PATHS_EXAMPLES: &str = "\
An object may be reachable in many ways. The path shown is a shortest one from a root, preferably from a static variable. Objects \
that are held through the same types are one row. Events name no fields, and of a static variable not the class.

Examples:
  nettrace heap paths dump.nettrace --type 'Shop\\.Session$'
  nettrace heap paths dump.nettrace --object 0x7f5335009660";

#[derive(Debug, Args)]
#[command(after_help = PATHS_EXAMPLES)]
pub(crate) struct HeapPathsArgs {
    /// The trace, or a .gcdump: a file, plain, gzip or zstd, or - for standard input
    #[arg(value_name = "FILE", value_parser = trace_file())]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Objects of types whose names match this regular expression
    #[arg(long = "type", value_name = "REGEX", value_parser = regex, required_unless_present = "object")]
    pub(crate) type_name: Option<Regex>,

    /// The object at this address, in hexadecimal
    #[arg(long, value_name = "ADDRESS", conflicts_with = "type_name", value_parser = address)]
    pub(crate) object: Option<u64>,

    /// How many rows to show at most
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 10)]
    pub(crate) number: usize,

    #[command(flatten)]
    pub(crate) form: FormArg,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  nettrace heap objects dump.nettrace --type 'Byte\\[\\]' --sort retained"
)]
pub(crate) struct HeapObjectsArgs {
    /// The trace, or a .gcdump: a file, plain, gzip or zstd, or - for standard input
    #[arg(value_name = "FILE", value_parser = trace_file())]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Only objects of types whose names match this regular expression
    #[arg(long = "type", value_name = "REGEX", value_parser = regex)]
    pub(crate) type_name: Option<Regex>,

    /// What to sort by
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: ObjectSort,

    /// How many rows to show at most, in JSON too
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 30)]
    pub(crate) number: usize,

    #[command(flatten)]
    pub(crate) form: FormArg,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectSort {
    /// Own size, largest first
    #[default]
    Bytes,
    /// Retained size, largest first
    Retained,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nettrace heap tree dump.nettrace --min 5%\n  nettrace heap tree dump.nettrace --folded | inferno-flamegraph > heap.svg\n  nettrace convert dump.nettrace --kind heap -o heap.svg -o heap.pb.gz"
)]
pub(crate) struct HeapTreeArgs {
    /// The trace, or a .gcdump: a file, plain, gzip or zstd, or - for standard input
    #[arg(value_name = "FILE", value_parser = trace_file())]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) dump: DumpArgs,

    /// Leave out nodes that keep less than this percentage of all reachable memory alive
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub(crate) min: f64,

    #[command(flatten)]
    pub(crate) form: FormArg,

    /// Print the whole tree as folded stacks with own sizes, for flamegraph.pl, inferno
    /// or speedscope
    #[arg(long, conflicts_with_all = ["json", "min"])]
    pub(crate) folded: bool,
}

const DIFF_EXAMPLES: &str = "\
FILE#2 is the second dump of a trace. If OLD and NEW are one file, its first dump is compared with its last; those of \
younger collections are left out.

Examples:
  nettrace heap diff before.nettrace after.nettrace
  nettrace heap diff both.nettrace#1 both.nettrace#2 --sort retained";

#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct HeapDiffArgs {
    /// The first dump: a trace, or FILE#N
    #[arg(value_name = "OLD", value_parser = trace_file())]
    pub(crate) old: PathBuf,

    /// The second dump
    #[arg(value_name = "NEW", value_parser = trace_file())]
    pub(crate) new: PathBuf,

    #[command(flatten)]
    pub(crate) modules: ModuleFilesArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// Only types whose names match this regular expression
    #[arg(long = "type", value_name = "REGEX", value_parser = regex)]
    pub(crate) type_name: Option<Regex>,

    /// Sort by the growth of this
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    pub(crate) sort: HeapSort,

    /// How many rows to show at most
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 30)]
    pub(crate) number: usize,

    #[command(flatten)]
    pub(crate) form: FormArg,
}

/// Parses an address: `0x7f5335009660`; `0x` may be left out.
fn address(text: &str) -> Result<u64, String> {
    amount::hex(text).map_err(|_| "an address is written as 0x7f5335009660".to_owned())
}
