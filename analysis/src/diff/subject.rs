//! Units and families of a comparison's subjects, and how much they differ from run to run by
//! experience.

use crate::fact::comparison::{DiffKey, Measure, Subject};

/// Minimum difference between one run on each side to be called large.
#[derive(Debug, Clone, Copy)]
pub(super) struct Large {
    /// Ratio of the larger value to the smaller one.
    pub(super) ratio: f64,
    /// Change in percent of the subject's total; see `DiffRow::weight_percent`.
    pub(super) weight_percent: f64,
    /// Number of samples or events on the larger side.
    pub(super) count: f64,
}

impl DiffKey {
    /// Returns the unit of the values: `ns`, `bytes` or `count`. `None` for counters, which have
    /// units of their own.
    pub(super) fn unit(&self) -> Option<&'static str> {
        Some(match self.subject {
            Subject::Type | Subject::Alloc => "bytes",
            Subject::Startup
                if matches!(self.measure, Measure::Assemblies | Measure::JitMethods) =>
            {
                "count"
            }
            Subject::Requests | Subject::RequestPath | Subject::SqlStatement
                if self.measure.is_percentile() =>
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

    /// Returns whether values are sums, which grow with the length of a trace, and not means,
    /// percentiles or extremes.
    pub(super) fn is_sum(&self) -> bool {
        match self.subject {
            Subject::Counter
            | Subject::Startup
            | Subject::PoolThreads
            | Subject::OpenWaits
            | Subject::Deadlocks => false,
            Subject::GcPause => self.measure == Measure::Value,
            Subject::Requests | Subject::RequestPath | Subject::SqlStatement => {
                !self.measure.is_percentile()
            }
            _ => true,
        }
    }

    /// Returns the standard deviation from run to run that experience expects of a row's logarithm.
    /// `count` is the number of samples or events of the row in a run. `docs/diff.md` has the
    /// experiment.
    pub(super) fn usual_spread(&self, count: f64) -> f64 {
        let of_runs: f64 = match (self.subject, self.unit()) {
            // Files may have to be read from the disk.
            (Subject::Startup, Some("ns")) => 0.3,
            (_, Some("count" | "bytes")) => 0.02,
            _ => 0.08,
        };
        let is_sampled = matches!(
            self.subject,
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
}

impl Subject {
    /// Returns the subject whose total contains this subject's rows, which may be the subject
    /// itself.
    pub(super) fn whole(self) -> Subject {
        match self {
            Subject::Method | Subject::MethodTotal => Subject::Cpu,
            Subject::Type => Subject::Alloc,
            Subject::Exception => Subject::Exceptions,
            Subject::SqlStatement => Subject::Sql,
            subject => subject,
        }
    }

    /// Returns the family of rows whose chances are corrected together, because they change
    /// together.
    pub(super) fn family(self) -> RowFamily {
        match self {
            Subject::Elapsed | Subject::Cpu => RowFamily::Time,
            Subject::Method => RowFamily::Methods,
            Subject::MethodTotal => RowFamily::Callers,
            Subject::Type | Subject::Alloc => RowFamily::Allocations,
            Subject::GcCount => RowFamily::Collections,
            Subject::GcPause => RowFamily::Pauses,
            Subject::Exception | Subject::Exceptions => RowFamily::Exceptions,
            Subject::Contention | Subject::ContentionCount => RowFamily::Locks,
            Subject::Waits => RowFamily::Waits,
            Subject::OpenWaits | Subject::Deadlocks => RowFamily::Hangs,
            Subject::Requests | Subject::RequestPath => RowFamily::Requests,
            Subject::Sql | Subject::SqlStatement => RowFamily::Sql,
            Subject::PoolThreads => RowFamily::Pool,
            Subject::Jit | Subject::JitMethods | Subject::Startup => RowFamily::Start,
            Subject::Counter => RowFamily::Counters,
        }
    }

    /// Returns the minimum difference between one run on each side that is large. `docs/diff.md`
    /// has the experiment.
    pub(super) fn large(self) -> Large {
        let (ratio, weight_percent, count) = match self {
            Subject::Elapsed => (1.5, 0.0, 0.0),
            Subject::Cpu => (1.6, 0.0, 100.0),
            Subject::Method | Subject::MethodTotal => (2.5, 10.0, 50.0),
            Subject::Type => (1.5, 5.0, 50.0),
            Subject::Alloc => (1.3, 0.0, 50.0),
            Subject::GcPause => (3.0, 0.0, 20.0),
            Subject::Exception => (2.0, 5.0, 20.0),
            Subject::Contention | Subject::Waits => (4.0, 5.0, 20.0),
            Subject::ContentionCount => (4.0, 0.0, 20.0),
            Subject::GcCount
            | Subject::Exceptions
            | Subject::Requests
            | Subject::RequestPath
            | Subject::Sql
            | Subject::SqlStatement => (2.0, 0.0, 20.0),
            Subject::PoolThreads => (2.0, 0.0, 8.0),
            // A single one is enough if the old program had none.
            Subject::OpenWaits | Subject::Deadlocks => (2.0, 0.0, 0.0),
            Subject::Jit => (2.0, 0.0, 100.0),
            Subject::JitMethods => (1.5, 0.0, 100.0),
            Subject::Startup => (3.0, 0.0, 0.0),
            Subject::Counter => (2.0, 0.0, 5.0),
        };
        Large { ratio, weight_percent, count }
    }
}

/// Rows whose chances are corrected together; see [`Subject::family`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowFamily {
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
