//! Tests of sequence points, time order (FORMAT.md 11) and losses (12).

use crate::snapshot::{Outcome, observe, ordered, ordered_within, read};
use crate::streams::{EACH, START, V4_AND_V6, at, begun, events, on, point, sorted};
use nettrace_parser::{Class, Fault, Limits, Reader};
use nettrace_testdata::changed;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;
use std::collections::BTreeMap;

/// Returns the capture thread and the time of each event, in the order of the events.
fn threads_and_times(outcome: &Outcome) -> Vec<(u64, u64)> {
    outcome.events.iter().map(|event| (event.capture_thread, event.ticks - START)).collect()
}

#[test]
fn t103_events_between_two_sequence_points_come_out_in_time_order_over_threads() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        // Two runs, then the first thread again in another block; nothing is marked.
        events(&mut stream, [on(11, 1, 3), on(11, 2, 7), on(12, 1, 1), on(12, 2, 5)]);
        events(&mut stream, [on(11, 3, 9), on(12, 3, 6)]);
        point(&mut stream, 10, &[(11, 3), (12, 3)]);
        events(&mut stream, [on(12, 4, 14), on(11, 4, 12)]);
        point(&mut stream, 20, &[(11, 4), (12, 4)]);
        stream.end();
        assert_eq!(read(&stream.bytes).ticks(), at([3, 7, 1, 5, 9, 6, 14, 12]));
        let outcome = ordered(&stream.bytes);
        assert_eq!(
            threads_and_times(&outcome),
            [(12, 1), (11, 3), (12, 5), (12, 6), (11, 7), (11, 9), (11, 12), (12, 14)]
        );
        assert_eq!((outcome.out_of_order, outcome.lost), (0, 0));
        assert!(outcome.is_flawless());
    }
    // Version 3 has neither points nor numbers: its file order is its time order.
    let mut stream = begun(Version::V3);
    events(&mut stream, [on(11, 0, 1), on(12, 0, 2), on(11, 0, 2)]);
    stream.end();
    assert_eq!(ordered(&stream.bytes), read(&stream.bytes));
}

#[test]
fn t104_a_sorted_event_releases_everything_not_younger_than_itself() {
    for version in V4_AND_V6 {
        // An event that is older than the mark shows that the mark released all events up to 10.
        let mut stream = begun(version);
        events(
            &mut stream,
            [on(11, 1, 8), on(11, 2, 10), on(11, 3, 12), sorted(on(12, 1, 10)), on(12, 2, 9)],
        );
        stream.end();
        let outcome = ordered(&stream.bytes);
        assert_eq!(threads_and_times(&outcome), [(11, 8), (11, 10), (12, 10), (12, 9), (11, 12)]);
        assert_eq!(outcome.out_of_order, 1);
        // Without the mark all of them are put in order.
        let mut stream = begun(version);
        events(
            &mut stream,
            [on(11, 1, 8), on(11, 2, 10), on(11, 3, 12), on(12, 1, 10), on(12, 2, 9)],
        );
        stream.end();
        let outcome = ordered(&stream.bytes);
        assert_eq!(threads_and_times(&outcome), [(11, 8), (12, 9), (11, 10), (12, 10), (11, 12)]);
        assert_eq!(outcome.out_of_order, 0);
        // An event with the time of the mark is not too late.
        let mut stream = begun(version);
        events(
            &mut stream,
            [sorted(on(11, 1, 10)), on(12, 1, 10), sorted(on(12, 2, 11)), on(11, 2, 11)],
        );
        stream.end();
        let outcome = ordered(&stream.bytes);
        assert_eq!(threads_and_times(&outcome), [(11, 10), (12, 10), (12, 11), (11, 11)]);
        assert_eq!(outcome.out_of_order, 0);
    }
}

