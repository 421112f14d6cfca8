//! Code of the fuzz targets. It is here, so that a test can replay the corpus.

use crate::invariants::Questions;

mod blob;
mod choices;
mod metadata;
mod ordered;
mod payload;
pub(crate) mod raw;
mod stream;
mod structured;
mod truth;

pub(crate) use blob::blob;
pub(crate) use metadata::metadata;
pub(crate) use ordered::ordered;
pub(crate) use payload::payload;
pub(crate) use stream::stream;
pub(crate) use structured::structured;
pub(crate) use truth::truth;

/// Name of a target and its function.
pub(crate) type Target = (&'static str, fn(&[u8], Questions));

/// Targets that need the parser alone, sorted by name.
pub(crate) const TARGETS: [Target; 8] = [
    ("stream", stream),
    ("structured", structured),
    ("blob", blob),
    ("metadata", metadata),
    ("payload", payload),
    ("raw", raw::raw),
    ("ordered", ordered),
    ("truth", truth),
];

/// Maximum length of an input, in bytes. Longer inputs take time and find nothing new.
pub(crate) const MAX_BYTES: usize = 1 << 17;
