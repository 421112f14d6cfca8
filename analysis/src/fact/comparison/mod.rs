//! Results of a comparison of traces: its verdict, what could not be compared, and doubts.

mod per;
mod subject;

pub use per::{Per, PerReason};
pub use subject::{DiffKey, Measure, Subject};

/// One of the two groups of traces that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum OldOrNew {
    /// Traces from before the change.
    Old,
    /// Traces from after the change.
    New,
}

impl OldOrNew {
    /// Both groups, the old one first.
    pub const BOTH: [OldOrNew; 2] = [OldOrNew::Old, OldOrNew::New];

    /// Returns the other group.
    #[must_use]
    pub const fn other(self) -> OldOrNew {
        match self {
            OldOrNew::Old => OldOrNew::New,
            OldOrNew::New => OldOrNew::Old,
        }
    }
}

/// A subject that is not compared, because one side lacks it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NotCompared {
    /// Subject that is not compared.
    pub subject: Subject,
    /// Side that lacks the subject.
    pub side: OldOrNew,
    /// Reason why the side cannot be compared.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub reason: NotComparedReason,
}

/// Reason why a side cannot be compared with the other one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "reason", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NotComparedReason {
    /// Only the other side recorded the subject.
    NotRecorded {
        /// Number of rows that only the other side has.
        rows: u64,
    },
    /// The side's methods have no names, so its waiting threads look busy.
    MethodsWithoutNames,
    /// The side's methods of a module have no names, so the module is one row.
    ModuleWithoutNames {
        /// Name of the module.
        module: String,
    },
}

/// Reason why the values of a row cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Doubt {
    /// A side has too few values of a counter.
    FewValues {
        /// Minimum number of values that can be judged.
        min_values: u64,
    },
    /// A side lacks the method, but has as much time in frames without a name.
    MayBeUnnamed {
        /// Side that lacks the method.
        side: OldOrNew,
    },
    /// A side lost so many events that these could explain the difference.
    EventsLost {
        /// Side that lost events.
        side: OldOrNew,
        /// Number of lost events, of all kinds.
        events: u64,
    },
}

/// A limit of a comparison as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DiffNote {
    /// A side lost events, so some notable rows are not judged.
    EventsLost {
        /// Side that lost events.
        side: OldOrNew,
        /// Number of lost events.
        events: u64,
        /// Number of notable rows that are not judged.
        rows: u64,
    },
    /// Half of a trace's running time falls into a quarter of its time.
    UnevenLoad,
    /// A total changed much, but most of it is a burst; one trace of each side does not show how
    /// much bursts vary.
    Burst {
        /// Key of the total.
        #[cfg_attr(feature = "serde", serde(flatten))]
        key: DiffKey,
    },
}

/// Reason why traces cannot show whether a condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Undecided {
    /// One side lacks the condition's subject.
    NotCompared(NotCompared),
    /// Neither side has the condition's subject.
    NoData,
    /// The change is doubtful.
    Doubted {
        /// Reason for the doubt.
        doubt: Doubt,
    },
    /// The condition limits a change in percent, and one run does not show how much runs differ.
    OneRun,
}

/// Reason why nobody should rely on a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Unreliable {
    /// The sides have no value in common.
    NothingCompared,
    /// CPU samples are not compared.
    NotCompared(NotCompared),
}

/// Verdict of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DiffVerdict {
    /// Both sides are one trace, and the same one.
    SameTrace,
    /// One side has a single run, and no difference is larger than runs usually differ.
    NothingLarge {
        /// Change of the program's duration; `None` if it is not known.
        elapsed: Option<DiffChange>,
        /// Change with the largest weight, if that is 10 % or more.
        largest: Option<DiffChange>,
    },
    /// The sides have no value in common.
    NothingCompared,
    /// No row is a finding.
    NothingChanged {
        /// Smallest change in percent that the runs would have shown.
        detectable_percent: Option<f64>,
        /// Number of runs of each side.
        runs: DiffRuns,
    },
    /// Some rows are findings.
    Changed {
        /// Change of the program's duration if that is a finding, else the first finding.
        first: DiffChange,
        /// Divisor of the values.
        per: Per,
        /// Number of other findings.
        more: u64,
        /// Change of the program's duration, if that may be chance.
        elapsed: Option<DiffChange>,
        /// Whether both sides have several runs. If not, a change is a finding if it is larger than
        /// runs usually differ.
        has_runs: bool,
    },
}

/// Change of a value.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiffChange {
    /// Key of the value.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub key: DiffKey,
    /// Change in percent of the old value; `None` if the old value is 0.
    pub change_percent: Option<f64>,
}

/// Number of runs of each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiffRuns {
    /// Number of old runs.
    pub old: u64,
    /// Number of new runs.
    pub new: u64,
    /// Whether the runs are iterations of a benchmark in one process.
    pub are_iterations: bool,
}