#[test]
fn t105_equal_timestamps_keep_file_order() {
    for version in V4_AND_V6 {
        for mark in [false, true] {
            let mut stream = begun(version);
            let numbers: Vec<(u64, u32)> =
                (1..40).map(|n| (if n % 3 == 0 { 11 } else { 12 }, n)).collect();
            let mut given = BTreeMap::new();
            let blobs: Vec<Blob> = numbers
                .iter()
                .map(|(thread, n)| {
                    let number: &mut u32 = given.entry(*thread).or_default();
                    *number += 1;
                    Blob {
                        is_sorted: mark && n % 7 == 0,
                        payload: payload(&[Value::U32(*n)]),
                        ..on(*thread, *number, 5)
                    }
                })
                .collect();
            let (first, second) = blobs.split_at(20);
            events(&mut stream, first.to_vec());
            events(&mut stream, second.to_vec());
            stream.end();
            let outcome = ordered(&stream.bytes);
            let seen: Vec<u8> = outcome.events.iter().map(|event| event.payload[0]).collect();
            assert_eq!(seen, (1..40).collect::<Vec<_>>());
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t106_an_unsorted_change_of_the_capture_thread_is_attributed_to_the_right_thread() {
    for version in V4_AND_V6 {
        for layout in [BlobLayout::Compressed, BlobLayout::Uncompressed] {
            let mut stream = begun(version);
            // All events are about one thread, but the capture thread changes.
            let of = |capture, number, later| Blob {
                thread_id: 12,
                capture_thread_id: capture,
                ..on(12, number, later)
            };
            let blobs = [
                of(11, 1, 1),
                of(12, 1, 2),
                of(11, 2, 3),
                of(11, 5, 4),
                of(12, 2, 5),
                of(12, 4, 6),
            ];
            stream.event_block(&EventBlock::new(blobs).layout(layout));
            stream.end();
            let outcome = read(&stream.bytes);
            let seen: Vec<_> = outcome
                .events
                .iter()
                .map(|event| (event.capture_thread, event.number, event.thread))
                .collect();
            let expected = [(11, 1), (12, 1), (11, 2), (11, 5), (12, 2), (12, 4)];
            assert_eq!(seen, expected.map(|(capture, number)| (capture, number, Some(12))));
            assert!(outcome.events.iter().all(|event| !event.is_sorted));
            assert_eq!(outcome.lost_by_thread, BTreeMap::from([(11, 2), (12, 1)]));
            assert_eq!((outcome.lost, outcome.restarts), (3, 0));
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t107_the_end_of_the_stream_releases_everything_also_a_cut_end() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [sorted(on(11, 1, 5)), on(11, 2, 9), on(12, 1, 6), on(12, 2, 8)]);
        let cut = stream.bytes.len();
        stream.end();
        let outcome = ordered(&stream.bytes);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([5, 6, 8, 9]).to_vec(), true));
        // First without the end mark, then also without the last event.
        let outcome = ordered(&stream.bytes[..cut]);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([5, 6, 8, 9]).to_vec(), false));
        let last = stream.nth(PartKind::Event, 0).rows[3].start;
        let outcome = ordered(&stream.bytes[..last + 3]);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([5, 6, 9]).to_vec(), false));
        assert_eq!(outcome.out_of_order, 0);
    }
}

#[test]
fn t108_an_event_older_than_one_already_delivered_is_delivered_and_counted() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [on(11, 1, 10), on(12, 1, 20)]);
        point(&mut stream, 30, &[(11, 1), (12, 1)]);
        // Older than what the sequence point released, and then older than a mark's
        // promise.
        events(
            &mut stream,
            [on(11, 2, 15), on(12, 2, 5), sorted(on(11, 3, 40)), on(12, 3, 39), on(12, 4, 41)],
        );
        stream.end();
        let outcome = ordered(&stream.bytes);
        assert_eq!(
            threads_and_times(&outcome),
            [(11, 10), (12, 20), (11, 15), (12, 5), (11, 40), (12, 39), (12, 41)]
        );
        assert_eq!(outcome.out_of_order, 3);
        // In version 4 it is also a contradiction if the time of a thread falls.
        let fell = (Class::Contradiction, outcome.events[3].offset, Fault::TimeFalls(START + 5));
        let expected = if version == Version::V4 { vec![fell] } else { vec![] };
        assert_eq!((outcome.lost, outcome.damage()), (0, expected));
    }
}

