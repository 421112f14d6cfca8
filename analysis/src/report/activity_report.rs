//! What reports of activities and of HTTP requests tell.

use super::distribution::Spread;
use super::parts::{Parts, Stretch};

/// What started and stopped.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivitiesReport {
    /// Version of this document.
    pub schema: u32,
    /// Activities that started. HTTP: requests, each once, however many layers of the program reported it.
    pub started: u64,
    /// Of these, those inside of no other that is counted here.
    pub outermost: u64,
    /// Of these, those that stopped.
    pub stopped: u64,
    /// Of these, those that went wrong: their stop, or another of their events, says so.
    pub errors: u64,
    /// HTTP: starts that are a further layer's word of a request that is counted already.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "super::is_zero"))]
    pub layers: u64,
    /// Stops whose start is not in the trace.
    pub stops_without_start: u64,
    /// Stops whose start was looked for among the newest open activities only: many thousands of one name were
    /// open at once, again and again. Left out of JSON if there are none, as in all but strange traces.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "super::is_zero"))]
    pub stops_cut_short: u64,
    /// By name: the longest total first.
    pub activities: Vec<ActivityRow>,
    /// Which run inside which: a node, then what runs inside of it, the longest total first.
    pub tree: Vec<ActivityNode>,
    /// Those that took longest, the longest first.
    pub slowest: Vec<SlowActivity>,
    /// What was done when for the activity that was asked for; `None` if none was, or if it did not start and stop.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub line: Option<ActivityLine>,
    /// Events of the activity that was asked for, and of those inside of it, in time order; empty if none was asked for.
    pub events: Vec<ActivityEvent>,
    /// Events that are left out of `events` because there are more than 10,000.
    pub events_left_out: u64,
}

/// Activities of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityRow {
    /// `Provider/Task`, or `Source/Activity` of DiagnosticSource; of HTTP what is asked for.
    pub name: String,
    /// HTTP: `in` or `out`; `None` for other activities, and when the source does not say.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub direction: Option<String>,
    /// How many started.
    pub started: u64,
    /// Of these, those inside of another one of this name, whose time is a part of that one's.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "super::is_zero"))]
    pub nested: u64,
    /// Of these, those that stopped.
    pub stopped: u64,
    /// Of these, those that went wrong.
    pub errors: u64,
    /// How long they took: from start to stop, or what the stop tells.
    pub durations: Spread,
    /// What that time was spent on, all together. An activity's time is also that of those inside of it.
    pub parts: Parts,
    /// Total time of those that are not inside of another one of this name: no time is in it twice for being nested.
    pub outermost_ns: u64,
    /// HTTP: what each layer of the program says of these requests, the longest total first; empty if only one says anything.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub layers: Vec<ActivityLayer>,
    /// HTTP: how often each status was answered.
    pub statuses: Vec<StatusCount>,
}

/// A layer of the program that reports requests, such as Hosting and Kestrel. Durations are of the requests that this
/// layer reported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityLayer {
    /// `Provider/Task`, or `Source/Activity` of DiagnosticSource.
    pub name: String,
    /// How long they took there.
    pub durations: Spread,
}

/// An HTTP status, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StatusCount {
    /// The status; −1 stands for no answer.
    pub status: i64,
    /// How often.
    pub count: u64,
}

/// Activities of one name inside the same others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityNode {
    /// As in [`ActivityRow`].
    pub name: String,
    /// 0 for those inside of none.
    pub depth: usize,
    /// How many started.
    pub started: u64,
    /// Of these, those that stopped.
    pub stopped: u64,
    /// Of these, those that went wrong.
    pub errors: u64,
    /// How long they took.
    pub durations: Spread,
}

/// An activity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SlowActivity {
    /// As in [`ActivityRow`].
    pub name: String,
    /// Its id: the path (`//1/5`), the guid, or what DiagnosticSource gives; `None` if it has none.
    pub id: Option<String>,
    /// When it started, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// How long it took.
    pub duration_ns: u64,
    /// What that time was spent on.
    pub parts: Parts,
    /// OS id of the thread that started it.
    pub thread_id: Option<u64>,
    /// OS id of the thread that stopped it.
    pub stop_thread_id: Option<u64>,
    /// Whether it went wrong.
    pub is_error: bool,
    /// Fields of its start, `name=value …`.
    pub fields: String,
}

/// An activity over time.
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
    /// How long it took.
    pub duration_ns: u64,
    /// What that time was spent on.
    pub parts: Parts,
    /// What was done when, in the order of time; of more than 10,000 stretches the first.
    pub stretches: Vec<Stretch>,
}

/// An event of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityEvent {
    /// When, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of its thread.
    pub thread_id: Option<u64>,
    /// The activity that it is part of.
    pub id: String,
    /// `Provider/Event`.
    pub event: String,
    /// Its fields, `name=value …`.
    pub fields: String,
}
