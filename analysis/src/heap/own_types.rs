//! The program's own types in a heap: those that keep most alive, and those that have grown.

use super::diff::{HeapDiff, HeapTypeDiff, MIN_GROWTH_PERCENT};
use super::holders::{MIN_PERCENT, is_own};
use super::report::{HeapReport, HeapTypeRow};
use crate::model::is_framework_name;
use crate::sorted::SortFew;
use std::collections::BTreeSet;

/// Maximum number of types that are returned.
const MAX_OWN_TYPES: usize = 3;

/// One of the program's own types, and how much its objects keep alive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapOwnType {
    /// The type's name, with namespaces.
    pub name: String,
    /// Number of objects of the type.
    pub count: u64,
    /// Bytes that objects of the type keep alive.
    pub retained_bytes: u64,
}

impl HeapReport {
    /// Returns the program's own types that keep most alive, at most three.
    pub fn own_types(&self) -> Vec<HeapOwnType> {
        let least = (self.reachable_bytes as f64 * MIN_PERCENT / 100.0).max(1.0);
        // A module without a name is the framework's if one of its types has a framework namespace.
        // Nested types may have no namespace.
        let framework: BTreeSet<&str> = self
            .types
            .iter()
            .filter(|row| is_framework_name(&row.name))
            .map(|row| &*row.module)
            .collect();
        let mut own: Vec<&HeapTypeRow> = self
            .types
            .iter()
            .filter(|row| is_own(&row.name, &row.module) && row.retained_bytes as f64 >= least)
            .filter(|row| !framework.contains(&*row.module))
            .collect();
        own.sort_few_by(|a, b| {
            b.retained_bytes.cmp(&a.retained_bytes).then_with(|| a.name.cmp(&b.name))
        });
        let own_type = |row: &HeapTypeRow| HeapOwnType {
            name: row.name.to_string(),
            count: row.count,
            retained_bytes: row.retained_bytes,
        };
        own.into_iter().take(MAX_OWN_TYPES).map(own_type).collect()
    }
}

impl HeapDiff {
    /// Returns the program's own types that have grown most, if the growth is large: at
    /// most three, the largest growth first.
    pub fn grown_own_types(&self) -> Vec<&HeapTypeDiff> {
        let grown = self.types.iter().filter(|row| {
            row.count_growth > 0 && row.bytes_growth > 0 && is_own(&row.name, &row.module)
        });
        let mut grown: Vec<&HeapTypeDiff> = grown.collect();
        grown.sort_by_key(|row| std::cmp::Reverse(row.retained_bytes_growth.max(row.bytes_growth)));
        let least = self.new.bytes as f64 * MIN_GROWTH_PERCENT / 100.0;
        grown.retain(|row| row.retained_bytes_growth as f64 >= least);
        grown.truncate(MAX_OWN_TYPES);
        grown
    }
}
