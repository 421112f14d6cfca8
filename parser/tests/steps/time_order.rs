//! Tests of the work for time order with the most expensive orders of times. Work is counted, not
//! timed: turns, runs, and moved events.

use super::{Candidate, FilteredEvents, PendingFilter};
use crate::limits::Limits;
use crate::reader::Reader;
use crate::source::Whole;
use crate::work;
use nettrace_testdata::changed;
use nettrace_testdata::synth::{Blob, EventBlock, Stream, Trace, Version};

const EVENTS: u64 = 3_000;

/// Function from the index of an event to its time, and to whether it is marked as sorted.
type Time = fn(u64) -> (u64, bool);

/// Returns a stream of events with these times and marks, `in_block` events in a block.
fn stream(times: impl Iterator<Item = (u64, bool)>, in_block: usize) -> Vec<u8> {
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let events: Vec<Blob> = (1..)
        .zip(times)
        .map(|(sequence_number, (ticks, is_sorted))| Blob {
            sequence_number,
            ticks,
            is_sorted,
            payload: vec![0; 40],
            ..Blob::default()
        })
        .collect();
    for events in events.chunks(in_block) {
        stream.event_block(&EventBlock::new(events.to_vec()));
    }
    stream.end();
    stream.bytes
}

/// A filter that defers all events.
struct Waiting;

impl PendingFilter for Waiting {
    fn is_deferred(&mut self, _: &Candidate<'_>) -> bool {
        true
    }
}

/// Returns the number of steps for each event.
fn steps(bytes: &[u8], limits: Limits, is_filtered: bool) -> u64 {
    let mut events = Reader::with_limits(Whole::new(bytes), limits).time_ordered();
    let mut count = 0;
    work::take();
    if is_filtered {
        while events.advance(&mut Waiting).unwrap().is_some() {
            while events.ready().is_some() {
                count += 1;
            }
        }
    } else {
        while events.next_event().unwrap().is_some() {
            count += 1;
        }
    }
    assert_eq!(count, EVENTS);
    work::take() / EVENTS
}

#[test]
fn merging_takes_a_bounded_number_of_steps_for_each_event_whatever_the_times() {
    let shapes: [(&str, Time); 8] = [
        ("ever older", |n| (EVENTS - n, false)),
        ("ever younger, none sorted", |n| (n, false)),
        ("all alike", |_| (7, false)),
        ("the youngest first, then older ones that are sorted", |n| {
            (if n < 1250 { u64::MAX } else { n }, n >= 1250)
        }),
        ("half of them young, then each lets one go", |n| {
            if n < EVENTS / 2 { (EVENTS + n, false) } else { (n - EVENTS / 2, true) }
        }),
        ("two threads, one behind", |n| (if n % 2 == 0 { n } else { n + EVENTS }, n % 2 == 0)),
        ("a saw", |n| (n % 777, n % 777 == 0)),
        ("far apart", |n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15), n % 100 == 0)),
    ];
    let limits = [
        Limits::default(),
        changed(|it: &mut Limits| it.queue_events = 250),
        changed(|it: &mut Limits| it.queue_events = 1),
        changed(|it: &mut Limits| it.queue_bytes = 50_000),
        changed(|it: &mut Limits| it.queue_bytes = 1),
        changed(|it: &mut Limits| (it.queue_events, it.queue_bytes) = (2250, 225_000)),
    ];
    for (what, time) in shapes {
        for in_block in [1, 250] {
            let bytes = stream((0..EVENTS).map(time), in_block);
            for limits in limits {
                for is_filtered in [false, true] {
                    let steps = steps(&bytes, limits, is_filtered);
                    // Six steps find the events that can be released, one is the turn of the event,
                    // and one moves it.
                    assert!(steps <= 8, "{what}, {in_block} in a block, {limits:?}: {steps}");
                }
            }
        }
    }
}
