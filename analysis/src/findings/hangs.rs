//! Findings about what does not go on: deadlocks, waits without end, a starved thread pool.

use super::finding::{Finding, most_in};
use super::overview::Overviewed;
use super::own::OwnModules;
use crate::document::percent as share;
use crate::model::{Frame, WaitFor};
use crate::report::{
    ContentionReport, OpenLockWait, OpenWait, StuckThread, StuckThreads, TasksReport,
    ThreadPoolReport, WaitsReport,
};
use crate::words::frames::{call_name, place_name};
use nettrace_export::units::{count, counted, duration};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of threads of a deadlock that its sentence names.
const MOST_THREADS: usize = 8;
/// Maximum number of places that a sentence names.
const MOST_PLACES: usize = 3;
/// Waits that took less of the trace, in percent, are not notable,
const LEAST_OPEN_WAIT: f64 = 1.0;
/// nor are `await`s, most of which just go on later,
const LEAST_AWAIT: f64 = 20.0;
const LEAST_AWAIT_NANOS: u64 = 1_000_000_000;
/// nor are workers of the thread pool that have just begun to wait.
const LEAST_BLOCKED_NANOS: u64 = 500_000_000;
/// The reason of adjustments of the thread pool for workers that wait for tasks.
const COOPERATIVE_BLOCKING: &str = "CooperativeBlocking";
const STARVATION: &str = "Starvation";
/// Work that waits longer for a worker may be a sign of starvation.
const LONG_IN_QUEUE_NANOS: u64 = 100_000_000;

impl Finding {
    /// Threads wait for each other and will do so for ever.
    pub(super) fn deadlock(report: &ContentionReport, own: &OwnModules) -> Option<Finding> {
        let circle = report.deadlocks.first()?;
        let text = match &*circle.thread_ids {
            [] => return None,
            [one] => format!("deadlock: thread {one} waits for a lock that it holds"),
            [before @ .., last] if before.len() < MOST_THREADS => {
                let before: Vec<String> = before.iter().map(u64::to_string).collect();
                let before = before.join(", ");
                format!("deadlock: threads {before} and {last} wait for each other's locks")
            }
            all => format!(
                "deadlock: {} wait for each other's locks",
                counted(all.len() as u64, "thread")
            ),
        };
        let victims = match circle.victim_ids.len() {
            0 => String::new(),
            count => format!(", and {} for them", counted(count as u64, "more thread")),
        };
        let nanos = circle.at_least_ns;
        // The list has the longest waits.
        let is_in = |row: &&OpenLockWait| {
            row.wait.thread_id.is_some_and(|thread| circle.thread_ids.contains(&thread))
        };
        let place = report.open.iter().find(is_in).map(|row| &*row.wait.frames);
        let text =
            format!("{text}{victims}, for at least {}{}", duration(nanos), one_in(place, own));
        Some(Finding::new("deadlock", 99.0, (nanos, "ns"), text, "report contention"))
    }

    /// A thread still waits for a lock, and has for long.
    pub(super) fn endless_wait(
        report: &ContentionReport,
        own: &OwnModules,
        trace_ns: u64,
    ) -> Option<Finding> {
        if !report.deadlocks.is_empty() {
            return None;
        }
        let Some(longest) = report.open.first() else {
            return stuck(&report.stuck, own);
        };
        let nanos = longest.wait.at_least_ns;
        let place = one_in(Some(&longest.wait.frames), own);
        let owner = match (longest.owner_thread_id, longest.owner_managed_id) {
            (Some(owner), _) => format!(" held by thread {owner}"),
            (None, Some(owner)) => format!(" held by managed thread {owner}"),
            (None, None) => String::new(),
        };
        let text = format!(
            "{}, for at least {}, for a lock{owner}{place}",
            match report.totals.still_waiting {
                1 => "1 thread still waits at the end".to_owned(),
                many => format!("{} threads still wait at the end", count(many)),
            },
            duration(nanos),
        );
        (share(nanos, trace_ns) >= LEAST_OPEN_WAIT)
            .then(|| Finding::new("endless_wait", 90.0, (nanos, "ns"), text, "report contention"))
    }

    /// `await`s of the program's own code that are not over, and have lasted for long: of
    /// something that no code runs for, such as a semaphore.
    pub(super) fn endless_await(
        report: &TasksReport,
        own: &OwnModules,
        trace_ns: u64,
    ) -> Option<Finding> {
        let long = report.open.iter().filter_map(|row| {
            let (_, frame) = own.frame(&row.wait.frames)?;
            let place = place_name(frame);
            // A method that awaits another one, or time, is not what is stuck; a program's
            // main method waits for its end.
            let is_cause = !row.is_blocking
                && !row.task.starts_with("Async: ")
                && !row.task.starts_with("Task.Delay")
                && !place.ends_with(".Main")
                && !place.ends_with(".<Main>$");
            let nanos = row.wait.at_least_ns;
            let is_long = nanos >= LEAST_AWAIT_NANOS && share(nanos, trace_ns) >= LEAST_AWAIT;
            (is_cause && is_long).then_some((place, nanos))
        });
        let long: Vec<(String, u64)> = long.collect();
        let nanos = long.iter().map(|(_, nanos)| *nanos).max()?;
        let places: BTreeSet<&str> = long.iter().map(|(place, _)| &**place).collect();
        let named: Vec<&str> = places.iter().copied().take(MOST_PLACES).collect();
        let text = format!(
            "{} not over at the end, for at least {}: in {}",
            match long.len() {
                1 => "1 await is".to_owned(),
                many => format!("{} awaits are", count(many as u64)),
            },
            duration(nanos),
            named.join(", ")
        );
        Some(Finding::new("endless_wait", 45.0, (nanos, "ns"), text, "report tasks"))
    }

