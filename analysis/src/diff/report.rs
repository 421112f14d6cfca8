//! The rows of a comparison.

use super::async_names;
use super::judge::{Judged, judge};
use super::measured::{Measured, MeasuredTrace};
use super::per::Per;
use super::recorded::{CONTENTION, EXCEPTION, GC, Keywords, NamedModules, WAIT_HANDLE};
use super::stands_out::StandsOut;
use super::statistic::{Compared, compare, mean};
use super::subject::{Subject, is_percentile};
use super::verdict::verdict;
use crate::document::{SCHEMA, percentile};
use crate::sorted::SortFew;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Ratios closer to 1 than this percentage are no findings.
const THRESHOLD_PERCENT: f64 = 3.0;
/// How much the shares of samples without a name may differ between the sides.
const MOST_UNNAMED_APART: f64 = 0.2;
/// The part of a subject that stands for a value of 0, which has no logarithm: what is
/// smaller does not matter.
const LEAST_SHARE: f64 = 1e-3;
/// The same of a number of events.
const LEAST_COUNT: f64 = 0.5;

/// How traces are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DiffOptions {
    /// What sums are divided by; `None` chooses what fits the traces.
    pub per: Option<Per>,
    /// Changes of less than this percentage are no findings.
    pub threshold_percent: f64,
}

impl Default for DiffOptions {
    fn default() -> DiffOptions {
        DiffOptions { per: None, threshold_percent: THRESHOLD_PERCENT }
    }
}

impl From<Per> for DiffOptions {
    fn from(per: Per) -> DiffOptions {
        DiffOptions { per: Some(per), ..DiffOptions::default() }
    }
}

/// One side of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffSide {
    /// Number of traces.
    pub traces: u64,
    /// Number of values of a row: of traces, or of iterations of the only trace.
    pub runs: u64,
    /// Their total time in nanoseconds: from the first sample or collection to the last; of
    /// a benchmark, the time of its measured iterations.
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

/// One compared value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffRow {
    /// Its subject.
    pub subject: Subject,
    /// Method, type, exception, generation, path, percentile or counter; empty for the
    /// total.
    pub name: String,
    /// The same in words.
    pub what: String,
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
    /// The same by trying all ways of dividing the runs between the sides; `None` with
    /// fewer than five runs on a side.
    pub chance_of_permutations: Option<f64>,
    /// The smallest change in percent that these runs would have shown. `None` with one run
    /// on a side.
    pub detectable_percent: Option<f64>,
    /// Whether it is a finding: beyond what runs of one program differ or, with one run on a
    /// side, large by experience.
    pub is_significant: bool,
    /// Why the values cannot be judged.
    pub doubt: Option<String>,
    /// As `is_significant`, but for the rows, too, that only repeat a finding: percentiles
    /// of the same pauses.
    #[serde(skip)]
    pub(super) is_changed: bool,
    #[serde(skip)]
    pub(super) compared: Option<Compared>,
    /// Number of samples or events, old and new.
    #[serde(skip)]
    pub(super) counts: [f64; 2],
    /// Whether half of one side's value is from a quarter of its time.
    #[serde(skip)]
    pub(super) is_bursty: bool,
}

