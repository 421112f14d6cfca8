//! Times in which threads worked for activities.

/// A time in which a thread worked for an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadSpan {
    /// OS id of the thread.
    pub thread_id: u64,
    /// Start, in nanoseconds since the session's start.
    pub from_nanos: i64,
    /// End, in nanoseconds since the session's start. The end itself is not included.
    pub to_nanos: i64,
}

impl ThreadSpan {
    /// Creates the span of a thread from one time up to another.
    pub fn new(thread_id: u64, from_nanos: i64, to_nanos: i64) -> ThreadSpan {
        ThreadSpan { thread_id, from_nanos, to_nanos }
    }
}

/// Spans of threads, by thread and time. The spans of one thread do not overlap; they are joined
/// where the collected ones do.
///
/// ```
/// use nettrace_analysis::model::{ThreadSpan, ThreadSpans};
///
/// let spans = [ThreadSpan::new(7, 20, 40), ThreadSpan::new(7, 10, 30), ThreadSpan::new(3, 15, 25)];
/// let spans: ThreadSpans = spans.into_iter().collect();
/// assert_eq!(spans.as_slice(), [ThreadSpan::new(3, 15, 25), ThreadSpan::new(7, 10, 40)]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ThreadSpans(Vec<ThreadSpan>);

impl FromIterator<ThreadSpan> for ThreadSpans {
    fn from_iter<I: IntoIterator<Item = ThreadSpan>>(spans: I) -> ThreadSpans {
        let mut sorted: Vec<ThreadSpan> = spans.into_iter().collect();
        sorted.sort_unstable_by_key(|span| (span.thread_id, span.from_nanos, span.to_nanos));
        let mut joined: Vec<ThreadSpan> = Vec::new();
        for span in sorted.into_iter().filter(|span| span.from_nanos < span.to_nanos) {
            match joined.last_mut() {
                Some(last)
                    if last.thread_id == span.thread_id && span.from_nanos <= last.to_nanos =>
                {
                    last.to_nanos = last.to_nanos.max(span.to_nanos);
                }
                _ => joined.push(span),
            }
        }
        ThreadSpans(joined)
    }
}

impl ThreadSpans {
    /// Returns the spans, sorted by thread and time.
    pub fn as_slice(&self) -> &[ThreadSpan] {
        &self.0
    }

    /// Returns whether a span of the thread overlaps the time from `first` to `last`.
    pub(super) fn overlap(&self, thread_id: u64, first: i64, last: i64) -> bool {
        let before = |span: &ThreadSpan| (span.thread_id, span.to_nanos) <= (thread_id, first);
        let next = self.0.get(self.0.partition_point(before));
        next.is_some_and(|span| span.thread_id == thread_id && span.from_nanos <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_threads_overlap_times_of_their_own_thread() {
        let spans = [(7, 10, 20), (7, 15, 30), (9, 5, 6), (7, 40, 50), (9, 8, 8)];
        let spans = spans.map(|(thread, from, to)| ThreadSpan::new(thread, from, to));
        let spans: ThreadSpans = spans.into_iter().collect();
        assert_eq!(spans.as_slice().len(), 3);
        let at = |thread, nanos| spans.overlap(thread, nanos, nanos);
        assert!(at(7, 10) && at(7, 29) && at(7, 40) && at(9, 5));
        assert!(!at(7, 9) && !at(7, 30) && !at(7, 50) && !at(9, 6) && !at(8, 15));
        assert!(spans.overlap(7, 0, 10) && spans.overlap(7, 30, 40) && !spans.overlap(7, 30, 39));
    }
}
