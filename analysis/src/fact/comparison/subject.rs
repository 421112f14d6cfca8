//! What the rows of a comparison are about.

use serde::Serialize;

/// The subject of a row. Rows of equal weight are sorted in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Subject {
    /// Duration of a whole run; of a benchmark, that of an operation.
    Elapsed,
    /// A method's own running time: that of samples in which its thread did not wait.
    Method,
    /// A method's time including the methods that it calls.
    MethodTotal,
    /// All time during which threads ran.
    Cpu,
    /// Bytes of a type.
    Type,
    /// All bytes allocated.
    Alloc,
    /// Number of collections, of all or of one generation.
    GcCount,
    /// The time of pauses, or a percentile of it.
    GcPause,
    /// Exceptions of a type.
    Exception,
    /// All exceptions.
    Exceptions,
    /// Time waited for locks, in total or in one method.
    Contention,
    /// Waits for locks.
    ContentionCount,
    /// Time waited for handles, in total or in one method.
    Waits,
    /// Waits for locks or handles, but those of idle threads, that are not over at the end
    /// of the trace and had lasted for a second.
    OpenWaits,
    /// Circles of threads that wait for each other's locks.
    Deadlocks,
    /// Requests: how many, how many failed.
    Requests,
    /// Requests of one path: how many, how many failed, percentiles of their duration.
    RequestPath,
    /// All SQL commands.
    Sql,
    /// The commands of one statement: how many, percentiles of their duration.
    SqlStatement,
    /// The largest number of workers of the thread pool.
    PoolThreads,
    /// Time spent compiling.
    Jit,
    /// Methods compiled.
    JitMethods,
    /// How long the program took to start, and what it did in its first second; only for
    /// traces that begin with the start of their process.
    Startup,
    /// A counter's mean.
    Counter,
}

/// What of its subject a row measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measure {
    /// What the subject says, such as bytes of a type.
    Value,
    /// How many there were.
    Count,
    /// How many failed.
    Errors,
    /// The mean of single values.
    Mean,
    /// The median.
    P50,
    /// The value below which 90 % lie.
    P90,
    /// The value below which 95 % lie.
    P95,
    /// The value below which 99 % lie.
    P99,
    /// The largest value.
    Max,
    /// The time until the program's own assembly was loaded.
    Program,
    /// The time until the first request was answered.
    FirstRequest,
    /// Time spent compiling in the first second.
    Jit,
    /// Methods compiled in the first second.
    JitMethods,
    /// Assemblies loaded in the first second.
    Assemblies,
}

impl Measure {
    /// Returns whether it is a percentile.
    pub(crate) const fn is_percentile(self) -> bool {
        matches!(self, Measure::P50 | Measure::P90 | Measure::P95 | Measure::P99)
    }

    /// Returns the word with which names of rows and conditions refer to it.
    pub const fn word(self) -> &'static str {
        match self {
            Measure::Value => "value",
            Measure::Count => "count",
            Measure::Errors => "errors",
            Measure::Mean => "mean",
            Measure::P50 => "p50",
            Measure::P90 => "p90",
            Measure::P95 => "p95",
            Measure::P99 => "p99",
            Measure::Max => "max",
            Measure::Program => "program",
            Measure::FirstRequest => "first_request",
            Measure::Jit => "jit",
            Measure::JitMethods => "jit_methods",
            Measure::Assemblies => "assemblies",
        }
    }
}

/// The name of frames that have neither a name nor a module.
const NO_NAME: &str = "(no name)";

/// Which value a row compares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct DiffKey {
    /// The subject.
    pub subject: Subject,
    /// Method, type, exception, generation, path, percentile or counter; empty for the
    /// total. Conditions refer to the row by it: `in GET /checkout p95`.
    pub name: String,
    /// What of the subject is measured.
    pub measure: Measure,
}

impl DiffKey {
    /// Makes the key of a subject's total.
    pub(crate) fn total(subject: Subject) -> DiffKey {
        DiffKey::named(subject, String::new())
    }

    /// Makes the key of a method, a type, a counter, …
    pub(crate) fn named(subject: Subject, name: impl Into<String>) -> DiffKey {
        DiffKey { subject, name: name.into(), measure: Measure::Value }
    }

    /// Makes the key of a measure of the whole subject, which it is named after.
    pub(crate) fn measure(subject: Subject, measure: Measure) -> DiffKey {
        DiffKey { subject, name: measure.word().to_owned(), measure }
    }

    /// Makes the key of a measure of a path or a statement.
    pub(crate) fn measure_of(subject: Subject, name: &str, measure: Measure) -> DiffKey {
        DiffKey { subject, name: format!("{name} {}", measure.word()), measure }
    }

    /// Makes the key of all frames that have neither a name nor a module.
    pub(crate) fn unnamed(subject: Subject) -> DiffKey {
        DiffKey::named(subject, NO_NAME)
    }

    /// Returns whether it stands for frames that have neither a name nor a module.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.name == NO_NAME
    }

    /// Returns whether it is the subject's total.
    pub(crate) fn is_total(&self) -> bool {
        self.name.is_empty()
    }
}
