//! Threads that were at one place in all samples up to the end of the trace. Samples show waits
//! without events: those that began before the session, or whose events were not recorded.

use super::stack_rows::ShownFrames;
use super::waiting::is_pool_worker;
use crate::model::intervals::nanos_between;
use crate::model::{
    Frame, FrameHandle, Kind, Mode, ProfileKey, Resolved, Running, StackHandle, ThreadHandle,
    Totals, WaitFor,
};
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::sync::Arc;

/// Minimum number of samples of a stuck thread, all at one place.
const MIN_SAMPLES: u64 = 50;
/// Minimum time between the first and the last sample of a stuck thread at its place, in
/// nanoseconds.
const MIN_NANOS: u64 = 500_000_000;
/// Maximum time between the last sample of a stuck thread and the last sample of the trace, in
/// sampling periods.
const MAX_LATE_PERIODS: u64 = 20;
/// Minimum of the time that [`MAX_LATE_PERIODS`] limits, in nanoseconds, as the sampler may be
/// late.
const MIN_LATE_LIMIT_NANOS: u64 = 100_000_000;

/// Maximum time between the first sample of the trace and that of a thread which is older than the
/// session, in sampling periods: the sampler's first round has all threads that there are.
const MAX_FIRST_ROUND_PERIODS: u64 = 10;
/// Minimum of the time that [`MAX_FIRST_ROUND_PERIODS`] limits, in nanoseconds.
const MIN_FIRST_ROUND_NANOS: u64 = 10_000_000;

/// Thread that was at one place in all samples from some time on, up to the end of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StuckThread {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Name; `None` if the thread has none.
    pub name: Option<String>,
    /// Kind of thing that the thread waits for; `None` if it is in a native call that is not known
    /// to wait.
    pub waits_for: Option<WaitFor>,
    /// Whether the thread was at the place in all of its samples, so that the wait may have begun
    /// before the session.
    pub is_from_start: bool,
    /// Whether the sampler's first round has the thread at the place, so that the wait is older than
    /// the session. Threads of a process that was launched for the session start later.
    pub is_older_than_session: bool,
    /// Whether the thread is a worker of the thread pool.
    pub is_pool_worker: bool,
    /// Time of the first sample at the place, in nanoseconds since the session's start.
    pub since_ns: i64,
    /// Time from the first to the last sample at the place, in nanoseconds.
    pub at_least_ns: u64,
    /// Number of samples at the place.
    pub samples: u64,
    /// Frames of the place, innermost first.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "crate::model::with_lines"))]
    pub frames: Vec<Arc<Frame>>,
}

/// Threads of a trace that are stuck.
#[derive(Debug, Default)]
pub(crate) struct StuckThreads {
    /// Stuck threads, longest time first.
    pub(crate) threads: Vec<StuckThread>,
    /// Number of workers of the thread pool at the end of the trace, stuck or not.
    pub(crate) pool_workers: u64,
}

/// Samples of one thread at one place.
struct Stay {
    stack: StackHandle,
    mode: Mode,
    totals: Totals,
}

impl StuckThreads {
    pub(crate) fn new(resolved: &Resolved<'_>) -> StuckThreads {
        let rows = resolved.profile().rows();
        let mut of_cpu: Vec<&(ProfileKey, Totals)> =
            rows.iter().filter(|(key, _)| key.kind == Kind::Cpu).collect();
        let Some(end) = of_cpu.iter().map(|(_, totals)| totals.last_nanos).max() else {
            return StuckThreads::default();
        };
        let begin = of_cpu.iter().map(|(_, totals)| totals.first_nanos).min().unwrap_or(end);
        of_cpu.sort_unstable_by_key(|(key, totals)| {
            (key.thread, Reverse(totals.last_nanos), key.stack, key.mode)
        });
        let period = resolved.model().period_nanos().unwrap_or(0);
        let late = period.saturating_mul(MAX_LATE_PERIODS).max(MIN_LATE_LIMIT_NANOS);
        let round = period.saturating_mul(MAX_FIRST_ROUND_PERIODS).max(MIN_FIRST_ROUND_NANOS);
        let mut stuck = StuckThreads::default();
        let mut threads: Vec<(StuckThread, &[FrameHandle])> = Vec::new();
        for of_thread in of_cpu.chunk_by(|(one, _), (other, _)| one.thread == other.thread) {
            let Some((last, totals)) = of_thread.first() else { continue };
            if nanos_between(totals.last_nanos, end) > late {
                continue;
            }
            let frames = resolved.frames(last.stack);
            let is_pool_worker = is_pool_worker(frames, resolved);
            stuck.pool_workers = stuck.pool_workers.saturating_add(u64::from(is_pool_worker));
            threads.extend(stuck_thread(resolved, last.thread, of_thread, is_pool_worker));
        }
        threads.sort_few_by_key(|(row, _)| (Reverse(row.at_least_ns), row.thread_id));
        let mut shown = ShownFrames::new(resolved);
        let with_frames = |(row, frames): (StuckThread, _)| StuckThread {
            is_older_than_session: row.is_from_start && nanos_between(begin, row.since_ns) <= round,
            frames: shown.names(frames).0,
            ..row
        };
        stuck.threads = threads.into_iter().map(with_frames).collect();
        stuck
    }

