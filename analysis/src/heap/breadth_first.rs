//! Dominators by correction of a breadth-first tree, for graphs as heaps mostly are.
//!
//! In any spanning tree what dominates a node lies on the way from the root to it. So one begins with the tree of a
//! breadth-first search, and for each edge lifts its target to the nearest common ancestor of source and parent, until
//! no edge lifts anything: then each node's parent is its immediate dominator. (The iterative algorithm of Cooper, Harvey
//! and Kennedy, seen as one on trees.)
//!
//! How often edges must be looked at depends on the graph, and in the worst case it is far too often: so it gives up
//! after a number of steps that is linear in the graph's size, and [`lengauer_tarjan`](super::lengauer_tarjan) does it
//! instead. On heaps with many references the tree is shallow and it takes a handful of passes. It is worth it because
//! of memory: a depth-first search waits for each node before it knows the next one, while here a processor has
//! dozens of look-ups under way at the same time. Arrays are by number, in the order in which the search met nodes,
//! and edges lie in the order of their sources.

use super::dominators::{Dominators, Graph};
use super::links::{Bits, Links, NONE, length};
use super::threads::share;
use std::hint::black_box;

/// Nodes whose edges are brought near together.
const BATCH: usize = 32;
/// Steps for each node and edge before it gives up.
const STEPS: u64 = 8;
/// Edges that a thread takes at once.
const PIECE: usize = 1 << 18;

/// What the search finds.
struct Search {
    /// The nodes in the order in which they were reached.
    vertices: Vec<u32>,
    /// Of each number the number that it was reached from.
    parents: Links,
    /// Of each number where its edges end.
    ends: Vec<u32>,
    /// Targets of edges, by the number of their source: nodes.
    targets: Vec<u32>,
}

fn search(graph: &impl Graph) -> Search {
    let nodes = graph.nodes();
    let root = graph.root();
    let mut met = Bits::new(nodes as usize);
    let mut found = Search {
        vertices: Vec::with_capacity(nodes as usize),
        parents: Links::default(),
        ends: Vec::with_capacity(nodes as usize),
        targets: Vec::with_capacity(graph.edges()),
    };
    let mut parents: Vec<u32> = Vec::with_capacity(nodes as usize);
    if root < nodes {
        met.insert(root);
        found.vertices.push(root);
        parents.push(NONE);
    }
    let mut near: Vec<&[u32]> = Vec::with_capacity(BATCH);
    let mut done = 0usize;
    while done < found.vertices.len() {
        near.clear();
        let batch = found.vertices.get(done..).unwrap_or_default();
        near.extend(batch.iter().take(BATCH).map(|node| graph.successors(*node)));
        // All of them are asked for before one is waited for.
        black_box(near.iter().filter_map(|targets| targets.first()).fold(0, |all, target| all ^ target));
        for targets in &near {
            let source = found.vertices.get(done).copied().unwrap_or(NONE);
            for target in targets.iter().copied() {
                if target >= nodes || target == root || !graph.counts(source, target) {
                    continue;
                }
                found.targets.push(target);
                if met.insert(target) {
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

/// Makes of nodes their numbers.
fn number(targets: &mut [u32], vertices: &[u32], nodes: u32) {
    let mut numbers = Links::filled(nodes as usize, NONE);
    for (number, node) in (0u32..).zip(vertices) {
        numbers.set(*node, number);
    }
    let renamed = |targets: &mut [u32]| targets.iter_mut().for_each(|target| *target = numbers.get(*target));
    share(targets.chunks_mut(PIECE), renamed);
}

/// The immediate dominators of a graph; `None`: it takes too long in this way.
pub(super) fn dominators(graph: &impl Graph) -> Option<Dominators> {
    let Search { vertices, mut parents, ends, mut targets } = search(graph);
    number(&mut targets, &vertices, graph.nodes());
    let size = (vertices.len() as u64).saturating_add(targets.len() as u64);
    let mut left = size.saturating_mul(STEPS).saturating_add(1000);
    // Numbers whose parent changed in this pass, and in the one before.
    let (mut now, mut before) = (Bits::new(vertices.len()), Bits::filled(vertices.len()));
    loop {
        // Numbers with a change on their way to the root since their edges were looked at. What changes behind the back
        // of a number is met in the next pass.
        let mut stirred = Bits::new(vertices.len());
        let (mut has_changed, mut begin) = (false, 0u32);
        for (source, end) in (0u32..).zip(&ends) {
            let edges = targets.get(begin as usize..*end as usize).unwrap_or_default();
            begin = *end;
            let above = parents.get(source);
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
