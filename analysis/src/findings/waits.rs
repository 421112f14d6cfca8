//! Findings about waits for locks and handles that events show.

use super::finding::{Finding, is_worth_naming, weight_of_lost_time};
use super::own::OwnModules;
use crate::document::percent;
use crate::fact::{Fact, Number, Place, Unit};
use crate::model::{Frame, NameOrigin};
use crate::report::{ContentionReport, WaitsReport};
use std::sync::Arc;

/// Minimum time of waits for locks, summed over threads, in percent of the trace.
const MIN_LOCK_PERCENT: f64 = 1.0;
/// Minimum time of waits for handles, in percent of the time of the waiting threads. It is high
/// because most threads of most programs wait for work.
const MIN_HANDLE_PERCENT: f64 = 25.0;

/// Returns the finding about waits for locks that are over.
pub(super) fn lock_contention(
    report: &ContentionReport,
    own: &OwnModules,
    trace_ns: u64,
) -> Option<Finding> {
    let totals = &report.totals;
    let share = percent(totals.waits.total_ns, trace_ns);
    let most_wanted = report.locks.iter().max_by_key(|lock| lock.waits.total_ns);
    let most_wanted =
        most_wanted.filter(|lock| is_worth_naming(lock.waits.total_ns, totals.waits.total_ns));
    let place = most_wanted.and_then(|lock| lock.stacks.first());
    let held = most_wanted.filter(|lock| lock.held.count > 0);
    let fact = Fact::LockContention {
        waited: Number::nanos(totals.waits.total_ns).in_member("waits.total_ns"),
        waits: Number::count(totals.stopped, Unit::Waits).in_member("stopped"),
        held: held.map(|lock| Number::nanos(lock.held.p50_ns).in_member("locks[].held.p50_ns")),
        spun: None,
        running: None,
        holder: None,
        place: place.and_then(|stack| most_in(&stack.frames, own)),
    };
    (share >= MIN_LOCK_PERCENT).then(|| Finding::new(fact, weight_of_lost_time(share)))
}

/// Returns the finding about waits for handles, apart from those of idle threads.
pub(super) fn handle_waits(
    report: &WaitsReport,
    own: &OwnModules,
    trace_ns: u64,
) -> Option<Finding> {
    let totals = &report.totals;
    let place = report.places.first().filter(|place| {
        !place.is_idle && is_worth_naming(place.waits.total_ns, totals.waits.total_ns)
    });
    let of_all = trace_ns.saturating_mul(report.waiting_threads);
    let busy_ns = totals.waits.total_ns.saturating_sub(report.idle_ns);
    let share = percent(busy_ns, of_all);
    let fact = Fact::HandleWaits {
        waited: Number::nanos(totals.waits.total_ns).in_member("waits.total_ns"),
        waits: Number::count(totals.stopped, Unit::Waits).in_member("stopped"),
        place: place.and_then(|place| most_in(&place.frames, own)),
    };
    (share >= MIN_HANDLE_PERCENT).then(|| Finding::new(fact, 10.0 + share * 0.1))
}

/// Returns the own method of a stack, else the innermost method that is not part of waiting.
/// Returns `None` if the stack is empty or the method has no name.
pub(super) fn most_in(frames: &[Arc<Frame>], own: &OwnModules) -> Option<Place> {
    let other = || frames.iter().find(|frame| !is_waiting_code(frame)).or(frames.first());
    let frame = own.frame(frames).map(|(_, frame)| frame).or_else(other);
    let frame = frame.filter(|frame| frame.origin != NameOrigin::Address)?;
    Some(Place::from_frame(frame))
}

/// Returns whether a frame belongs to library code that waits.
fn is_waiting_code(frame: &Frame) -> bool {
    frame.namespace == "System.Threading"
        || frame.namespace.starts_with("System.Threading.")
        || frame.module == "System.Private.CoreLib" && frame.type_name.starts_with("Interop")
}
