//! Columns of numbers as bytes, and back, in the order of the machine: what another machine
//! sees, too, is converted with `to_le` first.

use bytemuck::{cast_slice, pod_read_unaligned};

/// Returns the bytes of numbers.
pub(crate) fn of_numbers(numbers: &[i64]) -> &[u8] {
    cast_slice(numbers)
}

/// Returns the numbers that bytes are. An incomplete one at the end is left out.
pub(crate) fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = i64> {
    bytes.chunks_exact(size_of::<i64>()).map(pod_read_unaligned)
}
