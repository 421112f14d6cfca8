//! Any bytes as a stream, in time order and with several threads.

use crate::calm::{assert_for_each_is_next_event, assert_parallel_is_serial, assert_time_order, of_slice};

pub(crate) fn ordered(bytes: &[u8]) {
    if bytes.len() > super::MOST_BYTES {
        return;
    }
    let whole = of_slice(bytes);
    whole.assert_within(bytes.len() as u64);
    assert_for_each_is_next_event(bytes, &whole);
    assert_time_order(bytes, &whole);
    // What cannot be read from its beginning starts no threads.
    if whole.error.is_none() {
        assert_parallel_is_serial(bytes);
    }
}
