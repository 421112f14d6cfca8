//! The values of a trace that are compared: sums over time slices of equal length, and
//! individual durations.

use super::calls::Calls;
use super::startup::Startup;
use super::work::Gathered;
use crate::driver::AnalysisOptions;
use crate::model::hash::NumberMap;
use crate::model::{FrameHandle, Kind, Model, Resolved, StackHandle, ThreadState};
use crate::page::samples::SampleRow;
use crate::page::tracks::{self, Shared, pass_with_tracks};
use crate::report::{
    Counters, Gc, GcReport, Moment, Report, ReportInput, ReportPass, Reports, Resolving,
};
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Outcome};
use std::collections::BTreeMap;

/// The maximum number of slices of a trace, and the shortest slice.
const MOST_SLICES: usize = 24;
const SHORTEST_SLICE_NANOS: f64 = 40e6;
const KINDS: [Kind; 6] = [
    Kind::Cpu,
    Kind::AllocationTicks,
    Kind::AllocationSamples,
    Kind::Exceptions,
    Kind::Contention,
    Kind::Waits,
];

/// The subject of a row. Rows of equal weight are sorted in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Subject {
    /// A method's own running time: that of samples in which its thread did not wait.
    Method,
    /// A method's time including the methods that it calls.
    MethodTotal,
    /// All time during which threads ran.
    Cpu,
    /// Bytes of a type.
    Type,
    /// All bytes allocated.
    Alloc,
    /// Number of collections, of all or of one generation.
    GcCount,
    /// The time of pauses, or a percentile of it.
    GcPause,
    /// Exceptions of a type.
    Exception,
    /// All exceptions.
    Exceptions,
    /// Time waited for locks.
    Contention,
    /// Waits for locks.
    ContentionCount,
    /// Time waited for handles.
    Waits,
    /// Time spent compiling.
    Jit,
    /// Methods compiled.
    JitMethods,
    /// How long the program took to start, and what it did in its first second; only for
    /// traces that begin with the start of their process.
    Startup,
    /// A counter's mean.
    Counter,
}

impl Subject {
    /// The unit of a row's values: `ns`, `bytes` or `count`. `None` for counters, which
    /// have units of their own.
    pub(super) fn unit(self, name: &str) -> Option<&'static str> {
        Some(match self {
            Subject::Type | Subject::Alloc => "bytes",
            Subject::GcCount
            | Subject::Exception
            | Subject::Exceptions
            | Subject::ContentionCount
            | Subject::JitMethods => "count",
            Subject::Startup if matches!(name, "assemblies" | "jit_methods") => "count",
            Subject::Method
            | Subject::MethodTotal
            | Subject::Cpu
            | Subject::GcPause
            | Subject::Contention
            | Subject::Waits
            | Subject::Jit
            | Subject::Startup => "ns",
            Subject::Counter => return None,
        })
    }
}

/// Measured values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measured {
    /// A sum for each slice.
    Sums(Vec<f64>),
    /// Individual values, whose mean is compared.
    Values(Vec<f64>),
}

/// The values of a trace that are compared.
#[derive(Debug, Clone)]
#[must_use = "facts are compared with those of another trace"]
pub struct TraceFacts {
    /// From the first measurement to the last, in nanoseconds.
    pub duration_ns: u64,
    /// Number of CPU samples of threads that ran or waited.
    pub samples: u64,
    /// Number of requests: activities whose name indicates a request, or all activities
    /// if there are none.
    pub requests: u64,
    /// How the trace was read.
    pub outcome: Option<Outcome>,
    pub(super) slice_nanos: f64,
    pub(super) samples_of: Vec<f64>,
    pub(super) requests_of: Vec<f64>,
    pub(super) rows: BTreeMap<(Subject, String), Measured>,
    /// Number of samples or events of each row.
    pub(super) counts: BTreeMap<(Subject, String), f64>,
    /// Whether the runtime recorded anything besides the list of methods.
    pub(super) has_runtime: bool,
    /// Durations of all pauses.
    pub(super) pauses: Vec<f64>,
    /// Units of counters.
    pub(super) units: BTreeMap<String, String>,
    /// Time of CPU samples, and that of those whose innermost frame has no name.
    pub(super) sampled_nanos: u64,
    pub(super) unnamed_nanos: u64,
    /// Calls of running threads.
    pub(super) calls: Calls,
}

/// A pass over the events that the options select, which collects the values to compare.
/// Their kinds of samples are ignored.
pub fn pass(options: AnalysisOptions) -> ReportPass<impl Reports<Outputs = TraceFacts>> {
    pass_with_tracks(options, &KINDS, DiffReports::new)
}

