//! Live view of the last seconds of a process: hot methods, allocations, exceptions, locks, waits
//! and requests.
//!
//! Each second is kept as sums ([`slice`]) and dropped when it is older than the window. Names are
//! looked up when a snapshot is taken, among the methods loaded until then.

mod callers;
mod methods;
mod named_stack;
mod processor_time;
mod rows;
mod slice;
mod snapshot;
mod window;

pub use callers::{TopCallee, TopCaller};
pub use rows::{
    TopAllocation, TopContention, TopException, TopHeader, TopMethod, TopRequest, TopSnapshot,
    TopThread, TopWait,
};

use super::LiveReport;
use crate::model::activity_path::PathForm;
use crate::model::intervals::{Edge, Interval, LockWaits, Matcher, Suspensions, reported_nanos};
use crate::model::{Mode, Model, NameOptions, NamesSoFar, ThreadHandle};
use crate::report::Moment;
use crate::report::counters::{CounterValues, Published};
use crate::report::requests::OpenRequests;
use crate::report::threadpool::is_starvation;
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, View};
use processor_time::{ProcessorTimes, UsedTime};
use slice::{CountedEvent, EventSum, Slice};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Nanoseconds per second.
const SECOND_NS: i64 = 1_000_000_000;
/// Maximum length of the window, in seconds.
const MAX_SECONDS: u64 = 60;
/// Default of the maximum number of rows of each list.
const MAX_ROWS: usize = 200;
/// Maximum number of threads that take samples.
const MAX_SAMPLERS: usize = 8;
/// Counters of System.Runtime that the header shows.
const COUNTERS: [&str; 10] = [
    "cpu-usage",
    "total-pause-time-by-gc",
    "exception-count",
    "monitor-lock-contention-count",
    "working-set",
    "gc-heap-size",
    "time-in-gc",
    "threadpool-queue-length",
    "threadpool-thread-count",
    "alloc-rate",
];

/// Thread as the operating system reports it at a time. It is written as
/// `ThreadNow { id, ran_ns, ..ThreadNow::default() }`, and so takes fields more.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ThreadNow<'n> {
    /// OS id in the namespace of the process.
    pub id: u64,
    /// Name for sentences ([`TopSnapshot::verdicts`]).
    pub name: &'n str,
    /// Time on a processor since the thread's start, in nanoseconds.
    pub ran_ns: u64,
    /// Time since the thread's start in which it was ready and had no processor, in nanoseconds.
    pub ready_ns: u64,
}

/// Live view of the last seconds of a process. [`Live`](super::Live) passes it the events of a
/// session.
///
/// Memory is bounded by the window, by 20,000 distinct stacks in each second, and by the limit of
/// [`NamesSoFar`] for names. Samples and occurrences that find no room are counted
/// ([`TopHeader::left_out`]).
///
/// ```
/// use nettrace_analysis::live::{Live, LiveTop};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut live = Live::new(LiveTop::default().rows(20));
/// let mut events = Reader::from_slice(&bytes).time_ordered();
/// while let Some(event) = events.next_event()? {
///     live.event(&event);
///     // Whenever the state is needed:
///     let snapshot = live.snapshot();
///     for method in &snapshot.methods {
///         println!("{:5.1} % {}", method.self_percent, method.name);
///     }
/// }
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
pub struct LiveTop {
    /// Names of methods. Locked while a snapshot is taken, which makes a name when it is first
    /// shown.
    names: Mutex<NamesSoFar>,
    seconds: u64,
    rows: usize,
    slices: VecDeque<Slice>,
    process: Option<u64>,
    first_ns: Option<i64>,
    locks: LockWaits,
    waits: Matcher<ThreadHandle, Vec<u64>>,
    suspensions: Suspensions<()>,
    requests: OpenRequests,
    counters: CounterValues,
    latest_counters: BTreeMap<&'static str, f64>,
    thread_times: ProcessorTimes,
    thread_names: BTreeMap<u64, String>,
    /// OS ids of the threads that took samples.
    samplers: Vec<u64>,
    /// Stack of the current event, innermost frame first.
    stack: Vec<u64>,
}

/// Writes how much the view holds, and nothing of what it has seen.
impl fmt::Debug for LiveTop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveTop")
            .field("seconds", &self.seconds)
            .field("rows", &self.rows)
            .field("slices", &self.slices.len())
            .finish_non_exhaustive()
    }
}

