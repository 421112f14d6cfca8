//! Times in which threads worked for incoming requests, by request and endpoint.

use super::handle::RequestHandle;
use super::thread_spans::{ThreadSpan, ThreadSpans};
use std::num::NonZeroU32;

/// Maximum number of spans before a time that are searched for one around it: requests of a program
/// to itself may be inside each other.
const MAX_SEARCHED_SPANS: usize = 32;

/// Stands for the endpoint of a request that lacks spans.
pub(crate) const UNKNOWN_ENDPOINT: u32 = u32::MAX - 1;

/// Stands for a request that lacks spans.
pub(crate) const UNKNOWN_REQUEST: RequestHandle = RequestHandle(u32::MAX - 1);

/// Incoming requests with the times in which threads worked for them, and their endpoints.
/// [`RequestSpans`](crate::report::RequestSpans) computes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EndpointSpans {
    /// Endpoints, sorted, such as `GET /cart`.
    names: Vec<String>,
    /// Requests with spans, in the order of their stops.
    requests: Vec<RequestTimes>,
    /// Spans with the indices of their requests, sorted by thread and time. Of two spans with one
    /// start, that of the request which began first comes first.
    spans: Vec<(ThreadSpan, u32)>,
    /// Number of requests to each endpoint that lack spans.
    left_out: Vec<u64>,
    /// Times in which threads may have worked for these requests.
    unknown: ThreadSpans,
}

/// A request as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(crate) struct RequestTimes {
    /// Index of the endpoint.
    pub(crate) endpoint: u32,
    /// Number of the incoming request around it, from 1, which takes no more room than an index.
    parent_number: Option<NonZeroU32>,
    pub(crate) start_nanos: i64,
    pub(crate) end_nanos: i64,
}

impl RequestTimes {
    pub(crate) fn new(endpoint: u32, start_nanos: i64, end_nanos: i64) -> RequestTimes {
        RequestTimes { endpoint, parent_number: None, start_nanos, end_nanos }
    }

    pub(crate) fn with_endpoint(self, endpoint: u32) -> RequestTimes {
        RequestTimes { endpoint, ..self }
    }

    /// Returns the incoming request around it.
    pub(crate) fn parent(&self) -> Option<RequestHandle> {
        self.parent_number.map(|number| RequestHandle(number.get().saturating_sub(1)))
    }

    pub(crate) fn set_parent(&mut self, parent: RequestHandle) {
        self.parent_number = NonZeroU32::new(parent.0.saturating_add(1));
    }
}

/// An incoming request, or an activity of a chosen name, that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedRequest<'s> {
    /// Endpoint, such as `GET /cart`; name of an activity, such as `Shop/Order`.
    pub endpoint: &'s str,
    /// Start, in nanoseconds since the session's start.
    pub start_nanos: i64,
    /// End, in nanoseconds since the session's start.
    pub end_nanos: i64,
    /// Incoming request of the same process for which it was served, because the process called
    /// itself; of an activity, the innermost chosen one around it. `None` if there is none, or it lacks
    /// spans.
    pub parent: Option<RequestHandle>,
}

impl EndpointSpans {
    /// Puts the parts together. `names`: sorted; `requests`: those with spans; `spans`: with the
    /// indices of their requests, sorted by thread, time, and start of the request; `left_out`: number
    /// of requests to each endpoint that lack spans; `unknown`: times in which threads may have worked
    /// for them.
    pub(crate) fn new(
        names: Vec<String>,
        requests: Vec<RequestTimes>,
        spans: Vec<(ThreadSpan, u32)>,
        left_out: Vec<u64>,
        unknown: ThreadSpans,
    ) -> EndpointSpans {
        EndpointSpans { names, requests, spans, left_out, unknown }
    }

    /// Returns the endpoints, sorted by name.
    pub fn endpoints(&self) -> &[String] {
        &self.names
    }

    /// Returns the requests with spans, in the order of their stops.
    pub fn requests(&self) -> impl Iterator<Item = (RequestHandle, ServedRequest<'_>)> {
        let handles = RequestHandle::all(self.requests.len());
        handles.filter_map(|handle| Some((handle, self.request(handle)?)))
    }

