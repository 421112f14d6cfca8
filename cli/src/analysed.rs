//! A trace that an analysis or a report reads.

use crate::args::profiles::SAMPLER;
use crate::args::{ActivityArg, ChosenActivity, DuringArgs, InputArgs};
use crate::context::{Context, Trace, failed};
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::input::{Ended, Input, UnreadTimes, ended};
use crate::units;
use nettrace_analysis::model::{ActivitySpans, EndpointSpans};
use nettrace_analysis::report::{
    ActivityChoice, ChosenActivities, During, ReportPass, Reports, RequestSpans,
};
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
        let mut ended = ended(reader);
        ended.set_unread_times(self.unread_times.filter(|_| has_times));
        ended
    }
}

/// Returns the times of the activities that the user chose; `None` if none are chosen. Warns of those
/// that are left out.
pub(crate) fn chosen_spans(
    during: Option<&DuringArgs>,
    short: Option<&ActivityArg>,
    options: &AnalysisOptions,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<Option<ActivitySpans>, Failure> {
    let Some(chosen) = ChosenActivity::from_args(during, short)? else { return Ok(None) };
    let report = During::new(chosen.choice.clone());
    let (file, found) = first_pass(chosen.option, report, options_before(options), input, context)?;
    if let Some(text) = none_chosen(&chosen.choice, &found) {
        return Err(Failure::input(file, text));
    }
    for text in left_out(&chosen.choice, &found) {
        context.messages.warning(&format!("{file}: {text}"));
    }
    Ok(Some(chosen.limit(found.spans)))
}

/// Returns what is to be said of chosen activities whose times are not known.
pub(crate) fn left_out(choice: &ActivityChoice, found: &ChosenActivities) -> Vec<String> {
    let reasons = [
        (found.without_end, "left out: the trace has no end of them".to_owned()),
        (found.left_out, format!("left out, or later parts of them: {TOO_MANY_SPANS}")),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    let text = |(count, why)| format!("{} of {choice} {why}", units::counted(count, "span"));
    reasons.map(text).collect()
}

/// Reason why activities do not count, or only their begin.
const TOO_MANY_SPANS: &str = "activities have more spans of threads than are kept (1,048,576)";

/// Returns what is to be said if nothing in the trace meets a choice: what there is. `None` if
/// something does.
pub(crate) fn none_chosen(choice: &ActivityChoice, found: &ChosenActivities) -> Option<String> {
    if found.activities > 0 || found.left_out > 0 {
        return None;
    }
    let known = &found.known;
    Some(match choice {
        ActivityChoice::Endpoint(endpoint) => no_such_endpoint(endpoint, known),
        _ if found.without_end > 0 => {
            let many = units::counted(found.without_end, "span");
            format!("the trace has no end of {many} of {choice}, and no other")
        }
        ActivityChoice::Id(id) => format!("no activity that starts and stops has the id {id}"),
        ActivityChoice::Named { name, field: Some((field, _)) } if known.contains(name) => {
            match found.values.as_slice() {
                [] => format!("no start of {name} has a field {field}"),
                values => format!("there is no {choice}: {field} is {}", some_of(values)),
            }
        }
        _ if known.is_empty() => format!("there is no {choice}: {NO_ACTIVITIES}"),
        _ => format!("there is no activity {choice}: there are {}", some_of(known)),
    })
}

/// Reason why a name matches no activity.
const NO_ACTIVITIES: &str = "the trace has no activity that starts and stops";

/// Returns the spans of time in which threads worked for requests, by endpoint, for `--by-endpoint`.
/// Warns if there are none.
pub(crate) fn endpoint_spans(
    options: &AnalysisOptions,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<EndpointSpans, Failure> {
    let (report, options) = (RequestSpans::default(), options_before(options));
    let (file, spans) = first_pass("--by-endpoint", report, options, input, context)?;
    if spans.endpoints().is_empty() {
        context.messages.warning(&format!("{file}: {NO_REQUEST_THREADS}"));
    }
    if spans.left_out() > 0 {
        let requests = units::counted(spans.left_out(), "request");
        context.messages.warning(&format!("{file}: {requests} left out: {REQUESTS_LEFT_OUT}"));
    }
    Ok(spans)
}

/// Reason why the samples of a request are not counted.
pub(crate) const REQUESTS_LEFT_OUT: &str =
    "requests have more spans of threads than are kept (1,048,576)";

/// Reason why no sample belongs to a request.
const NO_REQUEST_THREADS: &str = "no thread is known to have worked for a request; \
                                  collect --profile web records requests with their threads";

/// Returns the options of a pass before the one with these options, which follows the threads of
/// activities in the same way.
fn options_before(options: &AnalysisOptions) -> AnalysisOptions {
    let mut before = AnalysisOptions::default();
    before.async_callers = options.async_callers;
    before.async_runs.clone_from(&options.async_runs);
    before
}

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

/// Maximum number of names in a message.
const MAX_NAMED: usize = 10;

/// Returns names for a message, not too many.
fn some_of(names: &[String]) -> String {
    let mut some: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    if names.len() > some.len() {
        some.push("…");
    }
    some.join(", ")
}

/// Returns what is to be said of an endpoint without requests, with those that have some.
pub(crate) fn no_such_endpoint(endpoint: &str, known: &[String]) -> String {
    let others = match known {
        [] => NO_REQUEST_THREADS.to_owned(),
        _ => format!("there are {}", some_of(known)),
    };
    format!("no request to '{endpoint}' came in and ended: {others}")
}
