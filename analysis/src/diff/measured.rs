//! Values of a trace that are compared.

use super::calls::TraceCalls;
use super::recorded::{Keywords, NamedModules};
use crate::fact::comparison::{DiffKey, Per};
use crate::findings::Finding;
use crate::hash::HashMap;
use crate::model::Frame;
use nettrace_parser::Outcome;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values of a row.
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
    /// Nanoseconds from the first measurement to the last or, in a benchmark, of its measured
    /// iterations.
    pub duration_ns: u64,
    /// Nanoseconds from the runtime's start to the end of the process; `None` if the trace lacks
    /// one of them.
    pub whole_run_ns: Option<f64>,
    /// Name of the benchmark that BenchmarkDotNet ran; `None` if it ran none.
    pub benchmark: Option<String>,
    /// Number of CPU samples of threads that ran or waited.
    pub samples: u64,
    /// Number of requests that the program answered or, if it answered none, that it made. Without
    /// HTTP events, the number of activities that are named like requests.
    pub requests: u64,
    /// Damage and losses that were found in the trace; `None` if they are not known.
    pub outcome: Option<Outcome>,
    /// Number of operations in each iteration of a benchmark.
    pub(super) operations_of: Vec<f64>,
    pub(super) rows: BTreeMap<DiffKey, Measured>,
    /// Number of samples or events of each row.
    pub(super) counts: BTreeMap<DiffKey, f64>,
    /// Frames of methods, by the names of their rows.
    pub(super) methods: HashMap<String, Arc<Frame>>,
    /// Whether the runtime recorded anything besides the list of methods.
    pub(super) has_runtime: bool,
    pub(super) keywords: Keywords,
    /// Share of each module's time in methods without names.
    pub(super) names: NamedModules,
    /// Nanoseconds of each pause.
    pub(super) pauses: Vec<f64>,
    /// Units of counters, by their names.
    pub(super) units: BTreeMap<String, String>,
    pub(super) calls: TraceCalls,
    /// Findings of the trace's summary.
    pub(super) findings: Vec<Finding>,
}

impl MeasuredTrace {
    /// Returns the number of operations that a benchmark measured.
    pub(super) fn operations(&self) -> f64 {
        self.operations_of.iter().sum()
    }

    /// Returns whether both are the same trace: two runs never measure the same nanoseconds.
    pub(super) fn is_same_trace(&self, other: &MeasuredTrace) -> bool {
        !self.rows.is_empty()
            && (self.duration_ns, self.samples, self.requests)
                == (other.duration_ns, other.samples, other.requests)
            && self.rows == other.rows
            && self.counts == other.counts
    }

    pub(super) fn lost(&self) -> u64 {
        self.outcome.as_ref().map_or(0, |outcome| outcome.losses.total())
    }

    /// Returns the number by which the sums of the trace are divided.
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
