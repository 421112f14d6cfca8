//! Document of the last seconds: sums, and rows of lists.

use crate::fact::Verdicts;
use crate::model::{Frame, WaitFor};
use crate::report::ProcessorTime;
use std::sync::Arc;

/// State of the last seconds of a running process.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopSnapshot {
    /// Version of this document: [`SCHEMA`](crate::report::SCHEMA).
    pub schema: u32,
    /// Moment of the snapshot, in nanoseconds since the session's start.
    pub now_ns: i64,
    /// Length of the time that is shown, in nanoseconds: the window, or less after the start.
    pub window_ns: u64,
    /// Notable facts in the stacks of all threads, as sentences: see
    /// [`verdicts`](crate::live::verdicts). Threads of diagnostic sessions are left out.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub verdicts: Verdicts,
    /// Sums of the window.
    pub header: TopHeader,
    /// Processor time of the process in the window, and how it is divided among samples; `None`
    /// without the times of its threads ([`LiveTop::set_threads`](super::LiveTop::set_threads)).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub processor_time: Option<ProcessorTime>,
    /// Methods of threads that were running or in native code, most self samples first.
    pub methods: Vec<TopMethod>,
    /// Threads that ran most first.
    pub threads: Vec<TopThread>,
    /// Allocated types, most bytes first.
    pub allocations: Vec<TopAllocation>,
    /// Thrown types, most exceptions first.
    pub exceptions: Vec<TopException>,
    /// Places where threads waited for a lock, longest total first.
    pub contention: Vec<TopContention>,
    /// Places where threads waited, most samples first.
    pub waits: Vec<TopWait>,
    /// HTTP requests by target, most time first.
    pub requests: Vec<TopRequest>,
}

/// Sums of the window.
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
    /// calls may rank like code that runs.
    pub is_by_processor_time: bool,
    /// Whether the runtime does not tell managed from native code in its samples, and the operating
    /// system does not tell what threads ran. What is no known wait and no known native call then
    /// counts as managed code.
    pub is_untold: bool,
    /// Percentage of the time in which all threads were suspended for a collection. Without events
    /// of collections it comes from the counter `total-pause-time-by-gc`, or from `time-in-gc`,
    /// which is about the time since the last collection.
    pub gc_percent: f64,
    /// Number of collections that started, per second.
    pub collections_per_s: f64,
    /// Allocated bytes per second by the counter `alloc-rate`; until it comes, by the runtime's
    /// ticks of about 100 KB.
    pub allocated_bytes_per_s: f64,
    /// Number of exceptions thrown per second, by the counter `exception-count` or by events.
    pub exceptions_per_s: f64,
    /// Number of waits for a lock per second, by the counter `monitor-lock-contention-count` or by
    /// events.
    pub contentions_per_s: f64,
    /// Number of requests that ended, per second.
    pub requests_per_s: f64,
    /// Percentage of the machine's processors in use, by the counter `cpu-usage`; `None` until it
    /// comes.
    pub cpu_percent: Option<f64>,
    /// Memory of the process in bytes, by the counter `working-set`; `None` until it comes.
    pub working_set_bytes: Option<f64>,
    /// Number of work items that wait for the thread pool, by a counter; `None` until it comes.
    pub threadpool_queue: Option<f64>,
    /// Number of threads of the thread pool, by a counter; `None` until it comes.
    pub threadpool_threads: Option<f64>,
    /// Number of threads that the thread pool added in the window because others were blocked or
    /// waited for tasks; 0 if these events were not recorded.
    pub threadpool_starvations: u64,
    /// Number of samples and occurrences that are not shown because a second had too many distinct
    /// stacks.
    pub left_out: u64,
    /// Number of methods whose names are not kept because there are too many.
    pub nameless_methods: u64,
}

/// Method of a [`TopSnapshot`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopMethod {
    /// Name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_text"))]
    pub name: Arc<Frame>,
    /// Number of samples with the method as innermost frame, weighed by how much their threads ran.
    pub self_samples: u64,
    /// Number of samples with the method on the stack, weighed by how much their threads ran.
    pub total_samples: u64,
    /// `self_samples` as a percentage of all samples of threads that were not waiting.
    pub self_percent: f64,
    /// `total_samples` as a percentage of all samples of threads that were not waiting.
    pub total_percent: f64,
}

/// Thread of a [`TopSnapshot`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopThread {
    /// OS id, in the namespace of the process.
    pub thread_id: u64,
    /// Number of samples.
    pub samples: u64,
    /// Number of samples in managed code.
    pub managed_samples: u64,
    /// Number of samples in native or unknown code.
    pub native_samples: u64,
    /// Number of samples in which the thread waited.
    pub waiting_samples: u64,
    /// Percentage of the samples of all threads that were not waiting.
    pub percent: f64,
    /// Processor time in the window, in nanoseconds; `None` if it is not known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ran_ns: Option<u64>,
    /// Time in which the thread was ready and had no processor, in nanoseconds; `None` if it is not
    /// known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ready_ns: Option<u64>,
    /// Methods by self samples. Percentages are of the thread's samples in which it was not
    /// waiting.
    pub methods: Vec<TopMethod>,
}

/// Type that was allocated.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopAllocation {
    /// Name.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of ticks: objects at which the allocator had given out another 100 KB.
    pub ticks: u64,
    /// Bytes allocated up to the ticks.
    pub bytes: u64,
    /// Allocated bytes per second.
    pub bytes_per_s: f64,
    /// Percentage of all allocated bytes.
    pub percent: f64,
}

/// Type that was thrown.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopException {
    /// Name.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of exceptions.
    pub count: u64,
    /// Number of exceptions per second.
    pub per_s: f64,
}

/// Place where threads waited for a lock.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopContention {
    /// Method that takes the lock.
    pub place: String,
    /// Number of waits that ended.
    pub count: u64,
    /// Total duration of the waits, in nanoseconds.
    pub total_ns: u64,
    /// Longest duration, in nanoseconds.
    pub max_ns: u64,
}

/// Place where threads waited.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopWait {
    /// Method that waits: the caller of the library's wait.
    pub place: String,
    /// Kind of thing that the threads waited for.
    pub waits_for: WaitFor,
    /// Number of samples of waiting threads.
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
    /// Direction, method and target, with `#` for numbers in paths.
    pub request: String,
    /// Number of requests that ended.
    pub count: u64,
    /// Number of requests that ended, per second.
    pub per_s: f64,
    /// Number of requests that failed.
    pub errors: u64,
    /// Mean duration, in nanoseconds.
    pub mean_ns: u64,
    /// Longest duration, in nanoseconds.
    pub max_ns: u64,
}
