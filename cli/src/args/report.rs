//! The command line of `nettrace report`.

use super::{
    ActivityArg, FoldedArgs, FollowArgs, FormArg, HeapArgs, InputArgs, MomentArgs, NamedArgs,
    OwnedArgs, RowsArg, SampleArgs, UnusedThreadArgs, WithCommon,
};
use crate::expression::pattern;
use crate::recommended;
use clap::builder::{Resettable, StyledStr};
use clap::{Args, Subcommand, ValueEnum};
use nettrace_analysis::Pattern;
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{
    self, Activities, Alloc, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs,
    Modules, Report as _, Sql, Startup, Tasks, ThreadPool, Threads, TopNOptions, TreeOptions,
    Types, Waits,
};
use std::path::PathBuf;

const REPORT_EXAMPLES: &str = "\
The times of topN, tree and threads are wall-clock time between samples, not processor time: the runtime's sampler \
stops all threads, whether they run or wait. topN and tree leave out threads that are known to wait, and say how \
much time that was. --state waiting shows where they wait, --state all counts both, --state managed also leaves \
out native code.

If the recording has the times of its threads (collect --thread-times, Linux), they are processor time: rows and \
(recording), what the recording took, add up to what the process ran. (recording) is no part of 100 %: its \
percentage is relative to the other rows, whose sum is `total_ns`. threads shows what each thread RAN, how long it \
was READY without a processor, and how much of that was THROTTLED. The kernel counts throttling for a control \
group, so this is ready time between two readings in which the group was throttled.

The trace may precede the report's name, as in dotnet-trace. `nettrace report REPORT --help` lists the options of \
a report.

-n limits the rows of tables. With --json it limits methods, stacks, statements and the slowest; other lists are \
whole. Without options, the documents are those of the library nettrace-analysis with its defaults.

With --json, each report has a member `outcome`: whether the trace is complete, and what is lost or damaged, with \
the same keys as in `nettrace info --json`.

Examples:
  nettrace report topN trace.nettrace
  nettrace report topN trace.nettrace --inclusive -n 50 --state managed
  nettrace report tree trace.nettrace --from 'Program.Main' --min 2
  nettrace report tree trace.nettrace --method 'Cart.Total'
  nettrace report threads trace.nettrace --json | jq '.threads[0]'
  nettrace report gc trace.nettrace --timeline
  nettrace report activities trace.nettrace --id /#17178/1/256
  nettrace report sql trace.nettrace --json | jq '.statements[0].places'
  nettrace report counters trace.nettrace --format openmetrics
  nettrace report jit trace.nettrace --before 500ms --top 50
  nettrace report alloc trace.nettrace --thread 17401 --json \\
      | jq '.sources[0].types[0]'";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
#[command(override_usage = "nettrace report <REPORT> <FILE> [OPTIONS]")]
#[command(subcommand_value_name = "REPORT", subcommand_help_heading = "Reports")]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct ReportChoice {
    #[command(subcommand)]
    pub(crate) report: Report,
}

