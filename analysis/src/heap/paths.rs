//! Shortest paths from the roots to objects, one by one and grouped by the types on them.

use super::dump::{HeapDump, Root};
use super::kinds::RootKind;
use super::links::{Links, NONE, length};
use super::retained::Retained;
use crate::hash::HashMap;
use crate::sorted::SortFew;

/// Maximum number of steps that are kept at each end of a group's path.
const STEPS: u32 = 32;

/// Maximum size of the names of all groups, in bytes. Each group has up to 64 names, and there may
/// be as many groups as objects.
const MAX_GROUP_NAME_BYTES: usize = 16 << 20;

/// Shortest paths from the roots to all objects of a dump; they take 4 bytes per object.
///
/// Among roots at the same distance, static variables are preferred, then local variables, then
/// handles, in the order of [`RootKind`].
#[derive(Debug)]
pub struct HeapPaths {
    /// The previous object on the path to each object; the object itself if a root holds it;
    /// [`NONE`] if no root reaches it.
    before: Links,
    /// Index of the root that holds an object, by the number of that object.
    roots: HashMap<u32, u32>,
}

/// A path from a root to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapPath {
    /// Index of the root in [`HeapDump::roots`].
    pub root: u32,
    /// Numbers of the objects on the path, starting with the object that the root holds.
    pub objects: Vec<u32>,
}

/// Objects, grouped by the way in which they are held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapPathGroups {
    /// Groups, most bytes first.
    pub groups: Vec<HeapPathGroup>,
    /// Number of further groups with fewer bytes. They are left out because their names would take
    /// too much memory.
    pub left_out: u64,
}

/// Objects that are held in the same way: by a kind of root, through the same types.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapPathGroup {
    /// Kind of the roots.
    pub root_kind: RootKind,
    /// Name of the static variable; `None` for other roots.
    pub root_name: Option<String>,
    /// Types of the objects on the path, starting at the root. The last one is the type of the
    /// group's objects.
    pub steps: Vec<HeapStep>,
    /// Number of steps left out in the middle of the path, if there are more than 64.
    pub steps_left_out: u64,
    /// Number of objects in the group.
    pub count: u64,
    /// Size of the objects themselves, in bytes.
    pub bytes: u64,
    /// Bytes that would be freed if the objects were removed. If objects of another group also keep
    /// something alive that these keep alive, both groups count it.
    pub retained_bytes: u64,
    /// Address of one of the objects.
    #[cfg_attr(feature = "serde", serde(serialize_with = "hexadecimal"))]
    pub example: u64,
}

/// Consecutive objects of one type on a path, which are one step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapStep {
    /// Name of the type.
    pub type_name: String,
    /// Whether several objects of the type follow each other, as in a linked list.
    pub is_repeated: bool,
}

#[cfg(feature = "serde")]
fn hexadecimal<S: serde::Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{address:#x}"))
}

impl HeapPaths {
    /// Computes the paths of a dump.
    pub fn from_dump(dump: &HeapDump) -> HeapPaths {
        let mut before = Links::filled(dump.objects() as usize, NONE);
        let mut roots = HashMap::default();
        let mut queue: Vec<u32> = Vec::new();
        for kind in RootKind::ALL {
            for (at, root) in (0u32..).zip(&dump.roots).filter(|(_, root)| root.kind == kind) {
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

    /// Returns a shortest path to an object; `None` if no root reaches it.
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

    /// Groups the wanted objects by the way in which they are held. Unreachable objects are in no
    /// group.
    pub fn groups(
        &self,
        dump: &HeapDump,
        retained: &Retained,
        is_wanted: impl Fn(u32) -> bool,
    ) -> HeapPathGroups {
        let mut grouping = Grouping::new(self, dump);
        let mut sums: HashMap<u32, Held> = HashMap::default();
        for object in (0..dump.objects()).filter(|object| is_wanted(*object)) {
            let Some(way) = grouping.way(object) else { continue };
            let example = dump.address(object);
            let held = sums.entry(way).or_insert(Held { example, ..Held::default() });
            held.count = held.count.saturating_add(1);
            held.bytes = held.bytes.saturating_add(dump.bytes_of(object));
        }
        let way_of = |object: u32| {
            let way = is_wanted(object).then(|| grouping.known.get(&object)).flatten();
            way.map(|way| *way as usize)
        };
        let bytes = retained.bytes_by_group(grouping.ways.len(), way_of);
        for (way, held) in &mut sums {
            held.retained = bytes.get(*way as usize).copied().unwrap_or(0);
        }
        let mut rows: Vec<(Held, RootKind, u32)> = sums
            .into_iter()
            .map(|(way, held)| {
                (held, grouping.root_of(way).map_or(RootKind::Other, |it| it.kind), way)
            })
            .collect();
        rows.sort_few_by(|(a, a_kind, _), (b, b_kind, _)| {
            let most = b.bytes.cmp(&a.bytes).then(b.count.cmp(&a.count));
            most.then(a_kind.cmp(b_kind)).then_with(|| a.example.cmp(&b.example))
        });
        // Names are copied only until the room is used up.
        let (mut groups, mut room) = (Vec::new(), MAX_GROUP_NAME_BYTES);
        for (held, _, way) in &rows {
            let group = grouping.group(*way, held);
            let Some(rest) = room.checked_sub(group.name_bytes()) else { break };
            room = rest;
            groups.push(group);
        }
        let left_out = rows.len().saturating_sub(groups.len()) as u64;
        HeapPathGroups { groups, left_out }
    }
}

impl HeapPathGroup {
    /// Returns the memory of all steps and names, in bytes.
    fn name_bytes(&self) -> usize {
        let bytes = |step: &HeapStep| step.type_name.len().saturating_add(size_of::<HeapStep>());
        let root = self.root_name.as_ref().map_or(0, String::len);
        self.steps.iter().map(bytes).fold(root, usize::saturating_add)
    }
}

/// Totals of the objects that are held in the same way.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    count: u64,
    bytes: u64,
    retained: u64,
    /// Address of the first of the objects.
    example: u64,
}

/// A path described by types: a shorter path and one more step.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// Index of the path without the last step; [`NONE`] for a root.
    before: u32,
    /// Index of the last step's type, or of the root.
    last: u32,
    is_repeated: bool,
    /// Number of steps after the root.
    depth: u32,
    /// Index of the path that consists of the first [`STEPS`] steps, or of this path if it is
    /// shorter. A group needs only both ends of a path, which may have as many steps as there are
    /// objects.
    head: u32,
}

struct Grouping<'g> {
    paths: &'g HeapPaths,
    dump: &'g HeapDump,
    ways: Vec<Way>,
    /// Index of each way, by its fields `before` and `last`.
    places: HashMap<(u32, u32), u32>,
    of_roots: HashMap<(RootKind, u32), u32>,
    /// Index of the way to each object that was requested, and to all objects on its path.
    known: HashMap<u32, u32>,
}

