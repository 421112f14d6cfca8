//! Times in which threads worked for incoming requests, or activities of chosen names, that have
//! ended, up to a number of them.

use crate::hash::HashMap;
use crate::model::intervals::OpenActivityKey;
use crate::model::{
    EndpointSpans, RequestHandle, RequestTimes, Resolved, TextHandle, Texts, ThreadHandle,
    ThreadSpan, UNKNOWN_ENDPOINT,
};
use std::collections::{BTreeMap, BTreeSet};

/// Time in which a thread worked for a request.
#[derive(Debug, Clone, Copy)]
struct WorkedSpan {
    thread: ThreadHandle,
    /// Index of the request.
    request: u32,
    /// Start of the request, in nanoseconds since the session's start.
    begun_nanos: i64,
    from_nanos: i64,
    to_nanos: i64,
}

/// Request that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoppedRequest {
    /// Direction and target, as in [`ActivityRow::name`](super::ActivityRow::name).
    pub(super) label: TextHandle,
    pub(super) key: OpenActivityKey,
    /// Incoming request around it.
    pub(super) inside: Option<OpenActivityKey>,
    pub(super) start_nanos: i64,
    pub(super) end_nanos: i64,
}

/// Times in which threads worked for incoming requests, or chosen activities, that have ended.
#[derive(Debug, Default)]
pub(super) struct ServedRequests {
    /// Names of the activities that are taken in place of requests.
    names: Option<BTreeSet<String>>,
    /// Requests with spans, each with the number of its label in place of the endpoint.
    requests: Vec<RequestTimes>,
    /// Indices of the requests inside others that have not ended.
    inside: HashMap<OpenActivityKey, Vec<u32>>,
    spans: Vec<WorkedSpan>,
    max_spans: usize,
    /// Number of requests of each label that lack spans.
    left_out: BTreeMap<TextHandle, u64>,
    /// Time of each thread from its first span that was left out to its last one.
    threads_left_out: HashMap<ThreadHandle, (i64, i64)>,
}

impl ServedRequests {
    /// Creates an empty list for up to `max_spans` spans.
    pub(super) fn new(max_spans: usize) -> ServedRequests {
        ServedRequests { max_spans, ..ServedRequests::default() }
    }

    /// Takes activities of these names in place of requests.
    pub(super) fn of_names(self, names: BTreeSet<String>) -> ServedRequests {
        ServedRequests { names: Some(names), ..self }
    }

    pub(super) fn is_of_requests(&self) -> bool {
        self.names.is_none()
    }

    /// Returns whether activities of a name are taken in place of requests.
    pub(super) fn is_of(&self, name: TextHandle, texts: &Texts) -> bool {
        self.names.as_ref().is_some_and(|names| names.contains(texts.get(name)))
    }

