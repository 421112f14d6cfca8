//! Thread pool: workers, adjustments of their number, and queued work.

use super::contract::{Moment, Recording, Report, SCHEMA};
use super::counts::increase;
use super::distribution::{Distribution, Spread};
use super::fields::Walk;
use super::series::{Series, SeriesPoint};
use crate::model::intervals::Matcher;
use crate::model::{Model, ProcessHandle, Resolved};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;
use std::fmt;

/// Computes a [`ThreadPoolReport`].
///
/// | event | meaning |
/// |---|---|
/// | runtime 50, 51, 57 | a worker started, stopped, waits for work; the number of workers |
/// | runtime 52, 53 | a worker retired, came back |
/// | runtime 54 | work items completed per second |
/// | runtime 55 | the target number of workers was adjusted, and why |
/// | runtime 59 | the limits |
/// | runtime 61, 62 and FrameworkEventSource 30, 31 | a work item was enqueued, was dequeued |
/// | runtime 63, 64 | the same for I/O, and for waits registered with the pool |
///
/// Memory is bounded: the number of workers is kept for at most 512 intervals, waiting times are
/// counted in buckets, and at most 10,000 adjustments are listed.
#[derive(Debug, Default)]
pub struct ThreadPool {
    workers: Series,
    throughput: Series,
    adjustments: Vec<PoolAdjustment>,
    left_out: u64,
    max_target: Option<u64>,
    reasons: BTreeMap<u64, u64>,
    /// Adjustments for the reason `Starvation`.
    starvation: Option<PoolStarvation>,
    /// Adjustments for the reason `CooperativeBlocking`.
    blocking: Option<PoolStarvation>,
    limits: Option<PoolLimits>,
    waiting: Matcher<(ProcessHandle, Queue, u64), ()>,
    /// Number of work items waiting now, without I/O.
    queued: u64,
    queue: Series,
    /// Number of waiting work items that are not in `waiting`, which was full.
    not_kept: u64,
    latency: Distribution,
    io_latency: Distribution,
    enqueued: u64,
    started: u64,
    stopped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Queue {
    Runtime,
    Framework,
    Io,
}

/// Thread pool over time.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadPoolReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Last reported limits of the pool; `None` if not reported, which the runtime does when the
    /// process starts and when they change.
    pub limits: Option<PoolLimits>,
    /// Lowest reported number of workers; `None` if none was reported.
    pub min_workers: Option<u64>,
    /// Highest reported number of workers; `None` if none was reported.
    pub max_workers: Option<u64>,
    /// Highest number of workers that the pool aimed at; `None` without adjustments.
    pub max_target: Option<u64>,
    /// Number of workers that started.
    pub started: u64,
    /// Number of workers that stopped.
    pub stopped: u64,
    /// Whether the pool lacked workers that could run: work waited and none was completed, or blocked
    /// workers that wait for tasks made the pool add a worker ten times or more.
    pub is_starved: bool,
    /// Summary of the adjustments for blocked workers; `None` unless `is_starved`.
    pub starvation: Option<PoolStarvation>,
    /// Number of adjustments by reason, most frequent first.
    pub reasons: Vec<PoolReasonCount>,
    /// Adjustments in time order, at most 10,000.
    pub adjustments: Vec<PoolAdjustment>,
    /// Number of adjustments beyond those in `adjustments`.
    pub adjustments_left_out: u64,
    /// Number of workers over time.
    pub workers: Vec<SeriesPoint>,
    /// Number of work items completed per second, over time.
    pub throughput: Vec<SeriesPoint>,
    /// Number of work items waiting for a worker, over time; empty if their events were not
    /// recorded.
    pub queue: Vec<SeriesPoint>,
    /// Number of work items enqueued; 0 if their events were not recorded.
    pub enqueued: u64,
    /// Times that work items waited until a worker dequeued them; `None` without such items.
    pub latency: Option<Spread>,
    /// Times that completed I/O, and callbacks registered for a handle, waited until a worker
    /// dequeued them; `None` without such items.
    pub io_latency: Option<Spread>,
    /// Number of work items still enqueued at the end of the trace.
    pub never_dequeued: u64,
}

