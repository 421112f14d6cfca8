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
mod summary;
mod tasks;
mod threadpool;
mod waits;
mod words;

pub(super) use html::{PageTarget, write_page};

use super::heap;
use crate::args::Report;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use activities::{activities_of, requests_of};
use nettrace_analysis::report::{
    Alloc, Contention, Exceptions, Gc, Jit, Loader, Tasks, ThreadPool, Threads, Types, Waits,
};
use pass::{Asked, show};
use samples::{modules_of, top_options, tree_options};

pub(super) fn run(report: &Report, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match report {
        Report::Summary(args) => summary::run(Asked::of(args), context),
        Report::TopN(args) => {
            let mut asked = Asked::of(args);
            asked.options.keeps_when = args.own.when;
            show(top_options(&args.own), asked, context, samples::top)
        }
        Report::Tree(args) => {
            show(tree_options(&args.own), Asked::of(args), context, samples::tree)
        }
        Report::Threads(args) => show(Threads, Asked::of(args), context, |report, context| {
            samples::threads(args.own.rows.number, report, context)
        }),
        Report::Modules(args) => {
            show(modules_of(&args.own), Asked::of(args), context, |report, context| {
                samples::modules(args.own.rows.number, report, context)
            })
        }
        Report::Gc(args) => show(Gc::new(), Asked::of(args), context, |report, context| {
            gc::text(&args.own, report, context)
        }),
        Report::Alloc(args) => show(Alloc::new(), Asked::of(args), context, |report, context| {
            alloc::text(args.own.number, report, context)
        }),
        Report::Types(args) => show(Types::new(), Asked::of(args), context, |report, context| {
            alloc::types(args.own.number, report, context)
        }),
        Report::Jit(args) => {
            let is_by_time = args.own.timeline || args.counted.before.is_some();
            show(Jit::new(), Asked::of(args), context, |report, context| {
                jit::text(&args.own, is_by_time, report, context)
            })
        }
        Report::Loader(args) => show(Loader::new(), Asked::of(args), context, |report, context| {
            loader::text(args.own.number, report, context)
        }),
        Report::Threadpool(args) => {
            show(ThreadPool::new(), Asked::of(args), context, |report, context| {
                threadpool::text(args.own.number, report, context)
            })
        }
        Report::Exceptions(args) => {
            let (rows, asked) = (args.own.number, Asked::of(args));
            show(Exceptions::new().top(rows), asked, context, |report, context| {
                exceptions::text(rows, report, context)
            })
        }
        Report::Contention(args) => {
            let (rows, asked) = (args.own.number, Asked::of(args));
            show(Contention::new().top(rows), asked, context, |report, context| {
                contention::text(rows, report, context)
            })
        }
        Report::Waits(args) => {
            let (rows, asked) = (args.own.number, Asked::of(args));
            show(Waits::new().top(rows), asked, context, |report, context| {
                waits::text(rows, report, context)
            })
        }
        Report::Tasks(args) => {
            let (rows, asked) = (args.own.number, Asked::of(args));
            show(Tasks::new().top(rows), asked, context, |report, context| {
                tasks::text(rows, report, context)
            })
        }
        Report::Activities(args) => {
            show(activities_of(&args.own), Asked::of(args), context, |report, context| {
                activities::text(&args.own, report, context)
            })
        }
        Report::Http(args) => {
            show(requests_of(&args.own), Asked::of(args), context, |report, context| {
                activities::text(&args.own, report, context)
            })
        }
        Report::Logs(args) => logs::run(args.own.level, Asked::of(args), context),
        Report::Counters(args) => counters::run(&args.own, Asked::of(args), context),
        Report::Html(args) => html::run(args, context),
        Report::Heap(args) => heap::run(args, context),
    }
}
