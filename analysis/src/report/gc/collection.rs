//! A collection, and the state of the heaps around it.

use super::reason::{GcKind, GcReason};
use crate::model::intervals::nanos_between;
use nettrace_parser::view::{GcGlobalHistory, GcHeapHistory, GcHeapStats};

/// Garbage collection. Sizes of generations include free space.
///
/// | members | runtime events |
/// |---|---|
/// | number, generation, reason, type, start | 1 |
/// | duration | 1 to 2 |
/// | pauses | 9 to 3, see [`Pause`] |
/// | `heap_after_bytes`, promoted, finalized, pinned, handles | 4 |
/// | `heap_before_bytes`, free space, survival | 204, one per heap, summed |
/// | phases, compacting, heaps, memory load | 205 |
///
/// Members are `None` if the event was not recorded or was lost.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Collection {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Number of the collection in the process, from 1.
    pub number: u32,
    /// Collected generation: 0, 1 or 2.
    pub generation: u32,
    /// Reason, such as `AllocSmall` or `Induced`.
    pub reason: GcReason,
    /// Kind: `NonConcurrentGC`, `BackgroundGC`, or `ForegroundGC` during a background collection.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: GcKind,
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration in nanoseconds. The process is paused only for part of a background collection.
    pub duration_ns: Option<u64>,
    /// Sum of the pauses, in nanoseconds.
    pub pause_ns: u64,
    /// Pauses; a background collection has several.
    pub pauses: Vec<Pause>,
    /// Part of the pauses before all threads were suspended, in nanoseconds.
    pub suspend_ns: u64,
    /// Time from the start of the previous collection to the start of this one, in nanoseconds.
    pub since_last_ns: Option<u64>,
    /// Whether the trace has the start, the end and a pause of the collection.
    pub is_complete: bool,
    /// Size of the heap when the collection started.
    pub heap_before_bytes: Option<u64>,
    /// Size of the heap after the collection.
    pub heap_after_bytes: Option<u64>,
    /// Largest reported size of the heap, before or after this collection or a foreground
    /// collection during it.
    pub heap_peak_bytes: Option<u64>,
    /// Bytes that survived in the collected generations.
    pub promoted_bytes: Option<u64>,
    /// Percentage of the objects in the collected generations that survived, by size.
    pub survival_percent: Option<f64>,
    /// Free space within the generations after the collection.
    pub fragmentation_bytes: Option<u64>,
    /// Percentage of the heap that is free after the collection.
    pub fragmentation_percent: Option<f64>,
    /// Bytes allocated since the previous collection.
    pub allocated_bytes: Option<u64>,
    /// Bytes allocated per second since the previous collection.
    pub allocated_bytes_per_second: Option<f64>,
    /// Sizes of generations 0, 1 and 2, of the large object heap and of the pinned object heap.
    pub generations: Vec<GenerationSizes>,
    /// Size of the frozen segments in the trace at the start of the collection.
    pub frozen_bytes: u64,
    /// Number of pinned objects.
    pub pinned_objects: Option<u32>,
    /// Number of objects kept alive only by their finalizers.
    pub finalized_objects: Option<u64>,
    /// Size of the objects kept alive only by their finalizers.
    pub finalized_bytes: Option<u64>,
    /// Number of handles in use.
    pub handles: Option<u32>,
    /// Number of synchronisation blocks in use.
    pub sync_blocks: Option<u32>,
    /// Number of heaps; more than one with server GC.
    pub heaps: Option<u32>,
    /// Whether the collection compacted.
    pub is_compacting: Option<bool>,
    /// Whether the collection ran concurrently to the end: one that starts as a background
    /// collection may become blocking.
    pub is_concurrent: Option<bool>,
    /// Percentage of the machine's memory in use.
    pub memory_load_percent: Option<u32>,
    /// Time spent marking live objects, in nanoseconds.
    pub mark_ns: Option<u64>,
    /// Time spent planning, in nanoseconds.
    pub plan_ns: Option<u64>,
    /// Time spent updating references to moved objects, in nanoseconds.
    pub relocate_ns: Option<u64>,
    /// Time spent moving objects, in nanoseconds.
    pub compact_ns: Option<u64>,
    /// Time spent sweeping, in nanoseconds.
    pub sweep_ns: Option<u64>,
}

/// Period in which all threads were suspended: from the event that starts the suspension (runtime
/// 9) to the event after which all may run (3). Collections in one suspension divide its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Pause {
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration, in nanoseconds.
    pub pause_ns: u64,
}

/// Sizes of a generation at a collection, summed over all heaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GenerationSizes {
    /// `gen0`, `gen1`, `gen2`, `loh` (large objects) or `poh` (pinned objects).
    pub name: &'static str,
    /// Size before the collection.
    pub before_bytes: Option<u64>,
    /// Size after the collection.
    pub after_bytes: Option<u64>,
    /// Free space after the collection.
    pub free_bytes: Option<u64>,
    /// Bytes that survived in the generation.
    pub survived_bytes: Option<u64>,
    /// Bytes promoted out of the generation.
    pub promoted_bytes: Option<u64>,
    /// Bytes that may be allocated in the generation until the next collection.
    pub budget_bytes: Option<u64>,
}

