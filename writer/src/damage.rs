//! Damage to the bytes of a finished stream. Positions after the end are ignored, so any random
//! damage is valid.

use std::ops::Range;

/// A change to the bytes of a stream.
///
/// ```
/// use nettrace_writer::{Damage, PartKind, tiny_v4};
/// let stream = tiny_v4();
/// // The first block of stacks is gone.
/// let stacks = stream.nth(PartKind::Stack, 0);
/// let damaged = Damage::Delete { range: stacks.start..stacks.end }.applied(&stream.bytes);
/// assert_eq!(damaged.len(), stream.bytes.len() - (stacks.end - stacks.start));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Keeps only the first `at` bytes.
    Cut {
        /// Number of bytes that are kept.
        at: usize,
    },
    /// Flips in one byte the bits that are set in `mask`.
    Flip {
        /// Position of the byte.
        at: usize,
        /// The bits to flip.
        mask: u8,
    },
    /// Inserts bytes.
    Insert {
        /// Position of the first inserted byte.
        at: usize,
        /// The inserted bytes.
        bytes: Vec<u8>,
    },
    /// Removes bytes.
    Delete {
        /// Positions of the bytes to remove.
        range: Range<usize>,
    },
    /// Repeats bytes: inserts a copy right after them.
    Duplicate {
        /// Positions of the bytes to repeat.
        range: Range<usize>,
    },
    /// Swaps the bytes of two ranges; does nothing if the ranges overlap.
    Swap {
        /// Positions of the bytes in one range.
        first: Range<usize>,
        /// Positions of the bytes in the other range.
        second: Range<usize>,
    },
    /// Replaces bytes.
    Overwrite {
        /// Position of the first byte to replace.
        at: usize,
        /// The new bytes.
        bytes: Vec<u8>,
    },
}

impl Damage {
    /// Creates damage that replaces 2 bytes with `value` in little-endian order.
    pub fn u16(at: usize, value: u16) -> Self {
        Damage::Overwrite { at, bytes: value.to_le_bytes().to_vec() }
    }

    /// Creates damage that replaces 4 bytes with `value` in little-endian order.
    pub fn u32(at: usize, value: u32) -> Self {
        Damage::Overwrite { at, bytes: value.to_le_bytes().to_vec() }
    }

    /// Creates damage that replaces 4 bytes with `value` in little-endian order.
    pub fn i32(at: usize, value: i32) -> Self {
        Damage::Overwrite { at, bytes: value.to_le_bytes().to_vec() }
    }

    /// Damages the bytes in place.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        match self {
            Damage::Cut { at } => bytes.truncate(*at),
            Damage::Flip { at, mask } => {
                if let Some(byte) = bytes.get_mut(*at) {
                    *byte ^= mask;
                }
            }
            Damage::Insert { at, bytes: inserted } => {
                let at = (*at).min(length);
                bytes.splice(at..at, inserted.iter().copied());
            }
            Damage::Delete { range } => {
                bytes.drain(clamp(range, length));
            }
            Damage::Duplicate { range } => {
                let range = clamp(range, length);
                let copy = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, copy);
            }
            Damage::Swap { first, second } => {
                swap(bytes, clamp(first, length), clamp(second, length))
            }
            Damage::Overwrite { at, bytes: written } => {
                for (place, byte) in bytes.iter_mut().skip(*at).zip(written) {
                    *place = *byte;
                }
            }
        }
    }

    /// Returns a damaged copy of the bytes.
    pub fn applied(&self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        self.apply(&mut damaged);
        damaged
    }
}

fn clamp(range: &Range<usize>, length: usize) -> Range<usize> {
    let start = range.start.min(length);
    start..range.end.clamp(start, length)
}

fn swap(bytes: &mut Vec<u8>, a: Range<usize>, b: Range<usize>) {
    let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
    // Overlapping ranges stay as they are, so that each operation is defined for all
    // positions.
    if a.end > b.start {
        return;
    }
    let swapped = [&bytes[b.clone()], &bytes[a.end..b.start], &bytes[a.clone()]].concat();
    bytes.splice(a.start..b.end, swapped);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_damage_does_what_it_says() {
        let cases: [(Damage, &[u8]); 8] = [
            (Damage::Cut { at: 2 }, &[0, 1]),
            (Damage::Flip { at: 1, mask: 0x81 }, &[0, 0x80, 2, 3, 4]),
            (Damage::Insert { at: 1, bytes: vec![9, 9] }, &[0, 9, 9, 1, 2, 3, 4]),
            (Damage::Delete { range: 1..3 }, &[0, 3, 4]),
            (Damage::Duplicate { range: 1..3 }, &[0, 1, 2, 1, 2, 3, 4]),
            (Damage::Swap { first: 3..5, second: 0..1 }, &[3, 4, 1, 2, 0]),
            (Damage::Overwrite { at: 3, bytes: vec![8, 8, 8] }, &[0, 1, 2, 8, 8]),
            (Damage::u16(0, 0x0201), &[1, 2, 2, 3, 4]),
        ];
        for (damage, expected) in cases {
            assert_eq!(damage.applied(&[0, 1, 2, 3, 4]), expected, "{damage:?}");
        }
    }

    #[test]
    fn damage_behind_the_end_does_nothing() {
        let damages = [
            Damage::Cut { at: 9 },
            Damage::Flip { at: 9, mask: 1 },
            Damage::Insert { at: 9, bytes: vec![] },
            Damage::Delete { range: 9..12 },
            Damage::Duplicate { range: 9..12 },
            Damage::Swap { first: 9..12, second: 0..3 },
            Damage::Overwrite { at: 9, bytes: vec![1] },
        ];
        for damage in &damages[..5] {
            assert_eq!(damage.applied(&[0, 1, 2]), [0, 1, 2], "{damage:?}");
        }
        assert_eq!(damages[6].applied(&[0, 1, 2]), [0, 1, 2]);
        #[expect(
            clippy::reversed_empty_ranges,
            reason = "a range that ends before it starts is empty too"
        )]
        let reversed = Damage::Delete { range: 2..1 };
        assert_eq!(reversed.applied(&[0, 1, 2]), [0, 1, 2]);
    }
}
