//! Tests of losses in streams with more threads than a reader keeps.

use nettrace_parser::parallel::{self, Options, Order};
use nettrace_parser::{Losses, Reader, Whole};
use nettrace_testdata::changed;
use nettrace_testdata::one_type;
use nettrace_testdata::synth::{
    Blob, EventBlock, RemoveThreadBlock, SequencePoint, Stream, ThreadBlock, ThreadRow, Version,
};
use std::ops::ControlFlow;

/// Maximum number of threads whose sequence numbers a reader keeps.
const KNOWN: u32 = 65_536;

fn row(thread: u32, sequence_number: u32, ticks: u64) -> Blob {
    Blob {
        metadata_id: 1,
        sequence_number,
        thread_id: u64::from(thread),
        capture_thread_id: u64::from(thread),
        ticks,
        ..Blob::default()
    }
}

/// Writes one event of each of the threads 1 to `threads`, with sequence number `number`.
fn events(stream: &mut Stream, threads: u32, number: u32) {
    for first in (1..=threads).step_by(1000) {
        let rows = (first..=threads.min(first + 999)).map(|thread| row(thread, number, 5));
        stream.event_block(&EventBlock::new(rows));
    }
}

fn point(stream: &mut Stream, threads: std::ops::RangeInclusive<u32>, number: u32) {
    let threads = threads.map(|thread| (u64::from(thread), number)).collect();
    stream.sequence_point(&SequencePoint { ticks: 5, threads, ..SequencePoint::default() });
}

/// Returns the losses of a stream, which must be equal for reading with one and with three threads.
fn losses(stream: &Stream) -> Losses {
    let mut reader = Reader::from_slice(&stream.bytes);
    reader.for_each(|_| {}).unwrap();
    assert!(!reader.damage().is_damaged(), "{:?}", reader.damage().findings());
    let options = changed(|it: &mut Options| (it.threads, it.order) = (3, Order::File));
    let outcome = parallel::read(
        || Whole::new(&stream.bytes[..]),
        options,
        |region| region.for_each(|_| {}),
        |()| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!(&outcome.losses, reader.losses());
    assert_eq!(outcome.losses.is_at_least(), reader.losses().is_at_least());
    reader.losses().clone()
}

#[test]
fn losses_of_65_536_threads_are_exact() {
    for lists in [false, true] {
        let mut stream = one_type(Version::V4);
        events(&mut stream, KNOWN, 3);
        if lists {
            point(&mut stream, 1..=KNOWN, 5);
        }
        events(&mut stream, KNOWN, 8);
        stream.end();
        let losses = losses(&stream);
        assert_eq!((losses.total(), losses.restarts()), (u64::from(KNOWN) * 6, 0), "{lists}");
        assert_eq!((losses.by_thread().len(), losses.is_at_least()), (KNOWN as usize, false));
    }
}

#[test]
fn of_more_threads_no_loss_is_counted_that_may_be_none() {
    let threads = KNOWN + 10_000;
    let mut stream = one_type(Version::V4);
    events(&mut stream, threads, 1);
    events(&mut stream, threads, 2);
    point(&mut stream, 1..=threads, 2);
    events(&mut stream, threads, 3);
    point(&mut stream, 1..=threads, 3);
    events(&mut stream, threads, 4);
    stream.end();
    let losses = losses(&stream);
    assert_eq!((losses.total(), losses.restarts()), (0, 0));
    assert!(losses.is_at_least());
}

#[test]
fn of_more_threads_some_losses_are_counted_and_never_more_than_there_are() {
    let threads = KNOWN + 10_000;
    let mut stream = one_type(Version::V4);
    events(&mut stream, threads, 3);
    stream.end();
    let losses = losses(&stream);
    let (least, most) = (u64::from(KNOWN), u64::from(threads) * 2);
    assert!((least..=most).contains(&losses.total()), "{}", losses.total());
    assert!(losses.is_at_least());
}

#[test]
fn losses_are_exact_again_after_a_sequence_point_that_lists_all_threads() {
    let mut stream = one_type(Version::V4);
    events(&mut stream, KNOWN + 10_000, 1);
    point(&mut stream, 1..=100, 1);
    events(&mut stream, 100, 2);
    point(&mut stream, 1..=100, 2);
    events(&mut stream, 100, 5);
    // A thread that is not known yet.
    stream.event_block(&EventBlock::new([row(7_000_000, 3, 5)]));
    let mut threads: Vec<(u64, u32)> = (1..=100).map(|thread| (thread, 6)).collect();
    threads.push((7_000_000, 4));
    stream.sequence_point(&SequencePoint { ticks: 5, threads, ..SequencePoint::default() });
    stream.end();
    let losses = losses(&stream);
    assert_eq!(losses.total(), 100 * 3 + 3);
    assert!(losses.is_at_least(), "what was lost before is not known");
}

#[test]
fn threads_that_end_are_any_number() {
    let mut stream = one_type(Version::V4);
    for region in 0..300u32 {
        let threads = region * 1000 + 1..=region * 1000 + 1000;
        stream.event_block(&EventBlock::new(threads.clone().map(|thread| row(thread, 1, 5))));
        stream.event_block(&EventBlock::new(threads.clone().map(|thread| row(thread, 3, 5))));
        point(&mut stream, threads, 4);
    }
    stream.end();
    let losses = losses(&stream);
    assert_eq!(losses.total(), 300 * 1000 * 2);
    assert!(losses.is_at_least(), "of which threads is kept of 65,536");
    assert_eq!(losses.by_thread().len(), KNOWN as usize);
}

#[test]
fn in_version_6_more_threads_than_are_known_lose_nothing_that_they_have() {
    let threads = KNOWN + 10_000;
    let mut stream = one_type(Version::V6);
    for first in (2..=threads).step_by(1000) {
        let indices = first..=threads.min(first + 999);
        let rows = indices.map(|index| ThreadRow::new(u64::from(index), 1, u64::from(index)));
        stream.thread_block(&ThreadBlock::new(rows.collect()));
    }
    for number in 1..=2 {
        events(&mut stream, threads, number);
    }
    point(&mut stream, 1..=threads, 2);
    events(&mut stream, threads, 3);
    stream.remove_thread_block(&RemoveThreadBlock::new(
        (1..=1000).map(|thread| (thread, 3)).collect(),
    ));
    stream.end();
    let losses = losses(&stream);
    assert_eq!(losses.total(), 0);
    assert!(losses.is_at_least());
}
