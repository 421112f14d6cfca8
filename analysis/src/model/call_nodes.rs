//! Tree of calls, with totals for each node.
//!
//! Deep stacks on thousands of threads would make millions of nodes, so the number of a tree's
//! nodes is limited. Below a node for which there is no room, all deeper calls are merged into one
//! node, `(deeper)`.

use super::handle::{FrameHandle, TextHandle, ThreadHandle};
use super::profile::Totals;
use super::sample::Kind;
use crate::hash::HashMap;
use std::cmp::Ordering;

/// What a node of the tree represents: a thread, a frame or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Call {
    /// A thread, above its outermost frames.
    Thread(ThreadHandle),
    /// A method or an address on the stack.
    Frame(FrameHandle),
    /// A type that was allocated or thrown.
    Label(Kind, TextHandle),
    /// The root of all stacks of waiting threads.
    Waiting,
    /// The root of all stacks of threads that were ready and did not run.
    Ready,
    /// All calls below a node for which there was no room.
    Deeper,
}

impl Call {
    pub(crate) const DEEPER: &'static str = "(deeper)";
    const WAITING: &'static str = "(waiting)";
    const READY: &'static str = "(ready)";

    /// Returns the text of a call that has the same text in all traces.
    pub(crate) fn fixed_text(self) -> Option<&'static str> {
        match self {
            Call::Waiting => Some(Call::WAITING),
            Call::Ready => Some(Call::READY),
            Call::Deeper => Some(Call::DEEPER),
            Call::Frame(_) | Call::Thread(_) | Call::Label(..) => None,
        }
    }
}

/// Maximum number of nodes in a tree, not counting `(deeper)`. Real traces of several gigabytes
/// have fewer. In memory, a node takes about 300 bytes until the tree is written.
const MAX_TREE_NODES: usize = 1 << 18;
/// Maximum number of `(deeper)` nodes. If there are more, deeper calls count for their caller.
const MAX_DEEPER_NODES: usize = MAX_TREE_NODES / 8;
/// Depths up to which all paths get nodes, one round after the other, if there is no room for all
/// calls.
const ROUNDS: [usize; 7] = [8, 32, 128, 512, 2048, 8192, usize::MAX];

/// A call with its totals. *Self* counts the samples that end at the node. *Total* also counts
/// those that end below it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallNode {
    /// Call that the node represents; `None` for the root.
    pub(crate) call: Option<Call>,
    pub(crate) self_samples: u64,
    pub(crate) self_weight: u64,
    pub(crate) total_samples: u64,
    pub(crate) total_weight: u64,
}

/// Tree of calls. The node with index 0 is the root.
#[derive(Debug)]
pub(crate) struct CallNodes {
    nodes: Vec<CallNode>,
    children: HashMap<(usize, Call), usize>,
    most: usize,
    deeper: usize,
    /// Totals of samples that end at a `(deeper)` node, or would end there if there were room for
    /// one.
    left_out: Totals,
}

impl CallNodes {
    /// Maximum number of nodes in a tree of [`CallNodes::for_paths`], not counting `(deeper)`.
    pub(crate) const MAX_NODES: usize = MAX_TREE_NODES;

    /// Creates a tree for `paths`, which the caller adds afterwards. If there may be too many
    /// paths, all of them get nodes for their outermost calls before any gets deeper ones.
    pub(crate) fn for_paths<P, I>(paths: impl Fn() -> P) -> CallNodes
    where
        P: Iterator<Item = I>,
        I: Iterator<Item = Call>,
    {
        CallNodes::within(MAX_TREE_NODES, paths)
    }

    /// Creates a tree for `paths` that has at most `most` nodes, not counting `(deeper)`.
    pub(crate) fn within<P, I>(most: usize, paths: impl Fn() -> P) -> CallNodes
    where
        P: Iterator<Item = I>,
        I: Iterator<Item = Call>,
    {
        let mut calls = CallNodes {
            nodes: vec![CallNode::default()],
            children: HashMap::default(),
            most,
            deeper: 0,
            left_out: Totals::default(),
        };
        let calls_of_all = paths().fold(0usize, |sum, path| sum.saturating_add(path.size_hint().0));
        if calls_of_all < most {
            return calls;
        }
        for depth in ROUNDS {
            for path in paths() {
                calls.last(path.take(depth));
                if calls.is_full() {
                    return calls;
                }
            }
        }
        calls
    }

    fn is_full(&self) -> bool {
        self.nodes.len().saturating_sub(self.deeper) >= self.most
    }

    /// Returns the child of a node, which is added if there is room for it.
    fn child(&mut self, at: usize, call: Call) -> Option<usize> {
        if let Some(child) = self.children.get(&(at, call)) {
            return Some(*child);
        }
        let has_room =
            if call == Call::Deeper { self.deeper < MAX_DEEPER_NODES } else { !self.is_full() };
        if !has_room {
            return None;
        }
        let child = self.nodes.len();
        self.deeper = self.deeper.saturating_add(usize::from(call == Call::Deeper));
        self.children.insert((at, call), child);
        self.nodes.push(CallNode { call: Some(call), ..CallNode::default() });
        Some(child)
    }

    /// Returns the deepest node on a path. Nodes of the path are added as long as there is room.
    fn last(&mut self, path: impl Iterator<Item = Call>) -> usize {
        let mut at = 0;
        for call in path {
            let Some(child) = self.child(at, call) else { break };
            at = child;
        }
        at
    }

