//! Time for which a process was paused for collections.

use super::At;
use crate::hash::HashMap;
use crate::model::intervals::{Edge, Suspensions, is_for_collection};
use nettrace_parser::view::Suspension;

/// Maximum length of a pause in which managed code writes events, in nanoseconds: threads that are
/// about to be suspended may write some. A longer pause has lost its end.
const MAX_PAUSE_NANOS: i64 = 1_000_000_000;

/// Pauses of a process so far.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    suspensions: Suspensions<()>,
    ended: u64,
    /// Start of the current pause.
    open: Option<Edge>,
}

impl Pauses {
    /// Processes a suspension event. Returns start and end of a pause that ends with it.
    pub(super) fn event(&mut self, event: Suspension, at: Edge) -> Option<(i64, i64)> {
        let ended = self.suspensions.event(event, at, || (), |_| {});
        let begun = match event {
            Suspension::SuspendStart(reason) if is_for_collection(reason) => Some(at),
            _ => None,
        };
        let ended = ended.filter(|stop| stop.what.is_for_collection());
        let is_over = ended.as_ref().is_some_and(|stop| self.open == Some(stop.start));
        if begun.is_some() || is_over {
            self.ended = self.until(at.nanos);
            self.open = begun;
        }
        ended.map(|stop| (stop.start.nanos, stop.stop.nanos))
    }

    /// Notes that managed code runs, which ends a pause that has lasted too long: its end was lost.
    pub(super) fn is_running(&mut self, nanos: i64) {
        if self.open.is_some_and(|begun| nanos.saturating_sub(begun.nanos) > MAX_PAUSE_NANOS) {
            self.ended = self.until(nanos);
            self.open = None;
        }
    }

    /// Returns the nanoseconds of pauses before a time, which must not be before the last pause.
    pub(super) fn until(&self, nanos: i64) -> u64 {
        let open =
            self.open.map_or(0, |begun| nanos.saturating_sub(begun.nanos).min(MAX_PAUSE_NANOS));
        self.ended.saturating_add(u64::try_from(open).unwrap_or(0))
    }
}

/// Pauses of all processes.
#[derive(Debug, Default)]
pub(super) struct PausesOfAll {
    rows: Vec<Pauses>,
    /// Place of each process in `rows`.
    places: HashMap<Option<u64>, usize>,
    /// Process that was asked for last, and its place, if it has one. Most traces have one process.
    last: (Option<u64>, Option<usize>),
}

impl PausesOfAll {
    /// Adds a process, if it is new.
    pub(super) fn add(&mut self, process: Option<u64>) {
        if self.known_mut(process).is_none() {
            self.last = (process, Some(self.rows.len()));
            self.places.insert(process, self.rows.len());
            self.rows.push(Pauses::default());
        }
    }

    /// Returns the pauses of a process; `None` if it was not added.
    #[inline]
    pub(super) fn known_mut(&mut self, process: Option<u64>) -> Option<&mut Pauses> {
        if self.last.0 != process {
            self.last = (process, self.places.get(&process).copied());
        }
        self.rows.get_mut(self.last.1?)
    }

    /// Returns a time of a process as a point.
    pub(super) fn at(&mut self, process: Option<u64>, nanos: i64) -> At {
        At { nanos, paused: self.known_mut(process).map_or(0, |pauses| pauses.until(nanos)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ThreadHandle;
    use nettrace_parser::view::Suspension::{RestartStart, RestartStop, SuspendStart, SuspendStop};

    fn event(
        pauses: &mut Pauses,
        thread: u32,
        event: Suspension,
        nanos: i64,
    ) -> Option<(i64, i64)> {
        pauses.event(event, Edge { thread: ThreadHandle(thread), writer: thread.into(), nanos })
    }

    #[test]
    fn a_pause_ends_with_its_own_restart_whichever_thread_writes_it() {
        let mut pauses = Pauses::default();
        event(&mut pauses, 1, SuspendStart(1), 100);
        event(&mut pauses, 1, SuspendStop, 110);
        assert_eq!((event(&mut pauses, 3, RestartStop, 150), pauses.until(160)), (None, 60));
        event(&mut pauses, 2, RestartStart, 190);
        // The sampler suspends and resumes the process before the restart has ended.
        for (event_of_it, nanos) in
            [(SuspendStart(0), 191), (SuspendStop, 192), (RestartStart, 193)]
        {
            event(&mut pauses, 3, event_of_it, nanos);
        }
        assert_eq!((event(&mut pauses, 3, RestartStop, 195), pauses.until(196)), (None, 96));
        assert_eq!(event(&mut pauses, 2, RestartStop, 200), Some((100, 200)));
        assert_eq!(pauses.until(900), 100);
    }

    #[test]
    fn a_lost_end_does_not_pause_for_ever() {
        let mut pauses = Pauses::default();
        event(&mut pauses, 1, SuspendStart(1), 1000);
        pauses.is_running(1_000_000);
        pauses.is_running(9 * MAX_PAUSE_NANOS);
        assert_eq!(pauses.until(99 * MAX_PAUSE_NANOS), MAX_PAUSE_NANOS.unsigned_abs());
        event(&mut pauses, 1, SuspendStart(1), 100 * MAX_PAUSE_NANOS);
        event(&mut pauses, 2, SuspendStart(6), 100 * MAX_PAUSE_NANOS + 10);
        event(&mut pauses, 2, RestartStop, 100 * MAX_PAUSE_NANOS + 30);
        assert_eq!(pauses.until(200 * MAX_PAUSE_NANOS), 30 + MAX_PAUSE_NANOS.unsigned_abs());
    }
}
