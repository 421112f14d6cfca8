//! The rows of a comparison.

use super::facts::{Measured, Subject, TraceFacts};
use super::statistic::{counts, mean, ranks, traces, welch};
use crate::document::{SCHEMA, percentile};
use crate::sorted::SortFew;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Changes that occur by chance in more than this share of comparisons are noise.
const CHANCE: f64 = 0.01;
/// Of several traces a side, the other side's must differ more than those of one side do:
/// changes that occur by chance in more than this share of comparisons of whole traces
/// are noise. There are few traces and many slices, so that this is less strict.
const CHANCE_OF_TRACES: f64 = 0.05;
/// Changes smaller than this percentage of the value are noise,
const LEAST_CHANGE: f64 = 5.0;
/// and those smaller than this percentage of their subject.
const LEAST_WEIGHT: f64 = 0.5;

/// How much the shares of samples without a name may differ between the sides.
const MOST_UNNAMED_APART: f64 = 0.2;

/// What sums are divided by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Per {
    /// Seconds of the trace.
    #[default]
    Second,
    /// Requests.
    Request,
    /// CPU samples of threads that ran or waited.
    Sample,
}

/// One side of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffSide {
    /// Number of traces.
    pub traces: u64,
    /// Their total time in nanoseconds: from the first sample or collection to the last.
    pub duration_ns: u64,
    /// Number of CPU samples.
    pub samples: u64,
    /// Number of requests.
    pub requests: u64,
    /// Number of lost events.
    pub lost: u64,
}

/// One compared value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffRow {
    /// Its subject.
    pub subject: Subject,
    /// Method, type, exception, generation, percentile or counter; empty for the total.
    pub name: String,
    /// `ns`, `bytes`, `count`, or a counter's own unit.
    pub unit: String,
    /// Whether the values are divided by seconds, requests or samples.
    pub is_divided: bool,
    /// The old value.
    pub old: f64,
    /// The new value.
    pub new: f64,
    /// The change in percent of the old value; `None` if that is 0.
    pub change_percent: Option<f64>,
    /// The change in percent of its subject: of all running time, of all allocated
    /// bytes, of the value.
    pub weight_percent: f64,
    /// Probability that two traces of the same program differ this much.
    pub chance: f64,
    /// The same by how the traces of each side differ from each other; `None` unless each
    /// side has at least two.
    pub chance_between_traces: Option<f64>,
    /// Whether the change is beyond noise.
    pub is_significant: bool,
}

/// The changes between two groups of traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffReport {
    /// Version of this document.
    pub schema: u32,
    /// What sums are divided by.
    pub per: Per,
    /// The old traces.
    pub old: DiffSide,
    /// The new traces.
    pub new: DiffSide,
    /// Number of changes beyond noise, which are the first rows.
    pub significant: u64,
    /// Values that are not compared, because only one side has them.
    pub not_compared: Vec<String>,
    /// All compared values: changes beyond noise first, those with the highest weight
    /// first.
    pub rows: Vec<DiffRow>,
}

impl DiffReport {
    /// Compares two groups of traces.
    pub fn new(old: &[TraceFacts], new: &[TraceFacts], per: Per) -> DiffReport {
        let (before, after) = (Side::new(old, per), Side::new(new, per));
        let mut lacking = BTreeMap::new();
        let mut rows = Vec::new();
        let without_names = without_names(old, new);
        let mut keys: BTreeSet<&(Subject, String)> =
            old.iter().chain(new).flat_map(|facts| facts.rows.keys()).collect();
        if without_names.is_some() {
            // Without names, threads that wait count as running, and all these would seem
            // to have grown.
            keys.retain(|(subject, _)| {
                !matches!(subject, Subject::Cpu | Subject::Method | Subject::MethodTotal)
            });
        }
        for key in keys {
            if !is_on_both(key, old, new) {
                if let Some(name) = whole_name(key) {
                    let count = lacking.entry((name, before.has(key))).or_insert(0_u64);
                    *count = count.saturating_add(1);
                }
                continue;
            }
            rows.push(row(key, &before, &after));
        }
        let not_compared = lacking.into_iter().map(|((name, is_old), count)| {
            let side = if is_old { "OLD" } else { "NEW" };
            if name == COUNTERS {
                format!("{count} {name}: only in {side}")
            } else {
                format!("{name}: only in {side}")
            }
        });
        let mut not_compared: Vec<String> = not_compared.collect();
        not_compared.extend(without_names.map(|side| {
            format!("CPU samples: methods have no names in {side}, so threads that wait look busy")
        }));
        rows.extend(pauses(&before, &after));
        weigh(&mut rows);
        judge(&mut rows);
        rows.sort_few_by(|one, other| {
            let order = |row: &DiffRow| (!row.is_significant, place(row.subject));
            order(one)
                .cmp(&order(other))
                .then_with(|| other.weight_percent.total_cmp(&one.weight_percent))
                .then_with(|| (one.subject, &one.name).cmp(&(other.subject, &other.name)))
        });
        let significant = rows.iter().filter(|row| row.is_significant).count() as u64;
        let (old, new) = (side(old), side(new));
        DiffReport { schema: SCHEMA, per, old, new, significant, not_compared, rows }
    }
}

