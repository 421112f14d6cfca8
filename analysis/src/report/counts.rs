//! Sums that several reports keep, and rows that count occurrences.

use std::collections::BTreeMap;

/// Adds to a sum that may be as large as the input says.
pub(crate) fn increase(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Adds sums to those with an equal key.
pub(super) fn increase_all<K: Ord + Copy>(sums: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    more.iter().for_each(|(key, more)| increase(sums.entry(*key).or_default(), *more));
}

/// Number of occurrences for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ReasonCount {
    /// Reason in the runtime's words.
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
    /// Name; `None` if the thread has none.
    pub name: Option<String>,
    /// Number of occurrences.
    pub count: u64,
}
