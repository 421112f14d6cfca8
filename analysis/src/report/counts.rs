//! Rows that count how often something was so, which several reports have.

/// Number of occurrences for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ReasonCount {
    /// The reason, in the runtime's words.
    pub reason: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Number of exceptions that a thread threw, or of waits for a lock that it held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadCount {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Number of occurrences.
    pub count: u64,
}
