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
