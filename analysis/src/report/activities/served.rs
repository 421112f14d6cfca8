//! Times in which threads worked for incoming requests that have ended, up to a number of them.

use crate::hash::HashMap;
use crate::model::{EndpointSpans, Resolved, TextHandle, ThreadHandle, ThreadSpan};
use std::collections::{BTreeMap, BTreeSet};

/// Time in which a thread worked for a request.
#[derive(Debug, Clone, Copy)]
struct WorkedSpan {
    thread: ThreadHandle,
    /// Direction and target of the request, as in [`ActivityRow::name`](super::ActivityRow::name).
    label: TextHandle,
    /// Start of the request, in nanoseconds since the session's start.
    begun_nanos: i64,
    from_nanos: i64,
    to_nanos: i64,
}

/// Times in which threads worked for incoming requests that have ended.
#[derive(Debug, Default)]
pub(super) struct ServedRequests {
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

    /// Adds the spans of a request that lasted from `begun` to `ended`: thread, start, end. All of
    /// them are left out if there is no room for all. `is_cut`: spans after these are not known.
    pub(super) fn add(
        &mut self,
        label: TextHandle,
        (begun, ended): (i64, i64),
        threads: &[(ThreadHandle, i64, i64)],
        is_cut: bool,
    ) {
        let is_kept = self.spans.len().saturating_add(threads.len()) <= self.max_spans;
        if is_kept {
            let span = |(thread, from, to): &(ThreadHandle, i64, i64)| WorkedSpan {
                thread: *thread,
                label,
                begun_nanos: begun,
                from_nanos: *from,
                to_nanos: *to,
            };
            self.spans.extend(threads.iter().map(span));
        } else {
            threads.iter().for_each(|(thread, from, to)| self.leave_out(*thread, *from, *to));
        }
        if is_cut && let Some((_, _, known_to)) = threads.last() {
            // Later, any of its threads may have worked for it.
            threads.iter().for_each(|(thread, ..)| self.leave_out(*thread, *known_to, ended));
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
        let labels: BTreeSet<TextHandle> = self.spans.iter().map(|span| span.label).collect();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut names: HashMap<TextHandle, &str> = HashMap::default();
        for label in labels.into_iter().chain(self.left_out.keys().copied()) {
            let text = model.texts().get(label);
            let endpoint = text.strip_prefix("in ").unwrap_or(text);
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
            Some((of_thread, *places.get(names.get(&span.label)?)?))
        });
        let times = self.threads_left_out.iter();
        let times = times
            .filter_map(|(thread, (from, to))| Some(ThreadSpan::new(id_of(*thread)?, *from, *to)));
        EndpointSpans::new(
            counts.keys().map(|&name| name.to_owned()).collect(),
            spans.collect(),
            counts.values().copied().collect(),
            times.collect(),
        )
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
        let mut worked = ServedRequests::new(2);
        worked.add(cart, (0, 10), &[(one, 0, 10), (other, 4, 5)], false);
        worked.add(cart, (20, 30), &[(one, 20, 30)], false);
        worked.add(order, (40, 60), &[(one, 40, 50), (other, 45, 50)], true);
        assert_eq!(worked.spans.len(), 2);
        assert_eq!(worked.left_out.into_iter().collect::<Vec<_>>(), [(cart, 1), (order, 1)]);
        let times = [one, other].map(|thread| worked.threads_left_out.get(&thread).copied());
        assert_eq!(times, [Some((20, 60)), Some((45, 60))]);
    }
}
