//! Computes retained memory: what would be freed if an object or a root were removed.

use super::dominators::DominatorTree;
use super::dump::{HeapDump, Root};
use super::graph::Graph;
use super::kinds::RootKind;
use super::links::{Bits, NONE, length};

/// The dominator tree of a dump, with the bytes that each node keeps alive; 20 bytes per object.
///
/// The top of the tree is a single root node. Below it are the kinds of roots, and below the kinds
/// of static variables are the variables.
///
/// The runtime stores statics in internal arrays, which handles hold. If an object is held by a
/// static variable and by such an array, only the variable counts. This does not change what
/// objects keep alive.
#[derive(Debug, Clone, PartialEq)]
pub struct Retained {
    tree: DominatorTree,
    /// Bytes that each node keeps alive, including its own.
    bytes: Vec<u64>,
    objects: u32,
    /// Index of each static variable in [`HeapDump::roots`], in ascending order.
    statics: Vec<u32>,
}

/// A node of the dominator tree of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeapNode {
    /// The root of the tree, above all other nodes.
    Root,
    /// All roots of a kind.
    Kind(RootKind),
    /// A static variable, by its index in [`HeapDump::roots`].
    Static(u32),
    /// An object, by its number.
    Object(u32),
}

/// Number of the kinds of roots.
const KINDS: u32 = RootKind::Other as u32 + 1;

/// The graph of a dump. Its nodes are the objects, the kinds of roots, the static variables and the
/// root of the tree, in this order.
struct Rooted<'d> {
    dump: &'d HeapDump,
    /// Index in `targets` of the first reference of each node that is not an object.
    starts: Vec<u32>,
    targets: Vec<u32>,
    nodes: u32,
    /// Numbers of the arrays in which the runtime stores static variables, sorted.
    tables: Vec<u32>,
    /// Numbers of the objects that static variables hold.
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
    /// Computes what the objects of a dump keep alive, in nearly linear time.
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
        // In reverse order, each node comes before the nodes that dominate it.
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
            HeapNode::Kind(kind) => self.objects.saturating_add(kind as u32),
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

    /// Returns the bytes that a node keeps alive, including its own; 0 for an unreachable object.
    pub fn bytes(&self, node: HeapNode) -> u64 {
        self.bytes.get(self.number(node) as usize).copied().unwrap_or(0)
    }

    /// Returns the immediate dominator of a node, which directly keeps it alive; `None` for the
    /// root node and for unreachable objects.
    pub fn dominator(&self, node: HeapNode) -> Option<HeapNode> {
        let above = self.tree.parents.get(self.number(node));
        (above != NONE).then(|| self.node(above))
    }

    /// Returns whether an object is reachable from a root.
    pub(super) fn is_reachable(&self, object: u32) -> bool {
        self.tree.parents.get(object) != NONE
    }

    /// Returns the bytes that each group of objects keeps alive. Memory that several objects of a
    /// group keep alive counts once. `group` returns the group of an object, a number below
    /// `groups`.
    pub fn bytes_by_group(&self, groups: usize, group: impl Fn(u32) -> Option<usize>) -> Vec<u64> {
        let mut sums = vec![0u64; groups];
        self.outermost(groups, group, |group, object| {
            if let Some(sum) = sums.get_mut(group) {
                *sum = sum.saturating_add(self.bytes(HeapNode::Object(object)));
            }
        });
        sums
    }

    /// Calls `found` with group and object for certain objects: those that no other object of their
    /// group dominates.
    pub(crate) fn outermost(
        &self,
        groups: usize,
        group: impl Fn(u32) -> Option<usize>,
        mut found: impl FnMut(usize, u32),
    ) {
        // The end, for each group, of the range that its last outermost object dominates.
        let mut ends = vec![0u32; groups];
        for ((place, node), span) in (0u32..).zip(&self.tree.order).zip(&self.tree.spans) {
            let Some(at) = (*node < self.objects).then(|| group(*node)).flatten() else { continue };
            let Some(end) = ends.get_mut(at).filter(|end| **end <= place) else { continue };
            *end = place.saturating_add(*span);
            found(at, *node);
        }
    }

    /// Returns all nodes, each before the nodes that it dominates. With each comes the position
    /// after the last node that it dominates.
    pub(crate) fn walk(&self) -> impl Iterator<Item = (HeapNode, usize)> + '_ {
        self.tree
            .order
            .iter()
            .zip(&self.tree.spans)
            .enumerate()
            .map(|(place, (node, span))| (self.node(*node), place.saturating_add(*span as usize)))
    }
}
