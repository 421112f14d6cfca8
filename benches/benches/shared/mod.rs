//! What all groups have in common.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use nettrace_benches::checksum::Checksum;
use nettrace_benches::floor::{Rows, idiom, touch, window};

/// Bytes of the traces that are measured: more than the L2 cache, less than the L3.
#[allow(dead_code, reason = "primitives have no trace")]
pub(crate) const TRACE_BYTES: u64 = 8_000_000;

/// A group whose every case goes over so many events (or what else is counted) and bytes.
pub(crate) fn group<'c>(
    criterion: &'c mut Criterion,
    name: &str,
    elements: u64,
    bytes: usize,
) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: bytes as u64 });
    group.sample_size(10).warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_millis(1500));
    group
}

/// The floors that every group over events is held against: every byte once; all header
/// fields by the smallest safe decoder; the same by nom's idiom. Gives what they decode.
#[allow(dead_code, reason = "primitives and framing have no headers")]
pub(crate) fn floors(group: &mut BenchmarkGroup<'_, WallTime>, stream: &[u8]) -> Checksum {
    let rows = Rows::of(stream);
    let all = window::decode(stream, &rows);
    group.bench_function("floor: touch", |bencher| bencher.iter(|| touch::sum(black_box(stream))));
    group.bench_function("floor: headers", |bencher| {
        bencher.iter(|| assert_eq!(window::decode(black_box(stream), &rows), all));
    });
    group.bench_function("idiomatic nom", |bencher| {
        bencher.iter(|| assert_eq!(idiom::decode(black_box(stream), &rows), all));
    });
    all
}
