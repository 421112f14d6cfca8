//! The summary of a trace: what it contains, which reports it has events for, and its findings.

use super::collections::{self, Places};
use super::finding::{self, Finding, Severity};
use super::hangs::{self, Blocked};
use super::overview::{Overview, OverviewInterest, Overviewed};
use super::own::OwnModules;
use super::own_code::OwnCode;
use super::own_events::{self, OwnEvents};
use super::pool::PoolLoad;
use super::running::RunningFindings;
use super::waiting::OwnWaits;
use super::{
    compiled, exceptions, locks, no_processor, producers, queries, requests, sync_over_async,
    threads, waits,
};
use crate::by_type::ByType;
use crate::document::SCHEMA;
use crate::fact::{Advice, Base, Fact, Number, Place, ProcessEnd, TraceSubject, Unit};
use crate::heap::HeapReport;
use crate::model::{Model, Moment, Resolved};
use crate::report::{BenchmarkReport, LogLevel, Recording, Report, ReportInput, StuckThreads};
use crate::words;
use nettrace_parser::{Event, Outcome, Version};

/// Weight below which findings of a heap dump start; they come first because a dump is made for
/// them.
const HEAP_WEIGHT: u8 = 99;
/// Weight of the finding that a recording ends in the middle.
const CUT_OFF_WEIGHT: f64 = 100.0;
/// Minimum weight of the finding that events were lost.
const MIN_LOSSES_WEIGHT: f64 = 10.0;
/// Weight of the finding that EventSources sent nothing.
const SILENT_WEIGHT: f64 = 58.0;
/// Weight of the finding about logged errors.
const LOG_ERRORS_WEIGHT: f64 = 45.0;
/// Maximum time from an exception to the end of the trace, in nanoseconds, for the exception to be
/// a possible cause of the end.
const LAST_NANOS: u64 = 1_000_000_000;
/// Type of the exception that the runtime throws if there is no room for an object.
const OUT_OF_MEMORY: &str = "System.OutOfMemoryException";
/// Modules that only web applications load.
const WEB_SERVERS: [&str; 3] = [
    "Microsoft.AspNetCore.Server.Kestrel.Core",
    "Microsoft.AspNetCore.Server.IIS",
    "Microsoft.AspNetCore.Server.HttpSys",
];
/// Minimum time of pauses, in percent of the trace, at which the busiest method is named as a
/// likely cause.
const MIN_DEAR_PAUSES_PERCENT: f64 = 10.0;

/// The summary of a trace: what it contains, which reports it has events for, and its findings.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SummaryReport {
    /// Version of this document.
    pub schema: u32,
    /// Contents in a few words, such as `CPU samples, exceptions and activities`.
    pub kind: String,
    /// The traced process, if it has a name.
    pub process: Option<String>,
    /// Time from the session's start to the last event, in nanoseconds. With a filter on events, it
    /// is the time from the first to the last event that passes.
    pub duration_ns: u64,
    /// Number of events.
    pub events: u64,
    /// Number of threads with events.
    pub threads: u64,
    /// What an operation of the benchmark took that BenchmarkDotNet ran; `None`, and not in JSON, if
    /// it ran none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub benchmark: Option<BenchmarkReport>,
    /// Whether the trace has a heap dump, which [`heap`](crate::heap) and `nettrace heap` read.
    pub has_heap_dump: bool,
    /// Reports that the trace has events for.
    pub answers: Vec<Answer>,
    /// Event types of the program's own EventSources, the most frequent first, at most eight; of
    /// the framework's EventSources if the trace has nothing else.
    pub own_events: Vec<OwnEvents>,
    /// Number of the event types of which `own_events` has the first eight.
    pub own_types: u64,
    /// Notable facts, most important first; at most seven.
    pub findings: Vec<Finding>,
    /// What to record so that the trace tells more. In JSON, `advice` is a sentence and
    /// `advice_kind` the kind.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "advice_members"))]
    pub advice: Option<Advice>,
    /// Last exception and method, which matter if the recording ends in the middle.
    pub last_seen: LastSeen,
}

