//! Benchmark of finding the blocks of a stream without reading their content.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::floor;
use nettrace_benches::gate;
use nettrace_benches::make::Case;
use nettrace_benches::pass::{self, Input, Mode};
use nettrace_parser::Reader;
use std::hint::black_box;

fn blocks(stream: &[u8]) -> u64 {
    let mut reader = Reader::from_slice(stream);
    let mut count = 0;
    while let Some(block) = reader.next_block().expect("a stream of our own") {
        black_box(block.span);
        count += 1;
    }
    count
}

fn framing(criterion: &mut Criterion) {
    let folder = gate::folder().expect("the program knows its path");
    for case in [Case::Mixed, Case::Net10, Case::Fat, Case::V6] {
        let file = case.file(&folder, shared::TRACE_BYTES).expect("there is room on the disk");
        let stream = std::fs::read(&file).expect("it was just written");
        let count = blocks(&stream);
        let name = format!("framing/{}", case.name());
        let mut group = shared::group(criterion, &name, count, stream.len());
        group.bench_function("blocks in memory", |bencher| {
            bencher.iter(|| assert_eq!(blocks(black_box(&stream)), count));
        });
        group.bench_function("index of a file", |bencher| {
            let index = || pass::file(&file, Mode::Index, Input::Mapped, 1);
            bencher.iter(|| assert_eq!(index().expect("a file of our own").checksum.events, count));
        });
        group.bench_function("first event after open", |bencher| {
            bencher.iter(|| {
                let mut reader = Reader::new(pass::mapped(&file).expect("a file of our own"));
                assert!(reader.next_event().expect("a file of our own").is_some());
            });
        });
        group.bench_function("floor: touch", |bencher| {
            bencher.iter(|| floor::touch(black_box(&stream)));
        });
        group.finish();
        std::fs::remove_file(file).expect("it is ours");
    }
}

criterion_group!(benches, framing);
criterion_main!(benches);
