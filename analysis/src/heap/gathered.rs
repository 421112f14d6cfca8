//! A dump while its events are read. Objects are still known by their addresses only.

use super::kinds::RootKind;
use super::links::{NONE, length};
use super::threads::share;
use crate::hash::HashMap;
use crate::model::ProcessHandle;
use crate::numbering::Numbering;
use nettrace_parser::view::{
    HeapComObject, HeapDependent, HeapObject, HeapRange, HeapReference, HeapRoot,
    HeapRowsOf as Rows, HeapStatic,
};

/// Maximum number of references in one chunk of memory.
const PIECE: usize = 1 << 20;

/// The rows of one event, which are objects or references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Index of the event among those of its kind in the dump, as the event states it.
    pub(super) index: u32,
    /// Position of the event's first row among all rows that were read.
    pub(super) begin: u64,
    pub(super) count: u64,
}

/// A root as an event reports it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedRoot {
    /// Address of the object.
    pub(super) object: u64,
    pub(super) kind: RootKind,
    /// Index of the static variable's name; [`NONE`] for other roots.
    pub(super) name: u32,
}

/// Counts of reported data that cannot be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Unused {
    /// Number of rows that events announce but do not contain.
    pub(super) missing_rows: u64,
    /// Number of events that have the index of an earlier event.
    pub(super) repeated_blocks: u64,
    /// Number of objects and references beyond the range of 32 bits.
    pub(super) beyond: u64,
}

/// A dump while its events are read. It takes 20 bytes for each object, and 8 for each reference.
#[derive(Debug)]
pub(super) struct DumpInProgress {
    pub(super) process: ProcessHandle,
    /// Number of the collection that reported the dump.
    pub(super) collection: Option<u32>,
    pub(super) start_nanos: i64,
    /// Whether the end of the collection was seen.
    pub(super) has_ended: bool,
    /// Oldest generation that was collected; `None` until the collection ends.
    pub(super) collected: Option<u32>,
    /// Time for which all threads were paused, in nanoseconds.
    pub(super) pause_nanos: Option<i64>,
    pub(super) addresses: Vec<u64>,
    /// Size of each object in bytes; [`NONE`] if the size is in `large`.
    pub(super) bytes: Vec<u32>,
    /// Objects of 4 GiB and more, with their sizes.
    pub(super) large: Vec<(u32, u64)>,
    /// Index in `type_ids` of each object's type.
    pub(super) types: Vec<u32>,
    /// Number of references of each object.
    pub(super) counts: Vec<u32>,
    pub(super) type_ids: Vec<u64>,
    type_places: HashMap<u64, u32>,
    last_type: (u64, u32),
    pub(super) object_blocks: Vec<Block>,
    pub(super) reference_blocks: Vec<Block>,
    pub(super) references: References,
    pub(super) roots: Vec<ListedRoot>,
    root_blocks: u32,
    /// Whether an event with roots is missing.
    pub(super) lacks_roots: bool,
    pub(super) static_names: Numbering<String>,
    /// Addresses of the key and the value of each dependent handle.
    pub(super) dependents: Vec<(u64, u64)>,
    pub(super) ranges: Vec<HeapRange>,
    /// Whether `ranges` were reported after the objects, and not before them.
    pub(super) has_last_ranges: bool,
    pub(super) unused: Unused,
}

/// Addresses that objects refer to, in chunks that are freed one by one.
#[derive(Debug, Default)]
pub(super) struct References {
    pieces: Vec<Vec<u64>>,
    len: u64,
}

