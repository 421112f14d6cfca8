//! Immediate dominators: who alone keeps an object alive.
//!
//! An object dominates another if every way from the roots to the other leads through it; the nearest one is the
//! *immediate* dominator. When an object goes, exactly what it dominates goes with it: that is what it *retains*.
//!
//! The algorithm is that of Lengauer and Tarjan with path compression, O(m log n), without recursion: a linked list
//! of a million elements is as good as any other graph. Nodes are numbered in the order of a depth-first search, and most
//! arrays are by that number. On a large heap nothing takes time but waiting for memory, so what is used together lies
//! together: a reference is looked at once in the search, and once more if it leads to a smaller number. Of all others
//! only the least source counts. Two tricks save memory: a node is linked to its parent exactly if its number is not below
//! the one at hand, so the parents serve as the forest; and the buckets are lists in the array that takes the dominators
//! later.

use super::links::{Links, NONE, length};

/// A graph whose nodes are numbered from 0.
pub(super) trait Graph {
    /// How many nodes it has: below [`NONE`].
    fn nodes(&self) -> u32;
    /// Where everything starts.
    fn root(&self) -> u32;
    /// Where edges of a node lead; [`NONE`] and what is beyond the nodes leads nowhere.
    fn successors(&self, node: u32) -> &[u32];
    /// Whether an edge is to be looked at.
    fn counts(&self, _source: u32, _target: u32) -> bool {
        true
    }
}

/// The dominator tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DominatorTree {
    /// Of each node its immediate dominator; [`NONE`] of the root and of what cannot be reached.
    pub(super) parents: Links,
    /// The nodes that can be reached, each in front of those that it dominates.
    pub(super) order: Vec<u32>,
    /// Of each place in `order` how many nodes, itself included, it dominates: they follow it.
    pub(super) spans: Vec<u32>,
}

/// What the depth-first search knows of a node.
#[derive(Debug, Clone, Copy)]
struct Met {
    /// [`NONE`]: it was never reached.
    number: u32,
    /// The least number of a node with an edge to it.
    least_source: u32,
    /// The first of its late edges.
    late: u32,
}

/// An edge that leads to a smaller number than it comes from.
#[derive(Debug, Clone, Copy)]
struct Late {
    /// Number of the node that it comes from.
    source: u32,
    /// The next one that leads to the same node.
    next: u32,
}

/// What the depth-first search finds.
struct Search {
    /// The nodes in the order in which they were reached.
    vertices: Vec<u32>,
    /// By node.
    met: Vec<Met>,
    /// Of each number the number that it was reached from.
    parents: Vec<u32>,
    late: Vec<Late>,
}

