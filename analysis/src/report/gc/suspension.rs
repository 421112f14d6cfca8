//! Stops of all threads.
//!
//! | event | meaning |
//! |---|---|
//! | runtime 9 | a thread begins to stop the others; several may try at once |
//! | runtime 8 | it has stopped them; only one can have |
//! | runtime 7 | they are let go, not always by the thread that stopped them (background collection) |
//! | runtime 3 | they may run; another thread may have stopped them again before this is told |
//!
//! An event that was lost leaves a stop without its end; the next one of that kind takes its place.
//! Restarts are not told in the order of the stops: the sampler may stop all threads and let them go
//! again between runtime 7 and 3 of a collection.

use crate::model::ThreadHandle;
use nettrace_parser::view;
use std::collections::BTreeMap;

/// A stop for a collection: the reason in runtime 9.
pub(super) const FOR_COLLECTION: u32 = 1;
/// A stop for the work that a background collection cannot do beside running threads.
pub(super) const FOR_COLLECTION_STEP: u32 = 6;

/// A stop of all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    /// Why, as stored.
    pub(super) reason: u32,
    /// When a thread began to stop the others.
    pub(super) start_nanos: i64,
    /// When all were stopped.
    pub(super) stopped_nanos: i64,
    /// A number of its own.
    pub(super) id: u64,
}

/// What an event changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing yet.
    None,
    /// All threads are stopped.
    Stopped(Stop),
    /// They are let go; what happens from now on is not within the stop.
    LetGo(Stop),
    /// They run again, at this time.
    Restarted(Stop, i64),
}

/// The stops of one process.
#[derive(Debug, Default)]
pub(super) struct Suspensions {
    beginning: BTreeMap<ThreadHandle, (u32, i64)>,
    in_force: Option<Stop>,
    restarting: BTreeMap<ThreadHandle, Stop>,
    abandoned: Option<u64>,
    stops: u64,
    has_begun: bool,
}

impl Suspensions {
    pub(super) fn event(&mut self, event: view::Suspension, thread: ThreadHandle, nanos: i64) -> Change {
        match event {
            view::Suspension::SuspendStart(reason) => {
                self.has_begun |= matches!(reason, FOR_COLLECTION | FOR_COLLECTION_STEP);
                self.beginning.insert(thread, (reason, nanos));
                // A thread that stops the others again has ended its stop before.
                self.abandoned = self.restarting.remove(&thread).map(|stop| stop.id);
                Change::None
            }
            view::Suspension::SuspendStop => {
                self.abandoned = self.in_force.take().map(|stop| stop.id);
                // Without its beginning nobody knows what it is for.
                let Some((reason, start_nanos)) = self.beginning.remove(&thread) else { return Change::None };
                self.stops = self.stops.wrapping_add(1);
                let stop = Stop { reason, start_nanos, stopped_nanos: nanos, id: self.stops };
                self.in_force = Some(stop);
                Change::Stopped(stop)
            }
            view::Suspension::RestartStart => {
                self.abandoned = self.restarting.remove(&thread).map(|stop| stop.id);
                let Some(stop) = self.in_force.take() else { return Change::None };
                self.restarting.insert(thread, stop);
                Change::LetGo(stop)
            }
            view::Suspension::RestartStop => {
                self.restarting.remove(&thread).map_or(Change::None, |stop| Change::Restarted(stop, nanos))
            }
            _ => Change::None,
        }
    }

    /// Whether no thread has begun to stop the others for a collection since the session began.
    pub(super) fn is_unheard(&self) -> bool {
        !self.has_begun
    }

    /// The number of the stop of which the last event showed that its end will not be told. One event
    /// shows it of one stop at most.
    pub(super) fn take_abandoned(&mut self) -> Option<u64> {
        self.abandoned.take()
    }

