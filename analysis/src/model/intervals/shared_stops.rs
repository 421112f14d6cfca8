//! Stops of activities that have one id and are open at once, so that nothing tells which of the
//! activities each stop ends.

use super::activities::{ActivityInterval, Hint, OpenActivities, OpenActivity};
use super::{Bounds, Edge, Interval, nanos_between};
use crate::hash::HashMap;
use crate::model::TextHandle;
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_id::ActivityId;
use std::collections::BTreeMap;

/// Maximum number of stops of one id that wait for the stops of the other activities with the id.
const MAX_WAITING: usize = 4_096;
/// Maximum number of activities with one id among which a stop finds its own.
pub(super) const MAX_SHARED: usize = 1_024;

/// Stops that wait until all activities with their id and name have stopped.
#[derive(Debug, Default)]
pub(crate) struct SharedStops(HashMap<(ActivityId, TextHandle), WaitingStops>);

/// Stops of activities with one id and one name, oldest first; there is at least one.
#[derive(Debug)]
pub(crate) struct WaitingStops {
    pub(crate) nanos: Vec<i64>,
    /// The last of the stops.
    pub(crate) last: Edge,
}

impl SharedStops {
    /// Adds a stop. Returns the stops that wait if there are too many.
    pub(crate) fn add(
        &mut self,
        id: &ActivityId,
        name: TextHandle,
        at: Edge,
    ) -> Option<WaitingStops> {
        let none = WaitingStops { nanos: Vec::new(), last: at };
        let waiting = self.0.entry((id.clone(), name)).or_insert(none);
        waiting.nanos.push(at.nanos);
        waiting.last = at;
        let is_full = waiting.nanos.len() >= MAX_WAITING;
        is_full.then(|| self.take(id, name, MAX_WAITING)).flatten()
    }

    /// Takes the stops of an id and a name, if there are as many of them as activities.
    pub(crate) fn take(
        &mut self,
        id: &ActivityId,
        name: TextHandle,
        activities: usize,
    ) -> Option<WaitingStops> {
        if self.0.is_empty() {
            return None;
        }
        let key = (id.clone(), name);
        let is_all = self.0.get(&key).is_some_and(|waiting| waiting.nanos.len() >= activities);
        is_all.then(|| self.0.remove(&key)).flatten()
    }

    /// Returns the number of stops of an id and a name that wait.
    pub(crate) fn count(&self, id: &ActivityId, name: TextHandle) -> usize {
        match self.0.is_empty() {
            true => 0,
            false => self.0.get(&(id.clone(), name)).map_or(0, |waiting| waiting.nanos.len()),
        }
    }

    /// Removes one stop, as its activity is no longer followed. Returns false if none waits.
    pub(crate) fn give_up_one(&mut self, id: &ActivityId, name: TextHandle) -> bool {
        let key = (id.clone(), name);
        let Some(waiting) = self.0.get_mut(&key) else { return false };
        waiting.nanos.pop();
        if waiting.nanos.is_empty() {
            self.0.remove(&key);
        }
        true
    }
}

/// Activities that a stop ends.
#[derive(Debug)]
pub(crate) struct StoppedActivities<T> {
    /// Whether the start of an activity with the stop's id, fields or thread is known.
    pub(crate) has_start: bool,
    /// The activity of the stop. `None` if the start is missing, or if nothing tells which of
    /// several open activities with its id the stop ends.
    pub(crate) own: Option<ActivityInterval<T>>,
    /// Activities with the stop's id whose stops were not known before. All have stopped now; those
    /// whose stops cannot be told apart have [`Bounds::StopShared`].
    pub(crate) others: Vec<ActivityInterval<T>>,
    /// Time of the activities of `others` with shared stops. `None` if there are none, or if a stop
    /// among them is missing.
    pub(crate) shared: Option<SharedTime>,
}

/// Time of activities whose stops cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedTime {
    /// Sum of the durations, in nanoseconds: the sum of the stops less the sum of the starts.
    pub(crate) nanos: u64,
    /// Duration that the longest of them has at least, whichever stop is that of which activity.
    pub(crate) longest_nanos: u64,
}

impl SharedTime {
    /// Returns the time of activities with these starts and stops, which are as many, each oldest
    /// first.
    fn new(starts: &[i64], stops: &[i64]) -> SharedTime {
        let pairs = || starts.iter().zip(stops).map(|(start, stop)| nanos_between(*start, *stop));
        SharedTime {
            nanos: pairs().fold(0, u64::saturating_add),
            // Any other pairs of starts and stops have a longer one.
            longest_nanos: pairs().max().unwrap_or(0),
        }
    }
}

impl<T> StoppedActivities<T> {
    pub(super) fn none() -> StoppedActivities<T> {
        StoppedActivities { has_start: false, own: None, others: Vec::new(), shared: None }
    }
}

/// The open activity that a stop ends.
pub(super) enum StopOf {
    /// Number of the activity, and whether it is the innermost one of its thread.
    One(u64, bool),
    /// One of several activities with the stop's id.
    Shared,
}

