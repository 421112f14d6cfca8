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
    stops: u64,
    has_begun: bool,
}

impl Suspensions {
    pub(super) fn event(&mut self, event: view::Suspension, thread: ThreadHandle, nanos: i64) -> Change {
        match event {
            view::Suspension::SuspendStart(reason) => {
                self.has_begun |= matches!(reason, FOR_COLLECTION | FOR_COLLECTION_STEP);
                self.beginning.insert(thread, (reason, nanos));
                Change::None
            }
            view::Suspension::SuspendStop => {
                // Without its beginning nobody knows what it is for.
                let Some((reason, start_nanos)) = self.beginning.remove(&thread) else {
                    self.in_force = None;
                    return Change::None;
                };
                self.stops = self.stops.wrapping_add(1);
                let stop = Stop { reason, start_nanos, stopped_nanos: nanos, id: self.stops };
                self.in_force = Some(stop);
                Change::Stopped(stop)
            }
            view::Suspension::RestartStart => {
                self.restarting.remove(&thread);
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
