//! Findings about threads that make no progress: deadlocks, waits without end, a starved thread
//! pool.

use super::finding::Finding;
use super::overview::Overviewed;
use super::own::OwnModules;
use super::pool::PoolLoad;
use super::waits::most_in;
use crate::document::percent;
use crate::fact::{Fact, LockOwner, Number, Place, Unit};
use crate::model::{Frame, TaskKind, WaitFor, public_call};
use crate::report::{
    ContentionReport, Lock, OpenLockWait, OpenWait, PoolReason, StuckThread, StuckThreads,
    TasksReport, ThreadPoolReport, WaitsReport,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of methods that a finding names.
const MAX_PLACES: usize = 3;
/// Minimum time of a wait for a lock that is not over, in percent of the trace.
const MIN_OPEN_WAIT_PERCENT: f64 = 1.0;
/// Minimum time of an `await` that is not over, in percent of the trace; shorter ones are normal.
const MIN_AWAIT_PERCENT: f64 = 20.0;
/// Minimum time of an `await` that is not over, in nanoseconds.
const MIN_AWAIT_NANOS: u64 = 1_000_000_000;
/// Minimum time of a worker's wait for the end of a thread, in percent of the trace.
const MIN_JOIN_PERCENT: f64 = 20.0;
/// Minimum time of a worker's wait for the end of a thread, in nanoseconds.
const MIN_JOIN_NANOS: u64 = 1_000_000_000;
/// Minimum time of a wait that counts a pool worker as blocked, in nanoseconds.
const MIN_BLOCKED_NANOS: u64 = 500_000_000;
/// Minimum median of the time for which work items wait in a pool without enough workers, in
/// nanoseconds.
const MIN_MEDIAN_NANOS_IN_QUEUE: u64 = 100_000_000;
const DEADLOCK_WEIGHT: f64 = 99.0;
const STARVED_FOR_EVER_WEIGHT: f64 = 95.0;
const ENDLESS_LOCK_WAIT_WEIGHT: f64 = 90.0;
const STUCK_WEIGHT: f64 = 88.0;
const NO_FREE_WORKER_WEIGHT: f64 = 85.0;
const STARVED_WEIGHT: f64 = 80.0;
const STUCK_WORKERS_WEIGHT: f64 = 55.0;
const WAITING_WORK_WEIGHT: f64 = 50.0;
const ENDLESS_AWAITS_WEIGHT: f64 = 45.0;

/// Returns the finding about threads that wait for each other for ever.
pub(super) fn deadlock(report: &ContentionReport, own: &OwnModules) -> Option<Finding> {
    let circle = report.deadlocks.first().filter(|circle| !circle.thread_ids.is_empty())?;
    // The list has only the longest waits, so the place may be unknown.
    let is_in = |row: &&OpenLockWait| {
        row.wait.thread_id.is_some_and(|thread| circle.thread_ids.contains(&thread))
    };
    let place = report.open.iter().find(is_in);
    let fact = Fact::Deadlock {
        waited: Number::nanos(circle.at_least_ns).at_least().in_member("deadlocks[].at_least_ns"),
        victims: Number::count(circle.victim_ids.len() as u64, Unit::Threads),
        thread_ids: circle.thread_ids.clone(),
        place: place.and_then(|row| most_in(&row.wait.frames, own)),
    };
    Some(Finding::new(fact, DEADLOCK_WEIGHT))
}

/// Returns the finding about a thread that has waited long for a lock when the trace ends; `None`
/// if there is a deadlock, which explains it.
pub(super) fn endless_lock_wait(
    report: &ContentionReport,
    own: &OwnModules,
    trace_ns: u64,
) -> Option<Finding> {
    if !report.deadlocks.is_empty() {
        return None;
    }
    let Some(longest) = report.open.first() else {
        return stuck_in_lock(&report.stuck, own);
    };
    let nanos = longest.wait.at_least_ns;
    // The end of the trace cuts off waits that are as long as others for the lock.
    let is_usual = |lock: &&Lock| lock.lock_id == longest.lock_id && lock.waits.max_ns >= nanos;
    if longest.lock_id.is_some() && report.locks.iter().any(|lock| is_usual(&lock)) {
        return None;
    }
    let owner = longest.owner_thread_id.map(LockOwner::Thread);
    let fact = Fact::EndlessLockWait {
        waited: Number::nanos(nanos).at_least().in_member("open[].at_least_ns"),
        threads: Number::count(report.totals.still_waiting, Unit::Threads)
            .in_member("still_waiting"),
        earlier_waits: None,
        earlier_waited: None,
        thread_id: longest.wait.thread_id,
        owner: owner.or_else(|| longest.owner_managed_id.map(LockOwner::ManagedThread)),
        holder: None,
        place: most_in(&longest.wait.frames, own),
    };
    (percent(nanos, trace_ns) >= MIN_OPEN_WAIT_PERCENT)
        .then(|| Finding::new(fact, ENDLESS_LOCK_WAIT_WEIGHT))
}

/// Returns the finding about long `await`s in own code that are not over when the trace ends. Only
/// awaits count during which no code runs, such as of a semaphore.
pub(super) fn endless_awaits(
    report: &TasksReport,
    own: &OwnModules,
    trace_ns: u64,
) -> Option<Finding> {
    let long = report.open.iter().filter_map(|row| {
        let (_, frame) = own.frame(&row.wait.frames)?;
        // A method that awaits another method or a delay is not the cause, and a program's main
        // method always waits for its end.
        let is_cause = !row.is_blocking
            && !matches!(row.kind, TaskKind::AsyncMethod | TaskKind::Delay)
            && !frame.is_entry_point();
        let nanos = row.wait.at_least_ns;
        let is_long = nanos >= MIN_AWAIT_NANOS && percent(nanos, trace_ns) >= MIN_AWAIT_PERCENT;
        (is_cause && is_long).then_some((frame, nanos))
    });
    let long: Vec<(&Arc<Frame>, u64)> = long.collect();
    let nanos = long.iter().map(|(_, nanos)| *nanos).max()?;
    // Overloads of a method are one place. The order is reversed because `collect` keeps the last
    // of equal keys, and the longest wait comes first.
    let places: BTreeMap<&str, &Arc<Frame>> =
        long.iter().rev().map(|(frame, _)| (frame.without_arguments(), *frame)).collect();
    let fact = Fact::EndlessAwaits {
        waited: Number::nanos(nanos).at_least().in_member("open[].at_least_ns"),
        awaits: Number::count(long.len() as u64, Unit::Waits),
        places: places.into_values().take(MAX_PLACES).map(Place::from_frame).collect(),
    };
    Some(Finding::new(fact, ENDLESS_AWAITS_WEIGHT))
}

/// Returns the finding about a thread pool whose workers are all blocked, or were until the pool
/// added more or the work was done; or in which work waited long for a worker.
pub(super) fn starvation(
    reports: &Overviewed,
    stuck: &StuckThreads,
    own: &OwnModules,
    load: &PoolLoad,
    blocked: Option<Blocked<'_>>,
) -> Option<Finding> {
    let pool = &reports.pool;
    let adjustments = pool.starvation.map_or(0, |starvation| starvation.count);
    if let Some(finding) = blocked_pool(reports, stuck, own, adjustments) {
        return Some(finding);
    }
    let has_grown = adjustments > 0;
    let queued = pool.latency.filter(|latency| latency.p50_ns >= MIN_MEDIAN_NANOS_IN_QUEUE);
    let is_blocked = load.is_blocked() && (blocked.is_some() || queued.is_some());
    let weight = match queued {
        _ if has_grown || is_blocked => STARVED_WEIGHT,
        Some(_) => WAITING_WORK_WEIGHT,
        None => return None,
    };
    let (before, after) = match has_grown {
        true => grown(pool).unzip(),
        false => (None, pool.max_workers),
    };
    let workers = |count: u64| Number::count(count, Unit::Threads);
    let most = |count: u64| match has_grown {
        true => workers(count),
        false => workers(count).in_member("max_workers"),
    };
    let blocked = blocked.filter(|_| has_grown || is_blocked);
    let fact = Fact::StarvedPool {
        adjustments: has_grown
            .then(|| Number::count(adjustments, Unit::Adjustments).in_member("starvation.count")),
        workers_before: before.map(workers),
        workers_after: after.map(most),
        blocked: blocked.as_ref().map(|blocked| Number::nanos(blocked.nanos).estimated()),
        wanted: (!has_grown && is_blocked).then(|| Number::nanos(load.wanted)),
        queued_median: queued.map(|it| Number::nanos(it.p50_ns).in_member("latency.p50_ns")),
        queued_longest: queued.map(|it| Number::nanos(it.max_ns).in_member("latency.max_ns")),
        place: blocked.as_ref().map(|blocked| Place::from_frame(blocked.method)),
        call: blocked.and_then(|blocked| blocked.call),
    };
    Some(Finding::new(fact, weight))
}

/// Returns the finding that the thread pool was never starved: it was recorded, added no worker for
/// blocked ones, and work did not wait. `has_samples` tells whether the trace has CPU samples.
pub(super) fn no_starvation(
    pool: &ThreadPoolReport,
    load: &PoolLoad,
    has_samples: bool,
) -> Option<Finding> {
    let most = pool.max_workers.filter(|most| *most > 0)?;
    let grew = pool.reasons.iter().any(|row| row.reason.is_for_blocked_workers());
    let workers = Number::count(most, Unit::Threads).in_member("max_workers");
    (!grew && load.is_light(has_samples)).then(|| Finding::new(Fact::NoStarvation { workers }, 0.0))
}

/// Returns the number of workers before the pool was starved and afterwards; `None` if it did not
/// grow.
fn grown(pool: &ThreadPoolReport) -> Option<(u64, u64)> {
    let mut targets = pool.adjustments.iter().filter(|row| row.reason.is_for_blocked_workers());
    let first = targets.next()?.workers;
    let most = targets.map(|row| row.workers).max().unwrap_or(first);
    // A trace with the pool's limits begins with the process, when the pool has no workers yet.
    let before = pool.min_workers.filter(|_| pool.limits.is_none()).unwrap_or(first);
    let after = pool.max_workers.unwrap_or(most);
    (after > before).then_some((before, after))
}

/// Returns the finding about threads that wait for a lock, as only their stacks show.
fn stuck_in_lock(threads: &[StuckThread], own: &OwnModules) -> Option<Finding> {
    let longest = threads.first()?;
    let fact = Fact::StuckInLock {
        waited: Number::nanos(longest.at_least_ns).at_least().in_member("stuck[].at_least_ns"),
        threads: Number::count(threads.len() as u64, Unit::Threads),
        is_from_start: longest.is_older_than_session,
        thread_id: longest.thread_id,
        holder: None,
        place: most_in(&longest.frames, own),
    };
    Some(Finding::new(fact, STUCK_WEIGHT))
}

/// Returns the finding about workers of the thread pool that wait long for the end of a thread when
/// the trace ends. A worker that joins itself or another worker waits for ever.
pub(super) fn stuck_workers(
    stuck: &StuckThreads,
    own: &OwnModules,
    trace_ns: u64,
) -> Option<Finding> {
    let is_long = |nanos| nanos >= MIN_JOIN_NANOS && percent(nanos, trace_ns) >= MIN_JOIN_PERCENT;
    let joins = |row: &&StuckThread| {
        row.is_pool_worker && row.waits_for == Some(WaitFor::Thread) && is_long(row.at_least_ns)
    };
    let mut workers = stuck.threads.iter().filter(joins);
    let longest = workers.next()?;
    let fact = Fact::StuckWorkers {
        waited: Number::nanos(longest.at_least_ns).at_least().in_member("stuck[].at_least_ns"),
        workers: Number::count(workers.count().saturating_add(1) as u64, Unit::Threads),
        place: most_in(&longest.frames, own),
    };
    Some(Finding::new(fact, STUCK_WORKERS_WEIGHT))
}

/// Pool workers that waited in one method.
#[derive(Debug)]
pub(super) struct Blocked<'r> {
    /// Time of the waits, summed over workers.
    pub(super) nanos: u64,
    /// Public name of the call that waits.
    pub(super) call: Option<String>,
    /// The own method that makes the call.
    pub(super) method: &'r Arc<Frame>,
}

