//! Tests that a feed delivers the events of a reader, whatever the size of the pushed pieces, and
//! keeps few bytes.

use crate::snapshot;
use nettrace_testdata::changed;

use nettrace_parser::{BlockKind, Feed, Limits, Reader, Source, Whole};
use nettrace_testdata::synth::{Damage, Version, strategy};
use nettrace_testdata::{cases, corpus};
use proptest::prelude::*;
use snapshot::Seen;

/// Pushes a stream in pieces, and takes the events after each piece.
fn fed(mut feed: Feed, bytes: &[u8], size: usize) -> (Vec<Seen>, Feed) {
    let mut events = Vec::new();
    for piece in bytes.chunks(size) {
        feed.push(piece);
        while let Ok(Some(event)) = feed.next_event() {
            events.push(Seen::from_event(&event));
        }
    }
    feed.end();
    feed.push(b"too late");
    while let Ok(Some(event)) = feed.next_event() {
        events.push(Seen::from_event(&event));
    }
    (events, feed)
}

/// Asserts that a feed and a reader find the same in a stream, in both orders.
fn assert_same(bytes: &[u8], size: usize, name: &str) {
    let (events, mut feed) = fed(Feed::new(), bytes, size);
    let mut reader = Reader::from_slice(bytes);
    let mut expected = Vec::new();
    let error = reader.for_each(|event| expected.push(Seen::from_event(&event))).err();
    assert_eq!(
        feed.next_event().err().map(|error| error.to_string()),
        error.map(|error| error.to_string())
    );
    assert!(events == expected, "{name}: {} and {} events", events.len(), expected.len());
    assert_eq!(feed.reader().damage(), reader.damage(), "{name}");
    assert_eq!(feed.reader().losses().total(), reader.losses().total(), "{name}");
    assert_eq!(feed.reader().statistics(), reader.statistics(), "{name}");
    assert_eq!(feed.reader().is_complete(), reader.is_complete(), "{name}");
    assert_eq!(feed.reader().end_offset(), reader.end_offset(), "{name}");
    assert_eq!(feed.is_ended(), reader.end_offset().is_some(), "{name}");

    let (events, feed) = fed(Feed::new().time_ordered(), bytes, size);
    let mut ordered = Reader::from_slice(bytes).time_ordered();
    expected.clear();
    let _ = ordered.for_each(|event| expected.push(Seen::from_event(&event)));
    assert!(events == expected, "{name}: {} and {} events by time", events.len(), expected.len());
    assert_eq!(
        (feed.outcome().out_of_order, feed.reader().damage()),
        (ordered.out_of_order(), ordered.reader().damage()),
        "{name}"
    );
    assert_eq!(feed.outcome(), ordered.outcome(), "{name}");
}

#[test]
fn every_trace_gives_the_same_in_pieces_of_any_size() {
    let mut fed = 0;
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        if bytes.len() < 20_000 {
            assert_same(&bytes, 1, trace.name());
        }
        if bytes.len() < 600_000 {
            assert_same(&bytes, 1000, trace.name());
            assert_same(&bytes, 100_003, trace.name());
            fed += 1;
        }
    }
    assert!(fed > 3);
}

#[test]
fn a_feed_keeps_its_limits_in_either_order() {
    let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    let limits = changed(|it: &mut Limits| it.block_bytes = 16);
    let mut reader = Reader::with_limits(Whole::new(bytes.as_slice()), limits);
    let mut events = 0;
    let _ = reader.for_each(|_| events += 1);
    for mut feed in [Feed::with_limits(limits), Feed::with_limits(limits).time_ordered()] {
        feed.push(&bytes);
        feed.end();
        let mut came = 0;
        let _ = feed.for_each(|_| came += 1);
        assert_eq!((came, feed.reader().damage()), (events, reader.damage()));
        assert!(came < 4);
    }
}

#[test]
fn events_come_with_the_bytes_that_complete_them() {
    let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    let mut feed = Feed::new();
    let mut came = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        feed.push(&[*byte]);
        while feed.next_event().unwrap().is_some() {
            came.push(at + 1);
        }
        assert!(!feed.is_ended() || at + 1 == bytes.len());
    }
    // All events of a block are delivered when the first byte after the block has arrived.
    assert_eq!(came, [end_of_events(&bytes) + 1; 4]);
    feed.end();
    assert!(feed.next_event().unwrap().is_none() && feed.is_ended() && feed.reader().is_complete());
}

/// Returns the number of events that a feed can deliver now.
fn count(feed: &mut Feed) -> u64 {
    let mut events = 0;
    while feed.next_event().unwrap().is_some() {
        events += 1;
    }
    events
}

/// Returns the position after the event block of a stream.
fn end_of_events(bytes: &[u8]) -> usize {
    let mut reader = Reader::from_slice(bytes);
    while let Some(block) = reader.next_block().unwrap() {
        if block.kind == BlockKind::Event {
            return usize::try_from(block.span.end()).unwrap();
        }
    }
    unreachable!("there is an event block")
}

#[test]
fn what_is_held_is_a_block_and_a_piece() {
    let trace = corpus::trace("net10-linux-x64/all.nettrace");
    let bytes = trace.bytes();
    let mut blocks = Reader::from_slice(&bytes);
    let mut largest = 0;
    while let Some(block) = blocks.next_block().unwrap() {
        largest = largest.max(block.span.len as usize);
    }
    let (mut feed, mut events, mut most) = (Feed::new(), 0, 0);
    for piece in bytes.chunks(10_000) {
        feed.push(piece);
        events += count(&mut feed);
        most = most.max(feed.reader().source().bytes().len());
    }
    feed.end();
    events += count(&mut feed);
    assert_eq!(events, feed.reader().statistics().events);
    assert!(
        events > 50_000 && most <= largest + 10_000 + 1000,
        "{most} bytes, blocks up to {largest}"
    );
}

#[test]
fn what_waits_for_its_turn_can_be_released() {
    let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    let mut feed = Feed::new().time_ordered();
    // Stops before the sequence point, which would release the events.
    feed.push(&bytes[..0x210]);
    let given = count(&mut feed);
    feed.release();
    let released = count(&mut feed);
    assert_eq!(given + released, 4);
    assert!(released > 0 && !feed.is_ended());
}

#[test]
fn a_feed_goes_to_other_threads_and_says_what_is_no_trace() {
    fn is_sent<T: Send + Sync>() {}
    is_sent::<Feed>();
    let mut feed = Feed::new();
    assert!(feed.next_event().unwrap().is_none());
    feed.push(b"This is a text, and nothing that anybody would call a trace.");
    for _ in 0..2 {
        assert!(!feed.next_event().unwrap_err().is_would_block());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(24)) })]

    #[test]
    fn damaged_streams_give_the_same_in_pieces(
        session in prop::sample::select(vec![Version::V3, Version::V4, Version::V6])
            .prop_flat_map(|version| strategy::sessions(version, 40)),
        flips in prop::collection::vec((0_usize..3000, 1_u8..), 0..4),
        cut in prop::option::of(0_usize..3000),
        size in 1_usize..400,
    ) {
        let mut bytes = session.record().stream.bytes;
        for (at, mask) in flips {
            Damage::Flip { at, mask }.apply(&mut bytes);
        }
        if let Some(at) = cut {
            Damage::Cut { at }.apply(&mut bytes);
        }
        assert_same(&bytes, size, "a session");
    }
}
