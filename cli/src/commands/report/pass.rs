//! Runs any report: reads the trace once, writes JSON or text, and warns with advice what to record
//! if the trace has nothing for the report.

use crate::analysed::{Analysed, chosen_spans, endpoint_spans};
use crate::analysis_options::AnalysisArgs;
use crate::args::{ActivityArg, InputArgs, ReportArgs, RowsArg};
use crate::async_runs::add_async_runs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::{recommended, table};
use clap::Args;
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::model::{LineCoverage, NamesAdvice};
use nettrace_analysis::report::{Recording, Report, ReportInput, ReportPass, SeenKeywords};
use nettrace_export::units::counted;
use nettrace_parser::Event;
use serde::Serialize;
use std::io;

/// Options that all reports have.
pub(super) struct Asked<'a> {
    pub(super) input: &'a InputArgs,
    pub(super) options: AnalysisOptions,
    counted: &'a dyn AnalysisArgs,
    /// Activity or endpoint to which samples are limited.
    pub(super) activity: Option<&'a ActivityArg>,
    /// Whether samples are told apart by endpoint.
    pub(super) is_by_endpoint: bool,
    pub(super) form: Form,
}

/// Form in which a report is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Text; nothing if the trace has no events for the report.
    Text,
    /// Text even if the trace has no events for the report.
    AlwaysText,
    /// JSON object; nothing if the trace has no events for the report.
    Json,
    /// JSON object even if the trace has no events for the report, as for `--json`.
    AlwaysJson,
}

impl<'a> Asked<'a> {
    pub(super) fn from_args<O: Args, C: Args + AnalysisArgs>(
        args: &'a ReportArgs<O, C>,
    ) -> Asked<'a> {
        Asked {
            input: &args.input,
            options: args.counted.options(),
            counted: &args.counted,
            activity: None,
            is_by_endpoint: false,
            form: if args.form.json { Form::AlwaysJson } else { Form::Text },
        }
    }
}

/// Function that is called after each event.
type Each<R> = fn(&mut R, &mut Context<'_>) -> io::Result<()>;
/// Function that writes the report about an input as text.
type WriteText<'t, O> = dyn Fn(&InputArgs, &O, &mut Context<'_>) -> io::Result<()> + 't;

/// Functions that turn a report into text.
pub(super) struct Steps<'t, R: Report> {
    /// Function for reports that are written while the trace is read; `None` for others.
    pub(super) each: Option<Each<R>>,
    /// Adds facts that are known only after the whole trace was read. Returns true if the text of
    /// the report has the lost events.
    pub(super) complete: fn(&mut R::Output, &Ended, &InputArgs, &mut Context<'_>) -> bool,
    pub(super) text: &'t WriteText<'t, R::Output>,
}

