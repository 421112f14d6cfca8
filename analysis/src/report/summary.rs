//! What a trace is, what it can answer, and what stands out in it.

use super::activities::Activities;
use super::alloc::Alloc;
use super::contention::Contention;
use super::counters::Counters;
use super::exceptions::Exceptions;
use super::gc::Gc;
use super::logs::Logs;
use super::waits::Waits;
use super::{Moment, Recording, Report, SCHEMA};
use crate::grouped::grouped;
use crate::model::{FrameHandle, Mode, Model, Resolved, StackHandle, State, rounded};
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, SampleState};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most findings that are told.
const MOST_FINDINGS: usize = 5;

/// A method with less of the samples, in percent, does not stand out.
const LEAST_SHARE: f64 = 5.0;

/// What a trace is, what it can answer, and what stands out in it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SummaryReport {
    /// Version of this document.
    pub schema: u32,
    /// What the trace is in a few words, such as `CPU samples, exceptions and activities`.
    pub kind: String,
    /// The traced process, if there is one that has a name.
    pub process: Option<String>,
    /// From the first event until the last, in nanoseconds.
    pub duration_ns: u64,
    /// Events.
    pub events: u64,
    /// Threads that have events.
    pub threads: u64,
    /// What the trace can answer.
    pub answers: Vec<Answer>,
    /// What stands out, the most telling first; at most five.
    pub findings: Vec<Finding>,
}

/// A report that the trace has events for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Answer {
    /// The report.
    pub report: String,
    /// What it tells.
    pub about: String,
    /// Events that it is made of.
    pub events: u64,
}

/// Something that stands out.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// What it is about: `lost_events`, `missing_names`, `gc`, `exceptions`, `contention`, `waits`, `starvation`,
    /// `hottest_method`, `activities`, `log_errors`.
    pub about: String,
    /// How telling it is, from 0 to 100.
    pub weight: f64,
    /// What was found.
    pub text: String,
    /// The command that tells more, without `nettrace` and the trace, such as `report exceptions`.
    pub command: String,
}

