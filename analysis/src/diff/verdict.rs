//! Overall result of a comparison.

use super::row::DiffRow;
use super::side::DiffSide;
use crate::fact::comparison::{DiffChange, DiffRuns, DiffVerdict, Per, Subject};

/// Minimum weight in percent of a change that a verdict names although it may be chance.
const MIN_NAMED_WEIGHT_PERCENT: f64 = 10.0;

/// Returns the overall result. `rows` are in the order of the document.
pub(super) fn verdict(
    rows: &[DiffRow],
    [old, new]: [&DiffSide; 2],
    per: Per,
    detectable_percent: Option<f64>,
) -> DiffVerdict {
    let has_runs = old.runs >= 2 && new.runs >= 2;
    let elapsed = rows.iter().find(|row| row.key.subject == Subject::Elapsed);
    let findings = || rows.iter().filter(|row| row.is_significant);
    let Some(first) = findings().next() else {
        return if !has_runs {
            DiffVerdict::NothingLarge {
                elapsed: elapsed.map(change),
                largest: largest(rows).map(change),
            }
        } else if rows.is_empty() {
            DiffVerdict::NothingCompared
        } else {
            let are_iterations = old.traces == 1 && per == Per::Operation;
            let runs = DiffRuns { old: old.runs, new: new.runs, are_iterations };
            DiffVerdict::NothingChanged { detectable_percent, runs }
        };
    };
    let may_be_chance = |row: &&DiffRow| {
        !row.is_significant && row.change_percent.is_some_and(|change| change.abs() >= 1.0)
    };
    DiffVerdict::Changed {
        first: change(elapsed.filter(|row| row.is_significant).unwrap_or(first)),
        per,
        more: (findings().count() as u64).saturating_sub(1),
        elapsed: elapsed.filter(may_be_chance).map(change),
        has_runs,
    }
}

/// Returns the row with the largest weight, apart from the program's duration, if that weight is
/// not small.
fn largest(rows: &[DiffRow]) -> Option<&DiffRow> {
    let is_named = |row: &&DiffRow| {
        row.key.subject != Subject::Elapsed
            && row.doubt.is_none()
            && row.old != row.new
            && row.weight_percent >= MIN_NAMED_WEIGHT_PERCENT
    };
    let rows = rows.iter().rev().filter(is_named);
    rows.max_by(|one, other| one.weight_percent.total_cmp(&other.weight_percent))
}

fn change(row: &DiffRow) -> DiffChange {
    DiffChange { key: row.key.clone(), change_percent: row.change_percent }
}
