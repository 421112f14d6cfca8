//! Tests on real traces that a visitor sees the values of all fields. `payload_hostile` has such
//! tests for hostile payloads.

use crate::visitor;
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

#[test]
fn a_visitor_is_given_every_value_of_every_trace_in_order() {
    for trace in corpus::traces() {
        // The beginning of a large trace and a sample of its events are enough, because traces
        // repeat themselves.
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
