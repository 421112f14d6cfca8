//! The dominator algorithm of Cooper, Harvey and Kennedy on a breadth-first tree, for typical
//! heaps.
//!
//! In any spanning tree, all dominators of a node lie on the path from the root to the node. So the
//! algorithm starts with the tree of a breadth-first search. For each edge it lifts the target to
//! the nearest common ancestor of the source and the target's parent, until no edge lifts anything.
//! Then each node's parent is its immediate dominator.
//!
//! How often edges must be processed depends on the graph, and in the worst case it is far too
//! often. So the algorithm gives up after a number of steps that is linear in the size of the
//! graph, and [`lengauer_tarjan`](super::lengauer_tarjan) takes over. The tree of a heap with many
//! references is shallow, and a handful of passes are enough.
//!
//! The benefit is in memory access: a depth-first search waits for each node before it knows the
//! next one, while a breadth-first search keeps dozens of accesses in flight. Arrays are indexed by
//! the order in which the search reached nodes, and edges are stored in the order of their sources.

use super::graph::{Dominators, Graph};
use super::links::{Bits, Links, NONE, length};
use super::threads::share;
use std::hint::black_box;

/// Number of nodes whose edges are prefetched into the cache together.
const BATCH: usize = 32;
/// Maximum number of steps for each node and edge, after which the algorithm gives up.
const STEPS: u64 = 8;
/// Maximum number of edges that a thread processes at a time.
const PIECE: usize = 1 << 18;

/// Result of the breadth-first search. The number of a node is its index in `vertices`.
struct BreadthFirstSearch {
    /// The nodes in the order in which they were reached.
    vertices: Vec<u32>,
    /// For each number, the number of the node from which that node was reached.
    parents: Links,
    /// For each number, the index in `targets` after the last edge of that node.
    ends: Vec<u32>,
    /// Target of each edge, in the order of the numbers of the edges' sources.
    targets: Vec<u32>,
}

fn search(graph: &impl Graph) -> BreadthFirstSearch {
    let nodes = graph.nodes();
    let root = graph.root();
    let mut visited = Bits::new(nodes as usize);
    let mut found = BreadthFirstSearch {
        vertices: Vec::with_capacity(nodes as usize),
        parents: Links::default(),
        ends: Vec::with_capacity(nodes as usize),
        targets: Vec::with_capacity(graph.edges()),
    };
    let mut parents: Vec<u32> = Vec::with_capacity(nodes as usize);
    if root < nodes {
        visited.insert(root);
        found.vertices.push(root);
        parents.push(NONE);
    }
    let mut near: Vec<&[u32]> = Vec::with_capacity(BATCH);
    let mut done = 0usize;
    while done < found.vertices.len() {
        near.clear();
        let batch = found.vertices.get(done..).unwrap_or_default();
        near.extend(batch.iter().take(BATCH).map(|node| graph.successors(*node)));
        // Loads the first target of each node of the batch, so that all loads are in flight at
        // once. Without a use of the sum, the compiler would remove the loads.
        black_box(
            near.iter().filter_map(|targets| targets.first()).fold(0, |all, target| all ^ target),
        );
        for targets in &near {
            let source = found.vertices.get(done).copied().unwrap_or(NONE);
            for target in targets.iter().copied() {
                if target >= nodes || target == root || !graph.counts(source, target) {
                    continue;
                }
                found.targets.push(target);
                if visited.insert(target) {
                    found.vertices.push(target);
                    parents.push(u32::try_from(done).unwrap_or(NONE));
                }
            }
            found.ends.push(length(&found.targets));
            done = done.saturating_add(1);
        }
    }
    found.parents = Links::from(parents);
    found
}

/// Replaces nodes in `targets` by their numbers.
fn number(targets: &mut [u32], vertices: &[u32], nodes: u32) {
    let mut numbers = Links::filled(nodes as usize, NONE);
    for (number, node) in (0u32..).zip(vertices) {
        numbers.set(*node, number);
    }
    let renamed =
        |targets: &mut [u32]| targets.iter_mut().for_each(|target| *target = numbers.get(*target));
    share(targets.chunks_mut(PIECE), renamed);
}

/// Computes the immediate dominators of a graph; returns `None` if the graph takes too long.
pub(super) fn dominators(graph: &impl Graph) -> Option<Dominators> {
    let BreadthFirstSearch { vertices, mut parents, ends, mut targets } = search(graph);
    number(&mut targets, &vertices, graph.nodes());
    let size = (vertices.len() as u64).saturating_add(targets.len() as u64);
    let mut left = size.saturating_mul(STEPS).saturating_add(1000);
    // Numbers whose parent changed in this pass, and in the previous pass.
    let (mut now, mut before) = (Bits::new(vertices.len()), Bits::filled(vertices.len()));
    loop {
        // Numbers whose path to the root has changed since their edges were processed. A change
        // above a number that this pass has done is left to the next pass.
        let mut stirred = Bits::new(vertices.len());
        let (mut has_changed, mut begin) = (false, 0u32);
        for (source, end) in (0u32..).zip(&ends) {
            let edges = targets.get(begin as usize..*end as usize).unwrap_or_default();
            begin = *end;
            let above = parents.get(source);
            // Only edges whose source has a new path to the root can lift their target.
            if !(before.has(source) || now.has(source) || stirred.has(above)) {
                continue;
            }
            stirred.insert(source);
            let mut steps = edges.len() as u64;
            for target in edges {
                let parent = parents.get(*target);
                let (mut one, mut other) = (source, parent);
                while one != other {
                    if one > other {
                        one = parents.get(one);
                    } else {
                        other = parents.get(other);
                    }
                    steps = steps.wrapping_add(1);
                }
                if other != parent {
                    parents.set(*target, other);
                    now.insert(*target);
                    has_changed = true;
                }
            }
            left = left.checked_sub(steps)?;
        }
        if !has_changed {
            return Some(Dominators { vertices, parents });
        }
        std::mem::swap(&mut now, &mut before);
        now.clear();
    }
}
