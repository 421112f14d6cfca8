//! Tests that reading with several threads has the results of one thread.

use crate::invariants::reading::digest;
use nettrace_parser::parallel::{self, MakeParts, Options, Order, Region};
use nettrace_parser::{Error, Event, Outcome, Source, Whole};
use nettrace_testdata::changed;
use nettrace_testdata::synth::{self, Damage};
use nettrace_testdata::{cases, corpus};
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

fn work<S: Source>(region: &mut Region<'_, S>) -> Result<Vec<u64>, Error> {
    let mut digests = Vec::new();
    region.for_each(|event| digests.push(digest(&event)))?;
    Ok(digests)
}

fn read(bytes: &[u8], order: Order, threads: usize) -> (Vec<u64>, Outcome) {
    let mut all = Vec::new();
    let options = changed(|it: &mut Options| (it.threads, it.order) = (threads, order));
    let outcome = parallel::read(
        || Whole::new(bytes),
        options,
        work::<Whole<&[u8]>>,
        |digests| {
            all.extend(digests);
            ControlFlow::Continue(())
        },
    );
    (all, outcome.unwrap())
}

/// Makes parts of three events that claim to be large.
#[derive(Default)]
struct Few(Vec<u64>);

const FEW: usize = 3;
const PASSES_FOR: usize = 100_000;

impl MakeParts for Few {
    type Part = Vec<u64>;

    fn event(&mut self, event: Event<'_>) {
        self.0.push(digest(&event));
    }

    fn part_bytes(&self) -> usize {
        self.0.len() * PASSES_FOR
    }

    fn take_part(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.0)
    }
}

fn read_in_parts(
    bytes: &[u8],
    order: Order,
    threads: usize,
    held_bytes: usize,
) -> (Vec<u64>, Outcome) {
    let mut all = Vec::new();
    let options = changed(|it: &mut Options| {
        (it.threads, it.order, it.held_bytes) = (threads, order, held_bytes)
    });
    let outcome = parallel::read_in_parts(
        || Whole::new(bytes),
        options,
        Few::default,
        |part| {
            assert!((1..=FEW).contains(&part.len()));
            all.extend(part);
            ControlFlow::Continue(())
        },
    );
    (all, outcome.unwrap())
}

/// Number of threads, and maximum number of bytes of parts that wait. With `None`, each region has
/// one result and no parts.
const WAYS: [(usize, Option<usize>); 6] = [
    (2, None),
    (3, None),
    (1, Some(0)),
    (2, Some(0)),
    (2, Some(40 * PASSES_FOR)),
    (3, Some(1 << 30)),
];

fn assert_equal(name: &str, bytes: &[u8]) {
    for order in [Order::File, Order::Time] {
        let (one, told_by_one) = read(bytes, order, 1);
        for (threads, held_bytes) in WAYS {
            let (several, told) = match held_bytes {
                None => read(bytes, order, threads),
                Some(held_bytes) => read_in_parts(bytes, order, threads, held_bytes),
            };
            assert!(
                one == several,
                "{name}: {order:?}, {threads} threads: {} {}",
                one.len(),
                several.len()
            );
            let by_thread = |outcome: &Outcome| {
                let mut lost: Vec<(u64, u64)> = outcome.losses.by_thread().collect();
                lost.sort_unstable();
                (outcome.losses.total(), outcome.losses.restarts(), lost)
            };
            assert_eq!(by_thread(&told), by_thread(&told_by_one), "{name}: losses");
            assert_eq!(told.damage.findings(), told_by_one.damage.findings(), "{name}: damage");
            assert_eq!(told.is_complete, told_by_one.is_complete, "{name}: complete");
            assert_eq!(told.end_offset, told_by_one.end_offset, "{name}: end");
            assert_eq!(told.statistics.events, told_by_one.statistics.events, "{name}: events");
            for kind in nettrace_parser::BlockKind::all() {
                let counts = |outcome: &Outcome| {
                    (outcome.statistics.blocks(kind), outcome.statistics.bytes(kind))
                };
                assert_eq!(counts(&told), counts(&told_by_one), "{name}: {kind}");
            }
            assert_eq!(told.out_of_order, told_by_one.out_of_order, "{name}: out of order");
        }
    }
}

#[test]
fn several_threads_read_every_trace_as_one_does() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        // Large traces repeat themselves and take more time.
        if bytes.len() < 2_500_000 {
            assert_equal(trace.name(), &bytes);
        }
    }
}