    /// The thread pool has no worker that makes progress, or had none and added some.
    pub(super) fn starvation(
        reports: &Overviewed,
        stuck: &StuckThreads,
        own: &OwnModules,
        blocked: Option<Blocked<'_>>,
    ) -> Option<Finding> {
        let pool = &reports.pool;
        let adjustments = pool.starvation.map_or(0, |starvation| starvation.count);
        if let Some(finding) = all_blocked(reports, stuck, own, adjustments) {
            return Some(finding);
        }
        let grown = match grown(pool) {
            Some((from, to)) => {
                format!(", its threads grew from {} to {}", count(from), count(to))
            }
            None => String::new(),
        };
        let place = blocked.map_or_else(String::new, |Blocked { nanos, call, method }| {
            let call = call.map_or_else(String::new, |call| format!(" in {call}"));
            let method = place_name(method);
            format!("; its workers were blocked {}{call} under {method}", duration(nanos))
        });
        let text = format!(
            "the thread pool was starved: {} for it{grown}{place}",
            counted(adjustments, "adjustment")
        );
        let value = (adjustments, "adjustments");
        (adjustments > 0)
            .then(|| Finding::new("starvation", 80.0, value, text, "report threadpool"))
    }

    /// The pool was recorded, added no worker because others were blocked, and left no work
    /// waiting.
    pub(super) fn no_starvation(pool: &ThreadPoolReport) -> Option<Finding> {
        let most = pool.max_workers.filter(|most| *most > 0)?;
        let grew = pool
            .reasons
            .iter()
            .any(|row| [COOPERATIVE_BLOCKING, STARVATION].contains(&&*row.reason));
        let waited = pool.latency.map_or(0, |latency| latency.p99_ns);
        let text = format!(
            "no sign of thread-pool starvation: at most {} active",
            match most {
                1 => "1 worker was".to_owned(),
                most => format!("{} workers were", count(most)),
            }
        );
        let has_waited = pool.never_dequeued > 0 || waited > LONG_IN_QUEUE_NANOS;
        (!grew && !has_waited).then(|| {
            Finding::new("no_starvation", 0.0, (most, "threads"), text, "report threadpool").good()
        })
    }
}

/// How many workers a pool had before it was starved, and how many afterwards.
fn grown(pool: &ThreadPoolReport) -> Option<(u64, u64)> {
    let mut targets = pool
        .adjustments
        .iter()
        .filter(|row| [COOPERATIVE_BLOCKING, STARVATION].contains(&&*row.reason));
    let first = targets.next()?.workers;
    let most = targets.map(|row| row.workers).max().unwrap_or(first);
    // The first workers of a process that starts, which reports its limits, say nothing.
    let before = pool.min_workers.filter(|_| pool.limits.is_none()).unwrap_or(first);
    let after = pool.max_workers.unwrap_or(most);
    (after > before).then_some((before, after))
}

/// `, one in Program.Main`; empty without a stack.
fn one_in(frames: Option<&[Arc<Frame>]>, own: &OwnModules) -> String {
    most_in(frames, own).replacen(", most in", ", one in", 1)
}

/// Threads that wait for a lock, of which only stacks say so.
fn stuck(threads: &[StuckThread], own: &OwnModules) -> Option<Finding> {
    let longest = threads.first()?;
    let nanos = longest.at_least_ns;
    let waits = match threads.len() {
        1 => "1 thread waits".to_owned(),
        many => format!("{} threads wait", count(many as u64)),
    };
    let since = match longest.is_from_start {
        true => ", since before the session began",
        false => "",
    };
    let text = format!(
        "only stacks show that {waits} for a lock, for at least {}{since}{}",
        duration(nanos),
        one_in(Some(&longest.frames), own)
    );
    Some(Finding::new("endless_wait", 88.0, (nanos, "ns"), text, "report contention"))
}

/// Workers of the thread pool that waited: how long together, the call that waits, and the own
/// method that calls it.
#[derive(Debug)]
pub(super) struct Blocked<'r> {
    pub(super) nanos: u64,
    pub(super) call: Option<String>,
    pub(super) method: &'r Arc<Frame>,
}

