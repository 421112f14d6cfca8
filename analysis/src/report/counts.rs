//! Rows that count how often something was so, which several reports have.

/// How often something happened for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ReasonCount {
    /// The reason, in the runtime's words.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// How often a thread threw exceptions, or held a lock that others waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadCount {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// How often.
    pub count: u64,
}
