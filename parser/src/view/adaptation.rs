//! Views of what the collector records as it adapts to the size of the program.

use super::{KnownProvider, View, number, number32, text, value};
use crate::event::Event;
use crate::payload::Fields;

/// Id of the event that carries the records.
const CARRIER: u32 = 39;

/// Record of a collector that adapts the number of heaps and the budget of generation 0 to the size
/// of the program (DATAS: server GC from .NET 9 on): runtime event 39, GCDynamicEvent, with the names
/// `SizeAdaptationSample`, `SizeAdaptationTuning` and `SizeAdaptationFullGCTuning`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum GcAdaptation {
    /// What one collection cost.
    Sample(GcAdaptationSample),
    /// What was decided after three samples.
    Decision(GcAdaptationDecision),
}

/// Cost of a collection: record `SizeAdaptationSample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcAdaptationSample {
    /// Number of the collection.
    pub collection: u64,
    /// Time from the end of the collection before to the end of this one, in microseconds.
    pub elapsed_micros: u32,
    /// Pause of the collection, in microseconds.
    pub pause_micros: u32,
    /// Time for which threads waited to allocate, in microseconds: for small objects, then for large
    /// and pinned ones.
    pub wait_micros: [u32; 2],
    /// Size of the objects in generations 1 and 2 that are expected to stay, in bytes.
    pub stable_bytes: u64,
    /// Bytes that may be allocated in generation 0 of each heap until the next collection.
    pub heap_budget_bytes: u32,
}

/// Decision after three samples: record `SizeAdaptationTuning`, or `SizeAdaptationFullGCTuning` about
/// full collections alone.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GcAdaptationDecision {
    /// Number of the last collection before the decision.
    pub collection: u64,
    /// Whether the decision is about full collections alone.
    pub is_full: bool,
    /// Number of heaps from the next collection on. `None` about full collections: their record has
    /// the number of the decision before.
    pub heaps: Option<u32>,
    /// Least and greatest number of heaps that the size of the objects allows; `None` if no change
    /// was considered.
    pub heaps_allowed: Option<[u32; 2]>,
    /// Part of the time that collections took, in percent: the median of the three samples.
    pub cost_percent: f64,
    /// Size of the objects in generations 1 and 2 that are expected to stay, in bytes; `None` if no
    /// change was considered.
    pub stable_bytes: Option<u64>,
    /// What was changed as stored: 0 nothing, 1 the number of heaps, 2 the budget of generation 0.
    /// `None` about full collections.
    pub changed: Option<u32>,
    /// Number of collections since the last change; of full ones, if the decision is about these.
    pub since_change: u32,
}

impl View<'_> for GcAdaptation {
    fn from_event(event: &Event<'_>) -> Option<GcAdaptation> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != CARRIER {
            return None;
        }
        let fields = &mut event.fields();
        let name = text(fields, "Name")?;
        if name == "SizeAdaptationSample" {
            sample(fields).map(GcAdaptation::Sample)
        } else if name == "SizeAdaptationTuning" {
            decision(fields).map(GcAdaptation::Decision)
        } else if name == "SizeAdaptationFullGCTuning" {
            full_decision(fields).map(GcAdaptation::Decision)
        } else {
            None
        }
    }
}

fn sample(fields: &mut Fields<'_>) -> Option<GcAdaptationSample> {
    Some(GcAdaptationSample {
        collection: number(fields, "GCIndex")?,
        elapsed_micros: number32(fields, "ElapsedTimeBetweenGCs")?,
        pause_micros: number32(fields, "GCPauseTime")?,
        wait_micros: [number32(fields, "SOHMSLWaitTime")?, number32(fields, "UOHMSLWaitTime")?],
        stable_bytes: number(fields, "TotalSOHStableSize")?,
        heap_budget_bytes: number32(fields, "Gen0BudgetPerHeap")?,
    })
}

fn decision(fields: &mut Fields<'_>) -> Option<GcAdaptationDecision> {
    let heaps = number32(fields, "NewNHeaps")?;
    let greatest = number32(fields, "MaxHeapCountDatas")?;
    let least = number32(fields, "MinHeapCountDatas")?;
    let collection = number(fields, "CurrentGCIndex")?;
    // The runtime leaves 0 in what it computes only for a change.
    let stable_bytes = number(fields, "TotalSOHStableSize").filter(|bytes| *bytes > 0);
    let cost_percent = percent(fields, "MedianThroughputCostPercent")?;
    let since_change = number32(fields, "NumGcsSinceLastChange")?;
    Some(GcAdaptationDecision {
        collection,
        is_full: false,
        heaps: Some(heaps),
        heaps_allowed: stable_bytes.map(|_| [least, greatest]),
        cost_percent,
        stable_bytes,
        changed: number32(fields, "AdjMetric"),
        since_change,
    })
}

fn full_decision(fields: &mut Fields<'_>) -> Option<GcAdaptationDecision> {
    Some(GcAdaptationDecision {
        collection: number(fields, "CurrentGCIndex")?,
        is_full: true,
        heaps: None,
        heaps_allowed: None,
        cost_percent: percent(fields, "MedianGen2Tcp")?,
        stable_bytes: None,
        changed: None,
        since_change: number32(fields, "NumGen2sSinceLastChange")?,
    })
}

fn percent(fields: &mut Fields<'_>, name: &str) -> Option<f64> {
    value(fields, name)?.as_f64().filter(|percent| percent.is_finite())
}
