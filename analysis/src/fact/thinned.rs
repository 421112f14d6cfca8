//! Parts of a page that are incomplete because the trace has too many rows for it.

use crate::model::{Category, Kind};
use serde::Serialize;

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "part", content = "name")]
pub(crate) enum PagePart {
    /// Document of the named report.
    Report(&'static str),
    /// Samples.
    Samples(Kind),
    /// Spans.
    Spans(Category),
    Events,
    Stacks,
    /// Stacks that caused collections.
    Triggers,
}

/// How too many rows were reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub(crate) enum Thinning {
    /// The list has one of `step` rows, evenly spread over time.
    OneOf { list: &'static str, kept: u64, all: u64, step: u64 },
    /// The list has its first types.
    FirstTypes { kept: u64, all: u64 },
    /// The list has its first static variables.
    FirstStatics { kept: u64, all: u64 },
    /// The list has all events of rare types and some events of frequent types. The others are
    /// counted.
    RareTypes { kept: u64, all: u64 },
    /// The list has the longest rows. The others are counted.
    Longest { kept: u64, left_out: u64 },
    /// The list ends at a time, in nanoseconds from the start.
    Until { nanos: i64 },
    /// Each point of a counter joins `step` values.
    Joined { step: u64 },
    /// Samples are added up over bins of time, except for `left_out` samples.
    AddedUp { bin_nanos: u64, left_out: u64 },
    /// Samples with the rarest stacks are shown without their stacks.
    WithoutStack { samples: u64 },
    /// Innermost calls that do not fit into `max_calls` different ones are shown as one.
    Deeper { max_calls: u64 },
    /// Exceptions of all types after the first `kept` are shown as one type.
    ManyTypes { exceptions: u64, kept: u64 },
    /// Exceptions with all messages after the first `kept` are shown with one message.
    ManyMessages { exceptions: u64, kept: u64 },
    /// Samples of threads that worked for the last requests have no endpoint.
    WithoutEndpoint { requests: u64 },
    /// Exceptions are counted by type, without messages and stacks.
    ByType { exceptions: u64 },
}

/// A part of a page that is incomplete, and how it was reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Thinned {
    #[serde(flatten)]
    pub(crate) about: PagePart,
    #[serde(flatten)]
    pub(crate) how: Thinning,
}
