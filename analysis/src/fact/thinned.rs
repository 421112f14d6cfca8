//! What a page contains only in part.

use crate::model::{Category, Kind};
use serde::Serialize;

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "part", content = "name")]
pub(crate) enum PagePart {
    /// The document of a report.
    Report(&'static str),
    /// Samples.
    Samples(Kind),
    /// Spans.
    Spans(Category),
    /// The list of events.
    Events,
    /// Stacks of all samples.
    Stacks,
    /// Stacks for which the runtime collected.
    Triggers,
}

/// What became of rows of which there were too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub(crate) enum Thinning {
    /// A list has rows that are evenly spread over time.
    OneOf { list: &'static str, kept: u64, all: u64, step: u64 },
    /// A list has its first rows.
    FirstTypes { kept: u64, all: u64 },
    /// A list has its first rows.
    FirstStatics { kept: u64, all: u64 },
    /// All rare types and some events of frequent ones are listed, the others counted.
    RareTypes { kept: u64, all: u64 },
    /// The longest are listed, the others counted.
    Longest { kept: u64, left_out: u64 },
    /// Rows are shown until a time.
    Until { nanos: i64 },
    /// Values of a counter are joined.
    Joined { step: u64 },
    /// Samples are added up over bins of time.
    AddedUp { bin_nanos: u64, left_out: u64 },
    /// Samples with the rarest stacks are shown without them.
    WithoutStack { samples: u64 },
    /// Innermost calls are shown as one, where there are more different ones.
    Deeper { max_calls: u64 },
    /// Exceptions whose type is one of many more.
    ManyTypes { exceptions: u64, kept: u64 },
    /// Exceptions whose message is one of many more.
    ManyMessages { exceptions: u64, kept: u64 },
    /// Exceptions are counted by type alone.
    ByType { exceptions: u64 },
}

/// That a page contains only a part of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Thinned {
    #[serde(flatten)]
    pub(crate) about: PagePart,
    #[serde(flatten)]
    pub(crate) how: Thinning,
}
