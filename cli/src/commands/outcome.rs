//! What every JSON document says of how reading the trace went.

use crate::input::Ended;
use nettrace_analysis::report::OutcomeReport;
use serde::Serialize;

/// A document with `outcome` beside its members.
#[derive(Serialize)]
pub(super) struct WithOutcome<'r, T> {
    #[serde(flatten)]
    report: &'r T,
    outcome: OutcomeReport,
}

impl<'r, T> WithOutcome<'r, T> {
    pub(super) fn new(report: &'r T, trace: &Ended) -> WithOutcome<'r, T> {
        WithOutcome { report, outcome: outcome_of(trace) }
    }
}

/// How reading a trace went; what is wrong with the packed file counts as damage.
pub(super) fn outcome_of(trace: &Ended) -> OutcomeReport {
    let mut outcome = OutcomeReport::of(trace);
    if let Some(fault) = trace.unpack_fault().filter(|fault| fault.is_loss()) {
        outcome.add_file_fault(fault.offset, "compressed file", fault.what().to_owned());
    }
    outcome
}
