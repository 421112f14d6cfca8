//! Compares addresses in memory with the bytes of a stream.

/// Returns numbers as pairs of words, low word first, as a stream stores them; `None` on a
/// big-endian machine.
#[inline]
pub(crate) fn as_words(numbers: &[u64]) -> Option<&[[u32; 2]]> {
    (u32::from_le(1) == 1).then(|| bytemuck::cast_slice(numbers))
}