/// The traces of one side, and the divisors of their slices.
struct Side<'f> {
    facts: &'f [TraceFacts],
    /// The divisor of each slice of each trace.
    divisors: Vec<Vec<f64>>,
    units: BTreeMap<&'f str, &'f str>,
}

impl<'f> Side<'f> {
    fn new(facts: &'f [TraceFacts], per: Per) -> Side<'f> {
        let divisors = facts.iter().map(|facts| match per {
            Per::Second => vec![facts.slice_nanos / 1e9; facts.samples_of.len()],
            Per::Request => facts.requests_of.clone(),
            Per::Sample => facts.samples_of.clone(),
        });
        let units = facts.iter().flat_map(|facts| &facts.units);
        Side {
            facts,
            divisors: divisors.collect(),
            units: units.map(|(name, unit)| (name.as_str(), unit.as_str())).collect(),
        }
    }

    fn has(&self, key: &(Subject, String)) -> bool {
        self.facts.iter().any(|facts| facts.rows.contains_key(key))
    }

    /// The total, and one value for each slice.
    fn sums(&self, key: &(Subject, String)) -> (f64, Vec<f64>) {
        let (mut whole, mut divisor, mut slices) = (0.0, 0.0, Vec::new());
        for (facts, divisors) in self.facts.iter().zip(&self.divisors) {
            let sums = match facts.rows.get(key) {
                Some(Measured::Sums(sums)) => Some(sums),
                _ => None,
            };
            for (index, by) in divisors.iter().enumerate() {
                let sum = sums.and_then(|sums| sums.get(index)).copied().unwrap_or(0.0);
                whole += sum;
                divisor += by;
                if *by > 0.0 {
                    slices.push(sum / by);
                }
            }
        }
        (if divisor > 0.0 { whole / divisor } else { 0.0 }, slices)
    }

    /// Number of samples or events of a row, and their divisor.
    fn count(&self, key: &(Subject, String)) -> (f64, f64) {
        let count = self.facts.iter().filter_map(|facts| facts.counts.get(key)).sum();
        (count, self.divisors.iter().flatten().sum())
    }

    /// One value for each trace that has a divisor.
    fn by_trace(&self, key: &(Subject, String)) -> Vec<f64> {
        let of = |(facts, divisors): (&TraceFacts, &Vec<f64>)| match facts.rows.get(key) {
            Some(Measured::Values(values)) => Some(mean(values)),
            None if !is_divided(key.0) => None,
            measured => {
                let divisor: f64 = divisors.iter().sum();
                let sum = match measured {
                    Some(Measured::Sums(sums)) => sums.iter().sum(),
                    _ => 0.0,
                };
                (divisor > 0.0).then(|| sum / divisor)
            }
        };
        self.facts.iter().zip(&self.divisors).filter_map(of).collect()
    }

    fn values(&self, key: &(Subject, String)) -> Vec<f64> {
        let of = |facts: &'f TraceFacts| match facts.rows.get(key) {
            Some(Measured::Values(values)) => values.as_slice(),
            _ => &[],
        };
        self.facts.iter().flat_map(of).copied().collect()
    }

