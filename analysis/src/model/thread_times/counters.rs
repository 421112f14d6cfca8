//! Counters over time of the process and of the threads that ran longest.

use super::intervals::add_intervals;
use super::{ThreadInterval, ThreadTimes, TimedThread};
use crate::model::{CounterMark, MarkText, Model, ThreadHandle};
use std::cmp::Reverse;

/// Maximum number of threads that have counters.
const MAX_THREADS: usize = 32;
/// Unit of all values: parts of the time of one processor.
const UNIT: &str = "%";

/// Returns the values of counters over time: how much of a processor the process had, and the threads
/// that ran longest, and how long these were ready without one.
pub(crate) fn counter_marks(times: &ThreadTimes, model: &mut Model) -> Vec<CounterMark> {
    let mut marks = Vec::new();
    let ran = |thread: &&TimedThread| thread.readings.last().map_or(0, |reading| reading.ran_ns);
    let mut threads: Vec<&TimedThread> = times.threads.iter().collect();
    threads.sort_by_key(|thread| Reverse(ran(thread)));
    let first = threads.first().map(|thread| Some(thread.thread_id));
    let process = model.count_events(times.process_id, first.unwrap_or(None), 0);
    let totals = times.process.windows(2).filter_map(|pair| match pair {
        [before, after] => Some(ThreadInterval {
            from_nanos: before.nanos,
            to_nanos: after.nanos,
            ran_ns: after.ran_ns().saturating_sub(before.ran_ns()),
            ..ThreadInterval::default()
        }),
        _ => None,
    });
    add_marks("processor time".to_owned(), process, totals, |total| total.ran_ns, &mut marks);
    for thread in threads.into_iter().take(MAX_THREADS) {
        let handle = model.count_events(times.process_id, Some(thread.thread_id), 0);
        let label = model.thread_label(handle);
        let mut intervals = Vec::new();
        add_intervals(thread, times.earliest_birth(), i64::MIN, &mut intervals);
        let all = intervals.iter().copied();
        add_marks(
            format!("processor time/{label}"),
            handle,
            all.clone(),
            |it| it.ran_ns,
            &mut marks,
        );
        if intervals.iter().any(|interval| interval.ready_ns > 0) {
            add_marks(format!("ready/{label}"), handle, all, |it| it.ready_ns, &mut marks);
        }
    }
    marks
}

/// Adds a value for each interval, from its begin on, and 0 at the end.
fn add_marks(
    name: String,
    thread: ThreadHandle,
    intervals: impl Iterator<Item = ThreadInterval>,
    part: impl Fn(&ThreadInterval) -> u64,
    marks: &mut Vec<CounterMark>,
) {
    let (name, mut end) = (MarkText::from(name), None);
    let mark =
        |nanos, value| CounterMark { name: name.clone(), unit: UNIT.into(), thread, nanos, value };
    for interval in intervals.filter(|interval| interval.to_nanos > interval.from_nanos) {
        let percent = part(&interval) as f64 * 100.0 / interval.elapsed().nanos as f64;
        marks.push(mark(interval.from_nanos, percent));
        end = Some(interval.to_nanos);
    }
    marks.extend(end.map(|end| mark(end, 0.0)));
}
