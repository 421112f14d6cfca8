//! Divides a trace into slices, and its measurements among them. Slices are equal parts of the
//! trace's time, or the iterations of a benchmark.

use super::calls::TraceCalls;
use super::extent::ExtentFinder;
use super::measured::{Measured, MeasuredTrace};
use super::row_name::row_name;
use super::startup::StartTimes;
use super::work::GatheredWork;
use crate::fact::comparison::{DiffKey, Measure, Subject};
use crate::hash::HashMap;
use crate::model::{
    Frame, FrameHandle, Kind, Mode, Resolved, StackHandle, ThreadState, WaitFor, is_framework,
};
use crate::over_time::SampleRow;
use crate::report::{
    ActivitiesReport, BenchmarkFinder, ContentionReport, GcReport, HttpDirection, Iteration,
    Spread, SqlReport, ThreadPoolReport,
};
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of slices of equal length.
const MAX_SLICES: usize = 24;
/// Minimum number of slices of equal length.
const MIN_SLICES: usize = 4;
/// Minimum length of slices of equal length, in nanoseconds, unless there would be too few.
const MIN_SLICE_NANOS: f64 = 40e6;
/// Minimum length, in nanoseconds, of a wait that counts as open at the end of the trace. Most
/// shorter ones are ordinary waits that the end of the trace cut off.
const MIN_OPEN_WAIT_NANOS: u64 = 1_000_000_000;
/// Maximum number of request paths, and of SQL statements, that are compared. Paths with the most
/// requests and statements with the longest commands come first.
pub(super) const MAX_PATHS: usize = 500;

/// Slices of a trace.
#[derive(Debug)]
enum Slices {
    /// Parts of equal length; `from` is the start of the first, and `nanos` the length of each.
    Equal { from: i64, count: usize, nanos: f64 },
    /// Iterations of a benchmark. Nothing between them is measured.
    Iterations(Vec<Iteration>),
}

impl Slices {
    fn count(&self) -> usize {
        match self {
            Slices::Equal { count, .. } => *count,
            Slices::Iterations(iterations) => iterations.len(),
        }
    }

    /// Returns the index of the slice in which a moment lies.
    fn at(&self, nanos: i64) -> Option<usize> {
        match self {
            Slices::Equal { from, count, nanos: length } => {
                let offset = nanos.saturating_sub(*from) as f64 / length;
                Some((0..*count).rev().find(|slice| *slice as f64 <= offset).unwrap_or(0))
            }
            Slices::Iterations(iterations) => {
                let at = iterations.partition_point(|iteration| iteration.to < nanos);
                iterations.get(at).filter(|iteration| iteration.from <= nanos).map(|_| at)
            }
        }
    }
}

/// Collects the values of a trace by slice.
pub(super) struct Cut {
    slices: Slices,
    /// Whether allocations were sampled.
    has_allocations: bool,
    pub(super) trace: MeasuredTrace,
}

impl Cut {
    pub(super) fn new(
        samples: &BTreeMap<Kind, Vec<SampleRow>>,
        gc: &GcReport,
        events: Option<(i64, i64)>,
        extent: &ExtentFinder,
        benchmark: &BenchmarkFinder,
    ) -> Cut {
        // The rundown at the end of a session takes time in which nothing is measured, so the
        // duration ends with the last sample or collection.
        let moments = samples.values().flatten().map(|row| row.nanos);
        let moments = moments.chain(gc.collections.iter().map(|row| row.start_ns));
        let (mut from, mut to) =
            moments.fold((i64::MAX, i64::MIN), |(from, to), at| (from.min(at), to.max(at)));
        // A trace of counters or compilations has no samples, and one collection has no duration.
        if let Some(events) = events
            && (from > to || (to.saturating_sub(from) as f64) < MIN_SLICE_NANOS)
        {
            (from, to) = events;
        }
        let length = if from > to { 0 } else { to.saturating_sub(from).saturating_add(1) };
        let duration_ns = u64::try_from(length).unwrap_or(0);
        let fitting = duration_ns as f64 / MIN_SLICE_NANOS;
        let count = (MIN_SLICES..=MAX_SLICES)
            .rev()
            .find(|slices| *slices as f64 <= fitting)
            .unwrap_or(MIN_SLICES);
        let iterations = benchmark.iterations();
        let slices = if iterations.is_empty() {
            let nanos = (duration_ns as f64 / count as f64).max(1.0);
            Slices::Equal { from: if length == 0 { 0 } else { from }, count, nanos }
        } else {
            Slices::Iterations(iterations.to_vec())
        };
        let mut trace = MeasuredTrace {
            duration_ns,
            benchmark: benchmark.benchmark().map(str::to_owned),
            operations_of: iterations.iter().map(|iteration| iteration.operations).collect(),
            whole_run_ns: extent.whole_run().filter(|_| iterations.is_empty()),
            ..MeasuredTrace::default()
        };
        if let Slices::Iterations(iterations) = &slices {
            let nanos =
                iterations.iter().map(|iteration| iteration.to.saturating_sub(iteration.from));
            trace.duration_ns = u64::try_from(nanos.fold(0, i64::saturating_add)).unwrap_or(0);
        }
        let kinds = [Kind::AllocationTicks, Kind::AllocationSamples];
        let has_allocations = kinds.iter().any(|kind| samples.contains_key(kind));
        let mut cut = Cut { slices, has_allocations, trace };
        cut.elapsed(benchmark);
        cut
    }