    /// Returns the number of calls on a path that have nodes. It is for callers that keep their own
    /// nodes.
    #[cfg(any(feature = "firefox", test))]
    pub(crate) fn fitting(&mut self, path: impl Iterator<Item = Call>) -> usize {
        let (mut at, mut count) = (0, 0usize);
        for call in path {
            let Some(child) = self.child(at, call) else { break };
            at = child;
            count = count.saturating_add(1);
        }
        count
    }

    /// Returns the totals of samples that end at a `(deeper)` node.
    pub(crate) fn left_out(&self) -> &Totals {
        &self.left_out
    }

    /// Adds the totals of samples at the end of `path`, which starts with the outermost call.
    /// Returns the last node.
    pub(crate) fn add(&mut self, path: impl Iterator<Item = Call>, totals: &Totals) -> usize {
        let mut at = 0;
        self.pass(at, totals);
        for call in path {
            let (child, is_last) = match self.child(at, call) {
                Some(child) => (Some(child), false),
                None => {
                    self.left_out.add(totals);
                    (self.child(at, Call::Deeper), true)
                }
            };
            if let Some(child) = child {
                at = child;
                self.pass(at, totals);
            }
            if is_last {
                break;
            }
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

    /// Returns the node at the end of a path; `None` if no path like this was added.
    pub(crate) fn find(&self, path: impl Iterator<Item = Call>) -> Option<usize> {
        let mut at = 0;
        for call in path {
            match self.children.get(&(at, call)) {
                Some(child) => at = *child,
                None if self.left_out.samples == 0 => return None,
                None => return Some(self.children.get(&(at, Call::Deeper)).copied().unwrap_or(at)),
            }
        }
        Some(at)
    }

    /// Returns the node at an index; an empty node if there is none.
    pub(crate) fn node(&self, at: usize) -> CallNode {
        self.nodes.get(at).copied().unwrap_or_default()
    }

    /// Returns, for each node, the sum of `self_of` over the node and all nodes below it.
    pub(crate) fn totals(&self, self_of: &[u64]) -> Vec<u64> {
        let mut totals = self_of.to_vec();
        totals.resize(self.nodes.len(), 0);
        let mut pairs: Vec<(usize, usize)> =
            self.children.iter().map(|((parent, _), child)| (*child, *parent)).collect();
        // Nodes come after their parents.
        pairs.sort_unstable_by(|a, b| b.cmp(a));
        for (child, parent) in pairs {
            let below = totals.get(child).copied().unwrap_or(0);
            if let Some(total) = totals.get_mut(parent) {
                *total = total.saturating_add(below);
            }
        }
        totals
    }

    /// Returns the index of each node's parent, which is lower than that of the node; 0 for the
    /// root.
    pub(crate) fn parents(&self) -> Vec<usize> {
        let mut parents = vec![0; self.nodes.len()];
        for ((parent, _), child) in &self.children {
            if let Some(of_child) = parents.get_mut(*child) {
                *of_child = *parent;
            }
        }
        parents
    }

    /// Returns the children of each node, sorted by `order`.
    pub(crate) fn below(
        &self,
        mut order: impl FnMut(&CallNode, &CallNode) -> Ordering,
    ) -> Vec<Vec<usize>> {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for ((parent, _), child) in &self.children {
            if let Some(list) = below.get_mut(*parent) {
                list.push(*child);
            }
        }
        for list in &mut below {
            // Nodes that compare equal stay in the order of their addition.
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
        let mut nodes = CallNodes::for_paths(std::iter::empty::<std::iter::Empty<Call>>);
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
        assert_eq!(nodes.parents(), [0, 0, 1, 1]);
    }

    #[test]
    fn what_is_beyond_the_budget_is_one_node_with_its_sums_and_each_path_keeps_its_outermost_calls()
    {
        let frame = |number| Call::Frame(FrameHandle(number));
        // Ten threads, each with its own path of 100 calls.
        let path = |thread: u32| {
            std::iter::once(Call::Thread(ThreadHandle(thread))).chain((0..99).map(&frame))
        };
        let mut nodes = CallNodes::within(400, || (0..10).map(path));
        let totals = Totals { samples: 1, weight: 7, ..Totals::default() };
        let ends: Vec<usize> = (0..10).map(|thread| nodes.add(path(thread), &totals)).collect();
        let sums = nodes.node(0);
        assert_eq!((sums.total_samples, sums.total_weight, sums.self_samples), (10, 70, 0));
        for (thread, end) in (0..10).zip(ends) {
            let node = nodes.node(end);
            // 32 of each fit; the remaining room goes to the first and partly to the
            // second.
            let is_deeper = thread > 0;
            assert_eq!((node.call == Some(Call::Deeper), node.self_weight), (is_deeper, 7));
            assert_eq!(nodes.find(path(thread)), Some(end));
            let fitting = nodes.fitting(path(thread));
            assert!(fitting >= 32 && is_deeper == (fitting < 100), "{thread}: {fitting}");
        }
        assert_eq!((nodes.left_out().samples, nodes.left_out().weight), (9, 63));
        // 400, plus one for each path that is cut off.
        assert_eq!(nodes.nodes.len(), 409);
        let roomy = CallNodes::within(1000, || (0..9).map(path));
        assert_eq!(roomy.nodes.len(), 1, "what surely fits is not looked at twice");
    }
}
