//! What an event's ids stand for: its schema and its stack.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::checksum::Checksum;
use nettrace_benches::pass;
use nettrace_parser::{Event, Reader};

fn headers(stream: &[u8], with: impl Fn(&mut Checksum, &Event<'_>)) -> Checksum {
    let mut sum = Checksum::default();
    let each = |event: Event<'_>| {
        sum.header(&event);
        with(&mut sum, &event);
    };
    Reader::from_slice(stream).for_each(each).expect("a stream of our own");
    sum
}

fn lookup(criterion: &mut Criterion) {
    for case in [Case::Mixed, Case::Net10, Case::Net31, Case::V6] {
        let stream = case.bytes(shared::TRACE_BYTES);
        let events = headers(&stream, |_, _| ()).events;
        let mut group =
            shared::group(criterion, &format!("lookup/{}", case.name()), events, stream.len());
        group.bench_function("ours: headers, schema, stack", |bencher| {
            bencher.iter(|| {
                assert_eq!(headers(black_box(&stream), pass::schema_and_stack).events, events);
            });
        });
        group.bench_function("ours: headers", |bencher| {
            bencher.iter(|| assert_eq!(headers(black_box(&stream), |_, _| ()).events, events));
        });
        assert_eq!(shared::floors(&mut group, &stream).events, events);
        group.finish();
    }
}

criterion_group!(benches, lookup);
criterion_main!(benches);