    /// Adds the duration of the program, or of the operations of a benchmark.
    fn elapsed(&mut self, benchmark: &BenchmarkFinder) {
        let key = DiffKey::total(Subject::Elapsed);
        if let Some(nanos) = self.trace.whole_run_ns {
            let sums = self.in_first_slice(nanos);
            self.trace.rows.insert(key, sums);
        } else if let Slices::Iterations(iterations) = &self.slices {
            let own = iterations.iter().map(|iteration| benchmark.own_nanos(iteration));
            let sums = own.collect();
            self.trace.rows.insert(key, Measured::Sums(sums));
        }
    }

    fn add(&mut self, key: DiffKey, slice: Option<usize>, (value, count): (f64, f64)) {
        let Some(slice) = slice else { return };
        let slices = self.slices.count();
        *self.trace.counts.entry(key.clone()).or_default() += count;
        let row = self.trace.rows.entry(key);
        if let Measured::Sums(sums) = row.or_insert_with(|| Measured::Sums(vec![0.0; slices]))
            && let Some(sum) = sums.get_mut(slice)
        {
            *sum += value;
        }
    }

    /// Sets a single value, computed from `count` samples or events.
    fn set(&mut self, key: DiffKey, value: f64, count: f64) {
        self.trace.counts.insert(key.clone(), count);
        self.trace.rows.insert(key, Measured::Values(vec![value]));
    }

    /// Adds the rows that samples show.
    pub(super) fn samples(
        &mut self,
        samples: &BTreeMap<Kind, Vec<SampleRow>>,
        resolved: &Resolved<'_>,
    ) {
        self.open_waits(samples, resolved);
        let bytes = |row: &SampleRow| row.weight as f64;
        let one = |row: &SampleRow| row.samples as f64;
        for (kind, rows) in samples {
            match kind {
                Kind::Cpu => self.cpu(rows, resolved),
                kind if kind.is_represented(|kind| samples.contains_key(&kind)) => {}
                Kind::AllocationTicks | Kind::AllocationSamples => {
                    self.labelled(rows, resolved, [Subject::Type, Subject::Alloc], bytes);
                }
                Kind::Exceptions => {
                    self.labelled(rows, resolved, [Subject::Exception, Subject::Exceptions], one);
                }
                Kind::Contention => {
                    self.waits(rows, resolved, Subject::Contention, |_| true);
                    for row in admitted(rows, resolved) {
                        let samples = row.samples as f64;
                        let key = DiffKey::total(Subject::ContentionCount);
                        self.add(key, self.slices.at(row.nanos), (samples, samples));
                    }
                }
                Kind::Waits => {
                    self.waits(rows, resolved, Subject::Waits, |row| !is_idle(row, resolved));
                }
                _ => {}
            }
        }
    }

    /// Adds waits, in total and by the method of the program that waited.
    fn waits(
        &mut self,
        rows: &[SampleRow],
        resolved: &Resolved<'_>,
        subject: Subject,
        counts: impl Fn(&SampleRow) -> bool,
    ) {
        // Many waits have the same stack, and its names may be long.
        let mut places: HashMap<StackHandle, Option<&Arc<Frame>>> = HashMap::default();
        for row in admitted(rows, resolved).filter(|row| counts(row)) {
            let (slice, stack) = (self.slices.at(row.nanos), row.key.stack);
            let weight = (row.weight as f64, row.samples as f64);
            self.add(DiffKey::total(subject), slice, weight);
            let place = *places.entry(stack).or_insert_with(|| own_place(resolved, stack));
            if let Some(frame) = place {
                self.add(DiffKey::named(subject, row_name(frame)), slice, weight);
                self.keep(frame);
            }
        }
    }