impl Default for LiveTop {
    /// Creates a view with a window of five seconds.
    fn default() -> LiveTop {
        LiveTop {
            names: Mutex::new(NamesSoFar::new(NameOptions::default())),
            seconds: 5,
            rows: MAX_ROWS,
            slices: VecDeque::new(),
            process: None,
            first_ns: None,
            locks: LockWaits::default(),
            waits: Matcher::default(),
            suspensions: Suspensions::default(),
            requests: OpenRequests::default(),
            counters: CounterValues::default(),
            latest_counters: BTreeMap::new(),
            thread_times: ProcessorTimes::default(),
            thread_names: BTreeMap::new(),
            samplers: Vec::new(),
            stack: Vec::new(),
        }
    }
}

impl LiveTop {
    /// Sets the length of the window, in whole seconds: 1 to 60.
    #[must_use]
    pub fn window(mut self, window: Duration) -> LiveTop {
        self.seconds = window.as_secs().clamp(1, MAX_SECONDS);
        self
    }

    /// Sets the maximum number of rows of each list of a snapshot; the default is 200.
    #[must_use]
    pub fn rows(mut self, rows: usize) -> LiveTop {
        self.rows = rows;
        self
    }

    /// Returns the names of methods. Events of another session can add methods that were loaded
    /// before this one ([`NamesSoFar::learn`]).
    pub fn names_mut(&mut self) -> &mut NamesSoFar {
        self.names.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the memory map of the process, by which code without a name is shown: see
    /// [`NamesSoFar::set_mappings`].
    pub fn set_mappings(&mut self, mappings: &[(u64, u64, String)]) {
        let process = self.process;
        let mappings = mappings.iter().map(|(first, last, file)| (*first, *last, file.as_str()));
        self.names_mut().set_mappings(process, mappings);
    }

    /// Sets names and processor times by the operating system, as it told them at a time. Times are
    /// in nanoseconds since the start of process or thread. Call it for each round of readings: a few
    /// times a second.
    ///
    /// A thread is sampled as often while it waits as while it runs, and some waits look like
    /// native code that computes. With these times, samples count as much as their thread ran, by
    /// the rule of recordings with the times of their threads
    /// ([`TopHeader::is_by_processor_time`]).
    pub fn set_threads<'n>(
        &mut self,
        now_ns: i64,
        of_process: u64,
        threads: impl Iterator<Item = ThreadNow<'n>> + Clone,
    ) {
        let times = threads
            .clone()
            .map(|thread| (thread.id, UsedTime { ran: thread.ran_ns, ready: thread.ready_ns }));
        if let Some(used) = self.thread_times.take(now_ns, of_process, times) {
            self.stack.clear();
            // What was used since the last round belongs to the second with the middle between both.
            let middle = now_ns.saturating_sub_unsigned(used.span / 2);
            self.add(middle, |slice, _| slice.used_times.add(&used));
        }
        self.thread_names = threads.map(|thread| (thread.id, thread.name.to_owned())).collect();
    }

    fn take_stack(&mut self, event: &Event<'_>) {
        self.stack.extend(event.stack().addresses());
    }

    /// Calls `add` with the slice of a moment's second and the event's stack.
    fn add(&mut self, nanos: i64, add: impl FnOnce(&mut Slice, &[u64])) {
        let second = nanos.div_euclid(SECOND_NS);
        if self.slices.back().is_none_or(|newest| newest.second < second) {
            self.slices.push_back(Slice::new(second));
            let oldest = second.saturating_sub(i64::try_from(self.seconds).unwrap_or(i64::MAX));
            while self.slices.front().is_some_and(|slice| slice.second < oldest) {
                self.slices.pop_front();
            }
        }
        let place = self.slices.iter().rposition(|slice| slice.second <= second).unwrap_or(0);
        if let Some(slice) = self.slices.get_mut(place) {
            add(slice, &self.stack);
        }
    }

