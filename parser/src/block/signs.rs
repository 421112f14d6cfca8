//! By what a block of version 6 is known: nothing marks its beginning, but content of each kind begins in
//! a way of its own (FORMAT.md 13.3).

use crate::frame::BlockKind;

/// So much of a content is looked at.
pub(crate) use super::kinds::SIGNS;

/// A larger block that is not of events is possible, and not written.
pub(crate) const MOST_OTHER_BYTES: u32 = 1 << 20;

/// Whether content of `len` bytes that begins with `content` (all of it, or its first [`SIGNS`] bytes) may
/// be that of a block of the kind. Of an unknown kind nothing can be said: `false`.
pub(crate) fn begins_as(kind: BlockKind, len: u32, content: &[u8]) -> bool {
    kind.row().is_some_and(|row| len <= row.most_bytes && (row.begins)(len as usize, content))
}
