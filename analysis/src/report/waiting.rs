//! Waits of threads for locks or handles: where, how often, how long.

use super::counts::increase;
use super::distribution::{Distribution, Spread};
use super::stack_rows::ShownFrames;
use crate::hash::HashMap;
use crate::model::intervals::{Edge, Interval, Matcher, nanos_between};
use crate::model::{Frame, FrameHandle, Model, Resolved, ThreadHandle, WaitFor};
use crate::sorted::SortFew;
use std::hash::Hash;
use std::sync::Arc;

/// Waits by place. `P` is the place of a wait; `X` is what a report adds up for a place besides the
/// durations.
#[derive(Debug)]
pub(super) struct Waiting<P, X> {
    sites: HashMap<P, WaitSite<X>>,
    /// Waits in progress, with their place; `None` if the filter did not accept the start.
    open: Matcher<ThreadHandle, Option<P>>,
    totals: WaitTotals,
    last_nanos: i64,
    /// Maximum number of rows in each list of the report.
    pub(super) top: usize,
}

/// Waits at one place.
#[derive(Debug, Default)]
pub(super) struct WaitSite<X> {
    pub(super) started: u64,
    /// Durations of completed waits, as far as they are known.
    pub(super) waits: Distribution,
    pub(super) more: X,
}

/// Totals of all waits for locks or handles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitTotals {
    /// Number of waits that started.
    pub started: u64,
    /// Number of waits that ended.
    pub stopped: u64,
    /// Number of waits still in progress at the end of the trace.
    pub still_waiting: u64,
    /// Number of stops without a start in the trace. The lock or handle of such a wait is unknown;
    /// the duration is known if the stop contains it.
    pub stops_without_start: u64,
    /// Number of starts whose stop was lost.
    pub starts_without_stop: u64,
    /// Durations of completed waits.
    pub waits: Spread,
}

impl<P: Copy + Ord + Hash, X: Default> Waiting<P, X> {
    pub(super) fn new(top: usize) -> Waiting<P, X> {
        let (sites, open, totals) = (HashMap::default(), Matcher::default(), WaitTotals::default());
        Waiting { sites, open, totals, last_nanos: 0, top }
    }

    /// Adds the start of a wait. Returns the additional data of the place; `None` if `place` is
    /// `None`, which says that the filter does not accept the start.
    pub(super) fn start(&mut self, at: Edge, place: Option<P>) -> Option<&mut X> {
        self.last_nanos = at.nanos;
        let lost = &mut self.totals.starts_without_stop;
        self.open.start_inside(at.thread, at, place, |wait| count_lost(lost, &wait));
        let site = self.sites.entry(place?).or_default();
        increase(&mut site.started, 1);
        Some(&mut site.more)
    }

    /// Adds the end of a wait. Returns its duration and the additional data of its place.
    /// `reported`: duration that the stop contains; `is_selected`: whether the filter accepts the
    /// stop; `alone`: place of a wait whose start is unknown.
    pub(super) fn stop(
        &mut self,
        at: Edge,
        reported: Option<u64>,
        is_selected: bool,
        alone: impl FnOnce() -> Option<P>,
    ) -> Option<(u64, &mut X)> {
        self.last_nanos = at.nanos;
        let lost = &mut self.totals.starts_without_stop;
        let wait = self.open.stop(at.thread, at, reported, |wait| count_lost(lost, &wait));
        let wait = match wait {
            Some(wait) => wait,
            None if is_selected => {
                increase(&mut self.totals.stops_without_start, 1);
                Interval::without_start(at, reported, alone())
            }
            None => return None,
        };
        let nanos = wait.measured_nanos()?;
        let site = self.sites.entry(wait.what?).or_default();
        site.waits.add(nanos);
        Some((nanos, &mut site.more))
    }

    /// Returns the waits at the places that pass.
    pub(super) fn finish(mut self, passes: impl Fn(&P) -> bool) -> Waited<P, X> {
        let (mut totals, open) = (self.totals, self.open.finish(self.last_nanos));
        let mut waits = Distribution::default();
        let begun = |wait: Interval<Option<P>>| {
            let place = wait.what.filter(&passes)?;
            Some(BegunWait { place, thread: wait.start.thread, since_nanos: wait.start.nanos })
        };
        let mut open: Vec<BegunWait<P>> = open.filter_map(begun).collect();
        open.sort_by_key(|wait| (wait.since_nanos, wait.thread));
        totals.still_waiting = open.len() as u64;
        let mut sites: Vec<_> = self.sites.into_iter().filter(|(place, _)| passes(place)).collect();
        sites.sort_few_by_key(|(place, _)| *place);
        for (_, site) in &sites {
            totals.started = totals.started.saturating_add(site.started);
            waits.merge(&site.waits);
        }
        (totals.stopped, totals.waits) = (waits.count(), waits.spread());
        Waited { totals, sites, open }
    }
}

