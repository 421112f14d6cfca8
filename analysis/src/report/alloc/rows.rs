//! Rows of the report of allocations: by type, stack, thread and kind.

use super::{AllocSums, Ledger, TypeKey};
use crate::model::{Frame, FrameHandle, Mode, Model, Resolved, ThreadHandle, rounded};
use crate::report::stack_rows::ShownFrames;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Events that measure allocations, as [`Alloc`](super::Alloc) describes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum AllocEvent {
    /// Event for an object that was picked at random.
    AllocationSampled,
    /// Event for the objects of a type since the last such event.
    SampledObjectAllocation,
    /// Event for each 100 KB or more.
    AllocationTick,
}

impl fmt::Display for AllocEvent {
    /// Writes the name of the event.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Part of the heap in which an object is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ObjectKind {
    /// Heap of small objects.
    Small,
    /// Heap of large objects.
    Large,
    /// Heap of pinned objects.
    Pinned,
    /// Another or unreported part of the heap.
    Other,
}

impl ObjectKind {
    /// Returns the kind by its number in events.
    pub(super) fn from_number(number: u64) -> ObjectKind {
        match number {
            0 => ObjectKind::Small,
            1 => ObjectKind::Large,
            2 => ObjectKind::Pinned,
            _ => ObjectKind::Other,
        }
    }

    /// Returns the name for display.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Small => "small",
            ObjectKind::Large => "large",
            ObjectKind::Pinned => "pinned",
            ObjectKind::Other => "other",
        }
    }
}

/// Results of one kind of measurement. Lists are sorted by bytes, most first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocSource {
    /// Event that measured the allocations.
    pub source: AllocEvent,
    /// Number of events.
    pub events: u64,
    /// Estimated number of bytes allocated.
    pub bytes: u64,
    /// Standard error of `bytes`: with a probability of 95 %, the true value is within two standard
    /// errors. `None` unless the source picks objects at random.
    pub bytes_error: Option<u64>,
    /// Estimated number of objects allocated; `None` for ticks, which do not contain it.
    pub objects: Option<u64>,
    /// Bytes allocated per second from the first to the last selected event of any kind; `None` if
    /// these are one moment.
    pub bytes_per_second: Option<f64>,
    /// Allocations by part of the heap.
    pub kinds: Vec<AllocKind>,
    /// Allocations by type.
    pub types: Vec<AllocType>,
    /// Allocations by stack and type; stacks whose frames have equal names are merged.
    pub stacks: Vec<AllocStack>,
    /// Allocations by thread.
    pub threads: Vec<AllocThread>,
}

/// Allocations in one part of the heap.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocKind {
    /// Part of the heap.
    pub kind: ObjectKind,
    /// Number of events.
    pub events: u64,
    /// Estimated number of bytes.
    pub bytes: u64,
    /// Percentage of all bytes.
    pub percent: f64,
}

/// Allocations of one type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocType {
    /// Name of the type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of events.
    pub events: u64,
    /// Estimated number of bytes.
    pub bytes: u64,
    /// Standard error of `bytes`; `None` unless the source picks objects at random.
    pub bytes_error: Option<u64>,
    /// Estimated number of objects; `None` for ticks.
    pub objects: Option<u64>,
    /// Percentage of all bytes.
    pub percent: f64,
    /// Bytes of large objects, included in `bytes`.
    pub large_bytes: u64,
    /// Bytes of pinned objects, included in `bytes`.
    pub pinned_bytes: u64,
    /// Size of the largest object seen, in bytes; `None` if sizes are not reported.
    pub max_object_bytes: Option<u64>,
}

/// Allocations of one type at one stack.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocStack {
    /// Name of the type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of events.
    pub events: u64,
    /// Estimated number of bytes.
    pub bytes: u64,
    /// Percentage of all bytes.
    pub percent: f64,
    /// Bytes of large objects, included in `bytes`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub large_bytes: u64,
    /// Frames of the stack, innermost first; empty if stacks were not recorded.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "crate::model::with_lines"))]
    pub frames: Vec<Arc<Frame>>,
    /// Indices in `frames`, from 0, of frames with guessed names.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

/// Allocations of one thread.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocThread {
    /// OS id; `None` if the stream does not contain it.
    pub thread: Option<u64>,
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Name; `None` if the thread has none.
    pub name: Option<String>,
    /// Number of events.
    pub events: u64,
    /// Estimated number of bytes.
    pub bytes: u64,
    /// Percentage of all bytes.
    pub percent: f64,
}

#[derive(Default)]
struct KindSums {
    all: AllocSums,
    large: AllocSums,
    pinned: AllocSums,
}

impl KindSums {
    fn add(&mut self, kind: ObjectKind, sums: &AllocSums) {
        self.all.add(sums);
        match kind {
            ObjectKind::Large => self.large.add(sums),
            ObjectKind::Pinned => self.pinned.add(sums),
            ObjectKind::Small | ObjectKind::Other => {}
        }
    }
}

/// Sums of the allocations that pass the filter, by each key by which they are listed.
#[derive(Default)]
struct SummedAllocations<'r> {
    all: AllocSums,
    kinds: BTreeMap<ObjectKind, AllocSums>,
    types: BTreeMap<&'r str, KindSums>,
    stacks: BTreeMap<(&'r [FrameHandle], &'r str), KindSums>,
    threads: BTreeMap<ThreadHandle, AllocSums>,
}

