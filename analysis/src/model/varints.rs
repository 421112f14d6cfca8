//! Encodes numbers compactly, in groups of seven bits, the lowest first.

use std::slice;

/// Appends a number, seven bits in each byte. Bit 7 is set on all bytes but the last.
#[expect(clippy::cast_possible_truncation, reason = "seven bits fit")]
pub(super) fn push(bytes: &mut Vec<u8>, value: u64) {
    let mut left = value;
    while left >= 0x80 {
        bytes.push((left & 0x7f) as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// Iterates over the numbers that [`push`] appended.
#[derive(Debug, Clone)]
pub(super) struct Varints<'b>(slice::Iter<'b, u8>);

impl<'b> Varints<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Varints<'b> {
        Varints(bytes.iter())
    }
}

impl Iterator for Varints<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0u32);
        for byte in self.0.by_ref() {
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift = shift.saturating_add(7);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        let numbers: Vec<u64> =
            (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, u64::MAX >> bit]).collect();
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| push(&mut bytes, *number));
        assert!(Varints::new(&bytes).eq(numbers));
        bytes.pop();
        assert_eq!(Varints::new(&bytes).count(), 64 * 3 - 1);
    }
}