/// The reports, in the order in which help lists them. The analysis knows their names, what they
/// answer and what to record for them.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Report {
    #[command(name = Summary::NAME, about = Summary::ABOUT, after_help = record::<Summary>())]
    Summary(WithCommon<ReportArgs<NoArgs, OwnedArgs>>),
    #[command(name = TopNOptions::NAME, about = TopNOptions::ABOUT, after_help = record::<TopNOptions>())]
    TopN(WithCommon<ReportArgs<TopNArgs, BeforeArgs<SampleArgs>>>),
    #[command(name = TreeOptions::NAME, about = TreeOptions::ABOUT, after_help = record::<TreeOptions>())]
    Tree(WithCommon<ReportArgs<TreeArgs, BeforeArgs<SampleArgs>>>),
    #[command(name = Threads::NAME, about = Threads::ABOUT, after_help = record::<Threads>())]
    Threads(WithCommon<ReportArgs<ThreadsArgs, BeforeArgs<SampleArgs>>>),
    #[command(name = Modules::NAME, about = Modules::ABOUT, after_help = record::<Modules>())]
    Modules(WithCommon<ReportArgs<ModulesArgs, NoArgs>>),
    #[command(name = Gc::NAME, about = Gc::ABOUT, after_help = gc_help())]
    Gc(WithCommon<ReportArgs<TimelineArgs, BeforeArgs<MomentArgs>>>),
    #[command(name = Alloc::NAME, about = Alloc::ABOUT, after_help = record::<Alloc>())]
    Alloc(WithCommon<ReportArgs<RowsArg, BeforeArgs<FoldedArgs>>>),
    #[command(name = Types::NAME, about = Types::ABOUT, after_help = record::<Types>())]
    Types(WithCommon<ReportArgs<RowsArg, BeforeArgs<NamedArgs>>>),
    #[command(name = Jit::NAME, about = Jit::ABOUT, after_help = record::<Jit>())]
    Jit(WithCommon<ReportArgs<TimelineArgs, BeforeArgs<MomentArgs>>>),
    #[command(name = Startup::NAME, about = Startup::ABOUT, after_help = record::<Startup>())]
    Startup(WithCommon<ReportArgs<StartupArgs, BeforeArgs<MomentArgs>>>),
    #[command(name = Loader::NAME, about = Loader::ABOUT, after_help = record::<Loader>())]
    Loader(WithCommon<ReportArgs<RowsArg, BeforeArgs<MomentArgs>>>),
    #[command(name = ThreadPool::NAME, about = ThreadPool::ABOUT, after_help = record::<ThreadPool>())]
    Threadpool(WithCommon<ReportArgs<RowsArg, BeforeArgs<MomentArgs>>>),
    #[command(name = Exceptions::NAME, about = Exceptions::ABOUT, after_help = record::<Exceptions>())]
    Exceptions(WithCommon<ReportArgs<RowsArg, BeforeArgs<FoldedArgs>>>),
    #[command(name = Contention::NAME, about = Contention::ABOUT, after_help = record::<Contention>())]
    Contention(WithCommon<ReportArgs<RowsArg, BeforeArgs<FoldedArgs>>>),
    #[command(name = Waits::NAME, about = Waits::ABOUT, after_help = record::<Waits>())]
    Waits(WithCommon<ReportArgs<RowsArg, BeforeArgs<FoldedArgs>>>),
    #[command(name = Tasks::NAME, about = Tasks::ABOUT, after_help = record::<Tasks>())]
    Tasks(WithCommon<ReportArgs<RowsArg, BeforeArgs<FoldedArgs>>>),
    #[command(name = Activities::NAME, about = Activities::ABOUT, after_help = record::<Activities>())]
    Activities(WithCommon<ReportArgs<ActivitiesArgs, BeforeArgs<FollowArgs>>>),
    #[command(name = Http::NAME, about = Http::ABOUT, after_help = record::<Http>())]
    Http(WithCommon<ReportArgs<HttpArgs, BeforeArgs<FollowArgs>>>),
    #[command(name = Sql::NAME, about = Sql::ABOUT, after_help = record::<Sql>())]
    Sql(WithCommon<ReportArgs<RowsArg, BeforeArgs<NamedArgs>>>),
    #[command(name = Logs::NAME, about = Logs::ABOUT, after_help = record::<Logs>())]
    Logs(WithCommon<ReportArgs<LogsArgs, BeforeArgs<MomentArgs>>>),
    #[command(name = Counters::NAME, about = Counters::ABOUT, after_help = record::<Counters>())]
    Counters(WithCommon<ReportArgs<CounterFormatArgs, BeforeArgs<MomentArgs>>>),
    /// Everything as one HTML file: time line, flame graphs, tables
    #[command(after_help = "A .gcdump instead of a trace gives a page of its heap.")]
    Html(WithCommon<HtmlArgs>),
    /// What is on the managed heap, what keeps it alive, and what grew
    // `heap` is a command of its own; it is listed here because people look for it among the
    // reports.
    #[command(hide = true)]
    Heap(Box<WithCommon<HeapArgs>>),
}

/// Returns the line of help about what to record for a report.
fn record<R: report::Report>() -> Resettable<StyledStr> {
    Resettable::from(record_with::<R>().map(StyledStr::from))
}

fn record_with<R: report::Report>() -> Option<String> {
    let record = recommended::providers(R::RECORD).join("\n or with --providers ");
    (!record.is_empty()).then(|| format!("Record with --providers {record}"))
}

/// Returns what `report gc --help` ends with.
fn gc_help() -> Resettable<StyledStr> {
    let record = record_with::<Gc>().unwrap_or_default();
    Resettable::from(Some(StyledStr::from(format!("{record}\n\n{DECISIONS}"))))
}

const DECISIONS: &str = "\
If server GC adapts its number of heaps (DATAS), a table has its decisions: first those that changed
something, then those about collections that cost most; with --timeline in the order of time.
COST is the part of the time that all collections took, or the full ones alone (ABOUT), with the
time for which threads waited to allocate; ALLOWED is the number of heaps that the size of the
objects allows; BUDGET/HEAP what each heap may allocate in generation 0 until the next collection;
STABLE the size of the objects in generations 1 and 2 that are expected to stay.";

/// A trace, the options of the report itself, and options that choose which events or samples
/// count.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs<Own: Args, Counted: Args> {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,

    #[command(flatten)]
    pub(crate) own: Own,

    #[command(flatten)]
    pub(crate) counted: Counted,
}

#[derive(Debug, Args)]
pub(crate) struct NoArgs {}

/// Option that limits a report to the first part of the session, and the other options that choose
/// what counts.
#[derive(Debug, Args)]
pub(crate) struct BeforeArgs<A: Args> {
    /// Only what happened in the first part of the session, up to this time, such as
    /// 500ms
    #[arg(long, value_name = "TIME", value_parser = nettrace_export::parse_nanos, conflicts_with = "time")]
    pub(crate) before: Option<i64>,

