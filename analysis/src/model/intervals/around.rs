//! Finds the open activity with an id, and the one around it.

use super::activities::{
    MAX_ANCESTORS, MAX_WITH_ONE_ID, OpenActivities, OpenActivity, OpenActivityKey,
};
use super::shared_stops::MAX_SHARED;
use crate::model::ThreadHandle;
use crate::model::activity_id::ActivityId;

impl<T> OpenActivities<T> {
    /// Returns the key of the activity that an event of a thread belongs to, by its activity id:
    /// the activity with the id, or else the nearest one around it. Only activities that `counts`
    /// accepts are considered.
    pub(crate) fn of_id(
        &self,
        id: &ActivityId,
        thread: ThreadHandle,
        counts: impl Fn(&T) -> bool,
    ) -> Option<OpenActivityKey> {
        let counts = |open: &OpenActivity<T>| counts(&open.what);
        id.and_around().take(MAX_ANCESTORS).find_map(|id| self.find(&id, thread, counts))
    }

    /// Returns the keys of the activities that an event may belong to, by its activity id: those with
    /// the id, or else those with the nearest id around it. Only activities that `counts` accepts
    /// are considered.
    pub(crate) fn all_of_id(
        &self,
        id: &ActivityId,
        counts: impl Fn(&T) -> bool,
    ) -> Vec<OpenActivityKey> {
        let all = |id: ActivityId| -> Vec<OpenActivityKey> {
            let with_id = self.ids.all(&id).take(MAX_WITH_ONE_ID);
            with_id.filter(|it| self.at(*it).is_some_and(|open| counts(&open.what))).collect()
        };
        let mut nearest = id.and_around().take(MAX_ANCESTORS).map(all);
        nearest.find(|all| !all.is_empty()).unwrap_or_default()
    }

    /// Returns the key of the parent of a new activity: the activity `named` in the start, or else
    /// the nearest one on the path in `id`. `thread`: thread of the start.
    pub(crate) fn parent_place(
        &self,
        id: Option<&ActivityId>,
        named: Option<&ActivityId>,
        thread: ThreadHandle,
    ) -> Option<OpenActivityKey> {
        self.parent_among(id, named, thread, |_| true)
    }

    /// Returns the key of the parent of a new activity. Only activities that `counts` accepts are
    /// considered.
    pub(crate) fn parent_among(
        &self,
        id: Option<&ActivityId>,
        named: Option<&ActivityId>,
        thread: ThreadHandle,
        counts: impl Fn(&T) -> bool,
    ) -> Option<OpenActivityKey> {
        let counts = |open: &OpenActivity<T>| counts(&open.what);
        let named = named.and_then(|named| self.find(named, thread, counts));
        named.or_else(|| {
            id?.around().take(MAX_ANCESTORS).find_map(|around| self.find(&around, thread, counts))
        })
    }

    /// Returns the key of the parent of a new activity, as [`OpenActivities::parent_place`] does, and
    /// the one that [`OpenActivities::parent_among`] finds. Both are found in one walk.
    pub(crate) fn parents(
        &self,
        id: Option<&ActivityId>,
        named: Option<&ActivityId>,
        thread: ThreadHandle,
        counts: impl Fn(&T) -> bool,
    ) -> (Option<OpenActivityKey>, Option<OpenActivityKey>) {
        let around = id.into_iter().flat_map(|id| id.around().take(MAX_ANCESTORS));
        let (mut any, mut among) = (None, None);
        for id in named.cloned().into_iter().chain(around) {
            let is_counted =
                |place: &OpenActivityKey| self.at(*place).is_some_and(|open| counts(&open.what));
            if let Some(only) = self.ids.only(&id) {
                any = any.or(Some(only));
                among = among.or_else(|| Some(only).filter(is_counted));
            } else {
                any = any.or_else(|| self.find(&id, thread, |_| true));
                among = among.or_else(|| self.find(&id, thread, |open| counts(&open.what)));
            }
            if any.is_some() && among.is_some() {
                break;
            }
        }
        (any, among)
    }

