//! Builds a dump from the data of its events: sorts the events, assigns references to objects, and
//! resolves addresses.

use super::addresses::Addresses;
use super::dump::{HeapDump, HeapLosses, HeapType, Root};
use super::gathered::{Block, DumpInProgress, NOTHING};
use super::kinds::{HeapGeneration, RootKind};
use super::links::{NONE, length};
use super::name::HeapName;
use super::type_rows::{TypeNames, TypeRows};
use crate::hash::HashMap;
use crate::model::Model;
use crate::numbering::Numbering;
use std::ops::Range;
use std::sync::Arc;

pub(super) fn dump(
    index: usize,
    gathered: DumpInProgress,
    rows: &TypeRows,
    model: &Model,
) -> HeapDump {
    let mut gathered = gathered;
    let mut losses = HeapLosses { is_cut_off: !gathered.has_ended, ..HeapLosses::default() };
    losses.roots = gathered.lacks_roots;
    let (order, lost, repeated) = in_order(&gathered.object_blocks);
    losses.object_events = lost;
    gathered.unused.repeated_blocks = gathered.unused.repeated_blocks.saturating_add(repeated);
    if let Some(order) = order {
        rearrange(&mut gathered, &order);
    }
    let (order, lost, repeated) = in_order(&gathered.reference_blocks);
    losses.reference_events = lost;
    gathered.unused.repeated_blocks = gathered.unused.repeated_blocks.saturating_add(repeated);
    let mut blocks = order.unwrap_or_else(|| std::mem::take(&mut gathered.reference_blocks));
    let owners = Owners::new(&gathered, &mut blocks);
    losses.references = owners.missing;

    let mut is_repeated = Vec::new();
    let addresses = Addresses::new(&gathered.addresses, |object| is_repeated.push(object));
    is_repeated.sort_unstable();
    losses.repeated_objects = is_repeated.len() as u64;
    let (roots, held) = roots(&gathered, &addresses, &mut losses);
    let (starts, targets) =
        edges(&mut gathered, addresses, &owners, &blocks, &is_repeated, held, &mut losses);
    let process = model.process(gathered.process);
    let mut dump = HeapDump {
        index,
        process_id: process.and_then(|process| process.id),
        collection: gathered.collection,
        collected: gathered.collected,
        start_nanos: gathered.start_nanos,
        pause_nanos: gathered.pause_nanos,
        starts,
        targets,
        roots,
        static_names: std::mem::take(&mut gathered.static_names).into_values(),
        ..HeapDump::default()
    };
    let unused = gathered.unused;
    losses.faults = [unused.missing_rows, unused.repeated_blocks, unused.beyond]
        .iter()
        .fold(0, |sum: u64, count| sum.saturating_add(*count));
    dump.ranges = ranges(&gathered);
    name_types(&mut dump, &mut gathered, rows, model);
    dump.addresses = gathered.addresses;
    dump.bytes = gathered.bytes;
    dump.large = gathered.large;
    dump.types = gathered.types;
    if !is_repeated.is_empty() {
        leave_out(&mut dump, &is_repeated);
    }
    let described: Vec<bool> = dump.type_rows.iter().map(|row| row.name.is_known()).collect();
    let nameless = dump.types.iter().filter(|at| described.get(**at as usize) == Some(&false));
    losses.undescribed_objects = nameless.count() as u64;
    dump.losses = losses;
    dump
}

/// Returns the roots, and the references that dependent handles add, each from its key to its
/// value.
fn roots(
    gathered: &DumpInProgress,
    addresses: &Addresses,
    losses: &mut HeapLosses,
) -> (Vec<Root>, Vec<(u32, u32)>) {
    let find = |address| addresses.find(&gathered.addresses, address);
    let mut held: Vec<(u32, u32)> = Vec::new();
    let mut roots: Vec<Root> = Vec::with_capacity(gathered.roots.len());
    for (key, value) in &gathered.dependents {
        match (find(*key), find(*value)) {
            (_, NONE) => losses.unknown_references = losses.unknown_references.saturating_add(1),
            (NONE, value) => {
                roots.push(Root { object: value, kind: RootKind::DependentHandle, name: NONE })
            }
            (key, value) => held.push((key, value)),
        }
    }
    held.sort_unstable();
    for root in &gathered.roots {
        match find(root.object) {
            NONE => losses.unknown_roots = losses.unknown_roots.saturating_add(1),
            object => roots.push(Root { object, kind: root.kind, name: root.name }),
        }
    }
    (roots, held)
}

