//! What the events of a trace are about.

use crate::report::{
    Activities, Alloc, Contention, Counters, Exceptions, Gc, Jit, Logs, Report, Sql, Tasks,
    ThreadPool, TopNOptions, Waits,
};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;

/// What events are about, in the order in which answers are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TraceSubject {
    Cpu,
    Gc,
    Allocations,
    Heap,
    Exceptions,
    Contention,
    Waits,
    ThreadPool,
    Jit,
    Tasks,
    Activities,
    Sql,
    Logs,
    Counters,
}

impl TraceSubject {
    /// Returns the name in a list, the name of the report, and what the report shows. Some have no
    /// report.
    pub(super) fn text(self) -> (&'static str, &'static str, &'static str) {
        match self {
            TraceSubject::Cpu => ("CPU samples", TopNOptions::NAME, "where time went"),
            TraceSubject::Gc => ("garbage collections", Gc::NAME, "pauses and heap sizes"),
            TraceSubject::Allocations => {
                ("allocations", Alloc::NAME, "what was allocated, and where")
            }
            TraceSubject::Heap => ("a heap dump", "", ""),
            TraceSubject::Exceptions => {
                ("exceptions", Exceptions::NAME, "what was thrown, and where")
            }
            TraceSubject::Contention => {
                ("lock contention", Contention::NAME, "which locks were waited for")
            }
            TraceSubject::Waits => ("waits", Waits::NAME, "where threads waited"),
            TraceSubject::ThreadPool => {
                ("the thread pool", ThreadPool::NAME, "workers and starvation")
            }
            TraceSubject::Jit => ("compiled methods", Jit::NAME, "what was compiled"),
            TraceSubject::Tasks => ("tasks", Tasks::NAME, "what was scheduled and awaited"),
            TraceSubject::Activities => {
                ("activities", Activities::NAME, "requests and how long they took")
            }
            TraceSubject::Sql => {
                ("SQL commands", Sql::NAME, "which statements ran, and for which requests")
            }
            TraceSubject::Logs => ("log messages", Logs::NAME, "what was logged"),
            TraceSubject::Counters => ("counters", Counters::NAME, "values over time"),
        }
    }

    /// Returns the subject of events of this type; `None` if a report says which of its events
    /// count.
    pub(super) fn for_event(event: &Event<'_>) -> Option<TraceSubject> {
        Some(match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime, 1) => TraceSubject::Gc,
            (KnownProvider::Runtime, 18) => TraceSubject::Heap,
            (KnownProvider::Runtime, 80) => TraceSubject::Exceptions,
            (KnownProvider::Runtime, 81) => TraceSubject::Contention,
            (KnownProvider::Runtime, 301) => TraceSubject::Waits,
            (KnownProvider::Runtime, 143) => TraceSubject::Jit,
            (KnownProvider::Runtime, 50..=57) => TraceSubject::ThreadPool,
            (KnownProvider::Tasks, 7..=11) => TraceSubject::Tasks,
            (KnownProvider::Other, 53)
                if event.provider() == "Microsoft-DotNETRuntimeMonoProfiler" =>
            {
                TraceSubject::Heap
            }
            _ => return None,
        })
    }
}

/// How many events are about each subject.
pub(super) type Subjects = BTreeMap<TraceSubject, u64>;
