//! Totals of all collections.

use super::figures::CollectionFigures;
use super::reason::GcKind;
use crate::document::percentile;
use std::collections::BTreeMap;

/// Totals of all collections. Percentiles are nearest ranks.
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

fn sum(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0, u64::saturating_add)
}

fn count(parts: impl Iterator<Item = bool>) -> u64 {
    parts.filter(|part| *part).count() as u64
}

fn sorted_pauses<'r>(rows: impl Iterator<Item = &'r CollectionFigures>) -> Vec<u64> {
    // A collection whose pause was lost has no rank.
    let mut pauses: Vec<u64> = rows.filter(|row| row.has_pause).map(|row| row.pause_ns).collect();
    pauses.sort_unstable();
    pauses
}

impl GcTotals {
    pub(super) fn from_rows(rows: &[CollectionFigures], seen_ns: u64) -> GcTotals {
        let pauses = sorted_pauses(rows.iter());
        let pause_ns = sum(pauses.iter().copied());
        let mut by_generation: BTreeMap<u32, Vec<&CollectionFigures>> = BTreeMap::new();
        for row in rows {
            by_generation.entry(row.generation).or_default().push(row);
        }
        GcTotals {
            count: count(rows.iter().map(|row| row.is_complete)),
            pause_ns,
            max_pause_ns: percentile(&pauses, 100),
            p50_pause_ns: percentile(&pauses, 50),
            p90_pause_ns: percentile(&pauses, 90),
            p99_pause_ns: percentile(&pauses, 99),
            seen_ns,
            pause_percent: if seen_ns == 0 {
                0.0
            } else {
                pause_ns as f64 * 100.0 / seen_ns as f64
            },
            allocated_bytes: sum(rows.iter().filter_map(|row| row.allocated_bytes)),
            promoted_bytes: sum(rows.iter().filter_map(|row| row.promoted_bytes)),
            heap_peak_bytes: rows.iter().filter_map(|row| row.heap_peak_bytes).max().unwrap_or(0),
            compacting: count(rows.iter().map(|row| row.is_compacting)),
            background: count(rows.iter().map(|row| row.kind == GcKind::Background)),
            induced: count(rows.iter().map(|row| row.reason.is_induced())),
            incomplete: count(rows.iter().map(|row| !row.is_complete)),
            generations: by_generation
                .into_iter()
                .map(|(generation, rows)| GenerationTotals::from_rows(generation, &rows))
                .collect(),
        }
    }
}

impl GenerationTotals {
    fn from_rows(generation: u32, rows: &[&CollectionFigures]) -> GenerationTotals {
        let pauses = sorted_pauses(rows.iter().copied());
        GenerationTotals {
            generation,
            count: rows.len() as u64,
            pause_ns: sum(pauses.iter().copied()),
            p50_pause_ns: percentile(&pauses, 50),
            max_pause_ns: percentile(&pauses, 100),
            promoted_bytes: sum(rows.iter().filter_map(|row| row.promoted_bytes)),
        }
    }
}
