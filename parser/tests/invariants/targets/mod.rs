//! What each fuzz target does with its bytes. It stands here and not in the targets
//! themselves, so that an ordinary test can replay the corpus.

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

/// A target's name and what it does.
pub(crate) type Target = (&'static str, fn(&[u8], Questions));

/// The targets that need the parser only, by name.
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

/// The longest input, in bytes. Longer ones say nothing new and cost time.
pub(crate) const MAX_BYTES: usize = 1 << 17;
