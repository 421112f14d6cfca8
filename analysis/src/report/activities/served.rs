//! Times in which threads worked for incoming requests that have ended.

use crate::model::{EndpointSpans, Resolved, TextHandle, ThreadHandle, ThreadSpan};
use crate::report::counts::increase;

/// Incoming requests that have ended, with the times in which threads worked for them.
#[derive(Debug)]
pub(super) struct ServedRequests {
    requests: Vec<ServedRequest>,
    /// Number of spans for which there is room.
    room: usize,
    left_out: u64,
}

#[derive(Debug)]
struct ServedRequest {
    /// Direction and target, as in [`ActivityRow::name`](super::ActivityRow::name).
    label: TextHandle,
    /// Start, in nanoseconds since the session's start.
    start_nanos: i64,
    /// Times in which threads worked for the request: thread, start, end.
    threads: Vec<(ThreadHandle, i64, i64)>,
}

impl ServedRequests {
    /// Keeps at most `max_spans` spans.
    pub(super) fn new(max_spans: usize) -> ServedRequests {
        ServedRequests { requests: Vec::new(), room: max_spans, left_out: 0 }
    }

    pub(super) fn add(
        &mut self,
        label: TextHandle,
        start_nanos: i64,
        threads: &[(ThreadHandle, i64, i64)],
    ) {
        match self.room.checked_sub(threads.len().max(1)) {
            Some(room) => {
                self.room = room;
                let threads = threads.to_vec();
                self.requests.push(ServedRequest { label, start_nanos, threads });
            }
            None => {
                self.room = 0;
                increase(&mut self.left_out, 1);
            }
        }
    }

    /// Returns the spans by endpoint, and the number of requests for which there was no room.
    pub(super) fn finish(self, resolved: &Resolved<'_>) -> (EndpointSpans, u64) {
        let model = resolved.model();
        let mut spans = Vec::new();
        for request in self.requests {
            let label = model.texts().get(request.label);
            let endpoint = label.strip_prefix("in ").unwrap_or(label);
            for (thread, from, to) in request.threads {
                let Some(id) = model.thread(thread).and_then(|row| row.os_thread_id) else {
                    continue;
                };
                let span = ThreadSpan::new(id, from, to);
                spans.push((span, request.start_nanos, endpoint.to_owned()));
            }
        }
        (EndpointSpans::new(spans), self.left_out)
    }
}
