//! Reports, beside the reading they need.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

use nettrace_analysis::report::{
    Activities, CallTree, Contention, Exceptions, Gc, Report, ReportPass, Tasks, TopN, TopNOptions,
    TreeOptions,
};
use nettrace_analysis::{Analysis, AnalysisOptions, Finished};
use nettrace_benches::cases::Case;
use nettrace_benches::pass::{self, Mode};
use nettrace_parser::Reader;

/// All CPU samples, summed up by stack.
fn samples(stream: &[u8]) -> Finished {
    let mut analysis = Analysis::new(AnalysisOptions::new());
    assert!(
        analysis
            .read(&mut Reader::from_slice(stream).time_ordered())
            .expect("a stream of our own")
            .is_complete()
    );
    analysis.finish().expect("nothing is written")
}

fn top(stream: &[u8]) -> u64 {
    let finished = samples(stream);
    TopN::new(&finished.resolved(), &finished.profile, &TopNOptions::default()).samples
}

fn tree(stream: &[u8]) -> u64 {
    let finished = samples(stream);
    CallTree::new(&finished.resolved(), &finished.profile, &TreeOptions::default()).samples
}

/// Events that the report is about.
fn told<R: Report>(report: R, stream: &[u8]) -> u64 {
    let mut pass = ReportPass::new(report);
    assert!(
        pass.read(&mut Reader::from_slice(stream).time_ordered())
            .expect("a stream of our own")
            .is_complete()
    );
    pass.finish().events
}

/// Measures a report, which counts the same each time.
fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    stream: &[u8],
    make: impl Fn(&[u8]) -> u64,
) {
    let count = make(stream);
    assert!(count > 0, "{name}");
    group.bench_function(format!("ours: {name}"), |bencher| {
        bencher.iter(|| assert_eq!(make(black_box(stream)), count));
    });
}

fn reports(criterion: &mut Criterion) {
    // It has what each of these reports is about.
    let case = Case::Net10;
    let stream = case.bytes(shared::TRACE_BYTES);
    let events = pass::memory(&stream, Mode::Raw).expect("a stream of our own").checksum.events;
    let mut group =
        shared::group(criterion, &format!("report/{}", case.name()), events, stream.len());
    measure(&mut group, "topN", &stream, top);
    measure(&mut group, "tree", &stream, tree);
    measure(&mut group, "gc", &stream, |stream| told(Gc::new(), stream));
    measure(&mut group, "contention", &stream, |stream| told(Contention::new(), stream));
    measure(&mut group, "tasks", &stream, |stream| told(Tasks::new(), stream));
    measure(&mut group, "activities", &stream, |stream| told(Activities::new(), stream));
    measure(&mut group, "exceptions", &stream, |stream| told(Exceptions::new(), stream));
    group.bench_function("ours: time order", |bencher| {
        bencher.iter(|| {
            let now = pass::memory(black_box(&stream), Mode::Ordered).expect("a stream of our own");
            assert_eq!(now.checksum.events, events);
        });
    });
    assert_eq!(shared::floors(&mut group, &stream).events, events);
    group.finish();
}

criterion_group!(benches, reports);
criterion_main!(benches);
