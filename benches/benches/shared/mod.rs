//! The parts that all groups share.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use std::time::Duration;

/// Size of the traces that are measured, in bytes: more than the L2 cache, less than the
/// L3.
#[allow(dead_code, reason = "primitives have no trace")]
pub(crate) const TRACE_BYTES: u64 = 8_000_000;

/// Begins a group in which every case goes over this many events (or other things that
/// are counted) and bytes.
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
