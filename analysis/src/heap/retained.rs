//! What would be freed if an object were removed.

use super::dominators::DominatorTree;
use super::dump::{HeapDump, Root};
use super::graph::Graph;
use super::kinds::RootKind;
use super::links::{Bits, NONE, length};

/// What each object keeps alive: the dominator tree of a dump, 20 bytes per object.
///
/// Above the objects in the tree are the static variables, above those and all other
/// roots are the kinds of roots, and above them a single root node.
///
/// The runtime stores statics in internal arrays, which are held by handles. If an object
/// is held by a static variable and by such an array, only the static variable counts.
/// This does not affect what objects retain.
#[derive(Debug, Clone, PartialEq)]
pub struct Retained {
    tree: DominatorTree,
    /// For each node, the bytes of everything it dominates, including itself.
    bytes: Vec<u64>,
    objects: u32,
    /// The index of each static variable among the dump's roots.
    statics: Vec<u32>,
}

/// A node of the dominator tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeapNode {
    /// The node above all others.
    Root,
    /// All roots of a kind.
    Kind(RootKind),
    /// A static variable: its index in [`HeapDump::roots`].
    Static(u32),
    /// An object.
    Object(u32),
}

/// Number of kinds of roots.
const KINDS: u32 = RootKind::Other as u32 + 1;

/// A dump with its roots as nodes: objects, then kinds of roots, then statics, then the
/// single root.
struct Rooted<'d> {
    dump: &'d HeapDump,
    /// For each node that is not an object, where its references begin.
    starts: Vec<u32>,
    targets: Vec<u32>,
    nodes: u32,
    /// The arrays in which the runtime stores statics, sorted.
    tables: Vec<u32>,
    /// Objects held by statics.
    is_static: Bits,
}

impl<'d> Rooted<'d> {
    fn new(dump: &'d HeapDump, statics: &[u32]) -> Rooted<'d> {
        let objects = dump.objects();
        let first_static = objects.saturating_add(KINDS);
        let root = first_static.saturating_add(length(statics));
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for kind in RootKind::ALL {
            if matches!(kind, RootKind::Static | RootKind::ThreadStatic) {
                let own = (0u32..).zip(statics).filter(|(_, at)| {
                    dump.roots.get(**at as usize).is_some_and(|root| root.kind == kind)
                });
                targets.extend(own.map(|(place, _)| first_static.saturating_add(place)));
            } else {
                targets.extend(
                    dump.roots.iter().filter(|root| root.kind == kind).map(|root| root.object),
                );
            }
            starts.push(length(&targets));
        }
        let mut is_static = Bits::new(objects as usize);
        for at in statics {
            let object = dump.roots.get(*at as usize).map_or(NONE, |root| root.object);
            targets.push(object);
            starts.push(length(&targets));
            is_static.insert(object);
        }
        targets.extend((0..KINDS).map(|kind| objects.saturating_add(kind)));
        starts.push(length(&targets));
        let is_table = |root: &&Root| {
            matches!(root.kind, RootKind::PinnedHandle | RootKind::StrongHandle)
                && dump
                    .types()
                    .get(dump.type_of(root.object) as usize)
                    .is_some_and(|row| row.stored_name == "System.Object[]")
        };
        let mut tables: Vec<u32> =
            dump.roots.iter().filter(is_table).map(|root| root.object).collect();
        tables.sort_unstable();
        tables.dedup();
        Rooted { dump, starts, targets, nodes: root.saturating_add(1), tables, is_static }
    }
}

impl Graph for Rooted<'_> {
    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn root(&self) -> u32 {
        self.nodes.wrapping_sub(1)
    }

    #[inline]
    fn successors(&self, node: u32) -> &[u32] {
        let Some(at) = node.checked_sub(self.dump.objects()) else {
            return self.dump.references_of(node);
        };
        let begin = self.starts.get(at as usize).copied().unwrap_or(0);
        let end = self.starts.get((at as usize).wrapping_add(1)).copied().unwrap_or(0);
        self.targets.get(begin as usize..end as usize).unwrap_or_default()
    }

    fn edges(&self) -> usize {
        self.dump.targets.len().saturating_add(self.targets.len())
    }

    #[inline]
    fn counts(&self, source: u32, target: u32) -> bool {
        self.tables.is_empty()
            || !self.is_static.has(target)
            || self.tables.binary_search(&source).is_err()
    }
}

