//! Reports: results computed from a trace, as plain structs. One file each.
//!
//! All implement [`Report`], and [`ReportPass`] reads a trace for one. Reports of samples
//! ([`TopN`], [`CallTree`], [`ThreadsReport`]) and of code ([`ModulesReport`]) can also
//! be computed from a finished [`Analysis`](crate::Analysis); their percentages are
//! relative to the weight of all samples that pass the filter. The order of every list
//! depends only on the trace.
//!
//! A report of events receives every event of the trace, so that it can interpret what
//! started before the selected time range; it counts those with [`Moment::is_selected`].
//! Memory is bounded by the number of distinct things (types, stacks, threads), not of
//! events. If a report keeps a row for each occurrence, such as a collection, its
//! documentation says so.
//!
//! With the feature `serde` the structs can be serialized. Each document has a `schema`
//! number, which is incremented when a member is removed or changes its meaning.
//! [`Reported`] is serialized as its report with an additional member, `outcome`
//! ([`OutcomeReport`]): whether the trace is complete, and what was lost or damaged.
//! Members ending in `_ns` are nanoseconds, and times are relative to the session's
//! start; `_bytes` are bytes, `_percent` are percent.
//!
//! ```
//! use nettrace_analysis::report::{Gc, ReportPass};
//! use nettrace_parser::Reader;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let mut pass = ReportPass::new(Gc::new());
//! let outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
//! if !outcome.is_intact() {
//!     eprintln!("counts are too low: {outcome}");
//! }
//! let reported = pass.finish();
//! assert_eq!((reported.events, reported.output.totals.count), (0, 0));
//! # Ok::<(), nettrace_parser::Error>(())
//! ```

mod activities;
mod activity_fields;
mod activity_report;
mod activity_tree;
mod alloc;
mod contention;
pub(crate) mod counter_series;
pub(crate) mod counter_values;
mod counters;
mod counters_csv;
mod distribution;
mod exceptions;
pub(crate) mod fields;
mod findings;
pub(crate) mod gc;
pub(crate) mod http;
mod jit;
mod loader;
mod log_scopes;
mod logs;
mod message_group;
mod modules;
mod openmetrics;
mod outcome;
mod parts;
mod pass;
mod pass_core;
mod rate;
mod requests;
mod same_names;
mod series;
mod session_span;
mod shared_pass;
mod stack_rows;
mod summary;
mod tasks;
pub(crate) mod threadpool;
mod threads;
mod topn;
mod tree;
mod types;
mod waiting;
mod waits;

pub use activities::Activities;
pub use activity_report::{
    ActivitiesReport, ActivityEvent, ActivityLayer, ActivityLine, ActivityNode, ActivityRow,
    SlowActivity, StatusCount,
};
pub use alloc::{Alloc, AllocKind, AllocReport, AllocSource, AllocStack, AllocThread, AllocType};
pub use contention::{Contention, ContentionReport, Lock, LockOwner};
pub use counter_series::{CounterKind, CounterPoint, CounterSeries};
pub use counters::{Counters, CountersReport};
pub use distribution::Spread;
pub use exceptions::{
    ExceptionThread, ExceptionType, Exceptions, ExceptionsReport, MessageCount, MethodCount,
    TypeCount,
};
pub use findings::Finding;
pub use gc::{Collection, Gc, GcReport, GcTotals, GenerationSizes, GenerationTotals, Pause};
pub use jit::{Jit, JitDecisions, JitMethod, JitReport, JitTotals, RefusalReason, TierTotals};
pub use loader::{AssemblyRow, BindRow, LoadedModule, Loader, LoaderReport};
pub use logs::{LogLevel, LogLevelCount, LogRow, LoggerCount, Logs, LogsReport};
pub use modules::{ModuleRow, Modules, ModulesReport};
pub use outcome::{DamageRow, OutcomeReport};
pub use parts::{Doing, Parts, Stretch};
pub use pass::{ReportPass, Reported};
pub use rate::Rate;
pub use requests::Http;
pub use series::SeriesPoint;
pub use shared_pass::{Reports, Resolving, SharedPass, SharedReports};
pub use stack_rows::StackRow;
pub use summary::{Answer, Summary, SummaryReport};
pub use tasks::{TaskActivity, TaskRow, TaskWaitRow, Tasks, TasksReport};
pub use threadpool::{
    PoolAdjustment, PoolLimits, PoolReason, PoolStarvation, ThreadPool, ThreadPoolReport,
};
pub use threads::{StateTotals, ThreadRow, Threads, ThreadsReport};
pub use topn::{GroupBy, MethodRow, ThreadTop, TopN, TopNOptions};
pub use tree::{CallTree, TreeNode, TreeOptions};
pub use types::{Types, TypesReport};
pub use waiting::WaitTotals;
pub use waits::{WaitPlace, WaitThread, Waits, WaitsReport};

