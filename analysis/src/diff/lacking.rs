//! Finds out what only one side recorded.

use super::recorded::{CONTENTION, EXCEPTION, GC, NamedModules, WAIT_HANDLE};
use super::side::SideTraces;
use crate::fact::comparison::{
    DiffKey, Measure, NotCompared, NotComparedReason, OldOrNew, Subject,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum difference between both sides' shares of samples without a name.
const MAX_UNNAMED_APART: f64 = 0.2;
/// Maximum number of modules without names that notes list.
const MAX_MODULES: usize = 5;

/// Rows whose presence shows that a side recorded a subject, in the order in which missing subjects
/// are listed.
const RECORDED: [(Subject, Measure); 13] = [
    (Subject::Cpu, Measure::Value),
    (Subject::Requests, Measure::Count),
    (Subject::Sql, Measure::Value),
    (Subject::Alloc, Measure::Value),
    (Subject::GcCount, Measure::Value),
    (Subject::Jit, Measure::Value),
    (Subject::Counter, Measure::Value),
    (Subject::Exceptions, Measure::Value),
    (Subject::Startup, Measure::Program),
    (Subject::PoolThreads, Measure::Value),
    (Subject::Elapsed, Measure::Value),
    (Subject::Waits, Measure::Value),
    (Subject::Contention, Measure::Value),
];

/// Returns the subjects that only one side recorded. `alone` has the keys of only one side.
pub(super) fn not_recorded(alone: &[&DiffKey], old: &SideTraces<'_>) -> Vec<NotCompared> {
    let mut counts: BTreeMap<(usize, OldOrNew), u64> = BTreeMap::new();
    for key in alone {
        if let Some(at) = place_among_recorded(key) {
            let side = if old.has(key) { OldOrNew::New } else { OldOrNew::Old };
            let rows = counts.entry((at, side)).or_default();
            *rows = rows.saturating_add(1);
        }
    }
    let not_compared = counts.into_iter().filter_map(|((at, side), rows)| {
        let (subject, _) = RECORDED.get(at)?;
        let reason = NotComparedReason::NotRecorded { rows };
        Some(NotCompared { subject: *subject, side, reason })
    });
    not_compared.collect()
}

/// Returns the place of a row in [`RECORDED`], or `None` if the row is not one of these.
fn place_among_recorded(key: &DiffKey) -> Option<usize> {
    // Each counter is recorded by itself; the other subjects have one row for all.
    let is_whole = key.is_total() || key.measure != Measure::Value;
    RECORDED
        .iter()
        .position(|recorded| *recorded == (key.subject, key.measure))
        .filter(|_| is_whole || key.subject == Subject::Counter)
}

/// Returns the reason for which a subject has no row; `None` if it is not known, as for counters.
pub(super) fn reason_for_absence(
    subject: Subject,
    not_compared: &[NotCompared],
) -> Option<&NotCompared> {
    let (key, _) = recorded_by(&DiffKey::total(subject));
    place_among_recorded(&key).filter(|_| subject != Subject::Counter)?;
    not_compared.iter().find(|it| it.subject == key.subject)
}

/// Methods that have names on one side only.
pub(super) struct UnnamedShare<'m> {
    /// Side whose methods have no names while the other side's have: it was recorded without
    /// rundown, or its process was killed. Waiting threads are recognized by names, so each sample
    /// of this side counts as running.
    pub(super) side: Option<OldOrNew>,
    /// Modules that have names on one side only, and the side that lacks them.
    modules: Vec<(&'m str, OldOrNew)>,
}

impl<'m> UnnamedShare<'m> {
    pub(super) fn new(old: &'m NamedModules, new: &'m NamedModules) -> UnnamedShare<'m> {
        let side = match new.unnamed_share() - old.unnamed_share() {
            more if more > MAX_UNNAMED_APART => Some(OldOrNew::New),
            more if more < -MAX_UNNAMED_APART => Some(OldOrNew::Old),
            _ => None,
        };
        UnnamedShare { side, modules: old.named_on_one_side(new) }
    }

    /// Returns the modules whose methods become one row, because only one side has their names.
    pub(super) fn merged(&self) -> BTreeSet<&'m str> {
        self.modules.iter().map(|(module, _)| *module).collect()
    }

    /// Returns the subjects and modules that are not compared because names are missing.
    pub(super) fn not_compared(&self) -> Vec<NotCompared> {
        if let Some(side) = self.side {
            let reason = NotComparedReason::MethodsWithoutNames;
            return vec![NotCompared { subject: Subject::Cpu, side, reason }];
        }
        let one_row = |(module, side): &(&str, OldOrNew)| NotCompared {
            subject: Subject::Method,
            side: *side,
            reason: NotComparedReason::ModuleWithoutNames { module: (*module).to_owned() },
        };
        self.modules.iter().take(MAX_MODULES).map(one_row).collect()
    }
}

/// Returns whether both sides recorded a row's kind of event. A side without such events may have
/// recorded that none happened.
pub(super) fn is_on_both(key: &DiffKey, old: &SideTraces<'_>, new: &SideTraces<'_>) -> bool {
    let (key, keyword) = recorded_by(key);
    let has = |side: &SideTraces<'_>, other: &SideTraces<'_>| {
        let has_runtime = || side.traces.iter().any(|trace| trace.has_runtime);
        let recorded =
            |keyword| has_runtime() && side.keywords.has_recorded(keyword, &other.keywords);
        side.has(&key) || keyword.is_some_and(recorded)
    };
    has(old, new) && has(new, old)
}

/// Returns the total row whose presence shows that `key` was recorded, and the keyword to check
/// where that total may be 0.
pub(super) fn recorded_by(key: &DiffKey) -> (DiffKey, Option<u64>) {
    let total = DiffKey::total;
    match key.subject {
        Subject::Method | Subject::MethodTotal | Subject::Cpu => (total(Subject::Cpu), None),
        Subject::Type | Subject::Alloc => (total(Subject::Alloc), None),
        Subject::Counter | Subject::Startup => (key.clone(), None),
        Subject::Jit | Subject::JitMethods => (total(Subject::Jit), None),
        Subject::Elapsed | Subject::PoolThreads => (total(key.subject), None),
        Subject::RequestPath | Subject::SqlStatement if key.measure.is_percentile() => {
            (key.clone(), None)
        }
        Subject::Requests | Subject::RequestPath => {
            (DiffKey::measure(Subject::Requests, Measure::Count), None)
        }
        Subject::Sql | Subject::SqlStatement => (total(Subject::Sql), None),
        Subject::GcCount | Subject::GcPause => (total(Subject::GcCount), Some(GC)),
        Subject::Exception | Subject::Exceptions => (total(Subject::Exceptions), Some(EXCEPTION)),
        Subject::Contention | Subject::ContentionCount => {
            (total(Subject::Contention), Some(CONTENTION))
        }
        Subject::Waits => (total(Subject::Waits), Some(WAIT_HANDLE)),
        Subject::OpenWaits => (total(key.subject), Some(WAIT_HANDLE)),
        Subject::Deadlocks => (total(key.subject), Some(CONTENTION)),
    }
}
