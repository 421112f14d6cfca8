//! What all JSON documents share.

/// Version of the documents. It is raised when a member is removed or changes its meaning; new members do not raise it.
pub const SCHEMA: u32 = 1;

/// `part` of `whole` in percent; 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
