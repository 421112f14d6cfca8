//! Where threads ran, according to CPU samples.

use super::Finding;
use crate::model::{
    Coverage, FrameHandle, Kind, NameOrigin, RECORDING, Resolved, Running as Certainty,
    StackHandle, ThreadHandle,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// A method is notable if it has as many samples, which is 50 ms at the usual rate, and one
/// in so many of all samples, waiting ones included: an idle process has no hottest method.
const LEAST_SAMPLES: u64 = 50;
const LEAST_SHARE: u64 = 100;
/// `WaitForExit`, `WaitForExitCore`.
const WAITS_FOR_PROCESS: &str = "Diagnostics.Process.WaitForExit";
/// Types that write events.
const TRACING: &str = "System.Diagnostics.Tracing.";

/// Whether a frame is the entry point of a program.
pub(super) fn is_main(frame: &str) -> bool {
    let name = frame.split_once('(').map_or(frame, |(name, _)| name);
    [".Main", ".<Main>$", ".<Main>"].iter().any(|end| name.ends_with(end))
}

/// The CPU samples with stacks that pass the filter.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// Number of samples before filters on frames.
    pub(super) sampled: u64,
    /// Time and number of samples that ran for certain, by innermost frame.
    ran: BTreeMap<FrameHandle, (u64, u64)>,
    /// The same of those that were taking a lock.
    taking_locks: BTreeMap<FrameHandle, (u64, u64)>,
    /// Time of all samples that are not known to have waited.
    all: u64,
    /// Samples of each thread, and those that wait for another process to end.
    threads: BTreeMap<ThreadHandle, (u64, u64)>,
    /// Number of frames of all distinct stacks, and of those with a name.
    frames: u64,
    named: u64,
}

impl Running {
    pub(super) fn new(resolved: &Resolved<'_>) -> Running {
        let mut running = Running::default();
        let mut waits_for_process: HashMap<StackHandle, bool> = HashMap::new();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            running.sampled = running.sampled.saturating_add(totals.samples);
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            let waits = *waits_for_process.entry(key.stack).or_insert_with(|| {
                let (frames_here, named) = resolved.counted(key.stack);
                running.frames = running.frames.saturating_add(frames_here);
                running.named = running.named.saturating_add(named);
                // On the main thread: others have been started for it, so that it goes on.
                let is_main = frames.last().is_some_and(|root| is_main(resolved.text(*root)));
                is_main && frames.iter().any(|f| resolved.text(*f).contains(WAITS_FOR_PROCESS))
            });
            let (all, waiting) = running.threads.entry(key.thread).or_default();
            *all = all.saturating_add(totals.samples);
            *waiting = waiting.saturating_add(if waits { totals.samples } else { 0 });
            let Some(how) = resolved.running(key.stack, key.mode) else { continue };
            running.all = running.all.saturating_add(totals.weight);
            // A native call may have blocked, so it is nobody's hottest method.
            let leaves = match how {
                Certainty::Managed | Certainty::Computing => &mut running.ran,
                Certainty::TakingLock => &mut running.taking_locks,
                _ => continue,
            };
            if let Some(leaf) = frames.first() {
                let (nanos, samples) = leaves.entry(*leaf).or_default();
                *nanos = nanos.saturating_add(totals.weight);
                *samples = samples.saturating_add(totals.samples);
            }
        }
        running
    }

    pub(super) fn unnamed(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        Finding::missing_names(Coverage {
            frames: self.frames,
            named: self.named,
            ..resolved.coverage()
        })
    }

    /// A process that does nothing but wait for another one to end, as one that starts programs does.
    pub(super) fn waits_for_process(&self) -> Option<Finding> {
        let ran = self.ran.values().chain(self.taking_locks.values());
        let ran = ran.fold(0_u64, |sum, (_, samples)| sum.saturating_add(*samples));
        if ran.saturating_mul(LEAST_SHARE) >= self.sampled {
            return None;
        }
        let (all, waiting) = self.threads.values().max_by_key(|(_, waiting)| *waiting)?;
        let only_waits =
            *waiting >= LEAST_SAMPLES && waiting.saturating_mul(5) >= all.saturating_mul(4);
        only_waits.then(|| Finding::waits_for_process(*waiting))
    }

    /// The method that ran most, and the one that most often was taking a lock, if enough
    /// samples say so.
    pub(super) fn hottest(&self, resolved: &Resolved<'_>) -> [Option<Finding>; 2] {
        // An address means nothing to a reader, and a method far below addresses is not
        // notable.
        let found = |leaves: &BTreeMap<FrameHandle, (u64, u64)>| {
            let mut leaves: Vec<_> = leaves.iter().collect();
            leaves.sort_unstable_by_key(|(leaf, (nanos, _))| (Reverse(*nanos), **leaf));
            // Nor is what it takes to write events, or to record at all.
            let is_named = |(leaf, _): &(&FrameHandle, _)| {
                let Some(frame) = resolved.frame(**leaf) else { return false };
                frame.origin != NameOrigin::Address
                    && !frame.text.contains(TRACING)
                    && frame.text != RECORDING
            };
            let (leaf, (nanos, samples)) = leaves.into_iter().take(3).find(is_named)?;
            let is_enough =
                *samples >= LEAST_SAMPLES && samples.saturating_mul(LEAST_SHARE) >= self.sampled;
            is_enough.then_some((resolved.frame(*leaf)?, *nanos, *samples))
        };
        let ran = found(&self.ran).and_then(|(method, nanos, samples)| {
            Finding::hottest_method(method, nanos, self.all, samples)
        });
        let took = found(&self.taking_locks).and_then(|(method, nanos, samples)| {
            Finding::spinning_for_locks(method, nanos, self.all, samples)
        });
        [ran, took]
    }
}
