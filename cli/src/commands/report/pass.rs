//! What all reports share: one pass, JSON or a table, and what to record when the trace has nothing for them.

use crate::args::{CounterFormat, ReportArgs};
use crate::commands::analysed::Analysed;
use crate::commands::{Context, Trace, write_report};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::{recommended, samples};
use nettrace_analysis::report::{Report, ReportInput, ReportPass};
use serde::Serialize;
use std::io;

/// How a report becomes text.
pub(super) struct Steps<R: Report> {
    /// Called behind each event, for reports that are shown while the trace is read.
    pub(super) each: Option<fn(&mut R, &mut Context<'_>) -> io::Result<()>>,
    /// Adds what is known only when the trace was read. Gives whether the report says what was lost.
    pub(super) complete: fn(&mut R::Output, &Ended) -> bool,
    /// Writes it for reading.
    pub(super) text: fn(&ReportArgs, &str, &R::Output, &mut Context<'_>) -> io::Result<()>,
}

/// Reads the trace once for a report and writes it.
pub(super) fn show<R: Report>(
    report: R,
    text: fn(&ReportArgs, &R::Output, &mut Context<'_>) -> io::Result<()>,
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let text = |_: &str, output: &R::Output, context: &mut Context<'_>| text(args, output, context);
    run(report, None, |_, _| false, text, args, trace, context)
}

/// The same with all [`Steps`].
pub(super) fn show_in_steps<R: Report>(
    report: R,
    steps: &Steps<R>,
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let text =
        |file: &str, output: &R::Output, context: &mut Context<'_>| (steps.text)(args, file, output, context);
    // As JSON a report is one object.
    run(report, steps.each.filter(|_| !args.json), steps.complete, text, args, trace, context)
}

fn run<R: Report>(
    report: R,
    each: Option<fn(&mut R, &mut Context<'_>) -> io::Result<()>>,
    complete: impl FnOnce(&mut R::Output, &Ended) -> bool,
    text: impl FnOnce(&str, &R::Output, &mut Context<'_>) -> io::Result<()>,
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let mut trace = Analysed::new(trace, args.threads.into())?;
    let file = trace.file.clone();
    let mut options = samples::options(&args.samples);
    options.filter.to_nanos = options.filter.to_nanos.or(args.before);
    options.keeps_when = args.when;
    let mut pass = ReportPass::with_options(report, options);
    match each {
        Some(each) => {
            context.forgo_progress_on_terminal();
            while let Some(event) = trace.next_event()? {
                pass.event(&event);
                each(pass.report_mut(), context)?;
            }
        }
        None => trace.read(&mut pass, |file, error| Failure::Input {
            file: file.to_owned(),
            message: error.to_string(),
        })?,
    }
    let unused = samples::add_names(&args.samples, pass.model_mut())?;
    let mut reported = pass.finish();
    let ended = trace.ended();
    let says_losses = complete(&mut reported.output, &ended);
    context.progress.end();
    // Of `--format json` nothing is written if there is nothing.
    let is_json = args.json || (args.format == CounterFormat::Json && reported.events > 0);
    if is_json {
        write_report(context, &reported.output, &ended)?;
    } else if reported.events > 0 || args.format == CounterFormat::Openmetrics {
        // Without counters OpenMetrics is its end mark, or it would be a text that was cut.
        text(&file, &reported.output, context)?;
    }
    context.out.finish()?;
    if reported.events == 0 && !R::RECORD.is_empty() {
        advise::<R>(&file, context);
    }
    for text in &unused {
        context.messages.warning(text);
    }
    if let Some(advice) = reported.coverage.advice().filter(|_| R::INPUT == ReportInput::Samples) {
        context.messages.warning(&format!("{file}: {advice}"));
    }
    if !says_losses {
        context.messages.losses(&file, &ended);
    }
    Ok(context.conclude(&file, &ended, true))
}

/// Says what to record to have what a report is made of.
fn advise<R: Report>(file: &str, context: &mut Context<'_>) {
    let what = match R::INPUT {
        ReportInput::Samples => "CPU samples",
        _ => "events for this report",
    };
    let record = recommended::providers(R::RECORD).join(" or ");
    let message = format!("{file}: the trace has no {what}; record with --providers {record}");
    context.messages.warning(&message);
}
