//! Fuzz target: any bytes as a stream.

use crate::invariants::{
    Questions, Told, assert_every_byte_is_explained, counted, in_pieces, of_slice, values,
};

/// Sizes of pieces, and whether the source is lazy. The input chooses one, so that a run can be
/// repeated.
const PIECES: [(usize, bool); 4] = [(1, true), (3, false), (64, true), (1000, false)];

pub(crate) fn stream(bytes: &[u8], mut questions: Questions) {
    if bytes.len() <= super::MAX_BYTES {
        super::each_stream(bytes, &mut |bytes: &[u8]| check(bytes, &mut questions));
    }
}

fn check(bytes: &[u8], questions: &mut Questions) {
    let whole = of_slice(bytes);
    whole.assert_within(bytes.len() as u64);
    assert_every_byte_is_explained(bytes);
    if questions.ask(4) {
        counted::assert_linear(bytes);
    }
    if questions.ask(2) {
        assert_pieces_are_whole(bytes, &whole);
    }
    if questions.ask(2) {
        values::look_at_payloads(bytes, 20_000);
    }
    if questions.ask(4) {
        whole.assert_findings_have_texts();
    }
}

fn assert_pieces_are_whole(bytes: &[u8], whole: &Told) {
    let sum = bytes.iter().fold(bytes.len(), |sum, byte| sum.wrapping_add(usize::from(*byte)));
    let (size, is_lazy) = PIECES[sum % PIECES.len()];
    // Small pieces take too long for large streams.
    let size = size.max(bytes.len() / 4096);
    let pieces = in_pieces(bytes, size, is_lazy);
    assert!(pieces == *whole, "pieces of {size}: {}", pieces.difference(whole));
}
