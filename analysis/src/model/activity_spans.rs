//! Times of chosen activities, to which a filter limits what counts.

use super::thread_spans::{ThreadSpan, ThreadSpans};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Stands for the process in spans that belong to no thread.
const PROCESS: u64 = 0;

/// Times of chosen activities: in which threads worked for them, and from their starts to their
/// stops. [`Filter::spans`](crate::Filter::spans) limits to the former what threads do, and to the
/// latter what concerns the whole process: collections, pauses, counters, the size of the thread
/// pool. [`During`](crate::report::During) computes them.
///
/// ```
/// use nettrace_analysis::Filter;
/// use nettrace_analysis::model::{ActivitySpans, ThreadSpan};
///
/// let worked = [ThreadSpan::new(7, 10, 20), ThreadSpan::new(9, 25, 40)];
/// let spans = ActivitySpans::new(worked.into_iter().collect(), [(10, 40)]);
/// assert!(spans.has_work(Some(9), 30) && !spans.has_work(Some(7), 30));
/// assert!(spans.is_open(30) && !spans.is_open(40));
/// let mut filter = Filter::default();
/// filter.spans = Some(spans.on_all_threads());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ActivitySpans {
    threads: ThreadSpans,
    /// Times from the starts to the stops.
    whole: ThreadSpans,
    is_on_all_threads: bool,
}

impl ActivitySpans {
    /// Puts spans together. `threads`: times in which threads worked for the activities; `whole`:
    /// start and stop of each activity, in nanoseconds since the session's start.
    pub fn new(threads: ThreadSpans, whole: impl IntoIterator<Item = (i64, i64)>) -> ActivitySpans {
        let whole = whole.into_iter().map(|(from, to)| ThreadSpan::new(PROCESS, from, to));
        ActivitySpans { threads, whole: whole.collect(), is_on_all_threads: false }
    }

    /// Accepts what all threads do between the starts and the stops, whatever they work for.
    #[must_use]
    pub fn on_all_threads(self) -> ActivitySpans {
        ActivitySpans { is_on_all_threads: true, ..self }
    }

    /// Returns the times in which threads worked for the activities.
    pub fn threads(&self) -> &ThreadSpans {
        &self.threads
    }

    /// Returns the times from the starts to the stops, sorted, and joined where they overlap. The
    /// end of a time is not included.
    pub fn times(&self) -> impl Iterator<Item = (i64, i64)> {
        self.whole.as_slice().iter().map(|span| (span.from_nanos, span.to_nanos))
    }

    /// Returns the sum of the times from the starts to the stops, in nanoseconds.
    pub fn total_nanos(&self) -> u64 {
        self.times().fold(0, |sum, (from, to)| sum.saturating_add(from.abs_diff(to)))
    }

    /// Returns whether what a thread does at a time is accepted.
    pub fn has_work(&self, thread_id: Option<u64>, nanos: i64) -> bool {
        self.has_work_in(thread_id, nanos, nanos)
    }

    /// Returns whether an activity is open at a time, so that facts of the whole process are
    /// accepted.
    pub fn is_open(&self, nanos: i64) -> bool {
        self.is_open_in(nanos, nanos)
    }

    pub(super) fn has_work_in(&self, thread_id: Option<u64>, first: i64, last: i64) -> bool {
        match thread_id {
            _ if self.is_on_all_threads => self.is_open_in(first, last),
            Some(id) => self.threads.overlap(id, first, last),
            None => false,
        }
    }

    pub(super) fn is_open_in(&self, first: i64, last: i64) -> bool {
        self.whole.overlap(PROCESS, first, last)
    }

    /// Returns whether only the work of some threads is accepted.
    pub(super) fn limits_threads(&self) -> bool {
        !self.is_on_all_threads
    }
}

/// Returns whether events of a type tell about their whole process, whichever thread wrote them:
/// collections, pauses, the thread pool's size, counters. A span of a thread does not limit them.
pub(crate) fn is_of_process(event: &Event<'_>) -> bool {
    match event.known_provider() {
        KnownProvider::Runtime => {
            matches!(event.id(), 1..=9 | 11..=19 | 21..=29 | 33..=60 | 202..=209)
        }
        KnownProvider::Metrics => true,
        KnownProvider::Other => event.name() == "EventCounters",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_the_process_are_accepted_from_start_to_stop_and_work_on_its_threads() {
        let worked = [ThreadSpan::new(7, 10, 20), ThreadSpan::new(7, 30, 40)];
        let spans = ActivitySpans::new(worked.into_iter().collect(), [(30, 45), (10, 31)]);
        assert_eq!(spans.times().collect::<Vec<_>>(), [(10, 45)]);
        let at = |nanos| (spans.has_work(Some(7), nanos), spans.is_open(nanos));
        assert_eq!([at(9), at(15), at(25), at(42)].map(|at| at.0), [false, true, false, false]);
        assert_eq!([at(9), at(15), at(25), at(45)].map(|at| at.1), [false, true, true, false]);
        assert!(!spans.has_work(None, 15) && !spans.has_work(Some(8), 15));
        let spans = spans.on_all_threads();
        assert!(
            spans.has_work(None, 25) && spans.has_work(Some(8), 44) && !spans.has_work(None, 45)
        );
    }
}
