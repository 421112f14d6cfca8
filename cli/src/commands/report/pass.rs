//! What all reports share: one pass, JSON or a table, and what to record when the trace
//! has nothing for them.

use crate::analysed::Analysed;
use crate::args::{CounterFormat, ReportArgs};
use crate::context::{Context, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::{recommended, samples, table};
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::report::{Recording, Report, ReportInput, ReportPass};
use nettrace_parser::Event;
use serde::Serialize;
use std::io;

/// What is done after each event.
type Each<R> = fn(&mut R, &mut Context<'_>) -> io::Result<()>;
/// Writes what a report of a file yields.
type Text<'t, O> = dyn Fn(&str, &O, &mut Context<'_>) -> io::Result<()> + 't;

/// How a report becomes text.
pub(super) struct Steps<R: Report> {
    /// Called after each event, for reports that are shown while the trace is read.
    pub(super) each: Option<Each<R>>,
    /// Adds what is known only when the trace was read. Gives whether the report says
    /// what was lost.
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
    run(report, None, |_, _| false, &text, args, trace, context)
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
    let text = |file: &str, output: &R::Output, context: &mut Context<'_>| {
        (steps.text)(args, file, output, context)
    };
    // As JSON a report is one object.
    run(report, steps.each.filter(|_| !args.form.json), steps.complete, &text, args, trace, context)
}

fn run<R: Report>(
    report: R,
    each: Option<Each<R>>,
    complete: fn(&mut R::Output, &Ended) -> bool,
    text: &Text<'_, R::Output>,
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let mut trace = Analysed::new(trace)?;
    let mut pass = ReportPass::with_options(report, options(args));
    match each {
        Some(each) => read_each(&mut trace, context, &mut |event, context| {
            pass.event(event);
            each(pass.report_mut(), context)
        })?,
        None => trace.read(&mut pass)?,
    }
    let unused = samples::add_names(&args.samples, pass.model_mut())?;
    let mut reported = pass.finish();
    let ended = trace.ended();
    let says_losses = complete(&mut reported.output, &ended);
    context.progress.end();
    let shown = Shown {
        file: &trace.file,
        ended: &ended,
        events: reported.events,
        record: R::RECORD,
        input: R::INPUT,
        advice: reported.coverage.advice(),
        unused: &unused,
        says_losses,
    };
    if shown.is_json(args) {
        context.write_report(&reported.output, &ended)?;
    } else if shown.is_text(args) {
        text(&trace.file, &reported.output, context)?;
        table::end_page(context)?;
    }
    shown.conclude(context)
}

fn options(args: &ReportArgs) -> AnalysisOptions {
    let mut options = samples::options(&args.samples);
    options.filter.to_nanos = options.filter.to_nanos.or(args.before);
    options.keeps_when = args.when;
    options
}

/// Reads a trace for a report that is shown while it is read.
fn read_each(
    trace: &mut Analysed,
    context: &mut Context<'_>,
    each: &mut dyn FnMut(&Event<'_>, &mut Context<'_>) -> io::Result<()>,
) -> Result<(), Failure> {
    context.forgo_progress_on_terminal();
    while let Some(event) = trace.next_event()? {
        each(&event, context)?;
    }
    Ok(())
}

/// What is known of any report that was made.
struct Shown<'a> {
    file: &'a str,
    ended: &'a Ended,
    /// Events, samples or modules that the report is about.
    events: u64,
    record: &'static [Recording],
    input: ReportInput,
    advice: Option<String>,
    unused: &'a [String],
    says_losses: bool,
}

impl Shown<'_> {
    fn is_json(&self, args: &ReportArgs) -> bool {
        // Of `--format json` nothing is written if there is nothing.
        args.form.json || (args.format == CounterFormat::Json && self.events > 0)
    }

    fn is_text(&self, args: &ReportArgs) -> bool {
        // Without counters OpenMetrics is its end mark, or it would be a text that was
        // cut.
        self.events > 0 || args.format == CounterFormat::Openmetrics
    }

    /// Ends the output, and says what is to be known about it.
    fn conclude(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        context.out.finish()?;
        if self.events == 0 && !self.record.is_empty() {
            self.advise(context);
        }
        for text in self.unused {
            context.messages.warning(text);
        }
        if let Some(advice) = self.advice.as_ref().filter(|_| self.input == ReportInput::Samples) {
            context.messages.warning(&format!("{}: {advice}", self.file));
        }
        if !self.says_losses {
            context.messages.losses(self.file, self.ended);
        }
        Ok(context.conclude(self.file, self.ended, true))
    }

    /// Says what to record to have what a report is made of.
    fn advise(&self, context: &mut Context<'_>) {
        let what = match self.input {
            ReportInput::Samples => "CPU samples",
            _ => "events for this report",
        };
        let record = recommended::providers(self.record).join(" or ");
        let message =
            format!("{}: the trace has no {what}; record with --providers {record}", self.file);
        context.messages.warning(&message);
    }
}
