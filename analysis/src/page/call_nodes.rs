//! Stacks of a page: a call tree of all samples, and its frames.

use crate::fact::thinned::Thinning;
use crate::hash::HashMap;
use crate::html::Columns;
use crate::model::{
    Call, Frame, FrameCall, FrameHandle, FrameKind, NameOrigin, Resolved, is_framework, shows_async,
};
use crate::numbering::Numbering;
use crate::report::is_dispatch;
use crate::words::page::REST;
use serde_json::{Value, json};

/// Maximum number of nodes for calls. Real traces have tens of thousands.
const MAX_NODES: usize = 1 << 20;
/// Maximum number of further nodes that stand for all calls of a caller for which there is no room.
/// When these are used up, too, such calls count for their caller.
const MAX_DEEPER_NODES: usize = MAX_NODES / 8;
/// Frame of nodes for calls without room.
const DEEPER: u32 = u32::MAX;
/// Frame of samples whose stack is not kept.
const REST_FRAME: u32 = u32::MAX - 1;

/// The call tree of all threads and all kinds of samples. Node 0 is the empty stack.
#[derive(Debug)]
pub(super) struct CallNodeColumns {
    /// Parent and frame of each node.
    rows: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u32>,
    by_stack: HashMap<u32, u32>,
    /// Number of stacks that do not fit.
    cut: u64,
}

impl CallNodeColumns {
    pub(super) fn new() -> CallNodeColumns {
        CallNodeColumns {
            rows: vec![(0, 0)],
            known: HashMap::default(),
            by_stack: HashMap::default(),
            cut: 0,
        }
    }

    /// Returns the node of a stack's innermost call. `frames` has the innermost first.
    pub(super) fn leaf(&mut self, stack: u32, frames: &[FrameHandle]) -> u32 {
        if let Some(node) = self.by_stack.get(&stack) {
            return *node;
        }
        let mut node = 0;
        for frame in frames.iter().rev() {
            let Some(child) = self.child(node, frame.0, MAX_NODES) else {
                self.cut = self.cut.saturating_add(1);
                let most = MAX_NODES.saturating_add(MAX_DEEPER_NODES);
                node = self.child(node, DEEPER, most).unwrap_or(node);
                break;
            };
            node = child;
        }
        self.by_stack.insert(stack, node);
        node
    }

    /// Returns the node of samples whose stacks are not kept.
    pub(super) fn rest(&mut self) -> u32 {
        self.child(0, REST_FRAME, MAX_NODES.saturating_add(MAX_DEEPER_NODES)).unwrap_or(0)
    }

    /// Returns the child of a node for a frame, which is added if there are fewer than `most`
    /// nodes.
    fn child(&mut self, parent: u32, frame: u32, most: usize) -> Option<u32> {
        if let Some(node) = self.known.get(&(parent, frame)) {
            return Some(*node);
        }
        let node = u32::try_from(self.rows.len()).ok().filter(|_| self.rows.len() < most)?;
        self.known.insert((parent, frame), node);
        self.rows.push((parent, frame));
        Some(node)
    }

    /// Returns how stacks that do not fit are shown; `None` if all fit.
    pub(super) fn thinning(&self) -> Option<Thinning> {
        (self.cut > 0).then_some(Thinning::Deeper { max_calls: MAX_NODES as u64 })
    }

