//! Findings of the summaries of one side's traces that the other side does not have.

use super::measured::MeasuredTrace;
use super::row::DiffRow;
use crate::fact::comparison::Subject;
use crate::fact::{FindingKind, Place};
use crate::findings::{Finding, Severity};
use crate::model::FrameCall;

/// Findings of the summaries of one side's traces that no trace of the other side has. Minor
/// findings are left out, because a trace may have them by chance.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StandsOut {
    /// Findings of most new traces and of no old one.
    pub appeared: Vec<Finding>,
    /// Findings of most old traces and of no new one.
    pub gone: Vec<Finding>,
}

impl StandsOut {
    /// Finds what stands out on one side only. `is_on_both` tells whether both sides recorded a
    /// subject. `one_run_each`: rows of a comparison of which a side has one run; a finding needs a
    /// row that changed, because the same program passes a threshold in one run and not in another.
    pub(super) fn new(
        [old, new]: [&[MeasuredTrace]; 2],
        is_on_both: &dyn Fn(Subject) -> bool,
        one_run_each: Option<&[DiffRow]>,
    ) -> StandsOut {
        let has_changed = |finding: &Finding, trace: &[MeasuredTrace]| {
            one_run_each.is_none_or(|rows| has_changed(finding, rows, trace))
        };
        let only = |these, others| {
            let mut only = only_in(these, others);
            only.retain(|finding| {
                subjects(finding.fact.kind()).iter().all(|it| is_on_both(*it))
                    && has_changed(finding, these)
            });
            only
        };
        StandsOut { appeared: only(new, old), gone: only(old, new) }
    }
}

/// Returns the subjects that both sides must have recorded for the absence of a finding to mean
/// something.
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
        FindingKind::SlowCall
        | FindingKind::CallPhase
        | FindingKind::NeedlessConnections
        | FindingKind::Requests
        | FindingKind::FailedRequests => &[Subject::Requests],
        FindingKind::LostEvents
        | FindingKind::FaultySource
        | FindingKind::SilentSources
        | FindingKind::NoActivityIds
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
        | FindingKind::SyncOverAsync
        | FindingKind::EndlessLockWait
        | FindingKind::StuckInLock
        | FindingKind::StuckWorkers
        | FindingKind::EndlessAwaits
        | FindingKind::NoStarvation
        | FindingKind::StartedThreads
        | FindingKind::NoProcessor
        | FindingKind::OutOfMemory
        | FindingKind::WaitsForProcess
        | FindingKind::Waiting
        | FindingKind::Idle => &[Subject::Cpu],
    }
}

/// Minimum ratio between the times of a method in one run of each side, for a finding about it to
/// stand out.
const MIN_RATIO_OF_ONE_RUN: f64 = 2.0;

/// Returns whether a row about a finding of `traces` changed: that of its method, or one of its
/// subjects. What has no row, such as a deadlock of sampled threads, counts as changed.
fn has_changed(finding: &Finding, rows: &[DiffRow], traces: &[MeasuredTrace]) -> bool {
    let kind = finding.fact.kind();
    if let FindingKind::HottestMethod
    | FindingKind::OwnMethod
    | FindingKind::LockSpinning
    | FindingKind::Finalizer = kind
    {
        let Some(place) = finding.fact.subject_place() else { return false };
        let is_it = |row: &DiffRow| {
            let mut frames = traces.iter().filter_map(|trace| trace.methods.get(&row.key.name));
            matches!(row.key.subject, Subject::Method | Subject::MethodTotal)
                && frames.any(|it| (it.without_arguments(), it.call) == method(place))
        };
        let has_doubled = |row: &DiffRow| {
            row.key.subject == Subject::MethodTotal
                && row.old.max(row.new) >= row.old.min(row.new) * MIN_RATIO_OF_ONE_RUN
        };
        return rows.iter().any(|row| is_it(row) && (row.is_changed || has_doubled(row)));
    }
    let with_rows = |subject: &Subject| match subject {
        Subject::Cpu => None,
        Subject::GcCount => Some([Subject::GcCount, Subject::GcPause]),
        Subject::Contention => Some([Subject::Contention, Subject::ContentionCount]),
        subject => Some([*subject; 2]),
    };
    subjects(kind).iter().filter_map(with_rows).all(|subjects| {
        rows.iter().any(|row| row.is_changed && subjects.contains(&row.key.subject))
    })
}

/// Returns the parts of a place by which places of two traces are compared: the method without its
/// arguments. The endpoint is left out, because not every trace shows it.
fn method(place: &Place) -> (&str, Option<FrameCall>) {
    (place.frame.without_arguments(), place.frame.call)
}

fn only_in(these: &[MeasuredTrace], others: &[MeasuredTrace]) -> Vec<Finding> {
    let is_same = |one: &Finding, other: &Finding| {
        let [place, other_place] = [one, other].map(|it| it.fact.subject_place().map(method));
        one.about() == other.about() && place == other_place
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Frame, FrameKind};
    use std::sync::Arc;

    #[test]
    fn a_method_is_one_place_whether_or_not_a_trace_shows_its_endpoint() {
        let place = Place::new(Arc::new(Frame::group("Shop.Cart".into(), FrameKind::Managed)));
        let served = Place { endpoint: Some("GET /cart".into()), ..place.clone() };
        assert_ne!(place, served);
        assert_eq!(method(&place), method(&served));
    }
}
