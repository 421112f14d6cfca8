//! What of a trace is compared: sums over equal slices of its time, and durations one by one.

use crate::driver::AnalysisOptions;
use crate::model::{Category, Kind, Model, Resolved, ThreadState};
use crate::page::samples::SampleRow;
use crate::page::tracks::{self, Gather, SharedTracks, Tracks};
use crate::report::{Counters, Gc, GcReport, Moment, Report, ReportInput, Reports, Resolving, SharedPass};
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Outcome, Source, TimeOrdered};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Slices of a trace, at most, and the shortest.
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

/// What a row is about. Its order is that of rows of equal weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Subject {
    /// A method's own processor time.
    Method,
    /// A method's time with all that it calls.
    MethodTotal,
    /// All time in which threads ran.
    Cpu,
    /// Bytes of a type.
    Type,
    /// All bytes allocated.
    Alloc,
    /// Collections, or those of a generation.
    GcCount,
    /// The time of pauses, or a percentile of them.
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
    /// A counter's mean.
    Counter,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measured {
    /// A sum for each slice.
    Sums(Vec<f64>),
    /// Values one by one, of which the mean is compared.
    Values(Vec<f64>),
}

/// What of a trace is compared.
#[derive(Debug, Clone)]
#[must_use = "facts are compared with those of another trace"]
pub struct TraceFacts {
    /// From the first thing that was measured to the last, in nanoseconds.
    pub duration_ns: u64,
    /// CPU samples, of threads that ran or waited.
    pub samples: u64,
    /// Requests: activities whose name says so, or all activities if there are none such.
    pub requests: u64,
    /// How reading the trace went.
    pub outcome: Option<Outcome>,
    pub(super) slice_nanos: f64,
    pub(super) samples_of: Vec<f64>,
    pub(super) requests_of: Vec<f64>,
    pub(super) rows: BTreeMap<(Subject, String), Measured>,
    /// How many samples or events each row is made of.
    pub(super) counts: BTreeMap<(Subject, String), f64>,
    /// Whether the runtime told anything but what methods there are.
    pub(super) has_runtime: bool,
    /// Durations of all pauses.
    pub(super) pauses: Vec<f64>,
    /// Units of counters.
    pub(super) units: BTreeMap<String, String>,
    /// CPU stacks that ran, outermost call first, with their nanoseconds.
    pub(super) stacks: Vec<(Vec<Arc<str>>, u64)>,
}

/// One pass over a trace, for what is compared.
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct DiffPass {
    pass: SharedPass<Observers>,
}

impl DiffPass {
    /// A pass of what the options let pass. Their kinds of samples are not heeded.
    pub fn new(options: AnalysisOptions) -> DiffPass {
        let tracks = SharedTracks::default();
        let gather = Gather::new(&tracks);
        let observers = Observers { gc: Gc::new(), counters: Counters::new(), tracks, has_runtime: false };
        let mut pass = SharedPass::with_options(observers, options.kinds(KINDS));
        pass.add(Box::new(gather));
        DiffPass { pass }
    }

    /// For what the trace does not say, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.pass.model_mut()
    }

    /// Reads all events that are left.
    ///
    /// # Errors
    /// When the trace cannot be read on.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        self.pass.read(events)
    }

    /// The end of the trace.
    pub fn finish(self) -> TraceFacts {
        let reported = self.pass.finish();
        TraceFacts { outcome: reported.outcome, ..reported.outputs }
    }
}

struct Observers {
    gc: Gc,
    counters: Counters,
    tracks: SharedTracks,
    has_runtime: bool,
}

