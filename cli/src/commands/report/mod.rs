//! `nettrace report`: one file for each report.

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
mod sql;
mod startup;
mod summary;
mod tasks;
mod threadpool;
mod waits;
mod words;

pub(super) use html::{PageTarget, write_page};

use super::heap;
use crate::analysis_options::AnalysisArgs;
use crate::args::{ActivityArg, Report, ReportArgs};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use activities::{activities_of, requests_of};
use clap::Args;
use nettrace_analysis::report::{
    Alloc, Contention, Exceptions, Gc, Jit, Loader, Sql, Startup, Tasks, ThreadPool, Threads,
    Types, Waits,
};
use pass::{Asked, show};
use samples::{modules_of, top_options, tree_options};
use std::io;

pub(super) fn run(report: &Report, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match report {
        Report::Summary(args) => summary::run(Asked::of(args), context),
        Report::TopN(args) => {
            let mut asked = asked_of_samples(args, &args.own.activity);
            asked.options.keeps_when = args.own.when;
            show(top_options(&args.own), asked, context, samples::top)
        }
        Report::Tree(args) => {
            let asked = asked_of_samples(args, &args.own.activity);
            show(tree_options(&args.own), asked, context, samples::tree)
        }
        Report::Threads(args) => {
            let text = with(args.own.rows.number, samples::threads);
            show(Threads, Asked::of(args), context, text)
        }
        Report::Modules(args) => {
            let text = with(args.own.rows.number, samples::modules);
            show(modules_of(&args.own), Asked::of(args), context, text)
        }
        Report::Gc(args) => {
            show(Gc::default(), Asked::of(args), context, with(&args.own, gc::text))
        }
        Report::Alloc(args) => {
            show(Alloc::default(), Asked::of(args), context, with(args.own.number, alloc::text))
        }
        Report::Types(args) => {
            show(Types::default(), Asked::of(args), context, with(args.own.number, alloc::types))
        }
        Report::Jit(args) => {
            let is_by_time = args.own.timeline || args.counted.before.is_some();
            show(Jit::default(), Asked::of(args), context, |report, context| {
                jit::text(&args.own, is_by_time, report, context)
            })
        }
        Report::Startup(args) => {
            let report = Startup::default().top(args.own.number);
            show(report, Asked::of(args), context, with(args.own.number, startup::text))
        }
        Report::Loader(args) => {
            show(Loader::default(), Asked::of(args), context, with(args.own.number, loader::text))
        }
        Report::Threadpool(args) => {
            let text = with(args.own.number, threadpool::text);
            show(ThreadPool::default(), Asked::of(args), context, text)
        }
        Report::Exceptions(args) => {
            let report = Exceptions::default().top(args.own.number);
            show(report, Asked::of(args), context, with(args.own.number, exceptions::text))
        }
        Report::Contention(args) => {
            let report = Contention::default().top(args.own.number);
            show(report, Asked::of(args), context, with(args.own.number, contention::text))
        }
        Report::Waits(args) => {
            let rows = args.own.number;
            show(Waits::default().top(rows), Asked::of(args), context, with(rows, waits::text))
        }
        Report::Tasks(args) => {
            let rows = args.own.number;
            show(Tasks::default().top(rows), Asked::of(args), context, with(rows, tasks::text))
        }
        Report::Activities(args) => {
            let text = with(&args.own, activities::text);
            show(activities_of(&args.own), Asked::of(args), context, text)
        }
        Report::Http(args) => {
            let text = with(&args.own, activities::text);
            show(requests_of(&args.own), Asked::of(args), context, text)
        }
        Report::Sql(args) => {
            let rows = args.own.number;
            show(Sql::default().top(rows), Asked::of(args), context, with(rows, sql::text))
        }
        Report::Logs(args) => logs::run(&args.own, Asked::of(args), context),
        Report::Counters(args) => counters::run(&args.own, Asked::of(args), context),
        Report::Html(args) => html::run(args, context),
        Report::Heap(args) => heap::run(args, context),
    }
}

/// What is asked of samples: what the recording itself did is one row, and an activity's samples
/// are its own.
fn asked_of_samples<'a, O: Args, C: Args + AnalysisArgs>(
    args: &'a ReportArgs<O, C>,
    activity: &'a ActivityArg,
) -> Asked<'a> {
    let mut asked = Asked::of(args);
    asked.options.folding.is_recording = true;
    asked.activity = activity.id.as_deref();
    asked
}

/// The text of a report with these options.
fn with<O: Copy, R>(
    own: O,
    text: impl Fn(O, &R, &mut Context<'_>) -> io::Result<()>,
) -> impl Fn(&R, &mut Context<'_>) -> io::Result<()> {
    move |report, context| text(own, report, context)
}
