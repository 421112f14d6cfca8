//! The results of the reports of activities and of HTTP requests.

use super::parts::{Parts, Stretch};
use crate::model::ThreadSpan;
use crate::report::distribution::Spread;
use crate::report::occurrence::Occurrence;

/// Activities and what is known about them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivitiesReport {
    /// Version of this document.
    pub schema: u32,
    /// Number of activities that started. HTTP: number of requests; each is counted once,
    /// however many layers of the program reported it.
    pub started: u64,
    /// Those that are not inside another counted activity.
    pub outermost: u64,
    /// Those that stopped.
    pub stopped: u64,
    /// Those that failed: their stop, or another of their events, says so.
    pub errors: u64,
    /// HTTP: starts reported by further layers for requests that were already counted.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub layers: u64,
    /// Stops without a start in the trace.
    pub stops_without_start: u64,
    /// Stops whose start was only searched among the newest open activities, because many
    /// thousands with the same name were open at once, repeatedly. Omitted from JSON if
    /// there are none, which is the case for all but strange traces.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub stops_cut_short: u64,
    /// By name, longest total first.
    pub activities: Vec<ActivityRow>,
    /// Which activities run inside which others: each node is followed by its children,
    /// longest total first.
    pub tree: Vec<ActivityNode>,
    /// The slowest activities, slowest first.
    pub slowest: Vec<SlowActivity>,
    /// What happened when for the requested activity; `None` if none was requested, or it
    /// did not both start and stop.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub line: Option<ActivityLine>,
    /// HTTP: what happened inside the requested one, in the order in which it began: calls,
    /// spans, SQL commands, log messages, exceptions. Empty if none was requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub steps: Vec<RequestStep>,
    /// Number of later steps that were not kept: a request has at most 10,000.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub steps_left_out: u64,
    /// Events of the requested activity and of those inside it, in time order; empty if
    /// none was requested.
    pub events: Vec<ActivityEvent>,
    /// Number of events omitted from `events` because there are more than 10,000.
    pub events_left_out: u64,
    /// The HTTP requests among them, by target, if they were
    /// requested.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub http: Option<Box<ActivitiesReport>>,
    /// Number of selected starts and stops.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
    /// Activities that nobody has taken: see [`Activities::take_ended`](super::Activities).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) ended: Vec<Occurrence>,
}

/// Activities with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityRow {
    /// `Provider/Task`, or `Source/Activity` for DiagnosticSource; the target for HTTP.
    pub name: String,
    /// HTTP: `in` or `out`; `None` for other activities, and if the source does not say.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub direction: Option<String>,
    /// Number of activities that started.
    pub started: u64,
    /// Those inside another one with the same name, whose time includes theirs.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub nested: u64,
    /// Those that stopped.
    pub stopped: u64,
    /// Those that failed.
    pub errors: u64,
    /// Durations: from the stop event if it contains one, else from start to stop.
    pub durations: Spread,
    /// What the total time was spent on. An activity's time includes that of the
    /// activities inside it.
    pub parts: Parts,
    /// Total time of those that are not inside another one with the same name, so that no
    /// time is counted twice.
    pub outermost_ns: u64,
    /// HTTP: what each layer of the program reports for these requests, longest total
    /// first; empty if there is only one layer.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub layers: Vec<ActivityLayer>,
    /// HTTP: what those that came in called, longest total first; at most ten.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub calls: Vec<ActivityCalls>,
    /// HTTP: SQL commands that ran for those that came in.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub sql_commands: u64,
    /// The time of these commands, in nanoseconds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub sql_ns: u64,
    /// HTTP: how often each status was returned.
    pub statuses: Vec<StatusCount>,
}

impl ActivityRow {
    /// Returns the target of a request without its direction; the name of other activities.
    pub fn target(&self) -> &str {
        target(&self.name)
    }
}

/// Returns a name without the direction in front of it.
fn target(name: &str) -> &str {
    name.strip_prefix("in ").or_else(|| name.strip_prefix("out ")).unwrap_or(name)
}

/// Requests that go out of others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityCalls {
    /// The target, as in [`ActivityRow::name`].
    pub name: String,
    /// Number of calls.
    pub count: u64,
    /// Their time. Calls at the same time are added up.
    pub total_ns: u64,
}