/// Everything that observes a trace for a comparison: see [`pass`].
struct DiffReports {
    gc: Gc,
    counters: Counters,
    startup: Startup,
    gathered: Shared<Gathered>,
    has_runtime: bool,
    /// When the first and the last event came that is not of the list of methods at the
    /// end.
    events: Option<(i64, i64)>,
}

impl DiffReports {
    fn new(gathered: Shared<Gathered>) -> DiffReports {
        DiffReports {
            gc: Gc::default(),
            counters: Counters::default(),
            startup: Startup::default(),
            gathered,
            has_runtime: false,
            events: None,
        }
    }
}

impl Reports for DiffReports {
    type Outputs = TraceFacts;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![ReportInput::Events, ReportInput::Samples]
    }

    fn wanting(&self, _: &Event<'_>) -> u32 {
        1
    }

    fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, _: u32) -> u64 {
        // Method loads and similar events are also sent when only samples are recorded.
        self.has_runtime |=
            event.known_provider() == KnownProvider::Runtime && !matches!(event.id(), 140..=190);
        if event.known_provider() != KnownProvider::Rundown {
            let (first, last) = self.events.unwrap_or((moment.nanos, moment.nanos));
            self.events = Some((first.min(moment.nanos), last.max(moment.nanos)));
        }
        self.gc.event(event, moment, model);
        self.startup.event(event, moment);
        self.counters.event(event, moment, model);
        1
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> TraceFacts {
        let gc = self.gc.finish(resolving.for_report::<Gc>());
        let counters = self.counters.finish(resolving.for_report::<Counters>());
        let mut gathered = tracks::take(&self.gathered);
        let samples: BTreeMap<Kind, Vec<SampleRow>> = std::mem::take(&mut gathered.samples)
            .finish()
            .map(|(kind, rows, _)| (kind, rows))
            .collect();
        let mut cut = Cut::new(&samples, &gc, self.events);
        let resolved = resolving.for_report::<Gc>();
        cut.samples(&samples, resolved);
        cut.collections(&gc);
        let mut startup = self.startup;
        cut.work(&gathered, &mut startup);
        for (name, value) in startup.values() {
            let key = (Subject::Startup, name.to_owned());
            cut.facts.rows.insert(key, Measured::Values(vec![value]));
        }
        for series in counters.series {
            let name = counter_name(&series);
            let values = series.points.iter().map(|point| point.value);
            let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
            if !values.is_empty() {
                let key = (Subject::Counter, name.clone());
                cut.facts.rows.insert(key, Measured::Values(values));
                cut.facts.units.insert(name, series.unit);
            }
        }
        cut.facts.has_runtime = self.has_runtime;
        cut.facts.outcome = resolving.outcome().cloned();
        cut.facts
    }
}

/// `System.Runtime/cpu-usage`, with the tags if there are any.
fn counter_name(series: &crate::report::CounterSeries) -> String {
    let mut name = format!("{}/{}", series.provider, series.name);
    let tags: Vec<String> =
        series.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if !tags.is_empty() {
        name.push_str(&format!("[{}]", tags.join(",")));
    }
    name
}

/// Cuts the time of a trace into slices.
struct Cut {
    from: i64,
    slices: usize,
    facts: TraceFacts,
}

impl Cut {
    fn new(
        samples: &BTreeMap<Kind, Vec<SampleRow>>,
        gc: &GcReport,
        events: Option<(i64, i64)>,
    ) -> Cut {
        // Writing the list of methods at the end of a session takes time in which nothing
        // is measured.
        let moments = samples.values().flatten().map(|row| row.nanos);
        let moments = moments.chain(gc.collections.iter().map(|row| row.start_ns));
        let (mut from, mut to) =
            moments.fold((i64::MAX, i64::MIN), |(from, to), at| (from.min(at), to.max(at)));
        // A trace of counters, of compilations, or with one collection.
        if let Some(events) = events
            && (from > to || (to.saturating_sub(from) as f64) < SHORTEST_SLICE_NANOS)
        {
            (from, to) = events;
        }
        let length = if from > to { 0 } else { to.saturating_sub(from).saturating_add(1) };
        let duration_ns = u64::try_from(length).unwrap_or(0);
        let fitting = duration_ns as f64 / SHORTEST_SLICE_NANOS;
        let slices = (4..=MOST_SLICES).rev().find(|slices| *slices as f64 <= fitting).unwrap_or(4);
        let facts = TraceFacts {
            duration_ns,
            samples: 0,
            requests: 0,
            outcome: None,
            slice_nanos: (duration_ns as f64 / slices as f64).max(1.0),
            samples_of: vec![0.0; slices],
            requests_of: vec![0.0; slices],
            rows: BTreeMap::new(),
            counts: BTreeMap::new(),
            has_runtime: false,
            pauses: Vec::new(),
            units: BTreeMap::new(),
            sampled_nanos: 0,
            unnamed_nanos: 0,
            calls: Calls::default(),
        };
        Cut { from: if length == 0 { 0 } else { from }, slices, facts }
    }

