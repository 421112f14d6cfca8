//! Garbage collections: reasons, pauses and sizes.

mod adaptation;
mod collection;
mod figures;
mod heap;
mod reason;
mod totals;

pub use adaptation::{GcAdaptation, GcChange, GcDecision, HeapCountChange};
pub use collection::{Collection, GenerationSizes, Pause};
pub use reason::{GcKind, GcReason};
pub use totals::{GcTotals, GenerationTotals};

use super::contract::{Moment, Recording, Report, SCHEMA};
use crate::model::{Model, ProcessHandle, Resolved};
pub(crate) use figures::CollectionFigures;
pub(crate) use heap::Heap;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;
pub(crate) use totals::CollectionCounts;
use totals::GcSums;

/// Computes a [`GcReport`].
///
/// The report keeps a row of about one kilobyte for each collection, because it lists them.
/// Collections are rare: at most about ten per second.
#[derive(Debug)]
pub struct Gc {
    heaps: BTreeMap<ProcessHandle, Heap>,
    /// Maximum number of rows of a process.
    most: usize,
    sums: GcSums,
}

impl Default for Gc {
    fn default() -> Gc {
        Gc { heaps: BTreeMap::new(), most: usize::MAX, sums: GcSums::default() }
    }
}

impl Gc {
    /// Lists at most this many collections of a process, evenly spread. All are in the totals.
    pub(crate) fn at_most(self, most: usize) -> Gc {
        Gc { most, ..self }
    }

    /// Keeps the figures of collections until they are [taken](Gc::take_ended).
    pub(crate) fn keep_each(&mut self) {
        self.sums.keep_each();
    }

    /// Takes the collections about which no more events will come.
    pub(crate) fn take_ended(&mut self) -> Vec<CollectionFigures> {
        self.sums.take_ended()
    }
}

/// Garbage collections: totals and list.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GcReport {
    /// Version of this document.
    pub schema: u32,
    /// Totals of all collections.
    pub totals: GcTotals,
    /// Collections that started in the filter's time range, by process, then in the order of
    /// starts.
    pub collections: Vec<Collection>,
    /// Collections in progress when the session started, whose pause is unknown. No other number
    /// includes them.
    pub partial: Vec<Collection>,
    /// How the number of heaps was adapted to the size of the program; `None` if the trace does not
    /// say so.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub adaptation: Option<GcAdaptation>,
    /// Figures of collections, in the order of `collections`; of very many, evenly spread ones.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) figures: Vec<CollectionFigures>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) counts: CollectionCounts,
    /// Collections that had not been taken.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) ended: Vec<CollectionFigures>,
}

impl Report for Gc {
    type Output = GcReport;

    const NAME: &'static str = "gc";
    const ABOUT: &'static str = "Garbage collections: reasons, pauses, sizes";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x1, 4)];

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime
            && matches!(event.id(), 1..=9 | 39 | 187 | 204 | 205)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let Some(row) = model.thread(moment.thread) else { return false };
        let heap = self.heaps.entry(row.process).or_default();
        let is_about = heap.event(event, moment);
        heap.settle_rows(self.most, &mut self.sums);
        is_about
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> GcReport {
        let (mut collections, mut partial, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_from_start = !self.heaps.is_empty();
        let mut adaptation = GcAdaptation::default();
        for (process, mut heap) in self.heaps {
            is_from_start &= heap.is_from_start();
            let id = resolved.model().process(process).and_then(|process| process.id);
            heap.take_adapting().finish(id, &mut adaptation);
            let mut settled = heap.finish(self.most, &mut self.sums);
            let with_id = |row| Collection { process_id: id, ..row };
            partial.extend(std::mem::take(&mut settled.partial).into_iter().map(with_id));
            let (of_process, rows) = settled.into_rows();
            collections.extend(rows.into_iter().map(with_id));
            figures.extend(of_process);
        }
        let mut totals = self.sums.totals(resolved.model().selected_nanos());
        if is_from_start {
            // All that a heap held was allocated in the session, also after the last collection
            // began.
            totals.allocated_bytes = totals.allocated_bytes.max(totals.heap_peak_bytes);
        }
        let counts = self.sums.counts();
        let ended = self.sums.take_ended();
        let adaptation = (adaptation != GcAdaptation::default()).then_some(adaptation);
        GcReport {
            schema: SCHEMA,
            totals,
            collections,
            partial,
            adaptation,
            figures,
            counts,
            ended,
        }
    }
}
