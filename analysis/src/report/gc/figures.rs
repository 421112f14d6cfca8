//! Collections in little memory: figures of all, details of some.

use super::collection::Collection;
use super::reason::{GcKind, GcReason};

/// The figures of a collection that totals, findings and pages need of each one. The members are
/// those of [`Collection`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CollectionFigures {
    pub(crate) start_ns: i64,
    pub(crate) pause_ns: u64,
    pub(crate) allocated_bytes: Option<u64>,
    pub(crate) promoted_bytes: Option<u64>,
    pub(crate) heap_after_bytes: Option<u64>,
    pub(crate) heap_peak_bytes: Option<u64>,
    pub(crate) survival_percent: Option<f64>,
    pub(crate) fragmentation_percent: Option<f64>,
    pub(crate) pinned_objects: Option<u32>,
    pub(crate) generation: u32,
    pub(crate) reason: GcReason,
    pub(crate) kind: GcKind,
    pub(crate) has_pause: bool,
    pub(crate) is_complete: bool,
    pub(crate) is_compacting: bool,
}

impl From<&Collection> for CollectionFigures {
    fn from(row: &Collection) -> CollectionFigures {
        CollectionFigures {
            start_ns: row.start_ns,
            pause_ns: row.pause_ns,
            allocated_bytes: row.allocated_bytes,
            promoted_bytes: row.promoted_bytes,
            heap_after_bytes: row.heap_after_bytes,
            heap_peak_bytes: row.heap_peak_bytes,
            survival_percent: row.survival_percent,
            fragmentation_percent: row.fragmentation_percent,
            pinned_objects: row.pinned_objects,
            generation: row.generation,
            reason: row.reason,
            kind: row.kind,
            has_pause: !row.pauses.is_empty(),
            is_complete: row.is_complete,
            is_compacting: row.is_compacting == Some(true),
        }
    }
}

/// Collections about which no more events will come, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct SettledCollections {
    pub(super) figures: Vec<CollectionFigures>,
    /// Details of the first of every `step` collections.
    pub(super) rows: Vec<Collection>,
    pub(super) partial: Vec<Collection>,
    /// Binary logarithm of the step.
    step_log: u32,
}

impl SettledCollections {
    /// Adds a collection. If there are more than `most` rows, every second one is left out.
    pub(super) fn add(&mut self, row: Collection, most: usize) {
        let place = self.figures.len();
        self.figures.push(CollectionFigures::from(&row));
        if most == 0 || place.trailing_zeros() < self.step_log {
            return;
        }
        self.rows.push(row);
        if self.rows.len() > most {
            self.step_log = self.step_log.saturating_add(1);
            let mut is_kept = false;
            self.rows.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_collections_have_figures_and_some_have_details() {
        let mut settled = SettledCollections::default();
        for start_ns in 0..1000 {
            settled.add(Collection { start_ns, ..Collection::default() }, 100);
        }
        assert_eq!(settled.figures.len(), 1000);
        let starts: Vec<i64> = settled.rows.iter().map(|row| row.start_ns).collect();
        assert_eq!(starts, (0..1000).step_by(16).collect::<Vec<_>>());
    }
}
