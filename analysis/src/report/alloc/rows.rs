//! Allocations as they are shown: by type, stack, thread and kind.

use super::{Ledger, Sums, TypeKey};
use crate::model::{FrameHandle, Mode, Resolved, ThreadHandle, rounded};
use crate::report::stack_rows::{guessed_of, names_of};
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What one way of measuring found. Lists are by bytes, most first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocSource {
    /// `AllocationSampled`, `SampledObjectAllocation` or `AllocationTick`.
    pub source: &'static str,
    /// Events.
    pub events: u64,
    /// Bytes that were allocated; an estimate.
    pub bytes: u64,
    /// Standard error of the bytes, of random samples: the truth lies within twice of it 95 times of
    /// 100. `None` where the way of measuring has no known error.
    pub bytes_error: Option<u64>,
    /// Objects that were allocated; `None` of ticks, which do not tell.
    pub objects: Option<u64>,
    /// Bytes a second, from the first event of any kind that the filter lets pass until the last.
    pub bytes_per_second: Option<f64>,
    /// Small, large and pinned objects.
    pub kinds: Vec<AllocKind>,
    /// By type.
    pub types: Vec<AllocType>,
    /// By stack and type; stacks whose frames have equal names are one.
    pub stacks: Vec<AllocStack>,
    /// By thread.
    pub threads: Vec<AllocThread>,
}

/// The objects of one heap.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocKind {
    /// `small`, `large`, `pinned` or `other`.
    pub kind: &'static str,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// Part of all bytes.
    pub percent: f64,
}

/// The objects of one type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocType {
    /// Name, as stored.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// Standard error of the bytes, of random samples.
    pub bytes_error: Option<u64>,
    /// Objects; `None` of ticks.
    pub objects: Option<u64>,
    /// Part of all bytes.
    pub percent: f64,
    /// Of the bytes, those of large objects.
    pub large_bytes: u64,
    /// Of the bytes, those of pinned objects.
    pub pinned_bytes: u64,
    /// The largest object that was met, where that is reported.
    pub max_object_bytes: Option<u64>,
}

/// The objects of one type that were allocated at one stack.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocStack {
    /// Name of the type, as stored.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// Part of all bytes.
    pub percent: f64,
    /// The stack, innermost frame first; empty if none was recorded.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::report::stack_rows::as_texts"))]
    pub frames: Vec<Arc<str>>,
    /// Which of the frames' names are guesses: places in `frames`, from 0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

/// What one thread allocated.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocThread {
    /// OS id.
    pub thread: Option<u64>,
    /// OS id of its process.
    pub process_id: Option<u64>,
    /// Name, if it is known.
    pub name: Option<String>,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// Part of all bytes.
    pub percent: f64,
}

const KINDS: [&str; 4] = ["small", "large", "pinned", "other"];

#[derive(Default)]
struct TypeSums {
    all: Sums,
    large: Sums,
    pinned: Sums,
}

impl AllocSource {
    pub(super) fn new(
        source: &'static str,
        ledger: &Ledger,
        names: &BTreeMap<TypeKey, String>,
        span_ns: u64,
        resolved: &Resolved<'_>,
    ) -> AllocSource {
        let is_random = source == "AllocationSampled";
        let has_objects = source != "AllocationTick";
        let (mut all, mut kinds) = (Sums::default(), [Sums::default(); 4]);
        let mut types: BTreeMap<&str, TypeSums> = BTreeMap::new();
        let mut stacks: BTreeMap<(&[FrameHandle], &str), Sums> = BTreeMap::new();
        let mut threads: BTreeMap<ThreadHandle, Sums> = BTreeMap::new();
        let mut entries: Vec<_> = ledger.sums.iter().collect();
        // Sums of fractions depend on the order; a table of hashes has none.
        entries.sort_unstable_by_key(|(key, _)| **key);
        for (key, sums) in entries {
            if resolved.selected(key.stack, Mode::Unknown).is_none() {
                continue;
            }
            let name = names.get(&key.type_name).map_or("?", String::as_str);
            all.add(sums);
            if let Some(kind) = kinds.get_mut(usize::from(key.kind)) {
                kind.add(sums);
            }
            let row = types.entry(name).or_default();
            row.all.add(sums);
            match key.kind {
                1 => row.large.add(sums),
                2 => row.pinned.add(sums),
                _ => {}
            }
            stacks.entry((resolved.frames(key.stack), name)).or_default().add(sums);
            threads.entry(key.thread).or_default().add(sums);
        }
        let percent = |sums: &Sums| if all.bytes > 0.0 { sums.bytes * 100.0 / all.bytes } else { 0.0 };
        let error = |sums: &Sums| is_random.then(|| rounded(sums.variance.sqrt()));
        let objects = |sums: &Sums| has_objects.then(|| rounded(sums.objects));
        let seconds = span_ns as f64 / 1e9;
        let mut types: Vec<AllocType> = types
            .into_iter()
            .map(|(name, row)| AllocType {
                type_name: name.to_owned(),
                events: row.all.events,
                bytes: rounded(row.all.bytes),
                bytes_error: error(&row.all),
                objects: objects(&row.all),
                percent: percent(&row.all),
                large_bytes: rounded(row.large.bytes),
                pinned_bytes: rounded(row.pinned.bytes),
                max_object_bytes: Some(row.all.max_object_bytes).filter(|bytes| *bytes > 0),
            })
            .collect();
        types.sort_few_by(|a, b| (Reverse(a.bytes), &a.type_name).cmp(&(Reverse(b.bytes), &b.type_name)));
        let mut stacks: Vec<((&[FrameHandle], &str), Sums)> = stacks.into_iter().collect();
        stacks.sort_few_by_key(|(key, sums)| (Reverse(rounded(sums.bytes)), *key));
        let stacks = stacks
            .into_iter()
            .map(|((frames, name), sums)| AllocStack {
                type_name: name.to_owned(),
                events: sums.events,
                bytes: rounded(sums.bytes),
                percent: percent(&sums),
                frames: names_of(resolved, frames),
                guessed: guessed_of(resolved, frames),
            })
            .collect();
        let mut threads: Vec<(ThreadHandle, Sums)> = threads.into_iter().collect();
        threads.sort_few_by_key(|(thread, sums)| (Reverse(rounded(sums.bytes)), *thread));
        let model = resolved.model();
        let threads = threads
            .into_iter()
            .map(|(thread, sums)| {
                let row = model.threads().get(thread);
                AllocThread {
                    thread: row.and_then(|row| row.os_thread_id),
                    process_id: row.and_then(|row| model.process(row.process)?.id),
                    name: row.and_then(|row| row.name.clone()),
                    events: sums.events,
                    bytes: rounded(sums.bytes),
                    percent: percent(&sums),
                }
            })
            .collect();
        AllocSource {
            source,
            events: all.events,
            bytes: rounded(all.bytes),
            bytes_error: error(&all),
            objects: objects(&all),
            bytes_per_second: (seconds > 0.0).then(|| all.bytes / seconds),
            kinds: KINDS
                .iter()
                .zip(&kinds)
                .filter(|(_, sums)| sums.events > 0)
                .map(|(kind, sums)| AllocKind {
                    kind,
                    events: sums.events,
                    bytes: rounded(sums.bytes),
                    percent: percent(sums),
                })
                .collect(),
            types,
            stacks,
            threads,
        }
    }
}
