//! Finds the missing outermost frames of stacks that have lost their callers, for timelines. They
//! are the frames that the thread's whole stacks before and after have in common.

use crate::hash::HashMap;
use crate::model::{FrameHandle, Resolved, StackHandle, TimedSample, Track};

/// Stacks of a thread's samples, completed by missing outermost frames.
pub(super) struct Roots<'r, 'm> {
    resolved: &'r Resolved<'m>,
    /// Runs of consecutive samples whose stacks have lost their callers, in time order.
    runs: Vec<Run<'r>>,
    /// Frames of each stack that has lost its callers, completed by those of its run, by run and
    /// stack.
    cut: HashMap<(usize, StackHandle), Vec<FrameHandle>>,
}

struct Run<'r> {
    from_nanos: i64,
    /// Outermost frames that the whole stacks before and after the run have in common, innermost
    /// first.
    base: &'r [FrameHandle],
}

impl<'r, 'm> Roots<'r, 'm> {
    pub(super) fn new(track: &Track, resolved: &'r Resolved<'m>) -> Roots<'r, 'm> {
        let mut roots = Roots { resolved, runs: Vec::new(), cut: HashMap::default() };
        let mut before: &'r [FrameHandle] = &[];
        let mut is_in_run = false;
        for sample in track.samples() {
            if resolved.is_cut_off(sample.stack) {
                if !is_in_run {
                    // Until the stack after the run is known, the run has the thread's outermost
                    // frame.
                    let outermost = before.len().saturating_sub(1);
                    let base = before.get(outermost..).unwrap_or_default();
                    roots.runs.push(Run { from_nanos: sample.nanos, base });
                }
                is_in_run = true;
                continue;
            }
            let frames = resolved.frames(sample.stack);
            if let Some(run) = roots.runs.last_mut().filter(|_| is_in_run) {
                let pairs = before.iter().rev().zip(frames.iter().rev());
                let count = pairs.take_while(|(one, other)| one == other).count();
                run.base = before.get(before.len().saturating_sub(count)..).unwrap_or_default();
            }
            (before, is_in_run) = (frames, false);
        }
        for sample in track.samples().filter(|sample| resolved.is_cut_off(sample.stack)) {
            let Some(run) = roots.run(&sample) else { continue };
            let base = roots.runs.get(run).map_or(&[][..], |run| run.base);
            let stack = resolved.sample_stack(sample.stack, sample.mode);
            roots
                .cut
                .entry((run, stack))
                .or_insert_with(|| resolved.frames(stack).iter().chain(base).copied().collect());
        }
        roots
    }

    /// Returns the index of a sample's run if its stack has lost its callers. The added frames
    /// differ between runs.
    pub(super) fn run(&self, sample: &TimedSample) -> Option<usize> {
        if self.runs.is_empty() || !self.resolved.is_cut_off(sample.stack) {
            return None;
        }
        self.runs.partition_point(|run| run.from_nanos <= sample.nanos).checked_sub(1)
    }

    /// Returns the frames of a sample, innermost first; `None` if it is not shown.
    pub(super) fn frames(&self, sample: &TimedSample) -> Option<&[FrameHandle]> {
        let frames = self.resolved.selected(sample.stack, sample.mode)?;
        let Some(run) = self.run(sample) else { return Some(frames) };
        let stack = self.resolved.sample_stack(sample.stack, sample.mode);
        Some(self.cut.get(&(run, stack)).map_or(frames, |frames| frames))
    }
}
