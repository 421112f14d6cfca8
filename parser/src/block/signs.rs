//! How to recognise a version 6 block: nothing marks its beginning, but the content of
//! each kind begins in a characteristic way (FORMAT.md 13.3).

use crate::frame::BlockKind;

/// How many bytes of a content are examined.
pub(crate) use super::kinds::SIGNS;

/// Blocks of other kinds than events could be larger, but no writer makes them so.
pub(crate) const MOST_OTHER_BYTES: u32 = 1 << 20;

/// Returns whether `content`, the first [`SIGNS`] bytes of a content of `len` bytes or
/// all of it if it is shorter, can belong to a block of this kind. `false` for unknown
/// kinds, about which nothing is known.
pub(crate) fn begins_as(kind: BlockKind, len: u32, content: &[u8]) -> bool {
    kind.row().is_some_and(|row| len <= row.most_bytes && (row.begins)(len as usize, content))
}
