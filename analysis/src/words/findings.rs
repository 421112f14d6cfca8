//! The sentence of each kind of finding.

use super::frames::{after, caller, name};
use super::{coverage, heap};
use crate::fact::{Base, Fact, HotCall, MethodCaller, Number, ProcessorTaker, ThrowCall, ThrownBy};
use crate::model::rounded;
use crate::recording::Recording;
use crate::report::HttpPhase;
use nettrace_export::units;

/// Maximum number of threads of a deadlock that its sentence names.
const MAX_DEADLOCK_THREADS: usize = 8;

/// Events of waits for locks, as `--providers` takes them.
const LOCKS: Recording = Recording::runtime(0x4000, 4);

/// Source of the ids of activities, as `--providers` takes it.
const ACTIVITY_IDS: Recording = Recording::new("System.Threading.Tasks.TplEventSource", 0x80, 4);

/// Writes a count with digits in groups: `12,345`.
pub(super) fn count(number: &Number) -> String {
    units::count(number.whole())
}

/// Writes a count with its noun: `1 sample`, `2 samples`.
pub(super) fn counted(number: &Number, noun: &str) -> String {
    units::counted(number.whole(), noun)
}

/// Writes a time in a fitting unit: `1.50 s`.
pub(super) fn duration(number: &Number) -> String {
    units::short_duration(number.whole())
}

/// Writes a size in a fitting unit: `1.50 MiB`.
pub(super) fn bytes(number: &Number) -> String {
    units::short_bytes(number.whole())
}

