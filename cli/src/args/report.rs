//! Reports.

use super::{ReadArgs, SampleArgs, SampleThreadArgs};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use nettrace_analysis::Pattern;
use std::path::PathBuf;

const REPORT_EXAMPLES: &str = "\
Times of topN, tree and threads are wall time between samples, not time on a processor: the runtime's sampler \
stops threads whether they run or wait. topN and tree leave out what is known to wait and say how much that was; \
--state waiting shows where, --state all counts both, --state managed leaves out native code, too.

topN, tree, threads and modules can be read with several --threads, the others with one. The trace may stand in \
front of the report's name, as dotnet-trace has it. `nettrace report REPORT --help` lists a report's options.

With --json each report has a member `outcome`: whether the trace is complete, and what of it is lost or damaged, \
under the names that `nettrace info --json` has.

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

/// `nettrace report`. The list of reports belongs to the commands, which add a subcommand for each.
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
            return Err(clap::Error::raw(ErrorKind::MissingSubcommand, "a report and a trace are needed\n"));
        };
        let mut args = ReportArgs { report: name.to_owned(), ..ReportArgs::from_arg_matches(own)? };
        if args.timeline && own.value_source("number") != Some(ValueSource::CommandLine) {
            args.number = usize::MAX;
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
    pub(crate) threads: SampleThreadArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,

    /// Order by total instead of self
    #[arg(long)]
    pub(crate) inclusive: bool,

    /// Each thread by itself
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// When each method was on a stack: blocks over the time of the trace, cut into 32 parts
    #[arg(long, conflicts_with = "by_thread")]
    pub(crate) when: bool,

    /// What rows stand for
    #[arg(long, value_enum, value_name = "GROUP", default_value_t)]
    pub(crate) by: GroupByArg,

    /// Begin at frames like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) from: Option<Pattern>,

    /// Turned around: callers below whom they call
    #[arg(long)]
    pub(crate) callers: bool,

    /// Leave out what has less of all time, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = super::samples::percent)]
    pub(crate) min: f64,

    /// In the order of time; all rows unless -n is given
    #[arg(long)]
    pub(crate) timeline: bool,

    /// The events of this activity and of those inside it: a path such as //1/5, or another id
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Only messages that are at least this severe
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(crate) level: LogLevelArg,

    /// How to write them
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: CounterFormat,

    /// Only what was before this time since the session's start, such as 500ms
    #[arg(long, value_name = "TIME", value_parser = nettrace_export::time_range::nanos, conflicts_with = "time")]
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
