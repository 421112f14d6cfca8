//! A trace that an analysis or a report reads.

use crate::args::profiles::SAMPLER;
use crate::args::{ActivityArg, InputArgs};
use crate::context::{Context, Trace, failed};
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::input::{Ended, Input, UnreadTimes, ended};
use crate::units;
use nettrace_analysis::model::{EndpointSpans, ThreadSpans};
use nettrace_analysis::report::{Activities, Report, ReportPass, Reports, RequestSpans};
use nettrace_analysis::{AnalysisError, AnalysisOptions, ThreadTimes};
use nettrace_parser::{Event, Outcome, TimeOrdered};
use std::sync::Arc;

/// An open trace with its time-ordered events. It keeps the reader, which also knows about the
/// compressed file around the trace.
pub(crate) struct Analysed {
    /// Name of the trace in messages.
    pub(crate) file: String,
    events: TimeOrdered<Input>,
    /// Why times of threads that may lie behind the trace were not looked for; `None` if they were
    /// found, or nobody wants them.
    unread_times: Option<UnreadTimes>,
}

impl Analysed {
    /// Opens the events of a trace in time order. Fails for input that is no trace at all.
    pub(crate) fn new(trace: Trace) -> Result<Analysed, Failure> {
        let mut events = trace.reader.time_ordered();
        events.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
        Ok(Analysed { file: trace.file, events, unread_times: None })
    }

    /// Returns the times of the process and its threads that a recording has beside its events.
    /// `None` if there are none.
    pub(crate) fn thread_times(&mut self, input: &InputArgs) -> Option<Arc<ThreadTimes>> {
        self.unread_times = Some(match input.is_stdin() {
            true => UnreadTimes::Stdin,
            false => UnreadTimes::Packed,
        });
        let first = self.events.trace().ok().filter(|_| !input.is_stdin())?;
        let mut second = Input::open_second(&input.file, first, input.read.input_limit.0)?;
        self.unread_times = None;
        ThreadTimes::read(&mut second).ok().map(Arc::new)
    }

    /// Reads the trace to its end with `read`.
    pub(crate) fn read(
        &mut self,
        read: impl FnOnce(&mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError>,
    ) -> Result<(), Failure> {
        self.read_or(read, |file, error| Failure::input(file, with_causes(&error)))
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
        let Analysed { file, events, .. } = self;
        events.next_event().map_err(|error| Failure::read(file, &error, position))
    }

    /// Returns how reading ended.
    pub(crate) fn ended(&self) -> Ended {
        let reader = self.events.reader();
        // Without samples, the second stream has no times.
        let has_times = reader.goes_on() && reader.event_types().any(|of| &*of.provider == SAMPLER);
        ended(reader).with_unread_times(self.unread_times.filter(|_| has_times))
    }
}

/// Returns the spans of time in which threads worked for the chosen activity, or for requests to
/// the chosen endpoint. `None` if none is chosen.
pub(crate) fn chosen_spans(
    chosen: &ActivityArg,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<Option<ThreadSpans>, Failure> {
    match (&chosen.id, &chosen.endpoint) {
        (Some(id), _) => activity_spans(id, input, context).map(Some),
        (None, Some(endpoint)) => {
            let options = AnalysisOptions::default();
            let (file, spans) =
                first_pass("--endpoint", RequestSpans::default(), options, input, context)?;
            warn_of_left_out(spans.left_out_of(endpoint), &file, context);
            let of_it = spans.spans_of(endpoint);
            of_it.map(Some).ok_or_else(|| no_such_endpoint(endpoint, spans.endpoints(), &file))
        }
        (None, None) => Ok(None),
    }
}

fn activity_spans(
    id: &str,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<ThreadSpans, Failure> {
    let report = Activities::default().top(0).with_events_of(id);
    let (file, found) = first_pass("--id", report, AnalysisOptions::default(), input, context)?;
    let line = found.line.ok_or_else(|| {
        Failure::input(&file, format!("no activity that starts and stops has the id {id}"))
    })?;
    Ok(line.spans())
}

/// Returns the spans of time in which threads worked for requests, by endpoint, for `--by-endpoint`.
/// Warns if there are none.
pub(crate) fn endpoint_spans(
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<EndpointSpans, Failure> {
    let (report, options) = (RequestSpans::default(), AnalysisOptions::default());
    let (file, spans) = first_pass("--by-endpoint", report, options, input, context)?;
    if spans.endpoints().is_empty() {
        context.messages.warning(&format!("{file}: {NO_REQUEST_THREADS}"));
    }
    warn_of_left_out(spans.left_out(), &file, context);
    Ok(spans)
}

/// Reason why the samples of a request are not counted.
pub(crate) const REQUESTS_LEFT_OUT: &str =
    "requests have more spans of threads than are kept (1,048,576)";

/// Warns of requests whose samples are not counted for their endpoint.
fn warn_of_left_out(requests: u64, file: &str, context: &mut Context<'_>) {
    if requests > 0 {
        let requests = units::counted(requests, "request");
        context.messages.warning(&format!("{file}: {requests} left out: {REQUESTS_LEFT_OUT}"));
    }
}

/// Reason why no sample belongs to a request.
const NO_REQUEST_THREADS: &str = "no thread is known to have worked for a request; \
                                  collect --profile web records requests with their threads";

/// Reads a trace for a report on which what is counted in the next pass depends. Returns the name
/// of the file, too.
pub(crate) fn first_pass<R: Reports>(
    option: &str,
    reports: R,
    options: AnalysisOptions,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<(String, R::Outputs), Failure> {
    if input.is_stdin() {
        return Err(Failure::usage(format!("{option} reads the trace twice: give a file")));
    }
    let mut trace = Analysed::new(context.open(input)?)?;
    let mut pass = ReportPass::with_options(reports, options);
    trace.read(|events| pass.read(events))?;
    Ok((trace.file, pass.finish().output))
}

/// Maximum number of endpoints in a message.
const MAX_NAMED_ENDPOINTS: usize = 10;

/// Returns the failure for an endpoint without requests, which names those that have some.
pub(crate) fn no_such_endpoint(endpoint: &str, known: &[String], file: &str) -> Failure {
    let mut names: Vec<&str> = known.iter().take(MAX_NAMED_ENDPOINTS).map(String::as_str).collect();
    if known.len() > names.len() {
        names.push("…");
    }
    let others = match names.is_empty() {
        true => NO_REQUEST_THREADS.to_owned(),
        false => format!("there are {}", names.join(", ")),
    };
    Failure::input(file, format!("no request to '{endpoint}' came in and ended: {others}"))
}
