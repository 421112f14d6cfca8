//! Visiting values gives what walking them gives, on real traces. Hostile payloads are in
//! `payload_hostile`.

use crate::visitor;
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

#[test]
fn a_visitor_is_given_every_value_of_every_trace_in_order() {
    for trace in corpus::traces() {
        // The beginning of the largest ones and some events of the rest are enough: more
        // events say the same things again.
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        let mut count = 0u32;
        while let Ok(Some(event)) = reader.next_event() {
            count += 1;
            if count < 5_000 || count.is_multiple_of(16) {
                visitor::assert_as_walked(&event);
            }
        }
    }
}