/// Last exception and method before the end of a trace.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LastSeen {
    /// Type of an exception that was thrown within the last second.
    pub exception: Option<String>,
    /// The program's own method of the latest sample.
    pub method: Option<Place>,
}

/// A report for which the trace has events.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Answer {
    /// Name of the report, such as `gc`.
    pub report: String,
    /// What the report shows, such as `pauses and heap sizes`.
    pub about: String,
    /// Number of events that the report uses.
    pub events: u64,
}

/// Computes a [`SummaryReport`].
#[derive(Debug)]
pub struct Summary {
    overview: Overview,
    /// Parts of the overview that want the events of each type.
    interest: ByType<Option<OverviewInterest>>,
}

impl Default for Summary {
    /// Makes a summary that has seen no event.
    fn default() -> Summary {
        let overview = Overview::new(Overview::reports_for_findings());
        Summary { overview, interest: ByType::new(None) }
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

    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let interest = self.interest.look_up(event, |event| self.overview.interest(event));
        if let Some(interest) = interest {
            self.overview.observe(event, moment, model, interest);
            self.overview.count_collections(interest);
        }
        // The summary counts all events, of which it sees only some.
        false
    }

    fn finish(self, resolved: &Resolved<'_>) -> SummaryReport {
        SummaryReport::from_reports(&self.overview.finish(resolved), resolved)
    }

    fn add_outcome(output: &mut SummaryReport, outcome: &Outcome) {
        output.add_outcome(outcome);
    }
}

impl SummaryReport {
    /// Makes the summary from finished reports. `resolved` must have the CPU samples.
    pub(crate) fn from_reports(reports: &Overviewed, resolved: &Resolved<'_>) -> SummaryReport {
        let (model, selected) = (resolved.model(), resolved.model().selected());
        let duration_ns = model.selected_nanos();
        let running = RunningFindings::new(resolved);
        let mut subjects = reports.subjects.clone();
        if running.sampled > 0 {
            subjects.insert(TraceSubject::Cpu, running.sampled);
        }
        let named = model.processes().find(|(_, process)| !process.name.is_empty());
        let has_requests = has_requests(reports);
        let answer = |(subject, events): (&TraceSubject, &u64)| {
            let about = subject.shown(has_requests).to_owned();
            Some(Answer { report: subject.report()?.to_owned(), about, events: *events })
        };
        let mut own_events = own_events::rows_of(
            &reports.own,
            !subjects.keys().any(|it| it.is_content()),
            duration_ns,
        );
        let own_types = own_events.len() as u64;
        let sources = own_events::sources(&own_events);
        let contents = words::summary::contents(subjects.keys().copied(), &sources);
        own_events.truncate(own_events::MAX_ROWS);
        let (findings, last_seen) = findings(reports, &running, resolved, duration_ns);
        SummaryReport {
            schema: SCHEMA,
            kind: contents,
            own_events,
            own_types,
            benchmark: reports.benchmark.report(),
            has_heap_dump: subjects.contains_key(&TraceSubject::Heap),
            process: named.map(|(_, process)| process.name.clone()),
            duration_ns,
            events: selected.events,
            threads: model.threads().filter(|(_, thread)| thread.events > 0).count() as u64,
            answers: subjects.iter().filter_map(answer).collect(),
            findings,
            advice: advice(reports, resolved),
            last_seen,
        }
    }

