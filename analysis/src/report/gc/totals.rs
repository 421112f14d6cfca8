//! Totals of all collections.

use super::figures::CollectionFigures;
use super::reason::{GcKind, GcReason};
use crate::document::percentile;
use crate::report::counts::increase;
use crate::report::distribution::Distribution;
use std::collections::BTreeMap;

/// Maximum number of pauses whose percentiles are exact; of more they are within 0.4 %.
const MAX_EXACT_PAUSES: usize = 1 << 16;
/// Minimum percentage of surviving young objects that counts as too much.
const MIN_SURVIVAL_PERCENT: f64 = 30.0;

/// Totals of all collections. Percentiles are nearest ranks, exact for up to 65,536 collections, and
/// within 0.4 % for more.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GcTotals {
    /// Number of collections whose start, end and pause are in the trace.
    pub count: u64,
    /// Sum of all pauses, in nanoseconds.
    pub pause_ns: u64,
    /// Longest pause of a collection, in nanoseconds.
    pub max_pause_ns: u64,
    /// Median pause of a collection, in nanoseconds.
    pub p50_pause_ns: u64,
    /// 90th percentile of the pauses of collections, in nanoseconds.
    pub p90_pause_ns: u64,
    /// 99th percentile of the pauses of collections, in nanoseconds.
    pub p99_pause_ns: u64,
    /// Time from the first to the last event that passes the filter, in nanoseconds.
    pub seen_ns: u64,
    /// Percentage of `seen_ns` in which all threads were paused for a collection.
    pub pause_percent: f64,
    /// Lower bound of the bytes allocated: allocations after the last collection are unknown, and
    /// those before the first one too unless the session is older than the process.
    pub allocated_bytes: u64,
    /// Bytes that survived, summed over all collections.
    pub promoted_bytes: u64,
    /// Largest reported size of the heap, in bytes.
    pub heap_peak_bytes: u64,
    /// Number of collections that compacted.
    pub compacting: u64,
    /// Number of collections that started as background collections.
    pub background: u64,
    /// Number of collections requested by the program.
    pub induced: u64,
    /// Number of collections whose start, end or pause is missing.
    pub incomplete: u64,
    /// Totals by collected generation, 0 first.
    pub generations: Vec<GenerationTotals>,
}

/// Totals of the collections of one generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GenerationTotals {
    /// Collected generation.
    pub generation: u32,
    /// Number of collections.
    pub count: u64,
    /// Sum of the pauses, in nanoseconds.
    pub pause_ns: u64,
    /// Median pause, in nanoseconds.
    pub p50_pause_ns: u64,
    /// Longest pause, in nanoseconds.
    pub max_pause_ns: u64,
    /// Bytes promoted.
    pub promoted_bytes: u64,
}

/// Sums of collections, of which totals are made.
#[derive(Debug, Default)]
pub(super) struct GcSums {
    /// Collections that have not been taken; `None` if nobody takes them.
    ended: Option<Vec<CollectionFigures>>,
    totals: GcTotals,
    pauses: PauseRanks,
    generations: BTreeMap<u32, (GenerationTotals, PauseRanks)>,
    counts: CollectionCounts,
}

/// Numbers of collections that findings tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CollectionCounts {
    pub(crate) all: u64,
    /// Collections that large objects caused.
    pub(crate) for_large: u64,
    /// Collections of generation 0 or 1 that large objects caused.
    pub(crate) for_large_young: u64,
    /// Young collections in which too many objects survived, with the bytes that they copied.
    pub(crate) copying: u64,
    pub(crate) copied_bytes: u64,
    /// Collections that came because there was no room, with a known size of the heap after them.
    pub(crate) full: u64,
    /// Collections that came because there was no room for a small object.
    pub(crate) full_small: u64,
}

/// PauseRanks of collections.
#[derive(Debug, Default)]
struct PauseRanks {
    few: Vec<u64>,
    /// All pauses, if there are many.
    many: Distribution,
    sum: u64,
}

impl PauseRanks {
    fn add(&mut self, nanos: u64) {
        increase(&mut self.sum, nanos);
        if self.many.count() == 0 && self.few.len() < MAX_EXACT_PAUSES {
            return self.few.push(nanos);
        }
        std::mem::take(&mut self.few).into_iter().for_each(|nanos| self.many.add(nanos));
        self.many.add(nanos);
    }

