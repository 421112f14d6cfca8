//! The dominator algorithm of Lengauer and Tarjan with path compression, which takes O(m log n) on
//! every graph.
//!
//! Nothing is recursive, so a linked list of a million elements needs no deep stack. Nodes are
//! numbered in the order of a depth-first search, and most arrays are indexed by these numbers. On
//! a large heap, almost all time is spent waiting for memory, so data that are used together lie
//! together: the search reads each reference once, and a second time only if it leads to a smaller
//! number. Of all other edges to a node, only the smallest source matters.
//!
//! Two tricks save memory. A node is linked to its parent exactly if its number is not below the
//! current one, so the parents serve as the forest. Buckets are linked lists in the array that
//! receives the dominators later.

use super::graph::{Dominators, Graph};
use super::links::{Links, NONE, length};

/// State of a node in the depth-first search.
#[derive(Debug, Clone, Copy)]
struct NodeState {
    /// Number of the node, in the order in which nodes were reached; [`NONE`] if it was not
    /// reached.
    number: u32,
    /// Smallest number of a node that has an edge to this node.
    least_source: u32,
    /// Index of the first [`Late`] edge to this node.
    late: u32,
}

/// An edge to a node with a smaller number than its source. Those of one target form a linked list.
#[derive(Debug, Clone, Copy)]
struct Late {
    /// Number of the edge's source.
    source: u32,
    /// Index of the next late edge with the same target.
    next: u32,
}

/// Result of the depth-first search.
struct DepthFirstSearch {
    /// The nodes in the order in which they were reached.
    vertices: Vec<u32>,
    /// States, indexed by node.
    states: Vec<NodeState>,
    /// For each number, the number of the node from which that node was reached.
    parents: Vec<u32>,
    late: Vec<Late>,
}

fn search(graph: &impl Graph) -> DepthFirstSearch {
    let nodes = graph.nodes();
    let unvisited = NodeState { number: NONE, least_source: NONE, late: NONE };
    let mut states = vec![unvisited; nodes as usize];
    let (mut vertices, mut parents, mut late): (Vec<u32>, Vec<u32>, Vec<Late>) = Default::default();
    // Nodes on the current path: node, number, and how many of its edges were processed.
    let mut ways: Vec<(u32, u32, u32)> = Vec::new();
    let root = graph.root();
    if let Some(first) = states.get_mut(root as usize) {
        first.number = 0;
        vertices.push(root);
        parents.push(NONE);
        ways.push((root, 0, 0));
    }
    while let Some((source, number, next)) = ways.last_mut() {
        let (source, number) = (*source, *number);
        let Some(target) = graph.successors(source).get(*next as usize).copied() else {
            ways.pop();
            continue;
        };
        *next = next.wrapping_add(1);
        let Some(known) = states.get_mut(target as usize) else { continue };
        if !graph.counts(source, target) {
            continue;
        }
        if known.number == NONE {
            let own = length(&vertices);
            *known = NodeState { number: own, least_source: number, late: NONE };
            parents.push(number);
            vertices.push(target);
            ways.push((target, own, 0));
        } else if known.number < number {
            let place = length(&late);
            late.push(Late { source: number, next: known.late });
            known.late = place;
        } else {
            known.least_source = known.least_source.min(number);
        }
    }
    DepthFirstSearch { vertices, states, parents, late }
}

/// A node in the forest of nodes that were processed.
#[derive(Debug, Clone, Copy)]
struct Linked {
    /// Parent in the search tree; after compression of the path, a node further up.
    ancestor: u32,
    /// The node with the smallest semidominator on the way from this node up to the ancestor, not
    /// including the ancestor.
    label: u32,
    /// Semidominator of `label`.
    least: u32,
}

/// The forest of nodes that were processed. It finds the smallest semidominator on the way to the
/// root of a tree.
struct Forest {
    nodes: Vec<Linked>,
    /// Nodes on the path that is being compressed.
    way: Vec<u32>,
}

impl Forest {
    #[inline(always)]
    fn get(&self, number: u32) -> Linked {
        let none = Linked { ancestor: NONE, label: NONE, least: NONE };
        self.nodes.get(number as usize).copied().unwrap_or(none)
    }

    /// Returns the node with the smallest semidominator between a node and the root of its tree,
    /// and this semidominator. Nodes whose numbers are at least `linked` are in the forest.
    #[inline]
    fn least(&mut self, number: u32, linked: u32) -> (u32, u32) {
        let mut above = self.get(number);
        if above.ancestor < linked || above.ancestor == NONE {
            return (above.label, above.least);
        }
        let mut top = number;
        while above.ancestor >= linked && above.ancestor != NONE {
            self.way.push(top);
            top = above.ancestor;
            above = self.get(top);
        }
        while let Some(below) = self.way.pop() {
            if let Some(node) = self.nodes.get_mut(below as usize) {
                if above.least < node.least {
                    (node.label, node.least) = (above.label, above.least);
                }
                node.ancestor = above.ancestor;
                above = *node;
            }
        }
        (above.label, above.least)
    }
}

/// Computes the immediate dominators of a graph.
pub(super) fn dominators(graph: &impl Graph) -> Dominators {
    let DepthFirstSearch { vertices, states, parents, late } = search(graph);
    let reached = length(&vertices);
    let linked = |(number, ancestor)| Linked { ancestor, label: number, least: number };
    let mut forest = Forest { nodes: (0u32..).zip(parents).map(linked).collect(), way: Vec::new() };
    let mut semis = Links::filled(vertices.len(), NONE);
    // The first node of the bucket of a number below the current one; the next node in the bucket
    // for a node in one; in the end, the dominator.
    let mut dominators = Links::filled(vertices.len(), NONE);
    for (number, node) in (0..reached).zip(&vertices).skip(1).rev() {
        let parent = forest.get(number).ancestor;
        let Some(known) = states.get(*node as usize) else { continue };
        let mut semi = known.least_source.min(parent);
        let mut edge = known.late;
        while let Some(Late { source, next }) = late.get(edge as usize).copied() {
            let (_, least) = forest.least(source, number.wrapping_add(1));
            semi = semi.min(least);
            edge = next;
        }
        semis.set(number, semi);
        if let Some(own) = forest.nodes.get_mut(number as usize) {
            own.least = semi;
        }
        dominators.set(number, dominators.get(semi));
        dominators.set(semi, number);
        let mut held = dominators.get(parent);
        dominators.set(parent, NONE);
        while held != NONE {
            let next = dominators.get(held);
            let (label, least) = forest.least(held, number);
            // The semidominator of nodes in the parent's bucket is the parent.
            dominators.set(held, if least < parent { label } else { parent });
            held = next;
        }
    }
    drop((states, late, forest));
    for number in 1..reached {
        let dominator = dominators.get(number);
        if dominator != semis.get(number) {
            dominators.set(number, dominators.get(dominator));
        }
    }
    Dominators { vertices, parents: dominators }
}
