//! What sums are divided by, and why.

use serde::Serialize;

/// What sums are divided by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Per {
    /// Runs: each trace is one.
    Run,
    /// Seconds of the trace.
    #[default]
    Second,
    /// Requests.
    Request,
    /// Operations of a benchmark.
    Operation,
    /// CPU samples of threads that ran or waited.
    Sample,
}

/// Why sums are divided by what they are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PerReason {
    /// The user asked for it.
    AskedFor,
    /// BenchmarkDotNet measured an operation in each trace.
    Benchmark,
    /// Each trace is a whole run of its program.
    WholeRuns,
    /// Each trace has requests.
    Requests,
    /// Some traces are whole runs of their program, others are parts.
    NotAllWholeRuns,
    /// No trace has the end of its process.
    PartsOfRun,
}
