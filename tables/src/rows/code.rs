//! Makes the rows of the tables of stacks, frames and methods. Their ids are equal in all traces.

use super::RowPrefix;
use crate::bytes;
use crate::hash::{id_of, id_of_texts};
use crate::sheet::Sheet;
use nettrace_analysis::{Frame, FrameKind, Resolved};
use std::collections::HashSet;

/// The stacks, frames and methods of a trace.
pub(crate) struct Code<'r> {
    resolved: &'r Resolved<'r>,
    /// Id of each frame, by its handle.
    frame_ids: Vec<i64>,
    /// Id of each stack, by its handle; `None` for a stack without frames.
    stack_ids: Vec<Option<i64>>,
}

impl<'r> Code<'r> {
    pub(crate) fn new(resolved: &'r Resolved<'r>) -> Code<'r> {
        let frame_ids: Vec<i64> = resolved
            .all_frames()
            .iter()
            .map(|frame| id_of_texts(&[kind_name(frame.kind), &frame.text]))
            .collect();
        let mut ids = Vec::new();
        let stack_ids =
            resolved.model().stacks().map(|stack| {
                let frames = resolved.frames(stack);
                ids.clear();
                // The id of a stack is equal on all machines.
                ids.extend(frames.iter().map(|frame| {
                    frame_ids.get(frame.index()).copied().unwrap_or_default().to_le()
                }));
                (!frames.is_empty()).then(|| id_of(bytes::of_numbers(&ids)))
            });
        let stack_ids = stack_ids.collect();
        Code { resolved, frame_ids, stack_ids }
    }

    pub(crate) fn into_stack_ids(self) -> Vec<Option<i64>> {
        self.stack_ids
    }

    pub(crate) fn write(
        &self,
        stacks: Option<&mut Sheet>,
        frames: Option<&mut Sheet>,
        methods: Option<&mut Sheet>,
        prefix: RowPrefix,
    ) {
        if let Some(sheet) = stacks {
            self.write_stacks(sheet, prefix);
        }
        if let Some(sheet) = frames {
            for (frame, id) in self.resolved.all_frames().iter().zip(&self.frame_ids) {
                let mut row = sheet.row();
                row.whole(prefix.input_id);
                row.whole(*id);
                row.text(kind_name(frame.kind));
                row.text(&*frame.text);
                row.whole(method_id(frame));
                row.flag(frame.is_named());
                row.flag(frame.is_guessed);
                let at = frame.line.as_ref();
                row.text(at.map(|at| &*at.file));
                row.whole(at.map(|at| i64::from(at.line)));
                row.flag(at.map(|at| at.is_first));
                row.text(at.and_then(|at| at.url.as_deref()));
                let bytes = row.end();
                sheet.end_row(bytes);
            }
        }
        let Some(sheet) = methods else { return };
        let mut written = HashSet::new();
        for frame in self.resolved.all_frames() {
            let Some(id) = method_id(frame).filter(|id| written.insert(*id)) else { continue };
            let mut row = sheet.row();
            row.whole(prefix.input_id);
            row.whole(id);
            row.text(&*frame.module);
            row.text(&*frame.namespace);
            row.text(&*frame.type_name);
            row.text(&*frame.method);
            let bytes = row.end();
            sheet.end_row(bytes);
        }
    }

    fn write_stacks(&self, sheet: &mut Sheet, prefix: RowPrefix) {
        let mut written = HashSet::new();
        let mut seen = HashSet::new();
        for (stack, id) in self.resolved.model().stacks().zip(&self.stack_ids) {
            let Some(id) = id.filter(|id| written.insert(*id)) else { continue };
            seen.clear();
            for (depth, frame) in self.resolved.frames(stack).iter().enumerate() {
                let mut row = sheet.row();
                row.whole(prefix.input_id);
                row.whole(id);
                row.small(i32::try_from(depth).unwrap_or(i32::MAX));
                row.whole(self.frame_ids.get(frame.index()).copied().unwrap_or_default());
                row.flag(seen.insert(*frame));
                let bytes = row.end();
                sheet.end_row(bytes);
            }
        }
    }
}

fn method_id(frame: &Frame) -> Option<i64> {
    let Frame { module, namespace, type_name, method, .. } = frame;
    (frame.is_named() && !frame.is_guessed)
        .then(|| id_of_texts(&[module, namespace, type_name, method]))
}

fn kind_name(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Managed => "managed",
        FrameKind::Native => "native",
        FrameKind::Kernel => "kernel",
        _ => "unknown",
    }
}
