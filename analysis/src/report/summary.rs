//! What a trace is, what it can answer, and what is notable about it.

use super::activities::Activities;
use super::alloc::Alloc;
use super::contention::Contention;
use super::counters::Counters;
use super::exceptions::Exceptions;
use super::findings::{self, Finding};
use super::gc::Gc;
use super::jit::Jit;
use super::logs::{LogLevel, Logs};
use super::waits::Waits;
use super::{Moment, Recording, Report, SCHEMA};
use crate::model::intervals::LockWaits;
use crate::model::{
    Coverage, CpuWeights, FrameHandle, Mode, Model, Resolved, SessionSpan, StackHandle,
    ThreadState, Weighed,
};
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;

/// What a trace is, what it can answer, and what is notable about it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SummaryReport {
    /// Version of this document.
    pub schema: u32,
    /// What the trace is, in a few words, such as `CPU samples, exceptions and
    /// activities`.
    pub kind: String,
    /// The traced process, if it has a name.
    pub process: Option<String>,
    /// Time from the session's start to the last event, in nanoseconds; if a filter
    /// leaves out events, from the first to the last of the others.
    pub duration_ns: u64,
    /// Number of events.
    pub events: u64,
    /// Number of threads with events.
    pub threads: u64,
    /// Whether it has the objects of a heap: see [`heap`](crate::heap), `nettrace heap`.
    pub has_heap_dump: bool,
    /// What the trace can answer.
    pub answers: Vec<Answer>,
    /// Notable facts, most important first; at most five.
    pub findings: Vec<Finding>,
}

/// A report that the trace has events for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Answer {
    /// The name of the report.
    pub report: String,
    /// What it shows.
    pub about: String,
    /// Number of events that it uses.
    pub events: u64,
}

/// What events are about, in the order in which answers are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Cpu,
    Gc,
    Allocations,
    Heap,
    Exceptions,
    Contention,
    Waits,
    ThreadPool,
    Jit,
    Tasks,
    Activities,
    Logs,
    Counters,
}

impl Subject {
    /// Name in a list, name of the report, and what the report shows. Some have no
    /// report.
    fn text(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Subject::Cpu => ("CPU samples", "topN", "where time went"),
            Subject::Gc => ("garbage collections", "gc", "pauses and heap sizes"),
            Subject::Allocations => ("allocations", "alloc", "what was allocated, and where"),
            Subject::Heap => ("a heap dump", "", ""),
            Subject::Exceptions => ("exceptions", "exceptions", "what was thrown, and where"),
            Subject::Contention => ("lock contention", "contention", "which locks were waited for"),
            Subject::Waits => ("waits", "waits", "where threads waited"),
            Subject::ThreadPool => ("the thread pool", "threadpool", "workers and starvation"),
            Subject::Jit => ("compiled methods", "jit", "what was compiled"),
            Subject::Tasks => ("tasks", "tasks", "what was scheduled and awaited"),
            Subject::Activities => ("activities", "activities", "requests and how long they took"),
            Subject::Logs => ("log messages", "logs", "what was logged"),
            Subject::Counters => ("counters", "counters", "values over time"),
        }
    }
}

/// Computes a [`SummaryReport`].
#[derive(Debug, Default)]
pub struct Summary {
    subjects: BTreeMap<Subject, u64>,
    gc: Gc,
    alloc: Alloc,
    exceptions: Exceptions,
    contention: Contention,
    locks: LockWaits,
    jit: Jit,
    waits: Waits,
    activities: Activities,
    logs: Logs,
    counters: Option<Counters>,
    weights: CpuWeights,
    /// Number of samples, and nanoseconds.
    cpu: HashMap<(StackHandle, Mode), (u64, u64)>,
    starvations: u64,
    events: u64,
    /// Whether a filter leaves out events.
    is_filtered: bool,
    span: SessionSpan,
}

impl Summary {
    /// Knows nothing yet.
    pub fn new() -> Summary {
        Summary {
            activities: Activities::without_parts(),
            counters: Some(Counters::new().without_points()),
            // How much of their time all waiting threads spent waiting.
            waits: Waits::new().top(usize::MAX),
            ..Summary::default()
        }
    }

