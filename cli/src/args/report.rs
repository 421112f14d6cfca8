//! Reports.

use super::{FormArg, ReadArgs, RowsArg, SampleArgs, UnusedThreadArgs};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use nettrace_analysis::Pattern;
use std::path::PathBuf;

const REPORT_EXAMPLES: &str = "\
The times of topN, tree and threads are wall-clock time between samples, not processor time: the runtime's sampler \
stops all threads, whether they run or wait. topN and tree leave out threads that are known to wait, and say how \
much time that was. --state waiting shows where they wait, --state all counts both, --state managed also leaves \
out native code.

The trace may precede the report's name, as in dotnet-trace. `nettrace report REPORT --help` lists the options of \
a report.

With --json, each report has a member `outcome`: whether the trace is complete, and what is lost or damaged, with \
the same keys as in `nettrace info --json`.

Examples:
  nettrace report topN trace.nettrace
  nettrace report topN trace.nettrace --inclusive -n 50 --state managed
  nettrace report tree trace.nettrace --from 'Program.Main' --min 2
  nettrace report threads trace.nettrace --json | jq '.threads[0]'
  nettrace report gc trace.nettrace --timeline
  nettrace report activities trace.nettrace --id /#17178/1/256
  nettrace report counters trace.nettrace --format openmetrics
  nettrace report jit trace.nettrace --before 500ms --top 50
  nettrace report alloc trace.nettrace --thread 17401 --json \\
      | jq '.sources[0].types[0]'";

/// `nettrace report`. The list of reports belongs to the commands, which add a subcommand
/// for each.
#[derive(Debug)]
pub(crate) struct ReportCommand(pub(crate) ReportArgs);

impl Args for ReportCommand {
    fn augment_args(command: Command) -> Command {
        command
            .about("Where time went and what the runtime did")
            .after_help(REPORT_EXAMPLES)
            .override_usage("nettrace report <REPORT> <FILE> [OPTIONS]")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand_value_name("REPORT")
            .subcommand_help_heading("Reports")
            .disable_help_subcommand(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ReportCommand::augment_args(command)
    }
}

impl FromArgMatches for ReportCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Some((name, own)) = matches.subcommand() else {
            return Err(clap::Error::raw(
                ErrorKind::MissingSubcommand,
                "give a report and a trace: nettrace report <REPORT> <FILE>\n",
            ));
        };
        let mut args = ReportArgs { report: name.to_owned(), ..ReportArgs::from_arg_matches(own)? };
        if args.timeline && own.value_source("number") != Some(ValueSource::CommandLine) {
            args.rows.number = usize::MAX;
        }
        Ok(ReportCommand(args))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ReportCommand::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options of all reports. Which report takes which is in the list of reports.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The name of the report.
    #[arg(skip)]
    pub(crate) report: String,

    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    #[command(flatten)]
    threads: UnusedThreadArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,

    #[command(flatten)]
    pub(crate) rows: RowsArg,

    /// Sort by inclusive time (with callees) instead of exclusive time
    #[arg(long)]
    pub(crate) inclusive: bool,

    /// Show each thread separately
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// Show when each method was on a stack: a bar for each of 32 equal parts of the
    /// trace
    #[arg(long, conflicts_with = "by_thread")]
    pub(crate) when: bool,

    /// What a row stands for
    #[arg(long, value_enum, value_name = "GROUP", default_value_t)]
    pub(crate) by: GroupByArg,

    /// Start the tree at frames that match
    #[arg(long, value_name = "REGEX")]
    pub(crate) from: Option<Pattern>,

    /// Turn the tree around: a method's children are its callers
    #[arg(long)]
    pub(crate) callers: bool,

    /// Leave out nodes below this percentage of the total
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = super::samples::percent)]
    pub(crate) min: f64,

    /// Sort by time; shows all rows unless -n is given
    #[arg(long)]
    pub(crate) timeline: bool,

    /// Show the events of this activity and of those inside it: a path such as
    /// /#17178/1/256, or another id
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Only messages of this level or above
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(crate) level: LogLevelArg,

    /// The output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: CounterFormat,

    /// Put an apostrophe before names that a spreadsheet would run as formulas (csv).
    /// Default: on if stdout or stderr is a terminal, off in scripts
    #[arg(long, value_name = "WHETHER", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) csv_safe: Option<bool>,

    /// Only what happened in the first part of the session, up to this time, such as
    /// 500ms
    #[arg(long, value_name = "TIME", value_parser = nettrace_export::time_range::nanos, conflicts_with = "time")]
    pub(crate) before: Option<i64>,

    /// The file to write; - for standard output; default: TRACE.html beside the trace
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing output file
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CounterFormat {
    /// For people: minimum, mean, maximum, last value, trend
    #[default]
    Table,
    /// All values, with the same columns as dotnet-counters
    Csv,
    /// All values, as one JSON object
    Json,
    /// All values, one per line
    Ndjson,
    /// All values, for Prometheus and compatible tools
    Openmetrics,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupByArg {
    #[default]
    Method,
    Module,
    Namespace,
    Type,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevelArg {
    #[default]
    Trace,
    Debug,
    #[value(alias = "info")]
    Information,
    #[value(alias = "warn")]
    Warning,
    Error,
    Critical,
}
