//! The difference between two heap dumps.

use super::holders::{HeapHolder, HeldBy};
use super::name::HeapName;
use super::report::{HeapReport, HeapTypeRow};
use crate::document::SCHEMA;
use crate::hash::HashSet;
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
struct Pair<'r> {
    row: &'r HeapTypeRow,
    old: Option<[u64; 3]>,
    new: Option<[u64; 3]>,
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

/// Returns the type's own name, without namespaces and outer types: `C<D.E>` for `A.B.C<D.E>`.
fn own_name(name: &str) -> &str {
    let end = name.find(['<', '[']).unwrap_or(name.len());
    let dot = name.get(..end).and_then(|base| base.rfind('.'));
    dot.and_then(|dot| name.get(dot.saturating_add(1)..)).unwrap_or(name)
}

impl HeapDiff {
    /// Compares two dumps.
    pub fn new(old: &HeapReport, new: &HeapReport) -> HeapDiff {
        let rows = || old.types.iter().chain(&new.types);
        let without_module: HashSet<&str> =
            rows().filter(|row| !has_module(row)).map(|row| &*row.name).collect();
        // A type is known by its name and module. If its module has no name in one of the dumps,
        // the type is known by its name alone.
        let key = |row: &'_ HeapTypeRow| -> (String, String) {
            if without_module.contains(&*row.name) {
                return (row.name.to_string(), String::new());
            }
            // A dump without module names may have only the last name of a nested type.
            let own = own_name(&row.name);
            if without_module.contains(own) {
                return (own.to_owned(), String::new());
            }
            (row.name.to_string(), row.module.to_string())
        };
        let mut pairs: BTreeMap<(String, String), Pair<'_>> = BTreeMap::new();
        for (is_new, row) in
            old.types.iter().map(|row| (false, row)).chain(new.types.iter().map(|row| (true, row)))
        {
            let pair = pairs.entry(key(row)).or_insert(Pair { row, old: None, new: None });
            if has_module(row) || !has_module(pair.row) {
                pair.row = row;
            }
            let sums = if is_new { &mut pair.new } else { &mut pair.old };
            let sums = sums.get_or_insert([0; 3]);
            for (sum, more) in sums.iter_mut().zip([row.count, row.bytes, row.retained_bytes]) {
                *sum = sum.saturating_add(more);
            }
        }
        let mut types = Vec::new();
        let mut unchanged_types = 0u64;
        for Pair { row, old, new } in pairs.into_values() {
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
