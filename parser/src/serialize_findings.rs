//! Serde support for findings (feature `serde`), with the keys of `nettrace --json`, so that a
//! program can read both.

use crate::check::{Severity, Violation};
use crate::damage::{Class, Finding};
use crate::frame::BlockKind;
use crate::loss::Losses;
use crate::outcome::Outcome;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

macro_rules! by_name {
    ($($kind:ty)*) => {$(
        /// Serializes the value to its name.
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )*};
}

by_name!(BlockKind Class Severity);

/// Wrapper that serializes a value to the text that `Display` writes.
struct AsText<'a, T>(&'a T);

impl<T: fmt::Display> Serialize for AsText<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

/// Serializes to a map of `offset`, `block` (null between blocks), `context`, `fault` in
/// words, `class` and `lost_bytes`, as in `outcome.damage` of the command's documents.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("offset", &self.offset)?;
        map.serialize_entry("block", &self.block)?;
        map.serialize_entry("context", self.context)?;
        map.serialize_entry("fault", &AsText(&self.fault))?;
        map.serialize_entry("class", &self.class)?;
        map.serialize_entry("lost_bytes", &self.lost_bytes)?;
        map.end()
    }
}

/// Serializes to a map of `total` and `threads`.
impl Serialize for Losses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("total", &self.total())?;
        map.serialize_entry("threads", &self.by_thread().len())?;
        map.end()
    }
}

/// Serializes to the member `outcome` of the command's documents: `complete`,
/// `end_offset`, `missing_bytes` if the stream ends within a block, `lost`,
/// `losses_known`, `lost_threads`, `damage_count`, `damage_bytes`, and `damage` with at
/// most 64 findings of a kind. Notes are not listed.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (losses, damage) = (&self.losses, &self.damage);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("complete", &self.is_complete)?;
        map.serialize_entry("end_offset", &self.end_offset)?;
        if self.missing_bytes > 0 {
            map.serialize_entry("missing_bytes", &self.missing_bytes)?;
        }
        map.serialize_entry("lost", &losses.total())?;
        map.serialize_entry("losses_known", &self.losses_known())?;
        map.serialize_entry("lost_threads", &losses.by_thread().len())?;
        map.serialize_entry("damage_count", &damage.loss_count())?;
        map.serialize_entry("damage_bytes", &damage.lost_bytes())?;
        map.serialize_entry("damage", &damage.losses().collect::<Vec<_>>())?;
        map.end()
    }
}

/// Serializes to a map of `kind`, `severity`, `offset`, `block` (null between blocks),
/// `section` and `message`, as in `findings` of `nettrace check --json`.
impl Serialize for Violation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("kind", self.kind)?;
        map.serialize_entry("severity", &self.severity)?;
        map.serialize_entry("offset", &self.offset)?;
        map.serialize_entry("block", &self.block)?;
        map.serialize_entry("section", self.section)?;
        map.serialize_entry("message", &self.message)?;
        map.end()
    }
}