impl Retained {
    /// Computes what the objects of a dump retain. Nearly linear in the number of objects
    /// and references.
    pub fn from_dump(dump: &HeapDump) -> Retained {
        let is_static =
            |root: &Root| matches!(root.kind, RootKind::Static | RootKind::ThreadStatic);
        let statics: Vec<u32> = (0u32..)
            .zip(&dump.roots)
            .filter(|(_, root)| is_static(root))
            .map(|(at, _)| at)
            .collect();
        let graph = Rooted::new(dump, &statics);
        let tree = DominatorTree::new(&graph);
        let mut bytes = vec![0u64; graph.nodes as usize];
        // Each node comes after those that dominate it.
        for node in tree.order.iter().rev() {
            let own = bytes
                .get(*node as usize)
                .copied()
                .unwrap_or(0)
                .saturating_add(dump.bytes_of(*node));
            if let Some(slot) = bytes.get_mut(*node as usize) {
                *slot = own;
            }
            if let Some(above) = bytes.get_mut(tree.parents.get(*node) as usize) {
                *above = above.saturating_add(own);
            }
        }
        Retained { tree, bytes, objects: dump.objects(), statics }
    }

    fn number(&self, node: HeapNode) -> u32 {
        match node {
            HeapNode::Object(object) => object,
            HeapNode::Kind(kind) => self.objects.saturating_add(kind.place()),
            HeapNode::Static(root) => {
                let at = self.statics.binary_search(&root).unwrap_or(usize::MAX);
                let at = u32::try_from(at).unwrap_or(NONE);
                self.objects.saturating_add(KINDS).saturating_add(at)
            }
            HeapNode::Root => length(&self.bytes).wrapping_sub(1),
        }
    }

    fn node(&self, number: u32) -> HeapNode {
        let Some(at) = number.checked_sub(self.objects) else { return HeapNode::Object(number) };
        if let Some(kind) = RootKind::ALL.get(at as usize) {
            return HeapNode::Kind(*kind);
        }
        match self.statics.get(at.wrapping_sub(KINDS) as usize) {
            Some(root) => HeapNode::Static(*root),
            None => HeapNode::Root,
        }
    }

    /// Returns the size in bytes of everything that a node keeps alive, including itself; 0 for
    /// unreachable objects.
    pub fn bytes(&self, node: HeapNode) -> u64 {
        self.bytes.get(self.number(node) as usize).copied().unwrap_or(0)
    }

    /// Returns the immediate dominator: what directly and exclusively keeps a node alive. `None`
    /// for the root node, and for unreachable objects.
    pub fn dominator(&self, node: HeapNode) -> Option<HeapNode> {
        let above = self.tree.parents.get(self.number(node));
        (above != NONE).then(|| self.node(above))
    }

    /// Returns whether an object is reachable from a root.
    pub(super) fn is_reachable(&self, object: u32) -> bool {
        self.tree.parents.get(object) != NONE
    }

    /// Returns the bytes that groups of objects keep alive: everything below any object of a group,
    /// counted once. `group` returns the group of an object, below `groups`.
    pub fn bytes_by_group(&self, groups: usize, group: impl Fn(u32) -> Option<usize>) -> Vec<u64> {
        let mut sums = vec![0u64; groups];
        self.outermost(groups, group, |group, object| {
            if let Some(sum) = sums.get_mut(group) {
                *sum = sum.saturating_add(self.bytes(HeapNode::Object(object)));
            }
        });
        sums
    }

    /// Calls `found` for each object that is not dominated by another object of its
    /// group.
    pub(crate) fn outermost(
        &self,
        groups: usize,
        group: impl Fn(u32) -> Option<usize>,
        mut found: impl FnMut(usize, u32),
    ) {
        // For each group, where the range dominated by its last outermost object ends.
        let mut ends = vec![0u32; groups];
        for ((place, node), span) in (0u32..).zip(&self.tree.order).zip(&self.tree.spans) {
            let Some(at) = (*node < self.objects).then(|| group(*node)).flatten() else { continue };
            let Some(end) = ends.get_mut(at).filter(|end| **end <= place) else { continue };
            *end = place.saturating_add(*span);
            found(at, *node);
        }
    }

    /// Walks the tree, each node before those it dominates. Returns the node, and where
    /// the range that it dominates ends in this order.
    pub(crate) fn walk(&self) -> impl Iterator<Item = (HeapNode, usize)> + '_ {
        self.tree
            .order
            .iter()
            .zip(&self.tree.spans)
            .enumerate()
            .map(|(place, (node, span))| (self.node(*node), place.saturating_add(*span as usize)))
    }
}