/// Writes the sentence of a fact.
pub(crate) fn sentence(fact: &Fact) -> String {
    match fact {
        Fact::LostEvents { lost, share } => {
            let were = if lost.whole() == 1 { "was" } else { "were" };
            let lost = counted(lost, "event");
            let share = match share.value {
                ..0.1 => "less than 0.1 %".to_owned(),
                share => format!("{share:.1} %"),
            };
            format!("{lost} {were} lost, {share} of all: counts are too low")
        }
        Fact::CutOff { after: time, process_end, last_exception, last_method } => {
            let how = process_end.as_ref().map_or_else(
                || "the process may have been killed, or have died".to_owned(),
                |how| format!("the process ended with {how}"),
            );
            let thrown = last_exception.as_ref();
            let thrown = thrown.map_or_else(String::new, |type_name| {
                format!("; the last exception was {type_name}")
            });
            let seen = after("; last seen in ", last_method.as_ref());
            let time = duration(time);
            format!("the recording ends in the middle, after {time}: {how}{thrown}{seen}")
        }
        Fact::FaultySource { source, reason, .. } => faulty_source(source, reason),
        Fact::SilentSources { sources, .. } => silent_sources(sources),
        Fact::NoActivityIds { activities } => format!(
            "{} have no ids, so what belongs to which is a guess: record {ACTIVITY_IDS} as well",
            self::activities(activities)
        ),
        Fact::MissingNames { share, .. } => coverage::missing(share.whole()),
        Fact::Collections { paused, collections, share, longest, reasons, behind } => {
            format!(
                "{} paused {}: {:.1} % of the time, longest {}{}",
                counted(collections, "collection"),
                duration(paused),
                share.value,
                duration(longest),
                super::collections::reasons(reasons, behind.as_ref())
            )
        }
        Fact::Allocations { allocated, rate, largest } => {
            let most = match largest {
                Some(most) if most.percent.is_some() => {
                    format!("; {}", super::collections::most_allocated(most))
                }
                Some(most) => format!(", most of it {}", most.type_name),
                None => String::new(),
            };
            format!(
                "{} allocated, {}/s{most}",
                bytes(allocated),
                units::short_bytes(rounded(rate.value))
            )
        }
        Fact::Exceptions { .. } => exceptions(fact),
        Fact::Compilation { .. } => compilation(fact),
        Fact::HottestMethod { share, samples, place, .. } => {
            format!("{} in {}", running(share, samples), name(place))
        }
        Fact::LockSpinning { share, samples, place, .. } => {
            format!("{} taking a lock in {}", running(share, samples), caller(place))
        }
        Fact::OwnMethod { .. } => own_method(fact),
        Fact::Finalizer { share, place, .. } => format!(
            "{:.2} % of the running time is on the finalizer's thread in {}",
            share.value,
            name(place)
        ),
        Fact::SampledLockWaits { .. }
        | Fact::LockContention { .. }
        | Fact::EndlessLockWait { .. }
        | Fact::StuckInLock { .. } => super::locks::lock(fact),
        Fact::HandleWaits { waited, waits, place } => format!(
            "{}, {} together{}",
            counted(waits, "wait"),
            duration(waited),
            after(", most in ", place.as_ref())
        ),
        Fact::Deadlock { waited, victims, thread_ids, place } => {
            let victims = match victims.whole() {
                0 => String::new(),
                _ => format!(", and {} for them", counted(victims, "more thread")),
            };
            format!(
                "{}{victims}, for at least {}{}",
                deadlock(thread_ids),
                duration(waited),
                after(", one in ", place.as_ref())
            )
        }
        Fact::StuckWorkers { waited, workers, place } => format!(
            "{} of the thread pool still {} for the end of a thread when the trace ends, for at least {}{}; \
             threads of the pool do not end",
            counted(workers, "worker"),
            if workers.whole() == 1 { "waits" } else { "wait" },
            duration(waited),
            after(if workers.whole() == 1 { " in " } else { ", one in " }, place.as_ref())
        ),
        Fact::EndlessAwaits { waited, awaits, places } => {
            let places: Vec<String> = places.iter().map(name).collect();
            format!(
                "{} not over at the end, for at least {}: in {}",
                match awaits.whole() {
                    1 => "1 await is".to_owned(),
                    _ => format!("{} awaits are", count(awaits)),
                },
                duration(waited),
                places.join(", ")
            )
        }
        Fact::StarvedPool { .. } | Fact::BlockedPool { .. } => starvation(fact),
        Fact::SyncOverAsync { blocked, workers, call, place } => format!(
            "sync over async: {} of the thread pool {} blocked {} in {call} under {}",
            counted(workers, "worker"),
            if workers.whole() == 1 { "was" } else { "were" },
            duration(blocked),
            name(place)
        ),
        Fact::NoStarvation { workers } => format!(
            "no sign of thread-pool starvation: at most {} active",
            match workers.whole() {
                1 => "1 worker was".to_owned(),
                _ => format!("{} workers were", count(workers)),
            }
        ),
        Fact::StartedThreads { threads, started, elapsed, life, started_by } => format!(
            "{} in {}{}{}",
            match started.value < threads.value {
                true => format!("{} threads, {} of them started", count(threads), count(started)),
                false => format!("{} threads were started", count(threads)),
            },
            duration(elapsed),
            life.as_ref().map_or_else(String::new, |life| {
                format!(", each alive for about {}", duration(life))
            }),
            after(", by ", started_by.as_ref())
        ),
        Fact::NoProcessor { ready, taken_by } => no_processor(ready, taken_by),
        Fact::OutOfMemory { killed, limit } => {
            let limit = limit.as_ref().map(|limit| format!(": the limit is {}", bytes(limit)));
            format!(
                "the kernel killed {} of its control group because there was no memory{}",
                counted(killed, "process"),
                limit.unwrap_or_default()
            )
        }
        Fact::WaitsForProcess { .. } => "it only waits for another process to end; if that is a \
             .NET process, `nettrace collect --children -- COMMAND` records it"
            .to_owned(),
        Fact::Waiting { .. } => super::waiting::waiting(fact),
        Fact::Idle { ran, elapsed, is_idle } => super::waiting::idle(ran, elapsed, *is_idle),
        Fact::Requests { .. } | Fact::FailedRequests { .. } => requests(fact),
        Fact::SlowCall { requests, mean, share, target, call, .. } => format!(
            "{} {target} took {} each: {:.0} % in {}",
            counted(requests, "request"),
            duration(mean),
            share.value,
            called(call)
        ),
        Fact::CallPhase { time, share, requests, phase, target } => format!(
            "{} to {target} spent {:.0} % of their time, {} in all, {}",
            counted(requests, "request"),
            share.value,
            duration(time),
            in_phase(*phase)
        ),
        Fact::NeedlessConnections { connections, requests, target } => format!(
            "{} of {} opened a connection although an earlier one was free, as if each had an \
             HttpClient of its own: {target}",
            count(connections),
            counted(requests, "request"),
        ),
        Fact::RepeatedQuery { commands, in_each, units, is_alike, is_request, statement, by } => {
            let times = match is_alike {
                true => count(in_each),
                false => format!("about {}", count(in_each)),
            };
            let unit = if *is_request { "request" } else { "connection" };
            let by = if by.is_empty() { String::new() } else { format!(", by {by}") };
            format!(
                "{} SQL commands are one statement, {times} in each of {} (N+1): {}{by}",
                count(commands),
                counted(units, unit),
                super::sql::shortened(statement),
            )
        }
        Fact::FailedActivities { failed, activities } => {
            format!("{}, {} failed", self::activities(activities), count(failed))
        }
        Fact::SlowActivity { slowest, activities, name } => format!(
            "{}, the slowest took {}: {name}",
            self::activities(activities),
            duration(slowest)
        ),
        Fact::LogErrors { messages } => {
            format!("{} of level error or worse", counted(messages, "log message"))
        }
        Fact::HeapHeld { holder, reachable, .. } => heap::held(holder, reachable.whole()),
        Fact::HeapOwnTypes { types, .. } => heap::own_types(types),
    }
}

