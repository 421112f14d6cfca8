//! Any bytes as a stream.

use crate::calm::{assert_every_byte_is_explained, counted, in_pieces, of_slice, values};

/// Pieces of one size a run; the size follows from the input, so that a run can be repeated.
const PIECES: [(usize, bool); 4] = [(1, true), (3, false), (64, true), (1000, false)];

pub(crate) fn stream(bytes: &[u8]) {
    if bytes.len() > super::MOST_BYTES {
        return;
    }
    let whole = of_slice(bytes);
    whole.assert_within(bytes.len() as u64);
    assert_every_byte_is_explained(bytes);
    counted::assert_linear(bytes);
    let sum = bytes.iter().fold(bytes.len(), |sum, byte| sum.wrapping_add(usize::from(*byte)));
    let (size, is_lazy) = PIECES[sum % PIECES.len()];
    // One byte at a time is for small streams.
    let size = size.max(bytes.len() / 4096);
    let pieces = in_pieces(bytes, size, is_lazy);
    assert!(pieces == whole, "pieces of {size}: {}", pieces.difference(&whole));
    values::look_at_payloads(bytes, 20_000);
}
