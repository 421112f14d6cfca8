//! Benchmarks of conversions and reports, and of reading in time order, which they include.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{
    Activities, Contention, Exceptions, Gc, Report, Tasks, TreeOptions,
};
use nettrace_benches::make::Case;
use nettrace_benches::pass::{self, Input, Mode};
use nettrace_benches::{analyse, gate};
use std::hint::black_box;

/// Formats to measure: with summed stacks (`folded`, `pprof`, `svg`), with a sequence of stacks
/// (`speedscope`), and with timelines.
const FORMATS: [&str; 7] =
    ["folded", "pprof", "svg", "speedscope", "chromium", "perfetto", "firefox"];

fn formats(criterion: &mut Criterion) {
    let folder = gate::folder().expect("the program knows its path");
    for case in [Case::Net10, Case::Net31] {
        let file = case.file(&folder, shared::TRACE_BYTES).expect("there is room on the disk");
        let ordered = || pass::file(black_box(&file), Mode::Ordered, Input::Mapped, 1);
        let events = ordered().expect("a file of our own").checksum.events;
        let bytes = std::fs::metadata(&file).expect("it was just written").len() as usize;
        let name = format!("convert/{}", case.name());
        let mut group = shared::group(criterion, &name, events, bytes);
        group.bench_function("time order alone", |bencher| bencher.iter(ordered));
        for format in FORMATS {
            let convert = || analyse::convert(black_box(&file), format, Input::Mapped);
            group.bench_function(format, |bencher| {
                bencher.iter(|| assert_eq!(convert().expect("samples"), events));
            });
        }
        group.finish();
        std::fs::remove_file(file).expect("it is ours");
    }
}

fn reports(criterion: &mut Criterion) {
    let stream = Case::Net10.bytes(shared::TRACE_BYTES);
    let ordered = || pass::memory(black_box(&stream), Mode::Ordered);
    let events = ordered().expect("a stream of our own").checksum.events;
    let mut group = shared::group(criterion, "report/net10-all", events, stream.len());
    group.bench_function("time order alone", |bencher| bencher.iter(ordered));
    macro_rules! measure {
        ($($report:expr),*) => {$(
            group.bench_function(name_of(&$report), |bencher| {
                let report = || analyse::reports($report, black_box(&stream));
                bencher.iter(|| assert_eq!(report().expect("it has what the report is about"), events));
            });
        )*};
    }
    measure!(
        TopNOptions::default(),
        TreeOptions::default(),
        Gc::default(),
        Contention::default(),
        Tasks::default(),
        Activities::default(),
        Exceptions::default()
    );
    group.finish();
}

fn name_of<R: Report>(_: &R) -> &'static str {
    R::NAME
}

criterion_group!(benches, formats, reports);
criterion_main!(benches);