/// Writes that an EventSource reports a fault of its own.
pub(crate) fn faulty_source(source: &str, reason: &str) -> String {
    format!("EventSource {source} is faulty, so events of it are missing: {reason}")
}

/// Writes that EventSources sent nothing although a recording asked for them.
pub(crate) fn silent_sources(sources: &[String]) -> String {
    format!(
        "nothing came from {}, which the recording asked for: no EventSource of that name was in \
         use, or it had no events of the keywords and level",
        sources.join(", ")
    )
}

/// Writes a share of the running time with its samples: `50.00 % of the running time (1,234
/// samples)`.
fn running(share: &Number, samples: &Number) -> String {
    format!("{:.2} % of the running time ({})", share.value, counted(samples, "sample"))
}

fn own_method(fact: &Fact) -> String {
    let Fact::OwnMethod {
        share,
        samples,
        native_samples,
        idle_spinning,
        dynamic_methods,
        taking_lock,
        may_have_run,
        processors_can,
        place,
        is_few,
        called_by,
        call,
        producers,
        ..
    } = fact
    else {
        return String::new();
    };
    let few = if *is_few { ", which are few" } else { "" };
    let native = native_samples.as_ref().map_or_else(String::new, |native| {
        format!(", {} in native calls, which may not have run", count(native))
    });
    let spinning = idle_spinning.as_ref().map_or_else(String::new, |spinning| {
        format!("; without {} in which idle workers spun", duration(spinning))
    });
    let called_by = match called_by {
        Some(MethodCaller::Finalizer) => ", on the finalizer's thread",
        Some(MethodCaller::Timer) => ", called by timers",
        None => "",
    };
    let call = match call {
        None => String::new(),
        Some(HotCall { name, percent, is_example: true }) => {
            format!(", of it {percent:.0} % in calls such as {name}")
        }
        Some(HotCall { name, percent, .. }) => format!(", of it {percent:.0} % in {name}"),
    };
    let dynamic = dynamic_methods.as_ref().map_or_else(String::new, |methods| {
        format!("; {} dynamic methods are loaded", count(methods))
    });
    let locking = taking_lock.as_ref().map_or_else(String::new, |share| {
        let begin = if call.is_empty() { ", of it" } else { " and" };
        format!("{begin} {:.0} % taking a lock", share.value)
    });
    let producers = producers.as_ref().map_or_else(String::new, super::waiting::waiting_producers);
    let rest = may_have_run.as_ref().zip(processors_can.as_ref());
    let rest = rest.map_or_else(String::new, |(may, can)| {
        format!(
            "; the processors can have run {} of these {}: the rest waited, such as for a lock, and \
             this trace cannot tell which: `nettrace collect --providers {LOCKS}` records waits for \
             locks",
            duration(can),
            duration(may),
        )
    });
    format!(
        "{:.2} % of the running time ({}{few}{native}{spinning}) in {}{called_by}{call}{locking}{dynamic}{rest}{producers}",
        share.value,
        counted(samples, "sample"),
        name(place)
    )
}