pub(crate) use stack_rows::{guessed_of, names_of};

pub use crate::document::SCHEMA;
pub use crate::model::activity_path::activity_path;

pub(crate) use crate::document::percent;
use crate::model::intervals::Edge;
use crate::model::{Model, Resolved, ThreadHandle, ThreadState};
use nettrace_parser::Event;
use std::fmt;

/// Context of an event: when and on which thread it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// The thread that it is about.
    pub thread: ThreadHandle,
    /// Nanoseconds since the session's start; 0 if the stream has no usable clock.
    pub nanos: i64,
    /// Whether its thread, process and time pass the filter.
    pub is_selected: bool,
}

impl Moment {
    /// The start or stop that an event at this moment represents.
    fn edge(&self, event: &Event<'_>) -> Edge {
        Edge::of(event, self.thread, self.nanos)
    }
}

/// A report: receives the events of a trace and computes a plain struct. [`ReportPass`]
/// drives it.
pub trait Report {
    /// The result.
    type Output;

    /// The name that users type.
    const NAME: &'static str;

    /// What it answers, in one line.
    const ABOUT: &'static str;

    /// What to record to get its events: one of these is enough. Empty if every trace has
    /// them.
    const RECORD: &'static [Recording];

    /// What it is computed from.
    const INPUT: ReportInput = ReportInput::Events;

    /// The states of samples that count unless the filter specifies others; empty for
    /// all. Rankings usually only count running samples, because most threads in a trace
    /// are idle.
    const STATES: &'static [ThreadState] = &[];

    /// Processes the next event, which is not older than the previous one. Returns
    /// whether the report is about this event. Only called if [`Report::INPUT`] requires
    /// events.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let _ = (event, moment, model);
        false
    }

    /// Computes the result at the end of the trace.
    fn finish(self, resolved: &Resolved<'_>) -> Self::Output;
}

/// What a report is computed from. This decides how a trace is read: reports of samples
/// and code do not need each event in time order, which is several times as fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ReportInput {
    /// Every event, in time order.
    Events,
    /// CPU samples, aggregated by stack: [`Resolved::profile`].
    Samples,
    /// Processes and their code: [`Resolved::model`].
    Code,
}

/// A provider to record. `Display` writes `PROVIDER:KEYWORDS:LEVEL`, and `:ARGUMENTS` if
/// there are any, as for `--providers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Recording {
    /// Name of the provider.
    pub provider: &'static str,
    /// Keywords.
    pub keywords: u64,
    /// Level.
    pub level: u8,
    /// `NAME=VALUE`, if the provider emits nothing without arguments; else empty.
    pub arguments: &'static str,
    /// First version of .NET that has the events; 0 for all versions with event pipes.
    pub since_version: u32,
}

impl Recording {
    /// The runtime's sampler: where each thread is, about every millisecond.
    pub const SAMPLER: Recording = Recording::new("Microsoft-DotNETCore-SampleProfiler", 0, 5);

    /// Events of a provider that needs no arguments, in all versions of .NET.
    pub const fn new(provider: &'static str, keywords: u64, level: u8) -> Recording {
        Recording { provider, keywords, level, arguments: "", since_version: 0 }
    }

    /// Events of the native runtime.
    pub const fn runtime(keywords: u64, level: u8) -> Recording {
        Recording::new("Microsoft-Windows-DotNETRuntime", keywords, level)
    }

    /// Sets the arguments.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'static str) -> Recording {
        self.arguments = arguments;
        self
    }

    /// Sets the first version of .NET that has the events.
    #[must_use]
    pub const fn since(mut self, version: u32) -> Recording {
        self.since_version = version;
        self
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#x}:{}", self.provider, self.keywords, self.level)?;
        if self.arguments.is_empty() { Ok(()) } else { write!(f, ":{}", self.arguments) }
    }
}

/// The smallest of the sorted values that at least `percent` of them do not exceed
/// (nearest rank); 0 if there are none.
pub(crate) fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = sorted.len().saturating_mul(percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occur() {
        let values: Vec<u64> = (1..=10).collect();
        assert_eq!(
            [0, 50, 90, 99, 100].map(|percent| percentile(&values, percent)),
            [1, 5, 9, 10, 10]
        );
        assert_eq!((percentile(&[], 50), percentile(&[7], 1)), (0, 7));
    }

    #[test]
    fn a_recording_is_written_as_it_is_asked_for() {
        let text = Recording::runtime(0x8000, 2).to_string();
        assert_eq!(text, "Microsoft-Windows-DotNETRuntime:0x8000:2");
        let text = Recording::new("A", 0, 4).arguments("B=1;C=*").to_string();
        assert_eq!(text, "A:0x0:4:B=1;C=*");
    }
}
