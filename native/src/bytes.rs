//! Converts bytes to numbers. All processors that this crate supports store the lowest byte first.

/// Returns the number that four bytes of code encode.
#[cfg(target_arch = "x86_64")]
pub(crate) fn u32(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

/// Returns the number that eight bytes of memory encode.
pub(crate) fn u64(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}
