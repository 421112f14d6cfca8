//! Times in which threads worked for activities, and for the requests to each endpoint.

/// Maximum number of spans before a time that are searched for one around it: requests of a program
/// to itself may be inside each other.
const MAX_SEARCHED_SPANS: usize = 32;

/// Stands for the endpoint of a request that lacks spans.
pub(crate) const UNKNOWN_ENDPOINT: u32 = u32::MAX - 1;

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

/// Times in which threads worked for incoming requests, by the endpoint of the request.
/// [`RequestSpans`](crate::report::RequestSpans) computes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EndpointSpans {
    /// Endpoints, sorted, such as `GET /cart`.
    names: Vec<String>,
    /// Spans with the indices of their endpoints, sorted by thread and time. Of two spans with one
    /// start, that of the request which began first comes first.
    spans: Vec<(ThreadSpan, u32)>,
    /// Number of requests to each endpoint that lack spans.
    left_out: Vec<u64>,
    /// Times in which threads may have worked for these requests.
    unknown: ThreadSpans,
}

impl EndpointSpans {
    /// Puts the parts together. `names`: sorted; `spans`: sorted by thread, time, and start of the
    /// request; `left_out`: number of requests to each endpoint that lack spans; `unknown`: times in
    /// which threads may have worked for them.
    pub(crate) fn new(
        names: Vec<String>,
        spans: Vec<(ThreadSpan, u32)>,
        left_out: Vec<u64>,
        unknown: ThreadSpans,
    ) -> EndpointSpans {
        EndpointSpans { names, spans, left_out, unknown }
    }

    /// Returns the endpoints, sorted by name.
    pub fn endpoints(&self) -> &[String] {
        &self.names
    }

    /// Returns the spans of all requests to an endpoint, such as `GET /cart`. `None` if no request
    /// to it ended.
    pub fn spans_of(&self, endpoint: &str) -> Option<ThreadSpans> {
        let wanted = self.names.iter().position(|name| name == endpoint)?;
        let of_it = self.spans.iter().filter(|(_, at)| *at as usize == wanted);
        Some(of_it.map(|(span, _)| *span).collect())
    }

    /// Returns the number of requests to an endpoint that lack spans, because there were more than
    /// [`RequestSpans::MAX_SPANS`](crate::report::RequestSpans::MAX_SPANS) in all.
    pub fn left_out_of(&self, endpoint: &str) -> u64 {
        let rows = self.names.iter().zip(&self.left_out);
        rows.filter(|(name, _)| *name == endpoint).map(|(_, count)| *count).sum()
    }

    /// Returns the number of requests to all endpoints that lack spans.
    pub fn left_out(&self) -> u64 {
        self.left_out.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the times in which a thread worked for requests.
    pub(crate) fn of_thread(&self, thread_id: u64) -> EndpointsOfThread<'_> {
        let spans = self.spans.partition_point(|(span, _)| span.thread_id < thread_id);
        let spans = self.spans.get(spans..).unwrap_or_default();
        let end = spans.partition_point(|(span, _)| span.thread_id == thread_id);
        EndpointsOfThread {
            spans: spans.get(..end).unwrap_or_default(),
            thread_id,
            unknown: &self.unknown,
        }
    }
}

/// Times in which a thread worked for incoming requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndpointsOfThread<'s> {
    /// Spans with the indices of their endpoints, as in [`EndpointSpans`].
    spans: &'s [(ThreadSpan, u32)],
    thread_id: u64,
    unknown: &'s ThreadSpans,
}

impl EndpointsOfThread<'_> {
    /// Returns the place in [`EndpointSpans::endpoints`] of the request that the thread worked for
    /// at a time. Of requests inside each other, it is the innermost. `None` if the thread worked
    /// for no request; [`UNKNOWN_ENDPOINT`] if it may have worked for one that lacks spans.
    pub(crate) fn at(&self, nanos: i64) -> Option<u32> {
        let begun = self.spans.partition_point(|(span, _)| span.from_nanos <= nanos);
        let mut newest = self.spans.get(..begun)?.iter().rev().take(MAX_SEARCHED_SPANS);
        let known = newest.find(|(span, _)| nanos < span.to_nanos);
        let may_lack =
            || self.unknown.overlap(self.thread_id, nanos, nanos).then_some(UNKNOWN_ENDPOINT);
        known.map(|(_, endpoint)| *endpoint).or_else(may_lack)
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

    #[test]
    fn the_innermost_request_counts() {
        let span = |thread, from, to, endpoint| (ThreadSpan::new(thread, from, to), endpoint);
        let names = ["GET /inner", "GET /late", "GET /outer"].map(str::to_owned);
        // The program serves its own call on another thread, so both requests have that thread.
        let requests = vec![span(1, 0, 100, 2), span(2, 20, 60, 2), span(2, 20, 30, 0)];
        let unknown = [ThreadSpan::new(2, 50, 80)].into_iter().collect();
        let spans = EndpointSpans::new(names.to_vec(), requests, vec![0, 3, 1], unknown);
        assert_eq!(spans.endpoints(), ["GET /inner", "GET /late", "GET /outer"]);
        let at = |thread, nanos| spans.of_thread(thread).at(nanos);
        assert_eq!(
            [at(1, 50), at(2, 25), at(2, 40), at(2, 55)],
            [Some(2), Some(0), Some(2), Some(2)]
        );
        assert_eq!([at(1, 100), at(2, 19), at(3, 50), at(2, 80)], [None; 4]);
        assert_eq!(at(2, 70), Some(UNKNOWN_ENDPOINT));
        assert_eq!(spans.spans_of("GET /outer").map(|spans| spans.as_slice().len()), Some(2));
        assert_eq!(spans.spans_of("GET /late").map(|spans| spans.as_slice().len()), Some(0));
        assert_eq!(spans.spans_of("GET /other"), None);
        let counts = ["GET /inner", "GET /late", "GET /outer", "GET /other"];
        assert_eq!(counts.map(|endpoint| spans.left_out_of(endpoint)), [0, 3, 1, 0]);
        assert_eq!(spans.left_out(), 4);
    }
}
