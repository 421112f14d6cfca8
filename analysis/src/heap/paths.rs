//! Through what objects are kept alive: shortest ways from the roots, one by one and grouped by types.

use super::dump::HeapDump;
use super::kinds::RootKind;
use super::links::{Links, NONE, length};
use super::retained::{HeapNode, Retained};
use crate::sorted::SortFew;
use std::collections::HashMap;

/// Steps of a group that are kept, at each end.
const STEPS: usize = 32;

/// Shortest ways from the roots to all objects of a dump: 4 bytes an object.
///
/// Of roots that are as near, static variables come first, then local ones, then handles, as in [`RootKind::ALL`].
#[derive(Debug)]
pub struct HeapPaths {
    /// The object in front; of one that a root holds, the object itself; [`NONE`]: no root reaches it.
    before: Links,
    /// Of objects that a root holds the root's place.
    roots: HashMap<u32, u32>,
}

/// A way from a root to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapPath {
    /// Place of the root in [`HeapDump::roots`].
    pub root: u32,
    /// The objects on the way, the one that the root holds first.
    pub objects: Vec<u32>,
}

/// Objects that are held in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapPathGroup {
    /// The kind of the roots.
    pub root_kind: RootKind,
    /// Of static variables the name.
    pub root_name: Option<String>,
    /// Types on the way, from the root on; the last one is that of the objects.
    pub steps: Vec<HeapStep>,
    /// Steps in the middle that are left out, where there are more than 64.
    pub steps_left_out: u64,
    /// How many objects.
    pub count: u64,
    /// Their own bytes.
    pub bytes: u64,
    /// Bytes that would go with them, as far as they are not below another object that was asked for.
    pub retained_bytes: u64,
    /// Address of one of them.
    #[cfg_attr(feature = "serde", serde(serialize_with = "hexadecimal"))]
    pub example: u64,
}

/// Objects of a type on a way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapStep {
    /// The type.
    pub type_name: String,
    /// Whether several of them follow each other, as the elements of a list do.
    pub is_repeated: bool,
}

#[cfg(feature = "serde")]
fn hexadecimal<S: serde::Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{address:#x}"))
}

impl HeapPaths {
    /// The ways of a dump.
    pub fn of(dump: &HeapDump) -> HeapPaths {
        let mut before = Links::filled(dump.objects() as usize, NONE);
        let mut roots = HashMap::new();
        let mut queue: Vec<u32> = Vec::new();
        for kind in RootKind::ALL {
            for (at, root) in (0u32..).zip(dump.roots()).filter(|(_, root)| root.kind == kind) {
                if before.get(root.object) == NONE && root.object < dump.objects() {
                    before.set(root.object, root.object);
                    roots.insert(root.object, at);
                    queue.push(root.object);
                }
            }
        }
        let mut next = 0usize;
        while let Some(object) = queue.get(next).copied() {
            next = next.wrapping_add(1);
            for target in dump.references_of(object) {
                if before.get(*target) == NONE && *target < dump.objects() {
                    before.set(*target, object);
                    queue.push(*target);
                }
            }
        }
        HeapPaths { before, roots }
    }

    /// A shortest way to an object; `None`: no root reaches it.
    pub fn path(&self, object: u32) -> Option<HeapPath> {
        let mut objects = Vec::new();
        let mut at = object;
        loop {
            objects.push(at);
            let before = self.before.get(at);
            if before == at || before == NONE {
                break;
            }
            at = before;
        }
        objects.reverse();
        Some(HeapPath { root: *self.roots.get(&at)?, objects })
    }

