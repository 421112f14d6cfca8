//! A heap dump: objects, references and roots in compact arrays.

use super::kinds::{HeapGeneration, RootKind};
use super::links::{NONE, length};
use super::name::HeapName;

/// The oldest generation: a collection of it is one of all.
const OLDEST: u32 = 2;

/// A type of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapType {
    /// As written in source code:
    /// `System.Collections.Generic.Dictionary<string,int>.Entry[]`. For a type that the trace
    /// does not describe, its number: `type 0x7f5f115239b8`. The runtime describes each type only
    /// to the first session that asks for it.
    pub name: HeapName,
    /// As the runtime writes it, including outer types if they are known.
    pub stored_name: String,
    /// Short name of its module, such as `System.Private.CoreLib`; the module's number,
    /// `0x7f5f10434000`, if the trace does not name it; empty if it is unknown.
    pub module: HeapName,
}

/// Something outside of the heap that holds an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// The object.
    pub object: u32,
    /// The kind of root.
    pub kind: RootKind,
    pub(super) name: u32,
}

/// How complete a dump is. In a complete dump, all fields are 0 or `false`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapLosses {
    /// Whether the trace ends, or the next collection starts, before the dump is
    /// complete.
    pub is_cut_off: bool,
    /// Missing events with objects; each contains thousands.
    pub object_events: u64,
    /// Missing events with references.
    pub reference_events: u64,
    /// Whether events with roots are missing.
    pub roots: bool,
    /// References that are missing, or whose owner is unknown.
    pub references: u64,
    /// References to addresses at which the dump has no object. They are ignored.
    pub unknown_references: u64,
    /// Roots that hold addresses at which the dump has no object. They are ignored.
    pub unknown_roots: u64,
    /// Objects that were reported more than once. The first report counts.
    pub repeated_objects: u64,
    /// Repeated events, events that announce more rows than they contain, and objects
    /// beyond the range of 32 bits.
    pub faults: u64,
    /// Objects whose type the trace does not describe.
    pub undescribed_objects: u64,
}

impl HeapLosses {
    /// Returns whether nothing is missing. Types without names, and unknown addresses, are
    /// allowed: the runtime reports internal roots that are not objects.
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
    /// Its number in the trace, counting from 1.
    pub index: usize,
    pub(super) process_id: Option<u64>,
    pub(super) collection: Option<u32>,
    pub(super) collected: Option<u32>,
    pub(super) start_nanos: i64,
    pub(super) pause_nanos: Option<i64>,
    /// What is missing.
    pub losses: HeapLosses,
    pub(super) addresses: Vec<u64>,
    /// [`NONE`] if it is in `large`.
    pub(super) bytes: Vec<u32>,
    pub(super) large: Vec<(u32, u64)>,
    pub(super) types: Vec<u32>,
    /// Index in `targets` of each object's first reference; the last entry is the length of `targets`.
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) type_rows: Vec<HeapType>,
    /// The roots that hold objects, in the order in which they were reported.
    pub roots: Vec<Root>,
    pub(super) static_names: Vec<String>,
    /// First address, end and generation, sorted by address.
    pub(super) ranges: Vec<(u64, u64, HeapGeneration)>,
}

/// Returns whether a collection up to a generation is one of all generations; true if unknown.
pub(super) fn is_of_all(collected: Option<u32>) -> bool {
    collected.is_none_or(|generation| generation >= OLDEST)
}

impl HeapDump {
    /// Returns the process id; `None` if unknown.
    pub(crate) fn process_id(&self) -> Option<u64> {
        self.process_id
    }

    /// Returns the number of the collection that created the dump; `None` if its start is missing.
    pub(super) fn collection(&self) -> Option<u32> {
        self.collection
    }

    /// Returns the oldest generation that its collection collected, 0 to 2 as runtimes report it;
    /// `None` if its end is missing.
    pub(super) fn collected_generation(&self) -> Option<u32> {
        self.collected
    }

    /// Returns whether the dump's collection was one of all generations; true if unknown. A
    /// session requests such a one; if the program collects younger generations at that very
    /// moment, the runtime creates a dump of that collection, too. It has all objects, but among
    /// those of older generations are some that nothing holds any more.
    pub fn is_of_all_generations(&self) -> bool {
        is_of_all(self.collected)
    }

    /// Returns the index of the dump of a trace that is meant if none is chosen: the first of a
    /// collection of all generations, or else the first. `None` if there are none.
    ///
    /// ```
    /// use nettrace_analysis::heap::HeapDump;
    /// assert_eq!(HeapDump::usual(&[]), None);
    /// ```
    pub fn usual(dumps: &[HeapDump]) -> Option<usize> {
        let first = (!dumps.is_empty()).then_some(0);
        dumps.iter().position(HeapDump::is_of_all_generations).or(first)
    }

    /// Returns when the dump's collection started, in nanoseconds since the session's start.
    pub(crate) fn start_nanos(&self) -> i64 {
        self.start_nanos
    }

    /// Returns how long all threads were paused for the dump, in nanoseconds; `None` if unknown.
    pub(crate) fn pause_nanos(&self) -> Option<i64> {
        self.pause_nanos
    }

    /// Returns the number of objects.
    pub fn objects(&self) -> u32 {
        length(&self.addresses)
    }

    /// Returns the number of references between the dump's objects. Several references between the
    /// same two objects are all counted.
    pub(crate) fn references(&self) -> u32 {
        length(&self.targets)
    }

    /// Returns the size of all objects in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (0..self.objects()).fold(0, |sum: u64, object| sum.saturating_add(self.bytes_of(object)))
    }

    /// Returns the address of an object; 0 if there is no such object.
    pub fn address(&self, object: u32) -> u64 {
        self.addresses.get(object as usize).copied().unwrap_or(0)
    }

    /// Returns the object at an address. It searches all objects.
    pub fn find(&self, address: u64) -> Option<u32> {
        let place = self.addresses.iter().position(|found| *found == address)?;
        u32::try_from(place).ok()
    }

    /// Returns an object's own size in bytes.
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

    /// Returns the objects that an object refers to, in the order in which it holds them.
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
            // All other memory was reported.
            _ if !self.ranges.is_empty() => HeapGeneration::Frozen,
            _ => HeapGeneration::Unknown,
        }
    }
}
