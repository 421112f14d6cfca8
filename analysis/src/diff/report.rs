//! Document of a comparison.

use super::async_names;
use super::candidates::candidates;
use super::inlined::inlined;
use super::judge::{Judged, judge};
use super::lacking::{UnnamedShare, is_on_both, not_recorded};
use super::measured::MeasuredTrace;
use super::per::fitting;
use super::recorded::NamedModules;
use super::row::{Candidate, DiffRow};
use super::side::{DiffSide, SideTraces};
use super::stands_out::StandsOut;
use super::verdict::verdict;
use crate::document::SCHEMA;
use crate::fact::comparison::{
    DiffKey, DiffNote, DiffVerdict, NotCompared, Per, PerReason, Subject, Unreliable,
};
use crate::sorted::SortFew;
use std::collections::BTreeSet;

/// Minimum change in percent of a finding, unless the user sets another.
const MIN_CHANGE_PERCENT: f64 = 3.0;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Unit by which sums are divided; `None` chooses a unit that fits the traces.
    pub per: Option<Per>,
    /// Minimum change of a finding, in percent.
    pub threshold_percent: f64,
}

impl Default for DiffOptions {
    fn default() -> DiffOptions {
        DiffOptions { per: None, threshold_percent: MIN_CHANGE_PERCENT }
    }
}

impl From<Per> for DiffOptions {
    fn from(per: Per) -> DiffOptions {
        DiffOptions { per: Some(per), ..DiffOptions::default() }
    }
}

/// Changes between two groups of traces.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiffReport {
    /// Version of this document.
    pub schema: u32,
    /// Overall result.
    #[cfg_attr(
        feature = "serde",
        serde(flatten, serialize_with = "crate::words::comparison_members::verdict")
    )]
    pub verdict: DiffVerdict,
    /// Unit by which sums are divided.
    pub per: Per,
    /// Reason for the choice of this unit.
    #[cfg_attr(
        feature = "serde",
        serde(flatten, serialize_with = "crate::words::comparison_members::per_reason")
    )]
    pub per_reason: PerReason,
    /// Sizes of the old traces.
    pub old: DiffSide,
    /// Sizes of the new traces.
    pub new: DiffSide,
    /// Number of findings, which are the first rows.
    pub significant: u64,
    /// Smallest change, in percent, that these runs would have shown in a method that matters, or
    /// in all running time. `None` with one run on a side.
    pub detectable_percent: Option<f64>,
    /// Subjects that are not compared, because only one side recorded them.
    #[cfg_attr(
        feature = "serde",
        serde(flatten, serialize_with = "crate::words::comparison_members::not_compared")
    )]
    pub not_compared: Vec<NotCompared>,
    /// Other limits of the comparison.
    #[cfg_attr(
        feature = "serde",
        serde(flatten, serialize_with = "crate::words::comparison_members::notes")
    )]
    pub notes: Vec<DiffNote>,
    /// Findings of the summaries of one side only.
    pub stands_out: StandsOut,
    /// All compared values: findings first, causes before the sums that contain them, then by
    /// weight.
    pub rows: Vec<DiffRow>,
}

impl DiffReport {
    /// Compares two groups of traces.
    pub fn new(
        old: &[MeasuredTrace],
        new: &[MeasuredTrace],
        options: impl Into<DiffOptions>,
    ) -> DiffReport {
        let options = options.into();
        let paired = async_names::paired(old, new);
        let (old, new) = paired.as_ref().map_or((old, new), |(old, new)| (&**old, &**new));
        let (per, per_reason) = match options.per {
            Some(per) => (per, PerReason::AskedFor),
            None => fitting(old.iter().chain(new)),
        };
        let names = |traces: &[MeasuredTrace]| NamedModules::sum(traces.iter().map(|it| &it.names));
        let (names_of_old, names_of_new) = (names(old), names(new));
        let unnamed = UnnamedShare::new(&names_of_old, &names_of_new);
        let merged = unnamed.merged();
        // Without names, no method is known to be lacking.
        let is_named = unnamed.side.is_none() && merged.is_empty();
        let inlined = if is_named { inlined(old, new, per) } else { BTreeSet::new() };
        let [before, after] =
            [old, new].map(|traces| SideTraces::new(traces, per, &merged, &inlined));
        let (mut candidates, alone) = candidates(&before, &after, unnamed.side);
        let mut not_compared = not_recorded(&alone, &before);
        not_compared.extend(unnamed.not_compared());
        let Judged { detectable_percent, notes } =
            judge(&mut candidates, [&before, &after], options.threshold_percent);
        candidates.sort_few_by(|one, other| {
            let order = |row: &Candidate| (!row.is_significant, place(row.key.subject));
            order(one)
                .cmp(&order(other))
                .then_with(|| other.weight_percent.total_cmp(&one.weight_percent))
                .then_with(|| one.key.cmp(&other.key))
        });
        let rows: Vec<DiffRow> = candidates.into_iter().map(Candidate::into_row).collect();
        let (about_old, about_new) = (before.about(), after.about());
        let is_same_trace = match [old, new] {
            [[one], [other]] => one.is_same_trace(other),
            _ => false,
        };
        let verdict = match is_same_trace {
            true => DiffVerdict::SameTrace,
            false => verdict(&rows, [&about_old, &about_new], per, detectable_percent),
        };
        let one_run_each = (about_old.runs < 2 || about_new.runs < 2).then_some(&*rows);
        let is_on_both = |subject| is_on_both(&DiffKey::total(subject), &before, &after);
        let stands_out = StandsOut::new([old, new], &is_on_both, one_run_each);
        DiffReport {
            schema: SCHEMA,
            verdict,
            per,
            per_reason,
            old: about_old,
            new: about_new,
            significant: rows.iter().filter(|row| row.is_significant).count() as u64,
            detectable_percent,
            not_compared,
            notes,
            stands_out,
            rows,
        }
    }

    /// Returns the reason for which the comparison is unreliable: nothing was compared, or one side
    /// has no CPU samples, or its methods have no names. `None` if the comparison is reliable.
    pub fn missing(&self) -> Option<Unreliable> {
        if self.rows.is_empty() {
            return Some(Unreliable::NothingCompared);
        }
        let of_samples = self.not_compared.iter().find(|it| it.subject == Subject::Cpu);
        of_samples.cloned().map(Unreliable::NotCompared)
    }
}

/// Returns the rank of a subject among findings: causes first, then sums that change with them,
/// then callers.
fn place(subject: Subject) -> u8 {
    match subject {
        Subject::Elapsed | Subject::Cpu | Subject::Alloc | Subject::Exceptions => 1,
        Subject::MethodTotal => 2,
        _ => 0,
    }
}
