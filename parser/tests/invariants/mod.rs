//! Properties that hold for any bytes. The tests of mutations, the replay of the fuzzers' corpus
//! and the fuzz targets check them.
#![allow(dead_code, reason = "each test target asks a part of the questions")]

pub(crate) mod counted;
pub(crate) mod explain;
pub(crate) mod filtered;
pub(crate) mod mix;
pub(crate) mod questions;
pub(crate) mod reading;
pub(crate) mod rows;
pub(crate) mod targets;
pub(crate) mod values;

pub(crate) use explain::assert_every_byte_is_explained;
pub(crate) use filtered::assert_filtered_is_time_order;
pub(crate) use questions::Questions;
pub(crate) use reading::{Told, in_pieces, of_slice};

use nettrace_parser::parallel::{self, Options, Order, Region};
use nettrace_parser::{Error, Reader, Whole};
use nettrace_testdata::changed;
use reading::{told_of_outcome, told_of_reader};
use std::ops::ControlFlow;

/// Makes all checks that need one thread only.
pub(crate) fn assert_calm(bytes: &[u8]) {
    let whole = of_slice(bytes);
    whole.assert_within(bytes.len() as u64);
    assert_every_byte_is_explained(bytes);
    counted::assert_linear(bytes);
    // Pieces of odd sizes, from a source that answers `WouldBlock` every other time.
    for size in [1, 7, 61, 4099] {
        // Small pieces take too long for large streams.
        if bytes.len() / size <= 3000 {
            let pieces = in_pieces(bytes, size, size % 2 == 1);
            assert!(pieces == whole, "pieces of {size}: {}", pieces.difference(&whole));
        }
    }
    assert_for_each_is_next_event(bytes, &whole);
    assert_time_order(bytes, &whole);
    assert_filtered_is_time_order(bytes, &whole);
}

/// Asserts that `for_each` delivers the events of `next_event`.
pub(crate) fn assert_for_each_is_next_event(bytes: &[u8], whole: &Told) {
    let mut reader = Reader::from_slice(bytes);
    let mut events = Vec::new();
    let result = reader.for_each(|event| events.push(reading::digest(&event)));
    let told = told_of_reader(&reader, events, result.err());
    assert!(told == *whole, "for_each: {}", told.difference(whole));
}

/// Asserts that time order delivers the same events, sorted except for the events that it counts as
/// out of order.
pub(crate) fn assert_time_order(bytes: &[u8], whole: &Told) {
    let mut ordered = Reader::from_slice(bytes).time_ordered();
    let mut events = Vec::new();
    let (mut last, mut falls) = (0, 0u64);
    let error = loop {
        match ordered.next_event() {
            Ok(Some(event)) => {
                falls += u64::from(event.timestamp_ticks() < last);
                last = event.timestamp_ticks();
                events.push(reading::digest(&event));
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(
        falls <= ordered.out_of_order(),
        "{falls} steps back, {} counted",
        ordered.out_of_order()
    );
    let is_limited = ordered.reader().damage().notes().any(|note| note.context == "time order");
    assert!(!is_limited, "no stream of a test reaches the queue's limit");
    let mut told = told_of_reader(ordered.reader(), events, error);
    let mut whole = whole.clone();
    told.events.sort_unstable();
    whole.events.sort_unstable();
    assert!(told == whole, "time order: {}", told.difference(&whole));
}

/// Asserts that several threads deliver the events of one thread, in both orders.
pub(crate) fn assert_parallel_is_serial(bytes: &[u8]) {
    for order in [Order::File, Order::Time] {
        let read = |threads| {
            let mut events = Vec::new();
            let work = |region: &mut Region<'_, _>| -> Result<Vec<u64>, Error> {
                let mut digests = Vec::new();
                region.for_each(|event| digests.push(reading::digest(&event)))?;
                Ok(digests)
            };
            let options = changed(|it: &mut Options| (it.threads, it.order) = (threads, order));
            let outcome = parallel::read(
                || Whole::new(bytes),
                options,
                work,
                |digests: Vec<u64>| {
                    events.extend(digests);
                    ControlFlow::Continue(())
                },
            );
            told_of_outcome(outcome, events)
        };
        let (one, three) = (read(1), read(3));
        assert!(one == three, "{order:?}: {}", three.difference(&one));
    }
}
