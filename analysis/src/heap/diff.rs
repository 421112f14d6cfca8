//! The difference between two heap dumps.

use super::holders::{HeapHolder, HeldBy};
use super::name::HeapName;
use super::report::{HeapReport, HeapTypeRow};
use crate::document::SCHEMA;
use crate::hash::{HashMap, HashSet};
use crate::sorted::SortFew;
use std::collections::BTreeMap;

/// The difference between two heap dumps.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapDiff {
    /// Version of this JSON document's schema.
    pub schema: u32,
    /// Size of the old dump.
    pub old: HeapSize,
    /// Size of the new dump.
    pub new: HeapSize,
    /// The three holders that grew most, most growth first.
    pub holders: Vec<HeapHolderGrowth>,
    /// Types with a change, most growth in bytes first.
    pub types: Vec<HeapTypeDiff>,
    /// Number of types without a change.
    pub unchanged_types: u64,
}

/// Size of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapSize {
    /// Number of the dump in its trace, counting from 1.
    pub dump: usize,
    /// Number of objects.
    pub objects: u64,
    /// Size of all objects, in bytes.
    pub bytes: u64,
}

/// In which of two dumps a type occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HeapTypeChange {
    /// The type occurs in both dumps.
    Both,
    /// The type occurs only in the new dump.
    New,
    /// The type occurs only in the old dump.
    Gone,
}

/// Change of a type between two dumps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapTypeDiff {
    /// Name of the type.
    pub name: HeapName,
    /// Module of the type.
    pub module: HeapName,
    /// In which of the dumps the type occurs.
    pub change: HeapTypeChange,
    /// Number of objects in the new dump.
    pub count: u64,
    /// Number of objects in the new dump minus that in the old one.
    pub count_growth: i64,
    /// Size of the objects in the new dump, in bytes.
    pub bytes: u64,
    /// Size of the objects in the new dump minus that in the old one, in bytes.
    pub bytes_growth: i64,
    /// Bytes that the objects keep alive in the new dump.
    pub retained_bytes: u64,
    /// Bytes kept alive in the new dump minus those kept alive in the old one.
    pub retained_bytes_growth: i64,
}

/// A holder that keeps more alive in the new dump than in the old one.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapHolderGrowth {
    /// Additional bytes that the holder keeps alive.
    pub retained_bytes_growth: u64,
    /// Number of elements in the old dump; `None` if the holder was too small to be listed there.
    pub elements_before: Option<u64>,
    /// The holder, as it is in the new dump.
    pub holder: HeapHolder,
}

/// Minimum growth that is reported, in percent of the new heap.
pub(super) const MIN_GROWTH_PERCENT: f64 = 1.0;

impl HeapHolderGrowth {
    fn all(old: &HeapReport, new: &HeapReport) -> Vec<HeapHolderGrowth> {
        // A small holder is not listed, but a static variable always has a row.
        let before = |holder: &HeapHolder| {
            old.holders
                .iter()
                .find(|row| row.held_by == holder.held_by && row.type_name == holder.type_name)
        };
        let retained = |holder: &HeapHolder| {
            let held = before(holder).map(|row| row.retained_bytes);
            held.or_else(|| {
                let HeldBy::Static(name) = &holder.held_by else { return None };
                let row = old.statics.iter().find(|row| *row.name == **name);
                row.map(|row| row.retained_bytes)
            })
        };
        let least = new.reachable_bytes as f64 * MIN_GROWTH_PERCENT / 100.0;
        let mut grown: Vec<HeapHolderGrowth> = new
            .holders
            .iter()
            .map(|holder| HeapHolderGrowth {
                retained_bytes_growth: holder
                    .retained_bytes
                    .saturating_sub(retained(holder).unwrap_or(0)),
                elements_before: before(holder).map(|row| row.elements),
                holder: holder.clone(),
            })
            .filter(|row| row.retained_bytes_growth as f64 >= least.max(1.0))
            .collect();
        grown.sort_few_by_key(|row| std::cmp::Reverse(row.retained_bytes_growth));
        grown
    }
}

/// Number of objects, bytes and retained bytes of a type in both dumps.
#[derive(Default)]
struct Pair<'r> {
    /// Row with the name by which the type is compared.
    own: Option<&'r HeapTypeRow>,
    /// Row with the full name of a nested type that is compared by its last name.
    full: Option<&'r HeapTypeRow>,
    old: Option<[u64; 3]>,
    new: Option<[u64; 3]>,
    /// Whether several nested types have the last name by which they are compared.
    is_shared: bool,
}

fn growth(old: u64, new: u64) -> i64 {
    let apart = i128::from(new).wrapping_sub(i128::from(old));
    i64::try_from(apart).unwrap_or(if apart < 0 { i64::MIN } else { i64::MAX })
}

/// Returns whether the module of a row has a name. A module without a name has a number, which
/// differs between processes.
fn has_module(row: &HeapTypeRow) -> bool {
    row.module.is_known() && !row.module.is_empty()
}

/// Returns the module of a row; empty if it has no name.
fn module_of(row: &HeapTypeRow) -> &str {
    if has_module(row) { &row.module } else { "" }
}

