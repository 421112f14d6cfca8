//! Results of the reports of activities and of HTTP requests.

use super::chosen_spans::FoundSpans;
use super::name::ActivityName;
#[cfg(feature = "serde")]
use super::name::name_and_direction;
use super::parts::{Parts, Stretch};
use super::serving::ServingRequest;
use crate::model::EndpointSpans;
use crate::report::distribution::Spread;
use crate::report::occurrence::Occurrence;
use crate::report::requests::HttpPhases;

/// Result of the report of activities, or of HTTP requests.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivitiesReport {
    /// Version of this document: [`SCHEMA`](crate::report::SCHEMA).
    pub schema: u32,
    /// Number of activities that started. An HTTP request is counted once, however many layers of
    /// the program reported it.
    pub started: u64,
    /// Number of activities that are not inside another counted activity.
    pub outermost: u64,
    /// Number of activities that stopped.
    pub stopped: u64,
    /// Activities that stopped, each at one of several stops that cannot be told apart. JSON omits
    /// the member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub unpaired: Option<Unpaired>,
    /// Number of activities that failed, as their stop or another of their events says.
    pub errors: u64,
    /// HTTP: number of starts that further layers reported for requests already counted.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub layers: u64,
    /// Number of stops without a start in the trace.
    pub stops_without_start: u64,
    /// Number of stops whose start was searched only among the newest open activities, because many
    /// thousands of one name were open at once. JSON omits the member if it is 0, as in almost all
    /// traces.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub stops_cut_short: u64,
    /// Activities by name, longest total first.
    pub activities: Vec<ActivityRow>,
    /// Tree of activities inside others: each node is followed by its children, longest total
    /// first.
    pub tree: Vec<ActivityNode>,
    /// Slowest activities, slowest first.
    pub slowest: Vec<SlowActivity>,
    /// Time line of the chosen activity; `None` if none was chosen, or its start or stop is
    /// missing.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub line: Option<ActivityLine>,
    /// Calls, spans, SQL commands, awaits, log messages and exceptions inside the chosen HTTP request, in
    /// the order in which they began. Empty if none was chosen.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub steps: Vec<RequestStep>,
    /// Number of steps beyond the 10,000 that are kept.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub steps_left_out: u64,
    /// Events of the requested activity and of activities inside it, in time order; empty if none
    /// was requested.
    pub events: Vec<ActivityEvent>,
    /// Number of events beyond the 10,000 in `events`.
    pub events_left_out: u64,
    /// Number of further activities with the name and the id of the chosen one. JSON omits the
    /// member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub same_id: u64,
    /// Whether the parts of time use what the async profiler of .NET 11 says of threads:
    /// [`AnalysisOptions::async_runs`](crate::AnalysisOptions::async_runs). JSON omits the member if it is
    /// `None`, as the trace has nothing of it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub async_profiler: Option<bool>,
    /// Whether async methods ran that the runtime itself suspends (.NET 11), and neither events of tasks nor
    /// the async profiler tell when they go on: awaits may have work of them. JSON omits the member if it
    /// is false.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_false"))]
    pub lacks_turns: bool,
    /// HTTP requests among the activities, by target; `None` unless they were asked for.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub http: Option<Box<ActivitiesReport>>,
    /// Number of selected starts and stops.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
    /// Activities that [`Activities::take_ended`](super::Activities) has not returned.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) ended: Vec<Occurrence>,
    /// Times in which threads worked for incoming requests; empty unless they were asked for.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) request_spans: EndpointSpans,
    /// Times of chosen activities; empty unless they were asked for.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) chosen_spans: FoundSpans,
}

/// Activities with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityRow {
    /// Name, and direction of HTTP requests, which JSON has as a member, too.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "name_and_direction"))]
    pub name: ActivityName,
    /// Number of activities that started.
    pub started: u64,
    /// Number of activities inside another one with this name, whose time includes theirs.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub nested: u64,
    /// Number of activities that stopped.
    pub stopped: u64,
    /// Activities that stopped, each at one of several stops that cannot be told apart. JSON omits
    /// the member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub unpaired: Option<Unpaired>,
    /// Number of activities that failed.
    pub errors: u64,
    /// Durations, as the stop events contain them, or from start to stop. Of the activities in
    /// `unpaired`, only the total and the mean know.
    pub durations: Spread,
    /// Parts of the total time, which includes the time of activities inside these.
    pub parts: Parts,
    /// Total time of the activities that are not inside another one with this name, in nanoseconds,
    /// so that no time is counted twice.
    pub outermost_ns: u64,
    /// HTTP: layers of the program that report these requests, longest total first; empty if there
    /// is only one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub layers: Vec<ActivityLayer>,
    /// HTTP: outgoing requests of incoming ones, longest total first; at most ten targets.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub calls: Vec<ActivityCalls>,
    /// HTTP: phases of outgoing requests, as sums; `None` if the trace does not tell them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub phases: Option<HttpPhases>,
    /// HTTP: number of outgoing requests that opened a connection.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub connections: u64,
    /// HTTP: number of outgoing requests that opened a connection although another one to their
    /// host was free, or had been closed since its last request.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub needless_connections: u64,
    /// HTTP: number of SQL commands that ran for incoming requests.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub sql_commands: u64,
    /// HTTP: time of the SQL commands of incoming requests, in nanoseconds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub sql_ns: u64,
    /// HTTP: number of requests by status.
    pub statuses: Vec<StatusCount>,
}

