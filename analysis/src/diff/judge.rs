//! Decides which differences are findings.
//!
//! With two runs or more on each side, findings are differences that runs of one program show in at
//! most one of twenty comparisons. All rows of all subjects are corrected together (Holm within a
//! [`RowFamily`], Bonferroni over the families). With one run on a side nothing is known about how
//! runs differ, so findings are differences that are large by experience.

use super::row::Candidate;
use super::side::SideTraces;
use super::subject::RowFamily;
use crate::fact::comparison::{DiffKey, DiffNote, Doubt, OldOrNew, Subject};
use std::collections::BTreeMap;

/// Maximum share of comparisons of a program with itself that have a finding.
const MAX_CHANCE: f64 = 0.05;
/// Minimum change of a finding, in percent of its subject's total.
const MIN_WEIGHT: f64 = 0.5;
/// Minimum value of a row to be judged, on the larger side, in percent of its subject's total.
const MIN_SHARE: f64 = 1.0;
/// Minimum percentage of all waiting time for waits in one method to be judged.
const MIN_SHARE_OF_WAITS: f64 = 5.0;
/// Minimum number of requests of a path, or of commands of a statement, to be judged.
const MIN_REQUESTS: f64 = 20.0;
/// Minimum number of values of a counter to be judged.
const MIN_VALUES: u32 = 5;
/// Minimum percentage of the running time for a method to take part in the smallest change that
/// would have been detected.
const MIN_SHARE_THAT_MATTERS: f64 = 5.0;
/// Minimum change of a bursty row that a note mentions, in percent of its subject's total.
const MIN_WEIGHT_OF_BURSTS: f64 = 20.0;
/// Minimum change of a doubted row that a note counts, in percent of its subject's total.
const MIN_WEIGHT_OF_DOUBTS: f64 = 5.0;

/// The results for the whole comparison.
pub(super) struct Judged {
    pub(super) detectable_percent: Option<f64>,
    pub(super) notes: Vec<DiffNote>,
}

/// Decides which rows are findings.
pub(super) fn judge(
    rows: &mut [Candidate],
    sides: [&SideTraces<'_>; 2],
    threshold_percent: f64,
) -> Judged {
    let wholes = Wholes::new(rows);
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
        // Lengths of pauses and waits differ between processes, which iterations in one process do
        // not show.
        for row in &mut *rows {
            row.is_changed &= match row.key.subject {
                Subject::GcPause | Subject::Contention | Subject::Waits => is_large(row, &wholes),
                _ => true,
            };
        }
    }
    one_finding_each(rows);
    Judged { detectable_percent, notes: notes(rows, has_runs) }
}

/// Total of each subject, on its larger side.
struct Wholes(BTreeMap<Subject, f64>);

impl Wholes {
    fn new(rows: &[Candidate]) -> Wholes {
        let totals = rows.iter().filter(|row| row.key.is_total());
        Wholes(totals.map(|row| (row.key.subject, row.old.max(row.new))).collect())
    }

    /// Returns the value of a row in percent of its subject's total.
    fn share(&self, row: &Candidate) -> f64 {
        let whole = self.0.get(&row.key.subject.whole()).copied().unwrap_or(0.0);
        if whole > 0.0 { row.old.max(row.new) / whole * 100.0 } else { 100.0 }
    }

    /// Returns whether a row is large enough to be judged.
    fn matters(&self, row: &Candidate) -> bool {
        let min_share = match row.key.subject {
            Subject::RequestPath | Subject::SqlStatement => {
                return row.counts.iter().any(|count| *count >= MIN_REQUESTS);
            }
            Subject::Contention | Subject::Waits if !row.key.is_total() => MIN_SHARE_OF_WAITS,
            Subject::Method | Subject::MethodTotal if row.key.is_unnamed() => return false,
            Subject::Method | Subject::MethodTotal | Subject::Type | Subject::Exception => {
                MIN_SHARE
            }
            _ => return true,
        };
        self.share(row) >= min_share
    }
}

fn is_large_enough(row: &Candidate, threshold_percent: f64) -> bool {
    let ratio = row.ratio().unwrap_or(f64::INFINITY);
    let threshold = 1.0 + threshold_percent / 100.0;
    row.weight_percent >= MIN_WEIGHT && (ratio >= threshold || ratio <= 1.0 / threshold)
}