/// The changes between two groups of traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffReport {
    /// Version of this document.
    pub schema: u32,
    /// The result in one sentence.
    pub verdict: String,
    /// What sums are divided by.
    pub per: Per,
    /// Why.
    pub per_reason: String,
    /// The old traces.
    pub old: DiffSide,
    /// The new traces.
    pub new: DiffSide,
    /// Number of findings, which are the first rows.
    pub significant: u64,
    /// The smallest change in percent that these runs would have shown in a method that
    /// matters, or in all running time. `None` with one run on a side.
    pub detectable_percent: Option<f64>,
    /// Values that are not compared, because only one side has them.
    pub not_compared: Vec<String>,
    /// What else limits the comparison.
    pub notes: Vec<String>,
    /// What stands out on one side only.
    pub stands_out: StandsOut,
    /// All compared values: findings first, those with the highest weight first.
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
        let all: Vec<&MeasuredTrace> = old.iter().chain(new).collect();
        let (per, reason) = match options.per {
            Some(per) => (per, "asked for"),
            None => Per::fitting(&all),
        };
        let unnamed = NamedModules::of(old.iter().map(|trace| &trace.names));
        let unnamed_new = NamedModules::of(new.iter().map(|trace| &trace.names));
        let merged: BTreeSet<&str> = unnamed.named_on_one_side(&unnamed_new).into_iter().collect();
        let (before, after) = (Side::new(old, per, &merged), Side::new(new, per, &merged));
        let without_names = without_names(&unnamed, &unnamed_new);
        let (mut rows, mut not_compared) = rows(&before, &after, without_names.is_some());
        not_compared.extend(without_names.map(|side| {
            format!("CPU samples: methods have no names in {side}, so threads that wait look busy")
        }));
        if without_names.is_none() {
            not_compared.extend(merged.iter().take(5).map(|module| {
                format!("methods of {module}: they have names on one side only, so the module is one row")
            }));
        }
        rows.extend(pauses(&before, &after));
        weigh(&mut rows);
        let Judged { detectable_percent, notes } =
            judge(&mut rows, [&before, &after], options.threshold_percent);
        rows.sort_few_by(|one, other| {
            let order = |row: &DiffRow| (!row.is_significant, place(row.subject));
            order(one)
                .cmp(&order(other))
                .then_with(|| other.weight_percent.total_cmp(&one.weight_percent))
                .then_with(|| (one.subject, &one.name).cmp(&(other.subject, &other.name)))
        });
        let significant = rows.iter().filter(|row| row.is_significant).count() as u64;
        let mut report = DiffReport {
            schema: SCHEMA,
            verdict: String::new(),
            per,
            per_reason: reason.to_owned(),
            old: before.about(),
            new: after.about(),
            significant,
            detectable_percent,
            not_compared,
            notes,
            stands_out: StandsOut::new([old, new], &|subject| {
                is_on_both(&(subject, String::new()), &before, &after)
            }),
            rows,
        };
        report.verdict = verdict(&report);
        report
    }
}

impl DiffReport {
    /// Why nobody should rely on this comparison: there is nothing to compare, or one side has
    /// no CPU samples, or none with names.
    pub fn missing(&self) -> Option<String> {
        if self.rows.is_empty() {
            return Some("nothing could be compared".to_owned());
        }
        self.not_compared.iter().find(|text| text.starts_with(CPU_SAMPLES)).cloned()
    }

    /// Why there is no row of a subject.
    pub(super) fn why_not(&self, subject: Subject) -> Option<&str> {
        let (key, _) = recorded_by(&(subject, String::new()));
        let name = whole_name(&key)?;
        let is_of =
            |text: &&String| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
        self.not_compared.iter().find(is_of).map(String::as_str)
    }
}

type Key = (Subject, String);

/// The traces of one side, and their divisors.
pub(super) struct Side<'f> {
    pub(super) traces: &'f [MeasuredTrace],
    /// Rows of methods whose modules are unnamed on one side are one row a module.
    rows: Vec<Cow<'f, BTreeMap<Key, Measured>>>,
    per: Per,
    units: BTreeMap<&'f str, &'f str>,
    keywords: Keywords,
}