    /// Returns a request; `None` if it lacks spans, so that it is not known which one it is.
    pub fn request(&self, request: RequestHandle) -> Option<ServedRequest<'_>> {
        let times = self.requests.get(request.index())?;
        let RequestTimes { endpoint, start_nanos, end_nanos, .. } = *times;
        let endpoint = self.names.get(endpoint as usize)?;
        let parent = times.parent();
        Some(ServedRequest { endpoint, start_nanos, end_nanos, parent })
    }

    /// Returns the times in which threads worked for requests, sorted by thread and time. A request
    /// has several if it went on after an await, perhaps on another thread.
    pub fn spans(&self) -> impl Iterator<Item = (ThreadSpan, RequestHandle)> {
        self.spans.iter().map(|(span, request)| (*span, RequestHandle(*request)))
    }

    /// Returns the request that a thread worked for at a time, as
    /// [`Sample::request`](crate::Sample::request) has it.
    pub fn request_at(&self, thread_id: u64, nanos: i64) -> Option<RequestHandle> {
        self.of_thread(thread_id).at(nanos)
    }

    /// Returns the spans of all requests to an endpoint, such as `GET /cart`. `None` if no request
    /// to it ended.
    pub fn spans_of(&self, endpoint: &str) -> Option<ThreadSpans> {
        let wanted = self.names.iter().position(|name| name == endpoint)?;
        let is_of_it = |at: u32| {
            let request = self.requests.get(at as usize);
            request.is_some_and(|request| request.endpoint as usize == wanted)
        };
        let of_it = self.spans.iter().filter(|(_, request)| is_of_it(*request));
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

    /// Returns the index of a request's endpoint; [`UNKNOWN_ENDPOINT`] if the request is unknown.
    #[inline]
    pub(crate) fn endpoint_of(&self, request: RequestHandle) -> u32 {
        self.requests.get(request.index()).map_or(UNKNOWN_ENDPOINT, |request| request.endpoint)
    }

    /// Returns the times in which a thread worked for requests.
    pub(crate) fn of_thread(&self, thread_id: u64) -> RequestsOfThread<'_> {
        let spans = self.spans.partition_point(|(span, _)| span.thread_id < thread_id);
        let spans = self.spans.get(spans..).unwrap_or_default();
        let end = spans.partition_point(|(span, _)| span.thread_id == thread_id);
        RequestsOfThread {
            spans: spans.get(..end).unwrap_or_default(),
            thread_id,
            unknown: &self.unknown,
        }
    }
}

/// Times in which a thread worked for incoming requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestsOfThread<'s> {
    /// Spans with the indices of their requests, as in [`EndpointSpans`].
    spans: &'s [(ThreadSpan, u32)],
    thread_id: u64,
    unknown: &'s ThreadSpans,
}

impl RequestsOfThread<'_> {
    /// Returns the request that the thread worked for at a time. Of requests inside each other, it
    /// is the innermost. `None` if the thread worked for no request; [`UNKNOWN_REQUEST`] if it may
    /// have worked for one that lacks spans.
    pub(crate) fn at(&self, nanos: i64) -> Option<RequestHandle> {
        let begun = self.spans.partition_point(|(span, _)| span.from_nanos <= nanos);
        let mut newest = self.spans.get(..begun)?.iter().rev().take(MAX_SEARCHED_SPANS);
        let known = newest.find(|(span, _)| nanos < span.to_nanos);
        let may_lack =
            || self.unknown.overlap(self.thread_id, nanos, nanos).then_some(UNKNOWN_REQUEST);
        known.map(|(_, request)| RequestHandle(*request)).or_else(may_lack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_request_counts() {
        let span = |thread, from, to, request| (ThreadSpan::new(thread, from, to), request);
        let outer = RequestTimes::new(2, 0, 100);
        let mut inner = RequestTimes::new(0, 20, 30);
        inner.set_parent(RequestHandle(1));
        // A page of a gigabyte of requests has 300,000 of these.
        assert_eq!(size_of::<RequestTimes>(), 24);
        let names = ["GET /inner", "GET /late", "GET /outer"].map(str::to_owned);
        // The program serves its own call on another thread, so both requests have that thread.
        let spans = vec![span(1, 0, 100, 1), span(2, 20, 60, 1), span(2, 20, 30, 0)];
        let requests = vec![inner, outer];
        let unknown = [ThreadSpan::new(2, 50, 80)].into_iter().collect();
        let spans = EndpointSpans::new(names.to_vec(), requests, spans, vec![0, 3, 1], unknown);
        assert_eq!(spans.endpoints(), ["GET /inner", "GET /late", "GET /outer"]);
        let at = |thread, nanos| spans.request_at(thread, nanos).map(|it| spans.endpoint_of(it));
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
        let inner = spans.request_at(2, 25).and_then(|inner| spans.request(inner)).unwrap();
        assert_eq!((inner.endpoint, inner.start_nanos, inner.end_nanos), ("GET /inner", 20, 30));
        let outer = inner.parent.and_then(|outer| spans.request(outer)).unwrap();
        assert_eq!((outer.endpoint, outer.parent), ("GET /outer", None));
        let of_outer = spans.spans().filter(|(_, request)| Some(*request) == inner.parent);
        assert_eq!(of_outer.map(|(span, _)| span.thread_id).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(spans.requests().count(), 2);
        assert_eq!(spans.request(UNKNOWN_REQUEST), None);
    }
}
