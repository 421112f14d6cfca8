//! Converts bytes of messages to numbers. Messages store the lowest byte first.

/// Returns the number that two bytes encode.
pub(crate) fn u16(bytes: [u8; 2]) -> u16 {
    u16::from_le_bytes(bytes)
}

/// Returns the number that four bytes encode.
pub(crate) fn u32(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

/// Returns the number that eight bytes encode.
pub(crate) fn u64(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// Returns the UTF-16 code units that the bytes encode. An odd byte at the end is ignored.
pub(crate) fn utf16(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().copied().map(u16).collect()
}