const GENERATIONS: [&str; 5] = ["gen0", "gen1", "gen2", "loh", "poh"];

impl Collection {
    /// Adds the state of the heaps after the collection.
    pub(super) fn heap_stats(&mut self, stats: &GcHeapStats) {
        self.ensure_generations();
        for ((row, size), promoted) in
            self.generations.iter_mut().zip(stats.size_bytes).zip(stats.promoted_bytes)
        {
            row.after_bytes = Some(size);
            row.promoted_bytes = Some(promoted);
        }
        let sum = |parts: [u64; 5]| parts.into_iter().fold(0, u64::saturating_add);
        self.heap_after_bytes = Some(sum(stats.size_bytes));
        self.promoted_bytes = Some(sum(stats.promoted_bytes));
        self.pinned_objects = Some(stats.pinned_objects);
        self.finalized_objects = Some(stats.finalization_count);
        self.finalized_bytes = Some(stats.finalization_bytes);
        self.handles = Some(stats.handles);
        self.sync_blocks = Some(stats.sync_blocks);
        self.raise_peak(self.heap_after_bytes);
    }

    /// Adds the history of one more heap.
    pub(super) fn heap_history(&mut self, heap: &GcHeapHistory) {
        self.ensure_generations();
        let add =
            |sum: &mut Option<u64>, more: u64| *sum = Some(sum.unwrap_or(0).saturating_add(more));
        for (row, reported) in self.generations.iter_mut().zip(heap.generations) {
            let Some(reported) = reported else { continue };
            add(&mut row.before_bytes, reported.before_bytes);
            add(&mut row.free_bytes, reported.free_after_bytes);
            add(
                &mut row.survived_bytes,
                reported.pinned_survived_bytes.saturating_add(reported.survived_bytes),
            );
            add(&mut row.budget_bytes, reported.budget_bytes);
            add(&mut self.heap_before_bytes, reported.before_bytes);
            add(&mut self.fragmentation_bytes, reported.free_after_bytes);
        }
        self.raise_peak(self.heap_before_bytes);
    }

    /// Adds the history of all heaps together.
    pub(super) fn global_history(&mut self, history: &GcGlobalHistory) {
        self.heaps = Some(history.heaps);
        self.is_concurrent = Some(history.mechanisms & 1 != 0);
        self.is_compacting = Some(history.mechanisms & 2 != 0);
        self.memory_load_percent = history.memory_load_percent;
        let nanos = |micros: u32| u64::from(micros).saturating_mul(1000);
        let [m0, m1, m2, m3, m4, plan, relocate_or_sweep, compact] = history.phase_micros;
        let marks = [m0, m1, m2, m3, m4];
        if marks.iter().any(Option::is_some) {
            self.mark_ns =
                Some(marks.into_iter().flatten().map(nanos).fold(0, u64::saturating_add));
        }
        self.plan_ns = plan.map(nanos);
        self.compact_ns = compact.map(nanos);
        match compact {
            Some(_) => self.relocate_ns = relocate_or_sweep.map(nanos),
            None => self.sweep_ns = relocate_or_sweep.map(nanos),
        }
    }

    /// Adds a pause. `stopped_ns`: time at which all threads were suspended, if it is known.
    pub(super) fn pause(&mut self, start_ns: i64, end_ns: i64, stopped_ns: Option<i64>) {
        let pause_ns = nanos_between(start_ns, end_ns);
        self.pauses.push(Pause { start_ns, pause_ns });
        self.pause_ns = self.pause_ns.saturating_add(pause_ns);
        let suspend_ns =
            stopped_ns.map_or(0, |stopped_ns| nanos_between(start_ns, stopped_ns.min(end_ns)));
        self.suspend_ns = self.suspend_ns.saturating_add(suspend_ns);
    }

    pub(super) fn raise_peak(&mut self, bytes: Option<u64>) {
        self.heap_peak_bytes = self.heap_peak_bytes.max(bytes);
    }

    /// Computes the members that depend on several events, when no more events will come.
    pub(super) fn complete(&mut self) {
        self.is_complete = self.duration_ns.is_some() && !self.pauses.is_empty();
        if let (Some(free), Some(size @ 1..)) = (self.fragmentation_bytes, self.heap_after_bytes) {
            self.fragmentation_percent = Some(free as f64 * 100.0 / size as f64);
        }
    }

    fn ensure_generations(&mut self) {
        if self.generations.is_empty() {
            self.generations = GENERATIONS
                .map(|name| GenerationSizes { name, ..GenerationSizes::default() })
                .to_vec();
        }
    }
}
