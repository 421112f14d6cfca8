//! `nettrace report`: what happened. [`REPORTS`] is the one list of reports.

mod activities;
mod alloc;
mod contention;
mod counters;
mod exceptions;
mod gc;
mod html;
mod jit;
mod loader;
mod logs;
mod pass;
mod samples;
mod summary;
mod tasks;
mod threadpool;
mod waits;
mod words;

pub(super) use html::{PageTarget, write_page};

use crate::args::{InputArgs, ReportArgs};
use crate::context::{Context, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use activities::{activities_of, requests_of};
use nettrace_analysis::report::{
    Activities, Alloc, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs, Modules,
    Recording, Report, Summary, Tasks, ThreadPool, Threads, TopNOptions, TreeOptions, Types, Waits,
};
use pass::show;
use samples::{modules_of, top_options, tree_options};

/// A report: its name, what it answers, what to record for it, the flags that it takes,
/// and what makes it.
#[derive(Debug)]
pub(crate) struct ReportRow {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) record: &'static [Recording],
    /// Flags beside those that all reports take; names as in [`ReportArgs`].
    pub(crate) flags: &'static [&'static [&'static str]],
    /// Whether it is text or JSON; a page is neither.
    pub(crate) has_json: bool,
    run: fn(&ReportArgs, Trace, &mut Context<'_>) -> Result<Exit, Failure>,
}

/// The row of a report, of which the analysis says name, purpose and what to record: its
/// type, the flags that it takes, and what makes it.
macro_rules! row {
    ($report:ty, [$($flags:expr),*], $run:expr) => {
        ReportRow {
            name: <$report>::NAME,
            about: <$report>::ABOUT,
            record: <$report>::RECORD,
            flags: &[$($flags),*],
            has_json: true,
            run: $run,
        }
    };
    // Most are made from the arguments, and shown when the trace was read.
    ($report:ty, [$($flags:expr),*], $make:expr, $text:expr) => {
        row!($report, [$($flags),*], |args, trace, context| {
            let make: fn(&ReportArgs) -> $report = $make;
            show(make(args), $text, args, trace, context)
        })
    };
}

/// Which events count: of which threads and processes, and when.
const MOMENTS: &[&str] = &["thread", "process", "time"];
/// Which stacks count.
const STACKS: &[&str] = &["frame", "exclude"];
/// How frames are named.
const NAMES: &[&str] = &["names", "raw_names", "perf_map", "symbols"];
/// Further options for CPU samples.
const SAMPLES: &[&str] = &["state", "threads", "before", "fold_percent"];
/// Which frames are shown as one.
const FOLDS: &[&str] = &["my_code", "fold_async", "fold_recursion", "group", "fold"];
const ROWS: &[&str] = &["number"];
const TOP: &[&str] = &["number", "inclusive", "by_thread", "by", "when"];
const TREE: &[&str] = &["from", "callers", "min"];
const TIMELINE: &[&str] = &["timeline"];
const BEFORE: &[&str] = &["before"];
const ID: &[&str] = &["id"];

/// The reports, in the order in which help lists them.
pub(crate) const REPORTS: &[ReportRow] = &[
    row!(Summary, [MOMENTS, STACKS, NAMES], summary::run),
    row!(TopNOptions, [TOP, MOMENTS, STACKS, SAMPLES, NAMES, FOLDS], top_options, samples::top),
    row!(TreeOptions, [TREE, MOMENTS, STACKS, SAMPLES, NAMES, FOLDS], tree_options, samples::tree),
    row!(Threads, [ROWS, MOMENTS, STACKS, SAMPLES, NAMES, FOLDS], |_| Threads, samples::threads),
    row!(Modules, [ROWS, &["process", "threads"]], modules_of, samples::modules),
    row!(Gc, [ROWS, TIMELINE, BEFORE, MOMENTS], |_| Gc::new(), gc::text),
    row!(Alloc, [ROWS, BEFORE, MOMENTS, STACKS, NAMES, FOLDS], |_| Alloc::new(), alloc::text),
    row!(Types, [ROWS, BEFORE, MOMENTS, STACKS, NAMES], |_| Types::new(), alloc::types),
    row!(Jit, [ROWS, TIMELINE, BEFORE, MOMENTS], |_| Jit::new(), jit::text),
    row!(Loader, [ROWS, BEFORE, MOMENTS], |_| Loader::new(), loader::text),
    row!(ThreadPool, [ROWS, BEFORE, MOMENTS], |_| ThreadPool::new(), threadpool::text),
    row!(
        Exceptions,
        [ROWS, BEFORE, MOMENTS, STACKS, NAMES, FOLDS],
        |args| Exceptions::new().top(args.rows.number),
        exceptions::text
    ),
    row!(
        Contention,
        [ROWS, BEFORE, MOMENTS, STACKS, NAMES, FOLDS],
        |args| Contention::new().top(args.rows.number),
        contention::text
    ),
    row!(
        Waits,
        [ROWS, BEFORE, MOMENTS, STACKS, NAMES, FOLDS],
        |args| Waits::new().top(args.rows.number),
        waits::text
    ),
    row!(
        Tasks,
        [ROWS, BEFORE, MOMENTS, STACKS, NAMES, FOLDS],
        |args| Tasks::new().top(args.rows.number),
        tasks::text
    ),
    row!(Activities, [ROWS, ID, BEFORE, MOMENTS, STACKS, NAMES], activities_of, activities::text),
    row!(Http, [ROWS, ID, BEFORE, MOMENTS, STACKS, NAMES], requests_of, activities::text),
    row!(Logs, [&["level"], BEFORE, MOMENTS], logs::run),
    row!(Counters, [&["format", "csv_safe"], BEFORE, MOMENTS], counters::run),
    ReportRow {
        name: "html",
        about: "Everything as one HTML file: time line, flame graphs, tables",
        record: &[],
        flags: &[&["output", "force"], MOMENTS, STACKS, NAMES, FOLDS],
        has_json: false,
        run: html::run,
    },
];

/// The report of a name; case does not matter.
pub(super) fn find(name: &str) -> Option<&'static ReportRow> {
    let name = if name.eq_ignore_ascii_case("top") { "topN" } else { name };
    REPORTS.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

pub(super) fn run(args: &ReportArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = context.open(&InputArgs { file: args.file.clone(), read: args.read })?;
    match find(&args.report) {
        Some(row) => (row.run)(args, trace, context),
        None => Err(Failure::Usage(format!("there is no report {}", args.report))),
    }
}
