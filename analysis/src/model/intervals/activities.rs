//! Matches the stops of activities with their starts.

use super::activity_ids::ActivityIds;
use super::shared_stops::{SharedStops, StopOf, StoppedActivities, agree};
use super::{Bounds, Edge, Interval};
use crate::hash::{HashMap, hash_of};
use crate::model::activity_edge::{ActivityEdge, EdgeKeys, is_failure};
use crate::model::activity_id::ActivityId;
use crate::model::{TextHandle, ThreadHandle};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;

/// Maximum number of open activities. If there are more, the oldest activity with the new one's
/// name is dropped.
const MAX_OPEN_ACTIVITIES: usize = 65_536;
/// Maximum number of activities with the same id among which the failed one or a parent is
/// searched.
pub(super) const MAX_WITH_ONE_ID: usize = 32;
/// Maximum number of threads whose last stop is kept.
const MAX_THREADS: usize = 10_000;
/// Maximum number of ancestors on a path among which an open parent is searched.
pub(super) const MAX_ANCESTORS: usize = 32;
/// Number of steps that searches among open activities may take in all. Each start and stop adds
/// [`STEPS_EACH`] to it.
///
/// A search by id or fields usually succeeds among the newest few. Without this limit, each stop
/// without a start might examine 65,536 activities that never stop.
const STEPS_AT_FIRST: u64 = 1 << 23;
const STEPS_EACH: u64 = 256;
/// Number of steps that count for an activity which is found by its id. It is more than one,
/// because the activity lies elsewhere in memory.
const STEPS_BY_ID: u64 = 8;

/// An activity that has started but not stopped.
#[derive(Debug, Clone)]
pub(crate) struct OpenActivity<T> {
    pub(crate) name: TextHandle,
    /// Hash of the name of the provider.
    provider: u64,
    /// Number of the start among all starts. It is a part of the activity's key.
    pub(crate) number: u64,
    pub(crate) id: Option<ActivityId>,
    /// Whether an activity has the id for itself, unless the runtime lost a number of it.
    is_id_unique: bool,
    /// Whether other open activities may have the id.
    pub(crate) may_repeat: bool,
    /// Activity id of the start event, if it differs from `id`.
    pub(crate) path: Option<ActivityId>,
    path_may_repeat: bool,
    /// Thread and time of the start.
    pub(crate) at: Edge,
    /// Hashes of the names and values of the start event's fields.
    pub(super) keys: EdgeKeys,
    /// Whether no later activity with the same name was open on the thread when it stopped.
    pub(crate) is_innermost: bool,
    pub(crate) what: T,
}

impl<T> OpenActivity<T> {
    pub(super) fn lost(self: Box<Self>) -> ActivityInterval<T> {
        Interval::without_stop(self.at, self)
    }

    /// Returns whether this activity has a unique id that is not a path below the other id. An id
    /// below it is possible if the start was written in an asynchronous flow that the stop did not
    /// see. Then the stop has the path of the activity around both.
    fn is_elsewhere(&self, other: &ActivityId) -> bool {
        let id = self.id.as_ref().filter(|_| self.is_id_unique);
        id.is_some_and(|id| !id.around().any(|around| around == *other))
    }

    /// Returns whether other open activities may have one of the activity's ids, because the runtime
    /// lost a number of it.
    pub(super) fn may_repeat_as(&self, id: &ActivityId) -> bool {
        if self.id.as_ref() == Some(id) { self.may_repeat } else { self.path_may_repeat }
    }

    /// Returns the ids by which other events may refer to the activity.
    fn ids(&self) -> impl Iterator<Item = &ActivityId> {
        self.id.iter().chain(self.path.as_ref().filter(|path| self.id.as_ref() != Some(path)))
    }
}

/// The time of an activity. It is boxed because it is large and passes several hands.
pub(crate) type ActivityInterval<T> = Interval<Box<OpenActivity<T>>>;

/// Key of an open activity: its name and the number of its start.
pub(crate) type OpenActivityKey = (TextHandle, u64);

/// What is known about a stop without an id, in addition to its fields.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hint {
    /// Activity that the stop ends, provided that the activity has the stop's name.
    pub(crate) ends: Option<OpenActivityKey>,
    /// Whether the stop ends no activity of its thread, because the code of the last one has
    /// returned to its caller.
    pub(crate) is_elsewhere: bool,
    /// Whether the stop ends the only activity that is possible, whatever its thread.
    pub(crate) is_only: bool,
}

