//! What grew between two dumps.

use super::holders::{HeapHolder, HeldBy};
use super::name::HeapName;
use super::report::{HeapReport, HeapTypeRow};
use crate::document::SCHEMA;
use crate::sorted::SortFew;
use std::collections::{BTreeMap, HashSet};

/// What grew between two dumps.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapDiff {
    /// Version of this document.
    pub schema: u32,
    /// The first dump.
    pub old: HeapSize,
    /// The second dump.
    pub new: HeapSize,
    /// What holds more in the second dump, most growth first; at most three.
    pub holders: Vec<HeapHolderGrowth>,
    /// Types with any change, sorted by growth in bytes, most first.
    pub types: Vec<HeapTypeDiff>,
    /// Number of types without a change.
    pub unchanged_types: u64,
}

/// The size of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapSize {
    /// Number of the dump in its trace.
    pub dump: usize,
    /// Number of objects.
    pub objects: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// In which of the dumps a type occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HeapTypeChange {
    /// In both.
    Both,
    /// In the second only.
    New,
    /// In the first only.
    Gone,
}

/// How a type grew.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapTypeDiff {
    /// The type.
    pub name: HeapName,
    /// Its module.
    pub module: HeapName,
    /// In which of the dumps it occurs.
    pub change: HeapTypeChange,
    /// Objects in the second dump.
    pub count: u64,
    /// Difference to the first dump.
    pub count_growth: i64,
    /// Their size in the second dump.
    pub bytes: u64,
    /// How much more than in the first.
    pub bytes_growth: i64,
    /// What they retain in the second dump.
    pub retained_bytes: u64,
    /// How much more than in the first.
    pub retained_bytes_growth: i64,
}

/// What holds more in the second dump than in the first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapHolderGrowth {
    /// How much more it keeps alive, in bytes.
    pub retained_bytes_growth: u64,
    /// Its elements in the first dump; `None` if it held too little there.
    pub elements_before: Option<u64>,
    /// It in the second dump.
    pub holder: HeapHolder,
}

/// Minimum growth that is reported, as a percentage of the second heap.
pub(super) const MIN_GROWTH_PERCENT: f64 = 1.0;

impl HeapHolderGrowth {
    fn all(old: &HeapReport, new: &HeapReport) -> Vec<HeapHolderGrowth> {
        // Small holders have no row, but statics have.
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

/// A type's count, bytes and retained bytes in both.
struct Pair<'r> {
    row: &'r HeapTypeRow,
    old: Option<[u64; 3]>,
    new: Option<[u64; 3]>,
}

fn growth(old: u64, new: u64) -> i64 {
    let apart = i128::from(new).wrapping_sub(i128::from(old));
    i64::try_from(apart).unwrap_or(if apart < 0 { i64::MIN } else { i64::MAX })
}

/// Returns whether the module of a row has a name. Where modules have none, they have numbers,
/// which are others in each process.
fn has_module(row: &HeapTypeRow) -> bool {
    row.module.is_known() && !row.module.is_empty()
}

/// Returns the name of a type without what it is nested in: of `A.B.C<D.E>` `C<D.E>`.
fn own_name(name: &str) -> &str {
    let end = name.find(['<', '[']).unwrap_or(name.len());
    let dot = name.get(..end).and_then(|base| base.rfind('.'));
    dot.and_then(|dot| name.get(dot.saturating_add(1)..)).unwrap_or(name)
}

impl HeapDiff {
    /// Computes what grew from `old` to `new`.
    pub fn new(old: &HeapReport, new: &HeapReport) -> HeapDiff {
        let rows = || old.types.iter().chain(&new.types);
        let without_module: HashSet<&str> =
            rows().filter(|row| !has_module(row)).map(|row| &*row.name).collect();
        // A type has one name and module in both dumps. If a module has no name in one of
        // them, the name of the type has to do: sums of those of the same name.
        let key = |row: &'_ HeapTypeRow| -> (String, String) {
            if without_module.contains(&*row.name) {
                return (row.name.to_string(), String::new());
            }
            // Of a nested type only its own name is known there.
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
