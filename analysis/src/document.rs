//! Common parts of all JSON documents.

/// Version of the documents. It is incremented when a member is removed or changes its
/// meaning; new members do not increment it.
pub const SCHEMA: u32 = 1;

/// `part` as a percentage of `whole`; 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
