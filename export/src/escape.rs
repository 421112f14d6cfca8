//! Escape sequences of JSON strings.
#![allow(clippy::indexing_slicing, reason = "half a byte within a table of sixteen digits")]

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Returns the escape sequence of a UTF-16 unit.
pub(crate) fn escape_of_unit(unit: u16) -> [u8; 6] {
    let digit = |shift: u32| HEX[usize::from(unit >> shift & 15)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

/// Returns whether a byte of UTF-8 must be escaped in a JSON string. Quotes, backslashes and
/// control characters must.
#[inline]
pub const fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7f
}

/// Returns the escape sequence of an ASCII byte, and its length.
pub const fn escape_of(byte: u8) -> ([u8; 6], usize) {
    match byte {
        b'"' | b'\\' => ([b'\\', byte, 0, 0, 0, 0], 2),
        b'\n' => ([b'\\', b'n', 0, 0, 0, 0], 2),
        b'\r' => ([b'\\', b'r', 0, 0, 0, 0], 2),
        b'\t' => ([b'\\', b't', 0, 0, 0, 0], 2),
        _ => ([b'\\', b'u', b'0', b'0', HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]], 6),
    }
}
