//! Live list of requests, collections, log messages and other things that happen in a process.
//!
//! A row comes when its end is known, so rows are in the order of ends.

mod row;

pub use row::{
    CompiledMethod, EndedWait, HttpRequest, PoolChange, ThrownException, WatchKind, WatchRow,
    WatchedEvent,
};

use super::LiveReport;
use crate::model::intervals::{Edge, Matcher, reported_nanos};
use crate::model::{Model, NameOptions, ThreadHandle, method_frame, type_text};
use crate::report::PoolReason;
use crate::report::fields::Walk;
use crate::report::gc::Heap;
use crate::report::requests::OpenRequests;
use crate::report::{Logs, Moment, Report};
use nettrace_parser::view::{self, KnownProvider, MethodChange, View};
use nettrace_parser::{Event, Utf16};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Maximum number of rows that wait to be taken.
const MAX_WAITING: usize = 100_000;
/// Maximum number of collections whose events have marks.
const MAX_MARKED: usize = 1000;

/// Live view that makes a [`WatchRow`] of each thing that happens. Rows can be taken at any time.
///
/// Memory is bounded by the number of open requests, waits and collections, and by 100,000 rows
/// that wait to be taken; further rows are counted.
///
/// ```
/// use nettrace_analysis::live::{Live, LiveWatch, WatchKind, WatchedEvent};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut live = Live::new(LiveWatch::new([WatchKind::Http, WatchKind::Gc]));
/// let mut events = Reader::from_slice(&bytes).time_ordered();
/// while let Some(event) = events.next_event()? {
///     live.event(&event);
///     for row in live.report.take() {
///         if let WatchedEvent::Http(request) = row.what {
///             println!("{:?} took {:?} ns", request.target, request.duration_ns);
///         }
///     }
/// }
/// assert_eq!(live.snapshot(), 0);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
pub struct LiveWatch {
    kinds: BTreeSet<WatchKind>,
    rows: Vec<WatchRow>,
    left_out: u64,
    mark: u128,
    heap: Heap,
    /// Marks by the number of the collection.
    heap_marks: BTreeMap<u32, u128>,
    waits: Matcher<ThreadHandle, (EndedWait, u128)>,
    requests: OpenRequests,
    jitting: Matcher<(ThreadHandle, u64), (u32, u128)>,
    logs: Logs,
    /// Marks of the messages that wait in `logs`.
    log_marks: VecDeque<u128>,
}

/// Writes how much the view holds, and nothing of what it has seen.
impl fmt::Debug for LiveWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveWatch")
            .field("kinds", &self.kinds)
            .field("rows", &self.rows.len())
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

impl LiveWatch {
    /// Creates a view of these kinds.
    pub fn new(kinds: impl IntoIterator<Item = WatchKind>) -> LiveWatch {
        LiveWatch {
            kinds: kinds.into_iter().collect(),
            rows: Vec::new(),
            left_out: 0,
            mark: 0,
            heap: Heap::default(),
            heap_marks: BTreeMap::new(),
            waits: Matcher::default(),
            requests: OpenRequests::default(),
            jitting: Matcher::default(),
            logs: Logs::default(),
            log_marks: VecDeque::new(),
        }
    }

    /// Sets the mark of the following events to bits of the caller's choice. A row has the bits of
    /// all events that it was made from ([`WatchRow::mark`]), so that a filter may look at start
    /// and end.
    pub fn mark(&mut self, bits: u128) {
        self.mark = bits;
    }

    /// Returns the complete rows since the last call. The newest messages of loggers wait, because
    /// the next event may be an exception of theirs: see [`LiveWatch::take_all`].
    pub fn take(&mut self) -> Vec<WatchRow> {
        std::mem::take(&mut self.rows)
    }

    /// Returns all rows, for when no more events come for now.
    pub fn take_all(&mut self) -> Vec<WatchRow> {
        let rest = self.logs.take_all();
        self.push_logs(rest);
        self.take()
    }

    fn watches(&self, kind: WatchKind) -> bool {
        self.kinds.contains(&kind)
    }

