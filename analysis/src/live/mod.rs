//! Live views: state that is computed from the events of a running session and can be shown at any
//! time.
//!
//! A [`Report`](crate::report::Report) has a result at the end of a trace, a [`LiveReport`] at any
//! time: [`Live::snapshot`]. Both interpret events with the same code. The memory of a live view is
//! bounded by the number of distinct things, such as series, types and methods, however long the
//! session lasts.
//!
//! Events come from a session of `nettrace-ipc` or from another source, such as a pipe or a file.
//! `examples/live_counters.rs` is a program of 60 lines that shows the counters of a process.
//!
//! ```
//! use nettrace_analysis::live::{Live, LiveCounters};
//! use nettrace_parser::Reader;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let mut live = Live::new(LiveCounters::default());
//! let mut events = Reader::from_slice(&bytes).time_ordered();
//! while let Some(event) = events.next_event()? {
//!     live.event(&event);
//!     // Here, or on another thread with a mutex, whenever the state is needed:
//!     let snapshot = live.snapshot();
//!     assert!(snapshot.series.is_empty());
//! }
//! # Ok::<(), nettrace_parser::Error>(())
//! ```

mod counter_list;
mod counters;
mod discovery;
mod notices;
mod thread_stacks;
mod top;
mod unseen_counters;
mod verdict;
mod watch;

pub use counter_list::{CounterChoice, CounterList, CounterListError};
pub use counters::{CountersSnapshot, LiveCounters, LiveSeries};
pub use discovery::{
    DiscoveredCounter, DiscoveredEvent, DiscoveredInstrument, Discovery, DiscoverySnapshot,
};
pub use notices::MetricsNotice;
pub use thread_stacks::{HeldLock, SampledThread, ThreadStacks, ThreadStacksReport};
pub use top::{
    LiveTop, ThreadNow, TopAllocation, TopCallee, TopCaller, TopContention, TopException,
    TopHeader, TopMethod, TopRequest, TopSnapshot, TopThread, TopWait,
};
pub use unseen_counters::UnseenCounter;
pub use verdict::{SeenThread, verdicts};
pub use watch::{
    CompiledMethod, EndedWait, HttpRequest, LiveWatch, PoolChange, ThrownException, WatchKind,
    WatchRow, WatchedEvent,
};

use crate::model::activity_edge::EdgeTypes;
use crate::model::{Model, ThreadHandle};
use crate::report::Moment;
use nettrace_parser::{Clock, Event};
use std::time::Instant;

/// View of a running session. [`Live`] passes it the events.
pub trait LiveReport {
    /// State that is shown at a moment.
    type Snapshot;

    /// Whether the model learns from the events. A model keeps all threads and all code that ever
    /// existed. A view that may run for days does without it: then the model is empty,
    /// [`Moment::thread`] is the thread's OS id, and [`NamesSoFar`](crate::NamesSoFar) has the
    /// names of frames.
    const LEARNS: bool = true;

    /// Processes the next event, in time order. Returns whether the view is about this event.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool;

    /// Returns the state at `now_ns`, in nanoseconds since the session's start.
    fn snapshot(&self, now_ns: i64, model: &Model) -> Self::Snapshot;
}

/// Returns the time by the system's clock. `None` in a browser, where WebAssembly has no clock and
/// reading it would panic.
fn now() -> Option<Instant> {
    let has_clock = !cfg!(all(target_arch = "wasm32", target_os = "unknown"));
    has_clock.then(Instant::now)
}

/// A [`LiveReport`] with the model and the clock of its session.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct Live<R> {
    /// View that receives the events.
    pub report: R,
    /// Processes, threads and code known so far; empty unless [`LiveReport::LEARNS`].
    pub model: Model,
    edge_types: EdgeTypes,
    clock: Option<Clock>,
    /// Time of the newest event, in nanoseconds since the session's start.
    latest_ns: i64,
    latest_at: Option<Instant>,
    /// Number of events that the view is about.
    pub event_count: u64,
}

impl<R: LiveReport> Live<R> {
    /// Creates the view before any event.
    pub fn new(report: R) -> Live<R> {
        let model = Model::default();
        let edge_types = EdgeTypes::default();
        Live {
            report,
            model,
            edge_types,
            clock: None,
            latest_ns: 0,
            latest_at: None,
            event_count: 0,
        }
    }

    /// Processes the next event; events must come in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        let thread = match R::LEARNS {
            true => self.model.learn(event),
            false => {
                let id = event.thread_id().and_then(|id| u32::try_from(id).ok());
                ThreadHandle(id.unwrap_or(u32::MAX))
            }
        };
        let clock = *self.clock.get_or_insert_with(|| event.session().clock());
        let nanos = clock.nanos_since_start(event.timestamp_ticks());
        self.latest_ns = self.latest_ns.max(nanos.unwrap_or(0));
        self.latest_at = now();
        let edge_type = self.edge_types.look_up(event);
        let moment = Moment::new(thread, nanos, true, self.model.path_form(thread), edge_type);
        let is_its = self.report.event(event, &moment, &mut self.model);
        self.event_count = self.event_count.saturating_add(u64::from(is_its));
    }

    /// Returns the time of a tick of the session's clock, in nanoseconds since the session's start;
    /// `None` before the first event.
    pub fn nanos_at(&self, ticks: u64) -> Option<i64> {
        self.clock.and_then(|clock| clock.nanos_since_start(ticks))
    }

    /// Returns the state now.
    pub fn snapshot(&self) -> R::Snapshot {
        self.snapshot_at(self.now_ns())
    }

    /// Returns the state at a moment, in nanoseconds since the session's start. The moment decides,
    /// for example, which counters have stopped.
    pub fn snapshot_at(&self, now_ns: i64) -> R::Snapshot {
        self.report.snapshot(now_ns, &self.model)
    }

    /// Returns the current time, in nanoseconds since the session's start: the time of the newest
    /// event plus the time since it was processed. In a browser, where WebAssembly has no clock, it
    /// is the time of the newest event.
    pub fn now_ns(&self) -> i64 {
        let passed = self.latest_at.map_or(0, |at| at.elapsed().as_nanos());
        self.latest_ns.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}