impl ActivityCalls {
    /// Returns the target of the request without its direction.
    pub fn target(&self) -> &str {
        target(&self.name)
    }
}

/// What happened inside of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RequestStep {
    /// What it is.
    pub kind: StepKind,
    /// When it began, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Its duration; `None` if it has none, or did not end in the trace.
    pub duration_ns: Option<u64>,
    /// Number of steps that enclose it in time.
    pub depth: usize,
    /// Target, name, statement, `LEVEL LOGGER: message` or `type: message`.
    pub text: String,
    /// Whether it failed: also messages of level error or worse, and exceptions.
    pub is_error: bool,
    /// OS id of the thread on which it began.
    pub thread_id: Option<u64>,
}

/// What a [`RequestStep`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum StepKind {
    /// A request that came in: the requested one, and those that it sent to its own process.
    Request,
    /// A request that went out.
    Call,
    /// Another activity.
    Span,
    /// An SQL command.
    Sql,
    /// A log message.
    Message,
    /// An exception that was thrown.
    Exception,
}

/// A layer of the program that reports requests, such as Hosting and Kestrel. Durations
/// are for the requests reported by this layer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityLayer {
    /// `Provider/Task`, or `Source/Activity` for DiagnosticSource.
    pub name: String,
    /// Durations in this layer.
    pub durations: Spread,
}

/// An HTTP status, and how often it occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StatusCount {
    /// The status; −1 if there was no response.
    pub status: i64,
    /// Number of occurrences.
    pub count: u64,
}

/// Activities with the same name inside the same other activities.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityNode {
    /// As in [`ActivityRow`].
    pub name: String,
    /// 0 for those that are not inside another one.
    pub depth: usize,
    /// Number of activities that started.
    pub started: u64,
    /// Those that stopped.
    pub stopped: u64,
    /// Those that failed.
    pub errors: u64,
    /// Their durations.
    pub durations: Spread,
}

/// An activity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SlowActivity {
    /// As in [`ActivityRow`].
    pub name: String,
    /// Its id: a path (`//1/5`), a GUID, or the id used by DiagnosticSource; `None` if it
    /// has none.
    pub id: Option<String>,
    /// When it started, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Its duration.
    pub duration_ns: u64,
    /// What its time was spent on.
    pub parts: Parts,
    /// OS id of the thread that started it.
    pub thread_id: Option<u64>,
    /// OS id of the thread that stopped it.
    pub stop_thread_id: Option<u64>,
    /// Whether it failed.
    pub is_error: bool,
    /// Fields of its start, `name=value …`.
    pub fields: String,
    /// For a page: when which thread of it worked for the activity.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) threads: Vec<(u32, i64, i64)>,
}

/// What an activity did over time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityLine {
    /// As in [`ActivityRow`].
    pub name: String,
    /// Its id.
    pub id: String,
    /// When it started, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Its duration.
    pub duration_ns: u64,
    /// What its time was spent on.
    pub parts: Parts,
    /// What happened when, in time order; at most the first 10,000 entries.
    pub stretches: Vec<Stretch>,
}

/// An event of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityEvent {
    /// The time, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of its thread.
    pub thread_id: Option<u64>,
    /// Id of the activity that it belongs to.
    pub id: String,
    /// `Provider/Event`.
    pub event: String,
    /// Its fields, `name=value …`.
    pub fields: String,
}

impl ActivityLine {
    /// Returns when threads worked for it. It is never empty, as a filter without any accepts
    /// everything.
    pub fn spans(&self) -> Vec<ThreadSpan> {
        let span = |stretch: &Stretch| {
            let length = i64::try_from(stretch.duration_ns).unwrap_or(i64::MAX);
            let to = stretch.start_ns.saturating_add(length);
            Some(ThreadSpan::new(stretch.thread_id?, stretch.start_ns, to))
        };
        let spans: Vec<ThreadSpan> = self.stretches.iter().filter_map(span).collect();
        match spans.is_empty() {
            true => vec![ThreadSpan::new(0, self.start_ns, self.start_ns)],
            false => spans,
        }
    }
}