#[test]
fn t109_the_queue_s_limit_releases_early_and_says_so() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        // Twelve events of a thread, then six that are older than half of those.
        events(&mut stream, (1..=12).map(|n| on(11, n, 100 + u64::from(n))));
        events(&mut stream, (1..=6).map(|n| on(12, n, 50 + u64::from(n))));
        stream.end();
        // The tenth event fills the queue, so that the older half is released. Five are left, so
        // the next half is released after the first three events of the other thread.
        let outcome =
            ordered_within(&stream.bytes, changed(|it: &mut Limits| it.queue_events = 10));
        let notes: Vec<_> =
            outcome.findings.iter().map(|finding| (finding.class, finding.fault)).collect();
        assert!(!notes.is_empty());
        assert!(notes.iter().all(|note| *note == (Class::Note, Fault::QueueLimit)));
        let tenth = read(&stream.bytes).events[9].offset;
        assert_eq!(outcome.findings[0].offset, tenth);
        // Everything comes, once, and what came too late is counted.
        assert_eq!(outcome.ticks()[..5], at([101, 102, 103, 104, 105]));
        let mut ticks = outcome.ticks();
        ticks.sort_unstable();
        assert_eq!(
            ticks,
            (51..=56).chain(101..=112).map(|later| START + later).collect::<Vec<_>>()
        );
        assert_eq!(outcome.out_of_order, 6);
        // A limit on bytes has the same effect.
        let row = stream.nth(PartKind::Event, 0).rows[1].clone();
        let bytes = (row.end - row.start) as u64 * 9;
        let outcome =
            ordered_within(&stream.bytes, changed(|it: &mut Limits| it.queue_bytes = bytes));
        assert_eq!(outcome.findings[0].fault, Fault::QueueLimit);
        assert_eq!(outcome.events.len(), 18);
        assert!(outcome.out_of_order > 0);
        // A queue that is large enough says nothing.
        let outcome =
            ordered_within(&stream.bytes, changed(|it: &mut Limits| it.queue_events = 19));
        assert_eq!((outcome.out_of_order, outcome.damage()), (0, vec![]));
        assert!(outcome.events.is_sorted_by_key(|event| event.ticks));
        // A queue whose events can be released anyway says nothing either.
        let mut stream = begun(version);
        events(&mut stream, (1..=100).map(|n| sorted(on(11, n, u64::from(n)))));
        stream.end();
        let outcome = ordered_within(&stream.bytes, changed(|it: &mut Limits| it.queue_events = 4));
        assert_eq!(
            (outcome.events.len(), outcome.out_of_order, outcome.damage()),
            (100, 0, vec![])
        );
    }
}

/// Reads a stream in which the events of thread 11 have these sequence numbers.
fn lost(version: Version, numbers: &[u32]) -> Outcome {
    let mut stream = begun(version);
    events(&mut stream, numbers.iter().zip(1..).map(|(number, later)| on(11, *number, later)));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.numbers(), numbers);
    outcome
}

#[test]
fn t110_a_gap_in_the_numbers_counts_its_length() {
    for version in V4_AND_V6 {
        let outcome = lost(version, &[1, 2, 5, 6, 1000]);
        assert_eq!((outcome.lost, outcome.restarts), (2 + 993, 0));
        assert_eq!(outcome.lost_by_thread, BTreeMap::from([(11, 995)]));
        assert!(outcome.is_flawless());
        let outcome = lost(version, &[1, 2, 3]);
        assert_eq!((outcome.lost, outcome.lost_by_thread.len()), (0, 0));
        // Over block ends, and with another thread in between.
        let mut stream = begun(version);
        events(&mut stream, [on(11, 1, 1), on(12, 1, 2)]);
        events(&mut stream, [on(12, 4, 3), on(11, 3, 4)]);
        stream.end();
        let expected = BTreeMap::from([(11, 1), (12, 2)]);
        assert_eq!(read(&stream.bytes).lost_by_thread, expected);
        assert_eq!(ordered(&stream.bytes).lost_by_thread, expected);
    }
    // Version 3 has no numbers: nothing can be known.
    assert_eq!(lost(Version::V3, &[0, 0]).lost, 0);
}

#[test]
fn t111_a_first_number_of_7_counts_6() {
    for version in V4_AND_V6 {
        assert_eq!(lost(version, &[7]).lost, 6);
        assert_eq!(lost(version, &[7, 8, 9]).lost_by_thread, BTreeMap::from([(11, 6)]));
        assert_eq!(lost(version, &[1]).lost, 0);
    }
}