/// Activities that have started and not stopped, found by id, by fields, or by thread.
#[derive(Debug)]
pub(crate) struct OpenActivities<T> {
    // By name, because a stop ends a start of its name; then by number, because activities end in
    // any order; boxed, because entries of a tree move when others come and go.
    pub(super) by_name: HashMap<TextHandle, BTreeMap<u64, Box<OpenActivity<T>>>>,
    pub(super) ids: ActivityIds,
    pub(super) shared: SharedStops,
    /// Path of the activity that stopped last on each thread, if none has started there since.
    stopped: HashMap<ThreadHandle, ActivityId>,
    started: u64,
    pub(super) open: usize,
    /// Number of steps that searches among open activities may still take.
    steps_left: u64,
    cut_short: u64,
}

impl<T> Default for OpenActivities<T> {
    fn default() -> OpenActivities<T> {
        OpenActivities {
            by_name: HashMap::default(),
            ids: ActivityIds::default(),
            shared: SharedStops::default(),
            stopped: HashMap::default(),
            started: 0,
            open: 0,
            steps_left: STEPS_AT_FIRST,
            cut_short: 0,
        }
    }
}

impl<T> OpenActivities<T> {
    /// Adds an activity that starts. Returns an activity whose stop was lost, if any: one with the
    /// same unique id, or the oldest of too many.
    pub(crate) fn start(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        at: Edge,
        what: T,
    ) -> Option<ActivityInterval<T>> {
        self.steps_left = self.steps_left.saturating_add(STEPS_EACH);
        self.stopped.remove(&at.thread);
        let lost = match &edge.id {
            Some(id) if edge.is_id_unique && !edge.may_repeat => {
                self.ids.newest_of(id, name).map(|number| (name, number))
            }
            _ => None,
        };
        // The oldest of all names could only be found by one more index.
        let lost = lost.or_else(|| {
            let of_name = self.by_name.get(&name).filter(|_| self.open >= MAX_OPEN_ACTIVITIES);
            of_name.and_then(|rows| rows.keys().next().map(|number| (name, *number)))
        });
        let lost = lost.and_then(|place| self.remove(place)).map(|lost| self.given_up(lost));
        let activity = Box::new(OpenActivity {
            name,
            provider: edge.provider,
            number: self.started,
            id: edge.id.clone(),
            is_id_unique: edge.is_id_unique,
            may_repeat: edge.may_repeat,
            path: edge.path.clone(),
            path_may_repeat: edge.path_may_repeat,
            at,
            keys: edge.keys,
            is_innermost: true,
            what,
        });
        if self.open >= MAX_OPEN_ACTIVITIES {
            // Activities with other names have used up the limit, so this one is not tracked.
            return Some(activity.lost());
        }
        let number = self.started;
        self.started = self.started.saturating_add(1);
        for id in activity.ids() {
            self.ids.add(id, name, number);
        }
        self.by_name.entry(name).or_default().insert(number, activity);
        self.open = self.open.saturating_add(1);
        lost
    }

    pub(super) fn remove(
        &mut self,
        (name, number): OpenActivityKey,
    ) -> Option<Box<OpenActivity<T>>> {
        let activity = self.by_name.get_mut(&name)?.remove(&number)?;
        self.open = self.open.saturating_sub(1);
        for id in activity.ids() {
            self.ids.remove(id, name, number);
        }
        Some(activity)
    }

    /// Takes the activity that a stop ends: the most recent one with the same name
    ///
    /// 1. with the stop's id,
    /// 2. else, if the stop has no id, around the activity that has just stopped on the stop's
    ///    thread, by the path of that one; not if a common field differs,
    /// 3. else with equal values in all common fields of start and stop, preferably on the
    ///    stop's thread; not if both have paths, and the stop's path is unknown because its
    ///    activity began before the session,
    /// 4. else on the stop's thread, unless both have ids.
    ///
    /// If several activities with the stop's id are open, the one is taken that the stop's fields,
    /// its duration or the hint tells. If nothing tells it, the stop waits until all of them have
    /// stopped.
    pub(crate) fn stop(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        at: Edge,
    ) -> StoppedActivities<T> {
        self.stop_with(edge, name, at, Hint::default())
    }