impl<T> OpenActivities<T> {
    /// Returns an activity that is no longer followed. If stops with its id wait, one is its own.
    pub(super) fn given_up(&mut self, activity: Box<OpenActivity<T>>) -> ActivityInterval<T> {
        let id = activity.id.as_ref().filter(|_| activity.may_repeat);
        let has_stopped = id.is_some_and(|id| self.shared.give_up_one(id, activity.name));
        let lost = activity.lost();
        Interval { bounds: if has_stopped { Bounds::StopShared } else { lost.bounds }, ..lost }
    }

    /// Takes the activities with an id and a name if as many stops wait for them as there are. The
    /// second value is the time of those whose stops cannot be told apart.
    pub(super) fn all_stopped(
        &mut self,
        id: &ActivityId,
        name: TextHandle,
    ) -> (Vec<ActivityInterval<T>>, Option<SharedTime>) {
        let waiting = self.shared.count(id, name);
        if waiting == 0 {
            return (Vec::new(), None);
        }
        let open = self.ids.all_of(id, name).take(waiting.saturating_add(1)).count();
        let Some(stops) = self.shared.take(id, name, open) else { return (Vec::new(), None) };
        let mut all = self.oldest(id, name, stops.nanos.len());
        if let [only] = all.as_mut_slice() {
            only.stop = stops.last;
            only.nanos = nanos_between(only.start.nanos, stops.last.nanos);
            only.bounds = Bounds::Stopped;
            return (all, None);
        }
        let starts: Vec<i64> = all.iter().map(|interval| interval.start.nanos).collect();
        let shared = SharedTime::new(&starts, &stops.nanos);
        (all, Some(shared))
    }

    /// Takes the oldest activities with an id and a name, whose stops cannot be told apart.
    pub(super) fn oldest(
        &mut self,
        id: &ActivityId,
        name: TextHandle,
        count: usize,
    ) -> Vec<ActivityInterval<T>> {
        let mut numbers: Vec<u64> = self.ids.all_of(id, name).collect();
        numbers.reverse();
        numbers.truncate(count);
        let taken = numbers.into_iter().filter_map(|number| self.remove((name, number)));
        let lost = taken.map(OpenActivity::lost);
        lost.map(|lost| Interval { bounds: Bounds::StopShared, ..lost }).collect()
    }

    /// Returns which of several open activities with the stop's id the stop ends, if that is
    /// certain.
    pub(super) fn stop_of_shared(
        &self,
        rows: &BTreeMap<u64, Box<OpenActivity<T>>>,
        numbers: impl Iterator<Item = u64>,
        edge: &ActivityEdge,
        at: Edge,
        hint: Hint,
    ) -> StopOf {
        let (mut agreeing, mut best) = ((0_usize, None), None);
        let began = edge.reported_nanos.map(|nanos| at.nanos.saturating_sub_unsigned(nanos));
        for number in numbers.take(MAX_SHARED) {
            let Some(row) = rows.get(&number) else { continue };
            if hint.ends == Some((row.name, number)) {
                return StopOf::One(number, false);
            }
            if agree(&row.keys, &edge.keys) == Some(true) {
                agreeing = (agreeing.0.saturating_add(1), Some(number));
            }
            if let Some(began) = began {
                let distance = row.at.nanos.abs_diff(began);
                if best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, number));
                }
            }
        }
        match (agreeing, best) {
            ((1, Some(number)), _) | (_, Some((_, number))) => StopOf::One(number, false),
            _ => StopOf::Shared,
        }
    }
}

