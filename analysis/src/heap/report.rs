//! The summary of a heap dump by type, module, root and generation.

use super::dump::{HeapDump, HeapLosses, is_of_all};
use super::gcdump_about::{GcDumpAbout, HeapEstimate};
use super::holders::HeapHolder;
use super::kinds::{HeapGeneration, RootKind};
use super::name::HeapName;
use super::retained::{HeapNode, Retained};
use super::tree::HeapTreeNode;
use crate::document::{SCHEMA, percent};
use crate::hash::HashSet;
use crate::sorted::SortFew;
use std::collections::BTreeMap;

/// Minimum percentage of the reachable bytes that a node must retain to be in the tree, from which
/// holders are determined.
const MIN_TREE_PERCENT: f64 = 1.0;

/// The summary of a heap dump.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapReport {
    /// Version of this JSON document's schema.
    pub schema: u32,
    /// All dumps of the trace.
    pub dumps: Vec<HeapDumpRow>,
    /// Number of the summarised dump, counting from 1.
    pub dump: usize,
    /// Number of objects.
    pub objects: u64,
    /// Number of references between objects.
    pub edges: u64,
    /// Size of all objects, in bytes.
    pub bytes: u64,
    /// Number of reachable objects. The others are garbage, or are held by something that the dump
    /// does not contain.
    pub reachable_objects: u64,
    /// Size of reachable objects, in bytes.
    pub reachable_bytes: u64,
    /// Time for which all threads were paused for the dump, in nanoseconds; `None` if it is
    /// unknown.
    pub pause_ns: Option<i64>,
    /// The three holders that keep most alive, the largest first.
    pub holders: Vec<HeapHolder>,
    /// Types of the objects, those with the most bytes first.
    pub types: Vec<HeapTypeRow>,
    /// Modules of these types, those with the most bytes first.
    pub modules: Vec<HeapModuleRow>,
    /// Kinds of the roots that hold objects.
    pub roots: Vec<HeapRootRow>,
    /// Static variables, those with the most retained bytes first.
    pub statics: Vec<HeapStaticRow>,
    /// Generations of the objects. There is only `unknown` if the trace does not tell the memory of
    /// each generation.
    pub generations: Vec<HeapGenerationRow>,
    /// Counts of what the dump lacks.
    pub missing: HeapLosses,
    /// What the `.gcdump` says of itself; `None` for a dump of a trace.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gcdump: Option<GcDumpAbout>,
}

/// A dump in the list of a trace's dumps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapDumpRow {
    /// Number of the dump, counting from 1.
    pub index: usize,
    /// Start of the dump's collection, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Whether the dump lacks nothing.
    pub complete: bool,
    /// Id of the process.
    pub process: Option<u64>,
    /// Number of the dump's collection; `None` if its start is missing.
    pub collection: Option<u32>,
    /// Oldest generation that was collected; `None` if the collection's end is missing. Objects of
    /// still older generations may be garbage.
    pub collected_generation: Option<u32>,
    /// Number of objects.
    pub objects: u64,
    /// Size of all objects, in bytes.
    pub bytes: u64,
}

/// Totals of the objects of a type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapTypeRow {
    /// Name of the type.
    pub name: HeapName,
    /// Module of the type; empty if it is unknown.
    pub module: HeapName,
    /// Number of objects of the type.
    pub count: u64,
    /// Size of the objects themselves, in bytes.
    pub bytes: u64,
    /// Bytes that would be freed if all objects of the type were removed.
    pub retained_bytes: u64,
    /// Size of the largest object of the type, in bytes.
    pub largest_bytes: u64,
    /// Size of the objects themselves, in percent of all objects.
    pub percent: f64,
    /// Number and size of the type's objects in the whole heap, if only some were dumped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub estimate: Option<HeapEstimate>,
}

/// Totals of the objects whose types belong to a module.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapModuleRow {
    /// Name of the module; empty if it is unknown.
    pub module: HeapName,
    /// Number of the module's types that have objects.
    pub types: u64,
    /// Number of objects of these types.
    pub count: u64,
    /// Size of the objects themselves, in bytes.
    pub bytes: u64,
    /// Bytes that would be freed if all objects of the module's types were removed.
    pub retained_bytes: u64,
    /// Size of the objects themselves, in percent of all objects.
    pub percent: f64,
}

