//! Matches the events of suspensions of all threads of a process.
//!
//! | event | meaning |
//! |---|---|
//! | runtime 9 | a thread starts to suspend the others; several may try at the same time |
//! | runtime 8 | it has suspended them; only one can succeed |
//! | runtime 7 | they are about to be resumed, not always by the thread that suspended them (background collection) |
//! | runtime 3 | they have been resumed; another thread may have suspended them again before this event is written |
//!
//! Resumptions do not come in the order of the suspensions: between runtime 7 and 3 of a
//! collection, the sampler may suspend and resume all threads. A suspension lasts from 9 to 3. If 8
//! or 7 was lost, both ends are known if one thread wrote them. If 9 or 3 was lost, only the other
//! end is known.

use super::{Edge, Interval, Matcher};
use crate::model::ThreadHandle;
use nettrace_parser::view;

/// A suspension of all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspension<T> {
    /// Code of the reason, as the event stores it.
    pub(crate) reason: u32,
    /// Time at which all threads were suspended; `None` if the event about that was lost.
    pub(crate) stopped_nanos: Option<i64>,
    pub(crate) what: T,
}

impl<T> Suspension<T> {
    /// Returns whether the suspension is for a garbage collection, or for a phase of a background
    /// collection.
    pub(crate) fn is_for_collection(&self) -> bool {
        is_for_collection(self.reason)
    }

    /// Returns whether the suspension is for a phase of a background collection.
    pub(crate) fn is_for_step(&self) -> bool {
        self.reason == FOR_COLLECTION_STEP
    }
}

/// Codes of the reasons in event 9 of the runtime.
const FOR_COLLECTION: u32 = 1;
const FOR_COLLECTION_STEP: u32 = 6;

/// Returns whether a suspension with this reason is for a collection, or for a phase of a
/// background collection.
pub(crate) fn is_for_collection(reason: u32) -> bool {
    matches!(reason, FOR_COLLECTION | FOR_COLLECTION_STEP)
}

/// How far a suspension has got. If a phase begins again, the end of the suspension before was
/// lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Phase {
    /// A thread is suspending the others.
    Begun(ThreadHandle),
    /// All threads are suspended.
    InForce,
    /// A thread is resuming the others.
    LetGo(ThreadHandle),
}

/// The suspensions of one process.
#[derive(Debug)]
pub(crate) struct Suspensions<T> {
    open: Matcher<Phase, Suspension<T>>,
}

impl<T> Default for Suspensions<T> {
    fn default() -> Suspensions<T> {
        Suspensions { open: Matcher::default() }
    }
}

impl<T> Suspensions<T> {
    /// Takes the next event. Returns the suspension that the event ends. `what` creates the subject
    /// of a suspension that starts.
    pub(crate) fn event(
        &mut self,
        event: view::Suspension,
        at: Edge,
        what: impl FnOnce() -> T,
        mut lost: impl FnMut(Interval<Suspension<T>>),
    ) -> Option<Interval<Suspension<T>>> {
        let (begun, let_go) = (Phase::Begun(at.thread), Phase::LetGo(at.thread));
        match event {
            view::Suspension::SuspendStart(reason) => {
                // A thread that starts a suspension has ended its previous one.
                self.open.lose(let_go, &mut lost);
                let stop = Suspension { reason, stopped_nanos: None, what: what() };
                self.open.start_again(begun, at, stop, lost);
            }
            view::Suspension::SuspendStop => {
                if let Some((_, stop)) = self.open.innermost(begun) {
                    stop.stopped_nanos = Some(at.nanos);
                }
                // A suspension without a start has no known reason, and is ignored.
                self.open.go_on_as(begun, Phase::InForce, lost);
            }
            view::Suspension::RestartStart => self.open.go_on_as(Phase::InForce, let_go, lost),
            view::Suspension::RestartStop => {
                let is_own = |(start, _): (Edge, &mut _)| start.thread == at.thread;
                // In order: nothing was lost, 7 was, or 7 and 8 were. In the last two cases, only a
                // suspension of the same thread ends, because another thread may write its
                // resumption late.
                let phase = if self.open.is_open(let_go) {
                    let_go
                } else if self.open.innermost(Phase::InForce).is_some_and(is_own) {
                    Phase::InForce
                } else {
                    begun
                };
                return self.open.stop(phase, at, None, lost);
            }
            _ => {}
        }
        None
    }

