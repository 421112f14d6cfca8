//! Matches the stops of activities with their starts.

use super::activity_ids::ActivityIds;
use super::{Bounds, Edge, Interval};
use crate::model::activity_edge::{ActivityEdge, hash_of, id_text, is_failure};
use crate::model::activity_path::parent_path;
use crate::model::{TextHandle, ThreadHandle};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of open activities. If there are more, the oldest activity with the new one's
/// name is dropped.
const MAX_OPEN_ACTIVITIES: usize = 65_536;
/// Maximum number of activities with the same id among which the failed one is searched.
const MAX_WITH_ONE_ID: usize = 32;
/// Maximum number of ancestors on a path among which an open parent is searched.
const MAX_ANCESTORS: usize = 32;
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
    pub(crate) id: Option<String>,
    /// Whether no other open activity has the same id.
    is_id_unique: bool,
    /// Path in the activity id of the start event, if it differs from `id`.
    pub(crate) path: Option<String>,
    /// Thread and time of the start.
    pub(crate) at: Edge,
    /// Hashes of the names and values of the start event's fields.
    keys: Vec<(u64, u64)>,
    /// Whether no later activity with the same name was open on the thread when it stopped.
    pub(crate) is_innermost: bool,
    pub(crate) what: T,
}

impl<T> OpenActivity<T> {
    fn lost(self) -> Interval<OpenActivity<T>> {
        Interval::without_stop(self.at, self)
    }