impl References {
    #[inline]
    fn push(&mut self, target: u64) {
        match self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => piece.push(target),
            None => {
                // A small dump shall take little memory, so only its first chunk grows.
                let mut piece = Vec::with_capacity(if self.pieces.is_empty() { 64 } else { PIECE });
                piece.push(target);
                self.pieces.push(piece);
            }
        }
        self.len = self.len.wrapping_add(1);
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Finds the objects at the addresses, and frees each chunk of addresses afterwards.
    pub(super) fn found(&mut self, find: impl Fn(u64) -> u32 + Sync) -> FoundReferences {
        let pieces = std::mem::take(&mut self.pieces);
        let mut found = vec![Vec::new(); pieces.len()];
        share(found.iter_mut().zip(pieces), |(found, addresses)| {
            let object = |address: &u64| if *address == 0 { NOTHING } else { find(*address) };
            *found = addresses.iter().map(object).collect();
        });
        FoundReferences { pieces: found }
    }
}

/// Number in place of an object's number, for a reference to null.
pub(super) const NOTHING: u32 = NONE - 1;

/// Numbers of the objects to which references lead, in the chunks of [`References`]. They are
/// [`NOTHING`] for null, and [`NONE`] if there is no object at the address.
pub(super) struct FoundReferences {
    pieces: Vec<Vec<u32>>,
}

impl FoundReferences {
    #[inline]
    pub(super) fn get(&self, at: u64) -> Option<u32> {
        let at = usize::try_from(at).ok()?;
        self.pieces.get(at / PIECE)?.get(at % PIECE).copied()
    }

    /// Frees the chunks that lie before an index.
    pub(super) fn release_before(&mut self, at: u64) {
        let whole = usize::try_from(at).unwrap_or(usize::MAX) / PIECE;
        // Earlier calls have freed the chunks before this one.
        if let Some(piece) = whole.checked_sub(1).and_then(|before| self.pieces.get_mut(before)) {
            *piece = Vec::new();
        }
    }
}

impl DumpInProgress {
    pub(super) fn new(
        process: ProcessHandle,
        collection: Option<u32>,
        start_nanos: i64,
    ) -> DumpInProgress {
        DumpInProgress {
            process,
            collection,
            start_nanos,
            has_ended: false,
            collected: None,
            pause_nanos: None,
            addresses: Vec::new(),
            bytes: Vec::new(),
            large: Vec::new(),
            types: Vec::new(),
            counts: Vec::new(),
            type_ids: Vec::new(),
            type_places: HashMap::default(),
            last_type: (0, NONE),
            object_blocks: Vec::new(),
            reference_blocks: Vec::new(),
            references: References::default(),
            roots: Vec::new(),
            root_blocks: 0,
            lacks_roots: false,
            static_names: Numbering::default(),
            dependents: Vec::new(),
            ranges: Vec::new(),
            has_last_ranges: false,
            unused: Unused::default(),
        }
    }

    /// Returns whether a block with this index begins another dump, because the current dump
    /// already has a first block.
    pub(super) fn begins_anew(blocks: &[Block], index: Option<u32>) -> bool {
        index == Some(0) && blocks.first().is_some_and(|block| block.index == 0)
    }

    pub(super) fn objects(&mut self, mut rows: Rows<'_, HeapObject>) {
        let begin = self.addresses.len() as u64;
        for row in &mut rows {
            self.object(row.address, row.bytes, row.type_id, row.references);
        }
        self.missing(rows.missing());
        let count = (self.addresses.len() as u64).saturating_sub(begin);
        self.object_blocks.push(Block { index: rows.index.unwrap_or(0), begin, count });
    }

    #[inline]
    fn object(&mut self, address: u64, bytes: u64, type_id: u64, references: u64) {
        let place = length(&self.addresses);
        if place >= NONE.wrapping_sub(1024) {
            self.unused.beyond = self.unused.beyond.saturating_add(1);
            return;
        }
        let small = match u32::try_from(bytes) {
            Ok(small) if small != NONE => small,
            _ => {
                self.large.push((place, bytes));
                NONE
            }
        };
        let type_place = self.type_place(type_id);
        self.addresses.push(address);
        self.bytes.push(small);
        self.types.push(type_place);
        self.counts.push(u32::try_from(references).unwrap_or(NONE));
    }

