//! Keys of the rows of a comparison: subject, name and measure.

/// Subject of a row. Rows of equal weight are sorted by subject, in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Subject {
    /// Duration of a whole run, or of a benchmark's operation.
    Elapsed,
    /// Running time of a method itself, by samples in which its thread did not wait.
    Method,
    /// Running time of a method and the methods that it calls.
    MethodTotal,
    /// Running time of all threads.
    Cpu,
    /// Allocated bytes of a type.
    Type,
    /// Allocated bytes of all types.
    Alloc,
    /// Number of collections, of one generation or of all.
    GcCount,
    /// Total time of pauses, or a percentile of single pauses.
    GcPause,
    /// Number of exceptions of a type.
    Exception,
    /// Number of all exceptions.
    Exceptions,
    /// Time of waits for locks, in one method or in all.
    Contention,
    /// Number of waits for locks.
    ContentionCount,
    /// Time of waits for handles, in one method or in all.
    Waits,
    /// Number of waits for locks or handles that are not over at the end of the trace and had
    /// lasted for at least a second, without waits of idle threads.
    OpenWaits,
    /// Number of circles of threads that wait for each other's locks.
    Deadlocks,
    /// All requests: their number, and the number that failed.
    Requests,
    /// Requests of one path: their number, the number that failed, percentiles of the duration.
    RequestPath,
    /// Number of all SQL commands.
    Sql,
    /// SQL commands of one statement: their number, and percentiles of the duration.
    SqlStatement,
    /// Largest number of workers of the thread pool.
    PoolThreads,
    /// Time spent on compiling methods.
    Jit,
    /// Number of compiled methods.
    JitMethods,
    /// Duration of the program's start, and work in its first second; only for traces that begin
    /// with the process.
    Startup,
    /// Mean of a counter's values.
    Counter,
}

/// Measure of a row's subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Measure {
    /// Sum, number or mean that the subject names, such as bytes of a type.
    Value,
    /// Number of occurrences.
    Count,
    /// Number of failures.
    Errors,
    /// Mean of single values.
    Mean,
    /// Median of single values.
    P50,
    /// 90th percentile of single values.
    P90,
    /// 95th percentile of single values.
    P95,
    /// 99th percentile of single values.
    P99,
    /// Largest single value.
    Max,
    /// Time from the process's start until the program's own assembly was loaded.
    Program,
    /// Time from the process's start until the first request was answered.
    FirstRequest,
    /// Time spent on compiling in the process's first second.
    Jit,
    /// Number of methods compiled in the process's first second.
    JitMethods,
    /// Number of assemblies loaded in the process's first second.
    Assemblies,
}

impl Measure {
    /// Returns whether the measure is a percentile.
    pub(crate) const fn is_percentile(self) -> bool {
        matches!(self, Measure::P50 | Measure::P90 | Measure::P95 | Measure::P99)
    }

    /// Returns the word for the measure in names of rows and in conditions, such as `p95`.
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

/// Name of the row for frames that have neither a name nor a module.
const NO_NAME: &str = "(no name)";

/// Key of a row: the value that the row compares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct DiffKey {
    /// Subject of the value.
    pub subject: Subject,
    /// Method, type, exception, generation, path, percentile or counter; empty for the total.
    /// Conditions refer to the row by its name, such as `in GET /checkout p95`.
    pub name: String,
    /// Measure of the subject.
    pub measure: Measure,
}

impl DiffKey {
    /// Makes the key of a subject's total.
    pub(crate) fn total(subject: Subject) -> DiffKey {
        DiffKey::named(subject, String::new())
    }

    /// Makes the key of a method, type, counter or the like.
    pub(crate) fn named(subject: Subject, name: impl Into<String>) -> DiffKey {
        DiffKey { subject, name: name.into(), measure: Measure::Value }
    }

    /// Makes the key of a measure of the whole subject, with the measure's word as its name.
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

    /// Returns whether the key is that of frames that have neither a name nor a module.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.name == NO_NAME
    }

    /// Returns whether the key is the subject's total.
    pub(crate) fn is_total(&self) -> bool {
        self.name.is_empty()
    }
}
