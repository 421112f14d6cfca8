//! A tree of names: which activities run inside which others.

use super::distribution::Distribution;
use super::http::{HttpFacts, MaybeRequest};
use super::parts::Totals;
use crate::model::intervals::OpenActivityKey;
use crate::model::{StackHandle, TextHandle, ThreadHandle};
use std::collections::{BTreeMap, HashMap};

/// Maximum number of nodes; activities that would need further ones become roots.
const MOST: usize = 10_000;
/// Maximum depth; activities started there stay at that level.
const DEEPEST: usize = 64;

/// Nodes of the tree: a name below a parent node.
#[derive(Debug, Default)]
pub(crate) struct ActivityTree {
    nodes: Vec<Node>,
    by_place: HashMap<(Option<usize>, TextHandle), usize>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    pub(crate) name: TextHandle,
    pub(crate) depth: usize,
}

impl ActivityTree {
    /// The node for a name below a parent.
    pub(crate) fn node(&mut self, parent: Option<usize>, name: TextHandle) -> usize {
        if let Some(node) = self.by_place.get(&(parent, name)) {
            return *node;
        }
        let parent = parent.filter(|_| self.nodes.len() < MOST);
        if let Some(node) = self.by_place.get(&(parent, name)) {
            return *node;
        }
        let depth = parent
            .and_then(|parent| self.nodes.get(parent))
            .map_or(0, |node| node.depth.saturating_add(1));
        if let Some(parent) = parent.filter(|_| depth > DEEPEST) {
            return parent;
        }
        let node = self.nodes.len();
        self.nodes.push(Node { parent, name, depth });
        self.by_place.insert((parent, name), node);
        node
    }

    /// Whether a node is inside another one with the same name.
    pub(crate) fn is_in_own_kind(&self, node: usize) -> bool {
        let Some(own) = self.nodes.get(node) else { return false };
        // Nodes come after their parents, so this ends.
        let mut above = own.parent.and_then(|parent| self.nodes.get(parent));
        while let Some(node) = above {
            if node.name == own.name {
                return true;
            }
            above = node.parent.and_then(|parent| self.nodes.get(parent));
        }
        false
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Totals for the activities at one node, with one label and stack.
#[derive(Debug, Default, Clone)]
pub(crate) struct ActivityStats {
    pub(crate) started: u64,
    pub(crate) errors: u64,
    pub(crate) durations: Distribution,
    pub(crate) statuses: BTreeMap<i64, u64>,
    pub(crate) parts: Totals,
    /// Slowest first.
    pub(crate) slowest: Vec<Slow>,
}

/// An activity that has stopped.
#[derive(Debug, Clone)]
pub(crate) struct Slow {
    pub(crate) duration: u64,
    pub(crate) start: i64,
    pub(crate) thread: ThreadHandle,
    pub(crate) stop_thread: ThreadHandle,
    pub(crate) id: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) fields: String,
    pub(crate) parts: Totals,
}

impl ActivityStats {
    pub(crate) fn add_slow(&mut self, slow: Slow, top: usize) {
        let at = self.slowest.partition_point(|other| other.duration >= slow.duration);
        if at < top {
            self.slowest.insert(at, slow);
            self.slowest.truncate(top);
        }
    }

    pub(crate) fn merge(&mut self, other: &ActivityStats) {
        self.started = self.started.saturating_add(other.started);
        self.errors = self.errors.saturating_add(other.errors);
        self.durations.merge(&other.durations);
        self.parts.merge(&other.parts);
        for (status, count) in &other.statuses {
            let mine = self.statuses.entry(*status).or_default();
            *mine = mine.saturating_add(*count);
        }
    }
}

/// Where activities are counted. Filters on frames are applied at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ActivitySite {
    pub(crate) node: usize,
    pub(crate) label: TextHandle,
    /// Whether these are layers of requests that are counted elsewhere.
    pub(crate) is_layer: bool,
    pub(crate) stack: StackHandle,
}

/// Facts about an open activity beside those used for matching.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Its node in the tree.
    pub(crate) node: usize,
    pub(crate) stack: StackHandle,
    pub(crate) is_selected: bool,
    pub(crate) is_error: bool,
    /// Fields of the start as text.
    pub(crate) fields: String,
    /// The name it is counted under, if not its own.
    pub(crate) label: Option<TextHandle>,
    /// Its number in the tracker of its time.
    pub(crate) part: Option<u64>,
    /// HTTP facts, if it is a request.
    pub(crate) http: Option<HttpFacts>,
    /// The request of which it is a layer.
    pub(crate) layer_of: Option<OpenActivityKey>,
}

impl MaybeRequest for Begun {
    fn http(&self) -> Option<&HttpFacts> {
        self.http.as_ref()
    }

    fn layer_of(&self) -> Option<OpenActivityKey> {
        self.layer_of
    }
}

impl Begun {
    /// Where it is counted.
    pub(crate) fn site(&self, label: TextHandle) -> ActivitySite {
        ActivitySite {
            node: self.node,
            label,
            is_layer: self.layer_of.is_some(),
            stack: self.stack,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_an_end_in_depth_and_width() {
        let mut tree = ActivityTree::default();
        let mut node = None;
        (0..1000).for_each(|_| node = Some(tree.node(node, TextHandle(1))));
        assert_eq!(tree.nodes().len(), DEEPEST + 1);
        let root = tree.node(None, TextHandle(1));
        assert_eq!(root, 0);
        for name in 0..20_000 {
            tree.node(Some(root), TextHandle(name % 15_000));
        }
        assert!(tree.nodes().len() <= 15_000 + MOST);
    }

    #[test]
    fn what_has_its_node_stays_there_when_the_tree_is_full() {
        let mut tree = ActivityTree::default();
        let root = tree.node(None, TextHandle(1));
        let inner = tree.node(Some(root), TextHandle(2));
        for name in 0..20_000 {
            tree.node(Some(root), TextHandle(name + 3));
        }
        assert_eq!(tree.node(Some(root), TextHandle(2)), inner);
    }
}