/// Marks the rows that changed, with several runs on each side. Returns the smallest change that
/// would have been detected, in percent.
fn judge_runs(rows: &mut [Candidate], wholes: &Wholes, threshold_percent: f64) -> Option<f64> {
    let mut families: BTreeMap<RowFamily, Vec<(f64, usize)>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(compared) = row.compared.filter(|_| wholes.matters(row)) {
            families.entry(row.key.subject.family()).or_default().push((compared.chance, at));
        }
    }
    // A family whose rows are equal in all runs is not tested, so chances are not corrected for it.
    families.retain(|_, rows| rows.iter().any(|(chance, _)| *chance < 1.0));
    let each = MAX_CHANCE / families.len().max(1) as f64;
    for of_family in families.values_mut() {
        of_family.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut left = of_family.len();
        for (chance, at) in of_family.iter() {
            if *chance * left as f64 >= each {
                break;
            }
            left = left.saturating_sub(1);
            if let Some(row) = rows.get_mut(*at) {
                let of_permutations = row.compared.and_then(|it| it.chance_of_permutations);
                let is_chance = of_permutations.is_some_and(|chance| chance >= MAX_CHANCE);
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
        let matters = match row.key.subject {
            Subject::Method => wholes.share(row) >= MIN_SHARE_THAT_MATTERS,
            Subject::Cpu | Subject::Elapsed => true,
            _ => false,
        };
        detectable.extend(row.detectable_percent.filter(|_| matters));
    }
    if detectable.is_empty() {
        detectable.extend(rows.iter().filter_map(|row| row.detectable_percent));
    }
    detectable.sort_by(f64::total_cmp);
    detectable.get(detectable.len().checked_div(2)?).copied()
}

/// Returns whether a difference between one run on each side is large by experience.
fn is_large(row: &Candidate, wholes: &Wholes) -> bool {
    let large = row.key.subject.large();
    let (least, most) = (row.old.min(row.new), row.old.max(row.new));
    let [old, new] = row.counts;
    // The mean of a counter needs enough values on both sides. A sum may be 0 on one side.
    let count = if row.key.subject == Subject::Counter { old.min(new) } else { old.max(new) };
    most > 0.0
        && most >= least * large.ratio
        && row.weight_percent >= large.weight_percent.max(MIN_WEIGHT)
        && count >= large.count
        && row.doubt.is_none()
        && !row.is_bursty
        && wholes.matters(row)
}

/// Marks as findings the rows that changed, except rows that repeat another finding: other
/// statistics of the same pauses, single generations if all collections changed, and callers if a
/// method itself changed.
fn one_finding_each(rows: &mut [Candidate]) {
    let is_changed = |subject: Subject, rows: &[Candidate]| {
        rows.iter().any(|row| row.key.subject == subject && row.key.is_total() && row.is_changed)
    };
    let all_collections = is_changed(Subject::GcCount, rows);
    let best_pause = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.key.subject == Subject::GcPause && row.is_changed)
        .min_by(|(_, one), (_, other)| {
            let chance = |row: &Candidate| row.compared.map_or(0.0, |compared| compared.chance);
            chance(one)
                .total_cmp(&chance(other))
                .then(other.weight_percent.total_cmp(&one.weight_percent))
        })
        .map(|(at, _)| at);
    let has_method = rows.iter().any(|row| row.key.subject == Subject::Method && row.is_changed);
    for (at, row) in rows.iter_mut().enumerate() {
        let is_repeated = match row.key.subject {
            Subject::GcPause => best_pause != Some(at),
            Subject::GcCount => all_collections && !row.key.is_total(),
            Subject::MethodTotal => has_method,
            _ => false,
        };
        row.is_significant = row.is_changed && !is_repeated;
    }
}

/// Returns the reason for which a row cannot be judged.
fn doubt(row: &Candidate, sides: [&SideTraces<'_>; 2]) -> Option<Doubt> {
    let is_few = |count: &f64| *count < f64::from(MIN_VALUES);
    if row.key.subject == Subject::Counter && row.counts.iter().any(is_few) {
        return Some(Doubt::FewValues { min_values: MIN_VALUES.into() });
    }
    let ([old, new], [old_count, new_count]) = (sides, row.counts);
    let sides = [
        (OldOrNew::Old, old, (row.old, old_count), new, (row.new, new_count)),
        (OldOrNew::New, new, (row.new, new_count), old, (row.old, old_count)),
    ];
    // A method that one side lacks may be among that side's frames without a name.
    let is_method = matches!(row.key.subject, Subject::Method | Subject::MethodTotal);
    if is_method && !row.key.is_unnamed() {
        let unnamed = DiffKey::unnamed(Subject::Method);
        let is_hidden = |own: f64, theirs: f64, side: &SideTraces<'_>| {
            own == 0.0 && theirs > 0.0 && side.total(&unnamed) >= theirs / 2.0
        };
        for (side, traces, (own, _), _, (theirs, _)) in sides {
            if is_hidden(own, theirs, traces) {
                return Some(Doubt::MayBeUnnamed { side });
            }
        }
    }
    // A side may have fewer events because it lost as many.
    for (side, traces, (_, own), other, (_, theirs)) in sides {
        let expected = theirs * traces.divisor() / other.divisor().max(f64::MIN_POSITIVE);
        let lacking = expected - own;
        if row.is_divided && lacking > 0.0 && lacking <= traces.lost() as f64 {
            return Some(Doubt::EventsLost { side, events: traces.lost() });
        }
    }
    None
}

/// Returns notes on the limits of the comparison.
fn notes(rows: &[Candidate], has_runs: bool) -> Vec<DiffNote> {
    let mut notes = Vec::new();
    let lost = rows.iter().find_map(|row| match row.doubt {
        Some(Doubt::EventsLost { side, events }) => Some((side, events)),
        _ => None,
    });
    let is_doubted =
        |row: &&Candidate| row.doubt.is_some() && row.weight_percent >= MIN_WEIGHT_OF_DOUBTS;
    let doubted = rows.iter().filter(is_doubted).count() as u64;
    if let Some((side, events)) = lost.filter(|_| doubted > 0) {
        notes.push(DiffNote::EventsLost { side, events, rows: doubted });
    }
    if rows.iter().any(|row| row.key.subject == Subject::Cpu && row.is_bursty) {
        notes.push(DiffNote::UnevenLoad);
    }
    if !has_runs {
        let is_burst = |row: &&Candidate| {
            row.is_bursty && row.key.is_total() && row.weight_percent >= MIN_WEIGHT_OF_BURSTS
        };
        let bursts = rows.iter().filter(is_burst);
        notes.extend(bursts.map(|row| DiffNote::Burst { key: row.key.clone() }));
    }
    notes
}