    /// Returns at most `most` threads that were in one native call in all of their samples.
    pub(crate) fn in_one_call(self, most: usize) -> Vec<StuckThread> {
        let is_in = |row: &StuckThread| row.waits_for.is_none() && row.is_from_start;
        self.threads.into_iter().filter(is_in).take(most).collect()
    }

    /// Returns at most `most` threads that wait for something that `is_it`. Threads that are
    /// `known`, by OS id, are left out because the trace has the events of their wait.
    pub(crate) fn waiting(
        self,
        is_it: impl Fn(WaitFor) -> bool,
        known: impl Fn(u64) -> bool,
        most: usize,
    ) -> Vec<StuckThread> {
        let is_unknown = |row: &StuckThread| {
            row.waits_for.is_some_and(&is_it) && !row.thread_id.is_some_and(&known)
        };
        self.threads.into_iter().filter(is_unknown).take(most).collect()
    }
}

/// Returns a thread if it is stuck, without frames, and its frames. `of_thread`: rows of the
/// thread, last sample first.
fn stuck_thread<'r>(
    resolved: &'r Resolved<'_>,
    thread: ThreadHandle,
    of_thread: &[&(ProfileKey, Totals)],
    is_pool_worker: bool,
) -> Option<(StuckThread, &'r [FrameHandle])> {
    let addresses = |stack| resolved.model().addresses(stack);
    let mut stay: Option<Stay> = None;
    let mut others_until = None;
    for (key, totals) in of_thread {
        match &mut stay {
            None => stay = Some(Stay { stack: key.stack, mode: key.mode, totals: *totals }),
            // Rows of one place may differ in mode.
            Some(stay) if addresses(stay.stack) == addresses(key.stack) => {
                stay.totals.add(totals);
            }
            Some(_) => others_until = others_until.max(Some(totals.last_nanos)),
        }
    }
    let Stay { stack, mode, totals } = stay?;
    let at_least_ns = nanos_between(totals.first_nanos, totals.last_nanos);
    let has_moved = others_until.is_some_and(|until| until >= totals.first_nanos);
    if has_moved || totals.samples < MIN_SAMPLES || at_least_ns < MIN_NANOS {
        return None;
    }
    let waits_for = resolved.waits_for(stack, mode);
    // A loop of managed code may be sampled at one address, too, but is not stuck.
    let is_in_call = || {
        resolved.running(stack, mode) == Some(Running::NativeCall) && resolved.admits(stack, mode)
    };
    if waits_for.is_none() && !is_in_call() {
        return None;
    }
    let row = resolved.model().thread(thread);
    let frames = resolved.frames(resolved.sample_stack(stack, mode));
    let stuck = StuckThread {
        thread_id: row.and_then(|row| row.os_thread_id),
        name: row.and_then(|row| row.name.clone()),
        waits_for,
        is_from_start: others_until.is_none(),
        is_older_than_session: false,
        is_pool_worker,
        since_ns: totals.first_nanos,
        at_least_ns,
        samples: totals.samples,
        frames: Vec::new(),
    };
    Some((stuck, frames))
}
