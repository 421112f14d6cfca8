//! Allocations by type, stack and thread.

mod rows;

pub use rows::{
    AllocEvent, AllocKind, AllocSource, AllocStack, AllocThread, AllocType, ObjectKind,
};

use super::contract::{Moment, Recording, Report, SCHEMA};
use super::fields::Walk;
use crate::hash::HashMap;
use crate::model::{
    Model, ProcessHandle, Resolved, StackHandle, TextHandle, ThreadHandle, stands_for, type_text,
};
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, View};
use std::collections::BTreeMap;

/// Computes an [`AllocReport`]. Memory is bounded by the number of distinct threads,
/// stacks, types and kinds of objects.
///
/// | source | runtime event | meaning of one event |
/// |---|---|---|
/// | `AllocationSampled` | 303 (.NET 10) | an object picked at random, representing its size divided by the probability: unbiased, with a known error |
/// | `SampledObjectAllocation` | 20, 32 | the objects of a type since the last such event; event 15 names types |
/// | `AllocationTick` | 10 | all bytes since the last tick, at least 100 KB, attributed to the object that was allocated at that moment |
///
/// The three sources measure the same allocations, so they are never added up.
#[derive(Debug, Default)]
pub struct Alloc {
    random: Ledger,
    objects: Ledger,
    ticks: Ledger,
    /// Names of types by process and type id, from event 15.
    names: HashMap<(ProcessHandle, u64), TextHandle>,
}

