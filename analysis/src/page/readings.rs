//! Times of threads on a page, as the operating system counted them between two readings.

use crate::hash::HashMap;
use crate::html::Columns;
use crate::model::{Resolved, ThreadInterval, ThreadTimes};
use std::collections::BTreeMap;

/// Maximum number of rows.
const MAX_ROWS: usize = 1 << 14;
/// Minimum length of the slices of time in which intervals are added up, in nanoseconds.
const MIN_SLICE_NANOS: i64 = 1_000_000;

/// Writes when threads ran, were ready and were throttled: a row for each interval between two
/// readings. If there are too many, those of a thread in a slice of time are one row, and the slices
/// become longer until all fit. Threads of the recording, and intervals without such time, have no
/// rows.
pub(super) fn write_readings(times: &ThreadTimes, resolved: &Resolved<'_>, columns: &mut Columns) {
    let Some(processor) = resolved.profile().processor() else { return };
    let threads = processor.threads.iter().filter(|(_, times)| !times.is_recording);
    let numbers: HashMap<u64, u64> = threads
        .filter_map(|(thread, _)| {
            Some((resolved.model().thread(*thread)?.os_thread_id?, u64::from(thread.0)))
        })
        .collect();
    let mut all: Vec<(u64, ThreadInterval)> = Vec::new();
    for (id, intervals) in times.intervals() {
        let Some(thread) = numbers.get(&id) else { continue };
        let used = intervals.into_iter().filter(|it| it.ran_ns > 0 || it.ready_ns > 0);
        all.extend(used.map(|interval| (*thread, interval)));
    }
    let mut slice_nanos = MIN_SLICE_NANOS;
    while all.len() > MAX_ROWS && slice_nanos < i64::MAX {
        slice_nanos = slice_nanos.saturating_mul(2);
        all = added_up(&all, slice_nanos);
    }
    all.sort_by_key(|(thread, interval)| (interval.from_nanos, *thread));
    columns.add_steps("readings.t", all.iter().map(|(_, it)| it.from_nanos));
    columns.add("readings.nanos", all.iter().map(|(_, it)| it.to_nanos.abs_diff(it.from_nanos)));
    columns.add("readings.thread", all.iter().map(|(thread, _)| *thread));
    columns.add("readings.ran", all.iter().map(|(_, it)| it.ran_ns));
    columns.add("readings.ready", all.iter().map(|(_, it)| it.ready_ns));
    columns.add("readings.throttled", all.iter().map(|(_, it)| it.throttled_ns));
}

/// Adds up the intervals of each thread that begin in one slice of time.
fn added_up(all: &[(u64, ThreadInterval)], slice_nanos: i64) -> Vec<(u64, ThreadInterval)> {
    let mut sums: BTreeMap<(u64, i64), ThreadInterval> = BTreeMap::new();
    for (thread, interval) in all {
        let key = (*thread, interval.from_nanos.div_euclid(slice_nanos));
        let sum = sums.entry(key).or_insert(ThreadInterval {
            ran_ns: 0,
            ready_ns: 0,
            throttled_ns: 0,
            ..*interval
        });
        sum.from_nanos = sum.from_nanos.min(interval.from_nanos);
        sum.to_nanos = sum.to_nanos.max(interval.to_nanos);
        sum.ran_ns = sum.ran_ns.saturating_add(interval.ran_ns);
        sum.ready_ns = sum.ready_ns.saturating_add(interval.ready_ns);
        sum.throttled_ns = sum.throttled_ns.saturating_add(interval.throttled_ns);
    }
    sums.into_iter().map(|((thread, _), sum)| (thread, sum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_are_added_up_keep_their_times() {
        let mut all = Vec::new();
        for thread in 0..3_u64 {
            for at in 0..100_i64 {
                let (from_nanos, to_nanos) = (at * 50, at * 50 + 50);
                let (ran_ns, ready_ns, throttled_ns) = (30, thread, 0);
                let interval =
                    ThreadInterval { from_nanos, to_nanos, ran_ns, ready_ns, throttled_ns };
                all.push((thread, interval));
            }
        }
        let sums = added_up(&all, 1000);
        assert_eq!(sums.len(), 15);
        assert_eq!(sums.iter().map(|(_, it)| it.ran_ns).sum::<u64>(), 9000);
        assert_eq!(sums.iter().map(|(_, it)| it.ready_ns).sum::<u64>(), 300);
        assert!(sums.iter().all(|(_, it)| it.to_nanos - it.from_nanos == 1000));
    }
}