/// Waits of a trace at the accepted places.
#[derive(Debug)]
pub(super) struct Waited<P, X> {
    pub(super) totals: WaitTotals,
    /// Places in order, with their waits.
    pub(super) sites: Vec<(P, WaitSite<X>)>,
    /// Waits that are not over at the end of the trace, longest first.
    pub(super) open: Vec<BegunWait<P>>,
}

/// Maximum number of unfinished waits in a list. In a stream of few bytes, many threads may share a
/// stack of thousands of frames, which each row of the list repeats. Totals count all waits.
pub(super) const MAX_OPEN: usize = 100;

/// A wait that is not over at the end of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct BegunWait<P> {
    pub(super) place: P,
    pub(super) thread: ThreadHandle,
    pub(super) since_nanos: i64,
}

/// A thread that still waits at the end of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OpenWait {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Name; `None` if the thread has none.
    pub name: Option<String>,
    /// Start of the wait, in nanoseconds since the session's start.
    pub since_ns: i64,
    /// Time from the start of the wait to the end of the trace, in nanoseconds.
    pub at_least_ns: u64,
    /// Kind of thing that the thread waits for.
    pub waits_for: WaitFor,
    /// Whether the thread is a worker of the thread pool, which then runs no other work.
    pub is_pool_worker: bool,
    /// Frames of the waiting stack, innermost first.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "crate::model::with_lines"))]
    pub frames: Vec<Arc<Frame>>,
}

impl<P> BegunWait<P> {
    /// Returns the time from the start of the wait to the end of the trace, in nanoseconds.
    pub(super) fn at_least_ns(&self, model: &Model) -> u64 {
        let end = model.selected().last_nanos().unwrap_or(self.since_nanos);
        nanos_between(self.since_nanos, end)
    }
}

impl OpenWait {
    /// Returns the row for a wait. `frames`: frames of its stack that are shown.
    pub(super) fn at<P>(
        wait: &BegunWait<P>,
        waits_for: WaitFor,
        frames: &[FrameHandle],
        shown: &mut ShownFrames<'_, '_>,
    ) -> OpenWait {
        let resolved = shown.resolved();
        let model = resolved.model();
        let row = model.thread(wait.thread);
        OpenWait {
            thread_id: row.and_then(|row| row.os_thread_id),
            name: row.and_then(|row| row.name.clone()),
            since_ns: wait.since_nanos,
            at_least_ns: wait.at_least_ns(model),
            waits_for,
            is_pool_worker: is_pool_worker(frames, resolved),
            frames: shown.names(frames).0,
        }
    }
}

/// Returns whether a stack is of a worker of the thread pool: one of its outermost frames runs work
/// items.
pub(crate) fn is_pool_worker(frames: &[FrameHandle], resolved: &Resolved<'_>) -> bool {
    frames
        .iter()
        .rev()
        .take(OUTERMOST)
        .any(|frame| resolved.frame(*frame).is_some_and(|frame| is_pool_frame(frame)))
}

/// Returns whether a frame is a method of the thread pool from which a worker runs work items.
pub(crate) fn is_pool_frame(frame: &Frame) -> bool {
    let is_worker = |(type_name, method): &(&str, &str)| {
        frame.type_name == *type_name && frame.bare_method().starts_with(method)
    };
    POOL_WORKERS.iter().any(is_worker)
}

/// Methods from which a worker of the thread pool runs work items, of several runtimes and
/// platforms: type, beginning of the method's name.
const POOL_WORKERS: &[(&str, &str)] = &[
    ("ThreadPoolWorkQueue", "Dispatch"),
    ("PortableThreadPool", "WorkerThread"),
    ("PortableThreadPool.WorkerThread", ""),
    ("PortableThreadPool+WorkerThread", ""),
    ("WindowsThreadPool", ""),
    ("_ThreadPoolWaitCallback", ""),
];

/// Number of outermost frames of a stack among which a frame of the thread pool is searched for.
const OUTERMOST: usize = 6;

fn count_lost<P>(count: &mut u64, wait: &Interval<Option<P>>) {
    if wait.what.is_some() {
        increase(count, 1);
    }
}
