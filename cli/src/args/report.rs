//! Reports.

use super::{ReadArgs, SampleArgs, SampleThreadArgs};
use crate::commands::{REPORTS, ReportRow};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use nettrace_analysis::Pattern;
use std::ffi::OsString;
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

/// `nettrace report`: a subcommand for each report, with the options that the report takes.
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
            .subcommands(REPORTS.iter().map(subcommand))
    }

    fn augment_args_for_update(command: Command) -> Command {
        ReportCommand::augment_args(command)
    }
}

/// One report's subcommand. Options that are for other reports are there, but hidden: so they can be refused with
/// the name of the report that has them.
fn subcommand(row: &'static ReportRow) -> Command {
    let record = crate::recommended::providers(row.record);
    let command = ReportArgs::augment_args(Command::new(row.name))
        .about(row.about)
        .override_usage(format!("nettrace report {} [OPTIONS] <FILE>", row.name))
        .mut_args(|arg| if takes(row, arg.get_id().as_str()) { arg } else { arg.hide(true) });
    match record.as_slice() {
        [] => command,
        record => {
            command.after_help(format!("Record with --providers {}", record.join("\n or with --providers ")))
        }
    }
}

/// Options that every report takes.
const OF_ALL: &[&str] =
    &["file", "json", "no_mmap", "input_limit", "color", "quiet", "wide", "help", "version"];

fn takes(row: &ReportRow, id: &str) -> bool {
    OF_ALL.contains(&id) || row.flags.iter().any(|flags| flags.contains(&id))
}

impl FromArgMatches for ReportCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand().and_then(|(name, own)| Some((find(name)?, own)));
        let Some((row, own)) = found else {
            return Err(clap::Error::raw(ErrorKind::MissingSubcommand, "a report and a trace are needed\n"));
        };
        refuse_others(row, own)?;
        let mut args = ReportArgs { report: row, ..ReportArgs::from_arg_matches(own)? };
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

/// Fails if an option was given that the report does not take.
fn refuse_others(row: &ReportRow, matches: &ArgMatches) -> Result<(), clap::Error> {
    let all = ReportArgs::augment_args(Command::new(row.name));
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let Some(arg) =
        all.get_arguments().find(|arg| !takes(row, arg.get_id().as_str()) && is_given(arg.get_id().as_str()))
    else {
        return Ok(());
    };
    let (id, flag) = (arg.get_id().as_str(), arg.get_long().unwrap_or_default());
    let others: Vec<&str> = REPORTS.iter().filter(|other| takes(other, id)).map(|other| other.name).collect();
    let message = format!(
        "report {} takes no --{flag}, which is for {}\n\nFor its options, try '{}'.\n",
        row.name,
        others.join(", "),
        format_args!("nettrace report {} --help", row.name),
    );
    Err(clap::Error::raw(ErrorKind::UnknownArgument, message))
}

/// The report of a name; case does not matter.
fn find(name: &str) -> Option<&'static ReportRow> {
    let name = if name.eq_ignore_ascii_case("top") { "topN" } else { name };
    REPORTS.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

/// Puts the report's name right behind `report`, wherever it stands: users of dotnet-trace have the trace in front
/// of it. `report FILE` stands for `report summary FILE`.
pub(crate) fn with_report_first(mut args: Vec<OsString>) -> Vec<OsString> {
    let Some(command) = command_at(&args).filter(|at| args.get(*at).is_some_and(|word| word == "report"))
    else {
        return args;
    };
    let words = words_behind(&args, command);
    let named = words.iter().find_map(|at| Some((*at, find(args.get(*at)?.to_str()?)?)));
    let name = match (named, words.as_slice()) {
        (Some((at, row)), _) => {
            args.remove(at);
            row.name
        }
        (None, [_]) => "summary",
        (None, _) => return args,
    };
    args.insert(command.saturating_add(1), name.into());
    args
}

/// The place of the command: the first word that is no option of all commands.
fn command_at(args: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(option) = args.get(at).filter(|word| word.as_encoded_bytes().starts_with(b"-")) {
        at = at.saturating_add(if option == "--color" { 2 } else { 1 });
    }
    (at < args.len()).then_some(at)
}

/// The places of words that are neither options nor their values.
fn words_behind(args: &[OsString], command: usize) -> Vec<usize> {
    let all = ReportArgs::augment_args(Command::new("report"));
    let with_value: Vec<String> = all
        .get_arguments()
        .filter(|arg| arg.get_action().takes_values())
        .flat_map(|arg| {
            let longs = arg.get_long_and_visible_aliases().unwrap_or_default().into_iter();
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default().into_iter();
            longs
                .map(|long| format!("--{long}"))
                .chain(shorts.map(|short| format!("-{short}")))
                .collect::<Vec<_>>()
        })
        .chain(["--color".to_owned()])
        .collect();
    let mut words = Vec::new();
    let mut at = command.saturating_add(1);
    while let Some(word) = args.get(at).filter(|word| *word != "--") {
        if !word.as_encoded_bytes().starts_with(b"-") || word == "-" {
            words.push(at);
        } else if with_value.iter().any(|option| word == option.as_str()) {
            at = at.saturating_add(1);
        }
        at = at.saturating_add(1);
    }
    words
}

/// The options of all reports. Which report takes which, its row says.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[arg(skip = &REPORTS[0])]
    pub(crate) report: &'static ReportRow,

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
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = crate::samples::percent)]
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
