//! Time of the thread pool's workers: what they did with it, and how much of it the pool wanted.

use crate::document::percent;
use crate::model::{Model, rounded};
use crate::report::ThreadPoolReport;

/// Minimum time for which workers are blocked in a starved pool, in percent of the time for which
/// the pool wanted them.
const MIN_BLOCKED_PERCENT: f64 = 80.0;
/// Minimum time for which workers have nothing to do in a pool that has enough of them, in percent
/// of the time for which the pool wanted them.
const MIN_IDLE_PERCENT: f64 = 50.0;
/// Maximum 99th percentile of the time for which work items wait in a healthy pool, in nanoseconds.
const MAX_NANOS_IN_QUEUE: u64 = 100_000_000;

/// Time of the thread pool's workers by samples, in nanoseconds, summed over workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PoolTime {
    /// Time of waits for anything but work.
    pub(super) blocked: u64,
    /// Time of samples that are not known to have waited.
    pub(super) ran: u64,
}

/// What is known of the work that the thread pool had, and of the workers for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolLoad {
    time: PoolTime,
    /// Time for which the pool wanted workers that there were, summed over workers, in nanoseconds.
    pub(super) wanted: u64,
    /// Whether the pool aimed at more workers once than before.
    has_asked_for_more: bool,
    /// Whether work waited long for a worker; `None` if the events of the queue are not in the
    /// trace.
    has_work_waited: Option<bool>,
}

impl PoolLoad {
    pub(super) fn new(pool: &ThreadPoolReport, time: PoolTime, model: &Model) -> PoolLoad {
        let targets = pool.adjustments.iter().map(|row| row.workers);
        let is_more = |(before, after): (u64, u64)| after > before;
        let waited = pool.latency.map(|latency| latency.p99_ns > MAX_NANOS_IN_QUEUE);
        PoolLoad {
            time,
            wanted: wanted_nanos(pool, model),
            has_asked_for_more: targets.clone().zip(targets.skip(1)).any(is_more),
            has_work_waited: if pool.never_dequeued > 0 { Some(true) } else { waited },
        }
    }

    /// Returns whether hardly a worker was free though work waited, or though the pool asked for
    /// more workers.
    pub(super) fn is_blocked(&self) -> bool {
        percent(self.time.blocked, self.wanted) >= MIN_BLOCKED_PERCENT
            && self.has_work_waited.unwrap_or(self.has_asked_for_more)
    }

    /// Returns whether work did not wait: by the events of the queue, or because workers were idle
    /// while the pool wanted them. Without samples, a pool that asked for no more workers had
    /// enough.
    pub(super) fn is_light(&self, has_samples: bool) -> bool {
        if let Some(waited) = self.has_work_waited {
            return !waited;
        }
        if !has_samples {
            return !self.has_asked_for_more;
        }
        let busy = self.time.blocked.saturating_add(self.time.ran);
        percent(self.wanted.saturating_sub(busy), self.wanted) >= MIN_IDLE_PERCENT
    }
}

/// Returns the time for which the pool wanted the workers that it had. Workers beyond the target
/// may be idle at any time.
fn wanted_nanos(pool: &ThreadPoolReport, model: &Model) -> u64 {
    let (Some(first), Some(end)) = (pool.workers.first(), model.selected().last_nanos()) else {
        return 0;
    };
    // A trace with the pool's limits begins with the process; in others the workers are older.
    let first_event = end.saturating_sub_unsigned(model.selected().nanos());
    let begin = if pool.limits.is_some() { first.ts_ns } else { first_event };
    let workers = pool.workers.iter().map(|point| (point.ts_ns, Some(rounded(point.last)), None));
    let targets = pool.adjustments.iter().map(|row| (row.ts_ns, None, Some(row.workers)));
    let mut changes: Vec<(i64, Option<u64>, Option<u64>)> = workers.chain(targets).collect();
    changes.sort_by_key(|(at, ..)| *at);
    let (mut at, mut has, mut target) = (begin, rounded(first.last), u64::MAX);
    let mut wanted = 0_u64;
    for (until, workers, aim) in changes.into_iter().chain([(end, None, None)]) {
        let nanos = u64::try_from(until.saturating_sub(at)).unwrap_or(0);
        wanted = wanted.saturating_add(nanos.saturating_mul(has.min(target)));
        at = at.max(until);
        has = workers.unwrap_or(has);
        target = aim.unwrap_or(target);
    }
    wanted
}
