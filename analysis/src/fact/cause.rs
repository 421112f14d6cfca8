//! What lies behind a finding: calls, callers, owners of locks, targets of requests.

use super::place::Place;

/// Where exceptions of a type are thrown.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThrownBy {
    /// The program's own method that throws them, or calls what does.
    pub place: Place,
    /// What it calls, if it does not throw them itself.
    pub call: Option<ThrowCall>,
    /// Whether all exceptions of the type come from there.
    pub is_all: bool,
}

/// What throws an exception for a method of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ThrowCall {
    /// An await, of what has failed before.
    Await,
    /// A method, by its public name.
    Method(String),
}

/// What calls a method, where that tells why it runs.
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

/// What a method calls, and how much of its time that takes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HotCall {
    /// The call, by its public name.
    pub name: String,
    /// Part of the method's time, in percent.
    pub percent: f64,
    /// Whether it is an example: the percentage is that of all calls.
    pub is_example: bool,
}

/// The thread that holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum LockOwner {
    /// By the operating system's id.
    Thread(u64),
    /// By the runtime's id.
    ManagedThread(u64),
}

/// How a process ended. In JSON it is its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessEnd {
    /// The exit status.
    pub exit_code: u8,
    /// Name of the signal that ended it, as a shell would tell by the status.
    pub signal: Option<&'static str>,
}

impl ProcessEnd {
    /// Signals that end processes which do not expect them, on Linux and macOS.
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

    /// Returns the end of a process with this exit status: a shell adds 128 to the number of a signal.
    pub fn from_exit_code(exit_code: u8) -> ProcessEnd {
        let number = exit_code.checked_sub(128);
        let known = ProcessEnd::SIGNALS.iter().find(|(known, _)| Some(*known) == number);
        ProcessEnd { exit_code, signal: known.map(|(_, name)| *name) }
    }
}

/// Requests to one target that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActivityFailures {
    /// The target: `GET /boom`.
    pub target: String,
    /// Number of those that failed.
    pub failed: u64,
}