fn search(graph: &impl Graph) -> Search {
    let nodes = graph.nodes();
    let unmet = Met { number: NONE, least_source: NONE, late: NONE };
    let mut met = vec![unmet; nodes as usize];
    let (mut vertices, mut parents, mut late): (Vec<u32>, Vec<u32>, Vec<Late>) = Default::default();
    // Nodes on the way, with their numbers and how many of their edges were looked at.
    let mut ways: Vec<(u32, u32, u32)> = Vec::new();
    let root = graph.root();
    if let Some(first) = met.get_mut(root as usize) {
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
        let Some(known) = met.get_mut(target as usize) else { continue };
        if !graph.counts(source, target) {
            continue;
        }
        if known.number == NONE {
            let own = length(&vertices);
            *known = Met { number: own, least_source: number, late: NONE };
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
    Search { vertices, met, parents, late }
}

/// A node in a forest of nodes that were done.
#[derive(Debug, Clone, Copy)]
struct Linked {
    /// Its parent in the search tree; once compressed one further up.
    ancestor: u32,
    /// The node with the least semidominator from here up to the ancestor, which is left out.
    label: u32,
    /// That semidominator.
    least: u32,
}

/// Trees of nodes that were done, with the least semidominator on the way up.
struct Forest {
    nodes: Vec<Linked>,
    /// Nodes on a way that is being compressed.
    way: Vec<u32>,
}

impl Forest {
    #[inline(always)]
    fn get(&self, number: u32) -> Linked {
        let none = Linked { ancestor: NONE, label: NONE, least: NONE };
        self.nodes.get(number as usize).copied().unwrap_or(none)
    }

    /// The node with the least semidominator between a node and the root of its tree, and that semidominator. Nodes from
    /// `linked` on are linked.
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

impl DominatorTree {
    pub(super) fn of(graph: &impl Graph) -> DominatorTree {
        let Search { vertices, met, parents, late } = search(graph);
        let reached = length(&vertices);
        let linked = |(number, ancestor)| Linked { ancestor, label: number, least: number };
        let mut forest = Forest { nodes: (0u32..).zip(parents).map(linked).collect(), way: Vec::new() };
        let mut semis = Links::filled(vertices.len(), NONE);
        // Of a number below the one at hand the first of its bucket; of one in a bucket the next; in the end the
        // dominator.
        let mut dominators = Links::filled(vertices.len(), NONE);
        for (number, node) in (0..reached).zip(&vertices).skip(1).rev() {
            let parent = forest.get(number).ancestor;
            let Some(known) = met.get(*node as usize) else { continue };
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
                // The semidominator of what is in the parent's bucket is the parent.
                dominators.set(held, if least < parent { label } else { parent });
                held = next;
            }
        }
        drop((met, late, forest));
        for number in 1..reached {
            let dominator = dominators.get(number);
            if dominator != semis.get(number) {
                dominators.set(number, dominators.get(dominator));
            }
        }
        let mut tree = DominatorTree {
            parents: Links::filled(graph.nodes() as usize, NONE),
            ..DominatorTree::default()
        };
        tree.lay_out(&vertices, &dominators, semis);
        tree
    }

    /// Puts the nodes in order, and tells of each its dominator. `spans`: any numbers, so many as there are vertices.
    fn lay_out(&mut self, vertices: &[u32], dominators: &Links, mut spans: Links) {
        // Of each number where the next one that it dominates goes.
        let mut next = Links::filled(vertices.len(), NONE);
        spans.fill(1);
        let reached = length(vertices);
        for number in (1..reached).rev() {
            spans.add(dominators.get(number), spans.get(number));
        }
        self.order = vec![NONE; vertices.len()];
        self.spans = vec![0; vertices.len()];
        for (number, node) in (0u32..).zip(vertices) {
            let dominator = dominators.get(number);
            let (place, span) = (if number == 0 { 0 } else { next.get(dominator) }, spans.get(number));
            if number > 0 {
                next.add(dominator, span);
                let above = vertices.get(dominator as usize).copied().unwrap_or(NONE);
                self.parents.set(*node, above);
            }
            next.set(number, place.wrapping_add(1));
            if let (Some(slot), Some(spanned)) =
                (self.order.get_mut(place as usize), self.spans.get_mut(place as usize))
            {
                (*slot, *spanned) = (*node, span);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "graphs of tests are small")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Listed(Vec<Vec<u32>>);

    impl Graph for Listed {
        fn nodes(&self) -> u32 {
            length(&self.0)
        }
        fn root(&self) -> u32 {
            0
        }
        fn successors(&self, node: u32) -> &[u32] {
            &self.0[node as usize]
        }
    }

    fn reachable(graph: &Listed, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; graph.0.len()];
        let mut todo = vec![0];
        while let Some(node) = todo.pop() {
            if Some(node) == without || seen[node as usize] {
                continue;
            }
            seen[node as usize] = true;
            todo.extend(
                graph.0[node as usize].iter().copied().filter(|target| (*target as usize) < seen.len()),
            );
        }
        seen
    }

    /// By the definition: what cannot be reached any more once a node is gone.
    fn dominated(graph: &Listed) -> Vec<Vec<u32>> {
        let all = reachable(graph, None);
        (0..graph.0.len())
            .map(|node| {
                let left = reachable(graph, Some(node as u32));
                (0..graph.0.len())
                    .filter(|at| all[node] && all[*at] && !left[*at])
                    .map(|at| at as u32)
                    .collect()
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn what_a_node_dominates_is_what_goes_when_it_goes(
            edges in prop::collection::vec((0u32..24, 0u32..26), 0..80),
            nodes in 1usize..24,
        ) {
            let mut graph = Listed(vec![Vec::new(); nodes]);
            for (source, target) in edges {
                if let Some(list) = graph.0.get_mut(source as usize) {
                    list.push(target);
                }
            }
            let tree = DominatorTree::of(&graph);
            let expected = dominated(&graph);
            prop_assert_eq!(tree.order.len(), reachable(&graph, None).iter().filter(|is| **is).count());
            for (place, node) in tree.order.iter().enumerate() {
                let mut spanned = tree.order[place..place + tree.spans[place] as usize].to_vec();
                spanned.sort_unstable();
                prop_assert_eq!(&spanned, &expected[*node as usize], "node {}", node);
                // The nearest of those above it.
                let above = (0..nodes as u32).filter(|at| at != node && expected[*at as usize].contains(node));
                let nearest = above.min_by_key(|at| expected[*at as usize].len());
                prop_assert_eq!(tree.parents.get(*node), nearest.unwrap_or(NONE));
            }
            for (node, lists) in expected.iter().enumerate() {
                prop_assert!(!lists.is_empty() || tree.parents.get(node as u32) == NONE);
            }
        }
    }

    #[test]
    fn a_list_of_a_million_objects_needs_no_stack() {
        let count = 1_000_000u32;
        let chain = (0..count).map(|at| vec![at + 1, at / 2]).collect();
        let tree = DominatorTree::of(&Listed(chain));
        assert_eq!(tree.order.len(), 1_000_000);
        assert!(tree.order.iter().enumerate().all(|(at, node)| at as u32 == *node));
        assert_eq!((tree.parents.get(999_999), tree.spans[0], tree.spans[999_999]), (999_998, count, 1));
    }

    /// Graphs on which simpler algorithms take quadratic time: ladders with ways back to their top.
    #[test]
    fn graphs_that_are_hard_on_purpose_take_no_longer() {
        let count = 300_000u32;
        let ladder = (0..count)
            .map(|at| vec![at + 1, count - at, (at * 7 + 1) % count, if at % 2 == 0 { 0 } else { at - 1 }])
            .collect();
        let tree = DominatorTree::of(&Listed(ladder));
        assert_eq!(tree.order.len(), count as usize);
    }
}