#[test]
fn several_threads_read_odd_and_malformed_streams_as_one_does() {
    for (name, bytes) in synth::malformed() {
        let options = changed(|it: &mut Options| it.threads = 1);
        let is_readable = parallel::read(
            || Whole::new(&bytes[..]),
            options,
            work::<Whole<&[u8]>>,
            |_| ControlFlow::Continue(()),
        )
        .is_ok();
        if is_readable {
            assert_equal(&name, &bytes);
        }
    }
}

#[test]
fn several_threads_read_damaged_streams_as_one_does() {
    let trace = corpus::trace("net3.1-linux-x64/all.nettrace");
    let bytes = trace.bytes();
    for round in 0..cases(3) as usize {
        let at = 1000 + round * 97_003 % (bytes.len() - 2000);
        assert_equal(&format!("flip at {at}"), &Damage::Flip { at, mask: 0x55 }.applied(&bytes));
        assert_equal(&format!("cut at {at}"), &bytes[..at]);
    }
}

#[test]
fn a_collector_can_stop_the_reading() {
    let trace = corpus::trace("net10-linux-x64/all.nettrace");
    let bytes = trace.bytes();
    for threads in [1, 2] {
        let mut portions = 0;
        let options = changed(|it: &mut Options| it.threads = threads);
        let outcome = parallel::read(
            || Whole::new(&bytes[..]),
            options,
            work::<Whole<&[u8]>>,
            |_| {
                portions += 1;
                ControlFlow::Break(())
            },
        );
        assert_eq!(portions, 1);
        assert!(!outcome.unwrap().is_complete);
    }
}

#[test]
fn the_reading_ends_whatever_the_work_leaves_unread() {
    let trace = corpus::trace("net10-linux-x64/all.nettrace");
    let bytes = trace.bytes();
    let (expected, _) = read(&bytes, Order::Time, 1);
    for threads in [1, 2] {
        let options = changed(|it: &mut Options| it.threads = threads);
        let lazy = |region: &mut Region<'_, _>| Ok(u64::from(region.next_event()?.is_some()));
        let outcome =
            parallel::read(|| Whole::new(&bytes[..]), options, lazy, |_| ControlFlow::Continue(()))
                .unwrap();
        assert!(outcome.is_complete);
        assert_eq!(outcome.statistics.events, expected.len() as u64, "{threads} threads");
    }
}

/// Returns a stream of events of 60,000 bytes, each in a block of its own, with a sequence point
/// after every `in_region` events.
fn regions(events: u32, in_region: u32) -> Vec<u8> {
    let mut stream = synth::Stream::new(synth::Version::V4);
    stream.trace(&synth::Trace::default());
    let definition = synth::Definition {
        metadata_id: 1,
        provider: "Demo".into(),
        ..synth::Definition::default()
    };
    stream.metadata_blobs(&synth::EventBlock::new([synth::Blob::definition(
        1,
        0,
        definition.encode(),
    )]));
    for number in 1..=events {
        let ticks = u64::from(number);
        let event = synth::Blob {
            metadata_id: 1,
            sequence_number: number,
            ticks,
            payload: vec![1; 60_000],
            ..Default::default()
        };
        stream.event_block(&synth::EventBlock::new([event]));
        if number % in_region == 0 {
            let threads = vec![(0, number)];
            stream.sequence_point(&synth::SequencePoint { ticks, threads, ..Default::default() });
        }
    }
    stream.end();
    stream.bytes
}

#[test]
fn what_is_made_of_a_stream_with_few_sequence_points_is_not_held_whole() {
    // Regions of 6 MB are read by several threads. Regions of 18 MB are delivered in portions, as
    // by one thread.
    for (events, in_region, portions) in [(300, 100, 3), (600, 300, 1), (600, 10_000, 1)] {
        let bytes = regions(events, in_region);
        let mut counts = Vec::new();
        let is_caller = std::thread::current().id();
        let who = |region: &mut Region<'_, _>| {
            let count = work::<Whole<&[u8]>>(region)?.len();
            Ok((count, std::thread::current().id() == is_caller))
        };
        let outcome = parallel::read(
            || Whole::new(&bytes[..]),
            changed(|it: &mut Options| it.threads = 2),
            who,
            |made| {
                counts.push(made);
                ControlFlow::Continue(())
            },
        );
        assert!(outcome.unwrap().is_complete);
        assert_eq!(counts.iter().map(|(count, _)| count).sum::<usize>(), events as usize);
        assert_eq!(counts.len(), portions, "{in_region} in a region: {counts:?}");
        assert!(portions > 1 || counts.iter().all(|(_, is_caller)| *is_caller), "{counts:?}");
        if events == 300 {
            assert_equal("few sequence points", &bytes);
        }
    }
}