    /// Adds waits that are not over at the end of the trace.
    fn open_waits(&mut self, samples: &BTreeMap<Kind, Vec<SampleRow>>, resolved: &Resolved<'_>) {
        let mut count: Option<u64> = None;
        for kind in [Kind::Contention, Kind::Waits] {
            let Some(rows) = samples.get(&kind) else { continue };
            let is_open = |row: &&SampleRow| {
                kind.is_open_wait(row.key.label)
                    && row.weight >= MIN_OPEN_WAIT_NANOS
                    && resolved.admits(row.key.stack, row.key.mode)
                    && !is_idle(row, resolved)
            };
            let open = rows.iter().filter(is_open).map(|row| row.samples);
            count = Some(open.fold(count.unwrap_or(0), u64::saturating_add));
        }
        if let Some(count) = count {
            self.set(DiffKey::total(Subject::OpenWaits), count as f64, count as f64);
        }
    }

    /// Adds deadlocks, if waits for locks were recorded.
    pub(super) fn deadlocks(&mut self, contention: &ContentionReport) {
        if contention.totals.started > 0 {
            let count = contention.deadlocks.len() as f64;
            self.set(DiffKey::total(Subject::Deadlocks), count, count);
        }
    }

    fn cpu(&mut self, rows: &[SampleRow], resolved: &Resolved<'_>) {
        let mut running = Vec::new();
        for row in rows {
            let Some(slice) = self.slices.at(row.nanos) else { continue };
            self.trace.samples = self.trace.samples.saturating_add(row.samples);
            let leaf = resolved.frames(row.key.stack).first();
            let leaf = leaf.and_then(|leaf| resolved.frame(*leaf));
            let is_named = leaf.is_some_and(|leaf| leaf.is_named());
            let module = leaf.map_or("", |leaf| &leaf.module);
            self.trace.names.count(module, is_named, row.weight);
            let is_running =
                ThreadState::RUNNING.contains(&resolved.state(row.key.stack, row.key.mode));
            if is_running && resolved.admits(row.key.stack, row.key.mode) {
                let SampleRow { weight, samples, .. } = *row;
                let stack = resolved.sample_stack(row.key.stack, row.key.mode);
                running.push(CutSamples { stack, slice, nanos: weight, samples });
            }
        }
        self.running(running, resolved);
    }

