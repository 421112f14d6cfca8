//! `nettrace report`: runs each report with its options. Each file writes one report, or two, as
//! text.

mod activities;
mod alloc;
mod contention;
mod counters;
mod endpoint;
mod exceptions;
mod gc;
#[cfg(feature = "page")]
mod html;
mod jit;
mod loader;
mod logs;
mod method_calls;
mod pass;
mod samples;
mod sql;
mod startup;
mod summary;
mod tasks;
mod threadpool;
mod waits;
mod words;

#[cfg(feature = "page")]
pub(super) use html::{PageTarget, write_page};

use super::heap;
use crate::args::Report;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
#[cfg(not(feature = "page"))]
use crate::failure::not_built;
use activities::{activities_of, requests_of};
use nettrace_analysis::report::{
    Alloc, Contention, Exceptions, Gc, Jit, Loader, MethodCallsOptions, Sql, Tasks, ThreadPool,
    Threads, Types, Waits,
};
use pass::{Asked, show, show_rows};
use samples::{modules_of, top_options, tree_options};
use std::io;

pub(super) fn run(report: &Report, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match report {
        Report::Summary(args) => summary::run(Asked::from_args(args), context),
        Report::TopN(args) => {
            let mut asked = Asked::from_args(args);
            asked.activity = Some(&args.own.activity);
            asked.options.keeps_when = args.own.when;
            asked.is_by_endpoint = args.own.by_endpoint;
            show(top_options(&args.own), asked, context, samples::top)
        }
        Report::Tree(args) => {
            let mut asked = Asked::from_args(args);
            asked.activity = Some(&args.own.activity);
            asked.is_by_endpoint = args.own.by_endpoint;
            match &args.own.method {
                Some(method) => {
                    let options = MethodCallsOptions::new(method.clone());
                    show(options, asked, context, method_calls::text)
                }
                None => show(tree_options(&args.own), asked, context, samples::tree),
            }
        }
        Report::Threads(args) => {
            let text = with(args.own.rows.number, samples::threads);
            show(Threads, Asked::from_args(args), context, text)
        }
        Report::Modules(args) => {
            let text = with(args.own.rows.number, samples::modules);
            show(modules_of(&args.own), Asked::from_args(args), context, text)
        }
        Report::Gc(args) => {
            show(Gc::default(), Asked::from_args(args), context, with(&args.own, gc::text))
        }
        Report::Alloc(args) => show_rows::<Alloc, _>(args, context, alloc::text),
        Report::Types(args) => show_rows::<Types, _>(args, context, alloc::types),
        Report::Jit(args) => {
            let is_by_time = args.own.timeline || args.counted.before.is_some();
            show(Jit::default(), Asked::from_args(args), context, |report, context| {
                jit::text(&args.own, is_by_time, report, context)
            })
        }
        Report::Startup(args) => {
            let report = startup::startup_of(&args.own);
            show(report, Asked::from_args(args), context, with(&args.own, startup::text))
        }
        Report::Loader(args) => show_rows::<Loader, _>(args, context, loader::text),
        Report::Threadpool(args) => show_rows::<ThreadPool, _>(args, context, threadpool::text),
        Report::Exceptions(args) => show_rows::<Exceptions, _>(args, context, exceptions::text),
        Report::Contention(args) => show_rows::<Contention, _>(args, context, contention::text),
        Report::Waits(args) => show_rows::<Waits, _>(args, context, waits::text),
        Report::Tasks(args) => show_rows::<Tasks, _>(args, context, tasks::text),
        Report::Activities(args) => {
            let text = with(&args.own, activities::text);
            show(activities_of(&args.own), Asked::from_args(args), context, text)
        }
        Report::Http(args) => {
            let asked = Asked::from_args(args);
            match &args.own.endpoint {
                Some(endpoint) => endpoint::run(endpoint, &args.own.activities, asked, context),
                None => {
                    let text = with(&args.own.activities, activities::text);
                    show(requests_of(&args.own.activities), asked, context, text)
                }
            }
        }
        Report::Sql(args) => show_rows::<Sql, _>(args, context, sql::text),
        Report::Logs(args) => logs::run(&args.own, Asked::from_args(args), context),
        Report::Counters(args) => counters::run(&args.own, Asked::from_args(args), context),
        #[cfg(feature = "page")]
        Report::Html(args) => html::run(args, context),
        #[cfg(not(feature = "page"))]
        Report::Html(_) => Err(Failure::usage(not_built("page", "page"))),
        Report::Heap(args) => heap::run(args, context),
    }
}

/// Returns the function that writes a report as text with these options.
fn with<O: Copy, R>(
    own: O,
    text: impl Fn(O, &R, &mut Context<'_>) -> io::Result<()>,
) -> impl Fn(&R, &mut Context<'_>) -> io::Result<()> {
    move |report, context| text(own, report, context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use nettrace_analysis::AnalysisOptions;
    use nettrace_analysis::report::{TopNOptions, TreeOptions};

    #[test]
    fn without_options_the_command_asks_for_what_the_library_does_by_default() {
        for name in ["topN", "tree", "exceptions"] {
            let args = ["nettrace", "report", name, "x"].map(Into::into).to_vec();
            let Command::Report(args) = Cli::parse_args(args).unwrap().command else { panic!() };
            let options = match &args.report {
                Report::TopN(args) => {
                    assert_eq!(top_options(&args.own), TopNOptions::default());
                    Asked::from_args(args).options
                }
                Report::Tree(args) => {
                    assert_eq!(tree_options(&args.own), TreeOptions::default());
                    Asked::from_args(args).options
                }
                Report::Exceptions(args) => Asked::from_args(args).options,
                other => panic!("{other:?}"),
            };
            assert_eq!(options, AnalysisOptions::default(), "{name}");
        }
    }
}