    /// Adds findings about a heap dump, which reports do not see.
    pub fn add_heap(&mut self, heap: &HeapReport) {
        let held = heap.holders.iter().map(|holder| Fact::HeapHeld {
            retained: Number::bytes(holder.retained_bytes).in_member("holders[].retained_bytes"),
            reachable: Number::bytes(heap.reachable_bytes).in_member("reachable_bytes"),
            share: Number::percent(holder.percent, Base::Reachable).in_member("holders[].percent"),
            holder: holder.clone(),
        });
        let types = heap.own_types();
        let most = types.first().map(|first| first.retained_bytes);
        let own = most.map(|bytes| {
            let retained = Number::bytes(bytes).in_member("types[].retained_bytes");
            Fact::HeapOwnTypes { retained, types }
        });
        // Falling weights keep the order when all findings are ranked.
        let first = held.chain(own).zip((0..HEAP_WEIGHT).rev());
        self.findings.extend(first.map(|(fact, weight)| Finding::new(fact, f64::from(weight))));
        finding::rank(&mut self.findings);
    }

    /// Adds findings about what the trace lacks: an end, and lost events. If events were lost or
    /// damaged, findings that nothing is wrong are removed, because the evidence may be missing, and
    /// waits without end are, too, if the event of their end may be among the lost ones.
    pub(crate) fn add_outcome(&mut self, outcome: &Outcome) {
        if !outcome.is_complete {
            self.findings.push(self.cut_off());
        }
        let lost = outcome.losses.total();
        if lost > 0 || outcome.damage.loss_count() > 0 {
            self.findings.retain(|finding| {
                finding.severity != Severity::Good && !may_be_over(&finding.fact, outcome)
            });
        }
        if lost > 0 {
            let all = lost.saturating_add(self.events);
            let share = Number::share(lost, all, Base::Events);
            let lost = Number::count(lost, Unit::Events);
            let weight = weight_of_losses(share.value);
            self.findings.push(Finding::new(Fact::LostEvents { lost, share }, weight));
        }
        finding::rank(&mut self.findings);
    }

    /// Sets how the process ended whose trace breaks off. Does nothing if the trace has its end.
    pub fn set_process_end(&mut self, end: ProcessEnd) {
        let facts = self.findings.iter_mut().map(|finding| &mut finding.fact);
        for fact in facts {
            if let Fact::CutOff { process_end, .. } = fact {
                *process_end = Some(end);
            }
        }
    }

    /// Adds the finding that EventSources which the recording asked for sent nothing, as the command
    /// that recorded the trace saw. Without `sources`, adds nothing.
    pub fn add_silent_sources(&mut self, sources: Vec<String>) {
        if sources.is_empty() {
            return;
        }
        let silent = Number::count(sources.len() as u64, Unit::Sources);
        self.findings.push(Finding::new(Fact::SilentSources { silent, sources }, SILENT_WEIGHT));
        finding::rank(&mut self.findings);
    }

    fn cut_off(&self) -> Finding {
        let fact = Fact::CutOff {
            after: Number::nanos(self.duration_ns),
            process_end: None,
            last_exception: self.last_seen.exception.clone(),
            last_method: self.last_seen.method.clone(),
        };
        Finding::new(fact, CUT_OFF_WEIGHT)
    }
}

/// Returns whether a wait that is said to last to the end of the trace may be over, because the
/// event of its end may be lost. `outcome` has losses or damage.
fn may_be_over(fact: &Fact, outcome: &Outcome) -> bool {
    // A thread writes the end of its own wait for a lock. Version 6 numbers threads itself.
    let has_os_ids = matches!(outcome.version, Some(Version::V4));
    let is_unsure = outcome.damage.loss_count() > 0 || !has_os_ids;
    let lost = |id: &u64| is_unsure || outcome.losses.by_thread().any(|(thread, _)| thread == *id);
    match fact {
        // Any thread may write that an await is over.
        Fact::EndlessAwaits { .. } => true,
        Fact::EndlessLockWait { thread_id, .. } => thread_id.as_ref().is_none_or(lost),
        Fact::Deadlock { thread_ids, .. } => thread_ids.iter().any(lost),
        _ => false,
    }
}

/// Returns the weight of lost events that are this percentage of all: severe from 1 % on, notable
/// from 0.1 % on, and less for fewer, which change no count that a reader compares.
fn weight_of_losses(percent: f64) -> f64 {
    match percent {
        1.0.. => 60.0 + percent,
        _ => (60.0 + 30.0 * percent.log10()).max(MIN_LOSSES_WEIGHT),
    }
}

