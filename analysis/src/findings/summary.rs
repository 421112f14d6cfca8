//! What a trace is, what it can answer, and what is notable about it.

use super::collections::{Places, allocates, why};
use super::finding::{self, Finding};
use super::hangs::Blocked;
use super::overview::{Overview, Overviewed};
use super::own::OwnModules;
use super::own_code::OwnCode;
use super::own_events::{self, OwnEvents};
use super::running::Running;
use super::subject::{Subject, kind};
use crate::document::SCHEMA;
use crate::heap::HeapReport;
use crate::model::{Frame, Model, Moment, Resolved};
use crate::report::{LogLevel, Recording, Report, ReportInput, StuckThreads};
use crate::words::frames::place_name;
use nettrace_parser::{Event, Outcome};
use std::sync::Arc;

/// Whoever makes a dump wants to know what holds the heap: such findings come first.
const HEAP_WEIGHT: u8 = 99;
/// An exception within this time of the end may be why the process ended.
const LAST_NANOS: u64 = 1_000_000_000;
/// Modules of web servers.
const WEB_SERVERS: [&str; 3] = [
    "Microsoft.AspNetCore.Server.Kestrel.Core",
    "Microsoft.AspNetCore.Server.IIS",
    "Microsoft.AspNetCore.Server.HttpSys",
];
/// Pauses that take so much of the time are a question for whoever allocates.
const DEAR_PAUSES_PERCENT: f64 = 10.0;

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
    /// The events of the program's own EventSources, most frequent types first; at most
    /// eight. Without any other events, also those of the framework's.
    pub own_events: Vec<OwnEvents>,
    /// Number of their types.
    pub own_types: u64,
    /// Notable facts, most important first; at most seven.
    pub findings: Vec<Finding>,
    /// What to record of a web application whose requests are not in the trace.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub advice: Option<String>,
    /// What was there last, should the recording end in the middle.
    #[cfg_attr(feature = "serde", serde(skip))]
    last_seen: String,
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

/// Computes a [`SummaryReport`].
#[derive(Debug)]
pub struct Summary {
    overview: Overview,
}

impl Default for Summary {
    /// Knows nothing yet.
    fn default() -> Summary {
        Summary { overview: Overview::new(Overview::reports_for_findings()) }
    }
}

impl Report for Summary {
    type Output = SummaryReport;

    const NAME: &'static str = "summary";
    const ABOUT: &'static str = "What the trace contains, what it can answer, what stands out";
    const RECORD: &'static [Recording] = &[];
    const INPUT: ReportInput = ReportInput::Everything;

    fn wants(&self, event: &Event<'_>) -> bool {
        self.overview.interest(event).is_some()
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if let Some(interest) = self.overview.interest(event) {
            self.overview.observe(event, moment, model, &interest);
        }
        // It is about all events, also those that it does not see.
        false
    }

    fn finish(self, resolved: &Resolved<'_>) -> SummaryReport {
        SummaryReport::of(&self.overview.finish(resolved), resolved)
    }
}

impl SummaryReport {
    /// From finished reports. `resolved` must have the CPU samples.
    pub(crate) fn of(reports: &Overviewed, resolved: &Resolved<'_>) -> SummaryReport {
        let (model, selected) = (resolved.model(), resolved.model().selected());
        let duration_ns = model.selected_nanos();
        let running = Running::new(resolved);
        let mut subjects = reports.subjects.clone();
        if running.sampled > 0 {
            subjects.insert(Subject::Cpu, running.sampled);
        }
        let named = model.processes().find(|(_, process)| !process.name.is_empty());
        let answer = |(subject, events): (&Subject, &u64)| {
            let (_, report, about) = subject.text();
            Answer { report: report.to_owned(), about: about.to_owned(), events: *events }
        };
        let mut own_events = own_events::rows_of(&reports.own, subjects.is_empty(), duration_ns);
        let own_types = own_events.len() as u64;
        let sources = own_events::sources(&own_events);
        own_events::shown(&mut own_events);
        let (findings, last_seen) = findings(reports, &running, resolved, duration_ns);
        SummaryReport {
            schema: SCHEMA,
            kind: kind(&subjects, sources.as_deref()),
            own_events,
            own_types,
            has_heap_dump: subjects.contains_key(&Subject::Heap),
            process: named.map(|(_, process)| process.name.clone()),
            duration_ns,
            events: selected.events,
            threads: model.threads().filter(|(_, thread)| thread.events > 0).count() as u64,
            answers: subjects
                .iter()
                .map(answer)
                .filter(|answer| !answer.report.is_empty())
                .collect(),
            findings,
            advice: advice(reports, resolved),
            last_seen,
        }
    }

