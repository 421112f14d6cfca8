//! A heap dump: objects, references and roots in compact arrays.

use super::gcdump_about::{GcDumpAbout, HeapEstimate};
use super::kinds::{HeapGeneration, RootKind};
use super::links::{NONE, length};
use super::name::HeapName;
use std::sync::Arc;

/// Number of the oldest generation. A collection of it collects all generations.
const OLDEST: u32 = 2;

/// A type of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapType {
    /// Name as in source code, such as `System.Collections.Generic.Dictionary<string,int>.Entry[]`.
    /// If the trace does not describe the type, this is its number: `type 0x7f5f115239b8`. The
    /// runtime describes each type only to the first session that asks for types.
    pub name: HeapName,
    /// Name as the runtime writes it, with outer types if they are known.
    pub stored_name: String,
    /// Short name of the type's module, such as `System.Private.CoreLib`. If the trace does not
    /// name the module, this is its number, such as `0x7f5f10434000`; if the module is unknown, it
    /// is empty.
    pub module: HeapName,
    /// Path of the module's file, as the runtime states it; empty if it is not known.
    pub(super) module_path: Arc<str>,
}

/// A root, which holds an object from outside of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// Number of the object that the root holds.
    pub object: u32,
    /// Kind of the root.
    pub kind: RootKind,
    /// Index of the static variable's name in `static_names`; [`NONE`] for other roots.
    pub(super) name: u32,
}

/// Counts of what a dump lacks. In a perfect dump, all fields are 0 or `false`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapLosses {
    /// Whether the trace ends, or another collection starts, before the dump is complete.
    pub is_cut_off: bool,
    /// Number of missing events with objects. Each such event has thousands of objects.
    pub object_events: u64,
    /// Number of missing events with references.
    pub reference_events: u64,
    /// Whether events with roots are missing.
    pub roots: bool,
    /// Number of references that are missing, or whose owner is unknown.
    pub references: u64,
    /// Number of references to addresses without an object. They are ignored.
    pub unknown_references: u64,
    /// Number of roots that hold addresses without an object. They are ignored.
    pub unknown_roots: u64,
    /// Number of repeated reports of an object. The first report counts.
    pub repeated_objects: u64,
    /// Number of repeated events, of rows that events announce but do not contain, and of objects
    /// beyond the range of 32 bits.
    pub faults: u64,
    /// Number of objects whose type the trace does not describe.
    pub undescribed_objects: u64,
}

impl HeapLosses {
    /// Returns whether nothing is missing. Types without names and unknown addresses are allowed,
    /// because the runtime reports internal roots that are no objects.
    pub fn is_complete(&self) -> bool {
        !self.is_cut_off
            && !self.roots
            && [
                self.object_events,
                self.reference_events,
                self.references,
                self.repeated_objects,
                self.faults,
            ]
            .iter()
            .all(|count| *count == 0)
    }
}

/// The objects of a managed heap at one moment. Objects are numbered from 0.
///
/// An object takes 20 bytes here, plus 20 in [`Retained`](super::Retained); a reference
/// takes 4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeapDump {
    /// Number of the dump in its trace, counting from 1.
    pub index: usize,
    pub(super) process_id: Option<u64>,
    /// Number of the collection that reported the dump; `None` if its start is missing.
    pub(super) collection: Option<u32>,
    /// Oldest generation that was collected, 0 to 2; `None` if the collection's end is missing.
    pub(super) collected: Option<u32>,
    /// Start of the collection, in nanoseconds since the session's start.
    pub(crate) start_nanos: i64,
    /// Time for which all threads were paused, in nanoseconds.
    pub(super) pause_nanos: Option<i64>,
    /// Counts of what the dump lacks.
    pub losses: HeapLosses,
    pub(super) addresses: Vec<u64>,
    /// Size of each object in bytes; [`NONE`] if the size is in `large`.
    pub(super) bytes: Vec<u32>,
    pub(super) large: Vec<(u32, u64)>,
    pub(super) types: Vec<u32>,
    /// Index in `targets` of each object's first reference; the last entry is the length of `targets`.
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) type_rows: Vec<HeapType>,
    /// Roots that hold objects, in the order of their events.
    pub roots: Vec<Root>,
    pub(super) static_names: Vec<String>,
    /// Start, end and generation of each range of memory, sorted by address.
    pub(super) ranges: Vec<(u64, u64, HeapGeneration)>,
    /// Estimates of each type's objects, if only some were dumped; else empty.
    pub(super) estimates: Vec<HeapEstimate>,
    /// What the `.gcdump` says of itself, if the dump is from one.
    pub(super) gcdump: Option<Box<GcDumpAbout>>,
}

