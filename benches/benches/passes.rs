//! Benchmarks of reading in each mode, of a pass that looks at every byte once, and of decoding in
//! nom's idiom. Traces are in memory, so that no page fault is measured. Only NDJSON is made from a
//! mapped file.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::floor::{self, idiom};
use nettrace_benches::gate;
use nettrace_benches::make::Case;
use nettrace_benches::pass::{self, Input, Mode};
use std::hint::black_box;

fn passes(criterion: &mut Criterion) {
    let folder = gate::folder().expect("the program knows its path");
    for case in Case::READ {
        let file = case.file(&folder, shared::TRACE_BYTES).expect("there is room on the disk");
        let stream = std::fs::read(&file).expect("it was just written");
        let rows = floor::rows(&stream);
        let all = idiom::decode(&stream, &rows);
        let mut group = shared::group(criterion, case.name(), all.events, stream.len());
        for mode in [Mode::Raw, Mode::Ordered, Mode::Fields, Mode::OrderedFields] {
            let seen = pass::memory(&stream, mode).expect("a stream of our own");
            assert!(seen.is_intact && seen.checksum.events == all.events, "{}", case.name());
            group.bench_function(mode.name(), |bencher| {
                let pass = || pass::memory(black_box(&stream), mode).expect("a stream of our own");
                bencher.iter(|| assert_eq!(pass(), seen));
            });
        }
        for mode in [Mode::Ndjson, Mode::OrderedNdjson] {
            group.bench_function(mode.name(), |bencher| {
                let pass = || pass::file(black_box(&file), mode, Input::Mapped, 1);
                let events = || pass().expect("a file of our own").checksum.events;
                bencher.iter(|| assert_eq!(events(), all.events));
            });
        }
        group.bench_function("floor: touch", |bencher| {
            bencher.iter(|| floor::touch(black_box(&stream)));
        });
        group.bench_function("floor: nom's idiom", |bencher| {
            bencher.iter(|| assert_eq!(idiom::decode(black_box(&stream), &rows), all));
        });
        group.finish();
        std::fs::remove_file(file).expect("it is ours");
    }
}

criterion_group!(benches, passes);
criterion_main!(benches);
