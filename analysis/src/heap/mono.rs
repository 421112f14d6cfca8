//! Heap dumps of Mono's profiler provider. Objects refer to their VTable, and the names of VTables come
//! in events of their own.
//!
//! | event | meaning |
//! |---|---|
//! | 51, 52 | begin and end of a dump |
//! | 53 | an object: address, VTable, size, and addresses that it refers to; further events of the object without a size have further addresses |
//! | 63 | the class of a VTable, before or after the objects |
//! | 50 | roots of a collection; inside a dump, the dump's roots |
//! | 48 | an area of memory that holds roots, with their kind |
//! | 38 | a step of a collection |

use super::gathered::{DumpInProgress, ListedRoot};
use super::kinds::RootKind;
use super::links::NONE;
use crate::model::name_of_mono;
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Value};
use std::collections::BTreeMap;

const PROVIDER: &str = "Microsoft-DotNETRuntimeMonoProfiler";

/// Maximum number of areas of roots that are kept, out of those that a process registers.
const MAX_AREAS: usize = 1 << 16;

/// An event of Mono that is needed for heap dumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MonoEvent {
    Start,
    Stop,
    Object,
    Class,
    Roots,
    RootArea,
    Collection,
}

impl MonoEvent {
    #[inline]
    pub(super) fn for_event(event: &Event<'_>) -> Option<MonoEvent> {
        if event.known_provider() != KnownProvider::Other || event.catalog().is_none() {
            return None;
        }
        let what = match event.id() {
            38 => MonoEvent::Collection,
            48 => MonoEvent::RootArea,
            50 => MonoEvent::Roots,
            51 => MonoEvent::Start,
            52 => MonoEvent::Stop,
            53 => MonoEvent::Object,
            63 => MonoEvent::Class,
            _ => return None,
        };
        (event.provider() == PROVIDER).then_some(what)
    }
}

/// Returns whether the event shows that the runtime is Mono. Events of Mono's own provider do, and
/// `RuntimeStart` names the runtime.
pub(super) fn is_of_mono(event: &Event<'_>) -> bool {
    const SKU_OF_MONO: u64 = 4;
    match event.known_provider() {
        KnownProvider::Runtime | KnownProvider::Rundown if event.id() == 187 => {
            number_of(event, "Sku") == Some(SKU_OF_MONO)
        }
        KnownProvider::Other => event.catalog().is_some() && event.provider() == PROVIDER,
        _ => false,
    }
}

/// Areas of memory that hold roots: the end and the kind of roots of each area, by its start.
#[derive(Debug, Default)]
pub(super) struct RootAreas(BTreeMap<u64, (u64, RootKind)>);

impl RootAreas {
    pub(super) fn learn(&mut self, event: &Event<'_>) {
        let number = |name| number_of(event, name);
        let (Some(start), Some(bytes)) = (number("RootID"), number("RootSize")) else { return };
        let kind = match number("RootType") {
            Some(1) => RootKind::Stack,
            Some(2) => RootKind::FinalizerQueue,
            Some(3) => RootKind::Static,
            Some(4) => RootKind::ThreadStatic,
            Some(6 | 14) => RootKind::StrongHandle,
            Some(15) => RootKind::DependentHandle,
            _ => RootKind::Other,
        };
        if self.0.len() < MAX_AREAS {
            self.0.insert(start, (start.saturating_add(bytes), kind));
        }
    }

    fn kind_of(&self, address: u64) -> RootKind {
        let area = self.0.range(..=address).next_back();
        area.filter(|(_, (end, _))| address < *end).map_or(RootKind::Other, |(_, (_, kind))| *kind)
    }
}

/// Adds the object in an event with id 53, or further references of the previous object.
pub(super) fn add_object(dump: &mut DumpInProgress, event: &Event<'_>) {
    let (mut address, mut vtable, mut bytes) = (0, 0, 0);
    let mut targets = Vec::new();
    for field in event.fields() {
        let Ok(value) = field.value else { break };
        match field.name() {
            "ObjectID" => address = value.as_u64().unwrap_or(0),
            "VTableID" => vtable = value.as_u64().unwrap_or(0),
            "ObjectSize" => bytes = value.as_u64().unwrap_or(0),
            "Values" => each(&value, |name, value| {
                if name == "ObjectID" {
                    targets.push(value);
                }
            }),
            _ => {}
        }
    }
    dump.single_object(address, bytes, vtable, &targets);
}

/// Adds the roots in an event with id 50.
pub(super) fn add_roots(dump: &mut DumpInProgress, areas: &RootAreas, event: &Event<'_>) {
    let Some(values) = event.field("Values") else { return };
    let mut object = 0;
    each(&values, |name, value| match name {
        "ObjectID" => object = value,
        // The address of a root comes after its object.
        "AddressID" if object != 0 => {
            let kind = areas.kind_of(value);
            dump.roots.push(ListedRoot { object, kind, name: NONE });
        }
        _ => {}
    });
}

/// Returns the VTable id, the module id and the class name in an event with id 63.
pub(super) fn class(event: &Event<'_>) -> Option<(u64, u64, String)> {
    let name = event.field("ClassName")?.to_text()?;
    Some((number_of(event, "VTableID")?, number_of(event, "ModuleID")?, name_of_mono(&name)))
}

/// Returns `true` if the step of a collection that an event reports stops all threads, `false` if
/// it resumes them, and `None` for other steps.
pub(super) fn pauses(event: &Event<'_>) -> Option<bool> {
    match number_of(event, "GCEventType")? {
        6 => Some(true),
        11 => Some(false),
        _ => None,
    }
}

fn number_of(event: &Event<'_>, name: &str) -> Option<u64> {
    event.field(name)?.as_u64()
}

/// Calls `take` with the name and the value of each id, in all rows of an array.
fn each(values: &Value<'_>, mut take: impl FnMut(&str, u64)) {
    let Some(rows) = values.as_array() else { return };
    for row in rows.iter().filter_map(|row| row.as_object()) {
        for name in ["ObjectID", "AddressID"] {
            if let Some(value) = row.field(name).and_then(|value| value.as_u64()) {
                take(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_of_the_kind_of_the_memory_that_holds_them() {
        let mut areas = RootAreas::default();
        areas.0.insert(0x1000, (0x1010, RootKind::Static));
        for (address, kind) in [
            (0xfff, RootKind::Other),
            (0x1000, RootKind::Static),
            (0x100f, RootKind::Static),
            (0x1010, RootKind::Other),
        ] {
            assert_eq!(areas.kind_of(address), kind, "{address:#x}");
        }
    }
}
