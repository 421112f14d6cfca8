//! Matches starts with stops of the same key.

use super::{Bounds, Edge, Interval};
use crate::hash::HashMap;
use crate::sorted::SortFew;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::mem::replace;

/// Maximum number of open starts with one key. If there are more, stops were lost.
const MAX_DEPTH: usize = 64;

/// Maximum number of open starts with any key. If there are more, stops were lost, or the trace was
/// crafted.
const MAX_OPEN_STARTS: usize = 1 << 16;

/// Matches starts and stops with the same key, such as a thread or the number of a task.
///
/// Intervals whose stop is missing are passed to `lost`, with [`Bounds::StopLost`].
#[derive(Debug)]
pub(crate) struct Matcher<K, T> {
    open: HashMap<K, BegunIntervals<T>>,
    count: usize,
}

/// Open starts with one key. Nearly always there is one, which takes no allocation.
#[derive(Debug)]
struct BegunIntervals<T> {
    outermost: BegunInterval<T>,
    /// Further ones, from the outside to the inside.
    inner: Vec<BegunInterval<T>>,
}

impl<T> BegunIntervals<T> {
    fn len(&self) -> usize {
        self.inner.len().saturating_add(1)
    }

    fn innermost_mut(&mut self) -> &mut BegunInterval<T> {
        self.inner.last_mut().unwrap_or(&mut self.outermost)
    }

    /// Returns all starts with their places, innermost first.
    fn inside_out(&self) -> impl Iterator<Item = (usize, &BegunInterval<T>)> {
        let inner = self.inner.iter().enumerate().rev();
        inner
            .map(|(place, begun)| (place.saturating_add(1), begun))
            .chain(std::iter::once((0, &self.outermost)))
    }

    /// Removes the start at a place, if there is another one to remain.
    fn remove(&mut self, place: usize) -> Option<BegunInterval<T>> {
        if place > self.inner.len() || self.inner.is_empty() {
            return None;
        }
        let removed = self.inner.remove(place.saturating_sub(1));
        Some(if place == 0 { replace(&mut self.outermost, removed) } else { removed })
    }

    fn into_iter(self) -> impl Iterator<Item = BegunInterval<T>> {
        std::iter::once(self.outermost).chain(self.inner)
    }
}

#[derive(Debug)]
struct BegunInterval<T> {
    at: Edge,
    what: T,
}

impl<T> BegunInterval<T> {
    fn lost(self) -> Interval<T> {
        Interval::without_stop(self.at, self.what)
    }
}

impl<K, T> Default for Matcher<K, T> {
    fn default() -> Matcher<K, T> {
        Matcher { open: HashMap::default(), count: 0 }
    }
}

