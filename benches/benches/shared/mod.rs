//! Helpers of all benchmark programs.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use std::time::Duration;

/// Size of the measured traces, in bytes: larger than the L2 cache, smaller than the L3 cache.
#[allow(dead_code, reason = "primitives have no trace")]
pub(crate) const TRACE_BYTES: u64 = 8_000_000;

/// Begins a group of benchmarks in which every case processes the given number of elements (such as
/// events) and bytes.
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
