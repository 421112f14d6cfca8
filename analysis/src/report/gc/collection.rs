//! One collection.

use super::reason::{GcKind, GcReason};
use crate::model::intervals::nanos_between;
use nettrace_parser::view::{GcGlobalHistory, GcHeapHistory, GcHeapStats};

/// A garbage collection. Sizes are in bytes; those of generations include their free
/// space.
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
/// Facts that were not recorded or were lost are `None`.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Collection {
    /// OS id of the process.
    pub process_id: Option<u64>,
    /// Its number in the process, counting from 1.
    pub number: u32,
    /// The generation it collected: 0, 1 or 2.
    pub generation: u32,
    /// The reason: `AllocSmall`, `Induced`, `AllocLarge` …
    pub reason: GcReason,
    /// The kind: `NonConcurrentGC`, `BackgroundGC`, or `ForegroundGC` during a background
    /// collection.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: GcKind,
    /// When it started.
    pub start_ns: i64,
    /// Its duration; during a background collection, the process is only paused for part
    /// of it.
    pub duration_ns: Option<u64>,
    /// Time that all threads were paused for it: the sum of its pauses.
    pub pause_ns: u64,
    /// The pauses; a background collection has several.
    pub pauses: Vec<Pause>,
    /// The part of its pauses before all threads were suspended.
    pub suspend_ns: u64,
    /// Time from the start of the previous collection to the start of this one.
    pub since_last_ns: Option<u64>,
    /// Whether its start, its end and a pause are in the trace.
    pub is_complete: bool,
    /// Size of the heap when it started.
    pub heap_before_bytes: Option<u64>,
    /// Size of the heap after it.
    pub heap_after_bytes: Option<u64>,
    /// The largest heap size reported while it ran: before or after it or a foreground
    /// collection.
    pub heap_peak_bytes: Option<u64>,
    /// Bytes that survived in the generations that it collected.
    pub promoted_bytes: Option<u64>,
    /// Percentage of the objects in the collected generations that survived, by size.
    pub survival_percent: Option<f64>,
    /// Free space after it, within the generations.
    pub fragmentation_bytes: Option<u64>,
    /// Percentage of the heap that is free after it.
    pub fragmentation_percent: Option<f64>,
    /// Bytes allocated since the previous collection.
    pub allocated_bytes: Option<u64>,
    /// Bytes allocated per second since the previous collection.
    pub allocated_bytes_per_second: Option<f64>,
    /// Generation 0, 1, 2, large object heap and pinned object heap.
    pub generations: Vec<GenerationSizes>,
    /// Size of the frozen segments that the trace reports, at the start of the
    /// collection.
    pub frozen_bytes: u64,
    /// Objects that could not be moved.
    pub pinned_objects: Option<u32>,
    /// Objects kept alive only by their finalizers.
    pub finalized_objects: Option<u64>,
    /// Size of those objects.
    pub finalized_bytes: Option<u64>,
    /// Handles in use.
    pub handles: Option<u32>,
    /// Synchronisation blocks in use.
    pub sync_blocks: Option<u32>,
    /// Number of heaps; more than one with server GC.
    pub heaps: Option<u32>,
    /// Whether it compacted.
    pub is_compacting: Option<bool>,
    /// Whether it ran concurrently in the end. A collection that started as a background
    /// collection may have become blocking.
    pub is_concurrent: Option<bool>,
    /// Memory in use on the machine, in percent.
    pub memory_load_percent: Option<u32>,
    /// Time spent marking live objects.
    pub mark_ns: Option<u64>,
    /// Time spent planning.
    pub plan_ns: Option<u64>,
    /// Time spent updating references to moved objects.
    pub relocate_ns: Option<u64>,
    /// Time spent moving objects.
    pub compact_ns: Option<u64>,
    /// Time spent sweeping.
    pub sweep_ns: Option<u64>,
}

/// A period in which all threads were suspended: from the event that starts the
/// suspension (runtime 9) to the event after which all may run (3). If two collections
/// happened in one suspension, each gets its part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Pause {
    /// When it started.
    pub start_ns: i64,
    /// Its duration.
    pub pause_ns: u64,
}

/// A generation at a collection, summed over all heaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GenerationSizes {
    /// `gen0`, `gen1`, `gen2`, `loh` (large objects) or `poh` (pinned objects).
    pub name: &'static str,
    /// Size before.
    pub before_bytes: Option<u64>,
    /// Size after.
    pub after_bytes: Option<u64>,
    /// Free space after.
    pub free_bytes: Option<u64>,
    /// Bytes that survived in it.
    pub survived_bytes: Option<u64>,
    /// Bytes promoted out of it.
    pub promoted_bytes: Option<u64>,
    /// Bytes that may be allocated in it until the next collection.
    pub budget_bytes: Option<u64>,
}

const GENERATIONS: [&str; 5] = ["gen0", "gen1", "gen2", "loh", "poh"];

impl Collection {
    /// Adds the state of the heaps after it.
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

    /// Adds what it did to one more heap.
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

    /// Adds its global history.
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

    /// Adds a pause.
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

    /// Completes it; nothing more will be reported.
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