/// Limits of the number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolLimits {
    /// Number of workers below which the pool adds workers without delay.
    pub min_workers: u64,
    /// Maximum number of workers.
    pub max_workers: u64,
}

/// Summary of the adjustments for blocked workers: `Starvation`, and `CooperativeBlocking` if there
/// are ten or more of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolStarvation {
    /// Number of adjustments.
    pub count: u64,
    /// Time of the first adjustment, in nanoseconds since the session's start.
    pub first_ns: i64,
    /// Time of the last adjustment, in nanoseconds since the session's start.
    pub last_ns: i64,
    /// Highest target number of workers.
    pub most_workers: u64,
}

impl PoolStarvation {
    fn new(at_ns: i64, most_workers: u64) -> PoolStarvation {
        PoolStarvation { count: 1, first_ns: at_ns, last_ns: at_ns, most_workers }
    }

    /// Returns the summary of these adjustments and of earlier ones.
    fn after(self, earlier: Option<PoolStarvation>) -> Option<PoolStarvation> {
        let Some(earlier) = earlier else { return Some(self) };
        Some(PoolStarvation {
            count: earlier.count.saturating_add(self.count),
            first_ns: earlier.first_ns.min(self.first_ns),
            last_ns: earlier.last_ns.max(self.last_ns),
            most_workers: earlier.most_workers.max(self.most_workers),
        })
    }
}

/// Adjustment of the target number of workers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolAdjustment {
    /// Time in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// New target number of workers.
    pub workers: u64,
    /// Number of work items completed per second before the adjustment.
    pub throughput: f64,
    /// Reason for the adjustment. In JSON: `Warmup`, `Initializing`, `RandomMove`, `ClimbingMove`,
    /// `ChangePoint`, `Stabilizing`, `Starvation`, `ThreadTimedOut`, `CooperativeBlocking`, or a
    /// number.
    pub reason: PoolReason,
}

const MAX_ADJUSTMENTS: usize = 10_000;
const FRAMEWORK: &str = "System.Diagnostics.Eventing.FrameworkEventSource";
const STARVATION: u64 = 6;
const COOPERATIVE_BLOCKING: u64 = 8;
const ADJUSTMENT_ID: u32 = 55;
/// Minimum number of adjustments of the reason `CooperativeBlocking` that are called starvation: a
/// few are normal.
const MIN_BLOCKING: u64 = 10;

/// Returns whether an event of the runtime tells that the pool added a worker because others were
/// blocked: no work was completed, or they wait for tasks.
pub(crate) fn is_starvation(event: &Event<'_>) -> bool {
    event.id() == ADJUSTMENT_ID
        && Walk::new(event)
            .number("Reason")
            .is_some_and(|reason| matches!(reason, STARVATION | COOPERATIVE_BLOCKING))
}

/// Reason for an adjustment of the target number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolReason(u64);

impl PoolReason {
    /// The pool measures before it compares numbers of workers.
    pub const WARMUP: PoolReason = PoolReason(0);
    /// The pool begins to measure.
    pub const INITIALIZING: PoolReason = PoolReason(1);
    /// The pool tries another number of workers.
    pub const RANDOM_MOVE: PoolReason = PoolReason(2);
    /// The pool moves towards the number of workers with which more work is completed.
    pub const CLIMBING_MOVE: PoolReason = PoolReason(3);
    /// The rate of completed work changed.
    pub const CHANGE_POINT: PoolReason = PoolReason(4);
    /// The pool keeps the number of workers.
    pub const STABILIZING: PoolReason = PoolReason(5);
    /// A worker was added because no work was completed for a while.
    pub const STARVATION: PoolReason = PoolReason(STARVATION);
    /// A worker found no work for long, and ended.
    pub const THREAD_TIMED_OUT: PoolReason = PoolReason(7);
    /// Workers were added because others wait for tasks.
    pub const COOPERATIVE_BLOCKING: PoolReason = PoolReason(COOPERATIVE_BLOCKING);

