//! Notable facts about a trace, as sentences with a number that the mentioned report also
//! shows.

use super::collections::LARGE_OBJECTS;
use super::own::OwnModules;
use crate::document::percent as share;
use crate::model::{Coverage, Frame, NameOrigin, Resolved, rounded, with_endpoint};
use crate::report::{ActivitiesReport, AllocReport, ContentionReport, GcTotals, WaitsReport};
use crate::sorted::SortFew;
use crate::words::frames::{caller_name, place_name};
use nettrace_export::units::{bytes, count, counted, duration};
use std::sync::Arc;

/// Maximum number of findings.
const MOST: usize = 7;
/// GC pauses that take less of the trace, in percent, are not notable,
const LEAST_PAUSES: f64 = 1.0;
/// unless large objects caused so many of them,
const FEWEST_OF_LARGE: u64 = 2;
/// nor are waits for locks, summed over threads,
const LEAST_CONTENTION: f64 = 1.0;
/// and by samples, which are not as exact,
const LEAST_SAMPLED_WAITS: f64 = 5.0;
/// nor waits for handles, relative to the time of the threads that waited (most threads
/// of most programs wait for work),
const LEAST_WAITS: f64 = 25.0;
/// nor a successful activity,
const LEAST_ACTIVITY: f64 = 1.0;
/// nor a method with a smaller share of the running samples.
pub(super) const LEAST_METHOD: f64 = 5.0;
/// Threads that were started, and how many of them in a second.
const LEAST_THREADS: u64 = 100;
const LEAST_THREADS_PER_SECOND: f64 = 50.0;
/// Weights from which on a finding is severe, or notable.
const SEVERE: f64 = 60.0;
const NOTABLE: f64 = 30.0;
/// Bytes per second: 100 MiB.
const LEAST_ALLOCATED: f64 = 104_857_600.0;

/// A notable fact about a trace.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// Its subject: `lost_events`, `missing_names`, `gc`, `jit`, `alloc`, `exceptions`,
    /// `slow_call`, `requests`, `deadlock`, `endless_wait`, `contention`, `waits`, `starvation`, `hottest_method`, `lock_spinning`, `activities`,
    /// `slow_activity`, `log_errors`, `child_process`, `threads`, `lock_waits`, `finalizer`, `heap`,
    /// `cut_off`, `repeated_query`, `no_starvation`.
    pub about: String,
    /// How notable it is, from 0 to 100.
    pub weight: f64,
    /// The same in a word: `severe` (the program is stuck or has died, or loses half of its
    /// time, or the trace misleads), `notable`, `minor`, or `good`: what does not stand in the
    /// way.
    pub severity: &'static str,
    /// The sentence. If it names a place, that comes last, and is the only part of
    /// unbounded length.
    pub text: String,
    /// The method of the program that it is about, if it is about one.
    pub place: Option<String>,
    /// The number in the sentence. The mentioned command shows it in its first rows or
    /// its totals.
    pub value: u64,
    /// The unit of the number: `events`, `percent`, `adjustments`, `ns`, `bytes`,
    /// `exceptions`, `samples`, `activities`, `messages`, `threads`, `commands`.
    pub unit: &'static str,
    /// The command that shows more, without `nettrace` and the trace, such as `report
    /// exceptions`.
    pub command: String,
}

