//! A trace that an analysis or a report reads.

use crate::args::InputArgs;
use crate::context::{Context, Trace, failed};
use crate::failure::Failure;
use crate::input::{Ended, Input};
use nettrace_analysis::AnalysisError;
use nettrace_analysis::model::ThreadSpan;
use nettrace_analysis::report::{Activities, Report, ReportPass};
use nettrace_parser::{Event, Outcome, TimeOrdered};

/// An open trace with its time-ordered events. It keeps the reader, which also knows about the
/// compressed file around the trace.
pub(crate) struct Analysed {
    /// Name of the trace in messages.
    pub(crate) file: String,
    events: TimeOrdered<Input>,
}

impl Analysed {
    /// Opens the events of a trace in time order. Fails for input that is no trace at all.
    pub(crate) fn new(trace: Trace) -> Result<Analysed, Failure> {
        let mut events = trace.reader.time_ordered();
        events.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
        Ok(Analysed { file: trace.file, events })
    }

    /// Reads the trace to its end with `read`.
    pub(crate) fn read(
        &mut self,
        read: impl FnOnce(&mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError>,
    ) -> Result<(), Failure> {
        self.read_or(read, |file, error| Failure::input(file, error.to_string()))
    }

    /// Reads the trace to its end with `read`; `other` makes failures of errors that are not about
    /// reading.
    pub(crate) fn read_or(
        &mut self,
        read: impl FnOnce(&mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError>,
        other: impl FnOnce(&str, AnalysisError) -> Failure,
    ) -> Result<(), Failure> {
        read(&mut self.events).map(drop).map_err(|error| match error {
            AnalysisError::Read(error) => failed(&self.file, self.events.reader(), &error),
            error => other(&self.file, error),
        })
    }

    /// Returns the next event in time order.
    pub(crate) fn next_event(&mut self) -> Result<Option<Event<'_>>, Failure> {
        let position = self.events.reader().position();
        let Analysed { file, events } = self;
        events.next_event().map_err(|error| Failure::read(file, &error, position))
    }

    /// Returns how reading ended.
    pub(crate) fn ended(&self) -> Ended {
        self.events.reader().into()
    }
}

/// Returns the spans of time in which threads worked for the activity with this id.
pub(crate) fn activity_spans(
    id: &str,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<Vec<ThreadSpan>, Failure> {
    if input.is_stdin() {
        return Err(Failure::usage("--id reads the trace twice: give a file"));
    }
    let mut trace = Analysed::new(context.open(input)?)?;
    let mut pass = ReportPass::new(Activities::default().top(0).with_events_of(id));
    trace.read(|events| pass.read(events))?;
    let line = pass.finish().output.line;
    let line = line.ok_or_else(|| {
        Failure::input(&trace.file, format!("no activity that starts and stops has the id {id}"))
    })?;
    Ok(line.spans())
}