impl<K: Copy + Eq + Hash + Ord, T> Matcher<K, T> {
    /// Starts an interval that lies inside the open intervals with the same key.
    pub(crate) fn start_inside(
        &mut self,
        key: K,
        at: Edge,
        what: T,
        mut lost: impl FnMut(Interval<T>),
    ) {
        // The new interval is dropped, because finding the oldest would need an index by time that
        // real traces never use.
        if self.count >= MAX_OPEN_STARTS {
            lost(Interval::without_stop(at, what));
            return;
        }
        let begun = BegunInterval { at, what };
        match self.open.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(BegunIntervals { outermost: begun, inner: Vec::new() });
            }
            Entry::Occupied(mut open) => {
                let open = open.get_mut();
                open.inner.push(begun);
                if open.len() > MAX_DEPTH {
                    // At this depth, the stop of the outermost interval is long lost.
                    open.remove(0).into_iter().for_each(|begun| lost(begun.lost()));
                    return;
                }
            }
        }
        self.count = self.count.saturating_add(1);
    }

    /// Starts an interval that can only be open once. If one is already open, its stop was lost.
    pub(crate) fn start_again(
        &mut self,
        key: K,
        at: Edge,
        what: T,
        mut lost: impl FnMut(Interval<T>),
    ) {
        self.lose(key, &mut lost);
        self.start_inside(key, at, what, lost);
    }

    /// Ends all open intervals with a key, because their stops were lost.
    pub(crate) fn lose(&mut self, key: K, lost: impl FnMut(Interval<T>)) {
        if self.open.is_empty() {
            return;
        }
        let Some(open) = self.open.remove(&key) else { return };
        self.count = self.count.saturating_sub(open.len());
        open.into_iter().map(BegunInterval::lost).for_each(lost);
    }

    /// Moves the open intervals with a key to the key `next`. Intervals that were open with `next`
    /// have lost their stops.
    pub(crate) fn go_on_as(&mut self, key: K, next: K, lost: impl FnMut(Interval<T>)) {
        self.lose(next, lost);
        if let Some(open) = self.open.remove(&key) {
            self.open.insert(next, open);
        }
    }

    /// Returns the innermost open interval with a key.
    pub(crate) fn innermost(&mut self, key: K) -> Option<(Edge, &mut T)> {
        let begun = self.open.get_mut(&key)?.innermost_mut();
        Some((begun.at, &mut begun.what))
    }

    /// Returns all open intervals, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.open.values().flat_map(BegunIntervals::inside_out).map(|(_, begun)| &begun.what)
    }

    /// Returns whether no interval is open.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns whether an interval is open with a key.
    pub(crate) fn is_open(&self, key: K) -> bool {
        self.open.contains_key(&key)
    }

    /// Ends the innermost open interval with a key, or the one whose length best matches the
    /// duration that the stop reports. Intervals inside the ended one have lost their stops.
    /// Returns `None` if none is open; see [`Interval::without_start`].
    pub(crate) fn stop(
        &mut self,
        key: K,
        at: Edge,
        reported: Option<u64>,
        lost: impl FnMut(Interval<T>),
    ) -> Option<Interval<T>> {
        // The start nearest to "stop minus duration" is right even after a lost stop. Without a
        // duration, only nesting is known.
        let place = |open: &BegunIntervals<T>| {
            let Some(reported) = reported else { return Some(open.inner.len()) };
            let began = at.nanos.saturating_sub_unsigned(reported);
            let distance = |begun: &BegunInterval<T>| begun.at.nanos.abs_diff(began);
            // The innermost of equally good matches wins.
            let nearest = open.inside_out().min_by_key(|(_, begun)| distance(begun));
            nearest.map(|(place, _)| place)
        };
        self.stop_at(key, place, at, reported, lost)
    }

    /// Ends the innermost open interval with a key and with this subject. Intervals inside the
    /// ended one have lost their stops. Returns `None` if there is no such interval.
    pub(crate) fn stop_of(
        &mut self,
        key: K,
        what: &T,
        at: Edge,
        lost: impl FnMut(Interval<T>),
    ) -> Option<Interval<T>>
    where
        T: PartialEq,
    {
        let place = |open: &BegunIntervals<T>| {
            open.inside_out().find(|(_, begun)| begun.what == *what).map(|(place, _)| place)
        };
        self.stop_at(key, place, at, None, lost)
    }

    /// Ends the open interval whose place `place` returns.
    fn stop_at(
        &mut self,
        key: K,
        place: impl FnOnce(&BegunIntervals<T>) -> Option<usize>,
        at: Edge,
        reported: Option<u64>,
        mut lost: impl FnMut(Interval<T>),
    ) -> Option<Interval<T>> {
        let Entry::Occupied(mut entry) = self.open.entry(key) else { return None };
        let (begun, inner) = match place(entry.get())? {
            0 => {
                let BegunIntervals { outermost, inner } = entry.remove();
                (outermost, inner)
            }
            place => {
                let open = entry.get_mut();
                let inner = open.inner.split_off(place);
                (open.inner.pop()?, inner)
            }
        };
        self.count = self.count.saturating_sub(inner.len().saturating_add(1));
        inner.into_iter().rev().for_each(|begun| lost(begun.lost()));
        Some(Interval::whole(begun.at, at, reported, begun.what))
    }

    /// Ends one of several independent open intervals with a key, such as those of threads that
    /// wait for the same task. It is the innermost one of the stop's thread, or else the oldest
    /// one.
    pub(crate) fn stop_one(&mut self, key: K, at: Edge) -> Option<Interval<T>> {
        let Entry::Occupied(mut entry) = self.open.entry(key) else { return None };
        let own = entry.get().inside_out().find(|(_, begun)| begun.at.thread == at.thread);
        let place = own.map_or(0, |(place, _)| place);
        let begun = match entry.get_mut().remove(place) {
            Some(begun) => begun,
            None => entry.remove().outermost,
        };
        self.count = self.count.saturating_sub(1);
        Some(Interval::whole(begun.at, at, None, begun.what))
    }

    /// Takes the intervals that are still open at the end of the trace, in the order of their
    /// starts.
    pub(crate) fn finish(&mut self, nanos: i64) -> impl Iterator<Item = Interval<T>> + use<K, T> {
        self.count = 0;
        let open = std::mem::take(&mut self.open).into_iter();
        let mut open: Vec<(K, BegunInterval<T>)> =
            open.flat_map(|(key, open)| open.into_iter().map(move |begun| (key, begun))).collect();
        // The sort is stable: intervals with equal start and key keep their order.
        open.sort_few_by_key(|(key, begun)| (begun.at.nanos, *key));
        open.into_iter().map(move |(_, begun)| {
            let interval = Interval::whole(begun.at, Edge { nanos, ..begun.at }, None, begun.what);
            Interval { bounds: Bounds::OpenAtEnd, ..interval }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ThreadHandle;

    fn at(thread: u32, nanos: i64) -> Edge {
        Edge { thread: ThreadHandle(thread), writer: thread.into(), nanos }
    }

    fn no_loss<T: std::fmt::Debug>(lost: Interval<T>) {
        panic!("{lost:?}");
    }

    #[test]
    fn what_began_last_on_a_thread_ends_first() {
        let mut matcher = Matcher::default();
        for (thread, nanos, what) in [(1, 10, 'a'), (2, 11, 'x'), (1, 12, 'b')] {
            matcher.start_inside(thread, at(thread, nanos), what, no_loss);
        }
        let mut stop = |thread, nanos| {
            let interval = matcher.stop(thread, at(thread, nanos), None, no_loss)?;
            Some((interval.start.nanos, interval.nanos, interval.what))
        };
        assert_eq!(stop(1, 20), Some((12, 8, 'b')));
        assert_eq!(stop(1, 21), Some((10, 11, 'a')));
        assert_eq!(stop(1, 22), None);
        assert_eq!(stop(2, 23), Some((11, 12, 'x')));
    }

    #[test]
    fn a_reported_duration_finds_the_start_across_a_lost_stop() {
        let (mut matcher, mut lost) = (Matcher::default(), Vec::new());
        matcher.start_inside(1, at(1, 10), "ends", no_loss);
        matcher.start_inside(1, at(1, 50), "lost", no_loss);
        let interval =
            matcher.stop(1, at(1, 100), Some(89), |interval| lost.push(interval)).unwrap();
        assert_eq!((interval.start.nanos, interval.nanos, interval.what), (10, 89, "ends"));
        assert_eq!(
            (lost[0].what, lost[0].bounds, lost[0].nanos, lost.len()),
            ("lost", Bounds::StopLost, 0, 1)
        );
        matcher.start_inside(1, at(1, 110), "open", no_loss);
        let open: Vec<_> =
            matcher.finish(150).map(|open| (open.what, open.bounds, open.nanos)).collect();
        assert_eq!(open, [("open", Bounds::OpenAtEnd, 40)]);
    }

    #[test]
    fn an_interval_has_the_duration_of_its_stop_and_ends_with_it() {
        let mut matcher = Matcher::default();
        let mut took = |reported| {
            matcher.start_inside(1, at(1, 10), (), no_loss);
            let interval = matcher.stop(1, at(1, 30), reported, no_loss).unwrap();
            (interval.start.nanos, interval.measured_nanos().unwrap())
        };
        assert_eq!([took(None), took(Some(17)), took(Some(25))], [(10, 20), (10, 17), (5, 25)]);
        assert_eq!(took(Some(u64::MAX)).1, u64::MAX);
    }

    #[test]
    fn a_unique_interval_that_starts_again_has_lost_its_stop() {
        let (mut matcher, mut lost) = (Matcher::default(), Vec::new());
        matcher.start_again((1, 7), at(1, 10), 'a', no_loss);
        matcher.start_again((1, 7), at(1, 20), 'b', |interval: Interval<char>| lost.push(interval));
        assert_eq!(lost, [Interval::without_stop(at(1, 10), 'a')]);
        assert_eq!(matcher.innermost((1, 7)), Some((at(1, 20), &mut 'b')));
        let interval = matcher.stop((1, 7), at(2, 25), None, no_loss).unwrap();
        assert_eq!((interval.what, interval.nanos, interval.stop), ('b', 5, at(2, 25)));
    }

    #[test]
    fn of_several_threads_that_wait_for_one_task_each_ends_its_own_wait() {
        let mut matcher = Matcher::default();
        for (thread, nanos) in [(1, 10), (2, 11), (3, 12)] {
            matcher.start_inside(7, at(thread, nanos), thread, no_loss);
        }
        // The last one continues on a thread that does not wait.
        let mut stop = |thread, nanos| {
            let interval = matcher.stop_one(7, at(thread, nanos))?;
            Some((interval.what, interval.nanos))
        };
        assert_eq!(
            [stop(2, 20), stop(4, 30), stop(4, 40)],
            [Some((2, 9)), Some((1, 20)), Some((3, 28))]
        );
        assert_eq!(stop(4, 50), None);
        assert!(!matcher.is_open(7));
    }

    #[test]
    fn stops_that_never_come_do_not_pile_up() {
        let (mut matcher, mut lost) = (Matcher::default(), 0);
        (0..1000).for_each(|nanos| matcher.start_inside(1, at(1, nanos), (), |_| lost += 1));
        assert_eq!((lost, matcher.finish(1000).count()), (1000 - MAX_DEPTH, MAX_DEPTH));
        // Starts with many keys do not pile up, either. There is room again after their stops.
        for _ in 0..2 {
            let mut lost = 0;
            (0..70_000).for_each(|key| matcher.start_again(key, at(1, 0), (), |_| lost += 1));
            assert_eq!(
                (lost, matcher.finish(1).count()),
                (70_000 - MAX_OPEN_STARTS, MAX_OPEN_STARTS)
            );
        }
    }

    #[test]
    fn a_stop_without_a_start_has_the_duration_it_reports() {
        let reported = Interval::without_start(at(1, 50), Some(20), ());
        assert_eq!((reported.start.nanos, reported.measured_nanos()), (30, Some(20)));
        let untold = Interval::without_start(at(1, 50), None, ());
        assert_eq!(
            (untold.start.nanos, untold.measured_nanos(), untold.bounds),
            (50, None, Bounds::StartLost)
        );
    }
}
