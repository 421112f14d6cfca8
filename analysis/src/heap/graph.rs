//! A graph, and what a search for immediate dominators finds in it.

use super::links::Links;

/// A graph whose nodes are numbered from 0.
pub(super) trait Graph {
    /// Returns the number of nodes, below [`NONE`].
    fn nodes(&self) -> u32;
    /// Returns the root node.
    fn root(&self) -> u32;
    /// Returns the targets of a node's edges; [`NONE`] and numbers that are not nodes are
    /// ignored.
    fn successors(&self, node: u32) -> &[u32];
    /// Returns the approximate number of edges.
    fn edges(&self) -> usize {
        0
    }
    /// Returns whether to follow an edge.
    fn counts(&self, _source: u32, _target: u32) -> bool {
        true
    }
}

/// Immediate dominators, by the numbers that a search assigned.
pub(super) struct Dominators {
    /// The reachable nodes by number, the root first.
    pub(super) vertices: Vec<u32>,
    /// For each number, that of its immediate dominator, which is smaller; [`NONE`] for
    /// the root.
    pub(super) parents: Links,
}