/// What events are for, in the order in which answers are given.
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
    /// Name in a list, report, what the report tells.
    fn text(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Subject::Cpu => ("CPU samples", "topN", "where time went"),
            Subject::Gc => ("garbage collections", "gc", "pauses and heap sizes"),
            Subject::Allocations => ("allocations", "alloc", "what was allocated where"),
            Subject::Heap => ("a heap dump", "types", "what lives on the heap"),
            Subject::Exceptions => ("exceptions", "exceptions", "what was thrown where"),
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

/// Makes a [`SummaryReport`].
#[derive(Debug, Default)]
pub struct Summary {
    subjects: BTreeMap<Subject, u64>,
    gc: Gc,
    alloc: Alloc,
    exceptions: Exceptions,
    contention: Contention,
    waits: Waits,
    activities: Activities,
    logs: Logs,
    counters: Option<Counters>,
    cpu: HashMap<(StackHandle, Mode), u64>,
    starvations: u64,
    events: u64,
    first: Option<i64>,
    last: i64,
}

impl Summary {
    /// Knows nothing yet.
    pub fn new() -> Summary {
        Summary {
            activities: Activities::without_parts(),
            counters: Some(Counters::new().without_points()),
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
    const ABOUT: &'static str = "what the trace is, what it can answer, what stands out";
    const RECORD: &'static [Recording] = &[];

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.gc.event(event, moment, model);
        self.alloc.event(event, moment, model);
        self.exceptions.event(event, moment, model);
        self.contention.event(event, moment, model);
        self.waits.event(event, moment, model);
        if self.activities.event(event, moment, model) && moment.is_selected {
            self.count(Subject::Activities);
        }
        if self.logs.event(event, moment, model) && moment.is_selected {
            self.count(Subject::Logs);
            self.logs.take();
        }
        if self.counters.as_mut().is_some_and(|counters| counters.event(event, moment, model)) {
            self.count(Subject::Counters);
        }
        if !moment.is_selected {
            return true;
        }
        self.events = self.events.saturating_add(1);
        self.first.get_or_insert(moment.nanos);
        self.last = moment.nanos;
        let mode = match event.known_provider() {
            KnownProvider::SampleProfiler => view::Sample::of(event).map(|sample| match sample.state {
                SampleState::Managed => Mode::Managed,
                SampleState::External => Mode::External,
                _ => Mode::Unknown,
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
            self.count(Subject::Cpu);
            let count = self.cpu.entry((model.stack_of(event, moment.thread), mode)).or_default();
            *count = count.saturating_add(1);
        }
        true
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> SummaryReport {
        // The report is made of one way of measuring, the most exact.
        if let Some(source) = self.alloc.finish(resolved).sources.first() {
            self.subjects.insert(Subject::Allocations, source.events);
        }
        let duration_ns = u64::try_from(self.last.saturating_sub(self.first.unwrap_or(0))).unwrap_or(0);
        let seconds = duration_ns as f64 / 1e9;
        let mut findings = Vec::new();
        let mut found = |about: &str, weight: f64, text: String, command: &str| {
            let (about, command) = (about.to_owned(), command.to_owned());
            findings.push(Finding { about, weight: weight.clamp(0.0, 100.0), text, command });
        };
        if let Some(advice) = resolved.coverage().advice() {
            found("missing_names", 85.0, advice, "info");
        }
        if self.starvations > 0 {
            let text =
                format!("the thread pool was starved: {} threads added for it", grouped(self.starvations));
            found("starvation", 80.0, text, "report threadpool");
        }
        let gc = self.gc.finish(resolved).totals;
        if gc.count > 0 {
            let pause_ms = gc.pause_ns as f64 / 1e6;
            let longest_ms = gc.max_pause_ns as f64 / 1e6;
            let share = gc.pause_percent;
            let text = format!(
                "{} garbage collections paused everything for {pause_ms:.1} ms, {share:.1} % of the time; the longest {longest_ms:.1} ms",
                grouped(gc.count)
            );
            found("gc", 20.0 + share * 2.0, text, "report gc");
        }
        let exceptions = self.exceptions.finish(resolved);
        if let Some(first) = exceptions.types.first() {
            let rate = exceptions.count as f64 / seconds.max(0.001);
            let share = first.count as f64 * 100.0 / exceptions.count.max(1) as f64;
            let text = format!(
                "{} exceptions, {} a second; {share:.0} % are {}",
                grouped(exceptions.count),
                grouped(rounded(rate)),
                first.type_name
            );
            found("exceptions", 10.0 + 12.0 * (rate + 1.0).log10(), text, "report exceptions");
        }
        let contention = self.contention.finish(resolved);
        if contention.stopped > 0 {
            let waited_ms = contention.waits.total_ns as f64 / 1e6;
            let share = contention.waits.total_ns as f64 * 100.0 / duration_ns.max(1) as f64;
            let place = contention.locks.first().and_then(|lock| lock.stacks.first());
            let place =
                place.map_or_else(String::new, |stack| format!(", most in {}", caller(&stack.frames)));
            let text = format!(
                "threads waited {} times for locks, {waited_ms:.1} ms together{place}",
                grouped(contention.stopped)
            );
            found("contention", 15.0 + share.min(60.0), text, "report contention");
        }
        let waits = self.waits.finish(resolved);
        if let Some(place) = waits.places.first() {
            let waited = place.waits.total_ns as f64 / 1e9;
            let text = format!("threads waited longest in {}: {waited:.1} s together", caller(&place.frames));
            found("waits", 18.0, text, "report waits");
        }
        if let Some((method, share)) = hottest(&self.cpu, resolved).filter(|(_, share)| *share >= LEAST_SHARE)
        {
            let text = format!("{share:.0} % of the running samples are in {method}");
            found("hottest_method", 20.0 + share * 0.4, text, "report topN");
        }
        let activities = self.activities.finish(resolved);
        if let Some(slowest) = activities.slowest.first() {
            let slowest_ms = slowest.duration_ns as f64 / 1e6;
            let errors = match activities.errors {
                0 => String::new(),
                errors => format!(", {} went wrong", grouped(errors)),
            };
            let text = format!(
                "{} activities{errors}; the slowest took {slowest_ms:.1} ms: {}",
                grouped(activities.started),
                slowest.name
            );
            let share = activities.errors as f64 * 100.0 / activities.started.max(1) as f64;
            found("activities", 16.0 + share, text, "report activities");
        }
        let logs = self.logs.finish(resolved);
        let severe = logs.levels.iter().filter(|row| row.level >= super::logs::LogLevel::Error);
        let severe = severe.fold(0_u64, |sum, row| sum.saturating_add(row.count));
        if severe > 0 {
            found("log_errors", 45.0, format!("{} log messages are errors", grouped(severe)), "report logs");
        }
        findings.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        findings.truncate(MOST_FINDINGS);
        let model = resolved.model();
        let named = model.processes().find(|(_, process)| !process.name.is_empty());
        SummaryReport {
            schema: SCHEMA,
            kind: kind(&self.subjects),
            process: named.map(|(_, process)| process.name.clone()),
            duration_ns,
            events: self.events,
            threads: model.threads().iter().len() as u64,
            answers: self
                .subjects
                .iter()
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
    /// Adds a finding that the events do not tell, such as losses.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
        self.findings.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        self.findings.truncate(MOST_FINDINGS);
    }
}

impl Finding {
    /// `lost` events of a trace that has `events` others are missing.
    pub fn lost_events(lost: u64, events: u64) -> Finding {
        let were = if lost == 1 { "event was" } else { "events were" };
        let share = lost as f64 * 100.0 / lost.saturating_add(events).max(1) as f64;
        Finding {
            about: "lost_events".to_owned(),
            weight: (60.0 + share).min(100.0),
            text: format!(
                "{} {were} lost, {share:.1} % of all: what is counted below is too low",
                grouped(lost)
            ),
            command: "info".to_owned(),
        }
    }
}

/// `CPU samples, exceptions and activities`.
fn kind(subjects: &BTreeMap<Subject, u64>) -> String {
    let names: Vec<&str> = subjects.keys().map(|subject| subject.text().0).collect();
    match names.split_last() {
        None => "nothing that a report is made of".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

/// The innermost frame that is not of the library that waits.
fn caller(frames: &[Arc<str>]) -> &str {
    let is_library = |frame: &&Arc<str>| {
        frame.contains("System.Threading.") || frame.contains("System.Private.CoreLib!Interop")
    };
    let frame = frames.iter().find(|frame| !is_library(frame)).or(frames.first());
    frame.map_or("(no stack)", |frame| &**frame)
}

/// The method in which most running samples are, and its share in percent.
fn hottest<'r>(
    cpu: &HashMap<(StackHandle, Mode), u64>,
    resolved: &'r Resolved<'_>,
) -> Option<(&'r str, f64)> {
    let mut leaves: BTreeMap<FrameHandle, u64> = BTreeMap::new();
    let mut all = 0_u64;
    for ((stack, mode), count) in cpu {
        let is_running = *mode == Mode::OnCpu || resolved.state(*stack, *mode) == State::Managed;
        let frames = resolved.selected(*stack, *mode).filter(|_| is_running);
        let Some(leaf) = frames.and_then(|frames| frames.first()) else { continue };
        all = all.saturating_add(*count);
        // An address says nothing to a reader.
        if !resolved.text(*leaf).starts_with("0x") {
            let sum = leaves.entry(*leaf).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let (leaf, count) = leaves.into_iter().max_by_key(|(leaf, count)| (*count, Reverse(*leaf)))?;
    Some((resolved.text(leaf), count as f64 * 100.0 / all.max(1) as f64))
}