    /// Adds what holds most of the heap of a dump, which reports do not see.
    pub fn add_heap(&mut self, heap: &HeapReport) {
        let first = heap.sentences().into_iter().zip((0..HEAP_WEIGHT).rev());
        self.findings.extend(first.map(|((bytes, text), weight)| {
            let weight = f64::from(weight);
            Finding::new("heap", weight, (bytes, "bytes"), text, "heap --sort retained")
        }));
        finding::rank(&mut self.findings);
    }

    /// Adds what is missing from the trace, which reports do not see: that the recording ends in
    /// the middle, and that events were lost. Where events are lost or damaged there are no good
    /// signs: what is missing may have been the bad ones. `how`: how the process ended, if that
    /// is known.
    pub fn add_outcome(&mut self, outcome: &Outcome, how: Option<&str>) {
        if !outcome.is_complete {
            self.findings.push(self.cut_off(how));
        }
        let lost = outcome.losses.total();
        if lost > 0 || outcome.damage.loss_count() > 0 {
            self.findings.retain(|finding| finding.severity != "good");
        }
        if lost > 0 {
            self.findings.push(Finding::lost_events(lost, self.events));
        }
        finding::rank(&mut self.findings);
    }

    fn cut_off(&self, how: Option<&str>) -> Finding {
        let how = how.map_or_else(
            || "the process may have been killed, or have died".to_owned(),
            |how| format!("the process ended with {how}"),
        );
        let after = nettrace_export::units::duration(self.duration_ns);
        let text =
            format!("the recording ends in the middle, after {after}: {how}{}", self.last_seen);
        Finding::new("cut_off", 100.0, (self.duration_ns, "ns"), text, "info")
    }
}

/// What to record of a web application whose requests are not in the trace.
fn advice(reports: &Overviewed, resolved: &Resolved<'_>) -> Option<String> {
    let mut processes = resolved.model().processes();
    let is_web = processes.any(|(_, process)| {
        process.modules().iter().any(|module| WEB_SERVERS.contains(&module.name.as_str()))
    });
    let has_requests = reports.activities.http.as_ref().is_some_and(|http| http.started > 0);
    let is_dump = reports.subjects.contains_key(&Subject::Heap);
    (is_web && !has_requests && !is_dump).then(|| {
        "requests are not recorded: collect --profile web records them, with the calls that go \
         out, SQL commands, log messages and locks"
            .to_owned()
    })
}

