//! Methods by the weight of the samples that they are in.

use super::named_stack::ours;
use super::processor_time::WHOLE;
use super::rows::TopMethod;
use crate::document::percent;
use crate::hash::HashMap;
use crate::model::Frame;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Self and total weight of each method, and the weight of all samples, in parts of [`WHOLE`].
#[derive(Default)]
pub(super) struct MethodSums(HashMap<Arc<Frame>, (u64, u64)>, u64);

/// Returns the number of samples of full weight that a weight equals.
pub(super) fn samples(weight: u64) -> u64 {
    weight.saturating_add(WHOLE / 2) / WHOLE
}

impl MethodSums {
    /// Counts the frames of a thread that was not waiting, innermost first.
    pub(super) fn add(&mut self, frames: &[Arc<Frame>], count: u64) {
        self.1 = self.1.saturating_add(count);
        if let Some(leaf) = frames.first() {
            let row = self.0.entry(Arc::clone(leaf)).or_default();
            row.0 = row.0.saturating_add(count);
        }
        let distinct: BTreeSet<&Arc<Frame>> = frames.iter().collect();
        for frame in distinct {
            let row = self.0.entry(Arc::clone(frame)).or_default();
            row.1 = row.1.saturating_add(count);
        }
    }

    /// Returns the weight of all samples.
    pub(super) fn weight(&self) -> u64 {
        self.1
    }

    /// Returns the methods by self samples, most first. The work of the recording itself comes
    /// last.
    pub(super) fn rows(self, limit: usize) -> Vec<TopMethod> {
        let MethodSums(rows, all) = self;
        let mut rows: Vec<TopMethod> = rows
            .into_iter()
            .filter(|(_, (_, total))| samples(*total) > 0)
            .map(|(name, (own, total))| TopMethod {
                name,
                self_samples: samples(own),
                total_samples: samples(total),
                self_percent: percent(own, all),
                total_percent: percent(total, all),
            })
            .collect();
        let ours = ours();
        rows.sort_by(|a, b| {
            let by = |of: fn(&TopMethod) -> f64| of(b).total_cmp(&of(a));
            let by_self = by(|row| row.self_percent);
            let last = (*a.name == ours).cmp(&(*b.name == ours));
            last.then(by_self).then(by(|row| row.total_percent)).then_with(|| a.name.cmp(&b.name))
        });
        rows.truncate(limit);
        rows
    }
}