    fn runtime(&mut self, event: &Event<'_>, at: Edge) {
        if LockWaits::is_edge(event.id()) {
            self.locks.event(event, at.thread, at.nanos);
        }
        match event.id() {
            1 => {
                self.add(at.nanos, |slice, _| {
                    slice.collections = slice.collections.saturating_add(1);
                });
            }
            10 | 303 => {
                let Some(allocation) = view::Allocation::from_event(event) else { return };
                let Some(bytes) = allocation.bytes_since_last else { return };
                let label = allocation.type_name.to_string();
                self.count(event, at.nanos, CountedEvent::Allocation, &label, bytes);
            }
            80 => {
                let Some(exception) = view::Exception::from_event(event) else { return };
                let label = exception.type_name.to_string();
                self.count(event, at.nanos, CountedEvent::Exception, &label, 1);
            }
            81 => {
                self.take_stack(event);
                let stack = std::mem::take(&mut self.stack);
                self.waits.start_inside(at.thread, at, stack, |_| {});
            }
            91 => {
                let reported = reported_nanos(event);
                let wait = self.waits.stop(at.thread, at, reported, |_| {});
                let wait =
                    wait.unwrap_or_else(|| Interval::without_start(at, reported, Vec::new()));
                let Some(waited) = wait.measured_nanos() else { return };
                self.stack = wait.what;
                let sum = EventSum { count: 1, weight: waited, max: waited, errors: 0 };
                self.add(at.nanos, |slice, stack| {
                    slice.count(CountedEvent::Contention, "", stack, sum);
                });
            }
            _ if is_starvation(event) => self.add(at.nanos, |slice, _| {
                slice.starvations = slice.starvations.saturating_add(1);
            }),
            _ => {
                let Some(suspension) = view::Suspension::from_event(event) else { return };
                let ended = self.suspensions.event(suspension, at, || (), |_| {});
                let Some(ended) = ended.filter(|ended| ended.what.is_for_collection()) else {
                    return;
                };
                self.add(at.nanos, |slice, _| {
                    slice.gc_pause_ns = slice.gc_pause_ns.saturating_add(ended.nanos);
                });
            }
        }
    }

    fn count(
        &mut self,
        event: &Event<'_>,
        nanos: i64,
        what: CountedEvent,
        label: &str,
        weight: u64,
    ) {
        self.take_stack(event);
        let sum = EventSum { count: 1, weight, max: weight, errors: 0 };
        self.add(nanos, |slice, stack| slice.count(what, label, stack, sum));
    }

    fn counter(&mut self, event: &Event<'_>, nanos: i64) {
        let thread = ThreadHandle(0);
        let moment = Moment::new(thread, Some(nanos), true, PathForm::Complete, None);
        let latest = &mut self.latest_counters;
        self.counters.read(event, &moment, |Published { key, point, .. }| {
            let name = COUNTERS
                .into_iter()
                .find(|name| key.provider == "System.Runtime" && key.name == *name);
            if let Some(name) = name {
                latest.insert(name, point.rate_per_second.unwrap_or(point.value));
            }
        });
    }

    /// Processes the start or stop of an HTTP request.
    fn request(&mut self, event: &Event<'_>, moment: &Moment, model: &Model) {
        for ended in self.requests.event(event, moment, 0, None, model) {
            let nanos = ended.duration_ns.unwrap_or(0);
            let errors = u64::from(ended.is_error);
            let sum = EventSum { count: 1, weight: nanos, max: nanos, errors };
            let label = ended.facts.label();
            let label = label.as_deref().unwrap_or("request");
            self.add(moment.nanos, |slice, stack| {
                slice.count(CountedEvent::Request, label, stack, sum)
            });
        }
    }
}

impl LiveReport for LiveTop {
    type Snapshot = TopSnapshot;

    /// False, because names come from [`LiveTop::names_mut`], which forgets unloaded code.
    const LEARNS: bool = false;

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let nanos = moment.nanos;
        self.first_ns.get_or_insert(nanos);
        let process = event.process_id();
        if self.process != process {
            // Mappings may have been set before the first event names the process.
            let before = std::mem::replace(&mut self.process, process);
            self.names_mut().move_mappings(before, process);
        }
        let at = Edge::from_event(event, moment.thread, nanos);
        self.stack.clear();
        match event.known_provider() {
            KnownProvider::SampleProfiler => {
                let Some(sample) = view::Sample::from_event(event) else { return false };
                self.take_stack(event);
                let mut mode = Mode::from_state(sample.state);
                if !self.locks.is_empty()
                    && self.locks.is_waiting(at.thread, self.stack.iter().copied())
                {
                    mode = Mode::Blocked;
                }
                let sampler = event.capture_thread();
                if self.samplers.len() < MAX_SAMPLERS && !self.samplers.contains(&sampler) {
                    self.samplers.push(sampler);
                }
                let id = event.thread_id().unwrap_or(0);
                self.add(nanos, |slice, stack| slice.sample(id, stack, mode));
            }
            KnownProvider::Runtime => {
                self.names_mut().learn(event);
                self.runtime(event, at);
            }
            KnownProvider::Rundown => self.names_mut().learn(event),
            KnownProvider::Other => {
                if event.name() == "EventCounters" {
                    self.counter(event, nanos);
                } else {
                    self.request(event, moment, model);
                }
            }
            _ => return false,
        }
        true
    }

    fn snapshot(&self, now_ns: i64, _: &Model) -> TopSnapshot {
        self.look(now_ns)
    }
}
