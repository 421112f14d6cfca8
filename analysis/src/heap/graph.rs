//! Input and output of the searches for immediate dominators: a graph, and its dominators.

use super::links::Links;

/// A graph whose nodes are numbered from 0.
pub(super) trait Graph {
    /// Returns the number of nodes, below [`NONE`].
    fn nodes(&self) -> u32;
    /// Returns the root node.
    fn root(&self) -> u32;
    /// Returns the targets of a node's edges. Searches ignore [`NONE`] and numbers of no node.
    fn successors(&self, node: u32) -> &[u32];
    /// Returns the approximate number of edges.
    fn edges(&self) -> usize {
        0
    }
    /// Returns whether searches follow an edge.
    fn counts(&self, _source: u32, _target: u32) -> bool {
        true
    }
}

/// Immediate dominators. Nodes are numbered anew, in the order in which a search reached them.
pub(super) struct Dominators {
    /// The node of each number, the root first. Only reachable nodes have a number.
    pub(super) vertices: Vec<u32>,
    /// The number of the immediate dominator of each number, which is smaller; [`NONE`] for the
    /// root.
    pub(super) parents: Links,
}
