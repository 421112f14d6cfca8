//! Rows of what happens in a running process.

use crate::report::{Collection, LogRow};

/// Something that has happened.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WatchRow {
    /// When it was over, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of the thread that wrote the event.
    pub thread_id: Option<u64>,
    /// The marks of its events; see [`LiveWatch::mark`](super::LiveWatch::mark).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub mark: u128,
    /// What it was.
    pub what: WatchedEvent,
}

/// What can be watched.
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

/// Something that has happened, by its kind.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "lowercase"))]
#[non_exhaustive]
pub enum WatchedEvent {
    /// A collection, when all threads run again. What was allocated before it is left
    /// out.
    Gc(Box<Collection>),
    /// An exception that was thrown.
    Exception(ThrownException),
    /// A wait for a lock that ended.
    Contention(EndedWait),
    /// A message.
    Log(LogRow),
    /// A request that ended.
    Http(HttpRequest),
    /// A method that was compiled.
    Jit(CompiledMethod),
    /// A change of the thread pool.
    Threadpool(PoolChange),
}

/// An exception that was thrown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThrownException {
    /// Name of its type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Its message; may be empty.
    pub message: String,
    /// Its HRESULT.
    pub hresult: u32,
    /// It was thrown while another was being handled.
    pub is_nested: bool,
    /// It was thrown again, by `throw;`.
    pub is_rethrown: bool,
}

/// A wait for a lock that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EndedWait {
    /// How long it was, in nanoseconds. `None` if its start was before the session or was
    /// lost, and the runtime, before .NET 5, does not report it.
    pub duration_ns: Option<u64>,
    /// Identifies the lock, such as `0x7f9bd8001208`; from .NET 6 on.
    pub lock_id: Option<String>,
    /// OS id of the thread that held it when the wait started; from .NET 6 on.
    pub owner_thread_id: Option<u64>,
    /// Whether it is a lock of the runtime's native code.
    pub is_native: bool,
}

/// An HTTP request that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HttpRequest {
    /// `in` or `out`; `None` if its event source is not one of .NET's.
    pub direction: Option<&'static str>,
    /// Such as `GET`, if it is reported.
    pub method: Option<String>,
    /// Scheme, host and path, or the path alone.
    pub target: Option<String>,
    /// The status of the response, if it is reported; negative if there was none.
    pub status: Option<i64>,
    /// When it started, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// How long it took, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// Whether it failed: a server error, no response, or so its events say.
    pub is_error: bool,
}

/// A method that was compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CompiledMethod {
    /// `Namespace.Type.Method(arguments)`.
    pub name: String,
    /// Name of the tier, such as `QuickJitted`.
    pub tier: &'static str,
    /// Size of its IL; 0 for dynamically emitted code, `None` if its start was missed.
    pub il_bytes: Option<u32>,
    /// Size of its code.
    pub native_bytes: u32,
    /// How long it took to compile, in nanoseconds; `None` if its start was missed.
    pub duration_ns: Option<u64>,
}

/// A change of the thread pool.
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
        /// The new target.
        workers: u64,
        /// Work items completed per second before it.
        throughput: f64,
        /// Why, as in [`PoolAdjustment::reason`](crate::report::PoolAdjustment::reason).
        reason: String,
    },
    /// The runtime reported the limits.
    Limits {
        /// Number of workers up to which the pool adds workers without delay.
        min_workers: u64,
        /// Maximum number of workers.
        max_workers: u64,
    },
}
