//! What `top` shows of the last seconds: sums, and rows of lists.

use crate::fact::Verdicts;
use crate::model::{Frame, WaitFor};
use std::sync::Arc;

/// The last seconds of a running process.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopSnapshot {
    /// Version of this document.
    pub schema: u32,
    /// The moment, in nanoseconds since the session's start.
    pub now_ns: i64,
    /// How much of the past it is about, in nanoseconds: at most the window.
    pub window_ns: u64,
    /// What the stacks of all threads say together, as sentences: see
    /// [`verdicts`](crate::live::verdicts). Threads of sessions are left out.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub verdicts: Verdicts,
    /// Sums.
    pub header: TopHeader,
    /// Methods by self samples, most first, of threads that were running or in native
    /// code.
    pub methods: Vec<TopMethod>,
    /// Threads by how much they ran, most first.
    pub threads: Vec<TopThread>,
    /// Allocated types, most bytes first.
    pub allocations: Vec<TopAllocation>,
    /// Thrown types, most first.
    pub exceptions: Vec<TopException>,
    /// Places where threads waited for a lock, longest first.
    pub contention: Vec<TopContention>,
    /// Places where threads waited, most samples first.
    pub waits: Vec<TopWait>,
    /// HTTP requests by target, most time first.
    pub requests: Vec<TopRequest>,
}

/// Sums of the last seconds.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopHeader {
    /// Number of CPU samples.
    pub samples: u64,
    /// Number of CPU samples whose thread was not waiting.
    pub running_samples: u64,
    /// Number of threads that were sampled.
    pub threads: u64,
    /// Whether samples weigh as much as their thread ran, by the operating system's times
    /// ([`LiveTop::set_threads`](super::LiveTop::set_threads)). Otherwise code that waits in native
    /// calls may be ranked like code that runs.
    pub is_by_processor_time: bool,
    /// Share of the time in which all threads were suspended for a collection; without
    /// events of collections, by the counter `total-pause-time-by-gc`, or `time-in-gc`, which
    /// is about the time since the last collection.
    pub gc_percent: f64,
    /// Collections that started, per second.
    pub collections_per_s: f64,
    /// Allocated bytes per second: by the counter `alloc-rate`, or by the runtime's ticks of
    /// about 100 KB until it comes.
    pub allocated_bytes_per_s: f64,
    /// Exceptions thrown per second, by the counter `exception-count` or by their events.
    pub exceptions_per_s: f64,
    /// Waits for a lock that ended, per second, by the counter
    /// `monitor-lock-contention-count` or by their events.
    pub contentions_per_s: f64,
    /// Requests that ended, per second.
    pub requests_per_s: f64,
    /// Use of the machine's processors, by the counter `cpu-usage`; `None` until it comes.
    pub cpu_percent: Option<f64>,
    /// Memory of the process, by the counter `working-set` (bytes).
    pub working_set_bytes: Option<f64>,
    /// Work items that wait for a thread of the thread pool.
    pub threadpool_queue: Option<f64>,
    /// Threads of the thread pool.
    pub threadpool_threads: Option<f64>,
    /// How often in the window the thread pool got a thread because others were blocked:
    /// by starvation, or because they wait for tasks. Needs the runtime's events for it.
    pub threadpool_starvations: u64,
    /// Samples and occurrences that are not shown, because a second had too many distinct
    /// stacks.
    pub left_out: u64,
    /// Methods without a name, because there are too many.
    pub nameless_methods: u64,
}

/// A method.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopMethod {
    /// Its name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_text"))]
    pub name: Arc<Frame>,
    /// Samples with it as the innermost frame, as much as their threads ran.
    pub self_samples: u64,
    /// Samples with it on the stack.
    pub total_samples: u64,
    /// `self_samples` as a percentage of all samples of threads that were not waiting.
    pub self_percent: f64,
    /// `total_samples` as a percentage of all samples of threads that were not waiting.
    pub total_percent: f64,
}

/// A thread.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopThread {
    /// OS id, in the namespace of the process.
    pub thread_id: u64,
    /// Number of its samples.
    pub samples: u64,
    /// Number of its samples in managed code.
    pub managed_samples: u64,
    /// Number of its samples in native code, or in code that is not known.
    pub native_samples: u64,
    /// Number of its samples in which it waited.
    pub waiting_samples: u64,
    /// Its share of the samples of all threads that were not waiting.
    pub percent: f64,
    /// Its methods by self samples; percentages are of the thread's own samples in which
    /// it was not waiting.
    pub methods: Vec<TopMethod>,
}

/// An allocated type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopAllocation {
    /// Its name.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of ticks: objects at which the allocator had given out another 100 KB.
    pub ticks: u64,
    /// Bytes allocated up to these ticks.
    pub bytes: u64,
    /// Those bytes per second.
    pub bytes_per_s: f64,
    /// Percentage of all allocated bytes.
    pub percent: f64,
}

/// A thrown type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopException {
    /// Its name.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// How often it was thrown.
    pub count: u64,
    /// How often it was thrown, per second.
    pub per_s: f64,
}

/// Where threads waited for a lock.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopContention {
    /// The method that takes the lock.
    pub place: String,
    /// Waits that ended.
    pub count: u64,
    /// Their total duration, in nanoseconds.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Where threads waited.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopWait {
    /// The method that waits: the caller of the library's wait.
    pub place: String,
    /// What they waited for.
    pub waits_for: WaitFor,
    /// Number of samples in which they waited.
    pub samples: u64,
    /// Number of threads.
    pub threads: u64,
    /// Percentage of all samples.
    pub percent: f64,
}

/// Requests of one target.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopRequest {
    /// Direction, method and target; numbers in paths are replaced by `#`.
    pub request: String,
    /// Number of requests that ended.
    pub count: u64,
    /// Number of requests that ended, per second.
    pub per_s: f64,
    /// Number of requests that failed.
    pub errors: u64,
    /// Mean duration, in nanoseconds.
    pub mean_ns: u64,
    /// The longest.
    pub max_ns: u64,
}