impl Finding {
    pub(super) fn new(
        about: &str,
        weight: f64,
        (value, unit): (u64, &'static str),
        text: String,
        command: &str,
    ) -> Finding {
        let (about, command) = (about.to_owned(), command.to_owned());
        let weight = weight.clamp(0.0, 100.0);
        // What holds a heap, and what a program waits for, is a fact and no fault.
        let is_fact = matches!(&*about, "heap" | "child_process");
        let severity = match weight {
            SEVERE.. if !is_fact => "severe",
            NOTABLE.. => "notable",
            _ => "minor",
        };
        Finding { about, weight, severity, text, place: None, value, unit, command }
    }

    /// The same, as a good sign.
    pub(super) fn good(self) -> Finding {
        Finding { severity: "good", ..self }
    }

    /// The same, about a method of the program.
    pub(super) fn at(mut self, method: &Frame) -> Finding {
        self.place = Some(place_name(method));
        self
    }

    /// `lost` events of a trace that has `events` other events are missing.
    pub(super) fn lost_events(lost: u64, events: u64) -> Finding {
        let share = share(lost, lost.saturating_add(events));
        let were = if lost == 1 { "was" } else { "were" };
        let text = format!(
            "{} {were} lost, {share:.1} % of all: counts are too low",
            counted(lost, "event")
        );
        Finding::new("lost_events", 60.0 + share, (lost, "events"), text, "info")
    }

    /// Frames of samples have no names; `coverage` only covers samples.
    pub(super) fn missing_names(coverage: Coverage) -> Option<Finding> {
        let advice = coverage.advice(true)?;
        // The advice is long, and the command shows it.
        let text = advice.split_once(':').map_or(&*advice, |(text, _)| text).to_owned();
        let percent = text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        // It explains what other sentences lack, and says nothing of the program.
        Some(Finding::new("missing_names", 14.0, (percent, "percent"), text, "report topN"))
    }

    /// Collections, and why they came or are dear.
    pub(super) fn gc(totals: &GcTotals, why: &str) -> Option<Finding> {
        let text = format!(
            "{} paused {}: {:.1} % of the time, longest {}{why}",
            counted(totals.count, "collection"),
            duration(totals.pause_ns),
            totals.pause_percent,
            duration(totals.max_pause_ns)
        );
        let weight = lost(totals.pause_percent);
        // Whoever allocates large objects causes collections of the whole heap, however short
        // they are while it is small.
        let is_of_large = totals.count >= FEWEST_OF_LARGE && why.contains(LARGE_OBJECTS);
        (totals.pause_percent >= LEAST_PAUSES || is_of_large)
            .then(|| Finding::new("gc", weight, (totals.pause_ns, "ns"), text, "report gc"))
    }

    /// `most`: what most of it is, and in which method.
    pub(super) fn alloc(report: &AllocReport, most: Option<&str>) -> Option<Finding> {
        let source = report.sources.first()?;
        let rate =
            source.bytes_per_second.filter(|rate| *rate >= LEAST_ALLOCATED && rate.is_finite())?;
        let most = match (most, source.types.first()) {
            (Some(most), _) => format!("; {most}"),
            (None, Some(row)) => format!(", most of it {}", row.type_name),
            (None, None) => String::new(),
        };
        let text = format!("{} allocated, {}/s{most}", bytes(source.bytes), bytes(rounded(rate)));
        let weight = 10.0 + 10.0 * (rate / LEAST_ALLOCATED).log10();
        Some(Finding::new("alloc", weight, (source.bytes, "bytes"), text, "report alloc"))
    }

    pub(super) fn contention(
        report: &ContentionReport,
        own: &OwnModules,
        trace_ns: u64,
    ) -> Option<Finding> {
        let share = share(report.totals.waits.total_ns, trace_ns);
        let ended = report.locks.iter().max_by_key(|lock| lock.waits.total_ns);
        let place = ended.filter(|lock| lock.open == 0).and_then(|lock| lock.stacks.first());
        let held = report.locks.iter().max_by_key(|lock| lock.waits.total_ns);
        let held = held.filter(|lock| lock.held.count > 0).map_or_else(String::new, |lock| {
            format!(", held for {} at a time", duration(lock.held.p50_ns))
        });
        let text = format!(
            "{} for locks, {} together{held}{}",
            counted(report.totals.stopped, "wait"),
            duration(report.totals.waits.total_ns),
            most_in(place.map(|stack| &*stack.frames), own)
        );
        let value = (report.totals.waits.total_ns, "ns");
        (share >= LEAST_CONTENTION)
            .then(|| Finding::new("contention", lost(share), value, text, "report contention"))
    }

    pub(super) fn waits(report: &WaitsReport, own: &OwnModules, trace_ns: u64) -> Option<Finding> {
        let place = report.places.first().filter(|place| !place.is_idle);
        let of_all = trace_ns.saturating_mul(report.waiting_threads);
        let busy_ns = report.totals.waits.total_ns.saturating_sub(report.idle_ns);
        let share = share(busy_ns, of_all);
        let text = format!(
            "{}, {} together{}",
            counted(report.totals.stopped, "wait"),
            duration(report.totals.waits.total_ns),
            most_in(place.map(|place| &*place.frames), own)
        );
        let value = (report.totals.waits.total_ns, "ns");
        (share >= LEAST_WAITS)
            .then(|| Finding::new("waits", 10.0 + share * 0.1, value, text, "report waits"))
    }

    /// A method is innermost for `nanos` of the running time `of`, which was sampled
    /// `samples` times.
    pub(super) fn hottest_method(
        method: &Frame,
        nanos: u64,
        of: u64,
        samples: u64,
    ) -> Option<Finding> {
        let name = place_name(method);
        let finding = running("hottest_method", nanos, of, samples, &format!("in {name}"))?;
        Some(finding.at(method))
    }

    /// So much of the running time is in a method of the program's own and in what it calls
    /// of others.
    pub(super) fn own_method(
        method: &Frame,
        call: &str,
        (nanos, of): (u64, u64),
        (samples, few): (u64, &str),
    ) -> Option<Finding> {
        let share = share(nanos, of);
        let text = format!(
            "{share:.2} % of the running time ({}{few}) in {}{call}",
            counted(samples, "sample"),
            place_name(method)
        );
        let value = (nanos, "ns");
        (share >= LEAST_METHOD).then(|| {
            Finding::new("hottest_method", ran(share), value, text, "report topN --my-code")
                .at(method)
        })
    }

    /// On the finalizer's thread a method has `nanos` of the running time `of`.
    pub(super) fn finalizer(method: &Frame, (nanos, of): (u64, u64)) -> Option<Finding> {
        let share = share(nanos, of);
        let text = format!(
            "{share:.2} % of the running time is on the finalizer's thread in {}",
            place_name(method)
        );
        (share >= LEAST_METHOD).then(|| {
            let (value, command) = ((nanos, "ns"), "report topN --my-code");
            Finding::new("finalizer", ran(share), value, text, command).at(method)
        })
    }

    /// Threads waited for a lock in a method, by samples.
    pub(super) fn sampled_lock_waits(
        method: &Frame,
        held: &str,
        (nanos, trace_ns): (u64, u64),
        threads: u64,
    ) -> Option<Finding> {
        let share = share(nanos, trace_ns);
        let text = format!(
            "{} waited {} for a lock in {}{held}",
            counted(threads, "thread"),
            duration(nanos),
            place_name(method)
        );
        (share >= LEAST_SAMPLED_WAITS).then(|| {
            let value = (nanos, "ns");
            let command = "report topN --my-code --state waiting";
            Finding::new("lock_waits", lost(share), value, text, command).at(method)
        })
    }

    /// Many short threads, of which code has started some. `lives`: how long each of those was
    /// alive on average.
    pub(super) fn threads(
        (threads, started): (u64, u64),
        trace_ns: u64,
        lives: Option<u64>,
        starter: Option<&Arc<Frame>>,
    ) -> Option<Finding> {
        let by = starter.map_or(String::new(), |by| format!(", by {}", place_name(by)));
        let lives = lives.map_or_else(String::new, |nanos| {
            format!(", each alive for about {}", duration(nanos))
        });
        let started_of = match started < threads {
            true => format!("{} threads, {} of them started", count(threads), count(started)),
            false => format!("{} threads were started", count(threads)),
        };
        let text = format!("{started_of} in {}{lives}{by}", duration(trace_ns));
        let per_second = started as f64 / (trace_ns as f64 / 1e9).max(0.001);
        let is_much = started >= LEAST_THREADS && per_second >= LEAST_THREADS_PER_SECOND;
        let weight = 30.0 + 10.0 * per_second.max(1.0).log10();
        is_much
            .then(|| Finding::new("threads", weight, (threads, "threads"), text, "report threads"))
    }

    /// The process does nothing but wait for another one, in so many samples.
    pub(super) fn waits_for_process(samples: u64) -> Finding {
        let text = "it only waits for another process to end; if that is a .NET process, \
                    `nettrace collect --children -- COMMAND` records it";
        let value = (samples, "samples");
        Finding::new("child_process", 70.0, value, text.to_owned(), "report topN --state waiting")
    }

    /// Threads spun for a lock, in the method that takes it.
    pub(super) fn spinning_for_locks(
        method: &Frame,
        nanos: u64,
        of: u64,
        samples: u64,
    ) -> Option<Finding> {
        let name = caller_name(method);
        running("lock_spinning", nanos, of, samples, &format!("taking a lock in {name}"))
    }

    pub(super) fn activities(report: &ActivitiesReport, trace_ns: u64) -> Option<Finding> {
        // Requests that came in are what a server's activities are about.
        if let Some(finding) = report.http.as_ref().and_then(|http| Finding::requests(http)) {
            return Some(finding);
        }
        let noun = if report.started == 1 { "activity" } else { "activities" };
        let all = format!("{} {noun}", count(report.started));
        if report.errors > 0 {
            let text = format!("{all}, {} failed", count(report.errors));
            let weight = 16.0 + share(report.errors, report.started);
            return Some(Finding::new(
                "activities",
                weight,
                (report.errors, "activities"),
                text,
                "report activities",
            ));
        }
        let slowest = report.slowest.iter().find(|row| Finding::is_operation(&row.name))?;
        let share = share(slowest.duration_ns, trace_ns);
        let text =
            format!("{all}, the slowest took {}: {}", duration(slowest.duration_ns), slowest.name);
        let value = (slowest.duration_ns, "ns");
        (share >= LEAST_ACTIVITY).then(|| {
            Finding::new("slow_activity", 12.0 + share * 0.1, value, text, "report activities")
        })
    }

    /// Names the handlers in its sentence by their endpoints, where these are known.
    pub(super) fn name_endpoints(&mut self, resolved: &Resolved<'_>) {
        for (frame, endpoint) in resolved.endpoints() {
            let name = place_name(frame);
            if let Some(at) = place_of(&self.text, &name) {
                let named = with_endpoint(&frame.text, endpoint);
                self.text.replace_range(at..at.saturating_add(name.len()), &named);
            }
        }
    }

    pub(super) fn log_errors(messages: u64) -> Option<Finding> {
        let text = format!("{} of level error or worse", counted(messages, "log message"));
        (messages > 0).then(|| {
            Finding::new(
                "log_errors",
                45.0,
                (messages, "messages"),
                text,
                "report logs --level error",
            )
        })
    }
}

/// The weight of what takes so much of the time, in percent, from those who want something
/// else: pauses, waits, compilation.
pub(super) fn lost(percent: f64) -> f64 {
    20.0 + 0.75 * percent.clamp(0.0, 100.0)
}

/// The weight of what has so much of the running time, in percent: it may be what the program
/// is for.
fn ran(percent: f64) -> f64 {
    20.0 + 0.4 * percent
}

/// Keeps the most notable findings, and sorts them.
pub(super) fn rank(findings: &mut Vec<Finding>) {
    findings.sort_few_by(|one, other| other.weight.total_cmp(&one.weight));
    findings.truncate(MOST);
}

/// Where a name is in a sentence, and not only the beginning of a longer one.
fn place_of(text: &str, name: &str) -> Option<usize> {
    let goes_on = |next: char| next.is_alphanumeric() || next == '_';
    let mut places = text.match_indices(name).map(|(at, _)| at);
    places.find(|at| {
        let rest = text.get(at.saturating_add(name.len())..).unwrap_or_default();
        !rest.starts_with(goes_on)
    })
}

/// `, most in Program.Main`; empty without a stack.
pub(super) fn most_in(frames: Option<&[Arc<Frame>]>, own: &OwnModules) -> String {
    let is_library = |frame: &&Arc<Frame>| {
        frame.text.contains("System.Threading.")
            || frame.text.contains("System.Private.CoreLib!Interop")
    };
    let frames = frames.unwrap_or_default();
    let other = || frames.iter().find(|frame| !is_library(frame)).or(frames.first());
    let frame = own.frame(frames).map(|(_, frame)| frame).or_else(other);
    match frame {
        Some(frame) if frame.origin != NameOrigin::Address => {
            format!(", most in {}", place_name(frame))
        }
        _ => String::new(),
    }
}

/// A share of the running time.
fn running(about: &str, nanos: u64, of: u64, samples: u64, place: &str) -> Option<Finding> {
    let share = share(nanos, of);
    let samples = counted(samples, "sample");
    let text = format!("{share:.2} % of the running time ({samples}) {place}");
    (share >= LEAST_METHOD)
        .then(|| Finding::new(about, ran(share), (nanos, "ns"), text, "report topN"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negligible_share_of_the_trace_is_no_finding() {
        let method = Frame::for_method("a", "B", "C", "void ()");
        assert_eq!(Finding::hottest_method(&method, 4, 100, 7), None);
        assert_eq!(
            Finding::hottest_method(&method, 1_500, 3_000, 1_234).unwrap().text,
            "50.00 % of the running time (1,234 samples) in a!B.C"
        );
        assert_eq!(Finding::log_errors(0), None);
    }
}
