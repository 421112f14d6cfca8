//! Code of the fuzz targets. It is here, so that a test can replay the corpus.

use crate::invariants::Questions;
use nettrace_parser::following::{Following, TRAILER_BYTES};

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

/// Checks a stream, and a [second one](nettrace_parser::following) behind it. Readers of pieces do
/// not know of the second stream, so both are checked alone.
fn each_stream(bytes: &[u8], check: &mut dyn FnMut(&[u8])) {
    match Following::from_slice(bytes) {
        Some(following) => {
            assert!(following.start + following.len + TRAILER_BYTES as u64 == bytes.len() as u64);
            // Each part may end with a second stream again.
            each_stream(&bytes[..following.start as usize], check);
            each_stream(following.bytes(bytes), check);
        }
        None => check(bytes),
    }
}

/// Maximum length of an input, in bytes. Longer inputs take time and find nothing new.
pub(crate) const MAX_BYTES: usize = 1 << 17;
