//! Where threads ran, according to CPU samples.

use super::Finding;
use crate::model::{Coverage, FrameHandle, Kind, Resolved, Running as Certainty};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// A method is notable if it has as many samples, which is 50 ms at the usual rate, and one
/// in so many of all samples, waiting ones included: an idle process has no hottest method.
const LEAST_SAMPLES: u64 = 50;
const LEAST_SHARE: u64 = 100;

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
    /// Number of frames of all distinct stacks, and of those with a name.
    frames: u64,
    named: u64,
}

impl Running {
    pub(super) fn new(resolved: &Resolved<'_>) -> Running {
        let mut running = Running::default();
        let mut counted = HashSet::new();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            running.sampled = running.sampled.saturating_add(totals.samples);
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            if counted.insert(key.stack) {
                let (frames, named) = resolved.counted(key.stack);
                running.frames = running.frames.saturating_add(frames);
                running.named = running.named.saturating_add(named);
            }
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

    /// The method that ran most, and the one that most often was taking a lock, if enough
    /// samples say so.
    pub(super) fn hottest(&self, resolved: &Resolved<'_>) -> Vec<Finding> {
        // An address means nothing to a reader, and a method far below addresses is not
        // notable.
        let found = |leaves: &BTreeMap<FrameHandle, (u64, u64)>| {
            let mut leaves: Vec<_> = leaves.iter().collect();
            leaves.sort_unstable_by_key(|(leaf, (nanos, _))| (Reverse(*nanos), **leaf));
            let is_named = |(leaf, _): &(&FrameHandle, _)| !resolved.text(**leaf).starts_with("0x");
            let (leaf, (nanos, samples)) = leaves.into_iter().take(3).find(is_named)?;
            let is_enough =
                *samples >= LEAST_SAMPLES && samples.saturating_mul(LEAST_SHARE) >= self.sampled;
            is_enough.then(|| (resolved.text(*leaf), *nanos, *samples))
        };
        let ran = found(&self.ran).and_then(|(method, nanos, samples)| {
            Finding::hottest_method(method, nanos, self.all, samples)
        });
        let took = found(&self.taking_locks).and_then(|(method, nanos, samples)| {
            Finding::spinning_for_locks(method, nanos, self.all, samples)
        });
        ran.into_iter().chain(took).collect()
    }
}