/// Totals of the roots of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapRootRow {
    /// Kind of the roots.
    pub kind: RootKind,
    /// Number of roots.
    pub count: u64,
    /// Number of distinct objects that the roots hold.
    pub objects: u64,
    /// Size of these objects themselves, in bytes.
    pub bytes: u64,
    /// Bytes that would be freed if all roots of the kind were removed.
    pub retained_bytes: u64,
}

/// A static variable that holds an object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapStaticRow {
    /// Name of the variable, without its class, which no event contains.
    pub name: String,
    /// Type of the object that the variable holds.
    pub type_name: String,
    /// Whether the variable is thread-static.
    pub is_thread_static: bool,
    /// Size of the object itself, in bytes.
    pub bytes: u64,
    /// Bytes that would be freed if the variable were null.
    pub retained_bytes: u64,
}

/// Totals of the objects in a generation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapGenerationRow {
    /// The generation to which the totals belong.
    pub generation: HeapGeneration,
    /// Number of objects in the generation.
    pub count: u64,
    /// Size of these objects, in bytes.
    pub bytes: u64,
    /// Size of those of these objects that are reachable, in bytes.
    pub reachable_bytes: u64,
    /// Size of these objects, in percent of the size of all objects.
    pub percent: f64,
}

impl HeapDumpRow {
    /// Returns whether the dump's collection collected all generations, or true if that is unknown.
    /// See [`HeapDump::is_of_all_generations`].
    pub fn is_of_all_generations(&self) -> bool {
        is_of_all(self.collected_generation)
    }

    fn new(dump: &HeapDump) -> HeapDumpRow {
        HeapDumpRow {
            index: dump.index,
            start_ns: dump.start_nanos,
            complete: dump.losses.is_complete(),
            process: dump.process_id,
            collection: dump.collection,
            collected_generation: dump.collected,
            objects: dump.objects().into(),
            bytes: dump.bytes(),
        }
    }
}

/// Totals of a group of objects.
#[derive(Debug, Clone, Copy, Default)]
struct HeapTypeSums {
    count: u64,
    bytes: u64,
    largest: u64,
    reachable: u64,
}

impl HeapTypeSums {
    fn add(&mut self, bytes: u64, is_reachable: bool) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        self.largest = self.largest.max(bytes);
        self.reachable = self.reachable.saturating_add(if is_reachable { bytes } else { 0 });
    }
}

impl HeapReport {
    /// Summarises `dump`, which is one of `dumps`.
    pub fn new(dumps: &[HeapDump], dump: &HeapDump, retained: &Retained) -> HeapReport {
        let mut types = vec![HeapTypeSums::default(); dump.types().len()];
        let mut generations = [HeapTypeSums::default(); HeapGeneration::ALL.len()];
        let mut all = HeapTypeSums::default();
        let mut reachable_objects = 0u64;
        for object in 0..dump.objects() {
            let (bytes, is_reachable) = (dump.bytes_of(object), retained.is_reachable(object));
            if let Some(sums) = types.get_mut(dump.type_of(object) as usize) {
                sums.add(bytes, is_reachable);
            }
            if let Some(sums) = generations.get_mut(dump.generation(object) as usize) {
                sums.add(bytes, is_reachable);
            }
            all.add(bytes, is_reachable);
            reachable_objects = reachable_objects.saturating_add(u64::from(is_reachable));
        }
        let generations =
            HeapGeneration::ALL.into_iter().zip(generations).filter(|(_, sums)| sums.count > 0);
        HeapReport {
            schema: SCHEMA,
            dumps: dumps.iter().map(HeapDumpRow::new).collect(),
            dump: dump.index,
            objects: dump.objects().into(),
            edges: dump.references().into(),
            bytes: all.bytes,
            reachable_objects,
            reachable_bytes: all.reachable,
            pause_ns: dump.pause_nanos,
            holders: HeapHolder::all(&HeapTreeNode::from_dump(dump, retained, MIN_TREE_PERCENT)),
            types: type_rows(dump, retained, &types, all.bytes),
            modules: module_rows(dump, retained, &types, all.bytes),
            roots: root_rows(dump, retained),
            statics: static_rows(dump, retained),
            generations: generations
                .map(|(generation, sums)| HeapGenerationRow {
                    generation,
                    count: sums.count,
                    bytes: sums.bytes,
                    reachable_bytes: sums.reachable,
                    percent: percent(sums.bytes, all.bytes),
                })
                .collect(),
            missing: dump.losses,
            gcdump: dump.gcdump().cloned(),
        }
    }
}

