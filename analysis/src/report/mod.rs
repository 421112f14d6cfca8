//! Reports: results computed from a trace, as plain structs. One file each.
//!
//! All implement [`Report`], and [`ReportPass`] reads a trace for one or several. Reports of samples
//! ([`TopN`], [`CallTree`]) and of code ([`ModulesReport`]) can also be computed from a finished
//! [`Analysis`](crate::Analysis) ([`Finished::report`](crate::Finished::report)); percentages are
//! relative to the weight of all samples that pass the filter. The order of every list
//! depends only on the trace.
//!
//! A report of events receives all events of the types that it [wants](Report::wants), so
//! that it can interpret what started before the selected time range; it counts those with
//! [`Moment::is_selected`].
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
//! let mut pass = ReportPass::new(Gc::default());
//! let outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
//! if !outcome.is_intact() {
//!     eprintln!("counts are too low: {outcome}");
//! }
//! let reported = pass.finish();
//! assert_eq!((reported.events, reported.output.totals.count), (0, 0));
//! # Ok::<(), nettrace_analysis::AnalysisError>(())
//! ```

pub(crate) mod activities;
mod alloc;
mod await_steps;
mod benchmark;
mod contention;
mod contract;
pub(crate) mod counters;
mod counts;
mod deadlock;
mod distribution;
mod during;
mod each_task;
mod endpoint_time;
mod endpoints;
mod exceptions;
pub(crate) mod fields;
pub(crate) mod gc;
mod http;
mod jit;
mod loader;
mod logs;
mod message_group;
mod method_calls;
mod modules;
mod occurrence;
mod outcome;
mod pass;
mod profiled_awaits;
mod rate;
mod request_spans;
pub(crate) mod requests;
mod running;
mod series;
pub(crate) mod set;
pub(crate) mod sql;
mod stack_rows;
pub(crate) mod startup;
mod steps;
mod stuck;
mod task_waits;
mod tasks;
pub(crate) mod threadpool;
mod threads;
mod topn;
mod tree;
mod types;
mod waiting;
mod waits;

pub use crate::model::activity_edge::http_facts::HttpDirection;
pub use activities::{
    Activities, ActivitiesReport, ActivityCalls, ActivityChoice, ActivityEvent, ActivityLayer,
    ActivityLine, ActivityName, ActivityNode, ActivityRow, Doing, Parts, RequestStep,
    ServingRequest, SlowActivity, StatusCount, StepKind, Stretch, Unpaired,
};
pub use alloc::{
    Alloc, AllocEvent, AllocKind, AllocReport, AllocSource, AllocStack, AllocThread, AllocType,
    ObjectKind,
};
pub use benchmark::BenchmarkReport;
pub(crate) use benchmark::{BenchmarkFinder, Iteration};
pub use contention::{Contention, ContentionReport, Lock, OpenLockWait};
pub(crate) use contract::Moment;
pub use contract::{DEFAULT_ROWS, Recording, Report, ReportInput, SampleReport, SeenKeywords};
pub use counters::{
    CounterBase, CounterKind, CounterPoint, CounterSeries, Counters, CountersReport, OtherInterval,
};
pub(crate) use counts::increase;
pub use counts::{ReasonCount, ThreadCount};
pub use deadlock::Deadlock;
pub use distribution::Spread;
pub use during::{ChosenActivities, During};
#[cfg_attr(not(feature = "page"), allow(unused_imports, reason = "only the page shows them"))]
pub(crate) use each_task::TaskTime;
#[cfg(feature = "page")]
pub(crate) use endpoint_time::waiting_call;
pub use endpoint_time::{EndpointTime, EndpointTimeReport, WaitingCall};
pub use exceptions::{
    ExceptionType, Exceptions, ExceptionsReport, MessageCount, MethodCount, TypeCount,
};
pub use gc::{
    Collection, Gc, GcAdaptation, GcChange, GcDecision, GcKind, GcReason, GcReport, GcTotals,
    GenerationSizes, GenerationTotals, HeapCountChange, Pause,
};
pub(crate) use gc::{CollectionCounts, CollectionFigures};
pub use http::Http;
#[cfg(feature = "page")]
pub(crate) use jit::Compilation;
pub use jit::{AsyncPart, Jit, JitDecisions, JitMethod, JitReport, JitTotals, TierTotals};
pub use loader::{AssemblyRow, BindRow, LoadedModule, Loader, LoaderReport};
pub use logs::{
    LogFilter, LogLevel, LogLevelCount, LogRow, LogTemplate, LoggerCount, Logs, LogsReport,
};
#[cfg(feature = "page")]
pub(crate) use message_group::group_of;
pub use method_calls::{MethodCalls, MethodCallsOptions, NeighbourRow, Neighbours};
pub use modules::{ModuleKind, ModuleRow, Modules, ModulesReport};
#[cfg_attr(not(feature = "page"), allow(unused_imports, reason = "only the page shows them"))]
pub(crate) use occurrence::{Lasted, Occurrence};
pub use outcome::{DamageRow, OutcomeReport};
pub use pass::{ReportPass, Reported};
pub use rate::Rate;
pub use request_spans::RequestSpans;
pub use requests::{HttpPhase, HttpPhases};
pub(crate) use running::notable_spinning;
pub use running::{CountedSamples, ProcessorLimit, ProcessorTime, RunningSamples};
pub use series::SeriesPoint;
pub use set::Reports;
pub use sql::{Sql, SqlPlace, SqlReport, SqlRequests, SqlSource, SqlStatement};
pub use stack_rows::StackRow;
#[cfg(feature = "page")]
pub(crate) use stack_rows::is_dispatch;
pub(crate) use stack_rows::{guessed_of, shared_frames};
pub(crate) use startup::RUNTIME_STARTS;
pub use startup::{Reached, ReachedBy, Startup, StartupReport};
pub use stuck::StuckThread;
pub(crate) use stuck::StuckThreads;
pub use task_waits::{OpenTaskWait, TaskWaitRow, TaskWaiter};
pub use tasks::{TaskActivity, TaskRow, Tasks, TasksReport};
pub use threadpool::{
    PoolAdjustment, PoolLimits, PoolReason, PoolReasonCount, PoolStarvation, ThreadPool,
    ThreadPoolReport,
};
pub use threads::{StateTotals, ThreadRow, Threads, ThreadsReport};
pub use topn::{EndpointTop, GroupBy, MethodRow, ThreadTop, TopN, TopNOptions};
pub use tree::{CallTree, TreeNode, TreeOptions};
pub use types::{Types, TypesReport};
pub use waiting::{OpenWait, WaitTotals};
pub(crate) use waiting::{is_pool_frame, is_pool_worker};
pub use waits::{WaitPlace, WaitThread, Waits, WaitsReport};

pub use crate::document::SCHEMA;