/// Returns whether a collection collects all generations, given the oldest generation that it
/// collects. Returns true if that is unknown.
pub(super) fn is_of_all(collected: Option<u32>) -> bool {
    collected.is_none_or(|generation| generation >= OLDEST)
}

impl HeapDump {
    /// Returns whether the dump's collection collected all generations, or true if that is unknown.
    /// A session induces such a collection. If the program collects younger generations at that
    /// moment, the runtime reports a dump of that collection, too. It has all objects, but some of
    /// the older generations may be garbage.
    pub fn is_of_all_generations(&self) -> bool {
        is_of_all(self.collected)
    }

    /// Returns the index of the dump that commands show by default: the first of a collection of
    /// all generations, else the first. Returns `None` if there is no dump.
    ///
    /// ```
    /// use nettrace_analysis::heap::HeapDump;
    /// assert_eq!(HeapDump::usual(&[]), None);
    /// ```
    pub fn usual(dumps: &[HeapDump]) -> Option<usize> {
        let first = (!dumps.is_empty()).then_some(0);
        dumps.iter().position(HeapDump::is_of_all_generations).or(first)
    }

    /// Returns the number of objects.
    pub fn objects(&self) -> u32 {
        length(&self.addresses)
    }

    /// Returns the number of references between objects. If an object refers to another one several
    /// times, each reference counts.
    pub(crate) fn references(&self) -> u32 {
        length(&self.targets)
    }

    /// Returns the size of all objects, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (0..self.objects()).fold(0, |sum: u64, object| sum.saturating_add(self.bytes_of(object)))
    }

    /// Returns the address of an object; 0 if there is no such object.
    pub fn address(&self, object: u32) -> u64 {
        self.addresses.get(object as usize).copied().unwrap_or(0)
    }

    /// Returns the object at an address, by searching all objects.
    pub fn find(&self, address: u64) -> Option<u32> {
        let place = self.addresses.iter().position(|found| *found == address)?;
        u32::try_from(place).ok()
    }

    /// Returns the size of an object itself, in bytes.
    #[inline]
    pub fn bytes_of(&self, object: u32) -> u64 {
        match self.bytes.get(object as usize) {
            Some(&NONE) => {
                let at = self.large.binary_search_by_key(&object, |(object, _)| *object);
                at.ok().and_then(|at| self.large.get(at)).map_or(0, |(_, bytes)| *bytes)
            }
            Some(bytes) => u64::from(*bytes),
            None => 0,
        }
    }

    /// Returns the index of an object's type in [`HeapDump::types`].
    #[inline]
    pub fn type_of(&self, object: u32) -> u32 {
        self.types.get(object as usize).copied().unwrap_or(NONE)
    }

    /// Returns the types of the dump's objects.
    pub fn types(&self) -> &[HeapType] {
        &self.type_rows
    }

    /// Returns the name of an object's type.
    pub fn type_name(&self, object: u32) -> &str {
        self.type_rows.get(self.type_of(object) as usize).map_or("?", |row| &row.name)
    }

    /// Returns the objects that an object refers to, in the order of its fields.
    #[inline]
    pub fn references_of(&self, object: u32) -> &[u32] {
        let at = object as usize;
        let begin = self.starts.get(at).copied().unwrap_or(0);
        let end = self.starts.get(at.wrapping_add(1)).copied().unwrap_or(0);
        self.targets.get(begin as usize..end as usize).unwrap_or_default()
    }

    /// Returns the name of a static variable. No event contains the class that declares it.
    pub fn root_name(&self, root: &Root) -> Option<&str> {
        self.static_names.get(root.name as usize).map(String::as_str)
    }

    /// Returns the generation of an object.
    pub fn generation(&self, object: u32) -> HeapGeneration {
        let address = self.address(object);
        let at = self.ranges.partition_point(|(_, end, _)| *end <= address);
        match self.ranges.get(at) {
            Some((start, _, generation)) if *start <= address => *generation,
            // The runtime reports all memory but frozen segments.
            _ if !self.ranges.is_empty() => HeapGeneration::Frozen,
            _ => HeapGeneration::Unknown,
        }
    }
}
