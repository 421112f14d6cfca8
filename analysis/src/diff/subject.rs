//! The subjects of a comparison: their units, their families, and how much they differ
//! from run to run by experience.

/// The subject of a row. Rows of equal weight are sorted in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Subject {
    /// How long a whole run took; of a benchmark, how long an operation took.
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
    /// Requests: how many, how many failed, percentiles of their duration.
    Requests,
    /// The same of one path, `in GET /checkout p95`.
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

/// How much a value must differ between one run on each side to be called large.
#[derive(Debug, Clone, Copy)]
pub(super) struct Large {
    /// Ratio of the larger value to the smaller one.
    pub(super) ratio: f64,
    /// The change in percent of the row's whole; see `DiffRow::weight_percent`.
    pub(super) weight_percent: f64,
    /// The larger of both numbers of samples or events.
    pub(super) count: f64,
}

impl Subject {
    /// The unit of a row's values: `ns`, `bytes` or `count`. `None` for counters, which
    /// have units of their own.
    pub(super) fn unit(self, name: &str) -> Option<&'static str> {
        Some(match self {
            Subject::Type | Subject::Alloc => "bytes",
            Subject::Startup if matches!(name, "assemblies" | "jit_methods") => "count",
            Subject::Requests | Subject::RequestPath | Subject::SqlStatement
                if is_percentile(name) =>
            {
                "ns"
            }
            Subject::GcCount
            | Subject::Exception
            | Subject::Exceptions
            | Subject::ContentionCount
            | Subject::OpenWaits
            | Subject::Deadlocks
            | Subject::Requests
            | Subject::RequestPath
            | Subject::Sql
            | Subject::SqlStatement
            | Subject::PoolThreads
            | Subject::JitMethods => "count",
            Subject::Elapsed
            | Subject::Method
            | Subject::MethodTotal
            | Subject::Cpu
            | Subject::GcPause
            | Subject::Contention
            | Subject::Waits
            | Subject::Jit
            | Subject::Startup => "ns",
            Subject::Counter => return None,
        })
    }

    /// Whether values are sums, which grow with the length of a trace. The others are
    /// means, percentiles and extremes.
    pub(super) fn is_sum(self, name: &str) -> bool {
        match self {
            Subject::Counter
            | Subject::Startup
            | Subject::PoolThreads
            | Subject::OpenWaits
            | Subject::Deadlocks => false,
            Subject::GcPause => name.is_empty(),
            Subject::Requests | Subject::RequestPath | Subject::SqlStatement => {
                !is_percentile(name)
            }
            _ => true,
        }
    }

    /// A row in words, such as `collections of gen2`.
    pub(super) fn in_words(self, name: &str) -> String {
        match self {
            Subject::Elapsed => "time it takes".to_owned(),
            Subject::Method => name.to_owned(),
            Subject::MethodTotal => format!("{name} and what it calls"),
            Subject::Cpu => "running time of all threads".to_owned(),
            Subject::Type => format!("new {name}"),
            Subject::Alloc => "all allocations".to_owned(),
            Subject::GcCount if name.is_empty() => "collections".to_owned(),
            Subject::GcCount => format!("collections of {name}"),
            Subject::GcPause if name.is_empty() => "pauses of collections, together".to_owned(),
            Subject::GcPause => format!("pause of a collection, {name}"),
            Subject::Exception => format!("throw {name}"),
            Subject::Exceptions => "exceptions".to_owned(),
            Subject::Contention if name.is_empty() => "waiting for locks".to_owned(),
            Subject::Contention => format!("waiting for locks in {name}"),
            Subject::ContentionCount => "waits for locks".to_owned(),
            Subject::Waits if name.is_empty() => "waiting for handles".to_owned(),
            Subject::Waits => format!("waiting for handles in {name}"),
            Subject::OpenWaits => "waits that are not over at the end".to_owned(),
            Subject::Deadlocks => "deadlocks".to_owned(),
            Subject::Requests => format!("HTTP requests, {name}"),
            Subject::RequestPath => format!("requests {name}"),
            Subject::Sql => "SQL commands".to_owned(),
            Subject::SqlStatement => format!("SQL {name}"),
            Subject::PoolThreads => "largest number of pool threads".to_owned(),
            Subject::Jit => "compiling".to_owned(),
            Subject::JitMethods => "methods compiled".to_owned(),
            Subject::Startup => startup(name).to_owned(),
            Subject::Counter => format!("counter {name}"),
        }
    }

    /// The subject whose total a row is a part of; its own if there is no other.
    pub(super) fn whole(self) -> Subject {
        match self {
            Subject::Method | Subject::MethodTotal => Subject::Cpu,
            Subject::Type => Subject::Alloc,
            Subject::Exception => Subject::Exceptions,
            Subject::SqlStatement => Subject::Sql,
            subject => subject,
        }
    }

    /// Rows whose chances are corrected together: what changes one changes the others, so
    /// that they are one question.
    pub(super) fn family(self) -> Family {
        match self {
            Subject::Elapsed | Subject::Cpu => Family::Time,
            Subject::Method => Family::Methods,
            Subject::MethodTotal => Family::Callers,
            Subject::Type | Subject::Alloc => Family::Allocations,
            Subject::GcCount => Family::Collections,
            Subject::GcPause => Family::Pauses,
            Subject::Exception | Subject::Exceptions => Family::Exceptions,
            Subject::Contention | Subject::ContentionCount => Family::Locks,
            Subject::Waits => Family::Waits,
            Subject::OpenWaits | Subject::Deadlocks => Family::Hangs,
            Subject::Requests | Subject::RequestPath => Family::Requests,
            Subject::Sql | Subject::SqlStatement => Family::Sql,
            Subject::PoolThreads => Family::Pool,
            Subject::Jit | Subject::JitMethods | Subject::Startup => Family::Start,
            Subject::Counter => Family::Counters,
        }
    }

    /// The standard deviation of the logarithm from run to run, as experience has it, of a
    /// row with `count` samples or events in a run. `docs/diff.md` has the experiment.
    pub(super) fn usual_spread(self, name: &str, count: f64) -> f64 {
        let of_runs: f64 = match (self, self.unit(name)) {
            // Files may have to be read from the disk.
            (Subject::Startup, Some("ns")) => 0.3,
            (_, Some("count" | "bytes")) => 0.02,
            _ => 0.08,
        };
        let is_sampled = matches!(
            self,
            Subject::Method
                | Subject::MethodTotal
                | Subject::Type
                | Subject::Contention
                | Subject::Waits
        );
        // A number of samples varies by its square root.
        let of_samples = if is_sampled { 1.0 / count.max(1.0) } else { 0.0 };
        (of_runs.powi(2) + of_samples).sqrt()
    }

    /// When a difference between one run on each side is called large. `docs/diff.md` has
    /// the experiment.
    pub(super) fn large(self) -> Large {
        let (ratio, weight_percent, count) = match self {
            Subject::Elapsed => (1.5, 0.0, 0.0),
            Subject::Cpu => (1.6, 0.0, 100.0),
            Subject::Method | Subject::MethodTotal => (2.5, 10.0, 50.0),
            Subject::Type => (1.5, 5.0, 50.0),
            Subject::Alloc => (1.3, 0.0, 50.0),
            Subject::GcCount => (2.0, 0.0, 20.0),
            Subject::GcPause => (3.0, 0.0, 20.0),
            Subject::Exception => (2.0, 5.0, 20.0),
            Subject::Exceptions => (2.0, 0.0, 20.0),
            Subject::Contention | Subject::Waits => (4.0, 5.0, 20.0),
            Subject::ContentionCount => (4.0, 0.0, 20.0),
            Subject::Requests | Subject::RequestPath => (2.0, 0.0, 20.0),
            Subject::Sql | Subject::SqlStatement => (2.0, 0.0, 20.0),
            Subject::PoolThreads => (2.0, 0.0, 8.0),
            // A program that used to end its waits.
            Subject::OpenWaits | Subject::Deadlocks => (2.0, 0.0, 0.0),
            Subject::Jit => (2.0, 0.0, 100.0),
            Subject::JitMethods => (1.5, 0.0, 100.0),
            Subject::Startup => (3.0, 0.0, 0.0),
            Subject::Counter => (2.0, 0.0, 5.0),
        };
        Large { ratio, weight_percent, count }
    }
}

/// Rows that are one question; see [`Subject::family`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Time,
    Methods,
    Callers,
    Allocations,
    Collections,
    Pauses,
    Exceptions,
    Locks,
    Waits,
    Hangs,
    Requests,
    Sql,
    Pool,
    Start,
    Counters,
}

/// Whether a row of requests or commands is a percentile of their duration.
pub(super) fn is_percentile(name: &str) -> bool {
    matches!(name.rsplit(' ').next(), Some("p50" | "p95"))
}

fn startup(name: &str) -> &str {
    match name {
        "program" => "start of the process until the program's own assembly is loaded",
        "first_request" => "start of the process until the first request is answered",
        "jit" => "compiling in the first second of the process",
        "jit_methods" => "methods compiled in the first second of the process",
        "assemblies" => "assemblies loaded in the first second of the process",
        other => other,
    }
}
