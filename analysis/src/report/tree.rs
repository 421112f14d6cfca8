//! Who called whom.

use super::{SCHEMA, percent};
use crate::model::{FrameHandle, Kind, Profile, Resolved};
use regex::Regex;
use std::collections::HashMap;

/// Which tree.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TreeOptions {
    /// Begins at the outermost frame whose text matches; with `is_callers` at the innermost.
    pub from: Option<Regex>,
    /// Turns the tree around: below a method are its callers.
    pub is_callers: bool,
    /// Leaves out nodes below this part of all wall time, in percent.
    pub min_percent: f64,
}

/// A call tree.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CallTree {
    /// Version of this document.
    pub schema: u32,
    /// CPU samples that the filter lets pass.
    pub samples: u64,
    /// Their weights' sum, in nanoseconds: what percentages are of.
    pub total_ns: u64,
    /// The median time between two samples of a thread, in nanoseconds; 0 without samples.
    pub period_ns: u64,
    /// The nodes: each in front of those below it, the heaviest first. A list and not nested
    /// objects, because stacks may be deeper than JSON readers allow.
    pub nodes: Vec<TreeNode>,
}

/// A node of a call tree.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TreeNode {
    /// 0 for roots; one more than its parent.
    pub depth: u32,
    /// The frame.
    pub name: String,
    /// Module's short name; empty if it is not known.
    pub module: String,
    /// Samples that end here.
    pub self_samples: u64,
    /// Samples that pass here.
    pub total_samples: u64,
    /// Wall time of the samples that end here, in nanoseconds.
    pub self_ns: u64,
    /// Wall time of the samples that pass here, in nanoseconds.
    pub total_ns: u64,
    /// Part of all wall time.
    pub self_percent: f64,
    /// Part of all wall time.
    pub total_percent: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    self_samples: u64,
    total_samples: u64,
    self_ns: u64,
    total_ns: u64,
}

/// A tree as it grows. Node 0 is above all roots.
#[derive(Debug, Default)]
struct Arena {
    nodes: Vec<(Option<FrameHandle>, Sums)>,
    children: HashMap<(usize, FrameHandle), usize>,
}

impl Arena {
    fn child(&mut self, parent: usize, frame: FrameHandle) -> usize {
        let next = self.nodes.len();
        let child = *self.children.entry((parent, frame)).or_insert(next);
        if child == next {
            self.nodes.push((Some(frame), Sums::default()));
        }
        child
    }

    fn add(&mut self, path: impl Iterator<Item = FrameHandle>, samples: u64, nanos: u64) {
        let mut at = 0;
        for frame in path {
            at = self.child(at, frame);
            if let Some((_, sums)) = self.nodes.get_mut(at) {
                sums.total_samples = sums.total_samples.saturating_add(samples);
                sums.total_ns = sums.total_ns.saturating_add(nanos);
            }
        }
        if let Some((_, sums)) = self.nodes.get_mut(at) {
            sums.self_samples = sums.self_samples.saturating_add(samples);
            sums.self_ns = sums.self_ns.saturating_add(nanos);
        }
    }
}

impl CallTree {
    /// Makes the tree of a trace's CPU samples.
    pub fn new(resolved: &Resolved<'_>, profile: &Profile, options: &TreeOptions) -> CallTree {
        let mut arena = Arena { nodes: vec![(None, Sums::default())], children: HashMap::new() };
        let wanted: Option<Vec<bool>> = options
            .from
            .as_ref()
            .map(|from| resolved.all_frames().iter().map(|frame| from.is_match(&frame.text)).collect());
        let (mut samples, mut total_ns) = (0u64, 0u64);
        for (key, totals) in profile.rows().iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            samples = samples.saturating_add(totals.samples);
            total_ns = total_ns.saturating_add(totals.weight);
            let is_wanted = |frame: &FrameHandle| {
                wanted.as_ref().is_none_or(|wanted| wanted.get(frame.index()).copied().unwrap_or(false))
            };
            if options.is_callers {
                let Some(at) = frames.iter().position(is_wanted) else { continue };
                let path = frames.get(at..).unwrap_or_default().iter().copied();
                arena.add(path, totals.samples, totals.weight);
            } else {
                let Some(at) = frames.iter().rposition(is_wanted) else { continue };
                let path = frames.get(..=at).unwrap_or_default().iter().rev().copied();
                arena.add(path, totals.samples, totals.weight);
            }
        }
        let nodes = listed(&arena, resolved, options.min_percent, total_ns);
        CallTree {
            schema: SCHEMA,
            samples,
            total_ns,
            period_ns: resolved.model().period_nanos().unwrap_or(0),
            nodes,
        }
    }
}

fn listed(arena: &Arena, resolved: &Resolved<'_>, min_percent: f64, whole: u64) -> Vec<TreeNode> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); arena.nodes.len()];
    for ((parent, _), child) in &arena.children {
        if let Some(list) = below.get_mut(*parent) {
            list.push(*child);
        }
    }
    let rank = |node: &usize| {
        let (frame, sums) = arena.nodes.get(*node).copied().unwrap_or_default();
        (sums.total_ns, sums.total_samples, frame.map_or("", |frame| resolved.text(frame)))
    };
    for list in &mut below {
        // The lightest first: the last one is taken first.
        list.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| b.2.cmp(a.2))
        });
    }
    let mut nodes = Vec::new();
    let roots = below.first().cloned().unwrap_or_default();
    let mut waiting: Vec<(usize, u32)> = roots.into_iter().map(|node| (node, 0)).collect();
    while let Some((node, depth)) = waiting.pop() {
        let Some((Some(frame), sums)) = arena.nodes.get(node).copied() else { continue };
        let total_percent = percent(sums.total_ns, whole);
        if total_percent < min_percent {
            continue;
        }
        nodes.push(TreeNode {
            depth,
            name: resolved.text(frame).to_owned(),
            module: resolved.frame(frame).map(|frame| frame.module.clone()).unwrap_or_default(),
            self_samples: sums.self_samples,
            total_samples: sums.total_samples,
            self_ns: sums.self_ns,
            total_ns: sums.total_ns,
            self_percent: percent(sums.self_ns, whole),
            total_percent,
        });
        let children = below.get(node).into_iter().flatten();
        waiting.extend(children.map(|child| (*child, depth.saturating_add(1))));
    }
    nodes
}
