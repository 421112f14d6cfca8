//! What a comparison of traces found, could not compare, and doubts.

mod per;
mod subject;

pub use per::{Per, PerReason};
pub use subject::{DiffKey, Measure, Subject};

use serde::Serialize;

/// One of the two groups of traces that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OldOrNew {
    /// The traces before.
    Old,
    /// The traces after.
    New,
}

impl OldOrNew {
    /// Both sides, in their order.
    pub const BOTH: [OldOrNew; 2] = [OldOrNew::Old, OldOrNew::New];

    /// Returns the other side.
    #[must_use]
    pub const fn other(self) -> OldOrNew {
        match self {
            OldOrNew::Old => OldOrNew::New,
            OldOrNew::New => OldOrNew::Old,
        }
    }
}

/// Something that is not compared, because one side lacks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotCompared {
    /// What is not compared.
    pub subject: Subject,
    /// The side that lacks it.
    pub side: OldOrNew,
    /// Why that side cannot be compared.
    #[serde(flatten)]
    pub reason: NotComparedReason,
}

/// Why a side cannot be compared with the other one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotComparedReason {
    /// The other side alone recorded it.
    NotRecorded {
        /// Number of the other side's rows that have no partner.
        rows: u64,
    },
    /// Its methods have no names, so that threads that wait look busy.
    MethodsWithoutNames,
    /// The methods of a module have no names, so that the module is one row.
    ModuleWithoutNames {
        /// The module.
        module: String,
    },
}

/// Why the values of a row cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Doubt {
    /// A side has too few values of a counter to be a sample of it.
    FewValues {
        /// The number of values that are a sample.
        min_values: u64,
    },
    /// A side does not have the method, but as much time in frames without a name.
    MayBeUnnamed {
        /// The side that does not have it.
        side: OldOrNew,
    },
    /// A side lost as many events as would explain the difference.
    EventsLost {
        /// The side that lost them.
        side: OldOrNew,
        /// Number of lost events, of all kinds.
        events: u64,
    },
}

/// What limits a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DiffNote {
    /// A side lost events, so some notable rows are not judged.
    EventsLost {
        /// The side that lost them.
        side: OldOrNew,
        /// How many it lost.
        events: u64,
        /// Number of notable rows that are not judged.
        rows: u64,
    },
    /// Half of the running time is in a quarter of a trace.
    UnevenLoad,
    /// A total changed much, but most of it is a burst, and one trace of each side does not
    /// show how long bursts usually are.
    Burst {
        /// The total.
        #[serde(flatten)]
        key: DiffKey,
    },
}

/// Why traces cannot show whether a condition holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Undecided {
    /// One side lacks what the condition is about.
    NotCompared(NotCompared),
    /// Neither side has what the condition is about.
    NoData,
    /// The change is doubted.
    Doubted {
        /// Why.
        doubt: Doubt,
    },
    /// The condition limits a change in percent, and one run does not show how much runs differ.
    OneRun,
}

/// Why nobody should rely on a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unreliable {
    /// The sides have no value in common.
    NothingCompared,
    /// CPU samples are not compared.
    NotCompared(NotCompared),
}

/// What a comparison found, all in all.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DiffVerdict {
    /// One side has one run, and no difference is large by experience.
    NothingLarge {
        /// The change of the time that the program takes, if that is known.
        elapsed: Option<DiffChange>,
    },
    /// The sides have no value in common.
    NothingCompared,
    /// No row is a finding.
    NothingChanged {
        /// The smallest change in percent that these runs would have shown.
        detectable_percent: Option<f64>,
        /// The runs.
        runs: DiffRuns,
    },
    /// There are findings.
    Changed {
        /// The change of the time that the program takes if that is a finding, else the first
        /// finding.
        first: DiffChange,
        /// What the values are divided by.
        per: Per,
        /// Number of other findings.
        more: u64,
        /// The change of the time that the program takes, if that may be chance.
        elapsed: Option<DiffChange>,
        /// Whether both sides have several runs. If not, a finding is what is large by
        /// experience.
        has_runs: bool,
    },
}

/// The change of a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffChange {
    /// Which value changed.
    #[serde(flatten)]
    pub key: DiffKey,
    /// The change in percent of the old value; `None` if that is 0.
    pub change_percent: Option<f64>,
}

/// How often each side ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DiffRuns {
    /// Number of old runs.
    pub old: u64,
    /// Number of new runs.
    pub new: u64,
    /// Whether the runs are iterations of a benchmark in one process.
    pub are_iterations: bool,
}
