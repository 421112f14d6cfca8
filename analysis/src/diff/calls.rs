//! The call tree of one trace.
//!
//! It has a budget of nodes. Calls beyond it are merged, with their time, into nodes named
//! `(deeper)`.

use super::row_name::row_name;
use crate::model::{Call, CallNodes, Frame, Resolved, StackHandle, Totals};
use crate::numbering::Numbering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tree of the calls in which the threads of a trace ran. Callers come before their callees.
#[derive(Debug, Clone, Default)]
pub(super) struct TraceCalls {
    pub(super) nodes: Vec<CallOfTrace>,
    /// Frames by [`CallOfTrace::name`]. `None` is the frame of nodes named `(deeper)`.
    pub(super) frames: Vec<Option<NamedFrame>>,
}

/// A frame with the name of its rows.
#[derive(Debug, Clone)]
pub(super) struct NamedFrame {
    pub(super) frame: Arc<Frame>,
    pub(super) name: String,
}

impl NamedFrame {
    pub(super) fn new(frame: Arc<Frame>) -> NamedFrame {
        let name = row_name(&frame).into_owned();
        NamedFrame { frame, name }
    }
}

/// A node of the tree, except the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallOfTrace {
    /// One more than the index of the parent node; 0 is the root.
    pub(super) parent: u32,
    /// Index into the frames.
    pub(super) name: u32,
    /// Nanoseconds of samples whose stack ends in this call.
    pub(super) own: u64,
}

impl TraceCalls {
    /// Builds the tree of stacks, each with its nanoseconds.
    pub(super) fn new(resolved: &Resolved<'_>, stacks: &[(StackHandle, u64)]) -> TraceCalls {
        let path = |stack| resolved.frames(stack).iter().rev().map(|frame| Call::Frame(*frame));
        let mut tree = CallNodes::for_paths(|| stacks.iter().map(|(stack, _)| path(*stack)));
        for (stack, nanos) in stacks {
            tree.add(path(*stack), &Totals::at(0, 1, *nanos));
        }
        let mut calls = TraceCalls::default();
        let mut numbers = Numbering::default();
        let parents = tree.parents();
        calls.nodes.reserve_exact(parents.len().saturating_sub(1));
        for (at, parent) in parents.into_iter().enumerate().skip(1) {
            let node = tree.node(at);
            let (name, is_new) = numbers.add(node.call);
            if is_new {
                calls.frames.push(match node.call {
                    Some(Call::Frame(frame)) => resolved.frame(frame).cloned().map(NamedFrame::new),
                    _ => None,
                });
            }
            calls.nodes.push(CallOfTrace { parent: number(parent), name, own: node.self_weight });
        }
        calls
    }

    /// Returns the own time of methods that `is_lacking` accepts, by the nearest caller that it
    /// rejects. Methods are frames that `is_method` accepts. Methods with time below no such caller
    /// are left out.
    pub(super) fn by_nearest_caller(
        &self,
        is_method: &dyn Fn(&Frame) -> bool,
        is_lacking: &dyn Fn(&Frame) -> bool,
    ) -> BTreeMap<&str, BTreeMap<&str, u64>> {
        // Whether each frame is a method that is lacking, and its name if it is a method.
        let frames: Vec<(bool, Option<&str>)> = self
            .frames
            .iter()
            .map(|named| match named.as_ref().filter(|named| is_method(&named.frame)) {
                Some(named) => (is_lacking(&named.frame), Some(named.name.as_str())),
                None => (false, None),
            })
            .collect();
        let mut nearest: Vec<Option<&str>> = Vec::with_capacity(self.nodes.len());
        let mut found: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        let mut without: Vec<&str> = Vec::new();
        for node in &self.nodes {
            let above = (node.parent as usize).checked_sub(1);
            let above = above.and_then(|above| nearest.get(above)).copied().flatten();
            match frames.get(node.name as usize).copied().unwrap_or_default() {
                (true, Some(name)) => {
                    nearest.push(above);
                    match above.filter(|_| node.own > 0) {
                        Some(caller) => {
                            let sum = found.entry(name).or_default().entry(caller).or_default();
                            *sum = sum.saturating_add(node.own);
                        }
                        None if node.own > 0 => without.push(name),
                        None => {}
                    }
                }
                (_, name) => nearest.push(name),
            }
        }
        for name in without {
            found.remove(name);
        }
        found
    }
}

/// Converts an index. The budget keeps indices far below the maximum.
pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::FrameKind;

    /// Makes a chain of calls, of which the innermost takes `own` nanoseconds.
    pub(crate) fn chain(names: impl Iterator<Item = String>, own: u64) -> TraceCalls {
        let frame = |text| Arc::new(Frame::group(text, FrameKind::Managed));
        let frame = |text| Some(NamedFrame::new(frame(text)));
        let frames: Vec<_> = names.map(frame).collect();
        let last = number(frames.len()) - 1;
        let node = |at| CallOfTrace { parent: at, name: at, own: if at == last { own } else { 0 } };
        TraceCalls { nodes: (0..=last).map(node).collect(), frames }
    }

    #[test]
    fn the_time_of_methods_that_are_lacking_is_their_nearest_caller_s() {
        let lacking = |names: &'static [&'static str]| {
            move |frame: &Frame| names.contains(&frame.text.as_str())
        };
        let calls = chain(["a", "b", "c"].map(str::to_owned).into_iter(), 5);
        let by_caller = |names| calls.by_nearest_caller(&|_| true, &lacking(names));
        assert_eq!(by_caller(&["c"]), BTreeMap::from([("c", BTreeMap::from([("b", 5)]))]));
        assert_eq!(by_caller(&["b", "c"]), BTreeMap::from([("c", BTreeMap::from([("a", 5)]))]));
        assert_eq!(by_caller(&["a", "b", "c"]), BTreeMap::new());
        assert_eq!(by_caller(&["a"]), BTreeMap::new());
    }
}
