//! Numbers of bytes: addresses in memory as the words of a stream, and those of packed files.

/// Returns numbers as pairs of words, low word first, as a stream stores them; `None` on a
/// big-endian machine.
#[inline]
pub(crate) fn as_words(numbers: &[u64]) -> Option<&[[u32; 2]]> {
    (u32::from_le(1) == 1).then(|| bytemuck::cast_slice(numbers))
}

/// Returns a number whose lowest byte comes first.
#[cfg(feature = "input")]
pub(crate) fn little_u32(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

/// Returns a number whose lowest byte comes first.
#[cfg(feature = "input")]
pub(crate) fn little_u64(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}
