//! What stands out on one side only: findings of the summary of its traces.

use super::measured::MeasuredTrace;
use crate::fact::FindingKind;
use crate::fact::comparison::Subject;
use crate::findings::{Finding, Severity};
use serde::Serialize;

/// What stands out in the traces of one side and in none of the other's, as the summary of such
/// a trace says it. What is minor is left out: whether it is said may be chance.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct StandsOut {
    /// In most of the new traces and in none of the old ones.
    pub appeared: Vec<Finding>,
    /// In most of the old traces and in none of the new ones.
    pub gone: Vec<Finding>,
}

impl StandsOut {
    /// Finds what stands out on one side only. `is_on_both` tells whether both sides recorded
    /// what a row is about.
    pub(super) fn new(
        [old, new]: [&[MeasuredTrace]; 2],
        is_on_both: &dyn Fn(Subject) -> bool,
    ) -> StandsOut {
        let only = |these, others| {
            let mut only = only_in(these, others);
            only.retain(|finding| subjects(finding.fact.kind()).iter().all(|it| is_on_both(*it)));
            only
        };
        StandsOut { appeared: only(new, old), gone: only(old, new) }
    }
}

/// Returns what both sides must have recorded for the absence of a finding to say something.
fn subjects(kind: FindingKind) -> &'static [Subject] {
    match kind {
        FindingKind::Collections => &[Subject::GcCount],
        FindingKind::Allocations => &[Subject::Alloc],
        FindingKind::Exceptions => &[Subject::Exceptions],
        FindingKind::Compilation => &[Subject::Jit],
        FindingKind::StarvedPool | FindingKind::BlockedPool => &[Subject::PoolThreads],
        FindingKind::LockContention | FindingKind::Deadlock => &[Subject::Contention],
        FindingKind::HandleWaits => &[Subject::Waits],
        FindingKind::RepeatedQuery => &[Subject::Sql],
        FindingKind::SlowCall | FindingKind::Requests | FindingKind::FailedRequests => {
            &[Subject::Requests]
        }
        FindingKind::LostEvents
        | FindingKind::MissingNames
        | FindingKind::HeapHeld
        | FindingKind::HeapOwnTypes
        | FindingKind::LogErrors
        | FindingKind::FailedActivities
        | FindingKind::SlowActivity => &[],
        FindingKind::CutOff
        | FindingKind::HottestMethod
        | FindingKind::OwnMethod
        | FindingKind::Finalizer
        | FindingKind::LockSpinning
        | FindingKind::SampledLockWaits
        | FindingKind::EndlessLockWait
        | FindingKind::StuckInLock
        | FindingKind::EndlessAwaits
        | FindingKind::NoStarvation
        | FindingKind::StartedThreads
        | FindingKind::WaitsForProcess => &[Subject::Cpu],
    }
}

fn only_in(these: &[MeasuredTrace], others: &[MeasuredTrace]) -> Vec<Finding> {
    let is_same = |one: &Finding, other: &Finding| {
        (one.about(), one.fact.subject_place()) == (other.about(), other.fact.subject_place())
    };
    let is_in = |trace: &MeasuredTrace, finding: &Finding| {
        trace.findings.iter().any(|one| is_same(one, finding))
    };
    let mut only: Vec<Finding> = Vec::new();
    for finding in these.iter().flat_map(|trace| &trace.findings) {
        let has = these.iter().filter(|trace| is_in(trace, finding)).count();
        let is_of_most = has.saturating_mul(2) > these.len();
        let is_known = only.iter().any(|one| is_same(one, finding));
        let is_elsewhere = others.iter().any(|trace| is_in(trace, finding));
        let is_to_act_on = matches!(finding.severity, Severity::Severe | Severity::Notable);
        if is_of_most && !is_known && !is_elsewhere && is_to_act_on {
            only.push(finding.clone());
        }
    }
    only
}
