//! What sums are divided by.

use super::measured::MeasuredTrace;
use serde::Serialize;

/// From how many requests on sums are per request, unless something else is asked for.
const FEWEST_REQUESTS: u64 = 20;

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

impl Per {
    /// The unit that fits all these traces, and why.
    pub(super) fn fitting(traces: &[&MeasuredTrace]) -> (Per, &'static str) {
        let all = |is: &dyn Fn(&MeasuredTrace) -> bool| {
            !traces.is_empty() && traces.iter().all(|trace| is(trace))
        };
        let any = |is: &dyn Fn(&MeasuredTrace) -> bool| traces.iter().any(|trace| is(trace));
        let is_whole = |trace: &MeasuredTrace| trace.whole_run_ns.is_some();
        if all(&|trace| !trace.operations_of.is_empty()) {
            (Per::Operation, "BenchmarkDotNet measured each trace's operation")
        } else if all(&is_whole) {
            (Per::Run, "each trace is a whole run of its program")
        } else if all(&|trace| trace.requests >= FEWEST_REQUESTS) {
            (Per::Request, "each trace has requests")
        } else if any(&is_whole) {
            (Per::Second, "not all of the traces are whole runs of their program")
        } else {
            (Per::Second, "the traces are parts of a run: no end of the process is in them")
        }
    }

    /// The divisor of a trace.
    pub(super) fn divisor(self, trace: &MeasuredTrace) -> f64 {
        match self {
            Per::Run => 1.0,
            Per::Second => trace.duration_ns as f64 / 1e9,
            Per::Request => trace.requests as f64,
            Per::Operation => trace.operations(),
            Per::Sample => trace.samples as f64,
        }
    }
}