    /// Makes the reason from its number in the event.
    pub(crate) fn from_stored(stored: u64) -> PoolReason {
        PoolReason(stored)
    }

    /// Returns whether the pool added a worker because others were blocked.
    pub fn is_for_blocked_workers(self) -> bool {
        matches!(self, PoolReason::STARVATION | PoolReason::COOPERATIVE_BLOCKING)
    }
}

impl fmt::Display for PoolReason {
    /// Writes the runtime's name, or the number of a reason without one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match *self {
            PoolReason::WARMUP => "Warmup",
            PoolReason::INITIALIZING => "Initializing",
            PoolReason::RANDOM_MOVE => "RandomMove",
            PoolReason::CLIMBING_MOVE => "ClimbingMove",
            PoolReason::CHANGE_POINT => "ChangePoint",
            PoolReason::STABILIZING => "Stabilizing",
            PoolReason::STARVATION => "Starvation",
            PoolReason::THREAD_TIMED_OUT => "ThreadTimedOut",
            PoolReason::COOPERATIVE_BLOCKING => "CooperativeBlocking",
            PoolReason(other) => return write!(f, "{other}"),
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for PoolReason {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Row of a reason, with its number of adjustments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolReasonCount {
    /// Reason for the adjustments.
    pub reason: PoolReason,
    /// Number of adjustments.
    pub count: u64,
}

impl ThreadPool {
    fn workers(&mut self, event: &Event<'_>, moment: &Moment) -> Option<()> {
        let workers = Walk::new(event).number("ActiveWorkerThreadCount")?;
        if moment.is_selected {
            self.workers.add(moment.nanos, workers as f64);
            match event.id() {
                50 => increase(&mut self.started, 1),
                51 => increase(&mut self.stopped, 1),
                _ => {}
            }
        }
        Some(())
    }

    fn adjustment(&mut self, event: &Event<'_>, moment: &Moment) -> Option<()> {
        let mut walk = Walk::new(event);
        let throughput = walk.real("AverageThroughput").unwrap_or(0.0);
        let workers = walk.number("NewWorkerThreadCount")?;
        let stored = walk.number("Reason")?;
        if !moment.is_selected {
            return Some(());
        }
        increase(self.reasons.entry(stored).or_default(), 1);
        self.max_target = self.max_target.max(Some(workers));
        let this = PoolStarvation::new(moment.nanos, workers);
        match stored {
            STARVATION => self.starvation = this.after(self.starvation),
            COOPERATIVE_BLOCKING => self.blocking = this.after(self.blocking),
            _ => {}
        }
        if self.adjustments.len() < MAX_ADJUSTMENTS {
            let ts_ns = moment.nanos;
            self.adjustments.push(PoolAdjustment {
                ts_ns,
                workers,
                throughput,
                reason: PoolReason(stored),
            });
        } else {
            increase(&mut self.left_out, 1);
        }
        Some(())
    }

    fn work(
        &mut self,
        queue: Queue,
        is_in: bool,
        event: &Event<'_>,
        moment: &Moment,
        model: &Model,
    ) -> Option<()> {
        let process = model.thread(moment.thread)?.process;
        let mut walk = Walk::new(event);
        let id = walk.number(match queue {
            Queue::Runtime => "WorkID",
            Queue::Framework => "workID",
            Queue::Io => "NativeOverlapped",
        })?;
        let (key, at) = ((process, queue, id), moment.edge(event));
        if is_in {
            // An id may be reused though the end of its older work item was not reported.
            let mut forgotten = 0;
            self.waiting.start_again(key, at, (), |lost| match lost.start == at {
                // The matcher is full and gives back the new work item, which waits all the same.
                true => self.not_kept = self.not_kept.saturating_add(1),
                false => forgotten = 1,
            });
            self.enqueued = self.enqueued.saturating_add(u64::from(moment.is_selected));
            self.queued(queue, moment, self.queued.saturating_add(1).saturating_sub(forgotten));
            return Some(());
        }
        let waited = self.waiting.stop(key, at, None, |_| {});
        if waited.is_none() {
            // The work item may be one that found no room.
            self.not_kept = self.not_kept.checked_sub(1)?;
        }
        self.queued(queue, moment, self.queued.saturating_sub(1));
        let waited = waited?;
        if moment.is_selected {
            match queue {
                Queue::Io => self.io_latency.add(waited.nanos),
                _ => self.latency.add(waited.nanos),
            }
        }
        Some(())
    }

    /// Sets the number of work items that wait from now on.
    fn queued(&mut self, queue: Queue, moment: &Moment, queued: u64) {
        if queue == Queue::Io {
            return;
        }
        self.queued = queued;
        if moment.is_selected {
            self.queue.add(moment.nanos, queued as f64);
        }
    }
}

impl Report for ThreadPool {
    type Output = ThreadPoolReport;

    const NAME: &'static str = "threadpool";
    const ABOUT: &'static str = "Worker threads over time, adjustments, starvation, queued work";
    // The first has the workers, the second the queue.
    const RECORD: &'static [Recording] =
        &[Recording::runtime(0x1_0000, 4), Recording::new(FRAMEWORK, 0x12, 5)];

    fn wants(&self, event: &Event<'_>) -> bool {
        match event.known_provider() {
            KnownProvider::Runtime => matches!(event.id(), 50..=55 | 57 | 59 | 61..=64),
            _ => matches!(event.id(), 30 | 31) && event.provider() == FRAMEWORK,
        }
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if event.known_provider() != KnownProvider::Runtime {
            let _ = self.work(Queue::Framework, event.id() == 30, event, moment, model);
            return true;
        }
        let _ = match event.id() {
            50..=53 | 57 => self.workers(event, moment),
            54 => Walk::new(event).real("Throughput").map(|throughput| {
                if moment.is_selected {
                    self.throughput.add(moment.nanos, throughput);
                }
            }),
            55 => self.adjustment(event, moment),
            59 => {
                let mut walk = Walk::new(event);
                let min_workers = walk.number("MinWorkerThreads");
                let max_workers = walk.number("MaxWorkerThreads");
                if let (Some(min_workers), Some(max_workers)) = (min_workers, max_workers) {
                    self.limits = Some(PoolLimits { min_workers, max_workers });
                }
                None
            }
            id @ (61 | 62) => self.work(Queue::Runtime, id == 61, event, moment, model),
            id @ (63 | 64) => self.work(Queue::Io, id == 63, event, moment, model),
            _ => return false,
        };
        true
    }

    fn finish(mut self, _: &Resolved<'_>) -> ThreadPoolReport {
        let starvation = match self.blocking.filter(|blocking| blocking.count >= MIN_BLOCKING) {
            Some(blocking) => blocking.after(self.starvation),
            None => self.starvation,
        };
        let mut reasons: Vec<PoolReasonCount> = self
            .reasons
            .iter()
            .map(|(stored, count)| PoolReasonCount { reason: PoolReason(*stored), count: *count })
            .collect();
        reasons.sort_few_by_key(|row| std::cmp::Reverse(row.count));
        let workers = self.workers.points();
        // Numbers of workers are small integers.
        let whole = |value: f64| crate::model::rounded(value);
        ThreadPoolReport {
            schema: SCHEMA,
            limits: self.limits,
            min_workers: workers.iter().map(|point| whole(point.min)).min(),
            max_workers: workers.iter().map(|point| whole(point.max)).max(),
            max_target: self.max_target,
            started: self.started,
            stopped: self.stopped,
            is_starved: starvation.is_some(),
            starvation,
            reasons,
            adjustments: self.adjustments,
            adjustments_left_out: self.left_out,
            workers,
            throughput: self.throughput.points(),
            queue: self.queue.points(),
            enqueued: self.enqueued,
            latency: spread(&self.latency),
            io_latency: spread(&self.io_latency),
            never_dequeued: (self.waiting.finish(0).count() as u64).saturating_add(self.not_kept),
        }
    }
}

/// Returns the spread of a distribution; `None` if that is empty.
fn spread(distribution: &Distribution) -> Option<Spread> {
    (distribution.count() > 0).then(|| distribution.spread())
}
