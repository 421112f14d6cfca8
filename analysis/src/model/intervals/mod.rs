//! Matches starts with their stops, for reports, weighted stacks and timelines.
//!
//! [`Matcher`] matches in three ways:
//!
//! - Intervals of one thread are nested: code that runs while a thread waits for a lock
//!   (a message that is pumped, a handler) may wait for another lock. A stop belongs to
//!   the innermost start.
//! - Something with an id (a task, a garbage collection, a method being compiled) is open
//!   at most once at a time: if it starts again, its stop was lost.
//! - Several threads may wait for the same thing, and each ends its own wait.
//!
//! [`LockWaits`] uses a matcher for contention. [`Handlers`] tracks exceptions, whose catch blocks
//! may end without a stop. [`Suspensions`] tracks suspensions of all threads, which may start and
//! stop on different threads. [`OpenActivities`] matches the starts and stops of `EventSource`s: by
//! id, else by fields, else by thread. If several activities with one id are open, their stops wait
//! in [`SharedStops`](shared_stops::SharedStops) until all have stopped.
//!
//! ```text
//! start a   start b   stop      stop          intervals: b 10 ns, a 30 ns
//!   0 ns     10 ns    20 ns     30 ns
//! ```
//!
//! The stop of a wait for a lock may contain the wait's duration ([`reported_nanos`]). Then the
//! start nearest to "stop minus duration" is the match, which is right even if another stop was
//! lost. The interval has the reported duration, which does not include the time for writing the
//! events.

mod activities;
mod activity_ids;
mod around;
mod handlers;
mod lock_waits;
mod matcher;
mod shared_stops;
mod suspensions;
mod twins;

pub(crate) use activities::{
    ActivityInterval, Hint, OpenActivities, OpenActivity, OpenActivityKey,
};
pub(crate) use handlers::{CatchBlock, Clause, Handlers};
pub(crate) use lock_waits::LockWaits;
pub(crate) use matcher::Matcher;
pub(crate) use shared_stops::{SharedTime, StoppedActivities};
pub(crate) use suspensions::{Suspension, Suspensions, is_for_collection};
pub(crate) use twins::{TwinStop, Twins};

use super::{ThreadHandle, rounded};
use nettrace_parser::Event;
use nettrace_parser::view::{ContentionStop, View};

/// Thread and time of the start or stop of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) thread: ThreadHandle,
    /// Id of the thread that wrote the event, which is needed to count losses. It differs from
    /// `thread` for events that another thread writes, such as samples.
    pub(crate) writer: u64,
    /// Time in nanoseconds since the session's start; negative before the start.
    pub(crate) nanos: i64,
}

impl Edge {
    pub(crate) fn from_event(event: &Event<'_>, thread: ThreadHandle, nanos: i64) -> Edge {
        Edge { thread, writer: event.capture_thread(), nanos }
    }
}

/// What is known about the two ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    /// Both events are present.
    Stopped,
    /// The stop was lost: the same interval started again, the enclosing one ended, or too many
    /// were open. The duration is unknown.
    StopLost,
    /// Several activities with the id were open, and nothing tells which of their stops is that of
    /// this one. The duration is unknown.
    StopShared,
    /// The start was lost, or happened before the session. The duration is unknown.
    StartLost,
    /// The start was lost, or happened before the session, but the stop contains the duration.
    StartReported,
    /// An exception left the block of code, which has no stop and ends when the exception is
    /// caught. So the duration is not measured.
    LeftByException,
    /// The interval was still open at the end of the trace, and ends there.
    OpenAtEnd,
}

/// The time from a start to its stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval<T> {
    /// Thread and time of the start. An unknown start is placed on the stop's thread.
    pub(crate) start: Edge,
    /// Thread and time of the stop, or of what ended the interval instead.
    pub(crate) stop: Edge,
    /// Duration in nanoseconds: the one that the stop reports, or else the time from start to stop.
    /// A reported duration may be shorter than that time. It is 0 if it is unknown: see
    /// [`measured_nanos`](Self::measured_nanos).
    pub(crate) nanos: u64,
    pub(crate) bounds: Bounds,
    pub(crate) what: T,
}

impl<T> Interval<T> {
    /// Creates the interval of a stop whose start is missing. `reported` is the duration in the
    /// stop, if it has one.
    pub(crate) fn without_start(stop: Edge, reported: Option<u64>, what: T) -> Interval<T> {
        let nanos = reported.unwrap_or(0);
        let start = Edge { nanos: stop.nanos.saturating_sub_unsigned(nanos), ..stop };
        let bounds = if reported.is_some() { Bounds::StartReported } else { Bounds::StartLost };
        Interval { start, stop, nanos, bounds, what }
    }

    /// Creates the interval of a start whose stop was lost.
    fn without_stop(start: Edge, what: T) -> Interval<T> {
        Interval { start, stop: start, nanos: 0, bounds: Bounds::StopLost, what }
    }

    /// Creates the interval of a start and its stop.
    fn whole(start: Edge, stop: Edge, reported: Option<u64>, what: T) -> Interval<T> {
        let nanos = reported.unwrap_or_else(|| nanos_between(start.nanos, stop.nanos));
        // Some runtimes start their timer before they write the start event, so the duration may
        // begin before it. The interval ends with its stop event, so that the thread's next
        // interval comes later.
        let began = start.nanos.min(stop.nanos.saturating_sub_unsigned(nanos));
        Interval {
            start: Edge { nanos: began, ..start },
            stop,
            nanos,
            bounds: Bounds::Stopped,
            what,
        }
    }

    /// Converts the subject of the interval by a function.
    pub(crate) fn map<U>(self, what: impl FnOnce(T) -> U) -> Interval<U> {
        let Interval { start, stop, nanos, bounds, what: of } = self;
        Interval { start, stop, nanos, bounds, what: what(of) }
    }

    /// Returns the duration if it was measured, between two events or by the runtime.
    pub(crate) fn measured_nanos(&self) -> Option<u64> {
        matches!(self.bounds, Bounds::Stopped | Bounds::StartReported).then_some(self.nanos)
    }
}

/// Returns the nanoseconds from one time to a later one; 0 if `to` is not later.
pub(crate) fn nanos_between(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}

/// Returns the duration that the stop of a wait for a lock contains, from .NET 5 on.
pub(crate) fn reported_nanos(event: &Event<'_>) -> Option<u64> {
    let nanos = ContentionStop::from_event(event)?.duration_nanos?;
    // The value is a 64-bit float, which may be NaN, infinite or negative.
    (nanos.is_finite() && nanos >= 0.0).then(|| rounded(nanos))
}