fn exceptions(fact: &Fact) -> String {
    let Fact::Exceptions {
        exceptions,
        rethrown,
        rethrown_without_event,
        rate,
        throwing,
        of_type,
        type_name,
        thrown_by,
    } = fact
    else {
        return String::new();
    };
    let again = rethrown.as_ref().map_or_else(String::new, |again| {
        let first = exceptions.whole().saturating_sub(again.whole());
        format!(" ({} thrown, {} rethrown)", units::count(first), count(again))
    });
    let per_second = rate.as_ref().map_or_else(String::new, |rate| {
        format!(", {} a second", units::count(rounded(rate.value)))
    });
    let cost = throwing.as_ref().map_or_else(String::new, |throwing| {
        let of = if throwing.base == Some(Base::Elapsed) { "the time" } else { "what ran" };
        format!(", throwing and catching is {:.0} % of {of}", throwing.value)
    });
    let types = match of_type.value == exceptions.value {
        true => format!("all {type_name}"),
        false => format!("{} of them {type_name}", count(of_type)),
    };
    let by = thrown_by.as_ref().map_or_else(String::new, |ThrownBy { place, call, is_all }| {
        let most = if *is_all { "" } else { "most " };
        let call = match call {
            Some(ThrowCall::Await) => " by an await".to_owned(),
            Some(ThrowCall::Method(name)) => format!(" by {name}"),
            None => String::new(),
        };
        format!(", {most}thrown{call} in {}", name(place))
    });
    let unseen = rethrown_without_event.as_ref().map_or_else(String::new, |times| {
        format!(", thrown again {} by `throw;`", counted(times, "time"))
    });
    format!("{}{again}{per_second}{unseen}{cost}, {types}{by}", counted(exceptions, "exception"))
}

fn compilation(fact: &Fact) -> String {
    let Fact::Compilation {
        compiling,
        methods,
        share,
        background,
        dynamic_methods,
        compiling_dynamic,
        asked_by,
    } = fact
    else {
        return String::new();
    };
    let background = background.as_ref().map_or_else(String::new, |background| {
        format!(", {} of it in the background", duration(background))
    });
    let dynamic = match (dynamic_methods, compiling_dynamic) {
        (Some(methods), Some(time)) => format!(
            "; {} of them dynamic, {}{}",
            count(methods),
            duration(time),
            after(", asked for in ", asked_by.as_ref())
        ),
        _ => String::new(),
    };
    format!(
        "{} compiled in {}{background}: {:.1} % of the time{dynamic}",
        counted(methods, "method"),
        duration(compiling),
        share.value
    )
}

fn deadlock(thread_ids: &[u64]) -> String {
    match thread_ids {
        [one] => format!("deadlock: thread {one} waits for a lock that it holds"),
        [before @ .., last] if before.len() < MAX_DEADLOCK_THREADS => {
            let before: Vec<String> = before.iter().map(u64::to_string).collect();
            let before = before.join(", ");
            format!("deadlock: threads {before} and {last} wait for each other's locks")
        }
        all => format!(
            "deadlock: {} wait for each other's locks",
            units::counted(all.len() as u64, "thread")
        ),
    }
}

fn starvation(fact: &Fact) -> String {
    match fact {
        Fact::StarvedPool { .. } => starved_pool(fact),
        Fact::BlockedPool {
            workers,
            waited,
            queued,
            waits_for,
            is_starved,
            is_at_limit,
            place,
        } => {
            let begin = match is_starved {
                true => "the thread pool is starved: all its",
                false => "the thread pool has no free worker: all its",
            };
            let limit = if *is_at_limit { " (the limit)" } else { "" };
            let waiting = queued.as_ref().map_or_else(String::new, |queued| {
                format!(", and {} for them", counted(queued, "work item"))
            });
            format!(
                "{begin} {}{limit} wait for {waits_for}{waiting}, for at least {}{}",
                counted(workers, "worker"),
                duration(waited),
                after(", most in ", place.as_ref())
            )
        }
        _ => String::new(),
    }
}

fn starved_pool(fact: &Fact) -> String {
    let Fact::StarvedPool {
        adjustments,
        workers_before,
        workers_after,
        blocked,
        wanted,
        queued_median,
        queued_longest,
        call,
        place,
    } = fact
    else {
        return String::new();
    };
    let queued = queued_median.as_ref().zip(queued_longest.as_ref()).map(|(median, longest)| {
        format!("{} (median), {} at most", duration(median), duration(longest))
    });
    if adjustments.is_none() && wanted.is_none() {
        let waited = queued.unwrap_or_default();
        return format!("work waited for a worker of the thread pool: {waited}");
    }
    let mut parts = Vec::new();
    if let Some(adjustments) = adjustments {
        let grown = workers_before.as_ref().zip(workers_after.as_ref());
        let grown = grown.map_or_else(String::new, |(from, to)| {
            format!(", its threads grew from {} to {}", count(from), count(to))
        });
        parts.push(format!("{} for it{grown}", counted(adjustments, "adjustment")));
    }
    parts.extend(queued.map(|queued| format!("work waited {queued}")));
    if let Some((time, place)) = blocked.as_ref().zip(place.as_ref()) {
        let workers = workers_after.as_ref().filter(|_| adjustments.is_none());
        let workers = workers.map_or_else(|| "workers".to_owned(), |most| counted(most, "worker"));
        let of = wanted.as_ref().map_or_else(String::new, |all| format!(" of {}", duration(all)));
        let call = call.as_ref().map_or_else(String::new, |it| format!(" in {it}"));
        let (time, method) = (duration(time), name(place));
        parts.push(format!("its {workers} were blocked {time}{of}{call} under {method}"));
    }
    format!("the thread pool was starved: {}", parts.join("; "))
}

