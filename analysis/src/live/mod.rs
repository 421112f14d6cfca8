//! Live views: state that is fed with the events of a running session, and can be looked
//! at while it goes on.
//!
//! A [`Report`](crate::report::Report) answers at the end of a trace. A [`LiveReport`]
//! answers at any time: [`Live::snapshot`]. Both interpret events with the same code.
//! What a live view keeps is bounded by the number of distinct things (series, types,
//! methods), however long the session lasts.
//!
//! The events come from a session of `nettrace-ipc`, or from any other source, such as a
//! pipe or a file. `examples/live_counters.rs` is a program of 60 lines that shows the
//! counters of a process.
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
    LiveTop, TopAllocation, TopCallee, TopCaller, TopContention, TopException, TopHeader,
    TopMethod, TopRequest, TopSnapshot, TopThread, TopWait,
};
pub use unseen_counters::UnseenCounter;
pub use verdict::{SeenThread, verdicts};
pub use watch::{
    CompiledMethod, EndedWait, HttpRequest, LiveWatch, PoolChange, ThrownException, WatchKind,
    WatchRow, WatchedEvent,
};

use crate::model::{Model, ThreadHandle};
use crate::report::Moment;
use nettrace_parser::{Clock, Event};
use std::time::Instant;

/// A view of a running session. [`Live`] feeds it.
pub trait LiveReport {
    /// What it shows at a moment.
    type Snapshot;

    /// Whether the model learns from the events. A model keeps all threads and all code
    /// that there ever were, because traces are named at their end. A view that may run
    /// for days does without: then the model is empty, [`Moment::thread`] stands for the
    /// thread's OS id, and names of frames are kept in [`NamesSoFar`](crate::NamesSoFar).
    const LEARNS: bool = true;

    /// Processes the next event, which is not older than the previous one. Returns
    /// whether the view is about this event.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool;

    /// Returns what there is to see at `now_ns`, in nanoseconds since the session's start.
    fn snapshot(&self, now_ns: i64, model: &Model) -> Self::Snapshot;
}

/// Returns the time by the system's clock. `None` in a browser: WebAssembly without a system has
/// no clock, and asking for it would panic.
fn now() -> Option<Instant> {
    let has_clock = !cfg!(all(target_arch = "wasm32", target_os = "unknown"));
    has_clock.then(Instant::now)
}

/// Feeds a [`LiveReport`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Live<R> {
    /// The view that events are fed to.
    pub report: R,
    /// What has been learned about processes, threads and code.
    pub model: Model,
    clock: Option<Clock>,
    /// The time of the newest event, and when it was processed.
    latest_ns: i64,
    latest_at: Option<Instant>,
    /// Number of events that the view is about.
    pub events: u64,
}

impl<R: LiveReport> Live<R> {
    /// Begins without events.
    pub fn new(report: R) -> Live<R> {
        let model = Model::default();
        Live { report, model, clock: None, latest_ns: 0, latest_at: None, events: 0 }
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
        let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
        self.latest_ns = self.latest_ns.max(nanos);
        self.latest_at = now();
        let moment = Moment::new(thread, nanos, true);
        let is_its = self.report.event(event, &moment, &mut self.model);
        self.events = self.events.saturating_add(u64::from(is_its));
    }

    /// Returns what there is to see now.
    pub fn snapshot(&self) -> R::Snapshot {
        self.snapshot_at(self.now_ns())
    }

    /// Returns what there is to see at a moment, in nanoseconds since the session's start. A
    /// counter without a value for several of its intervals is marked as stopped then.
    pub fn snapshot_at(&self, now_ns: i64) -> R::Snapshot {
        self.report.snapshot(now_ns, &self.model)
    }

    /// Returns the time now, in nanoseconds since the session's start: the time of the newest
    /// event plus the time since it was processed. In a browser, which has no clock for WebAssembly,
    /// the time of the newest event.
    pub fn now_ns(&self) -> i64 {
        let passed = self.latest_at.map_or(0, |at| at.elapsed().as_nanos());
        self.latest_ns.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}