impl<'r> Blocked<'r> {
    /// Returns the longest waits for tasks by the events of waits, for traces without samples.
    pub(super) fn by_events(report: &'r WaitsReport, own: &OwnModules) -> Option<Blocked<'r>> {
        let mut methods: BTreeMap<(&'r Arc<Frame>, String), u64> = BTreeMap::new();
        for place in &report.places {
            let Some((at, method)) = own.frame(&place.frames) else { continue };
            let call = at.checked_sub(1).and_then(|at| place.frames.get(at));
            let Some(call) = call.filter(|call| is_of_task(call)) else { continue };
            let sum = methods.entry((method, public_call(call))).or_default();
            *sum = sum.saturating_add(place.waits.total_ns);
        }
        let ((method, call), nanos) = methods.into_iter().max_by_key(|(_, nanos)| *nanos)?;
        Some(Blocked { nanos, call: Some(call), method })
    }
}

/// Returns whether a frame is a method of a task or of its awaiter.
fn is_of_task(frame: &Frame) -> bool {
    frame.namespace == "System.Threading.Tasks" && frame.type_name.starts_with("Task")
}

/// Time of a worker's wait, its kind, and the own method that waits.
type BlockedWorker<'r> = (u64, WaitFor, Option<&'r Arc<Frame>>);

/// Returns the finding that all workers of the thread pool have waited for long.
fn blocked_pool(
    reports: &Overviewed,
    stuck: &StuckThreads,
    own: &OwnModules,
    adjustments: u64,
) -> Option<Finding> {
    let mut blocked: BTreeMap<u64, BlockedWorker<'_>> = BTreeMap::new();
    let mut add = |thread: Option<u64>, nanos: u64, what: WaitFor, frames| {
        if let Some(thread) = thread.filter(|_| nanos >= MIN_BLOCKED_NANOS) {
            // Events are read before stacks, because they are more certain.
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
    // A single worker that waits may be all that the program needs, unless the pool wanted more.
    let at_limit = pool.limits.is_some_and(|limits| workers >= limits.max_workers);
    let has_grown = adjustments > 0
        || pool.reasons.iter().any(|row| row.reason == PoolReason::COOPERATIVE_BLOCKING)
        || pool.never_dequeued > 0
        || at_limit;
    if all < workers.max(1) || all < 2 && !has_grown {
        return None;
    }
    let mut kinds: BTreeMap<WaitFor, usize> = BTreeMap::new();
    let mut places: BTreeMap<&Arc<Frame>, usize> = BTreeMap::new();
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
    let fact = Fact::BlockedPool {
        workers: Number::count(all, Unit::Threads),
        waited: Number::nanos(shortest).at_least(),
        queued: (pool.never_dequeued > 0).then(|| {
            Number::count(pool.never_dequeued, Unit::WorkItems).in_member("never_dequeued")
        }),
        waits_for: what,
        is_starved: has_grown,
        is_at_limit: at_limit,
        place: place.map(|(frame, _)| Place::from_frame(frame)),
    };
    let weight = if has_grown { STARVED_FOR_EVER_WEIGHT } else { NO_FREE_WORKER_WEIGHT };
    Some(Finding::new(fact, weight))
}