    /// In which ways objects are held, most bytes first; those that no root reaches are in none.
    pub fn groups(
        &self,
        dump: &HeapDump,
        retained: &Retained,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<HeapPathGroup> {
        let mut grouping = Grouping::new(self, dump);
        let mut sums: HashMap<u32, Held> = HashMap::new();
        for object in (0..dump.objects()).filter(|object| is_wanted(*object)) {
            let Some(way) = grouping.way(object) else { continue };
            let example = dump.address(object);
            let held = sums.entry(way).or_insert(Held { example, ..Held::default() });
            held.count = held.count.saturating_add(1);
            held.bytes = held.bytes.saturating_add(dump.bytes_of(object));
        }
        retained.outermost(
            1,
            |object| is_wanted(object).then_some(0),
            |_, object| {
                if let Some(held) = grouping.known.get(&object).and_then(|way| sums.get_mut(way)) {
                    let bytes = retained.bytes(HeapNode::Object(object));
                    held.retained = held.retained.saturating_add(bytes);
                }
            },
        );
        let mut groups: Vec<HeapPathGroup> =
            sums.into_iter().map(|(way, held)| grouping.group(way, &held)).collect();
        groups.sort_few_by(|a, b| {
            let most = b.bytes.cmp(&a.bytes).then(b.count.cmp(&a.count));
            most.then(a.root_kind.cmp(&b.root_kind)).then_with(|| a.example.cmp(&b.example))
        });
        groups
    }
}

/// Objects that are held in one way.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    count: u64,
    bytes: u64,
    retained: u64,
    /// Address of the first.
    example: u64,
}

/// A way by types: what stands in front of its last step, and that step.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// [`NONE`]: a root.
    before: u32,
    /// Place of the type; of a root its place.
    last: u32,
    is_repeated: bool,
}

struct Grouping<'g> {
    paths: &'g HeapPaths,
    dump: &'g HeapDump,
    ways: Vec<Way>,
    /// By what stands in front, and type.
    places: HashMap<(u32, u32), u32>,
    of_roots: HashMap<(RootKind, u32), u32>,
    /// Of objects their way.
    known: HashMap<u32, u32>,
}

impl<'g> Grouping<'g> {
    fn new(paths: &'g HeapPaths, dump: &'g HeapDump) -> Grouping<'g> {
        Grouping {
            paths,
            dump,
            ways: Vec::new(),
            places: HashMap::new(),
            of_roots: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// The way to an object.
    fn way(&mut self, object: u32) -> Option<u32> {
        // Up to the first whose way is known, or that a root holds; then down again.
        let mut open = Vec::new();
        let mut at = object;
        let mut way = loop {
            if let Some(way) = self.known.get(&at) {
                break *way;
            }
            open.push(at);
            match self.paths.before.get(at) {
                NONE => return None,
                before if before == at => break self.root(at)?,
                before => at = before,
            }
        };
        while let Some(object) = open.pop() {
            way = self.step(way, self.dump.type_of(object));
            self.known.insert(object, way);
        }
        Some(way)
    }

    fn root(&mut self, object: u32) -> Option<u32> {
        let place = *self.paths.roots.get(&object)?;
        let root = self.dump.roots().get(place as usize)?;
        let next = length(&self.ways);
        let way = *self.of_roots.entry((root.kind, root.name)).or_insert(next);
        if way == next {
            self.ways.push(Way { before: NONE, last: place, is_repeated: false });
        }
        Some(way)
    }

    fn step(&mut self, before: u32, last: u32) -> u32 {
        if let Some(way) = self.ways.get_mut(before as usize)
            && way.before != NONE
            && way.last == last
        {
            way.is_repeated = true;
            return before;
        }
        let next = length(&self.ways);
        let way = *self.places.entry((before, last)).or_insert(next);
        if way == next {
            self.ways.push(Way { before, last, is_repeated: false });
        }
        way
    }

    fn group(&self, way: u32, held: &Held) -> HeapPathGroup {
        let mut steps = Vec::new();
        let (mut root_kind, mut root_name) = (RootKind::Other, None);
        let mut at = way;
        while let Some(way) = self.ways.get(at as usize) {
            if way.before == NONE {
                if let Some(root) = self.dump.roots().get(way.last as usize) {
                    root_kind = root.kind;
                    root_name = self.dump.root_name(root).map(str::to_owned);
                }
                break;
            }
            let type_name = self.dump.types().get(way.last as usize).map_or("?", |row| &row.name);
            steps.push(HeapStep { type_name: type_name.to_owned(), is_repeated: way.is_repeated });
            at = way.before;
        }
        let steps_left_out = steps.len().saturating_sub(STEPS.saturating_mul(2));
        if steps_left_out > 0 {
            steps.drain(STEPS..STEPS.saturating_add(steps_left_out));
        }
        steps.reverse();
        HeapPathGroup {
            root_kind,
            root_name,
            steps,
            steps_left_out: steps_left_out as u64,
            count: held.count,
            bytes: held.bytes,
            retained_bytes: held.retained,
            example: held.example,
        }
    }
}