    /// Returns the key of the newest open activity with an id, among those that `counts` accepts.
    /// If the id may repeat and several are open, this is the newest that began on the thread:
    /// nothing tells whether an event of another thread belongs to it.
    pub(super) fn find(
        &self,
        id: &ActivityId,
        thread: ThreadHandle,
        counts: impl Fn(&OpenActivity<T>) -> bool,
    ) -> Option<OpenActivityKey> {
        let open = |place: &OpenActivityKey| self.at(*place).filter(|open| counts(open));
        if let Some(only) = self.ids.only(id) {
            return open(&only).map(|_| only);
        }
        let mut all = self.ids.all(id).take(MAX_SHARED).filter(|place| open(place).is_some());
        let newest = all.next()?;
        let may_repeat = self.at(newest)?.may_repeat_as(id);
        let mut others = all.take(MAX_WITH_ONE_ID).peekable();
        if !may_repeat || others.peek().is_none() {
            return Some(newest);
        }
        let is_here =
            |place: &OpenActivityKey| open(place).is_some_and(|it| it.at.thread == thread);
        std::iter::once(newest).chain(others).find(is_here)
    }
}

#[cfg(test)]
mod tests {
    use super::super::activities::tests::{ONE, OTHER, Open, at, edge, start};
    use super::*;
    use crate::model::TextHandle;

    #[test]
    fn a_parent_is_named_or_on_the_path() {
        let mut open = Open::default();
        start(&mut open, 1, Some("//1/1"), ONE, &[]);
        start(&mut open, 2, Some("abc"), ONE, &[]);
        let parent = |path: Option<&str>, named: Option<&str>| {
            let (path, named) = (path.map(ActivityId::for_test), named.map(ActivityId::for_test));
            let place = open.parent_place(path.as_ref(), named.as_ref(), ONE)?;
            open.at(place).map(|activity| activity.at.nanos)
        };
        assert_eq!(parent(Some("//1/1/4/2"), None), Some(1));
        assert_eq!(parent(Some("//1/1"), Some("abc")), Some(2));
        assert_eq!(parent(Some("//1/1/1"), Some("gone")), Some(1));
        assert_eq!((parent(Some("//1/2"), None), parent(None, None)), (None, None));
    }

    #[test]
    fn the_parent_and_the_nearest_that_counts_are_found_in_one_walk_as_alone() {
        let mut open = OpenActivities::<bool>::default();
        // The runtime lost a number of the repeated path.
        let starts = ["//1", "//1/1", "//1/2", "//1/1/0", "//1/1/0", "//1/1/0", "abc", "def"];
        for (nanos, text) in (0..).zip(starts) {
            let mut start = edge(Some(text), &[], true);
            start.may_repeat = text.ends_with('0');
            let thread = if nanos % 2 == 0 { ONE } else { OTHER };
            let _ = open.start(&start, TextHandle(7), at(thread, nanos), nanos % 3 == 1);
        }
        let id = |text: &str| Some(ActivityId::for_test(text));
        let (mut parents, mut counted) = (0, 0);
        for path in ["//1/1/0/1", "//1/1/1", "//1/2/1/1", "//1/3", "//2/1", "x"].map(id) {
            for named in [None, id("abc"), id("def"), id("//1/1/0"), id("gone")] {
                for thread in [ONE, OTHER, ThreadHandle(9)] {
                    let (path, named) = (path.as_ref(), named.as_ref());
                    let any = open.parent_place(path, named, thread);
                    let among = open.parent_among(path, named, thread, |counts| *counts);
                    let both = open.parents(path, named, thread, |counts| *counts);
                    assert_eq!(both, (any, among), "{path:?} {named:?} {thread:?}");
                    parents += usize::from(any.is_some());
                    counted += usize::from(among.is_some() && among != any);
                }
            }
        }
        assert!(parents > 50 && counted > 9, "{parents} {counted}");
    }
}