/// Returns the type's own name, without namespaces and outer types: `C<D.E>` for `A.B.C<D.E>`.
fn own_name(name: &str) -> &str {
    let end = name.find(['<', '[']).unwrap_or(name.len());
    let dot = name.get(..end).and_then(|base| base.rfind('.'));
    dot.and_then(|dot| name.get(dot.saturating_add(1)..)).unwrap_or(name)
}

/// Types of one of the dumps.
struct TypesOfDump<'r> {
    types: HashSet<(&'r str, &'r str)>,
    /// Whether all types of a name have modules.
    names: HashMap<&'r str, bool>,
}

impl<'r> TypesOfDump<'r> {
    fn new(report: &'r HeapReport) -> TypesOfDump<'r> {
        let mut names = HashMap::default();
        for row in &report.types {
            *names.entry(&*row.name).or_insert(true) &= has_module(row);
        }
        let types = report.types.iter().map(|row| (&*row.name, module_of(row))).collect();
        TypesOfDump { types, names }
    }

    /// Returns whether the dump has a type of this name in a module; if one of both modules has no
    /// name, whether it has a type of this name.
    fn has(&self, name: &str, module: &str) -> bool {
        let has_modules = self.names.get(name);
        has_modules.is_some_and(|known| !known || module.is_empty())
            || self.types.contains(&(name, module))
    }

    /// Returns the name by which a type of this dump is compared. That is its full name. A dump whose
    /// runtime leaves out outer types has only the last name of a nested type.
    fn name_for(&self, row: &'r HeapTypeRow, other: &TypesOfDump<'_>) -> &'r str {
        let (name, own, module) = (&*row.name, own_name(&row.name), module_of(row));
        let is_last = !other.has(name, module) && other.has(own, module) && !self.has(own, module);
        if is_last { own } else { name }
    }
}

impl<'r> Pair<'r> {
    /// Adds a row of one of the dumps. `name` is the name by which it is compared.
    fn add(&mut self, row: &'r HeapTypeRow, name: &str) {
        let is_full = row.name.len() > name.len();
        let shown = if is_full { &mut self.full } else { &mut self.own };
        self.is_shared |= is_full && shown.is_some_and(|known| known.name != row.name);
        if has_module(row) || !shown.is_some_and(has_module) {
            *shown = Some(row);
        }
    }

    /// Returns the row whose name and module are shown.
    fn row(&self) -> Option<&'r HeapTypeRow> {
        if self.is_shared { self.own.or(self.full) } else { self.full.or(self.own) }
    }
}

impl HeapDiff {
    /// Compares two dumps.
    pub fn new(old: &HeapReport, new: &HeapReport) -> HeapDiff {
        let sides = [TypesOfDump::new(old), TypesOfDump::new(new)];
        let is_without_module =
            |name: &str| sides.iter().any(|side| side.names.get(name).is_some_and(|known| !known));
        let mut pairs: BTreeMap<(&str, &str), Pair<'_>> = BTreeMap::new();
        let of_old = old.types.iter().map(|row| (false, row));
        for (is_new, row) in of_old.chain(new.types.iter().map(|row| (true, row))) {
            let [old, new] = &sides;
            let name = if is_new { new.name_for(row, old) } else { old.name_for(row, new) };
            // A type is known by its name and module. If its module has no name in one of the dumps,
            // the type is known by its name alone.
            let module = if is_without_module(name) { "" } else { module_of(row) };
            let pair = pairs.entry((name, module)).or_default();
            pair.add(row, name);
            let sums = if is_new { &mut pair.new } else { &mut pair.old };
            let sums = sums.get_or_insert([0; 3]);
            for (sum, more) in sums.iter_mut().zip([row.count, row.bytes, row.retained_bytes]) {
                *sum = sum.saturating_add(more);
            }
        }
        let mut types = Vec::new();
        let mut unchanged_types = 0u64;
        for pair in pairs.into_values() {
            let (Pair { old, new, .. }, Some(row)) = (&pair, pair.row()) else { continue };
            let (old, new) = (*old, *new);
            let change = match (old, new) {
                (Some(_), Some(_)) => HeapTypeChange::Both,
                (None, _) => HeapTypeChange::New,
                (_, None) => HeapTypeChange::Gone,
            };
            let [count_old, bytes_old, retained_old] = old.unwrap_or_default();
            let [count, bytes, retained_bytes] = new.unwrap_or_default();
            let diff = HeapTypeDiff {
                name: row.name.clone(),
                module: row.module.clone(),
                change,
                count,
                count_growth: growth(count_old, count),
                bytes,
                bytes_growth: growth(bytes_old, bytes),
                retained_bytes,
                retained_bytes_growth: growth(retained_old, retained_bytes),
            };
            if diff.count_growth == 0 && diff.bytes_growth == 0 && diff.retained_bytes_growth == 0 {
                unchanged_types = unchanged_types.saturating_add(1);
            } else {
                types.push(diff);
            }
        }
        types.sort_few_by(|a, b| {
            b.bytes_growth.cmp(&a.bytes_growth).then_with(|| a.name.cmp(&b.name))
        });
        let size = |report: &HeapReport| HeapSize {
            dump: report.dump,
            objects: report.objects,
            bytes: report.bytes,
        };
        let holders = HeapHolderGrowth::all(old, new);
        HeapDiff { schema: SCHEMA, old: size(old), new: size(new), holders, types, unchanged_types }
    }
}
