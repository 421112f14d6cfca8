//! Stacks as a tree: what called, what was called, and how much was met at each place.

use super::handle::{FrameHandle, TextHandle, ThreadHandle};
use super::hash::NumberMap;
use super::profile::Totals;
use super::sample::Kind;
use std::cmp::Ordering;

/// What stands at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Call {
    /// A thread, above its outermost frames.
    Thread(ThreadHandle),
    /// A frame.
    Frame(FrameHandle),
    /// What was allocated or thrown there.
    Label(Kind, TextHandle),
}

/// A node. *Self* is what ends there, *total* what passes it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallNode {
    /// `None`: above all.
    pub(crate) call: Option<Call>,
    pub(crate) self_samples: u64,
    pub(crate) self_weight: u64,
    pub(crate) total_samples: u64,
    pub(crate) total_weight: u64,
}

/// A tree of calls. Node 0 is above all.
#[derive(Debug)]
pub(crate) struct CallNodes {
    nodes: Vec<CallNode>,
    children: NumberMap<(usize, Call), usize>,
}

impl CallNodes {
    pub(crate) fn new() -> CallNodes {
        CallNodes { nodes: vec![CallNode::default()], children: NumberMap::default() }
    }

    /// Adds samples at the end of `path`, whose outermost call comes first. Gives the last node.
    pub(crate) fn add(&mut self, path: impl Iterator<Item = Call>, totals: &Totals) -> usize {
        let mut at = 0;
        self.pass(at, totals);
        for call in path {
            let next = self.nodes.len();
            let child = *self.children.entry((at, call)).or_insert(next);
            if child == next {
                self.nodes.push(CallNode { call: Some(call), ..CallNode::default() });
            }
            at = child;
            self.pass(at, totals);
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.self_samples = node.self_samples.saturating_add(totals.samples);
            node.self_weight = node.self_weight.saturating_add(totals.weight);
        }
        at
    }

    fn pass(&mut self, at: usize, totals: &Totals) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.total_samples = node.total_samples.saturating_add(totals.samples);
            node.total_weight = node.total_weight.saturating_add(totals.weight);
        }
    }

    /// The last node of a path, if all of it is known.
    pub(crate) fn find(&self, mut path: impl Iterator<Item = Call>) -> Option<usize> {
        path.try_fold(0, |at, call| self.children.get(&(at, call)).copied())
    }

    /// A node; an empty one if there is none.
    pub(crate) fn node(&self, at: usize) -> CallNode {
        self.nodes.get(at).copied().unwrap_or_default()
    }

    /// Sums what `self_of` each node is over all below it, and the node itself.
    pub(crate) fn totals(&self, self_of: &[u64]) -> Vec<u64> {
        let mut totals = self_of.to_vec();
        totals.resize(self.nodes.len(), 0);
        let mut pairs: Vec<(usize, usize)> =
            self.children.iter().map(|((parent, _), child)| (*child, *parent)).collect();
        // Nodes stand behind those that they are below.
        pairs.sort_unstable_by(|a, b| b.cmp(a));
        for (child, parent) in pairs {
            let below = totals.get(child).copied().unwrap_or(0);
            if let Some(total) = totals.get_mut(parent) {
                *total = total.saturating_add(below);
            }
        }
        totals
    }

    /// The nodes below each node, in the order that is asked for.
    pub(crate) fn below(&self, mut order: impl FnMut(&CallNode, &CallNode) -> Ordering) -> Vec<Vec<usize>> {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for ((parent, _), child) in &self.children {
            if let Some(list) = below.get_mut(*parent) {
                list.push(*child);
            }
        }
        for list in &mut below {
            // Nodes that are equal for the caller keep the order in which they were met.
            list.sort_unstable();
            list.sort_by(|a, b| order(&self.node(*a), &self.node(*b)));
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_what_ends_and_of_what_passes() {
        let frame = |number| Call::Frame(FrameHandle(number));
        let totals = |samples, weight| Totals { samples, weight, ..Totals::default() };
        let mut nodes = CallNodes::new();
        assert_eq!(nodes.add([frame(1), frame(2)].into_iter(), &totals(1, 10)), 2);
        assert_eq!(nodes.add([frame(1)].into_iter(), &totals(2, 5)), 1);
        assert_eq!(nodes.add([frame(1), frame(3)].into_iter(), &totals(1, 30)), 3);
        assert_eq!(nodes.find([frame(1), frame(3)].into_iter()), Some(3));
        assert_eq!(nodes.find([frame(3)].into_iter()), None);
        let sums = |at| {
            let node = nodes.node(at);
            (node.self_samples, node.self_weight, node.total_samples, node.total_weight)
        };
        assert_eq!([0, 1, 2].map(sums), [(0, 0, 4, 45), (2, 5, 4, 45), (1, 10, 1, 10)]);
        let below = nodes.below(|a, b| b.total_weight.cmp(&a.total_weight));
        assert_eq!(below, [vec![1], vec![3, 2], vec![], vec![]]);
        assert_eq!(nodes.totals(&[0, 1, 2, 4]), [7, 7, 2, 4]);
    }
}