fn type_rows(
    dump: &HeapDump,
    retained: &Retained,
    types: &[HeapTypeSums],
    all: u64,
) -> Vec<HeapTypeRow> {
    let kept = retained.bytes_by_group(types.len(), |object| Some(dump.type_of(object) as usize));
    let rows = (0usize..).zip(dump.types()).zip(types).zip(kept);
    let rows = rows.filter(|((_, sums), _)| sums.count > 0);
    let mut rows: Vec<HeapTypeRow> = rows
        .map(|(((at, row), sums), retained_bytes)| HeapTypeRow {
            estimate: dump.estimates.get(at).copied(),
            name: row.name.clone(),
            module: row.module.clone(),
            count: sums.count,
            bytes: sums.bytes,
            retained_bytes,
            largest_bytes: sums.largest,
            percent: percent(sums.bytes, all),
        })
        .collect();
    rows.sort_few_by(|a, b| {
        b.bytes.cmp(&a.bytes).then_with(|| (&a.name, &a.module).cmp(&(&b.name, &b.module)))
    });
    rows
}

fn module_rows(
    dump: &HeapDump,
    retained: &Retained,
    types: &[HeapTypeSums],
    all: u64,
) -> Vec<HeapModuleRow> {
    let mut places: BTreeMap<&HeapName, usize> = BTreeMap::new();
    let mut of_types = Vec::with_capacity(types.len());
    for row in dump.types() {
        let next = places.len();
        of_types.push(*places.entry(&row.module).or_insert(next));
    }
    let group = |object: u32| of_types.get(dump.type_of(object) as usize).copied();
    let kept = retained.bytes_by_group(places.len(), group);
    let mut rows: Vec<HeapModuleRow> = places
        .into_iter()
        .map(|(module, at)| {
            let own = of_types.iter().zip(types).filter(|(of, sums)| **of == at && sums.count > 0);
            let (mut count, mut bytes, mut distinct) = (0u64, 0u64, 0u64);
            for (_, sums) in own {
                count = count.saturating_add(sums.count);
                bytes = bytes.saturating_add(sums.bytes);
                distinct = distinct.saturating_add(1);
            }
            HeapModuleRow {
                module: module.clone(),
                types: distinct,
                count,
                bytes,
                // The sum over types would count objects twice that one type keeps alive through
                // another.
                retained_bytes: kept.get(at).copied().unwrap_or(0),
                percent: percent(bytes, all),
            }
        })
        .collect();
    rows.sort_few_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.module.cmp(&b.module)));
    rows
}

fn root_rows(dump: &HeapDump, retained: &Retained) -> Vec<HeapRootRow> {
    let of = |kind: RootKind| {
        let own = dump.roots.iter().filter(move |root| root.kind == kind);
        // Several roots may hold one object, such as two local variables.
        let objects: HashSet<u32> = own.clone().map(|root| root.object).collect();
        HeapRootRow {
            kind,
            count: own.count() as u64,
            objects: objects.len() as u64,
            bytes: objects.iter().fold(0, |sum, object| sum.saturating_add(dump.bytes_of(*object))),
            retained_bytes: retained.bytes(HeapNode::Kind(kind)),
        }
    };
    RootKind::ALL.into_iter().map(of).filter(|row| row.count > 0).collect()
}

fn static_rows(dump: &HeapDump, retained: &Retained) -> Vec<HeapStaticRow> {
    let mut rows: Vec<HeapStaticRow> = (0u32..)
        .zip(&dump.roots)
        .filter_map(|(at, root)| {
            Some(HeapStaticRow {
                name: dump.root_name(root)?.to_owned(),
                type_name: dump.type_name(root.object).to_owned(),
                is_thread_static: root.kind == RootKind::ThreadStatic,
                bytes: dump.bytes_of(root.object),
                retained_bytes: retained.bytes(HeapNode::Static(at)),
            })
        })
        .collect();
    rows.sort_few_by(|a, b| {
        let largest = b.retained_bytes.cmp(&a.retained_bytes).then(b.bytes.cmp(&a.bytes));
        largest.then_with(|| (&a.name, &a.type_name).cmp(&(&b.name, &b.type_name)))
    });
    rows
}
