//! Tests of event blobs of NetPerf, version 3 (FORMAT.md 5).

use crate::snapshot::{observe, observe_ordered, read};
use crate::streams::{START, at, begun, definition, event, events, opened, shape};
use nettrace_parser::{BlockKind, Class, Fault, Reader};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;

fn v3_event(later: u64, payload: &[u8], frames: &[u64]) -> Blob {
    Blob { payload: payload.to_vec(), stack: addresses(8, frames), ..event(0, later) }
}

#[test]
fn t043_payload_stack_size_and_stack_follow_each_other_without_alignment_padding_comes_last() {
    let mut stream = begun(Version::V3);
    let payloads: Vec<Vec<u8>> = (0..9).map(|length| (1..=length).collect()).collect();
    let frames = [0x7f00_0000_1000, 0x7f00_0000_2000];
    events(
        &mut stream,
        payloads.iter().zip(1..).map(|(payload, later)| v3_event(later, payload, &frames)),
    );
    // Padding is what EventSize says, not what is needed.
    let blob = Blob { extra: vec![0xee; 9], ..v3_event(10, &[7], &frames[..1]) };
    events(&mut stream, [blob, v3_event(11, &[8], &[])]);
    stream.end();
    let outcome = read(&stream.bytes);
    for (event, payload) in outcome.events.iter().zip(&payloads) {
        assert_eq!((&event.payload, &event.stack[..]), (payload, &frames[..]));
        assert_eq!(event.payload_offset, event.offset + 56);
    }
    let offsets: Vec<u64> = outcome.events[..9].iter().map(|event| event.offset).collect();
    let sizes: Vec<u64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // 56 + payload + 4 + 16, up to a multiple of 4.
    assert_eq!(sizes, [76, 80, 80, 80, 80, 84, 84, 84]);
    let last: Vec<_> =
        outcome.events[9..].iter().map(|event| (&event.payload[..], &event.stack[..])).collect();
    assert_eq!(last, [(&[7][..], &frames[..1]), (&[8][..], &[][..])]);
    assert!(outcome.is_flawless());
    // The worked example: 5 bytes of payload, one frame, 3 bytes of padding.
    let example =
        Blob { stack: addresses(8, &[0x7f00_0000_1000]), ..v3_event(110, &[5, 0, 0, 0, 7], &[]) };
    let mut stream = begun(Version::V3);
    events(&mut stream, [example, v3_event(111, &[], &[])]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events[1].offset - outcome.events[0].offset, 76);
    assert_eq!(outcome.events[0].stack, [0x7f00_0000_1000]);
}

#[test]
fn t044_metadata_and_events_share_a_block_and_metadata_id_0_defines() {
    let mut stream = opened(Version::V3);
    let second = Definition { name: "Second".into(), event_id: 8, ..definition(2) };
    events(
        &mut stream,
        [
            Blob::definition(11, START, definition(1).encode()),
            v3_event(1, &[1], &[]),
            Blob::definition(11, START, second.encode()),
            Blob { metadata_id: 2, ..v3_event(2, &[2], &[]) },
            v3_event(3, &[3], &[]),
        ],
    );
    // Definitions hold from one block to the next, and one may be the last of its block.
    let third = Definition { name: "Third".into(), ..definition(3) };
    events(
        &mut stream,
        [
            Blob { metadata_id: 2, ..v3_event(4, &[4], &[]) },
            Blob::definition(11, START, third.encode()),
        ],
    );
    events(&mut stream, [Blob { metadata_id: 3, ..v3_event(5, &[5], &[]) }]);
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> =
        outcome.events.iter().map(|event| (event.name.as_str(), event.payload[0])).collect();
    assert_eq!(seen, [("Hi", 1), ("Second", 2), ("Hi", 3), ("Second", 4), ("Third", 5)]);
    assert!(outcome.is_flawless());
    let mut reader = Reader::from_slice(&stream.bytes);
    while reader.next_event().unwrap().is_some() {}
    assert_eq!(reader.statistics().events, 5);
    assert_eq!(reader.statistics().rows(BlockKind::Metadata), 3);
}

#[test]
fn t045_a_32_bit_stream_s_stacks_are_4_byte_addresses() {
    let mut stream = Stream::new(Version::V3);
    stream.trace(&Trace { pointer_size: 4, ..Trace::default() });
    let stack = addresses(4, &[0x1000, 0xffff_fffc, 0x3000]);
    assert_eq!(stack.len(), 12);
    events(
        &mut stream,
        [
            Blob::definition(11, START, definition(1).encode()),
            Blob { stack, ..event(0, 1) },
            // Whole addresses only.
            Blob { stack: vec![1, 0, 0, 0, 2, 0], ..event(0, 2) },
        ],
    );
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events[0].stack, [0x1000, 0xffff_fffc, 0x3000]);
    assert_eq!(outcome.events[1].stack, [1]);
    assert!(outcome.is_complete);
}

