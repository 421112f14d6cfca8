//! Where threads ran, according to CPU samples.

use super::Finding;
use crate::model::{Coverage, FrameHandle, Kind, Resolved, ThreadState};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// The CPU samples with stacks that pass the filter.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// Number of samples before filters on frames.
    pub(super) sampled: u64,
    /// Time of running samples, by innermost frame.
    leaves: BTreeMap<FrameHandle, u64>,
    /// Number of running samples, and their time.
    samples: u64,
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
                let named = frames
                    .iter()
                    .filter(|frame| resolved.frame(**frame).is_some_and(|row| row.is_named));
                running.frames = running.frames.saturating_add(frames.len() as u64);
                running.named = running.named.saturating_add(named.count() as u64);
            }
            if !ThreadState::RUNNING.contains(&resolved.state(key.stack, key.mode)) {
                continue;
            }
            running.samples = running.samples.saturating_add(totals.samples);
            running.all = running.all.saturating_add(totals.weight);
            if let Some(leaf) = frames.first() {
                let sum = running.leaves.entry(*leaf).or_default();
                *sum = sum.saturating_add(totals.weight);
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

    pub(super) fn hottest(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        let mut leaves: Vec<_> = self.leaves.iter().collect();
        leaves.sort_unstable_by_key(|(leaf, nanos)| (Reverse(**nanos), **leaf));
        // An address means nothing to a reader, and a method far below addresses is not
        // notable.
        let (leaf, nanos) = leaves
            .into_iter()
            .take(3)
            .find(|(leaf, _)| !resolved.text(**leaf).starts_with("0x"))?;
        Finding::hottest_method(resolved.text(*leaf), *nanos, self.all, self.samples)
    }
}
