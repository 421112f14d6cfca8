//! Numbers as the bytes that a stream stores.

/// Returns numbers as a stream stores them, if the machine does so, too: in two words each,
/// low one first, and the lowest byte of a word first.
#[inline]
pub(crate) fn as_words(numbers: &[u64]) -> Option<&[[u32; 2]]> {
    (u32::from_le(1) == 1).then(|| bytemuck::cast_slice(numbers))
}
