//! Fuzz target: any bytes as a stream, read in time order and with several threads.

use crate::invariants::{
    Questions, assert_filtered_is_time_order, assert_for_each_is_next_event,
    assert_parallel_is_serial, assert_time_order, of_slice,
};

pub(crate) fn ordered(bytes: &[u8], mut questions: Questions) {
    if bytes.len() <= super::MAX_BYTES {
        super::each_stream(bytes, &mut |bytes: &[u8]| check(bytes, &mut questions));
    }
}

fn check(bytes: &[u8], questions: &mut Questions) {
    let whole = of_slice(bytes);
    whole.assert_within(bytes.len() as u64);
    if questions.ask(2) {
        assert_for_each_is_next_event(bytes, &whole);
    }
    assert_time_order(bytes, &whole);
    if questions.ask(2) {
        assert_filtered_is_time_order(bytes, &whole);
    }
    // Threads cost more than all other checks, so a stream that cannot be opened is not read with
    // them.
    if whole.error.is_none() && questions.ask(16) {
        assert_parallel_is_serial(bytes);
    }
}