/// Returns the advice to record requests, for a web application whose requests are not in the
/// trace.
fn advice(reports: &Overviewed, resolved: &Resolved<'_>) -> Option<Advice> {
    let mut processes = resolved.model().processes();
    let is_web = processes.any(|(_, process)| {
        process.modules().iter().any(|module| WEB_SERVERS.contains(&module.name.as_str()))
    });
    let is_dump = reports.subjects.contains_key(&TraceSubject::Heap);
    (is_web && !has_requests(reports) && !is_dump).then_some(Advice::RecordRequests)
}

/// Returns whether the trace has requests that came in or went out.
fn has_requests(reports: &Overviewed) -> bool {
    reports.activities.http.as_ref().is_some_and(|http| http.started > 0)
}

/// Writes advice as two members: its sentence and its kind.
#[cfg(feature = "serde")]
fn advice_members<S: serde::Serializer>(advice: &Option<Advice>, to: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = to.serialize_map(None)?;
    if let Some(advice) = advice {
        map.serialize_entry("advice", advice.text())?;
        map.serialize_entry("advice_kind", advice)?;
    }
    map.end()
}

/// Returns the findings, most important first, and the last exception and method.
fn findings(
    reports: &Overviewed,
    running: &RunningFindings,
    resolved: &Resolved<'_>,
    duration_ns: u64,
) -> (Vec<Finding>, LastSeen) {
    let errors = reports.logs.levels.iter().filter(|row| row.level >= LogLevel::Error);
    let errors = errors.fold(0_u64, |sum, row| sum.saturating_add(row.count));
    let own = OwnModules::new(resolved);
    let code = OwnCode::new(resolved, &own);
    let [ran, took_lock] = running.hottest(&own, resolved);
    let hottest = code.hottest(resolved, duration_ns);
    let is_dear = reports.gc.totals.pause_percent >= MIN_DEAR_PAUSES_PERCENT;
    let begins = reports.askers.collector(&own, resolved);
    let places = Places {
        collector: begins.or_else(|| code.collector(resolved)),
        begins,
        busiest: if hottest.is_none() && is_dear { code.busiest(resolved) } else { None },
        allocates: collections::most_allocated(&reports.alloc, &own),
        is_out_of_memory: reports.exceptions.types.iter().any(|row| row.type_name == OUT_OF_MEMORY),
    };
    // The collections of a heap dump are not the program's.
    let is_of_dump =
        reports.gc.totals.count <= 2 && reports.subjects.contains_key(&TraceSubject::Heap);
    let gc = collections::collections(&reports.gc, &reports.alloc, &places, &own);
    let contention = &reports.contention;
    // Events of locks are more certain than samples.
    let is_contention_known = contention.totals.stopped > 0
        || !contention.open.is_empty()
        || !contention.stuck.is_empty();
    let by_samples = code.lock_waits(resolved, duration_ns);
    let asker = reports.askers.compiler(&own, resolved).map(Place::from_frame);
    let load = PoolLoad::new(&reports.pool, code.pool_time, resolved.model());
    let stuck = StuckThreads::new(resolved);
    let starvation = hangs::starvation(
        reports,
        &stuck,
        &own,
        &load,
        code.blocked_workers(resolved).or_else(|| Blocked::by_events(&reports.waits, &own)),
    );
    let stuck_workers = match starvation {
        None => hangs::stuck_workers(&stuck, &own, duration_ns),
        Some(_) => None,
    };
    // The pool's events are more certain than samples.
    let sync_over_async = match starvation {
        None => sync_over_async::sync_over_async(&own, resolved, duration_ns),
        Some(_) => None,
    };
    let waiting = OwnWaits::new(resolved, &own);
    let has_tasks = reports.subjects.contains_key(&TraceSubject::Tasks);
    let mut methods = waiting.methods(resolved, duration_ns, has_tasks, starvation.is_some());
    methods.retain(|waits| {
        sync_over_async.as_ref().is_none_or(|sync| sync.fact.place() != waits.fact.place())
    });
    let http = reports.activities.http.as_deref();
    let found = [
        hottest,
        ran,
        took_lock,
        code.finalizer(resolved),
        threads::started_threads(reports, &own, &code, resolved, duration_ns),
        no_processor::no_processor(resolved),
        no_processor::out_of_memory(resolved),
        running.missing_names(resolved),
        running.waits_for_process(),
        starvation,
        sync_over_async,
        hangs::no_starvation(&reports.pool, &load, code.sampled > 0),
        gc.filter(|_| !is_of_dump),
        compiled::compilation(&reports.jit, asker, duration_ns),
        collections::allocations(&reports.alloc, places.allocates),
        exceptions::exceptions(&reports.exceptions, &own, code.throwing_percent(), duration_ns),
        queries::repeated_query(&reports.sql),
        hangs::deadlock(contention, &own),
        hangs::endless_lock_wait(contention, &own, duration_ns),
        stuck_workers,
        hangs::endless_awaits(&reports.tasks, &own, duration_ns),
        waits::lock_contention(contention, &own, duration_ns),
        by_samples.filter(|_| !is_contention_known),
        waits::handle_waits(&reports.waits, &own, duration_ns),
        requests::activities(&reports.activities, duration_ns),
        http.and_then(|http| requests::slow_call(http, duration_ns)),
        http.and_then(|http| requests::call_phase(http, duration_ns)),
        http.and_then(requests::needless_connections),
        reports.ids.finding(),
        log_errors(errors),
    ];
    let mut findings: Vec<Finding> = found.into_iter().flatten().chain(methods).collect();
    locks::join(&mut findings, resolved, &own);
    findings.extend(reports.faults.findings());
    finding::leave_out_covered(&mut findings);
    producers::join(&mut findings);
    if findings.iter().all(|finding| finding.severity == Severity::Good) {
        findings.extend(waiting.idle(duration_ns).filter(|it| findings.is_empty() || it.is_idle()));
    }
    finding::rank(&mut findings);
    let method = code.latest(resolved).map(Place::from_frame);
    (findings, LastSeen { exception: last_exception(reports, duration_ns), method })
}

