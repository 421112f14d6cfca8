//! The outermost frames of stacks that have lost their callers, for timelines: a thread keeps
//! the methods that all its other stacks begin with, so their spans go on.

use crate::model::{FrameHandle, Resolved, StackHandle, TimedSample, Track};
use std::collections::HashMap;

/// The stacks of a thread's samples.
pub(super) struct Roots<'r, 'm> {
    resolved: &'r Resolved<'m>,
    /// Those that have lost their callers, with the thread's outermost frames.
    cut: HashMap<StackHandle, Vec<FrameHandle>>,
}

impl<'r, 'm> Roots<'r, 'm> {
    pub(super) fn new(track: &Track, resolved: &'r Resolved<'m>) -> Roots<'r, 'm> {
        let mut roots = Roots { resolved, cut: HashMap::new() };
        if !track.samples().any(|sample| resolved.is_cut_off(sample.stack)) {
            return roots;
        }
        let mut common: Option<&[FrameHandle]> = None;
        for sample in track.samples().filter(|sample| !resolved.is_cut_off(sample.stack)) {
            let frames = resolved.frames(sample.stack);
            if frames.is_empty() {
                continue;
            }
            let before = common.unwrap_or(frames);
            let pairs = before.iter().rev().zip(frames.iter().rev());
            let count = pairs.take_while(|(one, other)| one == other).count();
            common = before.get(before.len().saturating_sub(count)..);
        }
        let common = common.unwrap_or_default();
        for sample in track.samples().filter(|sample| resolved.is_cut_off(sample.stack)) {
            let stack = resolved.sample_stack(sample.stack, sample.mode);
            roots.cut.entry(stack).or_insert_with(|| {
                let frames = resolved.frames(stack);
                frames.iter().chain(common).copied().collect()
            });
        }
        roots
    }

    /// The frames of a sample, innermost first; `None` if it is not shown.
    pub(super) fn frames(&self, sample: &TimedSample) -> Option<&[FrameHandle]> {
        let frames = self.resolved.selected(sample.stack, sample.mode)?;
        if self.cut.is_empty() {
            return Some(frames);
        }
        let stack = self.resolved.sample_stack(sample.stack, sample.mode);
        Some(self.cut.get(&stack).map_or(frames, |frames| frames))
    }
}
