//! The joined call tree of both sides of a comparison.
//!
//! It has a budget of nodes. Calls beyond it are merged, with their time, into nodes named
//! `(deeper)`.

use super::calls::{NamedFrame, TraceCalls, number};
use crate::hash::HashMap;
use crate::model::CallNodes;

/// Tree of the calls of both sides, callers first.
#[derive(Debug, Default)]
pub(super) struct BothSides<'c> {
    pub(super) nodes: Vec<CallOfBoth>,
    /// Frames by [`CallOfBoth::name`]. `None` is the frame of nodes named `(deeper)`.
    pub(super) frames: Vec<Option<&'c NamedFrame>>,
    /// Indices of frames by their names.
    numbers: HashMap<Option<&'c str>, u32>,
    known: HashMap<(u32, u32), u32>,
    /// Number of nodes named `(deeper)`.
    deeper: usize,
    /// Maximum number of nodes with a frame.
    most: usize,
}

/// A node of the joined tree, except the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallOfBoth {
    /// One more than the index of the parent node; 0 is the root.
    pub(super) parent: u32,
    /// Index into the frames.
    pub(super) name: u32,
    /// Nanoseconds of samples whose stack ends in this call, old and new.
    pub(super) own: [u64; 2],
}

/// Node of the joined tree that a call of a trace belongs to.
#[derive(Debug, Clone, Copy, Default)]
struct TreePlace {
    /// One more than the index of the node; 0 is the root.
    node: u32,
    /// Whether the budget had no room for the call. Its callees belong to the same node then.
    is_beyond: bool,
}

impl<'c> BothSides<'c> {
    /// Joins the calls of the old traces and of the new ones.
    pub(super) fn new<C>(sides: [C; 2]) -> BothSides<'c>
    where
        C: Iterator<Item = &'c TraceCalls>,
    {
        BothSides::within(CallNodes::MAX_NODES, sides)
    }

    /// Joins the calls into at most `most` nodes with a frame, and an eighth as many named
    /// `(deeper)`.
    fn within<C>(most: usize, sides: [C; 2]) -> BothSides<'c>
    where
        C: Iterator<Item = &'c TraceCalls>,
    {
        let mut both = BothSides { most, ..BothSides::default() };
        let traces: Vec<(usize, &TraceCalls)> = sides
            .into_iter()
            .enumerate()
            .flat_map(|(side, traces)| traces.map(move |calls| (side, calls)))
            .collect();
        let all =
            traces.iter().fold(0usize, |sum, (_, calls)| sum.saturating_add(calls.nodes.len()));
        if all <= most {
            for (side, calls) in traces {
                let mut added = Added::new(side, calls);
                (0..calls.nodes.len()).for_each(|at| both.add(&mut added, at));
            }
            return both;
        }
        // The outermost calls of all traces come first. Otherwise the first traces could use up the
        // budget, and equal calls of the other side would have no name.
        let depths: Vec<Vec<u32>> = traces.iter().map(|(_, calls)| depths(calls)).collect();
        let mut order: Vec<(u32, u32, u32)> = Vec::with_capacity(all);
        for (trace, depths) in depths.into_iter().enumerate() {
            let of_trace = depths.into_iter().enumerate();
            order.extend(of_trace.map(|(at, depth)| (depth, number(at), number(trace))));
        }
        order.sort_unstable();
        let mut added: Vec<Added<'_>> =
            traces.into_iter().map(|(side, calls)| Added::new(side, calls)).collect();
        for (_, at, trace) in order {
            if let Some(trace) = added.get_mut(trace as usize) {
                both.add(trace, at as usize);
            }
        }
        both
    }

    /// Adds a call of a trace, whose callers were added before.
    fn add(&mut self, trace: &mut Added<'c>, at: usize) {
        let calls = trace.calls;
        let Some(node) = calls.nodes.get(at) else { return };
        let above = (node.parent as usize).checked_sub(1);
        let above = above.and_then(|above| trace.places.get(above)).copied().unwrap_or_default();
        let place = match calls.frames.get(node.name as usize) {
            Some(frame) if !above.is_beyond => self.place(above.node, frame.as_ref()),
            _ => above,
        };
        if let Some(known) = trace.places.get_mut(at) {
            *known = place;
        }
        let node_of_both = (place.node as usize).checked_sub(1);
        let node_of_both = node_of_both.and_then(|at| self.nodes.get_mut(at));
        if let Some(own) = node_of_both.and_then(|both| both.own.get_mut(trace.side)) {
            *own = own.saturating_add(node.own);
        }
    }

    fn place(&mut self, parent: u32, frame: Option<&'c NamedFrame>) -> TreePlace {
        if let Some(node) = self.child(parent, frame) {
            return TreePlace { node, is_beyond: false };
        }
        let node = self.child(parent, None).unwrap_or(parent);
        TreePlace { node, is_beyond: true }
    }