fn requests(fact: &Fact) -> String {
    let (Fact::Requests { slowest_median, heaviest_total, slowest, heaviest, .. }
    | Fact::FailedRequests { slowest_median, heaviest_total, slowest, heaviest, .. }) = fact
    else {
        return String::new();
    };
    let mut ways = String::new();
    if let (Some(target), Some(median)) = (slowest, slowest_median) {
        let median = duration(median);
        ways.push_str(&format!("; slowest are those of {target}, median {median}"));
    }
    if let (Some(target), Some(total)) = (heaviest, heaviest_total) {
        let total = duration(total);
        ways.push_str(&format!("; most time went to {target}, {total} together"));
    }
    match fact {
        Fact::FailedRequests { failed, requests, failures, further_targets, .. } => {
            let named = failures
                .iter()
                .map(|row| format!("{} {}×", row.target, units::count(row.failed)))
                .chain(
                    (*further_targets > 0)
                        .then(|| format!("{} more", units::count(*further_targets))),
                );
            format!(
                "{} of {} failed: {}{ways}",
                count(failed),
                counted(requests, "request"),
                named.collect::<Vec<_>>().join(", ")
            )
        }
        Fact::Requests { requests, .. } => format!("{}{ways}", counted(requests, "request")),
        _ => ways,
    }
}

fn activities(number: &Number) -> String {
    let noun = if number.whole() == 1 { "activity" } else { "activities" };
    format!("{} {noun}", count(number))
}

/// Writes where requests are in a phase.
fn in_phase(phase: HttpPhase) -> &'static str {
    match phase {
        HttpPhase::Queue => "in the queue for a connection or a stream",
        HttpPhase::NameResolution => "resolving the host's name",
        HttpPhase::Connect => "connecting",
        HttpPhase::Tls => "in TLS handshakes",
        HttpPhase::Send => "sending",
        HttpPhase::Server => "waiting for the server",
        HttpPhase::Content => "receiving the content",
        HttpPhase::Other => "before they were sent",
    }
}

/// Writes an outgoing request with its path before its host: `GET /downstream of
/// http://127.0.0.1:5210`.
fn called(target: &str) -> String {
    let (method, url) = target.split_once(' ').unwrap_or(("", target));
    let host_at = url.find("://").map_or(0, |at| at.saturating_add(3));
    let path_at = url.get(host_at..).and_then(|rest| rest.find('/'));
    let path_at = path_at.map_or(0, |at| at.saturating_add(host_at));
    match url.split_at_checked(path_at) {
        Some((host, path)) if !host.is_empty() => {
            format!("{method} {path} of {host}").trim_start().to_owned()
        }
        _ => target.to_owned(),
    }
}

/// Writes for how long threads had no processor, and what took it.
fn no_processor(ready: &Number, taken_by: &ProcessorTaker) -> String {
    let ready = duration(ready);
    let were = format!("its threads were ready for {ready} without a processor");
    match *taken_by {
        ProcessorTaker::Limit { throttled, periods, period_ns, quota_ns } => {
            let limit = quota_ns as f64 / period_ns.max(1) as f64;
            format!(
                "throttled in {} of {} periods of {} by its limit of {limit:.1} processors: {were}",
                units::count(throttled),
                units::count(periods),
                units::short_duration(period_ns)
            )
        }
        ProcessorTaker::OtherPrograms => format!("{were}, while other programs ran"),
        ProcessorTaker::Host => {
            format!("{were}, while the host of this virtual machine ran others")
        }
        ProcessorTaker::OwnThreads => {
            format!("{were}: more of them can run than there are processors")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_path_before_its_host() {
        let name = called("GET http://127.0.0.1:5210/downstream/#");
        assert_eq!(name, "GET /downstream/# of http://127.0.0.1:5210");
        assert_eq!(called("http://stock/a"), "/a of http://stock");
        assert_eq!(called("POST stock/Save"), "POST /Save of stock");
        assert_eq!(called("GET /a"), "GET /a");
    }
}
