//! Every value of every payload, borrowed.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::pass::{self, Mode};
use nettrace_parser::{Event, Reader};

fn fields(stream: &[u8]) -> u64 {
    let mut count = 0;
    let each = |event: Event<'_>| count += event.fields().count() as u64;
    Reader::from_slice(stream).for_each(each).expect("a stream of our own");
    count
}

fn payload(criterion: &mut Criterion) {
    for case in [Case::Mixed, Case::Net10, Case::Net31, Case::Fat, Case::V6] {
        let stream = case.bytes(shared::TRACE_BYTES);
        let seen = pass::memory(&stream, Mode::Fields).expect("a stream of our own");
        let events = seen.checksum.events;
        let an_event = fields(&stream) as f64 / events as f64;
        let name = format!("payload/{}, {an_event:.1} fields an event", case.name());
        let mut group = shared::group(criterion, &name, events, stream.len());
        group.bench_function("ours: headers and values", |bencher| {
            bencher.iter(|| {
                let now =
                    pass::memory(black_box(&stream), Mode::Fields).expect("a stream of our own");
                assert_eq!(now, seen);
            });
        });
        group.bench_function("ours: headers", |bencher| {
            bencher.iter(|| {
                let now = pass::memory(black_box(&stream), Mode::Raw).expect("a stream of our own");
                assert_eq!(now.checksum.events, events);
            });
        });
        assert_eq!(shared::floors(&mut group, &stream).events, events);
        group.finish();
    }
}

criterion_group!(benches, payload);
criterion_main!(benches);
