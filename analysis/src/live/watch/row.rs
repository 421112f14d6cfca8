//! Rows of things that happen in a running process.

use crate::report::{Collection, HttpDirection, LogRow};

/// Thing that has happened.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WatchRow {
    /// Time of the end, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of the thread that wrote the last event; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Bits of the marks of all events of the row ([`LiveWatch::mark`](super::LiveWatch::mark)).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub mark: u128,
    /// Kind of the thing, with its facts.
    pub what: WatchedEvent,
}

/// Kind of thing that can be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum WatchKind {
    /// Collections.
    Gc,
    /// Exceptions that are thrown.
    Exceptions,
    /// Waits for locks.
    Contention,
    /// Messages of Microsoft.Extensions.Logging.
    Logs,
    /// HTTP requests.
    Http,
    /// Methods that are compiled.
    Jit,
    /// Changes of the thread pool.
    Threadpool,
}

/// Facts about a thing that has happened, by kind.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "lowercase"))]
#[non_exhaustive]
pub enum WatchedEvent {
    /// Collection, when all threads run again; without the bytes allocated before it.
    Gc(Box<Collection>),
    /// Exception that was thrown.
    Exception(ThrownException),
    /// Wait for a lock that ended.
    Contention(EndedWait),
    /// Log message.
    Log(LogRow),
    /// HTTP request that ended.
    Http(HttpRequest),
    /// Method that was compiled.
    Jit(CompiledMethod),
    /// Change of the thread pool.
    Threadpool(PoolChange),
}

/// Exception that was thrown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThrownException {
    /// Name of the type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Message; may be empty.
    pub message: String,
    /// HRESULT of the exception.
    pub hresult: u32,
    /// Whether the exception was thrown while another was handled.
    pub is_nested: bool,
    /// Whether the exception was rethrown by `throw;`.
    pub is_rethrown: bool,
}

/// Wait for a lock that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EndedWait {
    /// Duration in nanoseconds; `None` if the start is missing and the runtime, before .NET 5, does
    /// not report the duration.
    pub duration_ns: Option<u64>,
    /// Id of the lock, such as `0x7f9bd8001208`; `None` before .NET 6, and if the start is missing.
    pub lock_id: Option<String>,
    /// OS id of the thread that held the lock when the wait started; `None` before .NET 6, and if
    /// unknown.
    pub owner_thread_id: Option<u64>,
    /// Whether the lock belongs to the runtime's native code.
    pub is_native: bool,
}

/// HTTP request that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HttpRequest {
    /// Direction; `None` if the event source is not one of .NET's.
    pub direction: Option<HttpDirection>,
    /// Method, such as `GET`; `None` if not reported.
    pub method: Option<String>,
    /// Scheme, host and path, or the path alone; `None` if not reported.
    pub target: Option<String>,
    /// Status of the response; negative without a response, `None` if not reported.
    pub status: Option<i64>,
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration in nanoseconds; `None` if unknown.
    pub duration_ns: Option<u64>,
    /// Whether the request failed: a server error, no response, or an error that its events report.
    pub is_error: bool,
}

/// Method that was compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CompiledMethod {
    /// Name of the method: `Namespace.Type.Method(arguments)`.
    pub name: String,
    /// Name of the tier, such as `QuickJitted`.
    pub tier: &'static str,
    /// Size of the IL, in bytes; 0 for dynamically emitted code, `None` if the start is missing.
    pub il_bytes: Option<u32>,
    /// Size of the native code, in bytes.
    pub native_bytes: u32,
    /// Time spent compiling, in nanoseconds; `None` if the start is missing.
    pub duration_ns: Option<u64>,
}

/// Change of the thread pool.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "change", rename_all = "lowercase"))]
#[non_exhaustive]
pub enum PoolChange {
    /// A worker started.
    Started {
        /// Number of workers now.
        workers: u64,
    },
    /// A worker stopped.
    Stopped {
        /// Number of workers now.
        workers: u64,
    },
    /// The target number of workers was adjusted.
    Adjusted {
        /// New target number of workers.
        workers: u64,
        /// Number of work items completed per second before the adjustment.
        throughput: f64,
        /// Reason, as in [`PoolAdjustment::reason`](crate::report::PoolAdjustment::reason).
        reason: String,
    },
    /// The runtime reported the limits.
    Limits {
        /// Number of workers below which the pool adds workers without delay.
        min_workers: u64,
        /// Maximum number of workers.
        max_workers: u64,
    },
}