    /// Returns the percentiles 50, 90, 99 and 100.
    fn percentiles(&self) -> [u64; 4] {
        if self.many.count() > 0 {
            let spread = self.many.spread();
            return [spread.p50_ns, spread.p90_ns, spread.p99_ns, spread.max_ns];
        }
        let mut sorted = self.few.clone();
        sorted.sort_unstable();
        [50, 90, 99, 100].map(|percent| percentile(&sorted, percent))
    }
}

impl CollectionCounts {
    #[cfg(test)]
    pub(crate) fn from_figures(rows: &[CollectionFigures]) -> CollectionCounts {
        let mut counts = CollectionCounts::default();
        rows.iter().for_each(|row| counts.add(row));
        counts
    }

    fn add(&mut self, row: &CollectionFigures) {
        let once = |count: &mut u64, is_one: bool| increase(count, is_one.into());
        let is_for_large = row.reason == GcReason::AllocLarge;
        once(&mut self.all, true);
        once(&mut self.for_large, is_for_large);
        once(&mut self.for_large_young, is_for_large && row.generation < 2);
        let is_small = row.reason == GcReason::OutOfSpaceSmall;
        let is_full = is_small || row.reason == GcReason::OutOfSpaceLarge;
        once(&mut self.full, is_full && row.heap_after_bytes.is_some());
        once(&mut self.full_small, is_small);
        let survived = row.survival_percent.is_some_and(|percent| percent >= MIN_SURVIVAL_PERCENT);
        if let Some(bytes) = row.promoted_bytes.filter(|_| survived && row.generation < 2) {
            increase(&mut self.copying, 1);
            increase(&mut self.copied_bytes, bytes);
        }
    }
}

impl GcSums {
    pub(super) fn add(&mut self, row: &CollectionFigures) {
        self.counts.add(row);
        self.ended.iter_mut().for_each(|ended| ended.push(row.clone()));
        let totals = &mut self.totals;
        let once = |count: &mut u64, is_one: bool| increase(count, is_one.into());
        once(&mut totals.count, row.is_complete);
        once(&mut totals.incomplete, !row.is_complete);
        once(&mut totals.compacting, row.is_compacting);
        once(&mut totals.background, row.kind == GcKind::Background);
        once(&mut totals.induced, row.reason.is_induced());
        increase(&mut totals.allocated_bytes, row.allocated_bytes.unwrap_or(0));
        increase(&mut totals.promoted_bytes, row.promoted_bytes.unwrap_or(0));
        totals.heap_peak_bytes = totals.heap_peak_bytes.max(row.heap_peak_bytes.unwrap_or(0));
        let (of, pauses) = self.generations.entry(row.generation).or_default();
        increase(&mut of.count, 1);
        increase(&mut of.promoted_bytes, row.promoted_bytes.unwrap_or(0));
        // A collection whose pause was lost has no rank.
        if row.has_pause {
            pauses.add(row.pause_ns);
            self.pauses.add(row.pause_ns);
        }
    }

    /// Keeps the figures of collections until they are taken.
    pub(super) fn keep_each(&mut self) {
        self.ended.get_or_insert_default();
    }

    /// Takes the collections that were added since the last call.
    pub(super) fn take_ended(&mut self) -> Vec<CollectionFigures> {
        self.ended.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn counts(&self) -> CollectionCounts {
        self.counts
    }

    pub(super) fn totals(&self, seen_ns: u64) -> GcTotals {
        let pause_ns = self.pauses.sum;
        let [p50_pause_ns, p90_pause_ns, p99_pause_ns, max_pause_ns] = self.pauses.percentiles();
        let of_generation =
            |(generation, (of, pauses)): (&u32, &(GenerationTotals, PauseRanks))| {
                let [p50_pause_ns, _, _, max_pause_ns] = pauses.percentiles();
                let (generation, pause_ns) = (*generation, pauses.sum);
                GenerationTotals { generation, pause_ns, p50_pause_ns, max_pause_ns, ..*of }
            };
        GcTotals {
            pause_ns,
            max_pause_ns,
            p50_pause_ns,
            p90_pause_ns,
            p99_pause_ns,
            seen_ns,
            pause_percent: match seen_ns {
                0 => 0.0,
                seen_ns => pause_ns as f64 * 100.0 / seen_ns as f64,
            },
            generations: self.generations.iter().map(of_generation).collect(),
            ..self.totals.clone()
        }
    }
}
