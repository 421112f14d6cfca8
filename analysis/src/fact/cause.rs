//! Causes behind findings: calls, callers, owners of locks, failed requests.

use super::place::Place;

/// The method in which most exceptions of a type are thrown.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThrownBy {
    /// The program's own method that throws, or makes a call that throws.
    pub place: Place,
    /// Call that throws; `None` if the method throws itself.
    pub call: Option<ThrowCall>,
    /// Whether all exceptions of the type come from the method.
    pub is_all: bool,
}

/// A call of a method of the program that throws an exception.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ThrowCall {
    /// An await of a task that has failed.
    Await,
    /// A method, by its public name such as `int.Parse`.
    Method(String),
}

/// Caller of a method, if it tells why the method runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum MethodCaller {
    /// The finalizer's thread.
    Finalizer,
    /// Timers.
    Timer,
}

/// A call that takes much of its caller's time.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HotCall {
    /// Public name of the called method.
    pub name: String,
    /// Time of the call in percent of the caller's time.
    pub percent: f64,
    /// Whether the call is only an example, and `percent` that of all calls together.
    pub is_example: bool,
}

/// A call in which threads wait, or are in native code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitCall {
    /// Public name of the called method.
    pub name: String,
    /// Time of the call, in nanoseconds.
    pub nanos: u64,
    /// Time of native calls in the call, which ran or waited, in nanoseconds; 0 if it is short.
    pub native_nanos: u64,
    /// Time in which threads ran in the call, by their readings, in nanoseconds; 0 if it is short or
    /// there are no readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub ran_nanos: u64,
}

/// Threads that wait because a collection is full, from which a slow method takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitingProducers {
    /// Number of threads.
    pub threads: u64,
    /// Time of their waits, summed over threads, in nanoseconds.
    pub nanos: u64,
    /// Whether the only thread is the main thread.
    pub is_main: bool,
    /// Public name of the call that waits.
    pub call: String,
    /// The program's own method that makes the call.
    pub place: Place,
}

/// The thread that holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum LockOwner {
    /// Thread id of the operating system.
    Thread(u64),
    /// Managed thread id of the runtime.
    ManagedThread(u64),
}

/// The method in which a thread is while it holds a lock for which others wait, by samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LockHolder {
    /// The program's own method.
    pub place: Place,
    /// What the thread does there most.
    pub state: HolderState,
    /// Public name of the call in which it does that; `None` if the method makes no call.
    pub call: Option<String>,
}

/// What a thread does while it holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HolderState {
    /// It runs.
    Runs,
    /// It is in a native call: it runs or waits.
    NativeCall,
    /// It waits for something else than a time that passes.
    Waits,
    /// It waits until a time has passed.
    Sleeps,
}

/// Exit of a process. JSON documents have its text, such as `exit status 134 (SIGABRT)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessEnd {
    /// Exit status.
    pub exit_code: u8,
    /// Name of the signal that ended the process, such as `SIGABRT`; `None` if no known signal did.
    pub signal: Option<&'static str>,
}

impl ProcessEnd {
    /// Numbers and names of signals that end a process without a handler, equal on Linux and macOS.
    const SIGNALS: [(u8, &str); 8] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (15, "SIGTERM"),
    ];

    /// Returns the exit of a process with this status. As in shells, a status above 128 is 128 plus
    /// the number of a signal.
    pub fn from_exit_code(exit_code: u8) -> ProcessEnd {
        let number = exit_code.checked_sub(128);
        let known = ProcessEnd::SIGNALS.iter().find(|(known, _)| Some(*known) == number);
        ProcessEnd { exit_code, signal: known.map(|(_, name)| *name) }
    }
}

/// Failed requests of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityFailures {
    /// Target of the requests, such as `GET /boom`.
    pub target: String,
    /// Number of failed requests.
    pub failed: u64,
}

/// What took processors from threads that were ready to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ProcessorTaker {
    /// A limit of the process's control groups.
    Limit {
        /// Number of periods in which the limit was reached.
        throttled: u64,
        /// Number of periods.
        periods: u64,
        /// Length of a period, in nanoseconds.
        period_ns: u64,
        /// Processor time that the limit leaves in a period, in nanoseconds.
        quota_ns: u64,
    },
    /// Other programs.
    OtherPrograms,
    /// The host of a virtual machine.
    Host,
    /// Other threads of the process: more are ready than there are processors.
    OwnThreads,
}