/// Returns the references of all objects: the index of each object's first reference, and the
/// target of each reference. `held` are further references, sorted by their source.
fn edges(
    gathered: &mut DumpInProgress,
    addresses: Addresses,
    owners: &Owners,
    blocks: &[Block],
    is_repeated: &[u32],
    held: Vec<(u32, u32)>,
    losses: &mut HeapLosses,
) -> (Vec<u32>, Vec<u32>) {
    let count = usize::try_from(gathered.references.len()).unwrap_or(0);
    let mut references =
        gathered.references.found(|address| addresses.find(&gathered.addresses, address));
    drop(addresses);
    let mut targets: Vec<u32> = Vec::with_capacity(count.saturating_add(held.len()));
    let mut starts: Vec<u32> = Vec::with_capacity(gathered.addresses.len().saturating_add(1));
    let mut held = held.into_iter().peekable();
    let mut repeated = is_repeated.iter().copied().peekable();
    let mut begin = 0u64;
    starts.push(0);
    for object in 0..length(&gathered.addresses) {
        let count = u64::from(gathered.counts.get(object as usize).copied().unwrap_or(0));
        let own = owners.range(object, begin, count);
        begin = begin.saturating_add(count);
        if repeated.next_if_eq(&object).is_none() {
            for place in own.clone() {
                let Some(target) = owners.place(blocks, place).and_then(|at| references.get(at))
                else {
                    break;
                };
                match target {
                    NONE => losses.unknown_references = losses.unknown_references.saturating_add(1),
                    NOTHING => {}
                    target => targets.push(target),
                }
            }
            while let Some((_, value)) = held.next_if(|(key, _)| *key == object) {
                targets.push(value);
            }
        }
        if owners.ends.is_none() {
            references.release_before(own.start);
        }
        // References beyond the range of 32 bits are dropped.
        targets.truncate(NONE as usize);
        starts.push(length(&targets));
    }
    (starts, targets)
}

/// Returns the blocks sorted by index (`None` if they are in order), the number of missing blocks,
/// and the number of blocks that are repeated.
fn in_order(blocks: &[Block]) -> (Option<Vec<Block>>, u64, u64) {
    let follows = |pair: &[Block]| matches!(pair, [before, after] if after.index.checked_sub(1) == Some(before.index));
    let begins = blocks.first().is_none_or(|block| block.index == 0);
    if begins && blocks.windows(2).all(follows) {
        return (None, 0, 0);
    }
    let mut sorted = blocks.to_vec();
    sorted.sort_by_key(|block| block.index);
    sorted.dedup_by_key(|block| block.index);
    let repeated = blocks.len().saturating_sub(sorted.len()) as u64;
    let needed = sorted.last().map_or(0, |block| u64::from(block.index).saturating_add(1));
    let lost = needed.saturating_sub(sorted.len() as u64);
    (Some(sorted), lost, repeated)
}

/// Moves objects into the order of their blocks.
fn rearrange(gathered: &mut DumpInProgress, order: &[Block]) {
    fn arranged<T: Copy>(values: &mut Vec<T>, order: &[Block]) {
        let rows = |block: &Block| {
            let begin = usize::try_from(block.begin).ok()?;
            let end = begin.checked_add(usize::try_from(block.count).ok()?)?;
            values.get(begin..end)
        };
        let sorted = order.iter().filter_map(rows).flatten().copied().collect();
        *values = sorted;
    }
    let (mut large, mut next) = (Vec::new(), 0u64);
    // Old position, length and new position of each block.
    let mut read = Vec::with_capacity(order.len());
    for block in order {
        read.push((block.begin, block.count, advance(&mut next, block.count)));
    }
    read.sort_unstable();
    for (object, bytes) in &gathered.large {
        let at = read.partition_point(|(begin, ..)| *begin <= u64::from(*object));
        let Some((begin, count, new)) = at.checked_sub(1).and_then(|at| read.get(at)) else {
            continue;
        };
        let offset = u64::from(*object).checked_sub(*begin).filter(|offset| offset < count);
        let object = offset.and_then(|offset| u32::try_from(new.saturating_add(offset)).ok());
        large.extend(object.map(|object| (object, *bytes)));
    }
    large.sort_unstable_by_key(|(object, _)| *object);
    gathered.large = large;
    arranged(&mut gathered.addresses, order);
    arranged(&mut gathered.bytes, order);
    arranged(&mut gathered.types, order);
    arranged(&mut gathered.counts, order);
    let mut next = 0;
    gathered.object_blocks = order
        .iter()
        .map(|block| Block { begin: advance(&mut next, block.count), ..*block })
        .collect();
}