/// Returns whether the common fields of start and stop are equal; `None` if they have no fields in
/// common.
pub(super) fn agree(start: &[(u64, u64)], stop: &[(u64, u64)]) -> Option<bool> {
    let mut all = None;
    for (name, value) in stop {
        if let Some((_, other)) = start.iter().find(|(other, _)| other == name) {
            all = Some(all.unwrap_or(true) && other == value);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ThreadHandle;

    const NAME: TextHandle = TextHandle(0);
    const ONE: ThreadHandle = ThreadHandle(1);
    const OTHER: ThreadHandle = ThreadHandle(2);

    type Open = OpenActivities<()>;
    /// Time, thread and fields of a start.
    type Started<'s> = (i64, ThreadHandle, &'s [(u64, u64)]);

    /// Makes a start or stop of an activity with the id `//1/1/0`, as .NET 10 writes it.
    fn edge(keys: &[(u64, u64)]) -> ActivityEdge {
        ActivityEdge::bare(Some(&ActivityId::for_test("//1/1/0")), keys, true)
    }

    fn at(thread: ThreadHandle, nanos: i64) -> Edge {
        Edge { thread, writer: 1, nanos }
    }

    fn start(open: &mut Open, nanos: i64, thread: ThreadHandle, keys: &[(u64, u64)]) {
        open.start(&edge(keys), NAME, at(thread, nanos), ());
    }

    /// Starts activities of .NET 10 that all have the id `//1/1/0`.
    fn shared(starts: &[Started<'_>]) -> Open {
        let mut open = Open::default();
        for (nanos, thread, keys) in starts {
            start(&mut open, *nanos, *thread, keys);
        }
        open
    }

    fn stop_shared(open: &mut Open, nanos: i64, keys: &[(u64, u64)], hint: Hint) -> Stopped {
        let stopped = open.stop_with(&edge(keys), NAME, at(OTHER, nanos), hint);
        assert!(stopped.has_start);
        let end = |it: &ActivityInterval<()>| (it.start.nanos, it.measured_nanos());
        (stopped.own.as_ref().map(end), stopped.others.iter().map(end).collect(), stopped.shared)
    }

    type Stopped = (Option<(i64, Option<u64>)>, Vec<(i64, Option<u64>)>, Option<SharedTime>);

    #[test]
    fn activities_that_follow_each_other_with_one_id_are_paired() {
        let mut open = shared(&[(1, ONE, &[])]);
        let none = Hint::default();
        assert_eq!(stop_shared(&mut open, 5, &[], none), (Some((1, Some(4))), Vec::new(), None));
        start(&mut open, 6, OTHER, &[]);
        assert_eq!(stop_shared(&mut open, 9, &[], none), (Some((6, Some(3))), Vec::new(), None));
    }

    #[test]
    fn stops_that_cannot_be_told_apart_wait_for_each_other_and_their_sum_is_exact() {
        let mut open = shared(&[(1, ONE, &[]), (2, ONE, &[]), (3, OTHER, &[])]);
        let none = Hint::default();
        assert_eq!(stop_shared(&mut open, 10, &[], none), (None, Vec::new(), None));
        assert_eq!(stop_shared(&mut open, 30, &[], none), (None, Vec::new(), None));
        let unknown = [1, 2, 3].map(|start| (start, None)).to_vec();
        let time = SharedTime { nanos: 10 + 30 + 90 - 6, longest_nanos: 87 };
        assert_eq!(stop_shared(&mut open, 90, &[], none), (None, unknown, Some(time)));
        assert_eq!((open.finish(100).count(), open.open), (0, 0));
    }

    #[test]
    fn fields_a_duration_and_a_hint_tell_which_of_several_activities_stops() {
        let fields: &[Started<'_>] =
            &[(10, ONE, &[(7, 1)]), (20, ONE, &[(7, 2)]), (30, ONE, &[(7, 3)])];
        let mut open = shared(fields);
        let none = Hint::default();
        assert_eq!(stop_shared(&mut open, 50, &[(7, 2)], none).0, Some((20, Some(30))));
        let hint = Hint { ends: Some((NAME, 2)), ..none };
        assert_eq!(stop_shared(&mut open, 60, &[], hint).0, Some((30, Some(30))));
        assert_eq!(stop_shared(&mut open, 70, &[], none).0, Some((10, Some(60))), "the last");
        let mut open = shared(fields);
        let mut stop = edge(&[]);
        stop.reported_nanos = Some(39);
        let own = open.stop(&stop, NAME, at(OTHER, 60)).own.unwrap();
        assert_eq!((own.start.nanos, own.nanos), (20, 39));
    }

    #[test]
    fn the_last_activity_left_has_the_stop_that_was_left() {
        let mut open = shared(&[(10, ONE, &[(7, 1)]), (20, ONE, &[(7, 2)])]);
        let none = Hint::default();
        assert_eq!(stop_shared(&mut open, 50, &[], none), (None, Vec::new(), None));
        let (own, others, time) = stop_shared(&mut open, 60, &[(7, 2)], none);
        assert_eq!((own, others, time), (Some((20, Some(40))), vec![(10, Some(40))], None));
    }

    #[test]
    fn activities_whose_stops_wait_at_the_end_have_stopped() {
        let mut open = shared(&[(1, ONE, &[]), (2, ONE, &[]), (3, ONE, &[])]);
        assert_eq!(stop_shared(&mut open, 10, &[], Hint::default()), (None, Vec::new(), None));
        let left: Vec<_> = open.finish(200).map(|left| (left.start.nanos, left.bounds)).collect();
        let expected = [(1, Bounds::StopShared), (2, Bounds::OpenAtEnd), (3, Bounds::OpenAtEnd)];
        assert_eq!(left, expected);
    }

    #[test]
    fn stops_that_wait_do_not_pile_up() {
        let mut open = shared(&[(0, ONE, &[])]);
        let mut ended = 0;
        for nanos in 1..20_000 {
            start(&mut open, nanos, ONE, &[]);
            ended += stop_shared(&mut open, nanos, &[], Hint::default()).1.len();
        }
        assert!(ended >= 12_000 && open.open < 8_000, "{ended} {}", open.open);
    }

    #[test]
    fn the_parent_with_a_shared_id_is_the_one_of_the_thread() {
        let open = shared(&[(1, ONE, &[]), (2, OTHER, &[])]);
        let child = ActivityId::for_test("//1/1/0/1");
        let parent = |thread| {
            let place = open.parent_place(Some(&child), None, thread)?;
            open.at(place).map(|activity| activity.at.nanos)
        };
        assert_eq!([ONE, OTHER, ThreadHandle(3)].map(parent), [Some(1), Some(2), None]);
    }
}
