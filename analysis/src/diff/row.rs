//! A compared value, while it is judged and as the document has it.

use super::statistic::{Compared, compare};
use crate::fact::comparison::{DiffKey, Doubt};

/// One compared value.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiffRow {
    /// Key of the value.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub key: DiffKey,
    /// Unit of the values: `ns`, `bytes`, `count`, or a counter's own unit.
    pub unit: String,
    /// Whether the values are divided by runs, seconds, requests, operations or samples.
    pub is_divided: bool,
    /// Old value, of all runs together.
    pub old: f64,
    /// New value, of all runs together.
    pub new: f64,
    /// Change in percent of the old value; `None` if the old value is 0.
    pub change_percent: Option<f64>,
    /// Change in percent of the subject's total, such as all running time or all allocated bytes;
    /// of the value itself if the subject has no total.
    pub weight_percent: f64,
    /// New value divided by the old value. With several runs on each side, the ratio of their
    /// geometric means. `None` if the old value is 0.
    pub ratio: Option<f64>,
    /// Bounds of the 95 % confidence interval of the ratio. `None` with one run on a side.
    pub interval: Option<[f64; 2]>,
    /// Number of runs that have a value, old and new.
    pub runs: [u64; 2],
    /// Probability that runs of one program differ this much, not corrected for the number
    /// of rows. `None` with one run on a side.
    pub chance: Option<f64>,
    /// Probability that runs of one program differ this much, by trying all ways of dividing
    /// the runs between the sides; `None` with fewer than five runs on a side.
    pub chance_of_permutations: Option<f64>,
    /// Smallest change, in percent, that these runs would have shown. `None` with one run on a
    /// side.
    pub detectable_percent: Option<f64>,
    /// Whether the value changed: by more than runs of one program differ or, with one run on a
    /// side, by as much as is large by experience.
    pub is_changed: bool,
    /// Whether the row is a finding: it changed, and does not only repeat another finding, as a
    /// second percentile of the same pauses does.
    pub is_significant: bool,
    /// Reason for which the values cannot be judged; `None` if they can.
    #[cfg_attr(
        feature = "serde",
        serde(flatten, serialize_with = "crate::words::comparison_members::doubt")
    )]
    pub doubt: Option<Doubt>,
}

/// A compared value that is still to be judged.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) key: DiffKey,
    pub(super) unit: String,
    pub(super) is_divided: bool,
    pub(super) old: f64,
    pub(super) new: f64,
    /// Number of runs that have a value, old and new.
    pub(super) runs: [u64; 2],
    pub(super) compared: Option<Compared>,
    /// Number of samples or events, old and new.
    pub(super) counts: [f64; 2],
    /// Whether one side has more than half of its value in a quarter of its time.
    pub(super) is_bursty: bool,
    pub(super) weight_percent: f64,
    pub(super) detectable_percent: Option<f64>,
    pub(super) doubt: Option<Doubt>,
    pub(super) is_changed: bool,
    pub(super) is_significant: bool,
}

impl Candidate {
    /// Compares a value: `old` and `new` are of all runs together, `runs` of single runs. For
    /// `least` see [`compare`].
    pub(super) fn new(
        key: DiffKey,
        is_divided: bool,
        [old, new]: [f64; 2],
        runs: &[Vec<f64>; 2],
        least: f64,
        counts: [f64; 2],
    ) -> Candidate {
        let [old_runs, new_runs] = runs;
        let unit = key.unit();
        let is_exact = is_divided && unit == Some("count");
        let all_runs = old_runs.len().saturating_add(new_runs.len()).max(1) as f64;
        let usual = key.usual_spread(counts.iter().sum::<f64>() / all_runs);
        Candidate {
            unit: unit.unwrap_or_default().to_owned(),
            key,
            is_divided,
            old,
            new,
            runs: [old_runs.len() as u64, new_runs.len() as u64],
            compared: compare(old_runs, new_runs, least, usual, is_exact),
            counts,
            is_bursty: false,
            weight_percent: 0.0,
            detectable_percent: None,
            doubt: None,
            is_changed: false,
            is_significant: false,
        }
    }

    /// Returns the new value divided by the old one; `None` if the old value is 0.
    pub(super) fn ratio(&self) -> Option<f64> {
        let of_runs = self.compared.map(|compared| compared.ratio);
        (self.old > 0.0).then(|| of_runs.unwrap_or(self.new / self.old))
    }

    /// Makes the row of the document.
    pub(super) fn into_row(self) -> DiffRow {
        let (ratio, compared) = (self.ratio(), self.compared);
        let change_percent =
            (self.old != 0.0).then(|| (self.new - self.old) / self.old.abs() * 100.0);
        DiffRow {
            key: self.key,
            unit: self.unit,
            is_divided: self.is_divided,
            old: self.old,
            new: self.new,
            change_percent,
            weight_percent: self.weight_percent,
            ratio,
            interval: compared.map(|compared| compared.interval()),
            runs: self.runs,
            chance: compared.map(|compared| compared.chance),
            chance_of_permutations: compared.and_then(|compared| compared.chance_of_permutations),
            detectable_percent: self.detectable_percent,
            is_changed: self.is_changed,
            is_significant: self.is_significant,
            doubt: self.doubt,
        }
    }
}
