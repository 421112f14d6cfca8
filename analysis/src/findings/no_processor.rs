//! The findings about what the kernel withheld: processors from threads that were ready to run, and
//! memory.

use super::finding::{Finding, weight_of_lost_time};
use crate::document::percent;
use crate::fact::{Fact, Number, ProcessorTaker, Unit};
use crate::model::Resolved;

/// Minimum time in which threads were ready, in nanoseconds.
const MIN_READY_NANOS: u64 = 100_000_000;
/// Minimum time in which threads were ready, in percent of this and the time that the process ran.
const MIN_READY_PERCENT: f64 = 20.0;
/// Minimum share of throttled periods, in percent, for a limit to be the first finding.
const MIN_THROTTLED_PERCENT: f64 = 10.0;
/// Minimum number of throttled periods for a limit to be the first finding.
const MIN_THROTTLED: u64 = 3;
/// Weight of the finding that a limit took the processors.
const THROTTLED_WEIGHT: f64 = 97.0;
/// Maximum ratio of the time in which threads were ready to the time that others took meanwhile.
/// Above it, others are not the cause.
const MAX_READY_TO_TAKEN: u64 = 2;

/// Weight of the finding that processes were killed.
const KILLED_WEIGHT: f64 = 98.0;

/// Returns the finding about processes that were killed because there was no memory.
pub(super) fn out_of_memory(resolved: &Resolved<'_>) -> Option<Finding> {
    let kills = resolved.profile().processor()?.held_back.memory?;
    let killed = Number::count(kills.killed, Unit::Processes);
    let limit = kills.limit_bytes.map(Number::bytes);
    Some(Finding::new(Fact::OutOfMemory { killed, limit }, KILLED_WEIGHT))
}

/// Returns the finding about threads that had no processor, by the readings of the process.
pub(super) fn no_processor(resolved: &Resolved<'_>) -> Option<Finding> {
    let sums = resolved.profile().processor()?;
    let threads = sums.threads.values().filter(|thread| !thread.is_recording);
    let (ran, ready) = threads.fold((0_u64, 0_u64), |(ran, ready), thread| {
        (ran.saturating_add(thread.ran_ns), ready.saturating_add(thread.ready_ns))
    });
    let share = percent(ready, ran.saturating_add(ready));
    let held = sums.held_back;
    let limit = held.limit.filter(|limit| limit.throttled > 0);
    let is_throttled = limit.is_some_and(|limit| {
        limit.throttled >= MIN_THROTTLED
            && percent(limit.throttled, limit.periods) >= MIN_THROTTLED_PERCENT
    });
    if !is_throttled && (ready < MIN_READY_NANOS || share < MIN_READY_PERCENT) {
        return None;
    }
    let is_taken = |taken: u64| taken.saturating_mul(MAX_READY_TO_TAKEN) >= ready;
    let taken_by = match limit {
        Some(limit) => ProcessorTaker::Limit {
            throttled: limit.throttled,
            periods: limit.periods,
            period_ns: limit.period_ns,
            quota_ns: limit.quota_ns,
        },
        None if is_taken(held.steal_ns) => ProcessorTaker::Host,
        None if is_taken(held.others_ns) => ProcessorTaker::OtherPrograms,
        None => ProcessorTaker::OwnThreads,
    };
    let ready = Number::nanos(ready).measured().in_member("threads[].ready_ns");
    let weight = if is_throttled { THROTTLED_WEIGHT } else { weight_of_lost_time(share) };
    // Threads of the program that take turns are what the program is.
    let is_own = matches!(taken_by, ProcessorTaker::OwnThreads);
    let weight = if is_own { weight / 2.0 } else { weight };
    Some(Finding::new(Fact::NoProcessor { ready, taken_by }, weight))
}
