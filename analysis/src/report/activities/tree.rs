//! Tree of the names of activities inside others.

use crate::hash::HashMap;
use crate::model::TextHandle;

/// Number of nodes from which on a new name becomes a root instead of a child.
const MAX_NODES: usize = 10_000;
/// Maximum depth; activities below it count for the node at this depth.
const DEEPEST: usize = 64;

/// Tree of names; nodes come after their parents.
#[derive(Debug, Default)]
pub(crate) struct ActivityTree {
    nodes: Vec<ActivityTreeNode>,
    by_place: HashMap<(Option<usize>, TextHandle), usize>,
}

#[derive(Debug)]
pub(crate) struct ActivityTreeNode {
    pub(crate) parent: Option<usize>,
    pub(crate) name: TextHandle,
    pub(crate) depth: usize,
}

impl ActivityTree {
    /// Returns the node for a name below a parent, which is added if unknown.
    pub(crate) fn node(&mut self, parent: Option<usize>, name: TextHandle) -> usize {
        if let Some(node) = self.by_place.get(&(parent, name)) {
            return *node;
        }
        let parent = parent.filter(|_| self.nodes.len() < MAX_NODES);
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
        self.nodes.push(ActivityTreeNode { parent, name, depth });
        self.by_place.insert((parent, name), node);
        node
    }

    /// Returns whether a node is below another one with its name.
    pub(crate) fn is_in_own_kind(&self, node: usize) -> bool {
        let Some(own) = self.nodes.get(node) else { return false };
        // This ends because nodes come after their parents.
        let mut above = own.parent.and_then(|parent| self.nodes.get(parent));
        while let Some(node) = above {
            if node.name == own.name {
                return true;
            }
            above = node.parent.and_then(|parent| self.nodes.get(parent));
        }
        false
    }

    pub(crate) fn nodes(&self) -> &[ActivityTreeNode] {
        &self.nodes
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
        assert!(tree.nodes().len() <= 15_000 + MAX_NODES);
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
