//! `nettrace report`: where time went.

use super::{Context, failed, report_text, write_json};
use crate::args::{GroupByArg, InputArgs, ReportArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::samples;
use nettrace_analysis::report::{
    CallTree, GroupBy, ModulesReport, ThreadsReport, TopN, TopNOptions, TreeOptions,
};
use nettrace_analysis::{Analysis, AnalysisError, Finished};
use std::ffi::OsStr;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    TopN,
    Tree,
    Threads,
    Modules,
}

impl Report {
    fn of(name: &OsStr) -> Option<Report> {
        Some(match name.to_str()?.to_ascii_lowercase().as_str() {
            "topn" | "top" => Report::TopN,
            "tree" => Report::Tree,
            "threads" => Report::Threads,
            "modules" => Report::Modules,
            _ => return None,
        })
    }
}

pub(super) fn run(args: &ReportArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let [first, second] = args.what.as_slice() else {
        return Err(Failure::Usage("a report and a trace are due".to_owned()));
    };
    // dotnet-trace has the file in front.
    let (report, file) = match (Report::of(first), Report::of(second)) {
        (Some(report), _) => (report, second),
        (None, Some(report)) => (report, first),
        (None, None) => {
            let name = first.to_string_lossy();
            let message = format!("there is no report {name}; there are topN, tree, threads, modules");
            return Err(Failure::Usage(message));
        }
    };
    let trace = context.open(&InputArgs { file: file.into(), no_mmap: args.no_mmap })?;
    let file = trace.file;
    let mut events = trace.reader.time_ordered();
    let mut analysis = Analysis::new(samples::options(&args.samples));
    analysis.read(&mut events).map_err(|error| match error {
        AnalysisError::Read(error) => failed(&file, events.reader(), &error),
        error => Failure::Input { file: file.clone(), message: error.to_string() },
    })?;
    let unused = samples::add_names(&args.samples, &mut analysis)?;
    let finished = analysis
        .finish()
        .map_err(|error| Failure::Input { file: file.clone(), message: error.to_string() })?;
    context.progress.end();
    let sample_count = write(report, args, &finished, context)?;
    context.out.finish()?;
    for message in unused {
        context.messages.warning(&message);
    }
    if report != Report::Modules {
        if sample_count == 0 {
            let hint = if finished.profile.is_empty() {
                "the trace has no CPU samples; record with the sampler (Microsoft-DotNETCore-SampleProfiler)"
            } else {
                "no sample is as the filters ask"
            };
            context.messages.warning(&format!("{file}: {hint}"));
        }
        if let Some(advice) = finished.resolved().coverage().advice() {
            context.messages.warning(&format!("{file}: {advice}"));
        }
    }
    context.messages.losses(&file, events.reader());
    Ok(context.conclude(&file, events.reader(), true))
}

/// Writes the report; gives the number of samples in it.
fn write(
    report: Report,
    args: &ReportArgs,
    finished: &Finished,
    context: &mut Context<'_>,
) -> Result<u64, Failure> {
    let resolved = finished.resolved();
    let profile = &finished.profile;
    match report {
        Report::TopN => {
            let mut options = TopNOptions::default();
            options.count = args.number;
            options.is_inclusive = args.inclusive;
            options.is_by_thread = args.by_thread;
            options.group_by = match args.by {
                GroupByArg::Method => GroupBy::Method,
                GroupByArg::Module => GroupBy::Module,
                GroupByArg::Namespace => GroupBy::Namespace,
                GroupByArg::Type => GroupBy::Type,
            };
            let top = TopN::new(&resolved, profile, &options);
            if args.json {
                write_json(context, &top)?
            } else {
                report_text::top(context, &top)?
            }
            Ok(top.samples)
        }
        Report::Tree => {
            let mut options = TreeOptions::default();
            options.from.clone_from(&args.from);
            options.is_callers = args.callers;
            options.min_percent = args.min;
            let tree = CallTree::new(&resolved, profile, &options);
            if args.json {
                write_json(context, &tree)?
            } else {
                report_text::tree(context, &tree)?
            }
            Ok(tree.samples)
        }
        Report::Threads => {
            let threads = ThreadsReport::new(&resolved, profile);
            if args.json {
                write_json(context, &threads)?
            } else {
                report_text::threads(context, &threads)?
            }
            Ok(threads.samples)
        }
        Report::Modules => {
            let modules = ModulesReport::new(&finished.model);
            if args.json {
                write_json(context, &modules)?
            } else {
                report_text::modules(context, &modules)?
            }
            Ok(0)
        }
    }
}
