//! What a benchmark of BenchmarkDotNet measured: its iterations, and what an operation took.

use super::gc::{CollectionFigures, GcReport};
use crate::model::{Moment, rounded};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// BenchmarkDotNet's own provider.
const BENCHMARK: &str = "BenchmarkDotNet.EngineEventSource";
/// Maximum number of iterations that are kept; a benchmark has 15 to 100.
const MAX_ITERATIONS: usize = 1 << 12;

/// One measured iteration of a benchmark: many operations, one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Iteration {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) operations: f64,
}

impl Iteration {
    pub(crate) fn nanos(&self) -> f64 {
        self.to.saturating_sub(self.from).max(0) as f64
    }

    fn has(&self, nanos: i64) -> bool {
        self.from <= nanos && nanos < self.to
    }
}

/// What one operation of a benchmark took, on the mean of its measured iterations.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BenchmarkReport {
    /// Name of the benchmark, such as `Invoices.ParseLines`; `None` if the trace lacks its start.
    pub benchmark: Option<String>,
    /// Number of measured iterations.
    pub iterations: u64,
    /// Number of operations in all of them.
    pub operations: u64,
    /// Nanoseconds that an operation took, without the overhead of calling one that does nothing.
    pub mean_ns: f64,
    /// Bytes that an operation allocated, by the collections in the iterations: less than 1 if there
    /// was none. `None` if the trace has no collections at all.
    pub allocated_bytes: Option<f64>,
    /// Number of collections, divided by that of the operations. `None` as for `allocated_bytes`.
    pub collections: Option<f64>,
    /// Nanoseconds in which a collection paused an operation. `None` as for `allocated_bytes`.
    pub pause_ns: Option<f64>,
}

/// Collections, their bytes and the nanoseconds of their pauses.
#[derive(Debug, Clone, Copy, Default)]
struct CollectionSums {
    count: f64,
    bytes: f64,
    pause_nanos: f64,
}

/// Finds the measured iterations of a benchmark.
///
/// | event | meaning |
/// |---|---|
/// | BenchmarkDotNet 1 | the name of the benchmark |
/// | BenchmarkDotNet 15, 16 | an iteration of the workload begins, ends |
/// | BenchmarkDotNet 11, 12 | an iteration of an empty workload, whose time is the overhead of calls, begins, ends |
#[derive(Debug, Default)]
pub(crate) struct BenchmarkFinder {
    benchmark: Option<String>,
    open: Option<(u32, i64)>,
    iterations: Vec<Iteration>,
    /// Nanoseconds and number of operations of all iterations of the empty workload.
    overhead: (f64, f64),
    /// Collections that began in measured iterations.
    collections: CollectionSums,
    /// Collections that began in the iteration that has not ended.
    in_open: CollectionSums,
    /// Whether the trace has collections at all.
    has_collections: bool,
}

impl CollectionSums {
    fn add(&mut self, more: CollectionSums) {
        self.count += more.count;
        self.bytes += more.bytes;
        self.pause_nanos += more.pause_nanos;
    }
}

impl BenchmarkFinder {
    pub(crate) fn wants(event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Other && event.provider() == BENCHMARK
    }

    pub(crate) fn event(&mut self, event: &Event<'_>, moment: &Moment) {
        let (id, nanos) = (event.id(), moment.nanos);
        match id {
            1 => {
                let name = event.fields().find("benchmarkName");
                self.benchmark = name.and_then(|name| name.value.ok()?.to_text());
            }
            11 | 15 => (self.open, self.in_open) = (Some((id, nanos)), CollectionSums::default()),
            12 | 16 => {
                let measured = std::mem::take(&mut self.in_open);
                let begun = self.open.take().filter(|(begin, _)| begin.saturating_add(1) == id);
                let Some((_, from)) = begun else { return };
                let field = event.fields().find("totalOperations");
                let operations = field.and_then(|field| field.value.ok()?.as_i64()).unwrap_or(0);
                let iteration = Iteration { from, to: nanos, operations: operations as f64 };
                if operations <= 0 {
                    return;
                }
                if id == 12 {
                    self.overhead.0 += iteration.nanos();
                    self.overhead.1 += iteration.operations;
                } else if self.iterations.len() < MAX_ITERATIONS {
                    self.iterations.push(iteration);
                    self.collections.add(measured);
                }
            }
            _ => {}
        }
    }

    /// Counts collections that have ended and began in a measured iteration.
    pub(crate) fn add_collections(&mut self, ended: &[CollectionFigures]) {
        for row in ended.iter().filter(|row| row.is_complete) {
            let measured = match self.open {
                Some((15, from)) if from <= row.start_ns => &mut self.in_open,
                _ if self.is_measured(row.start_ns) => &mut self.collections,
                _ => continue,
            };
            measured.count += 1.0;
            measured.bytes += row.allocated_bytes.unwrap_or(0) as f64;
            measured.pause_nanos += row.pause_ns as f64;
        }
    }

    /// Counts the collections of a report that has not given them away before.
    pub(crate) fn add_rest(&mut self, gc: &GcReport) {
        self.add_collections(&gc.ended);
        self.has_collections = gc.counts.all > 0;
    }

    pub(crate) fn benchmark(&self) -> Option<&str> {
        self.benchmark.as_deref()
    }

    pub(crate) fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// Returns the nanoseconds that calling an empty operation takes.
    pub(crate) fn overhead_nanos(&self) -> f64 {
        if self.overhead.1 > 0.0 { self.overhead.0 / self.overhead.1 } else { 0.0 }
    }

    /// Returns the nanoseconds of an iteration without the overhead of its calls.
    pub(crate) fn own_nanos(&self, iteration: &Iteration) -> f64 {
        (iteration.nanos() - self.overhead_nanos() * iteration.operations).max(0.0)
    }

    /// Returns whether a time lies in a measured iteration. These do not overlap, and the events that
    /// begin them come in the order of time.
    fn is_measured(&self, nanos: i64) -> bool {
        let after = self.iterations.partition_point(|it| it.from <= nanos);
        let last = after.checked_sub(1).and_then(|last| self.iterations.get(last));
        last.is_some_and(|it| it.has(nanos))
    }

    /// Returns what an operation took; `None` if no iteration was measured.
    pub(crate) fn report(&self) -> Option<BenchmarkReport> {
        let operations: f64 = self.iterations.iter().map(|it| it.operations).sum();
        if operations <= 0.0 {
            return None;
        }
        let nanos: f64 = self.iterations.iter().map(|it| self.own_nanos(it)).sum();
        let CollectionSums { count, bytes, pause_nanos } = self.collections;
        let each = |sum: f64| self.has_collections.then_some(sum / operations);
        Some(BenchmarkReport {
            benchmark: self.benchmark.clone(),
            iterations: self.iterations.len() as u64,
            operations: rounded(operations),
            mean_ns: nanos / operations,
            allocated_bytes: each(bytes),
            collections: each(count),
            pause_ns: each(pause_nanos),
        })
    }
}