    fn slice(&self, nanos: i64) -> usize {
        let offset = nanos.saturating_sub(self.from) as f64 / self.facts.slice_nanos;
        (0..self.slices).rev().find(|slice| *slice as f64 <= offset).unwrap_or(0)
    }

    fn add(&mut self, subject: Subject, name: &str, slice: usize, (value, count): (f64, f64)) {
        let slices = self.slices;
        let key = (subject, name.to_owned());
        *self.facts.counts.entry(key.clone()).or_default() += count;
        let row = self.facts.rows.entry(key);
        if let Measured::Sums(sums) = row.or_insert_with(|| Measured::Sums(vec![0.0; slices]))
            && let Some(sum) = sums.get_mut(slice)
        {
            *sum += value;
        }
    }

    fn samples(&mut self, samples: &BTreeMap<Kind, Vec<SampleRow>>, resolved: &Resolved<'_>) {
        // Both represent all allocations.
        let has_samples = samples.contains_key(&Kind::AllocationSamples);
        let is_admitted = |row: &SampleRow| resolved.admits(row.key.stack, row.key.mode);
        for (kind, rows) in samples {
            match kind {
                Kind::Cpu => self.cpu(rows, resolved),
                Kind::AllocationTicks if has_samples => {}
                Kind::AllocationTicks | Kind::AllocationSamples => {
                    self.labelled(rows, resolved, Subject::Type, Subject::Alloc, |row| {
                        row.weight as f64
                    });
                }
                Kind::Exceptions => {
                    let one = |row: &SampleRow| row.samples as f64;
                    self.labelled(rows, resolved, Subject::Exception, Subject::Exceptions, one);
                }
                Kind::Contention => {
                    for row in rows.iter().filter(|row| is_admitted(row)) {
                        let (slice, samples) = (self.slice(row.nanos), row.samples as f64);
                        self.add(Subject::Contention, "", slice, (row.weight as f64, samples));
                        self.add(Subject::ContentionCount, "", slice, (samples, samples));
                    }
                }
                Kind::Waits => {
                    for row in rows.iter().filter(|row| is_admitted(row)) {
                        let value = (row.weight as f64, row.samples as f64);
                        self.add(Subject::Waits, "", self.slice(row.nanos), value);
                    }
                }
                _ => {}
            }
        }
    }

    fn cpu(&mut self, rows: &[SampleRow], resolved: &Resolved<'_>) {
        let mut running = Vec::new();
        for row in rows {
            let slice = self.slice(row.nanos);
            self.facts.samples = self.facts.samples.saturating_add(row.samples);
            if let Some(sum) = self.facts.samples_of.get_mut(slice) {
                *sum += row.samples as f64;
            }
            let leaf = resolved.frames(row.key.stack).first();
            let leaf = leaf.and_then(|leaf| resolved.frame(*leaf));
            let unnamed = if leaf.is_some_and(|leaf| leaf.is_named) { 0 } else { row.weight };
            self.facts.sampled_nanos = self.facts.sampled_nanos.saturating_add(row.weight);
            self.facts.unnamed_nanos = self.facts.unnamed_nanos.saturating_add(unnamed);
            let is_running =
                ThreadState::RUNNING.contains(&resolved.state(row.key.stack, row.key.mode));
            if is_running && resolved.admits(row.key.stack, row.key.mode) {
                let SampleRow { weight, samples, .. } = *row;
                let stack = resolved.sample_stack(row.key.stack, row.key.mode);
                running.push(Running { stack, slice, nanos: weight, samples });
            }
        }
        self.running(running, resolved);
    }

