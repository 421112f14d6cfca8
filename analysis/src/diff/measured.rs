//! The values of a trace that are compared.

use super::calls::TraceCalls;
use super::recorded::{Keywords, NamedModules};
use crate::fact::comparison::{DiffKey, Per};
use crate::findings::Finding;
use crate::model::Frame;
use nettrace_parser::Outcome;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Measured values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measured {
    /// A sum for each slice.
    Sums(Vec<f64>),
    /// Individual values, whose mean is compared.
    Values(Vec<f64>),
}

/// A trace with the values that are compared.
#[derive(Debug, Clone, Default)]
#[must_use = "its values are compared with those of another trace"]
pub struct MeasuredTrace {
    /// From the first measurement to the last, in nanoseconds; of a benchmark, the time of
    /// its measured iterations.
    pub duration_ns: u64,
    /// From the runtime's start to the end of the process, if the trace has both.
    pub whole_run_ns: Option<f64>,
    /// The name of the benchmark, if BenchmarkDotNet ran one.
    pub benchmark: Option<String>,
    /// Number of CPU samples of threads that ran or waited.
    pub samples: u64,
    /// Number of requests, as the report of HTTP requests counts them: those that the
    /// program answered, else those that it made. Without any, activities whose name ends
    /// in `Request`.
    pub requests: u64,
    /// How the trace was read.
    pub outcome: Option<Outcome>,
    /// Number of operations in each iteration of a benchmark.
    pub(super) operations_of: Vec<f64>,
    pub(super) rows: BTreeMap<DiffKey, Measured>,
    /// Number of samples or events of each row.
    pub(super) counts: BTreeMap<DiffKey, f64>,
    /// The frames of methods, by the names of their rows.
    pub(super) methods: HashMap<String, Arc<Frame>>,
    /// Whether the runtime recorded anything besides the list of methods.
    pub(super) has_runtime: bool,
    pub(super) keywords: Keywords,
    /// How much of each module's time is in methods without names.
    pub(super) names: NamedModules,
    /// Durations of all pauses.
    pub(super) pauses: Vec<f64>,
    /// Units of counters.
    pub(super) units: BTreeMap<String, String>,
    /// TraceCalls of running threads.
    pub(super) calls: TraceCalls,
    /// What stands out in it.
    pub(super) findings: Vec<Finding>,
}

impl MeasuredTrace {
    /// Returns the number of operations that a benchmark measured.
    pub(super) fn operations(&self) -> f64 {
        self.operations_of.iter().sum()
    }

    pub(super) fn lost(&self) -> u64 {
        self.outcome.as_ref().map_or(0, |outcome| outcome.losses.total())
    }

    /// Returns what the sums of the trace are divided by.
    pub(super) fn divisor(&self, per: Per) -> f64 {
        match per {
            Per::Run => 1.0,
            Per::Second => self.duration_ns as f64 / 1e9,
            Per::Request => self.requests as f64,
            Per::Operation => self.operations(),
            Per::Sample => self.samples as f64,
        }
    }
}
