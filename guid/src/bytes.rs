//! Converts the 16 bytes of a GUID to two little-endian numbers and back.

/// Returns the two numbers that 16 bytes encode.
#[inline]
pub(crate) const fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
    [u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes([i, j, k, l, m, n, o, p])]
}

/// Returns the 16 bytes that encode two numbers.
#[inline]
pub(crate) const fn joined([low, high]: [u64; 2]) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h] = low.to_le_bytes();
    let [i, j, k, l, m, n, o, p] = high.to_le_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}
