//! Compares time order with an oracle: all events in file order, sorted by the rule of `FORMAT.md`
//! 11.

use crate::change::{WAYS, change};
use crate::excerpt::excerpts;
use crate::invariants::reading::{digest, told_of_reader};
use crate::random::Random;
use nettrace_parser::parallel::{self, Options, Order};
use nettrace_parser::{
    BlockKind, Buffered, Event, Fault, Item, Limits, Reader, Source, TimeOrdered, Whole,
};
use nettrace_testdata::changed;
use nettrace_testdata::{cases, corpus, synth};
use std::ops::ControlFlow;

/// Oracle of time order. A waiting event is the time by which it is sorted, and a hash of its
/// facts.
#[derive(Default)]
struct Oracle {
    waiting: Vec<(u64, u64)>,
    watermark: u64,
    given: Vec<u64>,
    out_of_order: u64,
    /// Maximum number of events that wait. When it is reached, at least the older half is released.
    most: usize,
    /// Number of times that the limit released events.
    limited: u64,
}

impl Oracle {
    fn take(&mut self, event: &Event<'_>) {
        let ticks = event.timestamp_ticks();
        let time = ticks.max(self.watermark);
        self.out_of_order += u64::from(ticks < self.watermark);
        if event.is_sorted() {
            self.watermark = time;
        }
        self.waiting.push((time, said(event)));
        if self.waiting.len() >= self.most {
            let half = self.waiting.len().div_ceil(2);
            let may_go = self.waiting.iter().filter(|(time, _)| *time <= self.watermark).count();
            self.limited += u64::from(may_go < half);
            self.give(may_go.max(half));
        }
    }

    /// Releases the `count` oldest waiting events.
    fn give(&mut self, count: usize) {
        self.waiting.sort_by_key(|(time, _)| *time);
        for (time, said) in self.waiting.drain(..count) {
            self.watermark = self.watermark.max(time);
            self.given.push(said);
        }
    }

    fn read(bytes: &[u8], limits: Limits) -> Oracle {
        let mut oracle = Oracle { most: limits.queue_events, ..Oracle::default() };
        let mut reader = Reader::with_limits(Whole::new(bytes), limits);
        while let Ok(Some(item)) = reader.next_item() {
            match item {
                Item::Event(event) => oracle.take(&event),
                Item::Block(block) if block.kind == BlockKind::SequencePoint => {
                    oracle.give(oracle.waiting.len());
                }
                _ => {}
            }
        }
        oracle.give(oracle.waiting.len());
        oracle
    }
}

/// Returns a hash of everything that an event has.
fn said(event: &Event<'_>) -> u64 {
    let ids = (u64::from(event.metadata_id()) << 32)
        ^ event.raw_thread()
        ^ event.payload_offset().rotate_left(17);
    digest(event).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ids
}

fn by_next_event<S: Source>(events: &mut TimeOrdered<S>) -> Vec<u64> {
    let mut given = Vec::new();
    while let Ok(Some(event)) = events.next_event() {
        given.push(said(&event));
    }
    given
}

fn by_visit<S: Source>(events: &mut TimeOrdered<S>) -> Vec<u64> {
    let mut given = Vec::new();
    // An error also shows in the reader's outcome and in the number of events.
    let _ = events.for_each(|event| given.push(said(&event)));
    given
}

/// Asserts that the order is the oracle's. Losses and damage must be those of file order, apart
/// from notes of the limit.
fn assert_is<S: Source>(
    what: &str,
    bytes: &[u8],
    oracle: &Oracle,
    mut events: TimeOrdered<S>,
    read: fn(&mut TimeOrdered<S>) -> Vec<u64>,
) {
    let given = read(&mut events);
    let first = given.iter().zip(&oracle.given).position(|(found, due)| found != due);
    assert!(given == oracle.given, "{what}: {} of {}, {first:?}", given.len(), oracle.given.len());
    assert_eq!(events.out_of_order(), oracle.out_of_order, "{what}: out of order");
    let notes =
        events.reader().damage().notes().filter(|note| note.fault == Fault::QueueLimit).count();
    assert_eq!(notes > 0, oracle.limited > 0, "{what}: the limit is told");
    let mut plain = Reader::from_slice(bytes);
    while let Ok(Some(_)) = plain.next_event() {}
    let (mut found, due) =
        (told_of_reader(events.reader(), vec![], None), told_of_reader(&plain, vec![], None));
    found.findings.retain(|finding| finding.fault != Fault::QueueLimit);
    assert!(found == due, "{what}: {}", found.difference(&due));
}

