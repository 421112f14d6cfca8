//! Subjects: what the events of a trace are about, such as collections.

use crate::report::{
    Activities, Alloc, Contention, Counters, Exceptions, Gc, Jit, Loader, Logs, RUNTIME_STARTS,
    Report, Sql, Startup, Tasks, ThreadPool, TopNOptions, Waits,
};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;

/// Subject of events, in the order in which the summary lists reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TraceSubject {
    Cpu,
    Gc,
    Allocations,
    Heap,
    Exceptions,
    Contention,
    Waits,
    ThreadPool,
    Jit,
    Startup,
    Loader,
    Tasks,
    Activities,
    Sql,
    Logs,
    Counters,
}

impl TraceSubject {
    /// Returns whether the subject is part of what a trace is said to contain. Most traces have a
    /// start and load assemblies.
    pub(crate) fn is_content(self) -> bool {
        !matches!(self, TraceSubject::Startup | TraceSubject::Loader)
    }

    /// Returns the name of the report about the subject; `None` if there is no such report.
    pub(crate) fn report(self) -> Option<&'static str> {
        Some(match self {
            TraceSubject::Cpu => TopNOptions::NAME,
            TraceSubject::Gc => Gc::NAME,
            TraceSubject::Allocations => Alloc::NAME,
            TraceSubject::Heap => return None,
            TraceSubject::Exceptions => Exceptions::NAME,
            TraceSubject::Contention => Contention::NAME,
            TraceSubject::Waits => Waits::NAME,
            TraceSubject::ThreadPool => ThreadPool::NAME,
            TraceSubject::Jit => Jit::NAME,
            TraceSubject::Startup => Startup::NAME,
            TraceSubject::Loader => Loader::NAME,
            TraceSubject::Tasks => Tasks::NAME,
            TraceSubject::Activities => Activities::NAME,
            TraceSubject::Sql => Sql::NAME,
            TraceSubject::Logs => Logs::NAME,
            TraceSubject::Counters => Counters::NAME,
        })
    }

    /// Returns the subject of events of this type. Returns `None` if the events count for no
    /// subject, or if a report counts them itself.
    pub(crate) fn for_event(event: &Event<'_>) -> Option<TraceSubject> {
        Some(match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime, 1) => TraceSubject::Gc,
            (KnownProvider::Runtime, 18) => TraceSubject::Heap,
            (KnownProvider::Runtime, 80) => TraceSubject::Exceptions,
            (KnownProvider::Runtime, 81) => TraceSubject::Contention,
            (KnownProvider::Runtime, 301) => TraceSubject::Waits,
            (KnownProvider::Runtime, 143) => TraceSubject::Jit,
            (KnownProvider::Runtime, RUNTIME_STARTS) => TraceSubject::Startup,
            (KnownProvider::Runtime, 152..=155 | 291) => TraceSubject::Loader,
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

/// Number of events by subject.
pub(crate) type Subjects = BTreeMap<TraceSubject, u64>;