    fn count(&mut self, subject: Subject) {
        let count = self.subjects.entry(subject).or_default();
        *count = count.saturating_add(1);
    }

    fn runtime(&mut self, event: &Event<'_>) {
        let subject = match event.id() {
            1 => Subject::Gc,
            18 => Subject::Heap,
            80 => Subject::Exceptions,
            81 => Subject::Contention,
            301 => Subject::Waits,
            143 => Subject::Jit,
            50..=57 => {
                let is_adjustment = event.id() == 55;
                let reason = || event.field("Reason").and_then(|value| value.as_u64());
                if is_adjustment && reason() == Some(6) {
                    self.starvations = self.starvations.saturating_add(1);
                }
                Subject::ThreadPool
            }
            _ => return,
        };
        self.count(subject);
    }
}

impl Report for Summary {
    type Output = SummaryReport;

    const NAME: &'static str = "summary";
    const ABOUT: &'static str = "What the trace contains, what it can answer, what stands out";
    const RECORD: &'static [Recording] = &[];

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.gc.event(event, moment, model);
        self.alloc.event(event, moment, model);
        self.exceptions.event(event, moment, model);
        self.contention.event(event, moment, model);
        self.jit.event(event, moment, model);
        if LockWaits::is_edge(event) {
            self.locks.event(event, moment.thread, moment.nanos);
        }
        self.waits.event(event, moment, model);
        if self.activities.event(event, moment, model) && moment.is_selected {
            self.count(Subject::Activities);
        }
        if self.logs.event(event, moment, model) && moment.is_selected {
            self.count(Subject::Logs);
            self.logs.take();
        }
        let counters = self.counters.as_mut();
        if counters.is_some_and(|counters| counters.event(event, moment, model))
            && moment.is_selected
        {
            self.count(Subject::Counters);
        }
        if !moment.is_selected {
            self.is_filtered = true;
            return true;
        }
        self.events = self.events.saturating_add(1);
        self.span.add(moment.nanos);
        let mode = match event.known_provider() {
            KnownProvider::SampleProfiler => view::Sample::of(event).map(|sample| {
                match self.locks.is_waiting(moment.thread, event.stack().addresses()) {
                    true => Mode::Blocked,
                    false => Mode::of(sample.state),
                }
            }),
            KnownProvider::UniversalEvents if event.name() == "cpu" => Some(Mode::OnCpu),
            KnownProvider::Runtime => {
                self.runtime(event);
                None
            }
            KnownProvider::Tasks => {
                if matches!(event.id(), 7..=11) {
                    self.count(Subject::Tasks);
                }
                None
            }
            _ => None,
        };
        if let Some(mode) = mode {
            if self.cpu.is_empty() {
                let period = event.session().sampling_period_nanos;
                self.weights.expect(period.map_or(0, u64::from));
            }
            self.count(Subject::Cpu);
            let stack = model.stack_of(event, moment.thread);
            let cpu = &mut self.cpu;
            let _ = self.weights.add(moment.thread, stack, mode, moment.nanos, |sample| {
                weigh(cpu, &sample);
                Ok::<(), Infallible>(())
            });
        }
        true
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> SummaryReport {
        let duration_ns =
            if self.is_filtered { self.span.nanos() } else { self.span.nanos_since_start() };
        let alloc = self.alloc.finish(resolved);
        // Use the most accurate way of measuring.
        if let Some(source) = alloc.sources.first() {
            self.subjects.insert(Subject::Allocations, source.events);
        }
        let logs = self.logs.finish(resolved);
        let severe = logs.levels.iter().filter(|row| row.level >= LogLevel::Error);
        let severe = severe.fold(0_u64, |sum, row| sum.saturating_add(row.count));
        let cpu = &mut self.cpu;
        let _ = self.weights.finish(|sample| {
            weigh(cpu, &sample);
            Ok::<(), Infallible>(())
        });
        let running = Running::new(&self.cpu, resolved);
        let found = [
            running.unnamed(resolved),
            running.hottest(resolved),
            Finding::starvation(self.starvations),
            Finding::gc(&self.gc.finish(resolved).totals),
            Finding::jit(&self.jit.finish(resolved).totals, duration_ns),
            Finding::alloc(&alloc),
            Finding::exceptions(&self.exceptions.finish(resolved), duration_ns),
            Finding::contention(&self.contention.finish(resolved), duration_ns),
            Finding::waits(&self.waits.finish(resolved), duration_ns),
            Finding::activities(&self.activities.finish(resolved), duration_ns),
            Finding::log_errors(severe),
        ];
        let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
        findings::rank(&mut findings);
        let model = resolved.model();
        let named = model.processes().find(|(_, process)| !process.name.is_empty());
        SummaryReport {
            schema: SCHEMA,
            kind: kind(&self.subjects),
            has_heap_dump: self.subjects.contains_key(&Subject::Heap),
            process: named.map(|(_, process)| process.name.clone()),
            duration_ns,
            events: self.events,
            threads: model.threads().iter().filter(|(_, thread)| thread.events > 0).count() as u64,
            answers: self
                .subjects
                .iter()
                .filter(|(subject, _)| !subject.text().1.is_empty())
                .map(|(subject, events)| {
                    let (_, report, about) = subject.text();
                    Answer { report: report.to_owned(), about: about.to_owned(), events: *events }
                })
                .collect(),
            findings,
        }
    }
}

