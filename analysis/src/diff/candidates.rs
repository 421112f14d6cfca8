//! Pairs the values that both sides of a comparison have.

use super::lacking::is_on_both;
use super::row::Candidate;
use super::side::SideTraces;
use super::statistic::mean;
use crate::document::percentile;
use crate::fact::comparison::{DiffKey, Measure, OldOrNew, Subject};
use std::collections::{BTreeMap, BTreeSet};

/// Share of the subject's total that replaces a value of 0, which has no logarithm. Smaller shares
/// do not matter.
const ZERO_SHARE: f64 = 1e-3;
/// Number of events that replaces 0 events.
const ZERO_COUNT: f64 = 0.5;

/// Returns the values that both sides recorded, in the order of their keys, and the keys that only
/// one side recorded. `without_names` is the side whose methods have no names.
pub(super) fn candidates<'s>(
    before: &'s SideTraces<'_>,
    after: &'s SideTraces<'_>,
    without_names: Option<OldOrNew>,
) -> (Vec<Candidate>, Vec<&'s DiffKey>) {
    let mut keys: BTreeSet<&DiffKey> = before.keys().chain(after.keys()).collect();
    if without_names.is_some() {
        // Waiting threads are recognized by the names of methods. Without names they count as
        // running, so that all running times would seem to have grown.
        keys.retain(|key| {
            !matches!(key.subject, Subject::Cpu | Subject::Method | Subject::MethodTotal)
        });
    }
    let (both, alone): (Vec<&DiffKey>, Vec<&DiffKey>) =
        keys.into_iter().partition(|key| is_on_both(key, before, after));
    let mut candidates: Vec<Candidate> =
        both.into_iter().map(|key| candidate(key, before, after)).collect();
    candidates.extend(pauses(before, after));
    weigh(&mut candidates);
    (candidates, alone)
}

fn candidate(key: &DiffKey, before: &SideTraces<'_>, after: &SideTraces<'_>) -> Candidate {
    let is_sum = key.is_sum();
    let runs = [before, after].map(|side| side.by_run(key, is_sum));
    let values = if is_sum {
        [before, after].map(|side| side.total(key))
    } else {
        runs.each_ref().map(|runs| mean(runs))
    };
    let zero = zero(key.subject, before, after);
    let counts = [before.count(key), after.count(key)];
    let mut candidate = Candidate::new(key.clone(), is_sum, values, &runs, zero, counts);
    if key.subject == Subject::Counter {
        let unit = before.unit(&key.name).or_else(|| after.unit(&key.name));
        candidate.unit = unit.unwrap_or_default().to_owned();
    }
    candidate.is_bursty = is_sum && (before.is_bursty(key) || after.is_bursty(key));
    candidate
}

/// Returns the value that replaces 0 in the rows of a subject.
fn zero(subject: Subject, before: &SideTraces<'_>, after: &SideTraces<'_>) -> f64 {
    let whole = match subject {
        Subject::Method | Subject::MethodTotal => Subject::Cpu,
        Subject::Type => Subject::Alloc,
        Subject::Contention | Subject::Waits | Subject::GcPause => subject,
        _ => {
            let divisor = before.divisor().max(after.divisor()).max(1.0);
            return ZERO_COUNT / divisor;
        }
    };
    let key = DiffKey::total(whole);
    before.total(&key).max(after.total(&key)) * ZERO_SHARE
}

/// Returns the mean and the percentiles of the lengths of pauses.
fn pauses(before: &SideTraces<'_>, after: &SideTraces<'_>) -> Vec<Candidate> {
    let all = |side: &SideTraces<'_>| -> Vec<f64> {
        side.traces.iter().flat_map(|trace| &trace.pauses).copied().collect()
    };
    let (old, new) = (all(before), all(after));
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let row = |measure: Measure, value: &dyn Fn(&[f64]) -> f64| {
        let runs = [before, after].map(|side| -> Vec<f64> {
            let pauses = side.traces.iter().map(|trace| trace.pauses.as_slice());
            pauses.filter(|pauses| !pauses.is_empty()).map(value).collect()
        });
        let key = DiffKey::measure(Subject::GcPause, measure);
        let counts = [old.len() as f64, new.len() as f64];
        Candidate::new(key, false, [value(&old), value(&new)], &runs, 1.0, counts)
    };
    let of_unsorted = |values: &[f64], percent| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        percentile(&sorted, percent)
    };
    let percentiles =
        [(Measure::P50, 50), (Measure::P90, 90), (Measure::P99, 99), (Measure::Max, 100)];
    let mut rows = vec![row(Measure::Mean, &mean)];
    rows.extend(
        percentiles.map(|(measure, percent)| row(measure, &|values| of_unsorted(values, percent))),
    );
    rows
}

/// Sets the weight of each change: its percentage of the subject's total.
fn weigh(candidates: &mut [Candidate]) {
    let subjects =
        [Subject::Cpu, Subject::Alloc, Subject::Exceptions, Subject::Contention, Subject::Waits];
    let totals = candidates.iter().filter(|row| row.key.is_total());
    let totals = totals.filter(|row| subjects.contains(&row.key.subject));
    let wholes: BTreeMap<Subject, f64> =
        totals.map(|row| (row.key.subject, row.old.max(row.new))).collect();
    for row in candidates {
        let whole = match row.key.subject.whole() {
            whole if subjects.contains(&whole) => wholes.get(&whole).copied().unwrap_or(0.0),
            _ => row.old.abs().max(row.new.abs()),
        };
        row.weight_percent =
            if whole > 0.0 { (row.new - row.old).abs() / whole * 100.0 } else { 0.0 };
    }
}
