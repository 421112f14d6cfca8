//! The dominator tree, which tells what exclusively keeps an object alive.
//!
//! An object dominates another if every path from the roots to the other leads through it; the
//! nearest such object is the *immediate* dominator. If an object is removed, exactly the objects
//! that it dominates go with it: these are what it *retains*.
//!
//! There are two algorithms. [`breadth_first`] is fast on typical heaps, and gives up on graphs
//! that are hard for it; [`lengauer_tarjan`] takes O(m log n) on every graph. With the second
//! alone, `nettrace heap` takes 5.5 s of processor time instead of 1.2 s for three million objects,
//! because it waits for memory at each reference. The first alone would be quadratic on long linked
//! lists.

use super::graph::{Dominators, Graph};
use super::links::{Links, NONE, length};
use super::{breadth_first, lengauer_tarjan};

/// The dominator tree of a graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DominatorTree {
    /// Immediate dominator of each node; [`NONE`] for the root and for unreachable nodes.
    pub(super) parents: Links,
    /// The nodes that are reachable from the root. Each one is directly followed by the nodes that
    /// it dominates.
    pub(super) order: Vec<u32>,
    /// For each node of `order`, the number of nodes that it dominates, including itself.
    pub(super) spans: Vec<u32>,
}

impl DominatorTree {
    pub(super) fn new(graph: &impl Graph) -> DominatorTree {
        let found = breadth_first::dominators(graph);
        let found = found.unwrap_or_else(|| lengauer_tarjan::dominators(graph));
        DominatorTree::laid_out(&found, graph.nodes())
    }

    /// Makes the tree from the immediate dominators.
    fn laid_out(found: &Dominators, nodes: u32) -> DominatorTree {
        let Dominators { vertices, parents } = found;
        let reached = length(vertices);
        let mut spans = Links::filled(vertices.len(), 1);
        for number in (1..reached).rev() {
            spans.add(parents.get(number), spans.get(number));
        }
        let mut tree = DominatorTree {
            parents: Links::filled(nodes as usize, NONE),
            order: vec![NONE; vertices.len()],
            spans: vec![0; vertices.len()],
        };
        // The index in `order` for the next node that each number dominates.
        let mut next = Links::filled(vertices.len(), NONE);
        for (number, node) in (0u32..).zip(vertices) {
            let dominator = parents.get(number);
            let (place, span) =
                (if number == 0 { 0 } else { next.get(dominator) }, spans.get(number));
            if number > 0 {
                next.add(dominator, span);
                tree.parents.set(*node, vertices.get(dominator as usize).copied().unwrap_or(NONE));
            }
            next.set(number, place.wrapping_add(1));
            let slots = (tree.order.get_mut(place as usize), tree.spans.get_mut(place as usize));
            if let (Some(slot), Some(spanned)) = slots {
                (*slot, *spanned) = (*node, span);
            }
        }
        tree
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
                graph.0[node as usize]
                    .iter()
                    .copied()
                    .filter(|target| (*target as usize) < seen.len()),
            );
        }
        seen
    }

    /// Returns the nodes that each node dominates, according to the definition: those that become
    /// unreachable without it.
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
        #![proptest_config(ProptestConfig::with_cases(nettrace_testdata::cases(150)))]
        #[test]
        fn a_node_dominates_what_is_unreachable_without_it(
            edges in prop::collection::vec((0u32..24, 0u32..26), 0..80),
            nodes in 1usize..24,
        ) {
            let mut graph = Listed(vec![Vec::new(); nodes]);
            for (source, target) in edges {
                if let Some(list) = graph.0.get_mut(source as usize) {
                    list.push(target);
                }
            }
            let expected = dominated(&graph);
            for found in [breadth_first::dominators(&graph).unwrap(), lengauer_tarjan::dominators(&graph)] {
            let tree = DominatorTree::laid_out(&found, graph.nodes());
            prop_assert_eq!(tree.order.len(), reachable(&graph, None).iter().filter(|is| **is).count());
            for (place, node) in tree.order.iter().enumerate() {
                let mut spanned = tree.order[place..place + tree.spans[place] as usize].to_vec();
                spanned.sort_unstable();
                prop_assert_eq!(&spanned, &expected[*node as usize], "node {}", node);
                // The immediate dominator is the one that dominates least.
                let above = (0..nodes as u32).filter(|at| at != node && expected[*at as usize].contains(node));
                let nearest = above.min_by_key(|at| expected[*at as usize].len());
                prop_assert_eq!(tree.parents.get(*node), nearest.unwrap_or(NONE));
            }
            for (node, lists) in expected.iter().enumerate() {
                prop_assert!(!lists.is_empty() || tree.parents.get(node as u32) == NONE);
            }
            }
        }
    }

    #[test]
    fn a_list_of_a_million_objects_needs_no_stack() {
        let count = 1_000_000u32;
        let chain = Listed((0..count).map(|at| vec![at + 1, at / 2]).collect());
        assert!(
            breadth_first::dominators(&chain).is_none(),
            "each way back is as long as the list"
        );
        let tree = DominatorTree::new(&chain);
        assert_eq!(tree.order.len(), 1_000_000);
        assert!(tree.order.iter().enumerate().all(|(at, node)| at as u32 == *node));
        assert_eq!(
            (tree.parents.get(999_999), tree.spans[0], tree.spans[999_999]),
            (999_998, count, 1)
        );
    }

    #[test]
    fn both_ways_find_the_same_in_graphs_with_many_edges() {
        let count = 200_000u32;
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % count
        };
        let graph = Listed((0..count).map(|at| vec![at + 1, random(), random()]).collect());
        let fast = DominatorTree::laid_out(&breadth_first::dominators(&graph).unwrap(), count);
        let sure = DominatorTree::laid_out(&lengauer_tarjan::dominators(&graph), count);
        assert!((0..count).all(|node| fast.parents.get(node) == sure.parents.get(node)));
        // More edges than a thread processes at a time.
        assert_eq!(fast.order.len(), count as usize);
    }

    // Ladders with edges back to their top take quadratic time in simpler algorithms.
    #[test]
    fn adversarial_graphs_take_no_longer() {
        let count = 300_000u32;
        let ladder = (0..count)
            .map(|at| {
                vec![at + 1, count - at, (at * 7 + 1) % count, if at % 2 == 0 { 0 } else { at - 1 }]
            })
            .collect();
        let tree = DominatorTree::new(&Listed(ladder));
        assert_eq!(tree.order.len(), count as usize);
    }
}