    /// Returns the suspension in effect. If the event that says that all threads are suspended was
    /// lost, returns the suspension that `thread` has started.
    pub(crate) fn in_force(&mut self, thread: ThreadHandle) -> Option<&mut Suspension<T>> {
        let phase = match self.open.is_open(Phase::InForce) {
            true => Phase::InForce,
            false => Phase::Begun(thread),
        };
        self.open.innermost(phase).map(|(_, stop)| stop)
    }

    /// Returns the suspensions that have started and not ended.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Suspension<T>> {
        self.open.all()
    }

    /// Takes the suspensions still open at the end of the trace.
    pub(crate) fn finish(
        &mut self,
        nanos: i64,
    ) -> impl Iterator<Item = Interval<Suspension<T>>> + use<T> {
        self.open.finish(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::view::Suspension::{RestartStart, RestartStop, SuspendStart, SuspendStop};

    type Events = [(u32, view::Suspension, i64)];
    /// Start, end and reason of a suspension.
    type Stop = (i64, i64, u32);

    /// Takes events (thread, event, time). Returns the suspensions, and the start times of
    /// suspensions whose end was lost.
    fn stops_and_lost(events: &Events) -> (Vec<Stop>, Vec<i64>) {
        let mut suspensions = Suspensions::default();
        let (mut found, mut lost) = (Vec::new(), Vec::new());
        for (thread, event, nanos) in events {
            let at =
                Edge { thread: ThreadHandle(*thread), writer: (*thread).into(), nanos: *nanos };
            let over = |stop: Interval<_>| lost.push(stop.start.nanos);
            if let Some(stop) = suspensions.event(*event, at, || (), over) {
                found.push((stop.start.nanos, stop.stop.nanos, stop.what.reason));
            }
        }
        (found, lost)
    }

    fn stops(events: &Events) -> Vec<Stop> {
        stops_and_lost(events).0
    }

    const FIRST: [(u32, view::Suspension, i64); 4] = [
        (1, SuspendStart(1), 10),
        (1, SuspendStop, 12),
        (1, RestartStart, 20),
        (1, RestartStop, 25),
    ];
    const SECOND: [(u32, view::Suspension, i64); 4] = [
        (1, SuspendStart(1), 30),
        (1, SuspendStop, 31),
        (1, RestartStart, 32),
        (1, RestartStop, 33),
    ];

    #[test]
    fn a_stop_lasts_from_its_first_event_to_its_last() {
        assert_eq!(stops(&FIRST), [(10, 25, 1)]);
    }

    #[test]
    fn two_threads_that_stop_the_others_take_turns() {
        let events = [
            (1, SuspendStart(0), 10),
            (2, SuspendStart(1), 11),
            (1, SuspendStop, 12),
            (1, RestartStart, 13),
            // Thread 2 may suspend all threads before thread 1 writes that it has resumed them.
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
    fn another_thread_may_let_go() {
        let events = [
            (1, SuspendStart(1), 10),
            (1, SuspendStop, 12),
            (9, RestartStart, 20),
            (9, RestartStop, 25),
        ];
        assert_eq!(stops(&events), [(10, 25, 1)]);
        // If the other thread suspends all threads again before the stop, the stop ends
        // that second suspension.
        let mut again = events.to_vec();
        again.splice(3..3, [(1, SuspendStart(0), 21), (1, SuspendStop, 22)]);
        assert_eq!(stops_and_lost(&again), (vec![(10, 25, 1)], vec![]));
    }

    #[test]
    fn a_stop_whose_last_event_was_lost_is_lost_once() {
        for kept in 1..4 {
            let events: Vec<_> = FIRST.iter().take(kept).chain(&SECOND).copied().collect();
            assert_eq!(stops_and_lost(&events), (vec![(30, 33, 1)], vec![10]), "{kept} events");
        }
    }

    #[test]
    fn a_stop_has_both_ends_whichever_event_between_them_was_lost() {
        for lost in 0..FIRST.len() {
            let mut events = FIRST.to_vec();
            events.remove(lost);
            events.extend(SECOND);
            let first = (1..3).contains(&lost).then_some((10, 25, 1));
            let expected: Vec<_> = first.into_iter().chain([(30, 33, 1)]).collect();
            assert_eq!(stops(&events), expected, "without event {lost}");
        }
        assert_eq!(stops(&[(1, RestartStop, 1), (2, RestartStart, 2), (2, SuspendStop, 3)]), []);
        // The resumption of another thread's suspension does not end this one.
        let events = [(1, SuspendStart(1), 10), (1, SuspendStop, 11), (2, RestartStop, 12)];
        assert_eq!(stops(&events), []);
    }
}