fn advance(next: &mut u64, count: u64) -> u64 {
    let begin = *next;
    *next = begin.saturating_add(count);
    begin
}

/// Decides to which objects references belong. References come in the order of the objects that
/// hold them.
///
/// If an event is missing, the objects are known for references up to the first gap. If the dump
/// has its end, they are also known from the end back to the last gap. With a single gap, these are
/// all that exist.
struct Owners {
    /// Number of objects before the first gap of objects.
    front_objects: u64,
    /// Number of references before the first gap of references.
    front_references: u64,
    /// Indices of the first object and of the first reference after the last gap; `None` if the end
    /// of the dump is missing.
    back: Option<(u64, u64)>,
    /// How far the indices of the references after the gap differ from those without a gap.
    shift: i128,
    /// Number of references that are missing or have no known owner.
    missing: u64,
    /// Number of references up to the end of each block; `None` if blocks were read in the order of
    /// their indices.
    ends: Option<Vec<u64>>,
}

impl Owners {
    /// Assigns references to objects. `blocks` are the blocks of references, sorted by index.
    fn new(gathered: &DumpInProgress, blocks: &mut [Block]) -> Owners {
        let reported =
            gathered.counts.iter().fold(0u64, |sum, count| sum.saturating_add(u64::from(*count)));
        let objects = gathered.addresses.len() as u64;
        let mut next = 0;
        let mut is_plain = true;
        let mut ends = Vec::with_capacity(blocks.len());
        for block in blocks.iter() {
            is_plain &= advance(&mut next, block.count) == block.begin;
            ends.push(next);
        }
        let there = next;
        let (front_objects, back_objects) = gaps(&gathered.object_blocks, objects);
        let (front_references, back_references) = gaps(blocks, there);
        let has_gap = back_objects.is_some() || back_references.is_some();
        let mut owners = Owners {
            front_objects,
            front_references,
            back: (has_gap && gathered.has_ended)
                .then(|| (back_objects.unwrap_or(0), back_references.unwrap_or(0))),
            shift: i128::from(there).wrapping_sub(i128::from(reported)),
            missing: 0,
            ends: (!is_plain).then_some(ends),
        };
        let (mut begin, mut owned) = (0u64, 0u64);
        for (object, count) in (0u32..).zip(&gathered.counts) {
            let range = owners.range(object, begin, u64::from(*count));
            owned = owned.saturating_add(range.end.saturating_sub(range.start));
            begin = begin.saturating_add(u64::from(*count));
        }
        owners.missing = reported.max(there).saturating_sub(owned);
        owners
    }

    /// Returns the range of an object's references, as indices in the order of blocks. `begin` is
    /// the number of references of all objects before it.
    #[inline]
    fn range(&self, object: u32, begin: u64, count: u64) -> Range<u64> {
        let object = u64::from(object);
        if object < self.front_objects && begin < self.front_references {
            let end = begin.saturating_add(count).min(self.front_references);
            // If the gap lies within an object's references, only those before the gap are known.
            return begin..end;
        }
        if let Some((objects, references)) = self.back
            && object >= objects
        {
            let begin = i128::from(begin).wrapping_add(self.shift);
            let end = begin.wrapping_add(i128::from(count));
            if let (Ok(begin), Ok(end)) = (u64::try_from(begin), u64::try_from(end)) {
                return begin.max(references)..end.max(references);
            }
        }
        0..0
    }

    /// Returns the position at which a reference was read, given its index in the order of blocks.
    #[inline]
    fn place(&self, blocks: &[Block], at: u64) -> Option<u64> {
        let Some(ends) = &self.ends else { return Some(at) };
        let number = ends.partition_point(|end| *end <= at);
        let (block, end) = (blocks.get(number)?, ends.get(number)?);
        let begin = end.checked_sub(block.count)?;
        at.checked_sub(begin)?.checked_add(block.begin)
    }
}

/// Returns the number of rows before the first gap, and the index of the first row after the last
/// gap (`None` without a gap).
fn gaps(blocks: &[Block], rows: u64) -> (u64, Option<u64>) {
    let (mut front, mut back) = (rows, None);
    let (mut next, mut expected) = (0u64, 0u32);
    for block in blocks {
        let begin = advance(&mut next, block.count);
        if block.index != expected {
            front = front.min(begin);
            back = Some(begin);
        }
        expected = block.index.wrapping_add(1);
    }
    (front, back)
}