impl<'r> SummedAllocations<'r> {
    fn new(
        ledger: &Ledger,
        names: &'r BTreeMap<TypeKey, String>,
        resolved: &'r Resolved<'_>,
    ) -> SummedAllocations<'r> {
        let mut summed = SummedAllocations::default();
        let mut entries: Vec<_> = ledger.sums.iter().collect();
        // Sorted, because sums of floating-point numbers depend on their order.
        entries.sort_unstable_by_key(|(key, _)| **key);
        for (key, sums) in entries {
            if resolved.selected(key.stack, Mode::Unknown).is_none() {
                continue;
            }
            let name = names.get(&key.type_name).map_or("?", String::as_str);
            summed.all.add(sums);
            summed.kinds.entry(key.kind).or_default().add(sums);
            let row = summed.types.entry(name).or_default();
            row.add(key.kind, sums);
            let frames = resolved.frames(key.stack);
            summed.stacks.entry((frames, name)).or_default().add(key.kind, sums);
            summed.threads.entry(key.thread).or_default().add(sums);
        }
        summed
    }

    fn percent(&self, sums: &AllocSums) -> f64 {
        if self.all.bytes > 0.0 { sums.bytes * 100.0 / self.all.bytes } else { 0.0 }
    }

    fn stacks(&self, resolved: &Resolved<'_>) -> Vec<AllocStack> {
        let mut stacks: Vec<_> = self.stacks.iter().collect();
        stacks.sort_few_by_key(|(key, sums)| (Reverse(rounded(sums.all.bytes)), *key));
        let mut shown = ShownFrames::new(resolved);
        let row = |((frames, name), sums): (&(&[FrameHandle], &str), &KindSums)| {
            let (frames, guessed) = shown.names(frames);
            AllocStack {
                type_name: (*name).to_owned(),
                events: sums.all.events,
                bytes: rounded(sums.all.bytes),
                percent: self.percent(&sums.all),
                large_bytes: rounded(sums.large.bytes),
                frames,
                guessed,
            }
        };
        stacks.into_iter().map(row).collect()
    }

    fn threads(&self, model: &Model) -> Vec<AllocThread> {
        let mut threads: Vec<_> = self.threads.iter().collect();
        threads.sort_few_by_key(|(thread, sums)| (Reverse(rounded(sums.bytes)), **thread));
        let row = |(thread, sums): (&ThreadHandle, &AllocSums)| {
            let row = model.thread(*thread);
            AllocThread {
                thread: row.and_then(|row| row.os_thread_id),
                process_id: row.and_then(|row| model.process(row.process)?.id),
                name: row.and_then(|row| row.name.clone()),
                events: sums.events,
                bytes: rounded(sums.bytes),
                percent: self.percent(sums),
            }
        };
        threads.into_iter().map(row).collect()
    }

    fn kinds(&self) -> Vec<AllocKind> {
        let seen = self.kinds.iter().filter(|(_, sums)| sums.events > 0);
        seen.map(|(kind, sums)| AllocKind {
            kind: *kind,
            events: sums.events,
            bytes: rounded(sums.bytes),
            percent: self.percent(sums),
        })
        .collect()
    }
}

impl AllocSource {
    pub(super) fn new(
        source: AllocEvent,
        ledger: &Ledger,
        names: &BTreeMap<TypeKey, String>,
        span_ns: u64,
        resolved: &Resolved<'_>,
    ) -> AllocSource {
        let is_random = source == AllocEvent::AllocationSampled;
        let has_objects = source != AllocEvent::AllocationTick;
        let summed = SummedAllocations::new(ledger, names, resolved);
        let all = &summed.all;
        let error = |sums: &AllocSums| is_random.then(|| rounded(sums.variance.sqrt()));
        let objects = |sums: &AllocSums| has_objects.then(|| rounded(sums.objects));
        let seconds = span_ns as f64 / 1e9;
        let type_row = |(name, row): (&&str, &KindSums)| AllocType {
            type_name: (*name).to_owned(),
            events: row.all.events,
            bytes: rounded(row.all.bytes),
            bytes_error: error(&row.all),
            objects: objects(&row.all),
            percent: summed.percent(&row.all),
            large_bytes: rounded(row.large.bytes),
            pinned_bytes: rounded(row.pinned.bytes),
            max_object_bytes: Some(row.all.max_object_bytes).filter(|bytes| *bytes > 0),
        };
        let mut types: Vec<AllocType> = summed.types.iter().map(type_row).collect();
        types.sort_few_by(|a, b| {
            (Reverse(a.bytes), &a.type_name).cmp(&(Reverse(b.bytes), &b.type_name))
        });
        AllocSource {
            source,
            events: all.events,
            bytes: rounded(all.bytes),
            bytes_error: error(all),
            objects: objects(all),
            bytes_per_second: (seconds > 0.0).then(|| all.bytes / seconds),
            kinds: summed.kinds(),
            types,
            stacks: summed.stacks(resolved),
            threads: summed.threads(resolved.model()),
        }
    }
}