impl<'r> Blocked<'r> {
    /// Waits for tasks, by the events of waits: for traces without samples.
    pub(super) fn of(report: &'r WaitsReport, own: &OwnModules) -> Option<Blocked<'r>> {
        let mut methods: BTreeMap<(&'r Arc<Frame>, String), u64> = BTreeMap::new();
        for place in &report.places {
            let Some((at, method)) = own.frame(&place.frames) else { continue };
            let call = at.checked_sub(1).and_then(|at| place.frames.get(at));
            let Some(call) = call.filter(|call| is_of_task(call)) else { continue };
            let sum = methods.entry((method, call_name(call))).or_default();
            *sum = sum.saturating_add(place.waits.total_ns);
        }
        let ((method, call), nanos) = methods.into_iter().max_by_key(|(_, nanos)| *nanos)?;
        Some(Blocked { nanos, call: Some(call), method })
    }
}

/// Returns whether a frame is a method of a task, or of what awaits one.
fn is_of_task(frame: &Frame) -> bool {
    frame.namespace == "System.Threading.Tasks" && frame.type_name.starts_with("Task")
}

/// A blocked worker: for how long, what it waits for, and where.
type BlockedWorker<'r> = (u64, WaitFor, Option<&'r Arc<Frame>>);

/// All workers of the thread pool wait, and have for long.
fn all_blocked(
    reports: &Overviewed,
    stuck: &StuckThreads,
    own: &OwnModules,
    adjustments: u64,
) -> Option<Finding> {
    let mut blocked: BTreeMap<u64, BlockedWorker<'_>> = BTreeMap::new();
    let mut add = |thread: Option<u64>, nanos: u64, what: WaitFor, frames| {
        if let Some(thread) = thread.filter(|_| nanos >= LEAST_BLOCKED_NANOS) {
            // The first is the most certain.
            blocked.entry(thread).or_insert((
                nanos,
                what,
                own.frame(frames).map(|(_, frame)| frame),
            ));
        }
    };
    let tasks = reports.tasks.open.iter().filter(|row| row.is_blocking).map(|row| &row.wait);
    let locks = reports.contention.open.iter().map(|row| &row.wait);
    let open = tasks.chain(locks).chain(&reports.waits.open);
    for OpenWait { thread_id, at_least_ns, waits_for, frames, .. } in
        open.filter(|wait| wait.is_pool_worker)
    {
        add(*thread_id, *at_least_ns, *waits_for, frames);
    }
    for row in stuck.threads.iter().filter(|row| row.is_pool_worker) {
        let for_another = row.waits_for.filter(|what| {
            !matches!(what, WaitFor::Work | WaitFor::Sleep | WaitFor::Input | WaitFor::Other)
        });
        if let Some(what) = for_another {
            add(row.thread_id, row.at_least_ns, what, &row.frames);
        }
    }
    let pool = &reports.pool;
    let by_events = pool.workers.last().map(|point| crate::model::rounded(point.last));
    let workers = if stuck.pool_workers > 0 { stuck.pool_workers } else { by_events? };
    let all = blocked.len() as u64;
    // One worker that waits may be all the work there is.
    let at_limit = pool.limits.is_some_and(|limits| workers >= limits.max_workers);
    let has_grown = adjustments > 0
        || pool.reasons.iter().any(|row| row.reason == COOPERATIVE_BLOCKING)
        || pool.never_dequeued > 0
        || at_limit;
    if all < workers.max(1) || all < 2 && !has_grown {
        return None;
    }
    let mut kinds: BTreeMap<WaitFor, usize> = BTreeMap::new();
    let mut places: BTreeMap<&Frame, usize> = BTreeMap::new();
    for (_, what, place) in blocked.values() {
        let kind = kinds.entry(*what).or_default();
        *kind = kind.saturating_add(1);
        if let Some(place) = place {
            let place = places.entry(place).or_default();
            *place = place.saturating_add(1);
        }
    }
    let (what, _) = kinds.into_iter().max_by_key(|(_, count)| *count)?;
    if what != WaitFor::Task && !has_grown {
        return None;
    }
    let shortest = blocked.values().map(|(nanos, ..)| *nanos).min().unwrap_or(0);
    let place = places.into_iter().max_by_key(|(_, count)| *count);
    let place =
        place.map_or_else(String::new, |(place, _)| format!(", most in {}", place_name(place)));
    let waiting = match pool.never_dequeued {
        0 => String::new(),
        waiting => format!(", and {} for them", counted(waiting, "work item")),
    };
    let limit = if at_limit { " (the limit)" } else { "" };
    let (begin, weight) = match has_grown {
        true => ("the thread pool is starved: all its", 95.0),
        false => ("the thread pool has no free worker: all its", 85.0),
    };
    let text = format!(
        "{begin} {}{limit} wait for {what}{waiting}, for at least {}{place}",
        counted(all, "worker"),
        duration(shortest)
    );
    Some(Finding::new("starvation", weight, (all, "threads"), text, "report tasks"))
}