    /// Takes the activity that a stop ends, as [`OpenActivities::stop`] does, with a hint about a
    /// stop without an id, or with an id that several open activities have.
    pub(crate) fn stop_with(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        at: Edge,
        hint: Hint,
    ) -> StoppedActivities<T> {
        self.steps_left = self.steps_left.saturating_add(STEPS_EACH);
        let last = self.stopped.remove(&at.thread).filter(|_| edge.id.is_none());
        let with_id = self.stop_with_id(edge, name, at, hint);
        let hinted = || {
            let (of_name, number) = hint.ends.filter(|_| edge.id.is_none())?;
            let is_open = of_name == name && self.at((name, number)).is_some();
            is_open.then_some(StopOf::One(number, false))
        };
        let around_last = || {
            let number = self.only_around(&last?, name)?;
            let row = self.at((name, number))?;
            (agree(&row.keys, &edge.keys) != Some(false)).then_some(StopOf::One(number, false))
        };
        let found = with_id.or_else(hinted).or_else(around_last);
        let found = found.or_else(|| {
            let (number, is_innermost) = self.number_by_fields(edge, name, at.thread, hint)?;
            Some(StopOf::One(number, is_innermost))
        });
        match found {
            None => StoppedActivities::none(),
            Some(StopOf::One(number, is_innermost)) => {
                let Some(mut activity) = self.remove((name, number)) else {
                    return StoppedActivities::none();
                };
                self.note_stop(at.thread, &activity);
                activity.is_innermost = is_innermost;
                let id = activity.id.clone().filter(|_| activity.may_repeat);
                let own = Interval::whole(activity.at, at, edge.reported_nanos, activity);
                let (others, shared) = id.map(|id| self.all_stopped(&id, name)).unwrap_or_default();
                StoppedActivities { has_start: true, own: Some(own), others, shared }
            }
            Some(StopOf::Shared) => {
                let id = edge.id.as_ref();
                let too_many = id.and_then(|id| self.shared.add(id, name, at));
                let (others, shared) = match (id, too_many) {
                    (Some(id), Some(stops)) => (self.oldest(id, name, stops.nanos.len()), None),
                    (Some(id), None) => self.all_stopped(id, name),
                    (None, _) => (Vec::new(), None),
                };
                StoppedActivities { has_start: true, own: None, others, shared }
            }
        }
    }

    fn note_stop(&mut self, thread: ThreadHandle, activity: &OpenActivity<T>) {
        let path = activity.id.as_ref().filter(|id| id.is_path()).or(activity.path.as_ref());
        let Some(path) = path else { return };
        if self.stopped.len() >= MAX_THREADS {
            self.stopped.clear();
        }
        self.stopped.insert(thread, path.clone());
    }

    /// Returns the number of the open activity with a name that is nearest around a path, if no
    /// other one with its id and name is open.
    fn only_around(&self, path: &ActivityId, name: TextHandle) -> Option<u64> {
        path.around().take(MAX_ANCESTORS).find_map(|around| {
            let mut numbers = self.ids.all_of(&around, name);
            let number = numbers.next()?;
            Some(number).filter(|_| numbers.next().is_none())
        })
    }

    /// Returns the activity with the stop's id that the stop ends: the most recent one whose fields
    /// agree with the stop; without such an activity, the most recent one with the id. If several
    /// may have the id at once, the stop must tell which.
    fn stop_with_id(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        at: Edge,
        hint: Hint,
    ) -> Option<StopOf> {
        let (rows, id) = (self.by_name.get(&name)?, edge.id.as_ref()?);
        let mut numbers = self.ids.all_of(id, name);
        let newest = numbers.next()?;
        let mut others = numbers.peekable();
        if others.peek().is_none() {
            return Some(StopOf::One(newest, false));
        }
        if edge.may_repeat {
            let numbers = std::iter::once(newest).chain(others);
            return Some(self.stop_of_shared(rows, numbers, edge, at, hint));
        }
        for number in std::iter::once(newest).chain(others) {
            let Some(left) = self.steps_left.checked_sub(STEPS_BY_ID) else {
                self.cut_short = self.cut_short.saturating_add(1);
                break;
            };
            self.steps_left = left;
            if rows.get(&number).and_then(|row| agree(&row.keys, &edge.keys)) == Some(true) {
                return Some(StopOf::One(number, false));
            }
        }
        // Most starts and stops have no field in common, so the id decides.
        Some(StopOf::One(newest, false))
    }