#[test]
fn t112_a_number_that_falls_to_1_in_v4_is_a_recycled_thread_and_loses_nothing() {
    let outcome = lost(Version::V4, &[1, 2, 3, 1, 2]);
    assert_eq!((outcome.lost, outcome.restarts, outcome.damage()), (0, 1, vec![]));
    let outcome = lost(Version::V4, &[500, 1, 1]);
    assert_eq!((outcome.lost, outcome.restarts), (499, 2));
    // It falls to 4: the new thread lost its first three.
    let outcome = lost(Version::V4, &[1, 2, 3, 4, 5, 6, 4]);
    assert_eq!((outcome.lost, outcome.restarts), (3, 1));
    // A thread that a sequence point leaves out has ended: no restart, though the number
    // falls.
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2), on(12, 1, 3)]);
    point(&mut stream, 4, &[(12, 1)]);
    events(&mut stream, [on(11, 1, 5), on(12, 2, 6)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!((outcome.lost, outcome.restarts), (0, 0));
    // In version 6 indices are not recycled like that: it is a contradiction, and nothing
    // is lost.
    let outcome = lost(Version::V6, &[1, 2, 3, 1, 2]);
    let fell = outcome.events[3].offset;
    assert_eq!((outcome.lost, outcome.restarts), (0, 0));
    assert_eq!(outcome.damage(), [(Class::Contradiction, fell, Fault::NumberFell(1))]);
}

#[test]
fn t113_numbers_wrap_from_2_32_1_to_0_without_a_loss() {
    let outcome = lost(Version::V4, &[u32::MAX - 1, u32::MAX, 0, 1, 2]);
    assert_eq!((outcome.lost, outcome.restarts), (u64::from(u32::MAX) - 2, 0));
    // Over the end two are missing.
    let outcome = lost(Version::V4, &[u32::MAX, 2]);
    assert_eq!((outcome.lost, outcome.restarts), (u64::from(u32::MAX) - 1 + 2, 0));
    // In version 6 a step is at most 2^31 − 1, so the number goes there in three.
    let third = i32::MAX as u32;
    let outcome = lost(Version::V6, &[third, 2 * third, u32::MAX, 0, 1, 4]);
    let expected = (third - 1) + (third - 1) + (u32::MAX - 2 * third - 1) + 2;
    assert_eq!((outcome.lost, outcome.damage()), (u64::from(expected), vec![]));
    // A sequence point after the end of numbers.
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, u32::MAX - 1, 1)]);
    point(&mut stream, 2, &[(11, u32::MAX)]);
    point(&mut stream, 3, &[(11, 3)]);
    events(&mut stream, [on(11, 4, 4)]);
    stream.end();
    assert_eq!(read(&stream.bytes).lost, u64::from(u32::MAX) - 2 + 5);
}

/// Reads a stream in which thread 11 has events with the sequence numbers `numbers`, then sequence
/// points that list it with the numbers `points`, then events with the numbers `further`.
fn lost_with_points(
    version: Version,
    numbers: &[u32],
    points: &[u32],
    further: &[u32],
) -> (u64, u64) {
    let mut stream = begun(version);
    events(&mut stream, numbers.iter().map(|number| on(11, *number, u64::from(*number))));
    for listed in points {
        point(&mut stream, 1000, &[(11, *listed)]);
    }
    events(&mut stream, further.iter().map(|number| on(11, *number, 2000)));
    stream.end();
    let outcome = read(&stream.bytes);
    assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    (outcome.lost, outcome.restarts)
}

#[test]
fn t114_a_sequence_point_with_a_higher_number_counts_the_difference_and_only_once() {
    for version in V4_AND_V6 {
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[5], &[]), (2, 0));
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[5, 5], &[]), (2, 0));
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[5, 5], &[6, 7]), (2, 0));
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[5, 7], &[10]), (4 + 2, 0));
    }
}

#[test]
fn t115_a_sequence_point_with_a_lower_number_counts_nothing() {
    for version in V4_AND_V6 {
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[3], &[4]), (0, 0));
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[2], &[4]), (0, 0));
        assert_eq!(lost_with_points(version, &[1, 2, 3], &[0, 1], &[4, 6]), (1, 0));
    }
}

