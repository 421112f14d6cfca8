//! Chooses the unit by which sums are divided.

use super::measured::MeasuredTrace;
use crate::fact::comparison::{Per, PerReason};

/// Minimum number of requests in each trace for sums to be divided by requests by default.
const MIN_REQUESTS: u64 = 20;

/// Returns the unit that fits all traces, and the reason for it.
pub(super) fn fitting<'t>(
    traces: impl Iterator<Item = &'t MeasuredTrace> + Clone,
) -> (Per, PerReason) {
    let is_none = traces.clone().next().is_none();
    let all = |is: fn(&MeasuredTrace) -> bool| !is_none && traces.clone().all(is);
    let is_whole = |trace: &MeasuredTrace| trace.whole_run_ns.is_some();
    if all(|trace| !trace.operations_of.is_empty()) {
        (Per::Operation, PerReason::Benchmark)
    } else if all(is_whole) {
        (Per::Run, PerReason::WholeRuns)
    } else if all(|trace| trace.requests >= MIN_REQUESTS) {
        (Per::Request, PerReason::Requests)
    } else if traces.clone().any(is_whole) {
        (Per::Second, PerReason::NotAllWholeRuns)
    } else {
        (Per::Second, PerReason::PartsOfRun)
    }
}
