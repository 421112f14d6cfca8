//! Makes numbers of bytes; messages store the lowest byte first.

/// Returns the number in two bytes.
pub(crate) fn u16(bytes: [u8; 2]) -> u16 {
    u16::from_le_bytes(bytes)
}

/// Returns the number in four bytes.
pub(crate) fn u32(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

/// Returns the number in eight bytes.
pub(crate) fn u64(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// Returns the UTF-16 units of a text. An odd byte at its end is left out.
pub(crate) fn utf16(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().copied().map(u16).collect()
}