    /// Returns the child of a node that has this frame, and adds it if there is room.
    fn child(&mut self, parent: u32, frame: Option<&'c NamedFrame>) -> Option<u32> {
        let of_frame = frame.map(|frame| frame.name.as_str());
        let known = self.numbers.get(&of_frame).copied();
        if let Some(name) = known
            && let Some(child) = self.known.get(&(parent, name))
        {
            return Some(*child);
        }
        let is_deeper = frame.is_none();
        let has_room = match is_deeper {
            true => self.deeper < self.most / 8,
            false => self.nodes.len().saturating_sub(self.deeper) < self.most,
        };
        if !has_room {
            return None;
        }
        let name = known.unwrap_or_else(|| {
            let next = number(self.frames.len());
            self.numbers.insert(of_frame, next);
            self.frames.push(frame);
            next
        });
        self.deeper = self.deeper.saturating_add(usize::from(is_deeper));
        self.nodes.push(CallOfBoth { parent, name, own: [0; 2] });
        let child = number(self.nodes.len());
        self.known.insert((parent, name), child);
        Some(child)
    }
}

/// A trace whose calls are being added.
struct Added<'c> {
    side: usize,
    calls: &'c TraceCalls,
    /// Place of each call in the joined tree.
    places: Vec<TreePlace>,
}

impl<'c> Added<'c> {
    fn new(side: usize, calls: &'c TraceCalls) -> Added<'c> {
        Added { side, calls, places: vec![TreePlace::default(); calls.nodes.len()] }
    }
}

/// Returns the depth of each call of a trace. Children of the root have depth 1.
fn depths(calls: &TraceCalls) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(calls.nodes.len());
    for node in &calls.nodes {
        let above = (node.parent as usize).checked_sub(1);
        let above = above.and_then(|above| depths.get(above)).copied().unwrap_or(0);
        depths.push(above.saturating_add(1));
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::super::calls::CallOfTrace;
    use super::super::calls::tests::chain;
    use super::*;
    use crate::model::Frame;
    use std::slice;
    use std::sync::Arc;

    fn own(both: &BothSides<'_>) -> [u64; 2] {
        both.nodes.iter().fold([0; 2], |sum, node| [sum[0] + node.own[0], sum[1] + node.own[1]])
    }

    #[test]
    fn equal_calls_of_both_sides_are_one_node_with_the_time_of_each() {
        let (old, new) = (
            chain(["a", "b"].map(str::to_owned).into_iter(), 5),
            chain(["a", "c"].map(str::to_owned).into_iter(), 7),
        );
        let both = BothSides::new([slice::from_ref(&old), slice::from_ref(&new)].map(<[_]>::iter));
        let rows: Vec<_> = both
            .nodes
            .iter()
            .map(|node| {
                (node.parent, both.frames[node.name as usize].unwrap().name.as_str(), node.own)
            })
            .collect();
        assert_eq!(rows, [(0, "a", [0, 0]), (1, "b", [5, 0]), (1, "c", [0, 7])]);
    }

    #[test]
    fn the_handlers_of_one_endpoint_are_one_node_whatever_the_runtime_calls_them() {
        let side = |method, own| {
            let frame = Frame::from_names("A", "dynamicClass", method, "void ()");
            let frame = Frame { is_handler: true, endpoint: Some("GET /sync".into()), ..frame };
            let frames = vec![Some(NamedFrame::new(Arc::new(frame)))];
            TraceCalls { nodes: vec![CallOfTrace { parent: 0, name: 0, own }], frames }
        };
        let (old, new) = (side("lambda_method137", 5), side("lambda_method142", 7));
        let both = BothSides::new([slice::from_ref(&old), slice::from_ref(&new)].map(<[_]>::iter));
        let [node] = both.nodes.as_slice() else { panic!("{:?}", both.nodes) };
        assert_eq!((both.frames[0].unwrap().name.as_str(), node.own), ("GET /sync", [5, 7]));
    }

    #[test]
    fn beyond_the_budget_both_sides_keep_their_outermost_calls_and_all_time() {
        let named = |side: &'static str, count: u32| {
            (0..count)
                .map(move |at| if at == 0 { "Main".to_owned() } else { format!("{side}{at}") })
        };
        let (old, new) = (chain(named("old", 100), 5), chain(named("new", 50), 7));
        let both =
            BothSides::within(41, [slice::from_ref(&old), slice::from_ref(&new)].map(<[_]>::iter));
        let of = |side: &str| {
            both.frames.iter().flatten().filter(|frame| frame.name.starts_with(side)).count()
        };
        // One for both, then as many of each side, and one after each.
        assert_eq!((of("Main"), of("old"), of("new"), both.nodes.len()), (1, 20, 20, 43));
        assert_eq!(own(&both), [5, 7]);
        let deeper = both.frames.iter().position(Option::is_none).unwrap();
        let ends: Vec<[u64; 2]> = both
            .nodes
            .iter()
            .filter(|node| node.name as usize == deeper)
            .map(|node| node.own)
            .collect();
        assert_eq!(ends, [[5, 0], [0, 7]]);
    }

    #[test]
    fn time_of_frames_beyond_the_budget_counts_for_the_caller() {
        let names = |side: &'static str| (0..9).map(move |at| format!("{side}{at}"));
        let (old, new) = (chain(names("old"), 5), chain(names("new"), 7));
        let both =
            BothSides::within(7, [slice::from_ref(&old), slice::from_ref(&new)].map(<[_]>::iter));
        assert_eq!((both.nodes.len(), own(&both)), (7, [5, 7]));
        assert!(both.frames.iter().all(Option::is_some));
    }
}
