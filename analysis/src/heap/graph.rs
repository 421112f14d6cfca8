//! The input and the output of the searches for immediate dominators: a graph, and the dominators
//! of its nodes.

use super::links::Links;

/// A graph whose nodes are numbered from 0.
pub(super) trait Graph {
    /// Returns the number of nodes, which is below [`NONE`].
    fn nodes(&self) -> u32;
    /// Returns the root node.
    fn root(&self) -> u32;
    /// Returns the targets of a node's edges. They may be [`NONE`] or numbers that no node has;
    /// searches ignore these.
    fn successors(&self, node: u32) -> &[u32];
    /// Returns the approximate number of edges.
    fn edges(&self) -> usize {
        0
    }
    /// Returns whether searches follow the edge from one node to another.
    fn counts(&self, _source: u32, _target: u32) -> bool {
        true
    }
}

/// Immediate dominators of a graph's nodes. Nodes get new numbers here, in the order in which a
/// search reached them.
pub(super) struct Dominators {
    /// The node that has each number, the root first. Only reachable nodes have a number.
    pub(super) vertices: Vec<u32>,
    /// For each number, the number of its immediate dominator, which is smaller; [`NONE`] for the
    /// root.
    pub(super) parents: Links,
}