    fn push(&mut self, row: WatchRow) {
        if self.rows.len() < MAX_WAITING {
            self.rows.push(row);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    fn runtime(&mut self, event: &Event<'_>, moment: &Moment, thread_id: Option<u64>) -> bool {
        let row = |mark: u128, what| WatchRow { ts_ns: moment.nanos, thread_id, mark, what };
        let at = Edge::from_event(event, moment.thread, moment.nanos);
        match event.id() {
            1..=9 | 204 | 205 if self.watches(WatchKind::Gc) => {
                self.collection(event, moment, thread_id);
            }
            80 if self.watches(WatchKind::Exceptions) => {
                let Some(thrown) = thrown(event) else { return false };
                self.push(row(self.mark, WatchedEvent::Exception(thrown)));
            }
            81 if self.watches(WatchKind::Contention) => {
                let wait = (begun_wait(event), self.mark);
                self.waits.start_inside(at.thread, at, wait, |_| {});
            }
            91 if self.watches(WatchKind::Contention) => {
                let reported = reported_nanos(event);
                let ended = self.waits.stop(at.thread, at, reported, |_| {});
                let duration_ns = ended.as_ref().map_or(reported, |wait| wait.measured_nanos());
                let (wait, mark) = ended.map(|wait| wait.what).unwrap_or_default();
                let is_native =
                    view::ContentionStop::from_event(event).is_some_and(|stop| stop.flags == 1);
                let is_native = is_native || wait.is_native;
                let wait = EndedWait { duration_ns, is_native, ..wait };
                self.push(row(self.mark | mark, WatchedEvent::Contention(wait)));
            }
            145 if self.watches(WatchKind::Jit) => {
                let Some(jitting) = view::MethodJitting::from_event(event) else { return false };
                let what = (jitting.il_bytes, self.mark);
                self.jitting.start_again((at.thread, jitting.method_id), at, what, |_| {});
            }
            141 | 143 if self.watches(WatchKind::Jit) => {
                let Some((method, mark)) = self.compiled(event, at) else { return false };
                self.push(row(mark, WatchedEvent::Jit(method)));
            }
            50 | 51 | 55 | 59 if self.watches(WatchKind::Threadpool) => {
                let Some(change) = pool_change(event) else { return false };
                self.push(row(self.mark, WatchedEvent::Threadpool(change)));
            }
            _ => return false,
        }
        true
    }

    fn collection(&mut self, event: &Event<'_>, moment: &Moment, thread_id: Option<u64>) {
        let mark = self.mark;
        let number = match event.id() {
            1 => view::GcStart::from_event(event).map(|start| start.number),
            2 => view::GcEnd::from_event(event).map(|end| end.number),
            _ => None,
        };
        match number {
            Some(number) => *self.heap_marks.entry(number).or_default() |= mark,
            // Events without a number belong to the collection in progress.
            None => self.heap_marks.values_mut().for_each(|marks| *marks |= mark),
        }
        while self.heap_marks.len() > MAX_MARKED {
            self.heap_marks.pop_first();
        }
        self.heap.event(event, moment);
        for collection in self.heap.take_settled() {
            let mark = self.heap_marks.remove(&collection.number).unwrap_or(0);
            let what = WatchedEvent::Gc(Box::new(collection));
            self.push(WatchRow { ts_ns: moment.nanos, thread_id, mark, what });
        }
    }

    fn compiled(&mut self, event: &Event<'_>, at: Edge) -> Option<(CompiledMethod, u128)> {
        let method = view::Method::from_event(event)?;
        // Only hot sections: the cold section of a method is reported separately.
        if method.change != MethodChange::Load || !method.is_jitted() || method.extent() != 0 {
            return None;
        }
        let started = self.jitting.stop((at.thread, method.method_id), at, None, |_| {});
        let duration_ns = started.as_ref().and_then(|started| started.measured_nanos());
        let (il_bytes, mark) =
            started.map_or((None, 0), |started| (Some(started.what.0), started.what.1));
        let text = |text: Utf16<'_>| text.to_string();
        let compiled = CompiledMethod {
            name: method_frame(
                &text(method.namespace),
                &text(method.name),
                &text(method.signature),
                NameOptions::default(),
            )
            .text,
            tier: method.tier().as_str(),
            il_bytes,
            native_bytes: method.size,
            duration_ns,
        };
        Some((compiled, mark | self.mark))
    }

    fn request(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &Model,
        thread_id: Option<u64>,
    ) -> bool {
        let all = self.requests.event(event, moment, self.mark, None, model);
        let is_its = !all.is_empty();
        for ended in all {
            let request = HttpRequest {
                direction: ended.facts.direction(),
                method: ended.facts.method().map(str::to_owned),
                target: ended.facts.target().map(str::to_owned),
                status: ended.facts.status,
                start_ns: ended.start_ns,
                duration_ns: ended.duration_ns,
                is_error: ended.is_error,
            };
            let what = WatchedEvent::Http(request);
            self.push(WatchRow { ts_ns: moment.nanos, thread_id, mark: ended.mark, what });
        }
        is_its
    }

    fn message(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let before = self.logs.waiting();
        let is_its = self.logs.event(event, moment, model);
        if self.logs.waiting() > before {
            self.log_marks.push_back(self.mark);
        } else if matches!(event.name(), "MessageJson" | "Message")
            && let Some(newest) = self.log_marks.back_mut()
        {
            *newest |= self.mark;
        }
        let ready = self.logs.take();
        self.push_logs(ready);
        is_its
    }

    fn push_logs(&mut self, messages: Vec<crate::report::LogRow>) {
        for message in messages {
            let mark = self.log_marks.pop_front().unwrap_or(0);
            let (ts_ns, thread_id) = (message.ts_ns, message.thread_id);
            let what = WatchedEvent::Log(message);
            self.push(WatchRow { ts_ns, thread_id, mark, what });
        }
    }
}

impl LiveReport for LiveWatch {
    /// Number of rows that were lost because they were not taken in time.
    type Snapshot = u64;

    const LEARNS: bool = false;

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let thread_id = event.thread_id();
        match event.known_provider() {
            KnownProvider::Runtime => self.runtime(event, moment, thread_id),
            KnownProvider::Logging if self.watches(WatchKind::Logs) => {
                self.message(event, moment, model)
            }
            KnownProvider::Other | KnownProvider::DiagnosticSource => {
                let is_message =
                    self.watches(WatchKind::Logs) && self.message(event, moment, model);
                is_message
                    || self.watches(WatchKind::Http)
                        && self.request(event, moment, model, thread_id)
            }
            _ => false,
        }
    }

    fn snapshot(&self, _: i64, _: &Model) -> u64 {
        self.left_out
    }
}

fn thrown(event: &Event<'_>) -> Option<ThrownException> {
    let thrown = view::Exception::from_event(event)?;
    let message = thrown.message.to_string();
    Some(ThrownException {
        type_name: type_text(&thrown.type_name.to_string(), NameOptions::default()),
        // .NET 6 and later write this if there is no message.
        message: if message == "NULL" { String::new() } else { message },
        hresult: thrown.hresult,
        is_nested: thrown.is_nested(),
        is_rethrown: thrown.is_rethrown(),
    })
}

fn begun_wait(event: &Event<'_>) -> EndedWait {
    let start = view::ContentionStart::from_event(event);
    let lock_id = start.and_then(|start| start.lock_id);
    EndedWait {
        duration_ns: None,
        lock_id: lock_id.map(|id| format!("{id:#x}")),
        owner_thread_id: start.and_then(|start| start.owner_thread_id).filter(|id| *id != 0),
        is_native: start.is_some_and(|start| start.flags == 1),
    }
}

fn pool_change(event: &Event<'_>) -> Option<PoolChange> {
    let mut walk = Walk::new(event);
    Some(match event.id() {
        50 => PoolChange::Started { workers: walk.number("ActiveWorkerThreadCount")? },
        51 => PoolChange::Stopped { workers: walk.number("ActiveWorkerThreadCount")? },
        55 => {
            let throughput = walk.real("AverageThroughput").unwrap_or(0.0);
            let workers = walk.number("NewWorkerThreadCount")?;
            PoolChange::Adjusted {
                workers,
                throughput,
                reason: PoolReason::from_stored(walk.number("Reason")?).to_string(),
            }
        }
        _ => PoolChange::Limits {
            min_workers: walk.number("MinWorkerThreads")?,
            max_workers: walk.number("MaxWorkerThreads")?,
        },
    })
}