fn log_errors(errors: u64) -> Option<Finding> {
    let messages = Number::count(errors, Unit::Messages).in_member("count");
    (errors > 0).then(|| Finding::new(Fact::LogErrors { messages }, LOG_ERRORS_WEIGHT))
}

/// Returns the type of the last exception, if it was thrown shortly before the end.
fn last_exception(reports: &Overviewed, duration_ns: u64) -> Option<String> {
    let since = i64::try_from(duration_ns.saturating_sub(LAST_NANOS)).unwrap_or(i64::MAX);
    let thrown = reports.exceptions.types.iter().filter(|row| row.last_ns >= since);
    thrown.max_by_key(|row| row.last_ns).map(|row| row.type_name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::finding::Finding;

    #[test]
    fn lost_events_are_as_severe_as_they_are_many() {
        let severity = |lost: u64, all: u64| {
            let share = Number::share(lost, all, Base::Events);
            let weight = weight_of_losses(share.value);
            let lost = Number::count(lost, Unit::Events);
            let finding = Finding::new(Fact::LostEvents { lost, share }, weight);
            (finding.severity, finding.text())
        };
        let (minor, text) = severity(1, 100_000);
        assert_eq!(minor, Severity::Minor);
        assert_eq!(text, "1 event was lost, less than 0.1 % of all: counts are too low");
        assert_eq!(severity(200, 100_000).0, Severity::Notable);
        assert_eq!(severity(1_000, 100_000).0, Severity::Severe);
        assert_eq!(severity(1_999, 100_000).0, Severity::Severe);
    }
}