fn ranges(gathered: &DumpInProgress) -> Vec<(u64, u64, HeapGeneration)> {
    let reported = gathered.ranges.iter().filter(|range| range.used_bytes > 0);
    let mut ranges: Vec<(u64, u64, HeapGeneration)> = reported
        .map(|range| {
            let end = range.start.saturating_add(range.used_bytes);
            (range.start, end, HeapGeneration::from_number(range.generation))
        })
        .collect();
    // If a range is reported twice, the last report counts: the sort is stable, and the loop keeps
    // the last of equal starts.
    ranges.sort_by_key(|(start, _, _)| *start);
    let mut kept: Vec<(u64, u64, HeapGeneration)> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match kept.last_mut() {
            Some(last) if last.0 == range.0 => *last = range,
            Some(last) if last.1 > range.0 => {
                last.1 = range.0;
                kept.push(range);
            }
            _ => kept.push(range),
        }
    }
    kept
}

/// Name of the module with the runtime's own types.
const CORE_LIBRARY: &str = "System.Private.CoreLib";

/// Replaces type ids by types, and joins types that have the same name and module.
fn name_types(dump: &mut HeapDump, gathered: &mut DumpInProgress, rows: &TypeRows, model: &Model) {
    let names = TypeNames::new(rows, gathered.process, model);
    let process = model.process(gathered.process);
    let ticks = u64::MAX;
    // Sessions that record no modules name none, but each knows where its strings come from.
    let core = names.module_of("System.String");
    let mut places = Numbering::default();
    let mut merged: Vec<u32> = Vec::with_capacity(gathered.type_ids.len());
    let mut paths: HashMap<u64, Arc<str>> = HashMap::default();
    for id in &gathered.type_ids {
        let module_id = names.row(*id).map_or(0, |row| row.module_id);
        let module = process.and_then(|process| process.modules.find(module_id, ticks));
        let path = || module.map_or_else(Arc::default, |module| module.il_path.as_str().into());
        let module_path = paths.entry(module_id).or_insert_with(path).clone();
        let module = match module {
            Some(module) => HeapName::known(&*module.name),
            None if module_id == 0 => HeapName::known(""),
            None if Some(module_id) == core => HeapName::known(CORE_LIBRARY),
            // The address keeps modules without names apart.
            None => HeapName::unknown(format!("{module_id:#x}")),
        };
        let (stored_name, is_described) = match names.stored(*id) {
            Some(stored) => (stored, true),
            None => (format!("type {id:#x}"), false),
        };
        let (place, is_new) = places.add((stored_name.clone(), module.clone()));
        if is_new {
            let name = match is_described {
                true => HeapName::known(TypeNames::shown(&stored_name)),
                false => HeapName::unknown(&*stored_name),
            };
            dump.type_rows.push(HeapType { name, stored_name, module, module_path });
        }
        merged.push(place);
    }
    for place in &mut gathered.types {
        *place = merged.get(*place as usize).copied().unwrap_or(NONE);
    }
}

/// Removes the repeated reports of objects. References already lead to the first report of each
/// object.
fn leave_out(dump: &mut HeapDump, repeated: &[u32]) {
    let is_kept = |object: u32| repeated.binary_search(&object).is_err();
    let mut places: Vec<u32> = Vec::with_capacity(dump.addresses.len());
    let mut next = 0u32;
    for object in 0..dump.objects() {
        places.push(next);
        next = next.wrapping_add(u32::from(is_kept(object)));
    }
    fn keep<T: Copy>(values: &mut Vec<T>, is_kept: impl Fn(u32) -> bool) {
        let mut object = 0u32;
        values.retain(|_| {
            let keep = is_kept(object);
            object = object.wrapping_add(1);
            keep
        });
    }
    keep(&mut dump.addresses, is_kept);
    keep(&mut dump.bytes, is_kept);
    keep(&mut dump.types, is_kept);
    // Repeated objects have no references, so removing their starts changes no range.
    keep(&mut dump.starts, is_kept);
    let place = |object: u32| places.get(object as usize).copied().unwrap_or(NONE);
    dump.large.retain(|(object, _)| is_kept(*object));
    dump.large.iter_mut().for_each(|(object, _)| *object = place(*object));
    dump.targets.iter_mut().for_each(|target| *target = place(*target));
    dump.roots.iter_mut().for_each(|root| root.object = place(root.object));
}