/// Allocations by type, stack and thread.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocReport {
    /// Version of this document.
    pub schema: u32,
    /// Results of each kind of measurement in the trace, the most accurate first. They measure the
    /// same allocations: do not add them up.
    pub sources: Vec<AllocSource>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct LedgerKey {
    thread: ThreadHandle,
    stack: StackHandle,
    type_name: TypeKey,
    kind: ObjectKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum TypeKey {
    Name(TextHandle),
    /// Id of a type whose name may be reported later.
    Id(ProcessHandle, u64),
}

/// Sums of one kind of measurement.
#[derive(Debug, Default)]
struct Ledger {
    sums: HashMap<LedgerKey, AllocSums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct AllocSums {
    events: u64,
    objects: f64,
    bytes: f64,
    variance: f64,
    max_object_bytes: u64,
}

impl AllocSums {
    fn add(&mut self, other: &AllocSums) {
        self.events = self.events.saturating_add(other.events);
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.variance += other.variance;
        self.max_object_bytes = self.max_object_bytes.max(other.max_object_bytes);
    }
}

impl Ledger {
    fn add(&mut self, key: LedgerKey, sums: &AllocSums) {
        self.sums.entry(key).or_default().add(sums);
    }
}

impl Alloc {
    fn allocation(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> Option<()> {
        let Some(seen) = view::Allocation::from_event(event) else {
            // The first versions of the tick have no type name.
            let mut walk = Walk::new(event);
            let bytes = walk.number("AllocationAmount")?;
            let kind = walk.number("AllocationKind")?;
            let type_name = TypeKey::Name(model.texts_mut().intern(""));
            let sums =
                AllocSums { events: 1, objects: 1.0, bytes: bytes as f64, ..AllocSums::default() };
            self.ticks.add(key(event, moment, model, type_name, kind), &sums);
            return Some(());
        };
        let type_name = TypeKey::Name(model.texts_mut().intern_repeated(seen.type_name));
        let key = key(event, moment, model, type_name, u64::from(seen.kind));
        let max_object_bytes = seen.object_bytes.unwrap_or(0);
        if seen.is_random_sample {
            let size = seen.object_bytes?;
            let (objects, bytes) = stands_for(size);
            // A pick counts 1 / p objects for its probability p, which gives a variance of (1 - p)
            // / p² objects per pick.
            let variance = (size as f64).powi(2) * (objects - 1.0).max(0.0) * objects;
            let sums = AllocSums { events: 1, objects, bytes, variance, max_object_bytes };
            self.random.add(key, &sums);
        } else {
            let bytes = seen.bytes_since_last? as f64;
            let sums =
                AllocSums { events: 1, objects: 1.0, bytes, variance: 0.0, max_object_bytes };
            self.ticks.add(key, &sums);
        }
        Some(())
    }

    /// Adds events 20 and 32: number and size of the objects of a type since the last such event.
    fn objects(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> Option<()> {
        let process = model.thread(moment.thread)?.process;
        let mut walk = Walk::new(event);
        let type_id = walk.number("TypeID")?;
        let objects = walk.number("ObjectCountForTypeSample")? as f64;
        let bytes = walk.number("TotalSizeForTypeSample")? as f64;
        let key = key(event, moment, model, TypeKey::Id(process, type_id), 0);
        let sums = AllocSums { events: 1, objects, bytes, ..AllocSums::default() };
        self.objects.add(key, &sums);
        Some(())
    }

    /// Keeps the names of types from event 15.
    fn type_names(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> Option<()> {
        let process = model.thread(moment.thread)?.process;
        for row in event.field("Values")?.as_array()?.iter() {
            let fields = &mut row.as_object()?.fields();
            let id = fields.find("TypeID")?.value.ok()?.as_u64()?;
            let name = fields.find("Name")?.value.ok()?.to_text().unwrap_or_default();
            if !name.is_empty() {
                self.names.insert((process, id), model.texts_mut().intern(&name));
            }
        }
        Some(())
    }
}

fn key(
    event: &Event<'_>,
    moment: &Moment,
    model: &mut Model,
    type_name: TypeKey,
    kind: u64,
) -> LedgerKey {
    let stack = model.stack_of(event, moment.thread);
    LedgerKey { thread: moment.thread, stack, type_name, kind: ObjectKind::from_number(kind) }
}

impl Report for Alloc {
    type Output = AllocReport;

    const NAME: &'static str = "alloc";
    const ABOUT: &'static str = "What was allocated: by type, stack and thread";
    const RECORD: &'static [Recording] =
        &[Recording::runtime(0x800_0000_0000, 4).since(10), Recording::runtime(0x1, 5)];

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime
            && matches!(event.id(), 10 | 15 | 20 | 32 | 303)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        match event.id() {
            10 | 303 => {
                if moment.is_selected {
                    let _ = self.allocation(event, moment, model);
                }
                true
            }
            20 | 32 => {
                if moment.is_selected {
                    let _ = self.objects(event, moment, model);
                }
                true
            }
            15 => {
                let _ = self.type_names(event, moment, model);
                false
            }
            _ => false,
        }
    }

    fn finish(self, resolved: &Resolved<'_>) -> AllocReport {
        let ledgers = [
            (AllocEvent::AllocationSampled, &self.random),
            (AllocEvent::SampledObjectAllocation, &self.objects),
            (AllocEvent::AllocationTick, &self.ticks),
        ];
        let sources = ledgers
            .into_iter()
            .filter(|(_, ledger)| !ledger.sums.is_empty())
            .map(|(source, ledger)| {
                let mut types = BTreeMap::new();
                for key in ledger.sums.keys() {
                    types
                        .entry(key.type_name)
                        .or_insert_with(|| self.type_name(key.type_name, resolved));
                }
                // Allocations may be few and close together.
                let seen_ns = resolved.model().selected_nanos();
                AllocSource::new(source, ledger, &types, seen_ns, resolved)
            })
            .collect();
        AllocReport { schema: SCHEMA, sources }
    }
}

impl Alloc {
    fn type_name(&self, key: TypeKey, resolved: &Resolved<'_>) -> String {
        let name = match key {
            TypeKey::Name(name) => Some(name),
            TypeKey::Id(process, id) => self.names.get(&(process, id)).copied(),
        };
        let name = name.map_or("", |name| resolved.model().text(name));
        match (name, key) {
            ("", TypeKey::Id(_, id)) => format!("type {id:#x}"),
            ("", TypeKey::Name(_)) => "?".to_owned(),
            (name, _) => type_text(name, resolved.names()),
        }
    }
}
