//! The finding about threads that are started again and again.

use super::finding::Finding;
use super::overview::Overviewed;
use super::own::OwnModules;
use super::own_code::OwnCode;
use crate::fact::{Fact, Number, Place, Unit};
use crate::model::Resolved;

/// Minimum number of threads that were started.
const MIN_THREADS: u64 = 100;
/// Minimum number of threads that were started in a second.
const MIN_THREADS_PER_SECOND: f64 = 50.0;

/// Returns the finding about started threads. They are counted by the events of their start, or
/// without such events, as the threads that have any event.
pub(super) fn started_threads(
    reports: &Overviewed,
    own: &OwnModules,
    code: &OwnCode,
    resolved: &Resolved<'_>,
    trace_ns: u64,
) -> Option<Finding> {
    let seen = resolved.model().threads().filter(|(_, thread)| thread.events > 0).count() as u64;
    let started = Some(reports.askers.started()).filter(|started| *started > 0).unwrap_or(seen);
    let per_second = started as f64 / (trace_ns as f64 / 1e9).max(0.001);
    if started < MIN_THREADS || per_second < MIN_THREADS_PER_SECOND {
        return None;
    }
    let starter = reports.askers.starter(own, resolved).or_else(|| code.starter(resolved));
    let life = reports.askers.life_nanos(resolved);
    let fact = Fact::StartedThreads {
        threads: Number::count(seen, Unit::Threads),
        started: Number::count(started, Unit::Threads),
        elapsed: Number::nanos(trace_ns),
        life: life.map(|nanos| Number::nanos(nanos).estimated()),
        started_by: starter.map(Place::from_frame),
    };
    Some(Finding::new(fact, 30.0 + 10.0 * per_second.max(1.0).log10()))
}