/// What is notable, most important first.
fn findings(
    reports: &Overviewed,
    running: &Running,
    resolved: &Resolved<'_>,
    duration_ns: u64,
) -> (Vec<Finding>, String) {
    let severe = reports.logs.levels.iter().filter(|row| row.level >= LogLevel::Error);
    let severe = severe.fold(0_u64, |sum, row| sum.saturating_add(row.count));
    let own = OwnModules::of(resolved);
    let code = OwnCode::new(resolved, &own);
    // The program's own method, or without any the one that ran most.
    let [ran, took_lock] = running.hottest(resolved);
    let hottest = code.hottest(resolved, duration_ns);
    let is_dear = reports.gc.totals.pause_percent >= DEAR_PAUSES_PERCENT;
    let begins = reports.askers.collector(&own, resolved);
    let places = Places {
        collector: begins.or_else(|| code.collector(resolved)),
        begins,
        busiest: if hottest.is_none() && is_dear { code.busiest(resolved) } else { None },
        allocates: allocates(&reports.alloc, &own),
    };
    let starvation = Finding::starvation(
        reports,
        &StuckThreads::of(resolved),
        &own,
        code.blocked_workers(resolved).or_else(|| Blocked::of(&reports.waits, &own)),
    );
    // The pause of a heap dump is the recorder's.
    let gc = Finding::gc(&reports.gc.totals, &why(&reports.gc, &reports.alloc, &places, &own))
        .filter(|_| reports.gc.totals.count > 2 || !reports.subjects.contains_key(&Subject::Heap));
    let allocates = places.allocates.as_deref();
    // What collections are due to is said once, and so is where workers wait.
    let alloc = match (&gc, allocates) {
        (Some(gc), Some(most)) if gc.text.contains(most) => None,
        _ => Finding::alloc(&reports.alloc, allocates),
    };
    let (starvation, waits) = match starvation {
        Some(_) => (starvation, None),
        None => (
            Finding::no_starvation(&reports.pool),
            Finding::waits(&reports.waits, &own, duration_ns),
        ),
    };
    let found = [
        hottest.or(ran),
        took_lock,
        code.finalizer(resolved),
        threads(reports, &own, &code, resolved, duration_ns),
        running.unnamed(resolved),
        running.waits_for_process(),
        starvation,
        gc,
        Finding::jit(&reports.jit, reports.askers.compiler(&own, resolved), duration_ns),
        alloc,
        Finding::exceptions(&reports.exceptions, &own, code.throwing_percent(), duration_ns),
        Finding::repeated_query(&reports.sql),
        Finding::deadlock(&reports.contention, &own),
        Finding::endless_wait(&reports.contention, &own, duration_ns),
        Finding::endless_await(&reports.tasks, &own, duration_ns),
        Finding::contention(&reports.contention, &own, duration_ns).or_else(|| {
            // Where other sentences are about these waits there is no need for one more.
            let report = &reports.contention;
            let is_known =
                report.totals.stopped > 0 || !report.open.is_empty() || !report.stuck.is_empty();
            if is_known { None } else { code.lock_waits(resolved, duration_ns) }
        }),
        waits,
        Finding::activities(&reports.activities, duration_ns),
        reports.activities.http.as_ref().and_then(|http| Finding::slow_call(http, duration_ns)),
        Finding::log_errors(severe),
    ];
    let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
    finding::rank(&mut findings);
    findings.iter_mut().for_each(|finding| finding.name_endpoints(resolved));
    (findings, last_seen(reports, code.latest(resolved), duration_ns))
}

/// `; the last exception was System.FormatException; last seen in die!Program.Busy`.
fn last_seen(reports: &Overviewed, latest: Option<&Arc<Frame>>, duration_ns: u64) -> String {
    let since = i64::try_from(duration_ns.saturating_sub(LAST_NANOS)).unwrap_or(i64::MAX);
    let thrown = reports.exceptions.types.iter().filter(|row| row.last_ns >= since);
    let thrown = thrown.max_by_key(|row| row.last_ns);
    let thrown = thrown
        .map_or_else(String::new, |row| format!("; the last exception was {}", row.type_name));
    let seen =
        latest.map_or_else(String::new, |method| format!("; last seen in {}", place_name(method)));
    format!("{thrown}{seen}")
}

/// Threads that were started: by the events of that, else those with events.
fn threads(
    reports: &Overviewed,
    own: &OwnModules,
    code: &OwnCode,
    resolved: &Resolved<'_>,
    duration_ns: u64,
) -> Option<Finding> {
    let seen = resolved.model().threads().filter(|(_, thread)| thread.events > 0);
    let seen = seen.count() as u64;
    let started = Some(reports.askers.started()).filter(|started| *started > 0).unwrap_or(seen);
    let starter = reports.askers.starter(own, resolved).or_else(|| code.starter(resolved));
    Finding::threads((seen, started), duration_ns, reports.askers.life_nanos(resolved), starter)
}