/// Activities that stopped, but whose single durations are unknown. In .NET 10 and 11, several
/// activities with one id may be open at once; then nothing tells which of them a stop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Unpaired {
    /// Number of these activities. Percentiles and extremes of durations leave them out.
    pub count: u64,
    /// Number of those among them that the total and the mean leave out as well: stops are missing,
    /// or the activities belong to several rows.
    pub not_in_total: u64,
    /// Duration that the longest of all activities of the row has at least, in nanoseconds.
    pub longest_at_least_ns: u64,
}

/// Outgoing requests to one target, inside incoming requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityCalls {
    /// Name, as in [`ActivityRow::name`].
    pub name: ActivityName,
    /// Number of calls.
    pub count: u64,
    /// Total time of the calls, in nanoseconds. Simultaneous calls are added up.
    pub total_ns: u64,
}

/// Step inside a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RequestStep {
    /// Kind of the step.
    pub kind: StepKind,
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration in nanoseconds; `None` if the step has none, or did not end in the trace.
    pub duration_ns: Option<u64>,
    /// Number of steps that enclose this one in time.
    pub depth: usize,
    /// Text by kind: target, name, statement, `TASK in METHOD ← CALLER`, `LEVEL LOGGER: message` or
    /// `type: message`.
    pub text: String,
    /// Whether the step failed, is an exception, or is a message of level error or worse.
    pub is_error: bool,
    /// OS id of the thread on which the step began; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
}

/// Kind of a [`RequestStep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum StepKind {
    /// Incoming request: the chosen one, and those that it sent to its own process.
    Request,
    /// Outgoing request.
    Call,
    /// Another activity.
    Span,
    /// An SQL command.
    Sql,
    /// An await: what was awaited, in which method, and who awaits that one.
    Await,
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
    /// Activities of the layer that stopped, each at one of several stops that cannot be told apart.
    /// JSON omits the member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub unpaired: Option<Unpaired>,
    /// Durations in this layer, as [`ActivityRow::durations`].
    pub durations: Spread,
}

/// HTTP status with its number of occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StatusCount {
    /// Status; −1 if there was no response.
    pub status: i64,
    /// Number of occurrences.
    pub count: u64,
}

/// Activities with the same name inside the same other activities.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityNode {
    /// Name, as in [`ActivityRow::name`].
    pub name: String,
    /// Number of activities around these.
    pub depth: usize,
    /// Number of activities that started.
    pub started: u64,
    /// Number of activities that stopped.
    pub stopped: u64,
    /// Activities that stopped, each at one of several stops that cannot be told apart. JSON omits
    /// the member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub unpaired: Option<Unpaired>,
    /// Number of activities that failed.
    pub errors: u64,
    /// Durations of the activities that stopped, as [`ActivityRow::durations`].
    pub durations: Spread,
}

/// Activity among the slowest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SlowActivity {
    /// Name, as in [`ActivityRow::name`].
    pub name: ActivityName,
    /// Id: a path (`//1/5`), a GUID, or an id of DiagnosticSource; `None` if the activity has none.
    pub id: Option<String>,
    /// Key, which no other activity has: the id, `@`, and the time of the start event in
    /// nanoseconds since the session's start. `None` if no other activity has the id. JSON then
    /// omits the member.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub key: Option<String>,
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// Parts of the activity's time.
    pub parts: Parts,
    /// HTTP: phases of an outgoing request; `None` if the trace does not tell them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub phases: Option<HttpPhases>,
    /// HTTP: incoming requests of the same process that served an outgoing one, as trace ids tell
    /// it; several if it was sent more than once. JSON omits the member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub served_by: Vec<ServingRequest>,
    /// OS id of the thread that started the activity; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// OS id of the thread that stopped the activity; `None` if the stream does not contain it.
    pub stop_thread_id: Option<u64>,
    /// Whether the activity failed.
    pub is_error: bool,
    /// Fields of the start or stop, as `name=value …`.
    pub fields: String,
    /// Times at which threads worked for the activity: thread, start, end. Only for a page.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) threads: Vec<(u32, i64, i64)>,
    /// Ids of the activities around it, if its id is a path. Only for a page.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) around: Option<Vec<String>>,
}

/// Time line of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityLine {
    /// Name, as in [`ActivityRow::name`].
    pub name: ActivityName,
    /// Id of the activity.
    pub id: String,
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// Parts of the activity's time.
    pub parts: Parts,
    /// HTTP: phases of an outgoing request; `None` if the trace does not tell them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub phases: Option<HttpPhases>,
    /// HTTP: incoming requests of the same process that served an outgoing one, as trace ids tell
    /// it; several if it was sent more than once. JSON omits the member if there are none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub served_by: Vec<ServingRequest>,
    /// Stretches in time order; at most the first 10,000.
    pub stretches: Vec<Stretch>,
}

/// Event of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityEvent {
    /// Time, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of the thread; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Id of the activity that the event belongs to.
    pub id: String,
    /// Name of the event: `Provider/Event`.
    pub event: String,
    /// Fields, as `name=value …`.
    pub fields: String,
}
