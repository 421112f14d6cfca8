//! The rows of a comparison.

use super::facts::{Measured, Subject, TraceFacts};
use super::statistic::{counts, mean, percentile, ranks, welch};
use crate::document::SCHEMA;
use crate::sorted::SortFew;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A change that happens by chance in this share of comparisons is noise.
const CHANCE: f64 = 0.01;
/// Changes that are a smaller part of the value are noise, in percent,
const LEAST_CHANGE: f64 = 5.0;
/// and those that are a smaller part of their subject.
const LEAST_WEIGHT: f64 = 0.5;

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
    /// CPU samples, of threads that ran or waited.
    Sample,
}

/// One of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffSide {
    /// How many traces.
    pub traces: u64,
    /// Their time together, in nanoseconds: from the first sample or collection to the last.
    pub duration_ns: u64,
    /// CPU samples.
    pub samples: u64,
    /// Requests.
    pub requests: u64,
    /// Events that were lost.
    pub lost: u64,
}

/// Something that is compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffRow {
    /// What it is about.
    pub subject: Subject,
    /// Method, type, exception, generation, percentile, counter; empty: all together.
    pub name: String,
    /// `ns`, `bytes`, `count`, or a counter's own unit.
    pub unit: String,
    /// Whether the values are divided: by seconds, requests or samples.
    pub is_divided: bool,
    /// The old value.
    pub old: f64,
    /// The new value.
    pub new: f64,
    /// How much the new is more than the old, in percent of the old; `None` if the old is 0.
    pub change_percent: Option<f64>,
    /// How much of its subject the change is, in percent: of all processor time, of all allocated bytes, of the value.
    pub weight_percent: f64,
    /// How probable it is that two traces of one program differ as much.
    pub chance: f64,
    /// Whether the change is beyond noise.
    pub is_significant: bool,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffReport {
    /// Version of this document.
    pub schema: u32,
    /// What sums are divided by.
    pub per: Per,
    /// The traces before.
    pub old: DiffSide,
    /// The traces after.
    pub new: DiffSide,
    /// How many changes are beyond noise: the first rows.
    pub significant: u64,
    /// What is not compared, because only one side has it.
    pub not_compared: Vec<String>,
    /// What is compared: changes beyond noise first, the heaviest first.
    pub rows: Vec<DiffRow>,
}

impl DiffReport {
    /// Compares two groups of traces.
    pub fn new(old: &[TraceFacts], new: &[TraceFacts], per: Per) -> DiffReport {
        let (before, after) = (Side::new(old, per), Side::new(new, per));
        let mut lacking = BTreeMap::new();
        let mut rows = Vec::new();
        let keys: BTreeSet<&(Subject, String)> =
            old.iter().chain(new).flat_map(|facts| facts.rows.keys()).collect();
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
        let not_compared = not_compared.collect();
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

/// One side's traces, with what their slices are divided by.
struct Side<'f> {
    facts: &'f [TraceFacts],
    /// What each slice of each trace is divided by.
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

    /// The whole value, and one for each slice.
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

    /// How many samples or events a row is made of, and what they are divided by.
    fn count(&self, key: &(Subject, String)) -> (f64, f64) {
        let count = self.facts.iter().filter_map(|facts| facts.counts.get(key)).sum();
        (count, self.divisors.iter().flatten().sum())
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
        lost: sum(|facts| facts.outcome.as_ref().map_or(0, |outcome| outcome.losses().total())),
    }
}

/// What one recording has and the other has not was not recorded in it: unlike exceptions, of which there may be none.
fn is_on_both((subject, name): &(Subject, String), old: &[TraceFacts], new: &[TraceFacts]) -> bool {
    let key = match subject {
        Subject::Method | Subject::MethodTotal | Subject::Cpu => (Subject::Cpu, String::new()),
        Subject::Type | Subject::Alloc => (Subject::Alloc, String::new()),
        Subject::Counter => (Subject::Counter, name.clone()),
        Subject::Jit | Subject::JitMethods => (Subject::Jit, String::new()),
        // There may have been none; but not if the runtime told nothing at all.
        _ => return [old, new].iter().all(|side| side.iter().any(|facts| facts.has_runtime)),
    };
    let has = |side: &[TraceFacts]| side.iter().any(|facts| facts.rows.contains_key(&key));
    has(old) && has(new)
}

/// Where a row stands among those that are beyond noise: what changed, then the sums that changed with it, then callers.
fn place(subject: Subject) -> u8 {
    match subject {
        Subject::Cpu | Subject::Alloc | Subject::Exceptions => 1,
        Subject::MethodTotal => 2,
        _ => 0,
    }
}

const COUNTERS: &str = "counters";

/// What is said to be missing, of the row that stands for its subject.
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
        _ => return None,
    })
}

fn row(key: &(Subject, String), before: &Side<'_>, after: &Side<'_>) -> DiffRow {
    let (subject, name) = key;
    let (old, new, chance) = if *subject == Subject::Counter {
        let (old, new) = (before.values(key), after.values(key));
        (mean(&old), mean(&new), welch(&old, &new))
    } else {
        let ((old, old_slices), (new, new_slices)) = (before.sums(key), after.sums(key));
        // Slices say how the program varies, counts how well it was sampled: it must be beyond both. The number of
        // pauses and of waits says nothing of how long they are.
        let by_slices = welch(&old_slices, &new_slices);
        let chance = match subject {
            Subject::GcPause | Subject::Contention | Subject::Waits | Subject::Jit => by_slices,
            _ => by_slices.max(counts(before.count(key), after.count(key))),
        };
        (old, new, chance)
    };
    let unit = match subject {
        Subject::Type | Subject::Alloc => "bytes",
        Subject::GcCount | Subject::Exception | Subject::Exceptions => "count",
        Subject::ContentionCount | Subject::JitMethods => "count",
        Subject::Counter => {
            before.units.get(name.as_str()).or_else(|| after.units.get(name.as_str())).copied().unwrap_or("")
        }
        _ => "ns",
    };
    new_row(*subject, name, unit, *subject != Subject::Counter, (old, new), chance)
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
        is_significant: false,
    }
}

/// Pauses one by one: their mean and percentiles. They differ if one side's are longer as a rule.
fn pauses(before: &Side<'_>, after: &Side<'_>) -> Vec<DiffRow> {
    let (old, new) = (before.pauses(), after.pauses());
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let chance = ranks(&old, &new);
    let percentiles = [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)];
    let mut rows = vec![new_row(Subject::GcPause, "mean", "ns", false, (mean(&old), mean(&new)), chance)];
    rows.extend(percentiles.into_iter().map(|(name, percent)| {
        let values = (percentile(&old, percent), percentile(&new, percent));
        new_row(Subject::GcPause, name, "ns", false, values, chance)
    }));
    rows
}

/// How much of its subject each change is.
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
        row.weight_percent = if whole > 0.0 { (row.new - row.old).abs() / whole * 100.0 } else { 0.0 };
    }
}

/// What is beyond noise. The more rows there are of a subject, the more of them differ by chance.
fn judge(rows: &mut [DiffRow]) {
    let mut counts: BTreeMap<Subject, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.weight_percent >= LEAST_WEIGHT) {
        *counts.entry(row.subject).or_default() += 1.0;
    }
    for row in rows {
        let count = counts.get(&row.subject).copied().unwrap_or(1.0).max(1.0);
        let is_large = row.change_percent.is_none_or(|change| change.abs() >= LEAST_CHANGE);
        row.is_significant = row.chance < CHANCE / count && is_large && row.weight_percent >= LEAST_WEIGHT;
    }
}