impl Reports for Observers {
    type Outputs = TraceFacts;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![ReportInput::Events, ReportInput::Samples]
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, counts: &mut [u64]) {
        // Method loads and the like also come with samples alone.
        self.has_runtime |=
            event.known_provider() == KnownProvider::Runtime && !matches!(event.id(), 140..=190);
        self.gc.event(event, moment, model);
        if self.counters.event(event, moment, model)
            && let Some(count) = counts.first_mut()
        {
            *count = count.saturating_add(1);
        }
    }

    fn finish(self, resolving: &mut Resolving<'_>) -> TraceFacts {
        let gc = self.gc.finish(resolving.for_report::<Gc>());
        let counters = self.counters.finish(resolving.for_report::<Counters>());
        let mut tracks = tracks::take(&self.tracks);
        let samples: BTreeMap<Kind, Vec<SampleRow>> =
            std::mem::take(&mut tracks.samples).finish().map(|(kind, rows, _)| (kind, rows)).collect();
        let mut cut = Cut::new(&samples, &gc);
        let resolved = resolving.for_report::<Gc>();
        cut.samples(&samples, resolved);
        cut.collections(&gc);
        cut.spans(&mut tracks);
        for series in counters.series {
            let name = counter_name(&series);
            let values = series.points.iter().map(|point| point.value).filter(|value| value.is_finite());
            cut.facts.rows.insert((Subject::Counter, name.clone()), Measured::Values(values.collect()));
            cut.facts.units.insert(name, series.unit);
        }
        cut.facts.has_runtime = self.has_runtime;
        cut.facts
    }
}

/// `System.Runtime/cpu-usage`, with tags if there are any.
fn counter_name(series: &crate::report::CounterSeries) -> String {
    let mut name = format!("{}/{}", series.provider, series.name);
    let tags: Vec<String> = series.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if !tags.is_empty() {
        name.push_str(&format!("[{}]", tags.join(",")));
    }
    name
}

/// Cuts the trace's time into slices.
struct Cut {
    from: i64,
    slices: usize,
    facts: TraceFacts,
}

