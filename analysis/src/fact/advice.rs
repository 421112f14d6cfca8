//! Advice on what to record so that a trace tells more.

/// Advice on what to record so that a trace tells more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Advice {
    /// Record requests, because the trace of a web application has none.
    RecordRequests,
}