#[test]
fn t116_a_thread_that_is_only_ever_listed_counts_all_its_numbers() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [on(11, 1, 1)]);
        point(&mut stream, 2, &[(11, 1), (12, 9)]);
        point(&mut stream, 3, &[(11, 1), (12, 9)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!((outcome.lost, outcome.lost_by_thread), (9, BTreeMap::from([(12, 9)])));
    }
}

#[test]
fn t117_a_thread_id_listed_twice_in_a_sequence_point_is_accepted() {
    for version in V4_AND_V6 {
        // In versions 4 and 5 the second entry belongs to an ended thread with the same id.
        let most = if version == Version::V6 { 2 } else { 0 };
        for (listed, expected) in
            [([3, 3], 0), ([3, 1], 0), ([1, 3], 0), ([3, 5], most), ([5, 3], most)]
        {
            let mut stream = begun(version);
            events(&mut stream, [on(11, 1, 1), on(11, 2, 2), on(11, 3, 3)]);
            point(&mut stream, 4, &[(11, listed[0]), (12, 0), (11, listed[1])]);
            events(&mut stream, [on(12, 1, 5)]);
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!((outcome.lost, outcome.restarts), (expected, 0), "{version:?} {listed:?}");
            assert_eq!(outcome.events.len(), 4);
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t118_all_real_lossless_streams_lose_0() {
    let mut lossless = 0;
    for trace in corpus::traces() {
        let lost = match trace.name() {
            "net10-linux-x64/lossy.nettrace" => 19_785,
            "net11-linux-x64/lossy.nettrace" => 7_369,
            "net3.1-linux-x64/lossy.nettrace" => 15_093,
            "net10-linux-x64/killed-2.nettrace" => 3_018,
            "tiny-v4.nettrace" | "tiny-v6.nettrace" => 1,
            _ => 0,
        };
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        while reader.next_event().unwrap().is_some() {}
        let losses = reader.losses();
        assert_eq!((losses.total(), losses.restarts()), (lost, 0), "{}", trace.name());
        assert_eq!(losses.by_thread().map(|(_, lost)| lost).sum::<u64>(), lost);
        lossless += u32::from(lost == 0);
    }
    assert!(lossless >= 12);
}

#[test]
fn t119_losses_saturate_and_never_overflow() {
    // As many as one number can say, of each of many threads: far more than 32 bits hold.
    const THREADS: u64 = 1000;
    let mut stream = begun(Version::V4);
    events(&mut stream, (0..THREADS).map(|thread| on(thread + 100, u32::MAX, thread)));
    stream.end();
    let outcome = observe(Reader::from_slice(&stream.bytes));
    assert_eq!(outcome.lost, THREADS * (u64::from(u32::MAX) - 1));
    assert_eq!(outcome.lost_by_thread.len(), THREADS as usize);
    // Each restart loses as many events.
    let numbers: Vec<u32> = (0..500).flat_map(|_| [u32::MAX, 5]).collect();
    let outcome = lost(Version::V4, &numbers);
    // From 2^32 − 1 to 5 the number wraps; from 5 to 2^32 − 1 it falls.
    assert_eq!(outcome.restarts, 499);
    assert_eq!(outcome.lost, 500 * (u64::from(u32::MAX) - 1 + 5));
    for version in EACH {
        // Differences of 2^31 and more are read as steps back.
        let mut stream = begun(version);
        events(&mut stream, [on(11, 1, 1)]);
        if version != Version::V3 {
            for listed in [1 << 31, u32::MAX, 0, i32::MAX as u32, 1, u32::MAX - 5] {
                point(&mut stream, 2, &[(11, listed)]);
            }
        }
        stream.end();
        let outcome = read(&stream.bytes);
        let expected = match version {
            Version::V3 => 0,
            // The numbers are 1, 2^31 (a step of 2^31 − 1), 2^32 − 1, 0 and 2^31 − 1.
            _ => {
                (1_u64 << 31) - 1
                    + ((1 << 31) - 1)
                    + 1
                    + (i32::MAX as u64)
                    + (u64::from(u32::MAX) - 5 - i32::MAX as u64)
            }
        };
        assert_eq!(outcome.lost, expected, "{version:?}");
    }
}
