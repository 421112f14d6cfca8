//! Events in time order.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::pass::{self, Mode};
use nettrace_parser::{BlockKind, Reader};

/// Timestamps of each region between two sequence points, in file order.
fn regions(stream: &[u8]) -> Vec<Vec<u64>> {
    let mut ends = Vec::new();
    let mut blocks = Reader::from_slice(stream);
    while let Some(block) = blocks.next_block().expect("a stream of our own") {
        if block.kind() == BlockKind::SequencePoint {
            ends.push(block.offset());
        }
    }
    let mut regions = vec![Vec::new()];
    let mut ends = ends.into_iter().peekable();
    let mut reader = Reader::from_slice(stream);
    let add = |event: nettrace_parser::Event<'_>| {
        while ends.next_if(|end| *end < event.offset()).is_some() {
            regions.push(Vec::new());
        }
        regions.last_mut().expect("there is one").push(event.timestamp_ticks());
    };
    reader.for_each(add).expect("a stream of our own");
    regions
}

/// The obvious way to the right order: time and place of every event of a region, sorted.
fn sorted(regions: &[Vec<u64>], pairs: &mut Vec<(u64, u32)>) -> u64 {
    let mut count = 0;
    for region in regions {
        pairs.clear();
        pairs.extend(region.iter().copied().zip(0u32..));
        pairs.sort_unstable();
        count += black_box(&*pairs).len() as u64;
    }
    count
}

fn order(criterion: &mut Criterion) {
    for case in [Case::Mixed, Case::Net10, Case::Net31, Case::Fat] {
        let stream = case.bytes(shared::TRACE_BYTES);
        let seen = pass::memory(&stream, Mode::Ordered).expect("a stream of our own");
        assert_eq!(seen.wrong, pass::Wrong::default(), "{}", case.name());
        let events = seen.checksum.events;
        let mut group =
            shared::group(criterion, &format!("order/{}", case.name()), events, stream.len());
        group.bench_function("ours: ordered, schema, stack", |bencher| {
            bencher.iter(|| {
                let now =
                    pass::memory(black_box(&stream), Mode::Ordered).expect("a stream of our own");
                assert_eq!(now, seen);
            });
        });
        let fields = pass::memory(&stream, Mode::OrderedFields).expect("a stream of our own");
        group.bench_function("ours: ordered, all fields", |bencher| {
            bencher.iter(|| {
                let now = pass::memory(black_box(&stream), Mode::OrderedFields)
                    .expect("a stream of our own");
                assert_eq!(now, fields);
            });
        });
        group.bench_function("ours: file order", |bencher| {
            bencher.iter(|| {
                let now = pass::memory(black_box(&stream), Mode::Raw).expect("a stream of our own");
                assert_eq!(now.checksum.events, events);
            });
        });
        let (regions, mut pairs) = (regions(&stream), Vec::new());
        group.bench_function("floor: sort_unstable of time and place, alone", |bencher| {
            bencher.iter(|| assert_eq!(sorted(&regions, &mut pairs), events));
        });
        assert_eq!(shared::floors(&mut group, &stream).events, events);
        group.finish();
    }
}

criterion_group!(benches, order);
criterion_main!(benches);
