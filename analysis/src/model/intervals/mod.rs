//! From a start to its stop: one way to match them, for reports, weighted stacks and timelines alike.
//!
//! [`Matcher`] matches in three ways. Things of one thread lie inside each other: a thread that waits for a lock may
//! begin to wait for another before it has the first, and the stop belongs to the innermost start. A thing with an id
//! (a task, a collection, a method that is compiled) is there once: if it begins again, its stop was lost. Several
//! threads may wait for one such thing; each ends its own wait.
//! [`Handlers`] follows exceptions, whose catch blocks may end without a stop. [`Suspensions`] follows the stops of all
//! threads, each from thread to thread.
//! [`OpenActivities`] matches what sources start and stop: by id, else by fields, else by thread.
//!
//! ```text
//! start a   start b   stop      stop          intervals: b 10 ns, a 30 ns
//!   0 ns     10 ns    20 ns     30 ns
//! ```
//!
//! A stop may say how long its interval was ([`told_nanos`]). Then it belongs to the start that fits best, which keeps
//! the match right where a stop was lost; and that length is the interval's, because the runtime measured it without
//! the time that writing the events took.

mod activities;
mod activity_ids;
mod handlers;
mod lock_waits;
mod matcher;
mod suspensions;

pub(crate) use activities::{OpenActivities, OpenActivity, OpenActivityKey};
pub(crate) use handlers::{Block, Clause, Handlers};
pub(crate) use lock_waits::LockWaits;
pub(crate) use matcher::Matcher;
pub(crate) use suspensions::{Suspension, Suspensions, is_for_collection};

use super::{ThreadHandle, rounded};
use nettrace_parser::Event;
use nettrace_parser::view::ContentionStop;

/// Where and when something starts or stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) thread: ThreadHandle,
    /// The thread that wrote the event, as the stream counts losses.
    pub(crate) writer: u64,
    /// Nanoseconds since the session's start.
    pub(crate) nanos: i64,
}

impl Edge {
    pub(crate) fn of(event: &Event<'_>, thread: ThreadHandle, nanos: i64) -> Edge {
        Edge { thread, writer: event.capture_thread(), nanos }
    }
}

/// How the ends of an interval are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    /// Both events are there.
    Stopped,
    /// The stop was lost: the same thing began again, what it lies in ended, or too many were open. No length.
    StopLost,
    /// The start was lost or came before the session. No length.
    StartLost,
    /// As `StartLost`, but the stop says how long it took.
    StartTold,
    /// A block of code that an exception left, which has no stop: it ends where that exception was caught.
    Left,
    /// The trace ends first, and so does the interval.
    OpenAtEnd,
}

/// From a start to its stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval<T> {
    /// Where and when it began. Without a start: the stop's thread.
    pub(crate) start: Edge,
    /// Where and when it ended.
    pub(crate) stop: Edge,
    /// How long it took: as the stop says, else from start to stop. 0 where nothing tells.
    pub(crate) nanos: u64,
    pub(crate) bounds: Bounds,
    pub(crate) what: T,
}

impl<T> Interval<T> {
    /// A stop without a start. `told`: the duration that the stop reports, if any.
    pub(crate) fn without_start(stop: Edge, told: Option<u64>, what: T) -> Interval<T> {
        let nanos = told.unwrap_or(0);
        let start = Edge { nanos: stop.nanos.saturating_sub_unsigned(nanos), ..stop };
        let bounds = if told.is_some() { Bounds::StartTold } else { Bounds::StartLost };
        Interval { start, stop, nanos, bounds, what }
    }

    /// A start whose stop was lost.
    fn without_stop(start: Edge, what: T) -> Interval<T> {
        Interval { start, stop: start, nanos: 0, bounds: Bounds::StopLost, what }
    }

    /// A start and its stop.
    fn whole(start: Edge, stop: Edge, told: Option<u64>, what: T) -> Interval<T> {
        let nanos = told.unwrap_or_else(|| nanos_between(start.nanos, stop.nanos));
        // Some runtimes read the clock before they write the start. It ends with its stop, so that what comes next on
        // the thread lies behind it.
        let began = start.nanos.min(stop.nanos.saturating_sub_unsigned(nanos));
        Interval { start: Edge { nanos: began, ..start }, stop, nanos, bounds: Bounds::Stopped, what }
    }

    /// The same interval of something else.
    pub(crate) fn map<U>(self, what: impl FnOnce(T) -> U) -> Interval<U> {
        let Interval { start, stop, nanos, bounds, what: of } = self;
        Interval { start, stop, nanos, bounds, what: what(of) }
    }

    /// How long it took, if it ended and its length is known.
    pub(crate) fn measured_nanos(&self) -> Option<u64> {
        matches!(self.bounds, Bounds::Stopped | Bounds::StartTold).then_some(self.nanos)
    }
}

/// Nanoseconds from one time to a later one.
pub(crate) fn nanos_between(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}

/// How long the stop of a wait for a lock says it took: from .NET 5 on.
pub(crate) fn told_nanos(event: &Event<'_>) -> Option<u64> {
    let told = ContentionStop::of(event)?.duration_nanos?;
    // A float of 64 bits may be no number, or less than nothing.
    (told.is_finite() && told >= 0.0).then(|| rounded(told))
}
