//! Views of garbage collections.

use super::{KnownProvider, View, number, number32, value};
use crate::event::Event;

/// Start of a collection: runtime event 1, versions 0 to 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcStart {
    /// Number of the collection, counting from 1.
    pub number: u32,
    /// Generation that is collected; `None` in version 0.
    pub generation: Option<u32>,
    /// Reason as stored, with names in the catalog's `GCReasonMap`.
    pub reason: u32,
    /// Kind as stored: 0 blocking, 1 background, 2 blocking during a background collection. `None`
    /// in version 0.
    pub kind: Option<u32>,
}

impl View<'_> for GcStart {
    fn from_event(event: &Event<'_>) -> Option<GcStart> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 1 {
            return None;
        }
        let has_depth = event.version() >= 1;
        let fields = &mut event.fields();
        Some(GcStart {
            number: number32(fields, "Count")?,
            generation: if has_depth { number32(fields, "Depth") } else { None },
            reason: number32(fields, "Reason")?,
            kind: if has_depth { number32(fields, "Type") } else { None },
        })
    }
}

/// End of a collection: runtime event 2, versions 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcEnd {
    /// Number of the collection, counting from 1.
    pub number: u32,
    /// Generation that was collected.
    pub generation: u32,
}

impl View<'_> for GcEnd {
    fn from_event(event: &Event<'_>) -> Option<GcEnd> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 2 {
            return None;
        }
        let fields = &mut event.fields();
        Some(GcEnd { number: number32(fields, "Count")?, generation: number32(fields, "Depth")? })
    }
}

/// State of the heap after a collection: runtime event 4, versions 0 to 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcHeapStats {
    /// Size in bytes, including free space, of generations 0, 1 and 2, of the large object heap,
    /// and of the pinned object heap, which is 0 before version 2.
    pub size_bytes: [u64; 5],
    /// Number of bytes promoted from each generation or heap of `size_bytes`.
    pub promoted_bytes: [u64; 5],
    /// Number of bytes kept alive only by their finalizers.
    pub finalization_bytes: u64,
    /// Number of objects kept alive only by their finalizers.
    pub finalization_count: u64,
    /// Number of objects that could not be moved.
    pub pinned_objects: u32,
    /// Number of synchronisation blocks in use (the runtime's field is misspelt
    /// `SinkBlockCount`).
    pub sync_blocks: u32,
    /// Number of handles in use.
    pub handles: u32,
}

impl View<'_> for GcHeapStats {
    fn from_event(event: &Event<'_>) -> Option<GcHeapStats> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 4 {
            return None;
        }
        let fields = &mut event.fields();
        let (mut size_bytes, mut promoted_bytes) = ([0; 5], [0; 5]);
        let names = [
            ("GenerationSize0", "TotalPromotedSize0"),
            ("GenerationSize1", "TotalPromotedSize1"),
            ("GenerationSize2", "TotalPromotedSize2"),
            ("GenerationSize3", "TotalPromotedSize3"),
        ];
        for ((size, promoted), names) in size_bytes.iter_mut().zip(&mut promoted_bytes).zip(names) {
            *size = number(fields, names.0)?;
            *promoted = number(fields, names.1)?;
        }
        let mut stats = GcHeapStats {
            size_bytes,
            promoted_bytes,
            finalization_bytes: number(fields, "FinalizationPromotedSize")?,
            finalization_count: number(fields, "FinalizationPromotedCount")?,
            pinned_objects: number32(fields, "PinnedObjectCount")?,
            sync_blocks: number32(fields, "SinkBlockCount")?,
            handles: number32(fields, "GCHandleCount")?,
        };
        if event.version() >= 2 {
            stats.size_bytes[4] = number(fields, "GenerationSize4").unwrap_or(0);
            stats.promoted_bytes[4] = number(fields, "TotalPromotedSize4").unwrap_or(0);
        }
        Some(stats)
    }
}

/// Step in suspending and resuming all threads: runtime events 9, 8, 7 and 3, versions 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suspension {
    /// A thread starts to suspend all other threads, for this reason as stored, with names in the
    /// catalog's `GCSuspendEEReasonMap`.
    SuspendStart(u32),
    /// All threads are suspended.
    SuspendStop,
    /// The threads are about to be resumed.
    RestartStart,
    /// The threads have been resumed.
    RestartStop,
}

impl View<'_> for Suspension {
    fn from_event(event: &Event<'_>) -> Option<Suspension> {
        if event.known_provider() != KnownProvider::Runtime {
            return None;
        }
        Some(match event.id() {
            9 => Suspension::SuspendStart(number32(&mut event.fields(), "Reason")?),
            8 => Suspension::SuspendStop,
            7 => Suspension::RestartStart,
            3 => Suspension::RestartStop,
            _ => return None,
        })
    }
}