    #[command(flatten)]
    pub(crate) others: A,
}

#[derive(Debug, Args)]
pub(crate) struct TopNArgs {
    #[command(flatten)]
    threads: UnusedThreadArgs,

    #[command(flatten)]
    pub(crate) activity: ActivityArg,

    #[command(flatten)]
    pub(crate) rows: RowsArg,

    /// Sort by inclusive time (with callees) instead of exclusive time
    #[arg(long)]
    pub(crate) inclusive: bool,

    /// Show each thread separately
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// Show the requests to each endpoint separately, and all other work. Reads the trace
    /// twice
    #[arg(long, conflicts_with = "by_thread")]
    pub(crate) by_endpoint: bool,

    /// Show when each method was on a stack: a bar for each of 32 equal parts of the
    /// trace
    #[arg(long, conflicts_with_all = ["by_thread", "by_endpoint"])]
    pub(crate) when: bool,

    /// What a row stands for
    #[arg(long, value_enum, value_name = "GROUP", default_value_t)]
    pub(crate) by: GroupByArg,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    threads: UnusedThreadArgs,

    #[command(flatten)]
    pub(crate) activity: ActivityArg,

    /// Instead of the tree: what calls the methods that match, their own time, and what they call
    #[arg(
        long,
        value_name = "REGEX",
        value_parser = pattern,
        conflicts_with_all = ["from", "callers", "by_endpoint", "hot_path", "min"]
    )]
    pub(crate) method: Option<Pattern>,

    /// Start the tree at frames that match
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) from: Option<Pattern>,

    /// Turn the tree around: a method's children are its callers
    #[arg(long)]
    pub(crate) callers: bool,

    /// Put the endpoints of requests above the roots. Reads the trace twice
    #[arg(long)]
    pub(crate) by_endpoint: bool,

    /// Follow the heaviest child while it has 80 % of its parent
    #[arg(long)]
    pub(crate) hot_path: bool,

    /// Leave out nodes below this percentage of the total
    #[arg(long, value_name = "PERCENT", default_value_t = TreeOptions::default().min_percent, value_parser = super::samples::percent)]
    pub(crate) min: f64,
}

#[derive(Debug, Args)]
pub(crate) struct StartupArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArg,

    /// How long it takes to a method, by its name in `report topN`: the end of its first
    /// compilation, or the first sample with it
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) until: Option<Pattern>,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsArgs {
    #[command(flatten)]
    threads: UnusedThreadArgs,

    #[command(flatten)]
    pub(crate) rows: RowsArg,
}

#[derive(Debug, Args)]
pub(crate) struct ModulesArgs {
    #[command(flatten)]
    threads: UnusedThreadArgs,

    #[command(flatten)]
    pub(crate) rows: RowsArg,

    /// Only modules of this OS process; may be repeated
    #[arg(long, value_name = "PID")]
    pub(crate) process: Vec<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    /// How many rows to show at most; default: 20, or all with --timeline
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N")]
    number: Option<usize>,

    /// Sort by time
    #[arg(long)]
    pub(crate) timeline: bool,
}

impl TimelineArgs {
    pub(crate) fn rows(&self) -> usize {
        self.number.unwrap_or(if self.timeline { usize::MAX } else { report::DEFAULT_ROWS })
    }
}

#[derive(Debug, Args)]
pub(crate) struct ActivitiesArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArg,

    /// Show the events of this activity and of those inside it: a path such as
    /// /#17178/1/256, or another id; of several with one id the first, or the one with ID@START
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    #[command(flatten)]
    pub(crate) activities: ActivitiesArgs,

    /// Only requests to this endpoint, such as 'GET /cart': the parts of their time, the
    /// methods that ran for them, and the places at which they waited. Reads the trace twice
    #[arg(long, value_name = "ENDPOINT", conflicts_with_all = ["id", "during"])]
    pub(crate) endpoint: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Only messages of this level or above
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(crate) level: LogLevelArg,

    /// Only messages of loggers whose category matches
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) logger: Option<Pattern>,

    /// Only messages of this request: its id in ASP.NET Core's scope, such as
    /// 0HN7S8T1:00000001, or the id of a trace or span
    #[arg(long, value_name = "ID")]
    pub(crate) request: Option<String>,

    /// Show how many messages each template has, instead of the messages
    #[arg(long)]
    pub(crate) templates: bool,

    #[command(flatten)]
    pub(crate) rows: RowsArg,
}

#[derive(Debug, Args)]
pub(crate) struct CounterFormatArgs {
    /// The output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: CounterFormat,

    /// Put an apostrophe before names that a spreadsheet would run as formulas (csv).
    /// Default: on if stdout or stderr is a terminal, off in scripts
    #[arg(long, value_name = "WHETHER", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) csv_safe: Option<bool>,
}

#[derive(Debug, Args)]
pub(crate) struct HtmlArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// The file to write; - for standard output; default: TRACE.html beside the trace
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing output file
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) counted: FoldedArgs,
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
