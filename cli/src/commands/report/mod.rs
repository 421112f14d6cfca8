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

use super::command_line::find;
use super::{Context, Trace};
use crate::args::{InputArgs, ReportArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use nettrace_analysis::report::{
    Activities, Alloc, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs, Modules, Recording,
    Report, Summary, Tasks, ThreadPool, Threads, TopNOptions, TreeOptions, Types, Waits,
};
use pass::show;

/// A report: its name, what it answers, what to record for it, the flags that it takes, and what makes it.
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

/// The row of a report, of which the analysis says name, purpose and what to record.
const fn row<R: Report>(
    flags: &'static [&'static [&'static str]],
    run: fn(&ReportArgs, Trace, &mut Context<'_>) -> Result<Exit, Failure>,
) -> ReportRow {
    ReportRow { name: R::NAME, about: R::ABOUT, record: R::RECORD, flags, has_json: true, run }
}

/// Which events count: of which threads and processes, and when.
const MOMENTS: &[&str] = &["thread", "process", "time"];
/// Which stacks count.
const STACKS: &[&str] = &["frame", "exclude"];
/// How frames are named.
const NAMES: &[&str] = &["names", "raw_names", "perf_map", "symbols"];
/// What CPU samples have besides.
const SAMPLES: &[&str] = &["state", "threads", "before", "fold_percent"];
/// Which frames are shown as one.
const FOLDS: &[&str] = &["my_code", "fold_async", "fold_recursion", "group", "fold"];
const ROWS: &[&str] = &["number"];

/// The reports, in the order in which help lists them.
pub(crate) const REPORTS: &[ReportRow] = &[
    row::<Summary>(&[MOMENTS, STACKS, NAMES], summary::run),
    row::<TopNOptions>(
        &[ROWS, &["inclusive", "by_thread", "by", "when"], MOMENTS, STACKS, SAMPLES, NAMES, FOLDS],
        |args, trace, context| show(samples::top_options(args), samples::top, args, trace, context),
    ),
    row::<TreeOptions>(
        &[&["from", "callers", "min"], MOMENTS, STACKS, SAMPLES, NAMES, FOLDS],
        |args, trace, context| show(samples::tree_options(args), samples::tree, args, trace, context),
    ),
    row::<Threads>(&[ROWS, MOMENTS, STACKS, SAMPLES, NAMES, FOLDS], |args, trace, context| {
        show(Threads, samples::threads, args, trace, context)
    }),
    row::<Modules>(&[ROWS, &["process", "threads"]], |args, trace, context| {
        show(samples::modules_of(args), samples::modules, args, trace, context)
    }),
    row::<Gc>(&[ROWS, &["timeline", "before"], MOMENTS], |args, trace, context| {
        show(Gc::new(), gc::text, args, trace, context)
    }),
    row::<Alloc>(&[ROWS, &["before"], MOMENTS, STACKS, NAMES, FOLDS], |args, trace, context| {
        show(Alloc::new(), alloc::text, args, trace, context)
    }),
    row::<Types>(&[ROWS, &["before"], MOMENTS, STACKS, NAMES], |args, trace, context| {
        show(Types::new(), alloc::types, args, trace, context)
    }),
    row::<Jit>(&[ROWS, &["timeline", "before"], MOMENTS], |args, trace, context| {
        show(Jit::new(), jit::text, args, trace, context)
    }),
    row::<Loader>(&[ROWS, &["before"], MOMENTS], |args, trace, context| {
        show(Loader::new(), loader::text, args, trace, context)
    }),
    row::<ThreadPool>(&[ROWS, &["before"], MOMENTS], |args, trace, context| {
        show(ThreadPool::new(), threadpool::text, args, trace, context)
    }),
    row::<Exceptions>(&[ROWS, &["before"], MOMENTS, STACKS, NAMES, FOLDS], |args, trace, context| {
        show(Exceptions::new().top(args.number), exceptions::text, args, trace, context)
    }),
    row::<Contention>(&[ROWS, &["before"], MOMENTS, STACKS, NAMES, FOLDS], |args, trace, context| {
        show(Contention::new().top(args.number), contention::text, args, trace, context)
    }),
    row::<Waits>(&[ROWS, &["before"], MOMENTS, STACKS, NAMES, FOLDS], |args, trace, context| {
        show(Waits::new().top(args.number), waits::text, args, trace, context)
    }),
    row::<Tasks>(&[ROWS, &["before"], MOMENTS, STACKS, NAMES, FOLDS], |args, trace, context| {
        show(Tasks::new().top(args.number), tasks::text, args, trace, context)
    }),
    row::<Activities>(&[ROWS, &["id", "before"], MOMENTS, STACKS, NAMES], |args, trace, context| {
        let report = Activities::new().top(args.number);
        let report = match &args.id {
            Some(id) => report.with_events_of(id),
            None => report,
        };
        show(report, activities::text, args, trace, context)
    }),
    row::<Http>(&[ROWS, &["id", "before"], MOMENTS, STACKS, NAMES], |args, trace, context| {
        let report = Http::new().top(args.number);
        let report = match &args.id {
            Some(id) => report.with_events_of(id),
            None => report,
        };
        show(report, activities::text, args, trace, context)
    }),
    row::<Logs>(&[&["level", "before"], MOMENTS], logs::run),
    row::<Counters>(&[&["format", "csv_safe", "before"], MOMENTS], counters::run),
    ReportRow {
        name: "html",
        about: "everything as one HTML file: time line, flame graphs, tables",
        record: &[],
        flags: &[&["output", "force"], MOMENTS, STACKS, NAMES, FOLDS],
        has_json: false,
        run: html::run,
    },
];

pub(super) fn run(args: &ReportArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = context.open(&InputArgs { file: args.file.clone(), read: args.read })?;
    match find(&args.report) {
        Some(row) => (row.run)(args, trace, context),
        None => Err(Failure::Usage(format!("there is no report {}", args.report))),
    }
}