    fn pauses(&self) -> Vec<f64> {
        self.facts.iter().flat_map(|facts| &facts.pauses).copied().collect()
    }
}

fn side(facts: &[TraceFacts]) -> DiffSide {
    let sum = |value: fn(&TraceFacts) -> u64| facts.iter().map(value).fold(0, u64::saturating_add);
    DiffSide {
        traces: facts.len() as u64,
        duration_ns: sum(|facts| facts.duration_ns),
        samples: sum(|facts| facts.samples),
        requests: sum(|facts| facts.requests),
        lost: sum(|facts| facts.outcome.as_ref().map_or(0, |outcome| outcome.losses.total())),
    }
}

/// The side whose methods have no names while those of the other side have: it was
/// recorded without rundown, or its process was killed. Which threads wait is seen by
/// names, so each sample of this side counts as running.
fn without_names(old: &[TraceFacts], new: &[TraceFacts]) -> Option<&'static str> {
    let share = |facts: &[TraceFacts]| {
        let sum = |nanos: fn(&TraceFacts) -> u64| -> f64 {
            facts.iter().map(|facts| nanos(facts) as f64).sum()
        };
        sum(|facts| facts.unnamed_nanos) / sum(|facts| facts.sampled_nanos).max(1.0)
    };
    let (old, new) = (share(old), share(new));
    match new - old {
        more if more > MOST_UNNAMED_APART => Some("NEW"),
        more if more < -MOST_UNNAMED_APART => Some("OLD"),
        _ => None,
    }
}

/// If only one of the recordings contains a value, the other one did not record it.
/// Exceptions are different, because there may be none.
fn is_on_both((subject, name): &(Subject, String), old: &[TraceFacts], new: &[TraceFacts]) -> bool {
    let key = match subject {
        Subject::Method | Subject::MethodTotal | Subject::Cpu => (Subject::Cpu, String::new()),
        Subject::Type | Subject::Alloc => (Subject::Alloc, String::new()),
        // Each by its name: the recordings may have asked for different counters.
        Subject::Counter | Subject::Startup => (*subject, name.clone()),
        Subject::Jit | Subject::JitMethods => (Subject::Jit, String::new()),
        // There may have been none, unless the runtime recorded nothing at all.
        _ => return [old, new].iter().all(|side| side.iter().any(|facts| facts.has_runtime)),
    };
    let has = |side: &[TraceFacts]| side.iter().any(|facts| facts.rows.contains_key(&key));
    has(old) && has(new)
}

/// Position of a row among those beyond noise: causes first, then sums that changed with
/// them, then callers.
fn place(subject: Subject) -> u8 {
    match subject {
        Subject::Cpu | Subject::Alloc | Subject::Exceptions => 1,
        Subject::MethodTotal => 2,
        _ => 0,
    }
}

/// Whether a row is a sum, which grows with the length of its trace.
fn is_divided(subject: Subject) -> bool {
    !matches!(subject, Subject::Counter | Subject::Startup)
}

const COUNTERS: &str = "counters";

/// What is reported as missing, for the row that represents its subject.
fn whole_name((subject, name): &(Subject, String)) -> Option<&'static str> {
    Some(match subject {
        Subject::Counter => COUNTERS,
        Subject::Cpu => "CPU samples",
        Subject::Alloc => "allocations",
        Subject::Jit => "compiled methods",
        Subject::GcCount if name.is_empty() => "collections",
        Subject::Exceptions => "exceptions",
        Subject::Contention => "waits for locks",
        Subject::Waits => "waits",
        Subject::Startup if name.as_str() == "program" => "the start of the process",
        _ => return None,
    })
}