/// Asserts that every way to read a stream in time order has the order of the oracle.
fn assert_time_order(what: &str, bytes: &[u8], seed: usize) {
    let oracle = Oracle::read(bytes, Limits::default());
    assert_eq!(oracle.limited, 0, "{what}");
    assert_is(what, bytes, &oracle, Reader::from_slice(bytes).time_ordered(), by_next_event);
    assert_is(what, bytes, &oracle, Reader::from_slice(bytes).time_ordered(), by_visit);
    let buffered = Reader::new(Buffered::new(bytes).at_rest()).time_ordered();
    assert_is(&format!("{what}, read"), bytes, &oracle, buffered, by_visit);
    let most = [1, 2, 7, 60, 400, 3000][seed % 6];
    let limits = changed(|it: &mut Limits| it.queue_events = most);
    let limited = Oracle::read(bytes, limits);
    let what = format!("{what}, at most {most}");
    let reader = || Reader::with_limits(Whole::new(bytes), limits).time_ordered();
    assert_is(&what, bytes, &limited, reader(), by_next_event);
    assert_is(&what, bytes, &limited, reader(), by_visit);
}

/// Asserts that reading with two threads has the order of the oracle.
fn assert_threads(what: &str, bytes: &[u8]) {
    let mut given = Vec::new();
    let options = changed(|it: &mut Options| (it.threads, it.order) = (2, Order::Time));
    let read = |region: &mut parallel::Region<'_, _>| {
        let mut digests = Vec::new();
        region.for_each(|event| digests.push(said(&event)))?;
        Ok::<Vec<u64>, nettrace_parser::Error>(digests)
    };
    let outcome = parallel::read(
        || Whole::new(bytes),
        options,
        read,
        |digests| {
            given.extend(digests);
            ControlFlow::Continue(())
        },
    );
    let oracle = Oracle::read(bytes, Limits::default());
    assert!(given == oracle.given, "{what}, threads: {} of {}", given.len(), oracle.given.len());
    if let Ok(outcome) = outcome {
        assert_eq!(outcome.out_of_order, oracle.out_of_order, "{what}");
    }
}

#[test]
fn every_trace_comes_in_the_order_of_a_plain_sort() {
    for (nth, trace) in corpus::traces().iter().enumerate() {
        let bytes = trace.bytes();
        // Large traces repeat themselves, so their beginning is enough.
        let bytes = bytes.get(..6_000_000).unwrap_or(&bytes);
        assert_time_order(trace.name(), bytes, nth);
        assert_threads(trace.name(), bytes);
    }
    for (nth, (name, bytes)) in synth::malformed().iter().enumerate() {
        assert_time_order(name, bytes, nth);
    }
}

#[test]
fn mutants_and_prefixes_come_in_the_order_of_a_plain_sort() {
    let mut random = Random(11);
    for round in 0..cases(250) as usize {
        let excerpt = random.one(excerpts());
        // Small excerpts, so that there is time for many.
        let mut damaged = excerpt.clone();
        while damaged.blocks.len() > 4 {
            damaged.blocks.remove(random.below(damaged.blocks.len()));
        }
        let at = random.below(damaged.blocks.len());
        let way = random.below(WAYS + 1);
        if way < WAYS {
            damaged.blocks[at].content = change(&damaged.blocks[at], way, &mut random);
        }
        let mut bytes = damaged.stream().bytes;
        if way == WAYS {
            bytes.truncate(damaged.header.len() + random.below(bytes.len() - damaged.header.len()));
        }
        let what = format!("{}, round {round}, way {way}", excerpt.name);
        assert_time_order(&what, &bytes, round);
        if round % 10 == 0 {
            assert_threads(&what, &bytes);
        }
    }
}
