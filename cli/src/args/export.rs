//! The command line of `nettrace export`.

use super::{ColorArg, CutStacksArg, DuringArgs, QuietArg, ReadArgs};
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const PARQUET_EXAMPLES: &str = "\
Each trace adds one file to each table: DIR/TABLE/[KEY=VALUE/]CONTENT-HASH.parquet. Several processes and machines can \
export to one folder without coordination. An input that cannot be read becomes a row of the table `inputs` with its \
reason, and the exit code is 3. `docs/tables.md` describes the tables, `docs/fleet.md` \
how to query them with DuckDB and Spark.

Tables: inputs, events, samples, stacks, frames, methods, threads, gcs, allocations, exceptions, contentions, jit, \
counters, activities, logs, thread_times. `inputs` is always written.

Expressions of --partition-by NAME=EXPR, of the trace's path, header or process:
  dir, dir:2        the folder that the trace is in; the one above that
  path:REGEX        what the first group matches in the path, such as
                    'path:([^/]+)/[^/]*$'
  property:KEY      a value of the stream's header (version 6): HostName
  command:REGEX     what the first group matches in the command line
  env:NAME          a variable of this process's environment, such as HOSTNAME
  'TEXT'            the text itself

Examples:
  nettrace export parquet trace.nettrace -o tables
  nettrace export parquet /traces '/archive/*/*.nettrace.gz' \\
      -o tables --partition-by process,date,host=dir
  nettrace export parquet - -o tables --tables samples,stacks,frames \\
      < trace.nettrace
  nettrace export parquet /traces -o tables --wide 'Shop/Order*' \\
      --wide Microsoft-Windows-DotNETRuntime/GC/Start
  nettrace export parquet /traces -o tables --skip-existing --threads 8
  duckdb -c \"select event, count(*) from 'tables/events/**/*.parquet' \\
      group by 1 order by 2 desc\"";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    pub(crate) format: ExportFormat,

    #[command(flatten)]
    _color: ColorArg,

    #[command(flatten)]
    _quiet: QuietArg,
}

// A documentation comment here would become the description of `export` in its help.
#[derive(Debug, Subcommand)]
pub(crate) enum ExportFormat {
    /// Write traces as Parquet files: one table each of events, samples, stacks,
    /// collections and more
    Parquet(ParquetArgs),
}

// No documentation comment, because it would become help. The options of all commands are not
// included, because --wide means something else here; elsewhere it shows all columns of tables on a
// terminal.
#[derive(Debug, Args)]
#[command(after_help = PARQUET_EXAMPLES)]
pub(crate) struct ParquetArgs {
    /// Traces: files, plain, gzip or zstd; folders, with all .nettrace and .netperf files below;
    /// patterns with *, ? and **; - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The folder of the tables
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// Tables to write; default: all
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,

    /// Add a table for this type of event, with a column for each field: PROVIDER/EVENT, as
    /// `nettrace stats` shows it, also with * and ?; may be repeated
    #[arg(long, value_name = "PROVIDER/EVENT")]
    pub(crate) wide: Vec<String>,

    /// Leave out the payloads of events
    #[arg(long)]
    pub(crate) no_payload: bool,

    /// How to treat stacks that lost their callers: the runtime keeps 100 frames
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub(crate) cut_stacks: CutStacksArg,

    /// Let stacks of async code have who awaits it as callers, instead of what resumed it on the
    /// thread: see `nettrace report topN --help`
    #[arg(long = "async")]
    pub(crate) async_callers: bool,

    /// Let frames be source lines, from portable PDBs beside the modules, in them, beside the trace
    /// or in --symbols
    #[arg(long)]
    pub(crate) lines: bool,

    /// A folder with portable PDBs or modules for --lines, whatever their paths were; may be
    /// repeated
    #[arg(long, value_name = "DIR", requires = "lines")]
    pub(crate) symbols: Vec<PathBuf>,

    /// Sort the tables into folders by process (the program's name), date (of the session's start,
    /// UTC), or any NAME=EXPR, such as host=dir
    #[arg(long, value_name = "KEY")]
    pub(crate) partition_by: Vec<String>,

    /// Leave out traces whose tables the folder has already, judged by their content
    #[arg(long)]
    pub(crate) skip_existing: bool,

    /// Maximum number of traces read at the same time; default: the number of processors
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) during: DuringArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    #[command(flatten)]
    _color: ColorArg,

    #[command(flatten)]
    _quiet: QuietArg,
}