    /// Returns the number of the most recent activity whose fields agree with the stop, preferably
    /// on the stop's thread. Without such an activity, returns that of the most recent one on the
    /// thread that has no fields in common. The second value is whether that activity is the
    /// innermost one of the thread.
    fn number_by_fields(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        thread: ThreadHandle,
        hint: Hint,
    ) -> Option<(u64, bool)> {
        let rows = self.by_name.get(&name)?;
        // A stop without a start in its flow has the path of the activity that runs on its thread.
        // A path that no open activity has belongs to the activity that the stop ends.
        let id = edge.id.as_ref().filter(|_| edge.is_id_unique);
        let own_id = id.filter(|id| self.ids.newest(id).is_none());
        let (mut elsewhere, mut on_thread) = (None, None);
        let (mut only, mut possible) = (None, 0_usize);
        let mut is_innermost = true;
        for (number, row) in rows.iter().rev() {
            let Some(left) = self.steps_left.checked_sub(1) else {
                self.cut_short = self.cut_short.saturating_add(1);
                break;
            };
            self.steps_left = left;
            let is_here = row.at.thread == thread && !hint.is_elsewhere;
            if hint.is_only && row.id.is_none() && edge.id.is_none() {
                possible = possible.saturating_add(1);
                only = Some((*number, false));
            }
            match agree(&row.keys, &edge.keys) {
                Some(true) if own_id.is_some_and(|id| row.is_elsewhere(id)) => {}
                Some(true) if is_here => return Some((*number, is_innermost)),
                Some(true) => elsewhere = elsewhere.or(Some((*number, false))),
                None if is_here && (row.id.is_none() || edge.id.is_none()) => {
                    on_thread = on_thread.or(Some((*number, is_innermost)));
                    if edge.keys.is_empty() && !hint.is_only {
                        // A stop without fields agrees with no other activity.
                        break;
                    }
                }
                _ => {}
            }
            is_innermost &= !is_here;
        }
        elsewhere.or(on_thread).or(only.filter(|_| possible == 1))
    }

    /// Returns the number of stops for which not all open activities were examined, because there
    /// were too many.
    pub(crate) fn cut_short(&self) -> u64 {
        self.cut_short
    }

    pub(crate) fn at(&self, (name, number): OpenActivityKey) -> Option<&OpenActivity<T>> {
        self.by_name.get(&name)?.get(&number).map(Box::as_ref)
    }

    pub(crate) fn at_mut(
        &mut self,
        (name, number): OpenActivityKey,
    ) -> Option<&mut OpenActivity<T>> {
        self.by_name.get_mut(&name)?.get_mut(&number).map(Box::as_mut)
    }

    /// Returns the start of an activity that a stop tells whole, and its time, unless its start was
    /// seen.
    pub(crate) fn unseen_start(
        &self,
        stop: &ActivityEdge,
        name: TextHandle,
        nanos: i64,
    ) -> Option<(ActivityEdge, i64)> {
        let is_open = || stop.id.as_ref().and_then(|id| self.ids.newest_of(id, name)).is_some();
        stop.start_of_whole(nanos).filter(|_| !is_open())
    }

    /// Returns the key that the next activity to start gets.
    pub(crate) fn next_place(&self, name: TextHandle) -> OpenActivityKey {
        (name, self.started)
    }

    /// Returns the activity whose failure an event reports that is neither a start nor a stop. This
    /// is the newest activity with the event's id and provider; of several with the id, the newest
    /// that began on the event's thread.
    pub(crate) fn failed_mut(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
    ) -> Option<&mut OpenActivity<T>> {
        if event.known_provider() != KnownProvider::Other || !is_failure(event) {
            return None;
        }
        let id = ActivityId::of_event(event)?;
        let provider = hash_of(event.provider());
        let place = self.find(&id, thread, |open| open.provider == provider)?;
        self.at_mut(place)
    }

