//! Threads that wait for each other's locks.

use crate::model::intervals::nanos_between;
use std::collections::BTreeMap;

/// Threads that wait in a circle: each for a lock that the next thread holds, the last for a lock
/// of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Deadlock {
    /// OS ids of the threads of the circle, in order, beginning with the lowest.
    pub thread_ids: Vec<u64>,
    /// OS ids of threads outside the circle that wait for one of its threads, directly or through
    /// other threads.
    pub victim_ids: Vec<u64>,
    /// Time at which the last thread of the circle began to wait, in nanoseconds since the
    /// session's start.
    pub since_ns: i64,
    /// Time from `since_ns` to the end of the trace, in nanoseconds.
    pub at_least_ns: u64,
}

/// Returns all circles. `waits`: for each waiting thread, the thread that it waits for, and the
/// time at which the wait began; `end_nanos`: end of the trace.
pub(super) fn deadlocks(waits: &BTreeMap<u64, (u64, i64)>, end_nanos: i64) -> Vec<Deadlock> {
    // Each thread waits for at most one other, so each way from thread to thread ends at one that
    // does not wait, or in one circle.
    let mut circle_of: BTreeMap<u64, Option<usize>> = BTreeMap::new();
    let mut circles: Vec<Deadlock> = Vec::new();
    for first in waits.keys() {
        let (mut way, mut at) = (Vec::new(), *first);
        let mut on_way: BTreeMap<u64, usize> = BTreeMap::new();
        // `begin`: index on the way at which the circle begins; the length of the way if the circle
        // is not on it.
        let (found, begin) = loop {
            if let Some(known) = circle_of.get(&at) {
                break (*known, way.len());
            }
            if let Some(begin) = on_way.get(&at).copied() {
                circles.push(circle(way.get(begin..).unwrap_or_default(), waits, end_nanos));
                break (circles.len().checked_sub(1), begin);
            }
            let Some((owner, _)) = waits.get(&at) else { break (None, way.len()) };
            on_way.insert(at, way.len());
            way.push(at);
            at = *owner;
        };
        if let Some(circle) = found.and_then(|index| circles.get_mut(index)) {
            circle.victim_ids.extend(way.get(..begin).unwrap_or_default());
        }
        circle_of.extend(way.into_iter().map(|thread| (thread, found)));
    }
    circles.iter_mut().for_each(|circle| circle.victim_ids.sort_unstable());
    circles
}

fn circle(threads: &[u64], waits: &BTreeMap<u64, (u64, i64)>, end_nanos: i64) -> Deadlock {
    let mut thread_ids = threads.to_vec();
    let lowest = threads.iter().enumerate().min_by_key(|(_, thread)| **thread);
    thread_ids.rotate_left(lowest.map_or(0, |(index, _)| index));
    let since = threads.iter().filter_map(|thread| Some(waits.get(thread)?.1));
    let since_ns = since.max().unwrap_or(0);
    let at_least_ns = nanos_between(since_ns, end_nanos);
    Deadlock { thread_ids, victim_ids: Vec::new(), since_ns, at_least_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_has_its_threads_in_order_and_those_that_wait_for_it_apart() {
        let waits =
            [(3, (2, 30)), (1, (3, 10)), (2, (1, 20)), (9, (1, 5)), (8, (9, 1)), (7, (70, 1))];
        let found = deadlocks(&BTreeMap::from(waits), 100);
        assert_eq!(
            found,
            [Deadlock {
                thread_ids: vec![1, 3, 2],
                victim_ids: vec![8, 9],
                since_ns: 30,
                at_least_ns: 70
            }]
        );
    }

    /// Checks that circles are found in linear time: comparing all pairs of threads would
    /// take minutes.
    #[test]
    fn a_hundred_thousand_threads_in_one_circle_take_as_many_steps() {
        let count = 100_000;
        let waits = (0..count).map(|thread| (thread, ((thread + 1) % count, 0))).collect();
        let found = deadlocks(&waits, 0);
        assert_eq!((found.len(), found[0].thread_ids.len()), (1, count as usize));
    }

    #[test]
    fn there_may_be_several_circles_and_a_thread_that_waits_for_itself() {
        let waits = [(1, (2, 0)), (2, (1, 0)), (5, (5, 0)), (6, (5, 0))];
        let found = deadlocks(&BTreeMap::from(waits), 100);
        let threads: Vec<_> = found.iter().map(|circle| &*circle.thread_ids).collect();
        assert_eq!(threads, [&[1, 2][..], &[5]]);
        assert_eq!(found[1].victim_ids, [6]);
        assert_eq!(deadlocks(&BTreeMap::new(), 0), []);
    }
}
