//! Result of the report of SQL commands.

use crate::report::distribution::Spread;

/// SQL commands by statement and by request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlReport {
    /// Version of this document: [`SCHEMA`](crate::report::SCHEMA).
    pub schema: u32,
    /// Number of commands.
    pub count: u64,
    /// Number of commands that failed.
    pub errors: u64,
    /// Durations, as far as they are known.
    pub durations: Spread,
    /// Sources of commands, most commands first. The report counts the commands of the first
    /// source; others report some or all of these once more.
    pub sources: Vec<SqlSource>,
    /// Commands by statement, longest total first.
    pub statements: Vec<SqlStatement>,
    /// Number of different statements, including those not listed.
    pub different: u64,
    /// Commands by request, most commands first.
    pub requests: Vec<SqlRequests>,
    /// Commands of all requests, including those not listed.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) all_requests: Vec<SqlRequests>,
    /// Number of selected events of commands.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
}

/// Source of events about commands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlSource {
    /// Name of the EventSource, source of DiagnosticSource, or `log messages of` a logger.
    pub name: String,
    /// Number of commands.
    pub commands: u64,
}

/// Commands with one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlStatement {
    /// Statement on one line, with `?` for literals and only the first of a list of values. Empty
    /// if the events do not contain it.
    pub text: String,
    /// Number of commands.
    pub count: u64,
    /// Number of commands that failed.
    pub errors: u64,
    /// Durations, as the events contain them, or from start to stop.
    pub durations: Spread,
    /// Number of rows read or changed, as far as it is reported; `None` if no event reports it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rows: Option<u64>,
    /// Requests or methods that ran the statement, most commands first.
    pub places: Vec<SqlPlace>,
}

/// Request or method that ran a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlPlace {
    /// Request, such as `GET /orders/#`; if unknown, the innermost method of the program's own
    /// code. Empty if neither is known.
    pub name: String,
    /// Whether `name` is a request.
    pub is_request: bool,
    /// Number of commands.
    pub count: u64,
    /// Number of requests that ran the statement; if they are unknown, number of connections. 0 if
    /// both are unknown.
    pub units: u64,
    /// Largest number of commands with this statement in one request or connection.
    pub most_in_one: u64,
    /// Total duration of the commands, in nanoseconds.
    pub total_ns: u64,
}

/// Commands of the requests with one name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SqlRequests {
    /// Request or method, as in [`SqlPlace::name`].
    pub name: String,
    /// Whether `name` is a request.
    pub is_request: bool,
    /// Number of requests or connections that ran commands.
    pub units: u64,
    /// Number of commands.
    pub commands: u64,
    /// Largest number of commands of one request or connection.
    pub most_in_one: u64,
    /// Number of different statements.
    pub statements: u64,
    /// Total duration of the commands, in nanoseconds.
    pub total_ns: u64,
}