impl Cut {
    fn new(samples: &BTreeMap<Kind, Vec<SampleRow>>, gc: &GcReport) -> Cut {
        // The list of methods at the end of a session takes its time, in which nothing is measured.
        let moments = samples.values().flatten().map(|row| row.nanos);
        let moments = moments.chain(gc.collections.iter().map(|row| row.start_ns));
        let (from, to) = moments.fold((i64::MAX, i64::MIN), |(from, to), at| (from.min(at), to.max(at)));
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
            stacks: Vec::new(),
        };
        Cut { from: if length == 0 { 0 } else { from }, slices, facts }
    }

    fn slice(&self, nanos: i64) -> usize {
        let behind = nanos.saturating_sub(self.from) as f64 / self.facts.slice_nanos;
        (0..self.slices).rev().find(|slice| *slice as f64 <= behind).unwrap_or(0)
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
        // Both stand for all allocations.
        let has_samples = samples.contains_key(&Kind::AllocationSamples);
        for (kind, rows) in samples {
            match kind {
                Kind::Cpu => self.cpu(rows, resolved),
                Kind::AllocationTicks if has_samples => {}
                Kind::AllocationTicks | Kind::AllocationSamples => {
                    self.labelled(rows, resolved, Subject::Type, Subject::Alloc, |row| row.weight as f64);
                }
                Kind::Exceptions => {
                    let one = |row: &SampleRow| row.samples as f64;
                    self.labelled(rows, resolved, Subject::Exception, Subject::Exceptions, one);
                }
                Kind::Contention => {
                    for row in rows {
                        let (slice, samples) = (self.slice(row.nanos), row.samples as f64);
                        self.add(Subject::Contention, "", slice, (row.weight as f64, samples));
                        self.add(Subject::ContentionCount, "", slice, (samples, samples));
                    }
                }
                Kind::Waits => {
                    for row in rows {
                        let value = (row.weight as f64, row.samples as f64);
                        self.add(Subject::Waits, "", self.slice(row.nanos), value);
                    }
                }
                _ => {}
            }
        }
    }

    fn cpu(&mut self, rows: &[SampleRow], resolved: &Resolved<'_>) {
        let mut stacks: HashMap<u32, u64> = HashMap::new();
        // By frame and slice: names are looked up once for each, not for each sample.
        let mut own: HashMap<(u32, usize), (f64, f64)> = HashMap::new();
        let mut with_callees: HashMap<(u32, usize), (f64, f64)> = HashMap::new();
        let mut met = BTreeSet::new();
        for row in rows {
            let slice = self.slice(row.nanos);
            self.facts.samples = self.facts.samples.saturating_add(row.samples);
            if let Some(sum) = self.facts.samples_of.get_mut(slice) {
                *sum += row.samples as f64;
            }
            let is_running = ThreadState::RUNNING.contains(&resolved.state(row.key.stack, row.key.mode));
            if !is_running || !resolved.admits(row.key.stack, row.key.mode) {
                continue;
            }
            let weight = (row.weight as f64, row.samples as f64);
            self.add(Subject::Cpu, "", slice, weight);
            let sum = stacks.entry(row.key.stack.0).or_default();
            *sum = sum.saturating_add(row.weight);
            let frames = resolved.frames(row.key.stack);
            if let Some(leaf) = frames.first() {
                plus(own.entry((leaf.0, slice)).or_default(), weight);
            }
            met.clear();
            met.extend(frames.iter().map(|frame| frame.0));
            for frame in &met {
                plus(with_callees.entry((*frame, slice)).or_default(), weight);
            }
        }
        for (subject, sums) in [(Subject::Method, own), (Subject::MethodTotal, with_callees)] {
            for ((frame, slice), weight) in sums {
                self.add(subject, name_of(resolved, frame), slice, weight);
            }
        }
        let handles = resolved.model().stacks();
        for stack in handles.handles() {
            if let Some(weight) = stacks.get(&stack.0) {
                let frames = resolved.frames(stack).iter().rev();
                let names = frames.map(|frame| resolved.shared_text(*frame)).collect();
                self.facts.stacks.push((names, *weight));
            }
        }
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
        for collection in &gc.collections {
            let slice = self.slice(collection.start_ns);
            self.add(Subject::GcCount, "", slice, (1.0, 1.0));
            self.add(Subject::GcCount, &format!("gen{}", collection.generation), slice, (1.0, 1.0));
            self.add(Subject::GcPause, "", slice, (collection.pause_ns as f64, 1.0));
            self.facts.pauses.push(collection.pause_ns as f64);
        }
    }

    fn spans(&mut self, tracks: &mut Tracks) {
        let texts = std::mem::take(&mut tracks.spans.texts);
        let is_request = |name: &str| name.ends_with("Request") || name.contains("HttpRequestIn");
        let names: Vec<bool> = texts.all().map(is_request).collect();
        for (category, of) in tracks.spans.finish() {
            match category {
                Category::Jit => {
                    for span in &of.rows {
                        let slice = self.slice(span.start_nanos);
                        self.add(Subject::Jit, "", slice, (span.nanos as f64, 1.0));
                        self.add(Subject::JitMethods, "", slice, (1.0, 1.0));
                    }
                }
                Category::Activity => {
                    let is_named = |name: u32| names.get(name as usize).copied().unwrap_or(false);
                    let takes_all = !of.rows.iter().any(|span| is_named(span.name));
                    // Of very many activities only the longest were kept.
                    let kept = of.rows.len() as f64;
                    let factor = if kept > 0.0 { (kept + of.left_out as f64) / kept } else { 1.0 };
                    for span in of.rows.iter().filter(|span| takes_all || is_named(span.name)) {
                        self.facts.requests = self.facts.requests.saturating_add(1);
                        let slice = self.slice(span.start_nanos.saturating_add_unsigned(span.nanos));
                        if let Some(sum) = self.facts.requests_of.get_mut(slice) {
                            *sum += factor;
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Adds weight and count.
fn plus(sum: &mut (f64, f64), other: (f64, f64)) {
    sum.0 += other.0;
    sum.1 += other.1;
}

/// Addresses differ from run to run: those without a name are one row for each module.
fn name_of<'r>(resolved: &'r Resolved<'_>, frame: u32) -> &'r str {
    match resolved.all_frames().get(frame as usize) {
        Some(frame) if frame.is_named => &frame.text,
        Some(frame) if !frame.module.is_empty() => &frame.module,
        _ => "(no name)",
    }
}