    /// Adds the spans of a request: thread, start, end. All of them are left out if there is no room
    /// for all. `is_cut`: spans after these are not known.
    pub(super) fn add(
        &mut self,
        ended: StoppedRequest,
        threads: &[(ThreadHandle, i64, i64)],
        is_cut: bool,
    ) {
        let StoppedRequest { label, start_nanos, end_nanos, .. } = ended;
        let is_kept = self.spans.len().saturating_add(threads.len()) <= self.max_spans;
        let inside = self.inside.remove(&ended.key).unwrap_or_default();
        if is_kept && !threads.is_empty() {
            let request = self.keep(ended, &inside);
            let span = |(thread, from, to): &(ThreadHandle, i64, i64)| WorkedSpan {
                thread: *thread,
                request,
                begun_nanos: start_nanos,
                from_nanos: *from,
                to_nanos: *to,
            };
            self.spans.extend(threads.iter().map(span));
        } else {
            threads.iter().for_each(|(thread, from, to)| self.leave_out(*thread, *from, *to));
        }
        if is_cut && let Some((_, _, known_to)) = threads.last() {
            // Later, any of its threads may have worked for it.
            threads.iter().for_each(|(thread, ..)| self.leave_out(*thread, *known_to, end_nanos));
        }
        if !is_kept || is_cut {
            let count = self.left_out.entry(label).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns the spans by endpoint, with the number of requests that lack spans. The spans stay in
    /// their memory.
    pub(super) fn finish(mut self, resolved: &Resolved<'_>) -> EndpointSpans {
        let model = resolved.model();
        let id_of = |thread| model.thread(thread).and_then(|row| row.os_thread_id);
        let labels: BTreeSet<TextHandle> =
            self.requests.iter().map(|request| TextHandle(request.endpoint)).collect();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut names: HashMap<TextHandle, &str> = HashMap::default();
        for label in labels.into_iter().chain(self.left_out.keys().copied()) {
            let text = model.texts().get(label);
            let endpoint = text.strip_prefix("in ").filter(|_| self.names.is_none());
            let endpoint = endpoint.unwrap_or(text);
            let count = counts.entry(endpoint).or_default();
            if names.insert(label, endpoint).is_none() {
                *count = count.saturating_add(self.left_out.get(&label).copied().unwrap_or(0));
            }
        }
        let places: HashMap<&str, u32> = counts.keys().copied().zip(0..).collect();
        // Of two with one start, what began first comes first, and then what ended first.
        self.spans.sort_unstable_by_key(|span| {
            (id_of(span.thread), span.from_nanos, span.begun_nanos, span.to_nanos)
        });
        let spans = self.spans.into_iter().filter_map(|span| {
            let of_thread = ThreadSpan::new(id_of(span.thread)?, span.from_nanos, span.to_nanos);
            Some((of_thread, span.request))
        });
        let requests = self.requests.into_iter().map(|request| {
            let label = names.get(&TextHandle(request.endpoint));
            let endpoint = label.and_then(|name| places.get(name)).copied();
            request.with_endpoint(endpoint.unwrap_or(UNKNOWN_ENDPOINT))
        });
        let times = self.threads_left_out.iter();
        let times = times
            .filter_map(|(thread, (from, to))| Some(ThreadSpan::new(id_of(*thread)?, *from, *to)));
        EndpointSpans::new(
            counts.keys().map(|&name| name.to_owned()).collect(),
            requests.collect(),
            spans.collect(),
            counts.values().copied().collect(),
            times.collect(),
        )
    }

    /// Keeps a request, and returns its index. `inside`: those whose parent it is.
    fn keep(&mut self, ended: StoppedRequest, inside: &[u32]) -> u32 {
        let StoppedRequest { label, start_nanos, end_nanos, .. } = ended;
        let request = RequestHandle::next(self.requests.len());
        for child in inside {
            if let Some(child) = self.requests.get_mut(*child as usize) {
                child.set_parent(request);
            }
        }
        if let Some(parent) = ended.inside {
            self.inside.entry(parent).or_default().push(request.0);
        }
        self.requests.push(RequestTimes::new(label.0, start_nanos, end_nanos));
        request.0
    }

    fn leave_out(&mut self, thread: ThreadHandle, from: i64, to: i64) {
        let time = self.threads_left_out.entry(thread).or_insert((from, to));
        *time = (time.0.min(from), time.1.max(to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_room_are_counted_with_the_times_of_their_threads() {
        let [one, other] = [ThreadHandle(1), ThreadHandle(2)];
        let [cart, order] = [TextHandle(1), TextHandle(2)];
        let ended = |label, number, inside: Option<u64>, start_nanos, end_nanos| StoppedRequest {
            label,
            key: (label, number),
            inside: inside.map(|number| (cart, number)),
            start_nanos,
            end_nanos,
        };
        let mut worked = ServedRequests::new(2);
        worked.add(ended(cart, 1, None, 0, 10), &[(one, 0, 10), (other, 4, 5)], false);
        worked.add(ended(cart, 2, None, 20, 30), &[(one, 20, 30)], false);
        worked.add(ended(order, 3, None, 40, 60), &[(one, 40, 50), (other, 45, 50)], true);
        assert_eq!(worked.spans.len(), 2);
        assert_eq!(worked.left_out.into_iter().collect::<Vec<_>>(), [(cart, 1), (order, 1)]);
        let times = [one, other].map(|thread| worked.threads_left_out.get(&thread).copied());
        assert_eq!(times, [Some((20, 60)), Some((45, 60))]);
        let mut worked = ServedRequests::new(9);
        worked.add(ended(order, 2, Some(1), 5, 8), &[(other, 5, 8)], false);
        worked.add(ended(order, 3, Some(7), 5, 8), &[(other, 5, 8)], false);
        worked.add(ended(cart, 1, None, 0, 10), &[(one, 0, 10)], false);
        let parents = worked.requests.iter().map(|request| request.parent());
        assert_eq!(parents.collect::<Vec<_>>(), [Some(RequestHandle(2)), None, None]);
    }
}