fn row(key: &(Subject, String), before: &Side<'_>, after: &Side<'_>) -> DiffRow {
    let (subject, name) = key;
    let is_divided = is_divided(*subject);
    let (old, new, chance) = if !is_divided {
        let (old, new) = (before.values(key), after.values(key));
        (mean(&old), mean(&new), welch(&old, &new))
    } else {
        let ((old, old_slices), (new, new_slices)) = (before.sums(key), after.sums(key));
        // Slices show how much the program varies, counts how well it was sampled; a
        // change must be beyond both. The number of pauses and waits does not say how
        // long they are.
        let by_slices = welch(&old_slices, &new_slices);
        let chance = match subject {
            Subject::GcPause | Subject::Contention | Subject::Waits | Subject::Jit => by_slices,
            _ => by_slices.max(counts(before.count(key), after.count(key))),
        };
        (old, new, chance)
    };
    let unit = subject.unit(name).unwrap_or_else(|| {
        let units = before.units.get(name.as_str()).or_else(|| after.units.get(name.as_str()));
        units.copied().unwrap_or_default()
    });
    DiffRow {
        chance_between_traces: traces(&before.by_trace(key), &after.by_trace(key)),
        ..new_row(*subject, name, unit, is_divided, (old, new), chance)
    }
}

fn new_row(
    subject: Subject,
    name: &str,
    unit: &str,
    is_divided: bool,
    (old, new): (f64, f64),
    chance: f64,
) -> DiffRow {
    DiffRow {
        subject,
        name: name.to_owned(),
        unit: unit.to_owned(),
        is_divided,
        old,
        new,
        change_percent: (old != 0.0).then(|| (new - old) / old.abs() * 100.0),
        weight_percent: 0.0,
        chance,
        chance_between_traces: None,
        is_significant: false,
    }
}

/// Individual pauses: their mean and percentiles. They differ if those of one side are
/// generally longer.
fn pauses(before: &Side<'_>, after: &Side<'_>) -> Vec<DiffRow> {
    let (old, new) = (before.pauses(), after.pauses());
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let chance = ranks(&old, &new);
    let row = |name: &str, value: &dyn Fn(&[f64]) -> f64| {
        let by_trace = |side: &Side<'_>| -> Vec<f64> {
            let pauses = side.facts.iter().map(|facts| facts.pauses.as_slice());
            pauses.filter(|pauses| !pauses.is_empty()).map(value).collect()
        };
        let values = (value(&old), value(&new));
        DiffRow {
            chance_between_traces: traces(&by_trace(before), &by_trace(after)),
            ..new_row(Subject::GcPause, name, "ns", false, values, chance)
        }
    };
    let percentiles = [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)];
    let mut rows = vec![row("mean", &mean)];
    let of_unsorted = |values: &[f64], percent| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        percentile(&sorted, percent)
    };
    rows.extend(
        percentiles.map(|(name, percent)| row(name, &|values| of_unsorted(values, percent))),
    );
    rows
}

/// The share of each change in its subject.
fn weigh(rows: &mut [DiffRow]) {
    let whole = |subject: Subject, rows: &[DiffRow]| {
        let row = rows.iter().find(|row| row.subject == subject && row.name.is_empty());
        row.map_or(0.0, |row| row.old.max(row.new))
    };
    let cpu = whole(Subject::Cpu, rows);
    let alloc = whole(Subject::Alloc, rows);
    let exceptions = whole(Subject::Exceptions, rows);
    for row in rows {
        let whole = match row.subject {
            Subject::Method | Subject::MethodTotal | Subject::Cpu => cpu,
            Subject::Type | Subject::Alloc => alloc,
            Subject::Exception | Subject::Exceptions => exceptions,
            _ => row.old.abs().max(row.new.abs()),
        };
        row.weight_percent =
            if whole > 0.0 { (row.new - row.old).abs() / whole * 100.0 } else { 0.0 };
    }
}

/// Decides which changes are beyond noise. The more rows a subject has, the more of them
/// differ by chance.
fn judge(rows: &mut [DiffRow]) {
    let mut counts: BTreeMap<Subject, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.weight_percent >= LEAST_WEIGHT) {
        *counts.entry(row.subject).or_default() += 1.0;
    }
    for row in rows {
        let count = counts.get(&row.subject).copied().unwrap_or(1.0).max(1.0);
        let is_large = row.change_percent.is_none_or(|change| change.abs() >= LEAST_CHANGE);
        let traces_differ =
            row.chance_between_traces.is_none_or(|chance| chance < CHANCE_OF_TRACES);
        row.is_significant = row.chance < CHANCE / count
            && traces_differ
            && is_large
            && row.weight_percent >= LEAST_WEIGHT;
    }
}
