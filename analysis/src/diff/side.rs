//! The traces of one side of a comparison, and their divisors.

use super::inlined::join;
use super::measured::{Measured, MeasuredTrace};
use super::recorded::Keywords;
use super::statistic::mean;
use crate::fact::comparison::{DiffKey, Per, Subject};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of slices that show whether a trace's load comes in bursts.
const MIN_SLICES: usize = 8;

/// Sizes of one side of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiffSide {
    /// Number of traces.
    pub traces: u64,
    /// Number of runs: traces, or iterations of the only trace if sums are per operation.
    pub runs: u64,
    /// Nanoseconds of all traces together, each from its first sample or collection to its last or,
    /// in a benchmark, of its measured iterations.
    pub duration_ns: u64,
    /// Number of CPU samples.
    pub samples: u64,
    /// Number of requests.
    pub requests: u64,
    /// Number of operations of a benchmark.
    pub operations: f64,
    /// Number of lost events.
    pub lost: u64,
}

type Rows = BTreeMap<DiffKey, Measured>;

/// The traces of one side, and their divisors.
pub(super) struct SideTraces<'f> {
    pub(super) traces: &'f [MeasuredTrace],
    /// Rows of each trace. A module without names on one side is one row. A method that the other
    /// side has inlined is part of its callers.
    rows: Vec<Cow<'f, Rows>>,
    per: Per,
    units: BTreeMap<&'f str, &'f str>,
    pub(super) keywords: Keywords,
}