    /// Takes the activities still open when the trace ends, in the order of their starts.
    pub(crate) fn finish(
        &mut self,
        nanos: i64,
    ) -> impl Iterator<Item = ActivityInterval<T>> + use<T> {
        let mut all = std::mem::take(self);
        let open = std::mem::take(&mut all.by_name).into_values().flatten();
        let rows: BTreeMap<u64, Box<OpenActivity<T>>> = open.collect();
        rows.into_values().map(move |activity| {
            let ended = all.given_up(activity);
            if ended.bounds == Bounds::StopShared {
                return ended;
            }
            let stop = Edge { nanos, ..ended.start };
            let interval = Interval::whole(ended.start, stop, None, ended.what);
            Interval { bounds: Bounds::OpenAtEnd, ..interval }
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) const NAME: TextHandle = TextHandle(0);
    pub(in super::super) const ONE: ThreadHandle = ThreadHandle(1);
    pub(in super::super) const OTHER: ThreadHandle = ThreadHandle(2);

    pub(in super::super) type Open = OpenActivities<()>;

    pub(in super::super) fn edge(
        text: Option<&str>,
        keys: &[(u64, u64)],
        is_id_unique: bool,
    ) -> ActivityEdge {
        ActivityEdge::bare(text.map(ActivityId::for_test).as_ref(), keys, is_id_unique)
    }

    pub(in super::super) fn at(thread: ThreadHandle, nanos: i64) -> Edge {
        Edge { thread, writer: 1, nanos }
    }

    pub(in super::super) fn start(
        open: &mut Open,
        nanos: i64,
        id: Option<&str>,
        thread: ThreadHandle,
        keys: &[(u64, u64)],
    ) {
        assert!(open.start(&edge(id, keys, true), NAME, at(thread, nanos), ()).is_none());
    }

    fn stop(
        open: &mut Open,
        id: Option<&str>,
        thread: ThreadHandle,
        keys: &[(u64, u64)],
    ) -> Option<i64> {
        let stopped = open.stop(&edge(id, keys, true), NAME, at(thread, 100_000));
        stopped.own.map(|activity| activity.start.nanos)
    }

    #[test]
    fn a_stop_finds_its_start_by_id_then_by_fields_then_by_thread() {
        let mut open = Open::default();
        start(&mut open, 1, Some("//1/1"), ONE, &[]);
        start(&mut open, 2, Some("//1/2"), ONE, &[]);
        assert_eq!(stop(&mut open, Some("//1/1"), OTHER, &[]), Some(1));
        assert_eq!(stop(&mut open, Some("//1/9"), ONE, &[]), None);
        start(&mut open, 3, None, ONE, &[(7, 32)]);
        start(&mut open, 4, None, ONE, &[(7, 33)]);
        assert_eq!(stop(&mut open, None, OTHER, &[(7, 32)]), Some(3));
        assert_eq!(stop(&mut open, None, OTHER, &[(7, 99)]), None);
        start(&mut open, 5, None, OTHER, &[]);
        assert_eq!(stop(&mut open, None, OTHER, &[(8, 1)]), Some(5));
        assert_eq!(stop(&mut open, None, ThreadHandle(3), &[]), None);
        let left: Vec<_> =
            open.finish(200).map(|left| (left.start.nanos, left.nanos, left.bounds)).collect();
        assert_eq!(left, [(2, 198, Bounds::OpenAtEnd), (4, 196, Bounds::OpenAtEnd)]);
    }

    /// Tests the stop of a request that began before the session. Another request has equal fields.
    #[test]
    fn a_stop_with_a_unique_id_does_not_end_an_activity_with_another_one() {
        let mut open = Open::default();
        let path = &[(7, 32)];
        start(&mut open, 1, Some("//1/2"), ONE, path);
        assert_eq!(stop(&mut open, Some("//1/1"), ONE, path), None);
        assert_eq!(stop(&mut open, Some("//1/1"), OTHER, path), None);
        assert_eq!(stop(&mut open, Some("//1/2"), OTHER, path), Some(1));
        // The fields decide if one event has no id, or an id that others may have.
        start(&mut open, 2, Some("//1/3"), ONE, path);
        assert_eq!(stop(&mut open, None, OTHER, path), Some(2));
        start(&mut open, 3, None, ONE, path);
        assert_eq!(stop(&mut open, Some("//1/4"), OTHER, path), Some(3));
        start(&mut open, 4, Some("//1/5"), ONE, path);
        let stop = edge(Some("abc"), path, false);
        assert!(open.stop(&stop, NAME, at(ONE, 100_000)).own.is_some());
    }

    #[test]
    fn a_stop_without_an_id_ends_what_is_around_the_activity_that_has_just_stopped() {
        const INNER: TextHandle = TextHandle(9);
        let mut open = Open::default();
        let inner = |path| edge(Some(path), &[], true);
        let start_both = |open: &mut Open, outer, path, nanos| {
            start(open, nanos, Some(outer), ONE, &[]);
            assert!(open.start(&inner(path), INNER, at(ONE, nanos), ()).is_none());
        };
        start_both(&mut open, "//1/1", "//1/1/4", 1);
        start_both(&mut open, "//1/2", "//1/2/4", 2);
        assert!(open.stop(&inner("//1/1/4"), INNER, at(OTHER, 3)).own.is_some());
        assert_eq!(stop(&mut open, None, OTHER, &[]), Some(1));
        assert_eq!(stop(&mut open, None, OTHER, &[]), None);
        // Another activity has started there.
        assert!(open.stop(&inner("//1/2/4"), INNER, at(OTHER, 4)).own.is_some());
        assert!(open.start(&inner("//1/3"), INNER, at(OTHER, 5), ()).is_none());
        assert_eq!(stop(&mut open, None, OTHER, &[]), None);
    }

    /// Tests a start in an asynchronous method that returns before the stop is written. The path of
    /// the start ends there.
    #[test]
    fn a_stop_with_the_path_of_what_is_around_it_finds_its_start_by_fields() {
        let mut open = Open::default();
        let around = edge(Some("//1/7"), &[], true);
        assert!(open.start(&around, TextHandle(9), at(OTHER, 0), ()).is_none());
        start(&mut open, 1, Some("//1/2/1"), ONE, &[(7, 32)]);
        start(&mut open, 2, Some("//1/2/2"), ONE, &[(7, 33)]);
        assert_eq!(stop(&mut open, Some("//1/2"), ONE, &[(7, 32)]), Some(1), "from before");
        assert_eq!(stop(&mut open, Some("//1/7"), OTHER, &[(7, 33)]), Some(2), "of another name");
        start(&mut open, 3, Some("//1/21"), ONE, &[(7, 32)]);
        assert_eq!(stop(&mut open, Some("//1/2"), ONE, &[(7, 32)]), None);
    }

    #[test]
    fn starts_that_never_stop_do_not_pile_up() {
        let mut open = Open::default();
        let mut lost = 0;
        for nanos in 0..70_000 {
            let name = TextHandle(u32::try_from(nanos % 3).unwrap());
            let gone = open.start(&edge(None, &[], true), name, at(ONE, nanos), ());
            lost += usize::from(gone.is_some_and(|gone| gone.bounds == Bounds::StopLost));
        }
        assert_eq!((lost, open.open), (70_000 - MAX_OPEN_ACTIVITIES, MAX_OPEN_ACTIVITIES));
    }

    #[test]
    fn stops_that_fit_no_start_look_at_a_bounded_number_of_activities() {
        let mut open = Open::default();
        for nanos in 0..65_000 {
            let number = u64::try_from(nanos).unwrap();
            start(&mut open, nanos, None, ONE, &[(7, number)]);
        }
        // Other activities have used up most of the initial steps.
        open.steps_left = 100_000;
        for _ in 0..2000 {
            assert_eq!(stop(&mut open, None, OTHER, &[(7, u64::MAX)]), None);
        }
        assert_eq!((open.cut_short(), open.steps_left), (1999, 0), "the first one looks at all");
        // Recent activities are still found, and so are activities with an id.
        assert_eq!(stop(&mut open, None, ONE, &[(7, 64_990)]), Some(64_990));
        start(&mut open, 70_000, Some("//1/1"), ONE, &[]);
        assert_eq!(stop(&mut open, Some("//1/1"), OTHER, &[]), Some(70_000));
        assert_eq!(open.cut_short(), 1999);
    }

    /// Stops activities that all have the same id, in the order that would be slowest in a list.
    #[test]
    fn activities_of_one_id_go_in_any_order_without_a_search() {
        let mut open = Open::default();
        let same = || edge(Some("abc"), &[], false);
        for name in 0..60_000 {
            assert!(open.start(&same(), TextHandle(name), at(ONE, 0), ()).is_none());
        }
        for name in 0..60_000 {
            assert!(open.stop(&same(), TextHandle(name), at(ONE, 1)).own.is_some());
        }
        assert_eq!((open.open, open.cut_short()), (0, 0));
    }
}
