//! Which differences are findings.
//!
//! With two runs or more on each side: those that runs of one program would not show in
//! more than one of twenty comparisons, all rows of all subjects together (Holm within a
//! [`Family`], Bonferroni over the families). With one run: those that are large by
//! experience, as nothing is known about how runs differ.

use super::cut::NO_NAME;
use super::report::{DiffRow, Side};
use super::subject::{Family, Subject};
use std::collections::BTreeMap;

/// The share of comparisons of a program with itself that may have a finding.
const CHANCE: f64 = 0.05;
/// Changes of a smaller percentage of their subject are no findings.
const LEAST_WEIGHT: f64 = 0.5;
/// Rows that are a smaller percentage of their subject on both sides are not judged.
const LEAST_SHARE: f64 = 1.0;
/// The same of waits in one method.
const LEAST_SHARE_OF_WAITS: f64 = 5.0;
/// Of paths and statements with fewer requests or commands nothing is said.
const FEWEST_REQUESTS: f64 = 20.0;
/// The fewest values of a counter that are a sample.
const FEWEST_VALUES: f64 = 5.0;
/// Rows of this share of the running time are those of which users ask what would have
/// been seen.
const SHARE_THAT_MATTERS: f64 = 5.0;

/// Changes of a smaller percentage are not noted for bursts.
const BURST_THAT_MATTERS: f64 = 20.0;

/// The results for the whole comparison.
pub(super) struct Judged {
    pub(super) detectable_percent: Option<f64>,
    pub(super) notes: Vec<String>,
}

/// Decides which rows are findings.
pub(super) fn judge(rows: &mut [DiffRow], sides: [&Side<'_>; 2], threshold_percent: f64) -> Judged {
    let wholes = Wholes::of(rows);
    for row in &mut *rows {
        row.doubt = doubt(row, sides);
    }
    let has_runs = sides.iter().all(|side| side.runs() >= 2);
    let detectable_percent = if has_runs {
        judge_runs(rows, &wholes, threshold_percent)
    } else {
        for row in &mut *rows {
            row.is_changed = is_large(row, &wholes);
        }
        None
    };
    if sides.iter().any(|side| side.has_iterations()) {
        // How long pauses and waits are, differs from process to process; iterations in one
        // process do not show that.
        for row in &mut *rows {
            row.is_changed &= match row.subject {
                Subject::GcPause | Subject::Contention | Subject::Waits => is_large(row, &wholes),
                _ => true,
            };
        }
    }
    one_finding_each(rows);
    Judged { detectable_percent, notes: notes(rows, has_runs) }
}

/// The values of which rows are a share.
struct Wholes(BTreeMap<Subject, f64>);

impl Wholes {
    fn of(rows: &[DiffRow]) -> Wholes {
        let totals = rows.iter().filter(|row| row.name.is_empty());
        Wholes(totals.map(|row| (row.subject, row.old.max(row.new))).collect())
    }

    /// What percentage of its subject a row is.
    fn share(&self, row: &DiffRow) -> f64 {
        let whole = self.0.get(&row.subject.whole()).copied().unwrap_or(0.0);
        if whole > 0.0 { row.old.max(row.new) / whole * 100.0 } else { 100.0 }
    }

    /// Whether a row is worth naming.
    fn matters(&self, row: &DiffRow) -> bool {
        let least = match row.subject {
            Subject::RequestPath | Subject::SqlStatement => {
                return row.counts.iter().any(|count| *count >= FEWEST_REQUESTS);
            }
            Subject::Contention | Subject::Waits if !row.name.is_empty() => LEAST_SHARE_OF_WAITS,
            Subject::Method | Subject::MethodTotal if row.name == NO_NAME => return false,
            Subject::Method | Subject::MethodTotal | Subject::Type | Subject::Exception => {
                LEAST_SHARE
            }
            _ => return true,
        };
        self.share(row) >= least
    }
}

fn is_large_enough(row: &DiffRow, threshold_percent: f64) -> bool {
    let ratio = row.ratio.unwrap_or(f64::INFINITY);
    let threshold = 1.0 + threshold_percent / 100.0;
    row.weight_percent >= LEAST_WEIGHT && (ratio >= threshold || ratio <= 1.0 / threshold)
}

/// Several runs on each side. Returns the smallest change that would have been seen.
fn judge_runs(rows: &mut [DiffRow], wholes: &Wholes, threshold_percent: f64) -> Option<f64> {
    let mut families: BTreeMap<Family, Vec<(f64, usize)>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(compared) = row.compared.filter(|_| wholes.matters(row)) {
            families.entry(row.subject.family()).or_default().push((compared.chance, at));
        }
    }
    // Rows that are equal in all runs ask no question.
    families.retain(|_, rows| rows.iter().any(|(chance, _)| *chance < 1.0));
    let each = CHANCE / families.len().max(1) as f64;
    for of_family in families.values_mut() {
        of_family.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut left = of_family.len();
        for (chance, at) in of_family.iter() {
            if *chance * left as f64 >= each {
                break;
            }
            left = left.saturating_sub(1);
            if let Some(row) = rows.get_mut(*at) {
                let is_chance = row.chance_of_permutations.is_some_and(|chance| chance >= CHANCE);
                row.is_changed =
                    !is_chance && row.doubt.is_none() && is_large_enough(row, threshold_percent);
            }
        }
    }
    let mut detectable = Vec::new();
    for row in &mut *rows {
        let Some(compared) = row.compared else { continue };
        let percent = (compared.detectable(each) - 1.0) * 100.0;
        row.detectable_percent = Some(percent.max(threshold_percent)).filter(|it| it.is_finite());
        let is_asked_for = match row.subject {
            Subject::Method => wholes.share(row) >= SHARE_THAT_MATTERS,
            Subject::Cpu | Subject::Elapsed => true,
            _ => false,
        };
        detectable.extend(row.detectable_percent.filter(|_| is_asked_for));
    }
    if detectable.is_empty() {
        detectable.extend(rows.iter().filter_map(|row| row.detectable_percent));
    }
    detectable.sort_by(f64::total_cmp);
    detectable.get(detectable.len().checked_div(2)?).copied()
}

