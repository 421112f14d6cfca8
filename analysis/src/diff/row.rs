//! A compared value: while it is judged, and as the document has it.

use super::statistic::{Compared, compare};
use crate::fact::comparison::{DiffKey, Doubt};
use crate::words;
use serde::Serialize;

/// One compared value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffRow {
    /// Which value it is. In documents `what` says it in words.
    #[serde(flatten)]
    pub key: DiffKey,
    /// `ns`, `bytes`, `count`, or a counter's own unit.
    pub unit: String,
    /// Whether the values are divided by runs, seconds, requests, operations or samples.
    pub is_divided: bool,
    /// The old value, of all runs together.
    pub old: f64,
    /// The new value.
    pub new: f64,
    /// The change in percent of the old value; `None` if that is 0.
    pub change_percent: Option<f64>,
    /// The change in percent of its subject: of all running time, of all allocated
    /// bytes, of the value.
    pub weight_percent: f64,
    /// New over old: of the geometric means of the runs if there are several on each side.
    /// `None` if the old value is 0.
    pub ratio: Option<f64>,
    /// The ratios between which the true one is with a probability of 95 %. `None` with one
    /// run on a side.
    pub interval: Option<[f64; 2]>,
    /// Number of runs that have a value, old and new.
    pub runs: [u64; 2],
    /// Probability that runs of one program differ this much, not corrected for the number
    /// of rows. `None` with one run on a side.
    pub chance: Option<f64>,
    /// Probability that runs of one program differ this much, by trying all ways of dividing
    /// the runs between the sides; `None` with fewer than five runs on a side.
    pub chance_of_permutations: Option<f64>,
    /// The smallest change in percent that these runs would have shown. `None` with one run
    /// on a side.
    pub detectable_percent: Option<f64>,
    /// Whether it changed: beyond what runs of one program differ or, with one run on a side,
    /// by as much as is large by experience.
    pub is_changed: bool,
    /// Whether it is a finding: it changed, and does not only repeat another finding, as
    /// percentiles of the same pauses do.
    pub is_significant: bool,
    /// Why the values cannot be judged.
    #[serde(flatten, serialize_with = "words::comparison::doubt")]
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
    /// Whether half of one side's value is from a quarter of its time.
    pub(super) is_bursty: bool,
    pub(super) weight_percent: f64,
    pub(super) detectable_percent: Option<f64>,
    pub(super) doubt: Option<Doubt>,
    pub(super) is_changed: bool,
    pub(super) is_significant: bool,
}

impl Candidate {
    /// Compares a value of all runs together, and of single runs. `least` stands for a value of
    /// 0, which has no logarithm.
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

    /// Returns the change in percent of the old value; `None` if that is 0.
    pub(super) fn change_percent(&self) -> Option<f64> {
        let Candidate { old, new, .. } = self;
        (*old != 0.0).then(|| (new - old) / old.abs() * 100.0)
    }

    /// Returns new over old; `None` if the old value is 0.
    pub(super) fn ratio(&self) -> Option<f64> {
        let of_runs = self.compared.map(|compared| compared.ratio);
        (self.old > 0.0).then(|| of_runs.unwrap_or(self.new / self.old))
    }

    /// Makes the row of the document.
    pub(super) fn into_row(self) -> DiffRow {
        let (change_percent, ratio) = (self.change_percent(), self.ratio());
        let compared = self.compared;
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
