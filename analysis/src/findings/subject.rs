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
pub(super) enum Subject {
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

impl Subject {
    /// Name in a list, name of the report, and what the report shows. Some have no
    /// report.
    pub(super) fn text(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Subject::Cpu => ("CPU samples", TopNOptions::NAME, "where time went"),
            Subject::Gc => ("garbage collections", Gc::NAME, "pauses and heap sizes"),
            Subject::Allocations => ("allocations", Alloc::NAME, "what was allocated, and where"),
            Subject::Heap => ("a heap dump", "", ""),
            Subject::Exceptions => ("exceptions", Exceptions::NAME, "what was thrown, and where"),
            Subject::Contention => {
                ("lock contention", Contention::NAME, "which locks were waited for")
            }
            Subject::Waits => ("waits", Waits::NAME, "where threads waited"),
            Subject::ThreadPool => ("the thread pool", ThreadPool::NAME, "workers and starvation"),
            Subject::Jit => ("compiled methods", Jit::NAME, "what was compiled"),
            Subject::Tasks => ("tasks", Tasks::NAME, "what was scheduled and awaited"),
            Subject::Activities => {
                ("activities", Activities::NAME, "requests and how long they took")
            }
            Subject::Sql => {
                ("SQL commands", Sql::NAME, "which statements ran, and for which requests")
            }
            Subject::Logs => ("log messages", Logs::NAME, "what was logged"),
            Subject::Counters => ("counters", Counters::NAME, "values over time"),
        }
    }

    /// The subject of events of this type; `None` if a report says which of its events
    /// count.
    pub(super) fn of(event: &Event<'_>) -> Option<Subject> {
        Some(match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime, 1) => Subject::Gc,
            (KnownProvider::Runtime, 18) => Subject::Heap,
            (KnownProvider::Runtime, 80) => Subject::Exceptions,
            (KnownProvider::Runtime, 81) => Subject::Contention,
            (KnownProvider::Runtime, 301) => Subject::Waits,
            (KnownProvider::Runtime, 143) => Subject::Jit,
            (KnownProvider::Runtime, 50..=57) => Subject::ThreadPool,
            (KnownProvider::Tasks, 7..=11) => Subject::Tasks,
            (KnownProvider::Other, 53)
                if event.provider() == "Microsoft-DotNETRuntimeMonoProfiler" =>
            {
                Subject::Heap
            }
            _ => return None,
        })
    }
}

/// How many events are about each subject.
pub(super) type Subjects = BTreeMap<Subject, u64>;