/// Whether a difference between one run on each side is large by experience.
fn is_large(row: &DiffRow, wholes: &Wholes) -> bool {
    let large = row.subject.large();
    let (least, most) = (row.old.min(row.new), row.old.max(row.new));
    let [old, new] = row.counts;
    // A mean of few values is no sample, whatever the other side has.
    let count = if row.subject == Subject::Counter { old.min(new) } else { old.max(new) };
    most > 0.0
        && most >= least * large.ratio
        && row.weight_percent >= large.weight_percent.max(LEAST_WEIGHT)
        && count >= large.count
        && row.doubt.is_none()
        && !row.is_bursty
        && wholes.matters(row)
}

/// A row that only repeats a finding is not one: percentiles of the same pauses, generations that grew
/// with all collections, callers that take longer by what they call, as long as a method
/// itself is named.
fn one_finding_each(rows: &mut [DiffRow]) {
    let is_changed = |subject: Subject, rows: &[DiffRow]| {
        rows.iter().any(|row| row.subject == subject && row.name.is_empty() && row.is_changed)
    };
    let all_collections = is_changed(Subject::GcCount, rows);
    let best_pause = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.subject == Subject::GcPause && row.is_changed)
        .min_by(|(_, one), (_, other)| {
            let chance = |row: &DiffRow| row.chance.unwrap_or(0.0);
            chance(one)
                .total_cmp(&chance(other))
                .then(other.weight_percent.total_cmp(&one.weight_percent))
        })
        .map(|(at, _)| at);
    let has_method = rows.iter().any(|row| row.subject == Subject::Method && row.is_changed);
    for (at, row) in rows.iter_mut().enumerate() {
        let is_repeated = match row.subject {
            Subject::GcPause => best_pause != Some(at),
            Subject::GcCount => all_collections && !row.name.is_empty(),
            Subject::MethodTotal => has_method,
            _ => false,
        };
        row.is_significant = row.is_changed && !is_repeated;
    }
}

/// Why a row cannot be judged.
fn doubt(row: &DiffRow, sides: [&Side<'_>; 2]) -> Option<String> {
    let [old, new] = sides;
    if row.subject == Subject::Counter && row.counts.iter().any(|count| *count < FEWEST_VALUES) {
        return Some("fewer than 5 values are no sample".to_owned());
    }
    // Where one side has a method and the other has none, but has frames without a name.
    if matches!(row.subject, Subject::Method | Subject::MethodTotal) && row.name != NO_NAME {
        let unnamed = |side: &Side<'_>| side.total(&(Subject::Method, NO_NAME.to_owned()));
        let hidden = |name: &str, value: f64, theirs: f64, side: &Side<'_>| {
            (value == 0.0 && theirs > 0.0 && unnamed(side) >= theirs / 2.0)
                .then(|| format!("it may be among the frames of {name} that have no name"))
        };
        if let Some(text) =
            hidden("OLD", row.old, row.new, old).or(hidden("NEW", row.new, row.old, new))
        {
            return Some(text);
        }
    }
    // A side may have had as many events more as it lost.
    let may_be_lost = |side: &Side<'_>, other: &Side<'_>, own: f64, theirs: f64| {
        let expected = theirs * side.divisor() / other.divisor().max(f64::MIN_POSITIVE);
        let lacking = expected - own;
        lacking > 0.0 && lacking <= side.lost() as f64
    };
    let [old_count, new_count] = row.counts;
    for (name, side, other, own, theirs) in
        [("OLD", old, new, old_count, new_count), ("NEW", new, old, new_count, old_count)]
    {
        if row.is_divided && may_be_lost(side, other, own, theirs) {
            return Some(format!(
                "{} events were lost in {name}, which may explain it",
                side.lost()
            ));
        }
    }
    None
}

/// What limits the comparison.
fn notes(rows: &[DiffRow], has_runs: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let lost = rows.iter().find_map(|row| row.doubt.as_ref().filter(|text| text.contains("lost")));
    let doubted =
        rows.iter().filter(|row| row.doubt.is_some() && row.weight_percent >= 5.0).count();
    if let Some(lost) = lost.filter(|_| doubted > 0) {
        notes.push(format!("{lost}: {doubted} rows are not judged"));
    }
    let bursty = rows.iter().find(|row| row.subject == Subject::Cpu && row.is_bursty);
    if bursty.is_some() {
        notes.push(
            "the load is uneven: half of the running time is in a quarter of a trace".to_owned(),
        );
    }
    if !has_runs {
        let is_burst = |row: &&DiffRow| {
            row.is_bursty && row.name.is_empty() && row.weight_percent >= BURST_THAT_MATTERS
        };
        for row in rows.iter().filter(is_burst) {
            notes.push(format!("{}: too bursty to judge from one trace each", row.what));
        }
    }
    notes
}
