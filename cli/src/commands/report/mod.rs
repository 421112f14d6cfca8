//! `nettrace report`: what happened. [`REPORTS`] is the one list of reports.

mod activities;
mod alloc;
mod contention;
mod counters;
mod exceptions;
mod gc;
mod jit;
mod loader;
mod logs;
mod runtime;
mod samples;
mod samples_text;
mod summary;
mod tasks;
mod threadpool;
mod waits;
mod words;

use super::{Context, Trace};
use crate::args::{InputArgs, ReportArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest::{nearest, suggestion};
use nettrace_analysis::report::{
    Activities, Alloc, Contention, Exceptions, Gc, Jit, Loader, Tasks, ThreadPool, Types, Waits,
};
use std::ffi::OsStr;

/// A report: its name, what it tells, and what makes it.
struct Row {
    name: &'static str,
    about: &'static str,
    run: fn(&ReportArgs, Trace, &mut Context<'_>) -> Result<Exit, Failure>,
}

const REPORTS: &[Row] = &[
    Row {
        name: "summary",
        about: "what the trace is, what it can answer, what stands out",
        run: summary::run,
    },
    Row { name: "topN", about: "methods in which most time was spent", run: samples::run_top },
    Row { name: "tree", about: "who called whom", run: samples::run_tree },
    Row { name: "threads", about: "what each thread did", run: samples::run_threads },
    Row { name: "modules", about: "what was loaded", run: samples::run_modules },
    Row {
        name: "gc",
        about: "garbage collections: reasons, pauses, sizes",
        run: |args, trace, context| runtime::run(Gc::new(), gc::text, args, trace, context),
    },
    Row {
        name: "alloc",
        about: "what was allocated: by type, stack and thread",
        run: |args, trace, context| runtime::run(Alloc::new(), alloc::text, args, trace, context),
    },
    Row {
        name: "types",
        about: "the types of objects that were allocated",
        run: |args, trace, context| runtime::run(Types::new(), alloc::types, args, trace, context),
    },
    Row {
        name: "jit",
        about: "methods that were compiled: time, size, tier",
        run: |args, trace, context| runtime::run(Jit::new(), jit::text, args, trace, context),
    },
    Row {
        name: "loader",
        about: "assemblies and modules over time, and what was looked for",
        run: |args, trace, context| runtime::run(Loader::new(), loader::text, args, trace, context),
    },
    Row {
        name: "threadpool",
        about: "workers over time, adjustments, starvation, waiting work",
        run: |args, trace, context| runtime::run(ThreadPool::new(), threadpool::text, args, trace, context),
    },
    Row {
        name: "exceptions",
        about: "what was thrown where, and what caught it",
        run: |args, trace, context| {
            runtime::run(Exceptions::new().top(args.number), exceptions::text, args, trace, context)
        },
    },
    Row {
        name: "contention",
        about: "locks that threads waited for",
        run: |args, trace, context| {
            runtime::run(Contention::new().top(args.number), contention::text, args, trace, context)
        },
    },
    Row {
        name: "waits",
        about: "handles that threads waited for",
        run: |args, trace, context| {
            runtime::run(Waits::new().top(args.number), waits::text, args, trace, context)
        },
    },
    Row {
        name: "tasks",
        about: "tasks that were scheduled, run, awaited",
        run: |args, trace, context| {
            runtime::run(Tasks::new().top(args.number), tasks::text, args, trace, context)
        },
    },
    Row {
        name: "activities",
        about: "what started and stopped: requests and others",
        run: |args, trace, context| {
            let report = with_events(Activities::new().top(args.number), args);
            runtime::run(report, activities::text, args, trace, context)
        },
    },
    Row {
        name: "http",
        about: "HTTP requests, in and out",
        run: |args, trace, context| {
            let report = with_events(Activities::http().top(args.number), args);
            runtime::run(report, activities::text, args, trace, context)
        },
    },
    Row { name: "logs", about: "messages of ILogger and EventSources", run: logs::run },
    Row { name: "counters", about: "EventCounters and metrics over time", run: counters::run },
];

fn with_events(report: Activities, args: &ReportArgs) -> Activities {
    match &args.id {
        Some(id) => report.with_events_of(id),
        None => report,
    }
}

/// The report of a name; case does not matter.
fn find(name: &OsStr) -> Option<&'static Row> {
    let name = name.to_str()?;
    let name = if name.eq_ignore_ascii_case("top") { "topN" } else { name };
    REPORTS.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

/// The reports, a line each, for the help.
pub(crate) fn list() -> String {
    let width = REPORTS.iter().map(|row| row.name.len()).max().unwrap_or(0);
    REPORTS.iter().map(|row| format!("  {:<width$}  {}\n", row.name, row.about)).collect()
}

pub(super) fn run(args: &ReportArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let [first, second] = args.what.as_slice() else {
        return Err(Failure::Usage("a report and a trace are due".to_owned()));
    };
    // dotnet-trace has the file in front.
    let (row, file) = match (find(first), find(second)) {
        (Some(row), _) => (row, second),
        (None, Some(row)) => (row, first),
        (None, None) => {
            let name = first.to_string_lossy();
            let names: Vec<&str> = REPORTS.iter().map(|row| row.name).collect();
            let meant = suggestion(&nearest(&name, names.iter().copied()));
            let message = format!("there is no report {name}; there are {}{meant}", names.join(", "));
            return Err(Failure::Usage(message));
        }
    };
    let trace = context.open(&InputArgs { file: file.into(), read: args.read })?;
    (row.run)(args, trace, context)
}
