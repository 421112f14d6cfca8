//! What to record so that a trace tells more.

/// What to record so that a trace tells more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Advice {
    /// The requests of a web application are not in the trace.
    RecordRequests,
}