/// Details of a collection: runtime event 205, versions 0 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcGlobalHistory {
    /// Number of heaps that took part; more than one with server GC.
    pub heaps: u32,
    /// Generation that was finally collected.
    pub generation: u32,
    /// Flags as stored: 1 concurrent, 2 compacting, 4 promoting, 8 demoting.
    pub mechanisms: u32,
    /// Latency mode of the process: 0 batch, 1 interactive, 2 low latency, 3 sustained low
    /// latency, 4 no GC. `None` before version 2.
    pub pause_mode: Option<u32>,
    /// Memory in use on the machine, in percent; `None` before version 2.
    pub memory_load_percent: Option<u32>,
    /// Durations in microseconds of these phases: marking of sized references, of roots, of short
    /// weak handles, for finalization, and of long weak handles; planning; then relocating and
    /// compacting, or sweeping. `None` before version 4, and for phases that the event does not
    /// list.
    pub phase_micros: [Option<u32>; 8],
}

impl View<'_> for GcGlobalHistory {
    fn from_event(event: &Event<'_>) -> Option<GcGlobalHistory> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 205 {
            return None;
        }
        let fields = &mut event.fields();
        let mut history = GcGlobalHistory {
            heaps: number32(fields, "NumHeaps")?,
            generation: number32(fields, "CondemnedGeneration")?,
            mechanisms: number32(fields, "GlobalMechanisms")?,
            pause_mode: None,
            memory_load_percent: None,
            phase_micros: [None; 8],
        };
        if event.version() >= 2 {
            history.pause_mode = number32(fields, "PauseMode");
            history.memory_load_percent = number32(fields, "MemoryPressure");
        }
        if event.version() >= 4
            && let Some(times) = value(fields, "Values").and_then(|values| values.as_array())
        {
            for (place, time) in history.phase_micros.iter_mut().zip(times.iter()) {
                let micros = time.as_object().and_then(|time| time.field("Time")?.as_u64());
                *place = micros.and_then(|micros| u32::try_from(micros).ok());
            }
        }
        Some(history)
    }
}

/// Effect of a collection on one heap: runtime event 204, version 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcHeapHistory {
    /// Index of the heap.
    pub heap_index: u32,
    /// Effect on generations 0, 1 and 2, on large objects, and on pinned objects (from .NET 5 on);
    /// `None` if the runtime does not report it.
    pub generations: [Option<GcGenerationHistory>; 5],
}

/// Effect of a collection on one generation of one heap, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GcGenerationHistory {
    /// Size before the collection, including free space.
    pub before_bytes: u64,
    /// Free space before the collection, in free lists and in gaps that are too small for them.
    pub free_before_bytes: u64,
    /// Size after the collection, including free space.
    pub after_bytes: u64,
    /// Free space after the collection.
    pub free_after_bytes: u64,
    /// Size of the objects that were moved into the generation.
    pub in_bytes: u64,
    /// Size of the objects that survived because they are pinned.
    pub pinned_survived_bytes: u64,
    /// Size of the objects that survived for other reasons.
    pub survived_bytes: u64,
    /// Number of bytes that may be allocated in the generation until the next collection.
    pub budget_bytes: u64,
}

impl View<'_> for GcHeapHistory {
    fn from_event(event: &Event<'_>) -> Option<GcHeapHistory> {
        if event.known_provider() != KnownProvider::Runtime
            || event.id() != 204
            || event.version() < 3
        {
            return None;
        }
        let fields = &mut event.fields();
        let heap_index = number32(fields, "HeapIndex")?;
        let mut generations = [None; 5];
        let values = value(fields, "Values")?.as_array()?;
        for (place, row) in generations.iter_mut().zip(values.iter()) {
            *place = row.as_object().and_then(|row| {
                let row = &mut row.fields();
                let before_bytes = number(row, "SizeBefore")?;
                let lists_before = number(row, "FreeListBefore")?;
                let gaps_before = number(row, "FreeObjBefore")?;
                let after_bytes = number(row, "SizeAfter")?;
                let lists_after = number(row, "FreeListAfter")?;
                let gaps_after = number(row, "FreeObjAfter")?;
                Some(GcGenerationHistory {
                    before_bytes,
                    free_before_bytes: lists_before.saturating_add(gaps_before),
                    after_bytes,
                    free_after_bytes: lists_after.saturating_add(gaps_after),
                    in_bytes: number(row, "In")?,
                    pinned_survived_bytes: number(row, "PinnedSurv")?,
                    survived_bytes: number(row, "NonePinnedSurv")?,
                    budget_bytes: number(row, "NewAllocation")?,
                })
            });
        }
        Some(GcHeapHistory { heap_index, generations })
    }
}