/// Meeting point of the first two regions, which wait for each other, so that two threads have one
/// each.
struct Meeting {
    regions: AtomicUsize,
    both: Barrier,
}

impl Meeting {
    fn new() -> Meeting {
        Meeting { regions: AtomicUsize::new(0), both: Barrier::new(2) }
    }

    fn at_region(&self) {
        if self.regions.fetch_add(1, Ordering::SeqCst) < 2 {
            self.both.wait();
        }
    }
}

#[test]
fn two_threads_are_the_callers_and_one_more() {
    let bytes = regions(200, 5);
    let mut threads = Vec::new();
    let (caller, meeting) = (std::thread::current().id(), Meeting::new());
    let who = |region: &mut Region<'_, _>| {
        meeting.at_region();
        region.for_each(|_| {})?;
        Ok(std::thread::current().id())
    };
    let outcome = parallel::read(
        || Whole::new(&bytes[..]),
        changed(|it: &mut Options| it.threads = 2),
        who,
        |id| {
            assert_eq!(std::thread::current().id(), caller);
            threads.push(id);
            ControlFlow::Continue(())
        },
    );
    assert!(outcome.unwrap().is_complete);
    assert_eq!(threads.len(), 40);
    assert!(threads.contains(&caller));
    threads.retain(|id| *id != caller);
    threads.dedup();
    assert_eq!(threads.len(), 1);
}

/// Bytes of parts that were made but not collected yet: the current number and the maximum.
#[derive(Default)]
struct Held {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct Counting<'h> {
    bytes: usize,
    held: &'h Held,
}

impl MakeParts for Counting<'_> {
    type Part = usize;

    fn event(&mut self, event: Event<'_>) {
        self.bytes += event.payload().len();
    }

    fn part_bytes(&self) -> usize {
        self.bytes
    }

    fn take_part(&mut self) -> usize {
        let bytes = std::mem::take(&mut self.bytes);
        let now = self.held.now.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.held.most.fetch_max(now, Ordering::SeqCst);
        bytes
    }
}

#[test]
fn parts_that_wait_for_their_turn_are_bounded_by_their_bytes() {
    // Four regions of 12 MB.
    let bytes = regions(800, 200);
    let most_held = |held_bytes| {
        let (held, mut collected) = (Held::default(), 0);
        let options = changed(|it: &mut Options| (it.threads, it.held_bytes) = (3, held_bytes));
        let maker = || Counting { bytes: 0, held: &held };
        let outcome = parallel::read_in_parts(
            || Whole::new(&bytes),
            options,
            maker,
            |part| {
                std::thread::yield_now();
                held.now.fetch_sub(part, Ordering::SeqCst);
                collected += part;
                ControlFlow::Continue(())
            },
        );
        assert!(outcome.unwrap().is_complete);
        assert_eq!(collected, 800 * 60_000);
        held.most.into_inner()
    };
    // In addition to the bytes that wait, there are 4 MiB in turn and a part for each thread.
    let besides = (4 << 20) + 3 * (1 << 19);
    for held_bytes in [0, 2 << 20, 8 << 20] {
        let most = most_held(held_bytes);
        assert!(most <= held_bytes + besides, "{held_bytes}: {most}");
    }
    assert!(most_held(1 << 30) > 0);
}

#[test]
fn a_collector_can_stop_the_reading_between_two_parts() {
    let bytes = regions(300, 100);
    for threads in [1, 2, 3] {
        let mut events = 0;
        let options = changed(|it: &mut Options| it.threads = threads);
        let outcome = parallel::read_in_parts(
            || Whole::new(&bytes),
            options,
            Few::default,
            |part| {
                events += part.len();
                if events >= 150 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert!(!outcome.unwrap().is_complete);
        assert!((150..153).contains(&events), "{threads} threads: {events}");
    }
}

#[test]
fn a_panic_on_any_thread_ends_the_reading() {
    let bytes = regions(300, 10);
    for on_caller in [true, false] {
        let (caller, meeting) = (std::thread::current().id(), Meeting::new());
        let reading = std::panic::AssertUnwindSafe(|| {
            let who = |region: &mut Region<'_, _>| {
                meeting.at_region();
                assert_ne!(std::thread::current().id() == caller, on_caller, "as wanted");
                region.for_each(|_| {})
            };
            parallel::read(
                || Whole::new(&bytes[..]),
                changed(|it: &mut Options| it.threads = 2),
                who,
                |()| ControlFlow::Continue(()),
            )
        });
        assert!(std::panic::catch_unwind(reading).is_err());
    }
}
