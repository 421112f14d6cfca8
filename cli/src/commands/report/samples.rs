//! Reports of samples: where time went.

use super::samples_text;
use crate::args::{GroupByArg, ReportArgs};
use crate::commands::analysed::Analysed;
use crate::commands::{Context, Trace, write_json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::samples;
use nettrace_analysis::report::{
    CallTree, GroupBy, ModulesReport, ThreadsReport, TopN, TopNOptions, TreeOptions,
};
use nettrace_analysis::{Analysis, Finished, State};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    TopN,
    Tree,
    Threads,
    Modules,
}

pub(super) fn run_top(args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    run(Report::TopN, args, trace, context)
}

pub(super) fn run_tree(args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    run(Report::Tree, args, trace, context)
}

pub(super) fn run_threads(
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    run(Report::Threads, args, trace, context)
}

pub(super) fn run_modules(
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    run(Report::Modules, args, trace, context)
}

fn run(report: Report, args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut trace = Analysed::new(trace, args.threads.into())?;
    let file = trace.file.clone();
    let mut options = samples::options(&args.samples);
    options.filter.to_nanos = options.filter.to_nanos.or(args.before);
    // What ran comes first: most of a trace is threads that have nothing to do.
    if matches!(report, Report::TopN | Report::Tree) && options.filter.states.is_empty() {
        options.filter.states = State::RUNNING.to_vec();
    }
    let mut analysis = Analysis::new(options);
    trace.read(&mut analysis, |file, error| Failure::Input {
        file: file.to_owned(),
        message: error.to_string(),
    })?;
    let unused = samples::add_names(&args.samples, analysis.model_mut())?;
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
    context.messages.losses(&file, trace.ended());
    Ok(context.conclude(&file, trace.ended(), true))
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
                samples_text::top(context, &top)?
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
                samples_text::tree(context, &tree)?
            }
            Ok(tree.samples)
        }
        Report::Threads => {
            let threads = ThreadsReport::new(&resolved, profile);
            if args.json {
                write_json(context, &threads)?
            } else {
                samples_text::threads(context, &threads)?
            }
            Ok(threads.samples)
        }
        Report::Modules => {
            let mut modules = ModulesReport::new(&finished.model);
            let processes = &args.samples.process;
            modules.modules.retain(|row| {
                processes.is_empty() || row.process_id.is_some_and(|id| processes.contains(&id))
            });
            if args.json {
                write_json(context, &modules)?
            } else {
                samples_text::modules(context, &modules)?
            }
            Ok(0)
        }
    }
}
