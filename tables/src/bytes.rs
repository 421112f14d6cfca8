//! Converts numbers to bytes and back, in the byte order of the machine. Callers first convert with
//! `to_le` those numbers that another machine may see.

use bytemuck::{cast_slice, pod_read_unaligned};

/// Returns the bytes in which the numbers are stored.
pub(crate) fn of_numbers(numbers: &[i64]) -> &[u8] {
    cast_slice(numbers)
}

/// Returns the numbers that the bytes contain. An incomplete number at the end is left out.
pub(crate) fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = i64> {
    bytes.chunks_exact(size_of::<i64>()).map(pod_read_unaligned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_bytes_and_come_back() {
        let values = [0, 1, -1, i64::MIN, i64::MAX];
        assert!(numbers(of_numbers(&values)).eq(values));
        assert!(numbers(&of_numbers(&values)[..15]).eq([0]), "the second one is incomplete");
    }

    #[test]
    fn numbers_that_were_made_little_endian_have_the_same_bytes_on_every_machine() {
        let number = 0x0807_0605_0403_0201_i64;
        assert_eq!(of_numbers(&[number.to_le()]), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