/// Reads the trace once for a report and writes it.
pub(super) fn show<R: Report>(
    report: R,
    asked: Asked<'_>,
    context: &mut Context<'_>,
    text: impl Fn(&R::Output, &mut Context<'_>) -> io::Result<()>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let text = |_: &InputArgs, output: &R::Output, context: &mut Context<'_>| text(output, context);
    show_in_steps(
        report,
        asked,
        &Steps { each: None, complete: |_, _, _, _| false, text: &text },
        context,
    )
}

/// Reads and writes a report whose only option is the number of rows.
pub(super) fn show_rows<R: Report + Default, C: Args + AnalysisArgs>(
    args: &ReportArgs<RowsArg, C>,
    context: &mut Context<'_>,
    text: impl Fn(usize, &R::Output, &mut Context<'_>) -> io::Result<()>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let rows = args.own.number;
    let text = |output: &R::Output, context: &mut Context<'_>| text(rows, output, context);
    show(R::default().top(rows), Asked::from_args(args), context, text)
}

/// Reads the trace once for a report and writes it, with all [`Steps`].
pub(super) fn show_in_steps<R: Report>(
    report: R,
    mut asked: Asked<'_>,
    steps: &Steps<'_, R>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    add_async_runs(&mut asked.options, asked.input, context)?;
    if asked.options.filter.spans.is_none() {
        let (during, options) = (asked.counted.during(), &asked.options);
        asked.options.filter.spans =
            chosen_spans(during, asked.activity, options, asked.input, context)?;
    }
    if asked.is_by_endpoint {
        asked.options.endpoints = Some(endpoint_spans(&asked.options, asked.input, context)?);
    }
    let mut trace = Analysed::new(context.open(asked.input)?)?;
    if !matches!(R::INPUT, ReportInput::Events | ReportInput::Code) {
        asked.options.thread_times = trace.thread_times(asked.input);
    }
    let mut pass = ReportPass::with_options(report, asked.options);
    // JSON is one object, which is written at the end.
    match steps.each.filter(|_| asked.form == Form::Text) {
        Some(each) => read_each(&mut trace, context, &mut |event, context| {
            pass.event(event);
            each(pass.reports_mut(), context)
        })?,
        None => trace.read(|events| pass.read(events))?,
    }
    let mut unused = asked.counted.add_names(&asked.input.file, pass.model_mut())?;
    let mut reported = pass.finish();
    unused.extend(reported.lines.iter().flat_map(LineCoverage::advice));
    let ended = trace.ended();
    let says_losses = (steps.complete)(&mut reported.output, &ended, asked.input, context);
    context.progress.end();
    let has_events = reported.events > 0;
    let is_shown = has_events || R::has_more(&reported.output);
    match asked.form {
        Form::Json | Form::Text if !is_shown => {}
        Form::Json | Form::AlwaysJson => context.write_report(&reported.output, &ended)?,
        Form::Text | Form::AlwaysText => {
            (steps.text)(asked.input, &reported.output, context)?;
            table::end_page(context)?;
        }
    }
    let shown = Shown {
        file: &trace.file,
        ended: &ended,
        has_events,
        refused_samples: reported.refused_samples,
        record: R::RECORD,
        keywords: reported.keywords,
        input: R::INPUT,
        advice: reported.coverage.advice(ended.is_complete),
        unused: &unused,
        says_losses,
    };
    shown.conclude(context)
}

/// Reads a trace for a report that is written meanwhile.
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

/// Facts for the warnings after a report.
struct Shown<'a> {
    file: &'a str,
    ended: &'a Ended,
    /// Whether the trace has events, samples or modules for the report.
    has_events: bool,
    /// Number of samples that filters leave out.
    refused_samples: u64,
    record: &'static [Recording],
    keywords: SeenKeywords,
    input: ReportInput,
    advice: Option<NamesAdvice>,
    unused: &'a [String],
    says_losses: bool,
}

impl Shown<'_> {
    /// Finishes the output, and warns of what is missing.
    fn conclude(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        context.out.finish()?;
        if !self.has_events && !self.record.is_empty() {
            self.advise(context);
        }
        for text in self.unused {
            context.messages.warning(text);
        }
        if let Some(advice) = self.advice.filter(|_| self.is_of_samples()) {
            context.messages.warning(&format!("{}: {}", self.file, advice.text()));
        }
        if !self.says_losses {
            context.messages.losses(self.file, self.ended);
        }
        Ok(context.conclude(self.file, self.ended, true))
    }

    fn is_of_samples(&self) -> bool {
        matches!(self.input, ReportInput::Samples | ReportInput::SamplesOfThreads)
    }

    /// Warns that the trace has nothing for the report, with providers to record unless they were
    /// recorded, or that the filter leaves no samples.
    fn advise(&self, context: &mut Context<'_>) {
        let what = if self.is_of_samples() { "CPU samples" } else { "events for this report" };
        if self.is_of_samples() && self.refused_samples > 0 {
            let samples = counted(self.refused_samples, "CPU sample");
            let message = format!("{}: the filter leaves none of {samples}", self.file);
            context.messages.warning(&message);
            return;
        }
        if let Some(on) = self.record.iter().find(|recording| self.keywords.contain(recording)) {
            let message = format!(
                "{}: the trace has no {what}, though {on} was recorded: none came",
                self.file
            );
            context.messages.warning(&message);
            return;
        }
        let record = recommended::providers(self.record).join(" or ");
        let message =
            format!("{}: the trace has no {what}; record with --providers {record}", self.file);
        context.messages.warning(&message);
    }
}