    /// Returns whether this activity has a unique id that is not a path below `path`. An id below
    /// `path` is possible if the start was written in an asynchronous flow that the stop did not
    /// see. Then the stop has the path of the activity around both.
    fn is_elsewhere(&self, path: &str) -> bool {
        let id = self.id.as_deref().filter(|_| self.is_id_unique);
        id.is_some_and(|id| !id.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Returns the ids by which other events may refer to the activity.
    fn ids(&self) -> impl Iterator<Item = &String> {
        self.id.iter().chain(self.path.as_ref().filter(|path| self.id.as_ref() != Some(path)))
    }
}

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
    // any order.
    by_name: HashMap<TextHandle, BTreeMap<u64, OpenActivity<T>>>,
    ids: ActivityIds,
    started: u64,
    open: usize,
    /// Number of steps that searches among open activities may still take.
    steps_left: u64,
    cut_short: u64,
}

impl<T> Default for OpenActivities<T> {
    fn default() -> OpenActivities<T> {
        OpenActivities {
            by_name: HashMap::new(),
            ids: ActivityIds::default(),
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
    ) -> Option<Interval<OpenActivity<T>>> {
        self.steps_left = self.steps_left.saturating_add(STEPS_EACH);
        let lost = match &edge.id {
            Some(id) if edge.is_id_unique => {
                self.ids.newest_of(id, name).map(|number| (name, number))
            }
            _ => None,
        };
        // The oldest of all names could only be found by one more index.
        let lost = lost.or_else(|| {
            let of_name = self.by_name.get(&name).filter(|_| self.open >= MAX_OPEN_ACTIVITIES);
            of_name.and_then(|rows| rows.keys().next().map(|number| (name, *number)))
        });
        let lost = lost.and_then(|place| self.remove(place)).map(OpenActivity::lost);
        let activity = OpenActivity {
            name,
            provider: edge.provider,
            number: self.started,
            id: edge.id.clone(),
            is_id_unique: edge.is_id_unique,
            path: edge.path.clone(),
            at,
            keys: edge.keys.clone(),
            is_innermost: true,
            what,
        };
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

    fn remove(&mut self, (name, number): OpenActivityKey) -> Option<OpenActivity<T>> {
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
    /// 2. else with equal values in all common fields of start and stop, preferably on the
    ///    stop's thread; not if both have paths, and the stop's path is unknown because its
    ///    activity began before the session,
    /// 3. else on the stop's thread, unless both have ids.
    pub(crate) fn stop(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        at: Edge,
    ) -> Option<Interval<OpenActivity<T>>> {
        self.stop_with(edge, name, at, Hint::default())
    }

    /// Takes the activity that a stop ends, as [`OpenActivities::stop`] does, with a hint about a
    /// stop without an id.
    pub(crate) fn stop_with(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        at: Edge,
        hint: Hint,
    ) -> Option<Interval<OpenActivity<T>>> {
        self.steps_left = self.steps_left.saturating_add(STEPS_EACH);
        let with_id = self.number_with_id(edge, name).map(|number| (number, false));
        let hinted = || {
            let (of_name, number) = hint.ends.filter(|_| edge.id.is_none())?;
            let is_open = of_name == name && self.at((name, number)).is_some();
            is_open.then_some((number, false))
        };
        let found = with_id.or_else(hinted);
        let (number, is_innermost) =
            found.or_else(|| self.number_by_fields(edge, name, at.thread, hint))?;
        let activity = OpenActivity { is_innermost, ..self.remove((name, number))? };
        Some(Interval::whole(activity.at, at, edge.reported_nanos, activity))
    }

    /// Returns the number of the most recent activity with the stop's id whose fields agree with
    /// the stop. Without such an activity, returns that of the most recent one with the id.
    fn number_with_id(&mut self, edge: &ActivityEdge, name: TextHandle) -> Option<u64> {
        let (rows, id) = (self.by_name.get(&name)?, edge.id.as_ref()?);
        let mut numbers = self.ids.all_of(id, name);
        let newest = numbers.next()?;
        for number in std::iter::once(newest).chain(numbers) {
            let Some(left) = self.steps_left.checked_sub(STEPS_BY_ID) else {
                self.cut_short = self.cut_short.saturating_add(1);
                break;
            };
            self.steps_left = left;
            if rows.get(&number).and_then(|row| agree(&row.keys, &edge.keys)) == Some(true) {
                return Some(number);
            }
        }
        // Most starts and stops have no field in common, so the id decides.
        Some(newest)
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
        let id = edge.id.as_deref().filter(|_| edge.is_id_unique);
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

    /// Returns the newest open activity with an id.
    pub(crate) fn with_id(&self, id: &str) -> Option<&OpenActivity<T>> {
        self.at(self.ids.newest(id)?)
    }

    pub(crate) fn at(&self, (name, number): OpenActivityKey) -> Option<&OpenActivity<T>> {
        self.by_name.get(&name)?.get(&number)
    }

    pub(crate) fn at_mut(
        &mut self,
        (name, number): OpenActivityKey,
    ) -> Option<&mut OpenActivity<T>> {
        self.by_name.get_mut(&name)?.get_mut(&number)
    }

    /// Returns the key that the next activity to start gets.
    pub(crate) fn next_place(&self, name: TextHandle) -> OpenActivityKey {
        (name, self.started)
    }

    /// Returns the activity whose failure an event reports that is neither a start nor a stop. This
    /// is the newest activity with the event's id and provider.
    pub(crate) fn failed_mut(&mut self, event: &Event<'_>) -> Option<&mut OpenActivity<T>> {
        if event.known_provider() != KnownProvider::Other || !is_failure(event) {
            return None;
        }
        let id = event.activity_id().filter(|id| !id.is_zero())?;
        let provider = hash_of(event.provider());
        let is_its = |open: &OpenActivity<T>| open.provider == provider;
        let all = self.ids.all(&id_text(id, event.process_id()));
        let mut newest = all.take(MAX_WITH_ONE_ID);
        let place = newest.find(|place| self.at(*place).is_some_and(is_its));
        drop(newest);
        self.at_mut(place?)
    }

    /// Returns the parent of a new activity: the activity `named` in the start, or else the nearest
    /// one on the path in `id`.
    pub(crate) fn parent(&self, id: Option<&str>, named: Option<&str>) -> Option<&OpenActivity<T>> {
        self.at(self.parent_place(id, named)?)
    }

    /// Returns the key of the parent of a new activity: see [`OpenActivities::parent`].
    pub(crate) fn parent_place(
        &self,
        id: Option<&str>,
        named: Option<&str>,
    ) -> Option<OpenActivityKey> {
        self.parent_among(id, named, |_| true)
    }

    /// Returns the key of the parent of a new activity. Only activities that `counts` accepts are
    /// considered.
    pub(crate) fn parent_among(
        &self,
        id: Option<&str>,
        named: Option<&str>,
        counts: impl Fn(&T) -> bool,
    ) -> Option<OpenActivityKey> {
        if let Some(parent) = named.and_then(|named| self.newest_among(named, &counts)) {
            return Some(parent);
        }
        let mut path = id.filter(|id| id.starts_with('/'))?;
        for _ in 0..MAX_ANCESTORS {
            path = parent_path(path)?;
            if let Some(parent) = self.newest_among(path, &counts) {
                return Some(parent);
            }
        }
        None
    }

    /// Returns the key of the newest open activity with an id, among those that `counts` accepts.
    pub(crate) fn newest_among(
        &self,
        id: &str,
        counts: impl Fn(&T) -> bool,
    ) -> Option<OpenActivityKey> {
        self.ids.all(id).find(|place| self.at(*place).is_some_and(|open| counts(&open.what)))
    }

    /// Takes the activities still open when the trace ends, in the order of their starts.
    pub(crate) fn finish(
        &mut self,
        nanos: i64,
    ) -> impl Iterator<Item = Interval<OpenActivity<T>>> + use<T> {
        let open = std::mem::take(self).by_name.into_values().flatten();
        let rows: BTreeMap<u64, OpenActivity<T>> = open.collect();
        rows.into_values().map(move |activity| {
            let stop = Edge { nanos, ..activity.at };
            let interval = Interval::whole(activity.at, stop, None, activity);
            Interval { bounds: Bounds::OpenAtEnd, ..interval }
        })
    }
}

/// Returns whether the common fields of start and stop are equal; `None` if they have no fields in
/// common.
fn agree(start: &[(u64, u64)], stop: &[(u64, u64)]) -> Option<bool> {
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

    const NAME: TextHandle = TextHandle(0);
    const ONE: ThreadHandle = ThreadHandle(1);
    const OTHER: ThreadHandle = ThreadHandle(2);

    type Open = OpenActivities<()>;

    fn at(thread: ThreadHandle, nanos: i64) -> Edge {
        Edge { thread, writer: 1, nanos }
    }

    fn start(
        open: &mut Open,
        nanos: i64,
        id: Option<&str>,
        thread: ThreadHandle,
        keys: &[(u64, u64)],
    ) {
        assert!(
            open.start(&ActivityEdge::bare(id, keys, true), NAME, at(thread, nanos), ()).is_none()
        );
    }

    fn stop(
        open: &mut Open,
        id: Option<&str>,
        thread: ThreadHandle,
        keys: &[(u64, u64)],
    ) -> Option<i64> {
        let stopped = open.stop(&ActivityEdge::bare(id, keys, true), NAME, at(thread, 100_000));
        stopped.map(|activity| activity.start.nanos)
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
        let edge = ActivityEdge::bare(Some("abc"), path, false);
        assert!(open.stop(&edge, NAME, at(ONE, 100_000)).is_some());
    }

    /// Tests a start in an asynchronous method that returns before the stop is written. The path of
    /// the start ends there.
    #[test]
    fn a_stop_with_the_path_of_what_is_around_it_finds_its_start_by_fields() {
        let mut open = Open::default();
        let around = ActivityEdge::bare(Some("//1/7"), &[], true);
        assert!(open.start(&around, TextHandle(9), at(OTHER, 0), ()).is_none());
        start(&mut open, 1, Some("//1/2/1"), ONE, &[(7, 32)]);
        start(&mut open, 2, Some("//1/2/2"), ONE, &[(7, 33)]);
        assert_eq!(stop(&mut open, Some("//1/2"), ONE, &[(7, 32)]), Some(1), "from before");
        assert_eq!(stop(&mut open, Some("//1/7"), OTHER, &[(7, 33)]), Some(2), "of another name");
        start(&mut open, 3, Some("//1/21"), ONE, &[(7, 32)]);
        assert_eq!(stop(&mut open, Some("//1/2"), ONE, &[(7, 32)]), None);
    }

    #[test]
    fn a_parent_is_named_or_on_the_path() {
        let mut open = Open::default();
        start(&mut open, 1, Some("//1/1"), ONE, &[]);
        start(&mut open, 2, Some("abc"), ONE, &[]);
        let parent = |id, named| open.parent(id, named).map(|activity| activity.at.nanos);
        assert_eq!(parent(Some("//1/1/4/2"), None), Some(1));
        assert_eq!(parent(Some("//1/1"), Some("abc")), Some(2));
        assert_eq!(parent(Some("//1/1/1"), Some("gone")), Some(1));
        assert_eq!((parent(Some("//1/2"), None), parent(None, None)), (None, None));
    }

    #[test]
    fn starts_that_never_stop_do_not_pile_up() {
        let mut open = Open::default();
        let mut lost = 0;
        for nanos in 0..70_000 {
            let name = TextHandle(u32::try_from(nanos % 3).unwrap());
            let gone = open.start(&ActivityEdge::bare(None, &[], true), name, at(ONE, nanos), ());
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
        let edge = || ActivityEdge::bare(Some("abc"), &[], false);
        for name in 0..60_000 {
            assert!(open.start(&edge(), TextHandle(name), at(ONE, 0), ()).is_none());
        }
        for name in 0..60_000 {
            assert!(open.stop(&edge(), TextHandle(name), at(ONE, 1)).is_some());
        }
        assert_eq!((open.open, open.cut_short()), (0, 0));
    }
}
