//! How to recognise a version 6 block: nothing marks its beginning, but the content of
//! each kind begins in a characteristic way (FORMAT.md 13.3).

use crate::frame::BlockKind;

/// Number of bytes of a content that are examined.
pub(crate) use super::kinds::SIGN_BYTES;

/// Maximum size in bytes of blocks of other kinds than events. They could be larger, but
/// no writer makes them so.
pub(crate) const MAX_OTHER_BYTES: u32 = 1 << 20;

/// Returns whether `content` can belong to a block of this kind. It is the first
/// [`SIGN_BYTES`] bytes of a content of `len` bytes, or all of it if it is shorter.
/// `false` for unknown kinds, about which nothing is known.
pub(crate) fn begins_as(kind: BlockKind, len: u32, content: &[u8]) -> bool {
    kind.row().is_some_and(|row| len <= row.max_bytes && (row.begins)(len as usize, content))
}