    /// Writes the nodes and the frames that they use.
    pub(super) fn write(self, resolved: &Resolved<'_>, columns: &mut Columns) -> Value {
        let mut numbers = Numbering::default();
        let of_nodes: Vec<u64> =
            self.rows.iter().skip(1).map(|(_, frame)| numbers.number(*frame).into()).collect();
        let all = resolved.all_frames();
        // Nodes that stand for several calls have a name instead of a frame.
        let frame_or_name = |frame: u32| {
            let name = if frame == REST_FRAME { REST } else { Call::DEEPER };
            all.get(frame as usize).map(|frame| &**frame).ok_or(name)
        };
        let frames: Vec<_> = numbers.into_values().into_iter().map(frame_or_name).collect();
        columns.add_steps(
            "nodes.parent",
            self.rows.iter().skip(1).map(|(parent, _)| i64::from(*parent)),
        );
        columns.add("nodes.frame", of_nodes);
        let kind = |frame: &Result<&Frame, _>| match frame.map(|frame| frame.kind) {
            Ok(FrameKind::Managed) => 0,
            Ok(FrameKind::Native) => 1,
            Ok(FrameKind::Kernel) => 2,
            Ok(FrameKind::Unknown) | Err(_) => 3,
        };
        let named =
            |frame: &Result<&Frame, _>| u8::from(frame.map_or(true, |frame| frame.is_named()));
        let flag =
            |frame: &Result<&Frame, _>, of: fn(&Frame) -> bool| u8::from(frame.is_ok_and(of));
        let handler = |frame: &Result<&Frame, _>| frame.ok().and_then(Frame::handler_name);
        let texts = |of: fn(&Frame) -> &str| -> Vec<&str> {
            frames.iter().map(|frame| frame.map_or("", of)).collect()
        };
        let mut written = json!({
            "text": frames.iter().map(|frame| frame.map_or_else(|name| name, |frame| &*frame.text)).collect::<Vec<_>>(),
            "module": texts(|frame| &frame.module),
            "namespace": texts(|frame| &frame.namespace),
            "type": texts(|frame| &frame.type_name),
            "method": texts(|frame| &frame.method),
            "kind": frames.iter().map(kind).collect::<Vec<_>>(),
            "handler": frames.iter().map(handler).collect::<Vec<_>>(),
            "framework": frames.iter().map(|frame| flag(frame, is_foreign)).collect::<Vec<_>>(),
            "carrier": frames.iter().map(|frame| flag(frame, shows_async)).collect::<Vec<_>>(),
            "dispatch": frames.iter().map(|frame| flag(frame, is_dispatch)).collect::<Vec<_>>(),
            "machine": frames.iter().map(|frame| flag(frame, |frame| frame.is_machine)).collect::<Vec<_>>(),
            "async": async_methods(&frames),
            "named": frames.iter().map(named).collect::<Vec<_>>(),
            "nobody": frames.iter().map(|frame| u8::from(frame.map_or(true, is_nobodys))).collect::<Vec<_>>(),
        });
        let Some(members) = written.as_object_mut() else { return written };
        // Only traces with readings have such frames.
        let waking: Vec<u8> = frames.iter().map(|frame| flag(frame, is_waking)).collect();
        if waking.contains(&1) {
            members.insert("waking".to_owned(), json!(waking));
            members.insert("waking_text".to_owned(), json!(FrameCall::Waking.text()));
        }
        let lines: Vec<_> = frames.iter().map(|frame| frame.ok()?.line.as_ref()).collect();
        if lines.iter().any(Option::is_some) {
            members.insert("line".to_owned(), json!(lines));
        }
        written
    }
}

/// Returns whether a frame stands for going to sleep and waking.
fn is_waking(frame: &Frame) -> bool {
    frame.call == Some(FrameCall::Waking)
}

/// Returns whether a frame is code of the framework, and does not stand for the user's.
fn is_foreign(frame: &Frame) -> bool {
    is_framework(frame) && !frame.is_handler
}

/// Returns whether a frame is nobody's code: an address, or a label for several frames, such as
/// `(recording)`.
fn is_nobodys(frame: &Frame) -> bool {
    match frame.origin {
        NameOrigin::Method | NameOrigin::Symbol => false,
        NameOrigin::Module => frame.module.is_empty(),
        NameOrigin::Address | NameOrigin::Label => true,
    }
}

/// Returns a number for each frame that is equal for an async method and its state machine, and 0
/// for frames without a state machine on any stack.
fn async_methods(frames: &[Result<&Frame, &str>]) -> Vec<u64> {
    let machines = frames.iter().flatten().filter(|frame| frame.is_machine);
    let mut numbers = HashMap::default();
    for frame in machines {
        let next = (numbers.len() as u64).saturating_add(1);
        numbers.entry(frame.async_method).or_insert(next);
    }
    let number = |frame: &Result<&Frame, &str>| match frame {
        Ok(frame) if frame.async_method != 0 => numbers.get(&frame.async_method).copied(),
        _ => None,
    };
    frames.iter().map(|frame| number(frame).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_are_one_node_and_beyond_the_budget_there_is_one_for_all() {
        let mut nodes = CallNodeColumns::new();
        let frames = |of: std::ops::Range<u32>| of.map(FrameHandle).collect::<Vec<_>>();
        let shared = frames(0..24);
        assert_eq!(nodes.leaf(1, &shared), nodes.leaf(2, &shared));
        assert_eq!((nodes.rows.len(), nodes.thinning()), (25, None));
        let many = u32::try_from(MAX_NODES).unwrap();
        let deep = nodes.leaf(3, &frames(100..100 + many));
        assert_eq!(nodes.rows.len(), MAX_NODES + 1);
        assert_eq!(nodes.rows.last().map(|(_, frame)| *frame), Some(DEEPER));
        assert_eq!(deep as usize, MAX_NODES);
        assert!(nodes.thinning().is_some());
        // Known nodes stay, and all new calls of a caller share a node.
        assert_eq!(nodes.leaf(4, &shared), 24);
        let first = nodes.leaf(5, &frames(0..1));
        assert_eq!((first, nodes.leaf(6, &frames(1..2))), (MAX_NODES as u32 + 1, first));
    }
}
