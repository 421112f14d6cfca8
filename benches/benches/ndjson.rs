//! The command's NDJSON in both orders, thrown away.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::gate;
use nettrace_benches::pass::{self, Input, Mode};

fn ndjson(criterion: &mut Criterion) {
    let folder = gate::folder().expect("the program knows its path");
    for case in [Case::Mixed, Case::Net10, Case::Net31, Case::Fat] {
        let file = case.file(&folder, shared::TRACE_BYTES).expect("there is room on the disk");
        let stream = std::fs::read(&file).expect("it was just written");
        let pass = |mode| {
            pass::file(black_box(&file), mode, Input::Mapped, 1).expect("a stream of our own")
        };
        let events = pass(Mode::Raw).checksum.events;
        let mut group =
            shared::group(criterion, &format!("ndjson/{}", case.name()), events, stream.len());
        group.bench_function("ours: to nowhere", |bencher| {
            bencher.iter(|| assert_eq!(pass(Mode::Ndjson).checksum.events, events));
        });
        group.bench_function("ours: in time order, to nowhere", |bencher| {
            bencher.iter(|| assert_eq!(pass(Mode::OrderedNdjson).checksum.events, events));
        });
        group.bench_function("ours: headers", |bencher| {
            bencher.iter(|| assert_eq!(pass(Mode::Raw).checksum.events, events));
        });
        assert_eq!(shared::floors(&mut group, &stream).events, events);
        group.finish();
        std::fs::remove_file(file).expect("it is ours");
    }
}

criterion_group!(benches, ndjson);
criterion_main!(benches);