    fn running(&mut self, mut rows: Vec<CutSamples>, resolved: &Resolved<'_>) {
        // Many threads may have the same deep stack, so its frames are gone through once.
        rows.sort_unstable_by_key(|row| (row.stack, row.slice));
        let mut stacks: Vec<(StackHandle, u64)> = Vec::new();
        // Sums are by frame and slice, so that a name is looked up once for each sum instead of for
        // each sample.
        let mut all: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        let mut own: HashMap<(u32, usize), (f64, f64)> = HashMap::default();
        let mut with_callees: HashMap<(u32, usize), (f64, f64)> = HashMap::default();
        let mut distinct: Vec<FrameHandle> = Vec::new();
        for of_stack in rows.chunk_by(|one, next| one.stack == next.stack) {
            let Some(CutSamples { stack, .. }) = of_stack.first() else { continue };
            let frames = resolved.frames(*stack);
            // A recursive frame counts once.
            distinct.clear();
            distinct.extend_from_slice(frames);
            distinct.sort_unstable();
            distinct.dedup();
            let mut nanos = 0u64;
            for of_slice in of_stack.chunk_by(|one, next| one.slice == next.slice) {
                let Some(CutSamples { slice, .. }) = of_slice.first() else { continue };
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
            self.add(DiffKey::total(Subject::Cpu), Some(slice), weight);
        }
        for (subject, sums) in [(Subject::Method, own), (Subject::MethodTotal, with_callees)] {
            for ((frame, slice), weight) in sums {
                let frame = resolved.all_frames().get(frame as usize);
                self.add(key_of(subject, frame.map(|frame| &**frame)), Some(slice), weight);
                if let Some(frame) = frame.filter(|frame| frame.is_named()) {
                    self.keep(frame);
                }
            }
        }
        self.trace.calls = TraceCalls::new(resolved, &stacks);
    }

    /// Keeps the frame of a method that a row is named after.
    fn keep(&mut self, frame: &Arc<Frame>) {
        let name = row_name(frame);
        if !self.trace.methods.contains_key(&*name) {
            self.trace.methods.insert(name.into_owned(), Arc::clone(frame));
        }
    }

    /// Adds samples with a label, in total and by label.
    fn labelled(
        &mut self,
        rows: &[SampleRow],
        resolved: &Resolved<'_>,
        [each, all]: [Subject; 2],
        value: impl Fn(&SampleRow) -> f64,
    ) {
        let texts = resolved.model().texts();
        for row in admitted(rows, resolved) {
            let (slice, value) = (self.slices.at(row.nanos), (value(row), row.samples as f64));
            self.add(DiffKey::total(all), slice, value);
            if let Some(label) = row.key.label {
                self.add(DiffKey::named(each, texts.get(label)), slice, value);
            }
        }
    }

    /// Returns whether allocated bytes are taken from collections, which report the bytes allocated
    /// before them. Users of a benchmark want bytes per operation, and its allocations are rarely
    /// sampled.
    fn counts_allocations_by_collections(&self) -> bool {
        matches!(self.slices, Slices::Iterations(_)) && !self.has_allocations
    }

    pub(super) fn collections(&mut self, gc: &GcReport) {
        if self.counts_allocations_by_collections() && !gc.collections.is_empty() {
            // Collections were recorded, so without any in an iteration the row is 0 and not
            // missing.
            self.add(DiffKey::total(Subject::Alloc), Some(0), (0.0, 0.0));
        }
        // The pauses of a collection without an end are not known.
        for collection in gc.collections.iter().filter(|collection| collection.is_complete) {
            let slice = self.slices.at(collection.start_ns);
            self.add(DiffKey::total(Subject::GcCount), slice, (1.0, 1.0));
            let generation = format!("gen{}", collection.generation);
            self.add(DiffKey::named(Subject::GcCount, generation), slice, (1.0, 1.0));
            self.add(DiffKey::total(Subject::GcPause), slice, (collection.pause_ns as f64, 1.0));
            if self.counts_allocations_by_collections() {
                let bytes = collection.allocated_bytes.unwrap_or(0) as f64;
                self.add(DiffKey::total(Subject::Alloc), slice, (bytes, 1.0));
            }
            if slice.is_some() {
                self.trace.pauses.push(collection.pause_ns as f64);
            }
        }
    }

    pub(super) fn work(&mut self, gathered: &GatheredWork, startup: &mut StartTimes) {
        for work in gathered.compiled.rows() {
            let (slice, count) = (self.slices.at(work.nanos), work.count as f64);
            self.add(DiffKey::total(Subject::Jit), slice, (work.spent_nanos as f64, count));
            self.add(DiffKey::total(Subject::JitMethods), slice, (count, count));
            startup.compiled(work);
        }
        if let Some(answered_ns) = gathered.first_request_ns {
            startup.answered(answered_ns);
        }
    }

    /// Adds requests, in total and by path. `named` is the number of activities that are named like
    /// requests; it counts in traces without HTTP events.
    pub(super) fn requests(&mut self, http: &ActivitiesReport, named: u64) {
        // Requests that the program answered if it is a server, otherwise requests that it made.
        let is_server =
            http.activities.iter().any(|row| row.name.direction == Some(HttpDirection::In));
        let is_counted = |direction| !is_server || direction == Some(HttpDirection::In);
        let rows = http.activities.iter().filter(|row| is_counted(row.name.direction));
        let started = rows.map(|row| row.started).fold(0, u64::saturating_add);
        self.trace.requests = if started > 0 { started } else { named };
        if started == 0 {
            return;
        }
        let mut paths: Vec<_> = http.activities.iter().collect();
        paths.sort_few_by_key(|row| Reverse(row.started));
        let (mut all, mut failed) = (0_u64, 0_u64);
        for (at, row) in paths.into_iter().enumerate() {
            if is_counted(row.name.direction) {
                all = all.saturating_add(row.started);
                failed = failed.saturating_add(row.errors);
            }
            if at >= MAX_PATHS {
                continue;
            }
            let target = &row.name.target;
            let name = match row.name.direction {
                Some(direction) => format!("{} {target}", direction.name()),
                None => target.clone(),
            };
            let key = |measure| DiffKey::measure_of(Subject::RequestPath, &name, measure);
            self.counted(key(Measure::Count), row.started);
            self.counted(key(Measure::Errors), row.errors);
            self.percentiles(Subject::RequestPath, &name, &row.durations);
        }
        self.counted(DiffKey::measure(Subject::Requests, Measure::Count), all);
        self.counted(DiffKey::measure(Subject::Requests, Measure::Errors), failed);
    }

    /// Adds SQL commands, in total and by statement.
    pub(super) fn sql(&mut self, sql: &SqlReport) {
        if sql.count == 0 {
            return;
        }
        self.counted(DiffKey::total(Subject::Sql), sql.count);
        for row in sql.statements.iter().filter(|row| !row.text.is_empty()) {
            let key = DiffKey::measure_of(Subject::SqlStatement, &row.text, Measure::Count);
            self.counted(key, row.count);
            self.percentiles(Subject::SqlStatement, &row.text, &row.durations);
        }
    }

    /// Adds the median and the 95th percentile of durations.
    fn percentiles(&mut self, subject: Subject, name: &str, durations: &Spread) {
        if durations.count == 0 {
            return;
        }
        for (measure, nanos) in [(Measure::P50, durations.p50_ns), (Measure::P95, durations.p95_ns)]
        {
            let key = DiffKey::measure_of(subject, name, measure);
            self.set(key, nanos as f64, durations.count as f64);
        }
    }

    /// Adds events of unknown time to the first slice.
    fn counted(&mut self, key: DiffKey, count: u64) {
        let sums = self.in_first_slice(count as f64);
        self.trace.counts.insert(key.clone(), count as f64);
        self.trace.rows.insert(key, sums);
    }

    fn in_first_slice(&self, value: f64) -> Measured {
        let mut sums = vec![0.0; self.slices.count()];
        sums.iter_mut().take(1).for_each(|first| *first = value);
        Measured::Sums(sums)
    }

    /// Adds the largest number of workers of the thread pool.
    pub(super) fn pool(&mut self, pool: &ThreadPoolReport) {
        let most = pool.max_workers.max(pool.starvation.as_ref().map(|row| row.most_workers));
        if let Some(most) = most.filter(|most| *most > 0) {
            self.set(DiffKey::total(Subject::PoolThreads), most as f64, most as f64);
        }
    }
}

/// Returns whether a wait is still open because its thread has nothing to do, such as a worker of
/// the pool or a timer.
fn is_idle(row: &SampleRow, resolved: &Resolved<'_>) -> bool {
    row.key.label.is_some()
        && resolved.waits_for(row.key.stack, Mode::External) == Some(WaitFor::Work)
}

/// Samples of running threads with one stack, in one slice.
struct CutSamples {
    stack: StackHandle,
    slice: usize,
    nanos: u64,
    samples: u64,
}

fn plus(sum: &mut (f64, f64), other: (f64, f64)) {
    sum.0 += other.0;
    sum.1 += other.1;
}

/// Returns the key of a frame. Frames without a name share one row per module, because addresses
/// differ from run to run.
fn key_of(subject: Subject, frame: Option<&Frame>) -> DiffKey {
    match frame {
        Some(frame) if frame.is_named() => DiffKey::named(subject, row_name(frame)),
        Some(frame) if !frame.module.is_empty() => DiffKey::named(subject, frame.module.as_str()),
        _ => DiffKey::unnamed(subject),
    }
}

/// Returns the innermost frame outside of the framework, or else the innermost frame. `None` if the
/// stack is not known.
fn own_place<'r>(resolved: &'r Resolved<'_>, stack: StackHandle) -> Option<&'r Arc<Frame>> {
    let frames = resolved.frames(stack);
    let frames = || frames.iter().filter_map(|frame| resolved.frame(*frame));
    let own = frames().find(|frame| !is_framework(frame));
    own.or_else(|| frames().find(|frame| frame.is_handler)).or_else(|| frames().next())
}

/// Returns the rows that pass the user's filters.
fn admitted<'r>(
    rows: &'r [SampleRow],
    resolved: &Resolved<'_>,
) -> impl Iterator<Item = &'r SampleRow> {
    rows.iter().filter(|row| resolved.admits(row.key.stack, row.key.mode))
}