impl SummaryReport {
    /// Adds a finding that cannot be derived from the events, such as losses.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
        findings::rank(&mut self.findings);
    }
}

/// `CPU samples, exceptions and activities`.
fn kind(subjects: &BTreeMap<Subject, u64>) -> String {
    let names: Vec<&str> = subjects.keys().map(|subject| subject.text().0).collect();
    match names.split_last() {
        None => "no events that a report uses".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

fn weigh(cpu: &mut HashMap<(StackHandle, Mode), (u64, u64)>, sample: &Weighed) {
    let (count, nanos) = cpu.entry((sample.stack, sample.mode)).or_default();
    *count = count.saturating_add(sample.count);
    *nanos = nanos.saturating_add(sample.weight);
}

/// The CPU samples with stacks that pass the filter.
#[derive(Default)]
struct Running {
    /// Time of running samples, by innermost frame.
    leaves: BTreeMap<FrameHandle, u64>,
    /// Number of running samples, and their time.
    samples: u64,
    all: u64,
    /// Number of frames of all distinct stacks, and of those with a name.
    frames: u64,
    named: u64,
}

impl Running {
    fn new(cpu: &HashMap<(StackHandle, Mode), (u64, u64)>, resolved: &Resolved<'_>) -> Running {
        let mut running = Running::default();
        let mut met = HashSet::new();
        for ((stack, mode), (count, nanos)) in cpu {
            let Some(frames) = resolved.selected(*stack, *mode) else { continue };
            if met.insert(*stack) {
                let named = frames
                    .iter()
                    .filter(|frame| resolved.frame(**frame).is_some_and(|row| row.is_named));
                running.frames = running.frames.saturating_add(frames.len() as u64);
                running.named = running.named.saturating_add(named.count() as u64);
            }
            if !ThreadState::RUNNING.contains(&resolved.state(*stack, *mode)) {
                continue;
            }
            running.samples = running.samples.saturating_add(*count);
            running.all = running.all.saturating_add(*nanos);
            if let Some(leaf) = frames.first() {
                let sum = running.leaves.entry(*leaf).or_default();
                *sum = sum.saturating_add(*nanos);
            }
        }
        running
    }

    fn unnamed(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        Finding::missing_names(Coverage {
            frames: self.frames,
            named: self.named,
            ..resolved.coverage()
        })
    }

    fn hottest(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        let mut leaves: Vec<_> = self.leaves.iter().collect();
        leaves.sort_unstable_by_key(|(leaf, nanos)| (Reverse(**nanos), **leaf));
        // An address means nothing to a reader, and a method far below addresses is not
        // notable.
        let (leaf, nanos) = leaves
            .into_iter()
            .take(3)
            .find(|(leaf, _)| !resolved.text(**leaf).starts_with("0x"))?;
        Finding::hottest_method(resolved.text(*leaf), *nanos, self.all, self.samples)
    }
}
