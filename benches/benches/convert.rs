//! Conversions to nowhere, beside the reading they need.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::pass::{self, Input, Mode};
use nettrace_benches::{convert, gate};

/// Stacks summed up; stacks one after the other; timelines.
const FORMATS: [&str; 7] =
    ["folded", "pprof", "svg", "speedscope", "chromium", "perfetto", "firefox"];

fn formats(criterion: &mut Criterion) {
    let folder = gate::folder().expect("the program knows its path");
    for case in [Case::Net10, Case::Net31] {
        let file = case.file(&folder, shared::TRACE_BYTES).expect("there is room on the disk");
        let stream = std::fs::read(&file).expect("it was just written");
        let pass = |mode| {
            pass::file(black_box(&file), mode, Input::Mapped, 1).expect("a stream of our own")
        };
        let events = pass(Mode::Raw).checksum.events;
        let mut group =
            shared::group(criterion, &format!("convert/{}", case.name()), events, stream.len());
        for format in FORMATS {
            let convert =
                || convert::file(black_box(&file), format, Input::Mapped).expect("samples");
            assert_eq!(convert(), events, "{format}");
            group.bench_function(format!("ours: {format}"), |bencher| {
                bencher.iter(|| assert_eq!(convert(), events));
            });
        }
        group.bench_function("ours: headers", |bencher| {
            bencher.iter(|| assert_eq!(pass(Mode::Raw).checksum.events, events));
        });
        group.bench_function("ours: time order", |bencher| {
            bencher.iter(|| assert_eq!(pass(Mode::Ordered).checksum.events, events));
        });
        assert_eq!(shared::floors(&mut group, &stream).events, events);
        group.finish();
        std::fs::remove_file(file).expect("it is ours");
    }
}

criterion_group!(benches, formats);
criterion_main!(benches);