/// Returns a stream with a block of three events, of which the second is `wrong`, and a block of
/// one event. Also returns the positions of the wrong event and of the end of its block.
fn with_wrong_event(wrong: Blob) -> (Stream, u64, u64) {
    let mut stream = begun(Version::V3);
    events(&mut stream, [v3_event(1, &[1], &[]), wrong, v3_event(3, &[3], &[])]);
    events(&mut stream, [v3_event(4, &[4], &[9])]);
    stream.end();
    let block = stream.nth(PartKind::Event, 1);
    let (row, end) = (block.rows[1].start as u64, block.content.end as u64);
    (stream, row, end)
}

fn assert_rest_of_block_is_lost(wrong: Blob, fault: Fault) {
    let (stream, row, end) = with_wrong_event(wrong);
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, row, fault)]);
    assert_eq!(outcome.findings[0].lost_bytes, end - row);
    assert_eq!(outcome.findings[0].block, Some(BlockKind::Event));
    assert_eq!(outcome.ticks(), at([1, 4]));
    assert!(outcome.is_complete);
}

#[test]
fn t046_eventsize_that_leaves_the_block_loses_the_rest_of_the_block_only() {
    let whole = v3_event(2, &[2], &[5]);
    // Two events remain in the block: 72 and 64 bytes.
    for size in [72 + 64 - 4 + 1, 10_000, i32::MAX as u32, u32::MAX, u32::MAX - 3] {
        let wrong = Blob { event_size: Some(size), ..whole.clone() };
        assert_rest_of_block_is_lost(wrong, Fault::RowSize(u64::from(size)));
    }
    // A size that ends exactly with the block makes the next event padding.
    let (stream, _, _) = with_wrong_event(Blob { event_size: Some(72 + 64 - 4), ..whole });
    assert_eq!(read(&stream.bytes).ticks(), at([1, 2, 4]));
}

#[test]
fn t047_payload_size_or_stack_size_larger_than_the_event_loses_the_rest_of_the_block_only() {
    let whole = v3_event(2, &[2, 2, 2, 2], &[5]);
    // 4 bytes of payload, 4 of stack size, 8 of stack.
    for size in [13, 1000, i32::MAX as u32, u32::MAX] {
        let wrong = Blob { payload_size: Some(size), ..whole.clone() };
        assert_rest_of_block_is_lost(wrong, Fault::PayloadSize(size));
    }
    for size in [9, 1000, i32::MAX as u32, u32::MAX] {
        let wrong = Blob { stack_size: Some(size), ..whole.clone() };
        assert_rest_of_block_is_lost(wrong, Fault::StackSize(size));
    }
    // An event without room for its own header.
    for size in [0, 52, 55] {
        let wrong =
            Blob { event_size: Some(size), payload: vec![], stack: vec![], ..whole.clone() };
        let fault = Fault::PayloadSize(0);
        assert_rest_of_block_is_lost(wrong, fault);
    }
}

#[test]
fn t048_every_event_of_the_real_2_1_streams_decodes_and_file_order_is_time_order() {
    assert_every_event_decodes_in_time_order("net3.1-linux-x64/all.netperf", 9_164);
}

fn assert_every_event_decodes_in_time_order(name: &str, count: usize) {
    let trace = corpus::trace(name);
    let bytes = trace.bytes();
    let outcome = observe(Reader::from_slice(&bytes));
    assert_eq!(outcome.version, Some(nettrace_parser::Version::V3));
    assert_eq!(outcome.events.len(), count);
    assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    assert_eq!(outcome.trace.as_ref().unwrap().tick_frequency, 1_000_000_000);
    assert!(outcome.events.is_sorted_by_key(|event| event.ticks));
    assert!(
        outcome.events.iter().all(|event| event.metadata.is_some() && !event.provider.is_empty())
    );
    assert!(outcome.events.iter().all(|event| event.number == 0 && event.processor.is_none()));
    assert_eq!((outcome.lost, outcome.end_offset), (0, Some(bytes.len() as u64)));
    let mut in_time = observe_ordered(Reader::from_slice(&bytes));
    in_time.out_of_order = 0;
    assert!(in_time == outcome, "file order is time order");
}

#[test]
fn t049_tracelogging_objects_in_v3_are_a_nameless_object_with_fields() {
    let inner = vec![Field::new("deep", FieldType::Guid)];
    let members = vec![
        Field::new("a", FieldType::Int32),
        Field::new("o", FieldType::Object(inner)),
        Field::new("s", FieldType::Text),
    ];
    let described =
        Definition { fields: vec![Field::new("", FieldType::Object(members))], ..definition(1) };
    let mut stream = opened(Version::V3);
    events(
        &mut stream,
        [
            Blob::definition(11, START, described.encode()),
            v3_event(
                1,
                &payload(&[Value::I32(5), Value::Guid([3; 16]), Value::Text("x".into())]),
                &[],
            ),
        ],
    );
    stream.end();
    let outcome = read(&stream.bytes);
    let schema = &outcome.events[0].metadata.as_ref().unwrap().schema;
    assert_eq!(shape(schema), ": {a: I32, o: {deep: Guid}, s: Utf16Text}");
    assert!(outcome.is_flawless());
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_event_of_the_netperf_stream_of_net_10_decodes_in_time_order() {
        assert_every_event_decodes_in_time_order("net10-linux-x64/all.netperf", 29_613);
    }
}