    /// Adds an object that Mono reports, with its references. An event without a size adds
    /// references to the previous object, because they did not fit into one event.
    pub(super) fn single_object(
        &mut self,
        address: u64,
        bytes: u64,
        type_id: u64,
        targets: &[u64],
    ) {
        if let ([], []) = (&*self.object_blocks, &*self.reference_blocks) {
            self.object_blocks.push(Block { index: 0, begin: 0, count: 0 });
            self.reference_blocks.push(Block { index: 0, begin: 0, count: 0 });
        }
        let is_again = bytes == 0 && self.addresses.last() == Some(&address);
        if !is_again {
            let before = self.addresses.len();
            self.object(address, bytes, type_id, 0);
            if self.addresses.len() == before {
                return;
            }
        }
        for target in targets {
            self.references.push(*target);
        }
        let more = u32::try_from(targets.len()).unwrap_or(NONE);
        if let Some(count) = self.counts.last_mut() {
            *count = count.saturating_add(more);
        }
        let (objects, references) = (self.addresses.len() as u64, self.references.len());
        let blocks = (self.object_blocks.first_mut(), self.reference_blocks.first_mut());
        if let (Some(of_objects), Some(of_references)) = blocks {
            (of_objects.count, of_references.count) = (objects, references);
        }
    }

    #[inline]
    fn type_place(&mut self, id: u64) -> u32 {
        // Objects come in the order of addresses, in which many of a type are neighbours.
        if self.last_type.0 == id && self.last_type.1 != NONE {
            return self.last_type.1;
        }
        let next = length(&self.type_ids);
        let place = *self.type_places.entry(id).or_insert(next);
        if place == next {
            self.type_ids.push(id);
        }
        self.last_type = (id, place);
        place
    }

    pub(super) fn references(&mut self, mut rows: Rows<'_, HeapReference>) {
        let begin = self.references.len();
        for row in &mut rows {
            self.references.push(row.target);
        }
        self.missing(rows.missing());
        let count = self.references.len().saturating_sub(begin);
        self.reference_blocks.push(Block { index: rows.index.unwrap_or(0), begin, count });
    }

    pub(super) fn roots(&mut self, mut rows: Rows<'_, HeapRoot>) {
        self.lacks_roots |= rows.index.is_some_and(|index| index != self.root_blocks);
        self.root_blocks = self.root_blocks.saturating_add(1);
        for row in &mut rows {
            match RootKind::from_edge(row.kind, row.flags) {
                Some(kind) if row.object != 0 => {
                    self.roots.push(ListedRoot { object: row.object, kind, name: NONE });
                }
                // Weak roots do not keep anything alive.
                Some(_) | None => {}
            }
        }
        self.missing(rows.missing());
    }

    pub(super) fn statics<'r>(&mut self, mut rows: Rows<'r, HeapStatic<'r>>) {
        for row in &mut rows {
            let kind = if row.flags & 1 == 0 { RootKind::Static } else { RootKind::ThreadStatic };
            let name = self.static_names.number(row.name.to_string());
            if row.object != 0 {
                self.roots.push(ListedRoot { object: row.object, kind, name });
            }
        }
        self.missing(rows.missing());
    }

    pub(super) fn dependents(&mut self, mut rows: Rows<'_, HeapDependent>) {
        self.dependents.extend((&mut rows).map(|row| (row.key, row.value)));
        self.missing(rows.missing());
    }

    pub(super) fn com_callable(&mut self, mut rows: Rows<'_, HeapComObject>) {
        let held = (&mut rows).filter(|row| row.references > 0 && row.object != 0);
        self.roots.extend(held.map(|row| ListedRoot {
            object: row.object,
            kind: RootKind::Com,
            name: NONE,
        }));
        self.missing(rows.missing());
    }

    pub(super) fn com_wrappers(&mut self, mut rows: Rows<'_, HeapComObject>) {
        // These wrappers keep nothing alive, but rows may be missing.
        (&mut rows).for_each(drop);
        self.missing(rows.missing());
    }

    fn missing(&mut self, rows: u32) {
        self.unused.missing_rows = self.unused.missing_rows.saturating_add(rows.into());
    }
}