    fn running(&mut self, mut rows: Vec<Running>, resolved: &Resolved<'_>) {
        // Many threads may have the same deep stack, so its frames are gone through once.
        rows.sort_unstable_by_key(|row| (row.stack, row.slice));
        let mut stacks: Vec<(StackHandle, u64)> = Vec::new();
        // By frame and slice, so that names are looked up once for each instead of for
        // each sample.
        let mut all: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        let mut own: NumberMap<(u32, usize), (f64, f64)> = NumberMap::default();
        let mut with_callees: NumberMap<(u32, usize), (f64, f64)> = NumberMap::default();
        let mut distinct: Vec<FrameHandle> = Vec::new();
        for of_stack in rows.chunk_by(|one, next| one.stack == next.stack) {
            let Some(Running { stack, .. }) = of_stack.first() else { continue };
            let frames = resolved.frames(*stack);
            // A recursive frame counts once.
            distinct.clear();
            distinct.extend_from_slice(frames);
            distinct.sort_unstable();
            distinct.dedup();
            let mut nanos = 0u64;
            for of_slice in of_stack.chunk_by(|one, next| one.slice == next.slice) {
                let Some(Running { slice, .. }) = of_slice.first() else { continue };
                let mut weight = (0.0, 0.0);
                for row in of_slice {
                    plus(&mut weight, (row.nanos as f64, row.samples as f64));
                    nanos = nanos.saturating_add(row.nanos);
                }
                plus(all.entry(*slice).or_default(), weight);
                if let Some(leaf) = frames.first() {
                    plus(own.entry((leaf.0, *slice)).or_default(), weight);
                }
                for frame in &distinct {
                    plus(with_callees.entry((frame.0, *slice)).or_default(), weight);
                }
            }
            stacks.push((*stack, nanos));
        }
        drop(rows);
        for (slice, weight) in all {
            self.add(Subject::Cpu, "", slice, weight);
        }
        for (subject, sums) in [(Subject::Method, own), (Subject::MethodTotal, with_callees)] {
            for ((frame, slice), weight) in sums {
                self.add(subject, name_of(resolved, frame), slice, weight);
            }
        }
        self.facts.calls = Calls::new(resolved, &stacks);
    }

    fn labelled(
        &mut self,
        rows: &[SampleRow],
        resolved: &Resolved<'_>,
        each: Subject,
        all: Subject,
        value: impl Fn(&SampleRow) -> f64,
    ) {
        let texts = resolved.model().texts();
        for row in rows.iter().filter(|row| resolved.admits(row.key.stack, row.key.mode)) {
            let (slice, value) = (self.slice(row.nanos), (value(row), row.samples as f64));
            self.add(all, "", slice, value);
            if let Some(label) = row.key.label {
                self.add(each, texts.get(label), slice, value);
            }
        }
    }

    fn collections(&mut self, gc: &GcReport) {
        // The pauses of a collection without an end are not known.
        for collection in gc.collections.iter().filter(|collection| collection.is_complete) {
            let slice = self.slice(collection.start_ns);
            self.add(Subject::GcCount, "", slice, (1.0, 1.0));
            self.add(Subject::GcCount, &format!("gen{}", collection.generation), slice, (1.0, 1.0));
            self.add(Subject::GcPause, "", slice, (collection.pause_ns as f64, 1.0));
            self.facts.pauses.push(collection.pause_ns as f64);
        }
    }

    fn work(&mut self, gathered: &Gathered, startup: &mut Startup) {
        for work in gathered.compiled.rows() {
            let (slice, count) = (self.slice(work.nanos), work.count as f64);
            self.add(Subject::Jit, "", slice, (work.spent_nanos as f64, count));
            self.add(Subject::JitMethods, "", slice, (count, count));
            startup.compiled(work);
        }
        for work in gathered.requests().rows() {
            self.facts.requests = self.facts.requests.saturating_add(work.count);
            startup.answered(work.nanos);
            let slice = self.slice(work.nanos);
            if let Some(sum) = self.facts.requests_of.get_mut(slice) {
                *sum += work.count as f64;
            }
        }
    }
}

/// Samples of a running thread.
struct Running {
    stack: StackHandle,
    slice: usize,
    nanos: u64,
    samples: u64,
}

/// Adds weight and count.
fn plus(sum: &mut (f64, f64), other: (f64, f64)) {
    sum.0 += other.0;
    sum.1 += other.1;
}

/// Addresses differ from run to run, so frames without a name share one row per module.
fn name_of<'r>(resolved: &'r Resolved<'_>, frame: u32) -> &'r str {
    match resolved.all_frames().get(frame as usize) {
        Some(frame) if frame.is_named => &frame.text,
        Some(frame) if !frame.module.is_empty() => &frame.module,
        _ => "(no name)",
    }
}
