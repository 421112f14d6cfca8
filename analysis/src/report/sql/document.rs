//! The result of the report of SQL commands.

use crate::report::distribution::Spread;

/// SQL commands, by statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlReport {
    /// Version of this document.
    pub schema: u32,
    /// Number of commands.
    pub count: u64,
    /// Those that failed.
    pub errors: u64,
    /// Durations of those that have one.
    pub durations: Spread,
    /// Sources of commands, most commands first. The report counts those of the first one;
    /// others report the same commands, or some of them, once more.
    pub sources: Vec<SqlSource>,
    /// By statement, longest total first.
    pub statements: Vec<SqlStatement>,
    /// Number of different statements, including those that were left out.
    pub different: u64,
    /// By request, most commands first: each name, and what its requests ran.
    pub requests: Vec<SqlRequests>,
    /// Number of selected events of commands.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
}

/// A source of events about commands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlSource {
    /// The EventSource, the source of DiagnosticSource, or `log messages of` a logger.
    pub name: String,
    /// Number of commands.
    pub commands: u64,
}

/// Commands with one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlStatement {
    /// The statement in one line: literals are `?`, of lists of values the first is left.
    /// Empty if the events do not contain it.
    pub text: String,
    /// Number of commands.
    pub count: u64,
    /// Those that failed.
    pub errors: u64,
    /// Durations: as reported, else from start to stop.
    pub durations: Spread,
    /// Rows that were read or changed, in all commands of which it is known; `None` if it
    /// is known of none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rows: Option<u64>,
    /// What ran it, most commands first.
    pub places: Vec<SqlPlace>,
}

/// What ran a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlPlace {
    /// The request, `GET /orders/#`; if it is not known, the innermost method of the
    /// program's own code. Empty if neither is known.
    pub name: String,
    /// Whether `name` is that of a request.
    pub is_request: bool,
    /// Number of commands.
    pub count: u64,
    /// Number of requests that ran it; where these are not known, of connections, which are
    /// those of a unit of work. 0 if they are not known either.
    pub units: u64,
    /// The largest number of commands with this statement in one of them.
    pub most_in_one: u64,
    /// Total duration of these commands, in nanoseconds.
    pub total_ns: u64,
}

/// What the requests with one name ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlRequests {
    /// As in [`SqlPlace`].
    pub name: String,
    /// Whether `name` is that of a request.
    pub is_request: bool,
    /// Number of requests, or of connections, that ran commands.
    pub units: u64,
    /// Number of commands.
    pub commands: u64,
    /// The largest number of commands of one of them.
    pub most_in_one: u64,
    /// Number of different statements.
    pub statements: u64,
    /// Total duration of the commands, in nanoseconds.
    pub total_ns: u64,
}
