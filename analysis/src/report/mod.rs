//! Reports: what is made of a trace, as plain structs. One file each.
//!
//! All are a [`Report`], and [`ReportPass`] reads a trace for one. Reports of samples ([`TopN`], [`CallTree`],
//! [`ThreadsReport`]) and of code ([`ModulesReport`]) may also be made from a finished
//! [`Analysis`](crate::Analysis); their percentages are of the weight of all samples that the filter lets
//! pass. All lists have an order that depends on the trace alone.
//!
//! A report of events sees every event of the trace, so that what began before the stretch of time that is
//! asked for is understood; it counts what [`Moment::is_selected`] lets pass. What it keeps is
//! bounded by distinct things (types, stacks, threads), not by events; where a row stands for a thing
//! that happened, such as a collection, its documentation says so.
//!
//! With the feature `serde` the structs serialise; each document has a `schema`, which is raised when
//! a member changes its meaning or goes. [`Reported`] serialises as its report with one more member, `outcome`
//! ([`OutcomeReport`]): whether the trace is whole, and what of it is lost or damaged. Members ending in `_ns` are nanoseconds, times are since the
//! session's start; `_bytes` are bytes, `_percent` are percent.
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
mod counter_series;
mod counters;
mod counters_csv;
mod distribution;
mod exceptions;
mod fields;
mod findings;
mod gc;
mod http;
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
mod series;
mod session_span;
mod shared_pass;
mod stack_rows;
mod summary;
mod tasks;
mod threadpool;
mod threads;
mod topn;
mod tree;
mod types;
mod waiting;
mod waits;

pub use activities::Activities;
pub use activity_report::{
    ActivitiesReport, ActivityEvent, ActivityLayer, ActivityLine, ActivityNode, ActivityRow, SlowActivity,
    StatusCount,
};
pub use alloc::{Alloc, AllocKind, AllocReport, AllocSource, AllocStack, AllocThread, AllocType};
pub use contention::{Contention, ContentionReport, Lock, LockOwner};
pub use counter_series::{CounterKind, CounterPoint, CounterSeries};
pub use counters::{Counters, CountersReport};
pub use distribution::Spread;
pub use exceptions::{
    ExceptionThread, ExceptionType, Exceptions, ExceptionsReport, MessageCount, MethodCount, TypeCount,
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
pub use threadpool::{PoolAdjustment, PoolLimits, PoolReason, PoolStarvation, ThreadPool, ThreadPoolReport};
pub use threads::{StateTotals, ThreadRow, Threads, ThreadsReport};
pub use topn::{GroupBy, MethodRow, ThreadTop, TopN, TopNOptions};
pub use tree::{CallTree, TreeNode, TreeOptions};
pub use types::{Types, TypesReport};
pub use waiting::WaitTotals;
pub use waits::{WaitPlace, WaitThread, Waits, WaitsReport};

pub use crate::document::SCHEMA;
pub use crate::model::activity_path::activity_path;

pub(crate) use crate::document::percent;
use crate::model::intervals::Edge;
use crate::model::{Model, Resolved, ThreadHandle, ThreadState};
use nettrace_parser::Event;
use std::fmt;

/// Whether nothing was left out, which JSON then does not say.
#[cfg(feature = "serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether something is not so, which JSON then does not say.
#[cfg(feature = "serde")]
fn is_no(is_so: &bool) -> bool {
    !*is_so
}

/// When and where an event happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// Its thread.
    pub thread: ThreadHandle,
    /// Nanoseconds since the session's start; 0 in a stream without a clock.
    pub nanos: i64,
    /// Whether the filter's threads, processes and times let it pass.
    pub is_selected: bool,
}

impl Moment {
    /// The end of an interval that an event at this moment is.
    fn edge(&self, event: &Event<'_>) -> Edge {
        Edge::of(event, self.thread, self.nanos)
    }
}

/// A report: a state machine that takes what a trace holds and yields a plain struct. [`ReportPass`] feeds it.
pub trait Report {
    /// What it yields.
    type Output;

    /// Name, as users type it.
    const NAME: &'static str;

    /// What it answers, in one line.
    const ABOUT: &'static str;

    /// What to record to have its events: one of these is enough. Empty: nothing beyond what every trace has.
    const RECORD: &'static [Recording];

    /// What it is made of.
    const INPUT: ReportInput = ReportInput::Events;

    /// States of samples that count unless the filter names others; empty: all. What ran comes first in rankings:
    /// most of a trace is threads that have nothing to do.
    const STATES: &'static [ThreadState] = &[];

    /// Takes the next event, which is not older than the one before. Tells whether it is one of the
    /// events that the report is about. Called only if [`Report::INPUT`] asks for events.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let _ = (event, moment, model);
        false
    }

    /// The end of the trace.
    fn finish(self, resolved: &Resolved<'_>) -> Self::Output;
}

/// What a report is made of. It decides how a trace is read: samples and code need not be looked at event by
/// event, which is several times as fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ReportInput {
    /// Every event, in time order.
    Events,
    /// CPU samples, summed up by stack: [`Resolved::profile`].
    Samples,
    /// What is known of processes and their code: [`Resolved::model`].
    Code,
}

/// A provider as it is asked for when recording. Its text is `PROVIDER:KEYWORDS:LEVEL`, with `:ARGUMENTS` if there are
/// any, as `--providers` takes it.
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
    /// `NAME=VALUE`, if the provider raises nothing without; else empty.
    pub arguments: &'static str,
    /// First version of .NET that has the events; 0: all that have event pipes.
    pub since_version: u32,
}

impl Recording {
    /// The runtime's sampler: where each thread is, about every millisecond.
    pub const SAMPLER: Recording = Recording::new("Microsoft-DotNETCore-SampleProfiler", 0, 5);

    /// Events of a provider that needs no arguments, in all versions of .NET.
    pub const fn new(provider: &'static str, keywords: u64, level: u8) -> Recording {
        Recording { provider, keywords, level, arguments: "", since_version: 0 }
    }

    /// Events of the runtime.
    pub const fn runtime(keywords: u64, level: u8) -> Recording {
        Recording::new("Microsoft-Windows-DotNETRuntime", keywords, level)
    }

    /// With these arguments.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'static str) -> Recording {
        self.arguments = arguments;
        self
    }

    /// From this version of .NET on.
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

/// The value below or at which `percent` of the sorted values lie (nearest rank); 0 of none.
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
        assert_eq!([0, 50, 90, 99, 100].map(|percent| percentile(&values, percent)), [1, 5, 9, 10, 10]);
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
