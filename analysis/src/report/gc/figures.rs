//! Collections in little memory: sums of all, figures of many, details of some.

use super::collection::Collection;
use super::reason::{GcKind, GcReason};
use super::totals::GcSums;

/// Maximum number of collections of a process that have figures, if not all have details.
const MAX_FIGURES: usize = 1 << 13;

/// The figures of a collection that totals, findings and pages need. The members are those of
/// [`Collection`].
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

/// Rows of which every `step`-th one is kept.
#[derive(Debug)]
struct EverySo<R> {
    rows: Vec<R>,
    seen: usize,
    /// Binary logarithm of the step.
    step_log: u32,
}

impl<R> Default for EverySo<R> {
    fn default() -> EverySo<R> {
        EverySo { rows: Vec::new(), seen: 0, step_log: 0 }
    }
}

impl<R> EverySo<R> {
    /// Adds a row. If there are more than `most`, every second one is left out.
    fn add(&mut self, row: R, most: usize) {
        let place = self.seen;
        self.seen = place.saturating_add(1);
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

/// Collections about which no more events will come, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct SettledCollections {
    figures: EverySo<CollectionFigures>,
    rows: EverySo<Collection>,
    pub(super) partial: Vec<Collection>,
    /// The collection that was settled last.
    last: Option<CollectionFigures>,
}

impl SettledCollections {
    /// Adds a collection, of which at most `most` keep their details.
    pub(super) fn add(&mut self, row: Collection, most: usize, sums: &mut GcSums) {
        let figures = CollectionFigures::from(&row);
        sums.add(&figures);
        self.last = Some(figures.clone());
        self.figures.add(figures, most.max(MAX_FIGURES));
        self.rows.add(row, most);
    }

    /// Returns figures and details of the collections that have them. The last one has figures.
    pub(super) fn into_rows(self) -> (Vec<CollectionFigures>, Vec<Collection>) {
        let mut figures = self.figures.rows;
        if self.figures.seen.saturating_sub(1).trailing_zeros() < self.figures.step_log {
            figures.extend(self.last);
        }
        (figures, self.rows.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_collections_are_in_the_sums_and_some_have_figures_and_details() {
        let (mut settled, mut sums) = (SettledCollections::default(), GcSums::default());
        for start_ns in 0..20_000 {
            settled.add(Collection { start_ns, ..Collection::default() }, 100, &mut sums);
        }
        assert_eq!(sums.totals(0).incomplete, 20_000);
        let (figures, rows) = settled.into_rows();
        let starts: Vec<i64> = rows.iter().map(|row| row.start_ns).collect();
        assert_eq!(starts, (0..20_000).step_by(256).collect::<Vec<_>>());
        let starts: Vec<i64> = figures.iter().map(|row| row.start_ns).collect();
        assert_eq!(starts, (0..20_000).step_by(4).chain([19_999]).collect::<Vec<_>>());
    }
}
