//! Common parts of all JSON documents.

/// Version of the documents. It is incremented when a member is removed or changes its
/// meaning; new members do not increment it.
pub const SCHEMA: u32 = 1;

/// `part` as a percentage of `whole`; 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Serialization of members: shared texts, and counts and flags that are left out unless
/// there is something to say.
#[cfg(feature = "serde")]
mod members {
    use serde::Serializer;
    use std::sync::Arc;

    pub(crate) fn as_text<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(crate) fn as_texts<S: Serializer>(texts: &[Arc<str>], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(texts.iter().map(|text| &**text))
    }

    pub(crate) fn is_zero(count: &u64) -> bool {
        *count == 0
    }

    pub(crate) fn is_false(flag: &bool) -> bool {
        !*flag
    }
}
#[cfg(feature = "serde")]
pub(crate) use members::{as_text, as_texts, is_false, is_zero};