impl<'f> SideTraces<'f> {
    pub(super) fn new(
        traces: &'f [MeasuredTrace],
        per: Per,
        merged: &BTreeSet<&str>,
        inlined: &BTreeSet<&str>,
    ) -> SideTraces<'f> {
        let units = traces.iter().flat_map(|trace| &trace.units);
        SideTraces {
            traces,
            rows: traces
                .iter()
                .map(|trace| {
                    let mut rows = merged_rows(trace, merged);
                    if !inlined.is_empty() {
                        join(rows.to_mut(), trace, inlined);
                    }
                    rows
                })
                .collect(),
            per,
            units: units.map(|(name, unit)| (name.as_str(), unit.as_str())).collect(),
            keywords: Keywords::sum(traces.iter().map(|trace| &trace.keywords)),
        }
    }

    pub(super) fn about(&self) -> DiffSide {
        let sum = |value: fn(&MeasuredTrace) -> u64| {
            self.traces.iter().map(value).fold(0, u64::saturating_add)
        };
        DiffSide {
            traces: self.traces.len() as u64,
            runs: self.runs() as u64,
            duration_ns: sum(|trace| trace.duration_ns),
            samples: sum(|trace| trace.samples),
            requests: sum(|trace| trace.requests),
            operations: 0.0 + self.traces.iter().map(MeasuredTrace::operations).sum::<f64>(),
            lost: self.lost(),
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.traces.iter().map(MeasuredTrace::lost).fold(0, u64::saturating_add)
    }

    /// Returns the only trace if its iterations are the runs of this side.
    fn iterations(&self) -> Option<&'f MeasuredTrace> {
        match self.traces {
            [one] if self.per == Per::Operation => Some(one),
            _ => None,
        }
    }

    /// Returns whether the runs of this side are iterations in one process.
    pub(super) fn has_iterations(&self) -> bool {
        self.iterations().is_some()
    }

    pub(super) fn runs(&self) -> usize {
        self.iterations().map_or(self.traces.len(), |trace| trace.operations_of.len())
    }

    pub(super) fn divisor(&self) -> f64 {
        self.traces.iter().map(|trace| trace.divisor(self.per)).sum()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &DiffKey> {
        self.rows.iter().flat_map(|rows| rows.keys())
    }

    pub(super) fn has(&self, key: &DiffKey) -> bool {
        self.rows.iter().any(|rows| rows.contains_key(key))
    }

    /// Returns the unit of a counter, if a trace has it.
    pub(super) fn unit(&self, counter: &str) -> Option<&'f str> {
        self.units.get(counter).copied()
    }

    /// Returns the sum over all traces, divided by [`SideTraces::divisor`].
    pub(super) fn total(&self, key: &DiffKey) -> f64 {
        let sums = self.rows.iter().filter_map(|rows| match rows.get(key) {
            Some(Measured::Sums(sums)) => Some(sums.iter().sum::<f64>()),
            _ => None,
        });
        // The sum of no numbers is -0.0.
        let (sum, divisor): (f64, f64) = (0.0 + sums.sum::<f64>(), self.divisor());
        if divisor > 0.0 { sum / divisor } else { 0.0 }
    }

    /// Returns one value for each run that has one.
    pub(super) fn by_run(&self, key: &DiffKey, is_sum: bool) -> Vec<f64> {
        if let (Some(trace), Some(rows), true) = (self.iterations(), self.rows.first(), is_sum) {
            let sums = match rows.get(key) {
                Some(Measured::Sums(sums)) => sums.as_slice(),
                _ => &[],
            };
            let operations = trace.operations_of.iter().enumerate();
            let value = |(at, by): (usize, &f64)| sums.get(at).copied().unwrap_or(0.0) / by;
            return operations.map(value).collect();
        }
        let value = |(trace, rows): (&MeasuredTrace, &Cow<'_, Rows>)| match rows.get(key) {
            Some(Measured::Values(values)) => Some(mean(values)),
            None if matches!(key.subject, Subject::OpenWaits | Subject::Deadlocks) => Some(0.0),
            None if !is_sum => None,
            measured => {
                let divisor = trace.divisor(self.per);
                let sum = match measured {
                    Some(Measured::Sums(sums)) => sums.iter().sum(),
                    _ => 0.0,
                };
                (divisor > 0.0).then(|| sum / divisor)
            }
        };
        self.traces.iter().zip(&self.rows).filter_map(value).collect()
    }

    /// Returns the number of samples or events of a row.
    pub(super) fn count(&self, key: &DiffKey) -> f64 {
        self.traces.iter().filter_map(|trace| trace.counts.get(key)).sum()
    }

    /// Returns whether a trace has more than half of a value in a quarter of its slices.
    pub(super) fn is_bursty(&self, key: &DiffKey) -> bool {
        let is_burst = |rows: &Cow<'_, Rows>| match rows.get(key) {
            Some(Measured::Sums(sums)) if sums.len() >= MIN_SLICES => {
                let mut sorted = sums.clone();
                sorted.sort_by(|one, other| other.total_cmp(one));
                let most: f64 = sorted.iter().take(sums.len() / 4).sum();
                most * 2.0 > sums.iter().sum()
            }
            _ => false,
        };
        matches!(self.per, Per::Second | Per::Request | Per::Sample)
            && self.rows.iter().any(is_burst)
    }
}

/// Returns the rows of a trace, with the methods of each `merged` module as one row.
fn merged_rows<'f>(trace: &'f MeasuredTrace, merged: &BTreeSet<&str>) -> Cow<'f, Rows> {
    if merged.is_empty() {
        return Cow::Borrowed(&trace.rows);
    }
    let mut rows = Rows::new();
    for (key, measured) in &trace.rows {
        let is_method = matches!(key.subject, Subject::Method | Subject::MethodTotal);
        let module = trace.methods.get(&key.name).filter(|_| is_method).map(|frame| &frame.module);
        // A row of frames without names has the name of the module already.
        let is_merged = |name: &&String| merged.contains(name.as_str());
        let own = Some(&key.name).filter(|_| is_method);
        let module = module.filter(is_merged).or(own.filter(is_merged));
        match (key.subject, module, measured) {
            // The time of a module with its callees is not the sum over its methods.
            (Subject::MethodTotal, Some(_), _) => {}
            (subject, Some(module), Measured::Sums(sums)) => {
                let key = DiffKey::named(subject, module.as_str());
                let row = rows.entry(key).or_insert_with(|| Measured::Sums(vec![0.0; sums.len()]));
                if let Measured::Sums(all) = row {
                    all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
                }
            }
            _ => {
                rows.insert(key.clone(), measured.clone());
            }
        }
    }
    Cow::Owned(rows)
}