impl<'g> Grouping<'g> {
    fn new(paths: &'g HeapPaths, dump: &'g HeapDump) -> Grouping<'g> {
        Grouping {
            paths,
            dump,
            ways: Vec::new(),
            places: HashMap::default(),
            of_roots: HashMap::default(),
            known: HashMap::default(),
        }
    }

    /// Returns the index of the way to an object.
    fn way(&mut self, object: u32) -> Option<u32> {
        // Goes up to an object whose way is known, or that a root holds, and then back down.
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
        let root = self.dump.roots.get(place as usize)?;
        let next = length(&self.ways);
        let way = *self.of_roots.entry((root.kind, root.name)).or_insert(next);
        if way == next {
            let root = Way { before: NONE, last: place, is_repeated: false, depth: 0, head: way };
            self.ways.push(root);
        }
        Some(way)
    }

    fn step(&mut self, before: u32, last: u32) -> u32 {
        let (mut depth, mut head) = (0, before);
        if let Some(way) = self.ways.get_mut(before as usize) {
            if way.before != NONE && way.last == last {
                way.is_repeated = true;
                return before;
            }
            (depth, head) = (way.depth.saturating_add(1), way.head);
        }
        let next = length(&self.ways);
        let way = *self.places.entry((before, last)).or_insert(next);
        if way == next {
            let head = if depth > STEPS { head } else { way };
            self.ways.push(Way { before, last, is_repeated: false, depth, head });
        }
        way
    }

    /// Returns a way and those before it, up to its root, which comes last. At most `most` of them
    /// are returned.
    fn back(&self, way: u32, most: u32) -> impl Iterator<Item = &Way> {
        let way_at = |at: u32| self.ways.get(at as usize);
        std::iter::successors(way_at(way), move |way| way_at(way.before)).take(most as usize)
    }

    /// Returns the root of a way.
    fn root_of(&self, way: u32) -> Option<&'g Root> {
        let head = self.ways.get(way as usize)?.head;
        let root = self.back(head, STEPS.saturating_add(1)).find(|way| way.before == NONE)?;
        self.dump.roots.get(root.last as usize)
    }

    fn group(&self, way: u32, held: &Held) -> HeapPathGroup {
        let (depth, head) = self.ways.get(way as usize).map_or((0, way), |it| (it.depth, it.head));
        let last = depth.min(STEPS.saturating_mul(2));
        let mut steps = Vec::with_capacity(last as usize);
        let step = |way: &Way| {
            let type_name = self.dump.types().get(way.last as usize).map_or("?", |row| &row.name);
            HeapStep { type_name: type_name.to_owned(), is_repeated: way.is_repeated }
        };
        let steps_left_out = depth.saturating_sub(STEPS.saturating_mul(2));
        if steps_left_out == 0 {
            steps.extend(self.back(way, depth).map(step));
        } else {
            steps.extend(self.back(way, STEPS).map(step));
            steps.extend(self.back(head, STEPS).map(step));
        }
        steps.reverse();
        let root = self.root_of(way);
        HeapPathGroup {
            root_kind: root.map_or(RootKind::Other, |root| root.kind),
            root_name: root.and_then(|root| self.dump.root_name(root)).map(str::to_owned),
            steps,
            steps_left_out: steps_left_out.into(),
            count: held.count,
            bytes: held.bytes,
            retained_bytes: held.retained,
            example: held.example,
        }
    }
}