    /// The stop that all threads are in.
    pub(super) fn in_force(&self) -> Option<Stop> {
        self.in_force
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::view::Suspension::{RestartStart, RestartStop, SuspendStart, SuspendStop};

    /// Threads, events and times in; start, end and reason of stops out.
    fn stops(events: &[(u32, view::Suspension, i64)]) -> Vec<(i64, i64, u32)> {
        let mut suspensions = Suspensions::default();
        let mut found = Vec::new();
        for (thread, event, nanos) in events {
            if let Change::Restarted(stop, end) = suspensions.event(*event, ThreadHandle(*thread), *nanos) {
                found.push((stop.start_nanos, end, stop.reason));
            }
        }
        found
    }

    #[test]
    fn a_stop_lasts_from_its_first_event_to_its_last() {
        let events =
            [(1, SuspendStart(1), 10), (1, SuspendStop, 12), (1, RestartStart, 20), (1, RestartStop, 25)];
        assert_eq!(stops(&events), [(10, 25, 1)]);
    }

    #[test]
    fn two_threads_that_stop_the_others_take_turns() {
        let events = [
            (1, SuspendStart(0), 10),
            (2, SuspendStart(1), 11),
            (1, SuspendStop, 12),
            (1, RestartStart, 13),
            // The other one may stop all before the first one tells that it let go.
            (2, SuspendStop, 14),
            (1, RestartStop, 15),
            (2, RestartStart, 20),
            (2, RestartStop, 21),
        ];
        assert_eq!(stops(&events), [(10, 15, 0), (11, 21, 1)]);
    }

    #[test]
    fn a_stop_that_began_later_may_end_first() {
        let events = [
            (1, SuspendStart(1), 10),
            (1, SuspendStop, 12),
            (2, SuspendStart(0), 13),
            (1, RestartStart, 14),
            (2, SuspendStop, 15),
            (2, RestartStart, 16),
            (2, RestartStop, 17),
            (1, RestartStop, 18),
        ];
        assert_eq!(stops(&events), [(13, 17, 0), (10, 18, 1)]);
    }

    #[test]
    fn a_stop_whose_end_was_lost_is_abandoned_once() {
        let whole =
            [(1, SuspendStart(1), 30), (1, SuspendStop, 31), (1, RestartStart, 32), (1, RestartStop, 33)];
        let before =
            [(1, SuspendStart(1), 10), (1, SuspendStop, 12), (1, RestartStart, 20), (1, RestartStop, 25)];
        // Neither restart of the first; its last event; its last and the next one's release.
        for (first, second, expected) in [
            (&before[..2], &whole[..], &[(30, 33, 1)][..]),
            (&before[..3], &whole[..], &[(30, 33, 1)]),
            (&before[..3], &[whole[0], whole[1], whole[3]], &[]),
        ] {
            let mut suspensions = Suspensions::default();
            let (mut ended, mut abandoned) = (Vec::new(), Vec::new());
            for (thread, event, nanos) in first.iter().chain(second) {
                if let Change::Restarted(stop, end) = suspensions.event(*event, ThreadHandle(*thread), *nanos)
                {
                    ended.push((stop.start_nanos, end, stop.reason));
                }
                abandoned.extend(suspensions.take_abandoned());
            }
            assert_eq!((&ended[..], &abandoned[..]), (expected, &[1][..]), "{} events", first.len());
        }
    }

    #[test]
    fn another_thread_may_let_go() {
        let events =
            [(1, SuspendStart(1), 10), (1, SuspendStop, 12), (9, RestartStart, 20), (9, RestartStop, 25)];
        assert_eq!(stops(&events), [(10, 25, 1)]);
    }

    #[test]
    fn a_stop_with_an_event_lost_is_left_out_and_the_next_is_whole() {
        let whole =
            [(1, SuspendStart(1), 30), (1, SuspendStop, 31), (1, RestartStart, 32), (1, RestartStop, 33)];
        let before =
            [(1, SuspendStart(1), 10), (1, SuspendStop, 12), (1, RestartStart, 20), (1, RestartStop, 25)];
        for lost in 0..before.len() {
            let mut events = before.to_vec();
            events.remove(lost);
            events.extend(whole);
            assert_eq!(stops(&events), [(30, 33, 1)], "without event {lost}");
        }
        assert_eq!(stops(&[(1, RestartStop, 1), (2, RestartStart, 2), (2, SuspendStop, 3)]), []);
    }
}