impl<'f> Side<'f> {
    fn new(traces: &'f [MeasuredTrace], per: Per, merged: &BTreeSet<&str>) -> Side<'f> {
        let units = traces.iter().flat_map(|trace| &trace.units);
        Side {
            traces,
            rows: traces.iter().map(|trace| merged_rows(trace, merged)).collect(),
            per,
            units: units.map(|(name, unit)| (name.as_str(), unit.as_str())).collect(),
            keywords: Keywords::of(traces.iter().map(|trace| &trace.keywords)),
        }
    }

    fn about(&self) -> DiffSide {
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

    /// The iterations of the only trace are its runs.
    fn iterations(&self) -> Option<&'f MeasuredTrace> {
        match self.traces {
            [one] if self.per == Per::Operation => Some(one),
            _ => None,
        }
    }

    /// Whether the runs of both sides are iterations in one process each.
    pub(super) fn has_iterations(&self) -> bool {
        self.iterations().is_some()
    }

    pub(super) fn runs(&self) -> usize {
        self.iterations().map_or(self.traces.len(), |trace| trace.operations_of.len())
    }

    pub(super) fn divisor(&self) -> f64 {
        self.traces.iter().map(|trace| self.per.divisor(trace)).sum()
    }

    fn has(&self, key: &Key) -> bool {
        self.rows.iter().any(|rows| rows.contains_key(key))
    }

    /// The total, divided.
    pub(super) fn total(&self, key: &Key) -> f64 {
        let sums = self.rows.iter().filter_map(|rows| match rows.get(key) {
            Some(Measured::Sums(sums)) => Some(sums.iter().sum::<f64>()),
            _ => None,
        });
        // The sum of no numbers is -0.0.
        let (sum, divisor): (f64, f64) = (0.0 + sums.sum::<f64>(), self.divisor());
        if divisor > 0.0 { sum / divisor } else { 0.0 }
    }

    /// One value for each run that has one.
    fn by_run(&self, key: &Key, is_sum: bool) -> Vec<f64> {
        if let (Some(trace), Some(rows), true) = (self.iterations(), self.rows.first(), is_sum) {
            let sums = match rows.get(key) {
                Some(Measured::Sums(sums)) => sums.as_slice(),
                _ => &[],
            };
            let operations = trace.operations_of.iter().enumerate();
            let value = |(at, by): (usize, &f64)| sums.get(at).copied().unwrap_or(0.0) / by;
            return operations.map(value).collect();
        }
        let value = |(trace, rows): (&MeasuredTrace, &Cow<'_, BTreeMap<Key, Measured>>)| match rows
            .get(key)
        {
            Some(Measured::Values(values)) => Some(mean(values)),
            None if matches!(key.0, Subject::OpenWaits | Subject::Deadlocks) => Some(0.0),
            None if !is_sum => None,
            measured => {
                let divisor = self.per.divisor(trace);
                let sum = match measured {
                    Some(Measured::Sums(sums)) => sums.iter().sum(),
                    _ => 0.0,
                };
                (divisor > 0.0).then(|| sum / divisor)
            }
        };
        self.traces.iter().zip(&self.rows).filter_map(value).collect()
    }

    /// Number of samples or events of a row.
    fn count(&self, key: &Key) -> f64 {
        self.traces.iter().filter_map(|trace| trace.counts.get(key)).sum()
    }

    /// Whether half of a value is from a quarter of the time.
    fn is_bursty(&self, key: &Key) -> bool {
        let is_burst = |rows: &Cow<'_, BTreeMap<Key, Measured>>| match rows.get(key) {
            Some(Measured::Sums(sums)) if sums.len() >= 8 => {
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

/// The rows of a trace, those of methods of `merged` modules together.
fn merged_rows<'f>(
    trace: &'f MeasuredTrace,
    merged: &BTreeSet<&str>,
) -> Cow<'f, BTreeMap<Key, Measured>> {
    if merged.is_empty() {
        return Cow::Borrowed(&trace.rows);
    }
    let mut rows: BTreeMap<Key, Measured> = BTreeMap::new();
    for ((subject, name), measured) in &trace.rows {
        let module = match subject {
            Subject::Method | Subject::MethodTotal => trace.modules.get(name),
            _ => None,
        };
        // The rows of a module's methods, and one that is the module's already.
        let is_merged = |name: &&String| merged.contains(name.as_str());
        let own = Some(name).filter(|_| matches!(subject, Subject::Method | Subject::MethodTotal));
        let module = module.filter(is_merged).or(own.filter(is_merged));
        match (subject, module, measured) {
            // What a module takes in total is not the sum over its methods.
            (Subject::MethodTotal, Some(_), _) => {}
            (_, Some(module), Measured::Sums(sums)) => {
                let key = (*subject, module.clone());
                let row = rows.entry(key).or_insert_with(|| Measured::Sums(vec![0.0; sums.len()]));
                if let Measured::Sums(all) = row {
                    all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
                }
            }
            _ => {
                rows.insert((*subject, name.clone()), measured.clone());
            }
        }
    }
    Cow::Owned(rows)
}

/// All rows that both sides have, and what is not compared.
fn rows(
    before: &Side<'_>,
    after: &Side<'_>,
    is_without_names: bool,
) -> (Vec<DiffRow>, Vec<String>) {
    let all = before.rows.iter().chain(&after.rows);
    let mut keys: BTreeSet<&Key> = all.flat_map(|rows| rows.keys()).collect();
    if is_without_names {
        // Threads that wait count as running then, and all these would seem to have grown.
        keys.retain(|(subject, _)| {
            !matches!(subject, Subject::Cpu | Subject::Method | Subject::MethodTotal)
        });
    }
    let mut lacking = BTreeMap::new();
    let mut rows = Vec::new();
    for key in keys {
        if is_on_both(key, before, after) {
            rows.push(row(key, before, after));
        } else if let Some(name) = whole_name(key) {
            let count = lacking.entry((name, before.has(key))).or_insert(0_u64);
            *count = count.saturating_add(1);
        }
    }
    let not_compared = lacking.into_iter().map(|((name, is_old), count)| {
        let side = if is_old { "OLD" } else { "NEW" };
        if name == COUNTERS {
            format!("{count} {name}: only in {side}")
        } else {
            format!("{name}: only in {side}")
        }
    });
    (rows, not_compared.collect())
}

/// The side whose methods have no names while those of the other side have: it was
/// recorded without rundown, or its process was killed. Which threads wait is seen by
/// names, so each sample of this side counts as running.
fn without_names(old: &NamedModules, new: &NamedModules) -> Option<&'static str> {
    match new.unnamed_share() - old.unnamed_share() {
        more if more > MOST_UNNAMED_APART => Some("NEW"),
        more if more < -MOST_UNNAMED_APART => Some("OLD"),
        _ => None,
    }
}

/// The row that a side has if it recorded what another row is about, and the keyword of the
/// events for it, of which there may be none.
fn recorded_by((subject, name): &Key) -> (Key, Option<u64>) {
    let none = String::new;
    match subject {
        Subject::Method | Subject::MethodTotal | Subject::Cpu => ((Subject::Cpu, none()), None),
        Subject::Type | Subject::Alloc => ((Subject::Alloc, none()), None),
        Subject::Counter | Subject::Startup => ((*subject, name.clone()), None),
        Subject::Jit | Subject::JitMethods => ((Subject::Jit, none()), None),
        Subject::Elapsed | Subject::PoolThreads => ((*subject, none()), None),
        Subject::RequestPath | Subject::SqlStatement if is_percentile(name) => {
            ((*subject, name.clone()), None)
        }
        Subject::Requests | Subject::RequestPath => ((Subject::Requests, "count".to_owned()), None),
        Subject::Sql | Subject::SqlStatement => ((Subject::Sql, String::new()), None),
        Subject::GcCount | Subject::GcPause => ((Subject::GcCount, none()), Some(GC)),
        Subject::Exception | Subject::Exceptions => {
            ((Subject::Exceptions, none()), Some(EXCEPTION))
        }
        Subject::Contention | Subject::ContentionCount => {
            ((Subject::Contention, none()), Some(CONTENTION))
        }
        Subject::Waits => ((Subject::Waits, none()), Some(WAIT_HANDLE)),
        Subject::OpenWaits => ((*subject, none()), Some(WAIT_HANDLE)),
        Subject::Deadlocks => ((*subject, none()), Some(CONTENTION)),
    }
}

/// Whether both sides recorded what a row is about. One that has none of it may have had
/// none.
fn is_on_both(key: &Key, old: &Side<'_>, new: &Side<'_>) -> bool {
    let (key, keyword) = recorded_by(key);
    let has = |side: &Side<'_>, other: &Side<'_>| {
        let has_runtime = || side.traces.iter().any(|trace| trace.has_runtime);
        let recorded =
            |keyword| has_runtime() && side.keywords.has_recorded(keyword, &other.keywords);
        side.has(&key) || keyword.is_some_and(recorded)
    };
    has(old, new) && has(new, old)
}

/// Position of a row among the findings: causes first, then sums that changed with them,
/// then callers.
fn place(subject: Subject) -> u8 {
    match subject {
        Subject::Elapsed | Subject::Cpu | Subject::Alloc | Subject::Exceptions => 1,
        Subject::MethodTotal => 2,
        _ => 0,
    }
}

const COUNTERS: &str = "counters";
const CPU_SAMPLES: &str = "CPU samples";

/// What is reported as missing, for the row that represents its subject.
fn whole_name((subject, name): &Key) -> Option<&'static str> {
    Some(match subject {
        Subject::Counter => COUNTERS,
        Subject::Elapsed => "the time of whole runs",
        Subject::Cpu => CPU_SAMPLES,
        Subject::Alloc => "allocations",
        Subject::Jit => "compiled methods",
        Subject::GcCount if name.is_empty() => "collections",
        Subject::Exceptions => "exceptions",
        Subject::Contention if name.is_empty() => "waits for locks",
        Subject::Waits if name.is_empty() => "waits",
        Subject::Requests if name == "count" => "HTTP requests",
        Subject::Sql => "SQL commands",
        Subject::PoolThreads => "the thread pool",
        Subject::Startup if name.as_str() == "program" => "the start of the process",
        _ => return None,
    })
}

fn row(key: &Key, before: &Side<'_>, after: &Side<'_>) -> DiffRow {
    let (subject, name) = key;
    let is_sum = subject.is_sum(name);
    let runs = [before, after].map(|side| side.by_run(key, is_sum));
    let [old, new] = if is_sum {
        [before, after].map(|side| side.total(key))
    } else {
        runs.each_ref().map(|runs| mean(runs))
    };
    let unit = subject.unit(name).unwrap_or_else(|| {
        let units = before.units.get(name.as_str()).or_else(|| after.units.get(name.as_str()));
        units.copied().unwrap_or_default()
    });
    let is_bursty = is_sum && (before.is_bursty(key) || after.is_bursty(key));
    let least = least(*subject, before, after);
    let counts = [before.count(key), after.count(key)];
    DiffRow { is_bursty, ..new_row(key, unit, is_sum, (old, new), &runs, least, counts) }
}

/// What stands for a value of 0.
fn least(subject: Subject, before: &Side<'_>, after: &Side<'_>) -> f64 {
    let whole = match subject {
        Subject::Method | Subject::MethodTotal => Subject::Cpu,
        Subject::Type => Subject::Alloc,
        Subject::Contention | Subject::Waits | Subject::GcPause => subject,
        _ => {
            let divisor = before.divisor().max(after.divisor()).max(1.0);
            return LEAST_COUNT / divisor;
        }
    };
    let key = (whole, String::new());
    before.total(&key).max(after.total(&key)) * LEAST_SHARE
}

fn new_row(
    (subject, name): &Key,
    unit: &str,
    is_divided: bool,
    (old, new): (f64, f64),
    runs: &[Vec<f64>; 2],
    least: f64,
    counts: [f64; 2],
) -> DiffRow {
    let [old_runs, new_runs] = runs;
    let is_exact = is_divided && unit == "count";
    let all_runs = old_runs.len().saturating_add(new_runs.len()).max(1) as f64;
    let usual = subject.usual_spread(name, counts.iter().sum::<f64>() / all_runs);
    let compared = compare(old_runs, new_runs, least, usual, is_exact);
    let ratio = (old > 0.0).then(|| new / old);
    DiffRow {
        subject: *subject,
        name: name.clone(),
        what: subject.in_words(name),
        unit: unit.to_owned(),
        is_divided,
        old,
        new,
        change_percent: (old != 0.0).then(|| (new - old) / old.abs() * 100.0),
        weight_percent: 0.0,
        ratio: compared.map(|compared| compared.ratio).filter(|_| old > 0.0).or(ratio),
        interval: compared.map(|compared| compared.interval()),
        runs: [old_runs.len() as u64, new_runs.len() as u64],
        chance: compared.map(|compared| compared.chance),
        chance_of_permutations: compared.and_then(|compared| compared.chance_of_permutations),
        detectable_percent: None,
        is_significant: false,
        doubt: None,
        is_changed: false,
        compared,
        counts,
        is_bursty: false,
    }
}

/// Individual pauses: their mean and percentiles.
fn pauses(before: &Side<'_>, after: &Side<'_>) -> Vec<DiffRow> {
    let all = |side: &Side<'_>| -> Vec<f64> {
        side.traces.iter().flat_map(|trace| &trace.pauses).copied().collect()
    };
    let (old, new) = (all(before), all(after));
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let row = |name: &str, value: &dyn Fn(&[f64]) -> f64| {
        let runs = [before, after].map(|side| -> Vec<f64> {
            let pauses = side.traces.iter().map(|trace| trace.pauses.as_slice());
            pauses.filter(|pauses| !pauses.is_empty()).map(value).collect()
        });
        let key = (Subject::GcPause, name.to_owned());
        let values = (value(&old), value(&new));
        new_row(&key, "ns", false, values, &runs, 1.0, [old.len() as f64, new.len() as f64])
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
    let wholes =
        [Subject::Cpu, Subject::Alloc, Subject::Exceptions, Subject::Contention, Subject::Waits]
            .map(|subject| (subject, whole(subject, rows)));
    for row in rows {
        let of = row.subject.whole();
        let own = row.old.abs().max(row.new.abs());
        let whole =
            wholes.iter().find(|(subject, _)| *subject == of).map_or(own, |(_, whole)| *whole);
        row.weight_percent =
            if whole > 0.0 { (row.new - row.old).abs() / whole * 100.0 } else { 0.0 };
    }
}
