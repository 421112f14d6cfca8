//! Immediate dominators: who alone keeps an object alive.
//!
//! An object dominates another if every way from the roots to the other leads through it; the nearest one is the
//! *immediate* dominator. When an object goes, exactly what it dominates goes with it: that is what it *retains*.
//!
//! The algorithm is that of Lengauer and Tarjan with path compression, O(m log n), without recursion: a linked list
//! of a million elements is as good as any other graph. Nodes are numbered in the order of a depth-first search, and
//! all arrays are by that number. Three tricks save memory: a node is linked to its parent exactly if its number is
//! not below the one at hand, so the array of parents serves as the forest; the buckets are lists in the array that
//! takes the dominators later; and the arrays serve twice, for the tree that is made of the dominators.

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
#[derive(Debug, Clone, Default)]
pub(super) struct DominatorTree {
    /// Of each node its immediate dominator; [`NONE`] of the root and of what cannot be reached.
    pub(super) parents: Links,
    /// The nodes that can be reached, each in front of those that it dominates.
    pub(super) order: Vec<u32>,
    /// Of each place in `order` how many nodes, itself included, it dominates: they follow it.
    pub(super) spans: Vec<u32>,
}

/// What the depth-first search finds.
struct Search {
    /// The nodes in the order in which they were reached.
    vertices: Vec<u32>,
    /// Of each node its number; `NONE`: never reached.
    numbers: Links,
    /// Of each number the number that it was reached from.
    parents: Vec<u32>,
    /// Of each node how many edges lead to it.
    indegrees: Links,
}

fn search(graph: &impl Graph) -> Search {
    let nodes = graph.nodes();
    let mut found = Search {
        vertices: Vec::new(),
        numbers: Links::filled(nodes as usize, NONE),
        parents: Vec::new(),
        indegrees: Links::filled(nodes as usize, 0),
    };
    let root = graph.root();
    if root >= nodes {
        return found;
    }
    found.numbers.set(root, 0);
    found.vertices.push(root);
    found.parents.push(NONE);
    let mut ways: Vec<(u32, u32)> = vec![(root, 0)];
    while let Some((node, next)) = ways.last_mut() {
        let source = *node;
        let Some(target) = graph.successors(source).get(*next as usize).copied() else {
            ways.pop();
            continue;
        };
        *next = next.wrapping_add(1);
        if target >= nodes || !graph.counts(source, target) {
            continue;
        }
        found.indegrees.add(target, 1);
        if found.numbers.get(target) == NONE {
            let number = length(&found.vertices);
            found.parents.push(found.numbers.get(source));
            found.numbers.set(target, number);
            found.vertices.push(target);
            ways.push((target, 0));
        }
    }
    found
}

/// Of each number the numbers of the nodes with an edge to it, behind each other.
struct Predecessors {
    starts: Vec<u32>,
    sources: Links,
}

impl Predecessors {
    fn of(graph: &impl Graph, found: &mut Search) -> Predecessors {
        // Where the list of each node begins; while the lists are filled, where the next source goes.
        let (mut starts, mut sum) = (Vec::with_capacity(found.vertices.len().saturating_add(1)), 0u32);
        for node in &found.vertices {
            let count = found.indegrees.get(*node);
            starts.push(sum);
            found.indegrees.set(*node, sum);
            sum = sum.saturating_add(count);
        }
        starts.push(sum);
        let mut sources = Links::filled(sum as usize, NONE);
        let nodes = graph.nodes();
        for (number, node) in found.vertices.iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(NONE);
            for target in graph.successors(*node) {
                if *target < nodes && graph.counts(*node, *target) {
                    sources.set(found.indegrees.get(*target), number);
                    found.indegrees.add(*target, 1);
                }
            }
        }
        Predecessors { starts, sources }
    }

    #[inline]
    fn of_number(&self, number: u32) -> &[u32] {
        let at = number as usize;
        let (begin, end) = (self.starts.get(at).copied(), self.starts.get(at.wrapping_add(1)).copied());
        let (begin, end) = (begin.unwrap_or(0), end.unwrap_or(0));
        self.sources.as_slice().get(begin as usize..end as usize).unwrap_or_default()
    }
}

/// Trees of nodes that were done, with the least semidominator on the way up.
struct Forest {
    /// Parents in the search tree; of compressed nodes one further up.
    ancestors: Links,
    semis: Links,
    labels: Links,
    /// Nodes on a way that is being compressed.
    way: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator between a node and the root of its tree. Nodes from `linked` on are linked.
    #[inline]
    fn least(&mut self, node: u32, linked: u32) -> u32 {
        if node < linked {
            return node;
        }
        let mut top = node;
        loop {
            let ancestor = self.ancestors.get(top);
            if ancestor < linked || ancestor == NONE {
                break;
            }
            self.way.push(top);
            top = ancestor;
        }
        while let Some(below) = self.way.pop() {
            let ancestor = self.ancestors.get(below);
            let (above, own) = (self.labels.get(ancestor), self.labels.get(below));
            if self.semis.get(above) < self.semis.get(own) {
                self.labels.set(below, above);
            }
            self.ancestors.set(below, self.ancestors.get(ancestor));
        }
        self.labels.get(node)
    }
}

impl DominatorTree {
    pub(super) fn of(graph: &impl Graph) -> DominatorTree {
        let mut found = search(graph);
        let predecessors = Predecessors::of(graph, &mut found);
        let Search { vertices, numbers, parents, .. } = found;
        let mut tree = DominatorTree { parents: numbers, ..DominatorTree::default() };
        let reached = length(&vertices);
        let mut forest = Forest {
            semis: Links::from((0..reached).collect::<Vec<u32>>()),
            labels: Links::from((0..reached).collect::<Vec<u32>>()),
            ancestors: Links::from(parents),
            way: Vec::new(),
        };
        // Of a number below the one at hand the first of its bucket; of one in a bucket the next; in the end the
        // dominator.
        let mut dominators = Links::filled(vertices.len(), NONE);
        for number in (1..reached).rev() {
            let parent = forest.ancestors.get(number);
            let mut semi = parent;
            for source in predecessors.of_number(number) {
                let least = forest.least(*source, number.wrapping_add(1));
                semi = semi.min(forest.semis.get(least));
            }
            forest.semis.set(number, semi);
            dominators.set(number, dominators.get(semi));
            dominators.set(semi, number);
            let mut held = dominators.get(parent);
            dominators.set(parent, NONE);
            while held != NONE {
                let next = dominators.get(held);
                let least = forest.least(held, number);
                let is_below = forest.semis.get(least) < forest.semis.get(held);
                dominators.set(held, if is_below { least } else { parent });
                held = next;
            }
        }
        drop(predecessors);
        for number in 1..reached {
            let dominator = dominators.get(number);
            if dominator != forest.semis.get(number) {
                dominators.set(number, dominators.get(dominator));
            }
        }
        tree.lay_out(&vertices, &dominators, forest);
        tree
    }

    /// Puts the nodes in order, and tells of each its dominator. The arrays of the forest are used once more.
    fn lay_out(&mut self, vertices: &[u32], dominators: &Links, forest: Forest) {
        let Forest { semis: mut spans, labels: mut places, ancestors: mut next, .. } = forest;
        self.parents.fill(NONE);
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
            places.set(number, place);
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
