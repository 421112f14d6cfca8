//! Part of a program's run that a trace covers: the whole run, the measured iterations of a
//! benchmark, or some seconds.

use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// BenchmarkDotNet's own provider.
const BENCHMARK: &str = "BenchmarkDotNet.EngineEventSource";
/// Maximum number of iterations that are kept; a benchmark has 15 to 100.
const MAX_ITERATIONS: usize = 1 << 12;

/// One measured iteration of a benchmark: many operations, one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Iteration {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) operations: f64,
}

impl Iteration {
    pub(super) fn nanos(&self) -> f64 {
        self.to.saturating_sub(self.from).max(0) as f64
    }
}

/// Finds out what a trace covers.
///
/// | event | meaning |
/// |---|---|
/// | runtime 187 | the runtime has started, and the session began before it |
/// | runtime 157 (loader keyword) | the process unloads its domain at its end; missing if the session was stopped before |
/// | BenchmarkDotNet 1 | the name of the benchmark |
/// | BenchmarkDotNet 15, 16 | an iteration of the workload begins, ends |
/// | BenchmarkDotNet 11, 12 | an iteration of an empty workload, whose time is the overhead of calls, begins, ends |
#[derive(Debug, Default)]
pub(super) struct ExtentFinder {
    began: Option<i64>,
    ended: Option<i64>,
    benchmark: Option<String>,
    open: Option<(u32, i64)>,
    iterations: Vec<Iteration>,
    /// Nanoseconds and number of operations of all iterations of the empty workload.
    overhead: (f64, f64),
}

impl ExtentFinder {
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment) {
        if !moment.is_selected {
            return;
        }
        match event.known_provider() {
            KnownProvider::Runtime if event.id() == 187 => {
                self.began.get_or_insert(moment.nanos);
            }
            KnownProvider::Runtime if event.id() == 157 => self.ended = Some(moment.nanos),
            KnownProvider::Other if event.provider() == BENCHMARK => {
                self.engine(event, moment.nanos);
            }
            _ => {}
        }
    }

    fn engine(&mut self, event: &Event<'_>, nanos: i64) {
        let id = event.id();
        match id {
            1 => {
                let name = event.fields().find("benchmarkName");
                self.benchmark = name.and_then(|name| name.value.ok()?.to_text());
            }
            11 | 15 => self.open = Some((id, nanos)),
            12 | 16 => {
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
                }
            }
            _ => {}
        }
    }

    /// Returns the nanoseconds from the runtime's start to the end of the process, if the trace has
    /// both.
    pub(super) fn whole_run(&self) -> Option<f64> {
        let nanos = self.ended?.checked_sub(self.began?)?;
        (nanos > 0).then_some(nanos as f64)
    }

    pub(super) fn benchmark(&self) -> Option<&str> {
        self.benchmark.as_deref()
    }

    pub(super) fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// Returns the nanoseconds that calling an empty operation takes.
    pub(super) fn overhead_nanos(&self) -> f64 {
        if self.overhead.1 > 0.0 { self.overhead.0 / self.overhead.1 } else { 0.0 }
    }
}
