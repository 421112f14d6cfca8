//! The divisor of a comparison's sums, such as requests, and the reason for it.

/// Divisor of the sums of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Per {
    /// Runs of the program; each trace is one run.
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

/// Reason for the choice of a divisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PerReason {
    /// The user chose the divisor.
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
