//! Stacks of a page: one tree of calls for all samples, and the frames in it.

use super::columns::Columns;
use crate::model::{Frame, FrameHandle, FrameKind, Resolved};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Calls, outermost first. Node 0 stands for no call at all.
#[derive(Debug)]
pub(super) struct CallNodes {
    /// Parent and frame of each node.
    rows: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u32>,
    by_stack: HashMap<u32, u32>,
}

impl CallNodes {
    pub(super) fn new() -> CallNodes {
        CallNodes { rows: vec![(0, 0)], known: HashMap::new(), by_stack: HashMap::new() }
    }

    /// The node of a stack's innermost call. `frames`: innermost first.
    pub(super) fn leaf(&mut self, stack: u32, frames: &[FrameHandle]) -> u32 {
        if let Some(node) = self.by_stack.get(&stack) {
            return *node;
        }
        let mut node = 0;
        for frame in frames.iter().rev() {
            node = self.child(node, frame.0);
        }
        self.by_stack.insert(stack, node);
        node
    }

    fn child(&mut self, parent: u32, frame: u32) -> u32 {
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let node = *self.known.entry((parent, frame)).or_insert(next);
        if node == next {
            self.rows.push((parent, frame));
        }
        node
    }

    /// Writes nodes and those frames that they have.
    pub(super) fn write(self, resolved: &Resolved<'_>, columns: &mut Columns) -> Value {
        let mut numbers: HashMap<u32, u64> = HashMap::new();
        let mut frames: Vec<&Frame> = Vec::new();
        let all = resolved.all_frames();
        let mut number_of = |frame: u32| {
            *numbers.entry(frame).or_insert_with(|| {
                let number = frames.len() as u64;
                frames.extend(all.get(frame as usize));
                number
            })
        };
        let of_nodes: Vec<u64> = self.rows.iter().skip(1).map(|(_, frame)| number_of(*frame)).collect();
        columns.add_steps("nodes.parent", self.rows.iter().skip(1).map(|(parent, _)| i64::from(*parent)));
        columns.add("nodes.frame", of_nodes);
        let kind = |frame: &&Frame| match frame.kind {
            FrameKind::Managed => 0,
            FrameKind::Native => 1,
            FrameKind::Kernel => 2,
            FrameKind::Unknown => 3,
        };
        let named = |frame: &&Frame| u8::from(frame.is_named);
        json!({
            "text": frames.iter().map(|frame| &frame.text).collect::<Vec<_>>(),
            "module": frames.iter().map(|frame| &frame.module).collect::<Vec<_>>(),
            "namespace": frames.iter().map(|frame| &frame.namespace).collect::<Vec<_>>(),
            "kind": frames.iter().map(kind).collect::<Vec<_>>(),
            "named": frames.iter().map(named).collect::<Vec<_>>(),
        })
    }
}
