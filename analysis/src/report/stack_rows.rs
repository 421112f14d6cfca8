//! Stacks of a report, heaviest first.

use super::counts::increase;
use crate::model::{Frame, FrameHandle, FrameKind, Resolved, SourceLine, StackHandle};
use crate::sorted::SortFew;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Stack with its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StackRow {
    /// Weight of the stack: a number of occurrences, or nanoseconds or samples if the report says
    /// so.
    pub count: u64,
    /// Frames, innermost first; empty if the trace has no stack. The last is `(N more frames)` if
    /// the frames of the document would take too much memory.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "crate::model::with_lines"))]
    pub frames: Vec<Arc<Frame>>,
    /// Indices in `frames`, from 0, of frames with guessed names
    /// ([`Frame::is_guessed`](crate::Frame::is_guessed)).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

/// Returns a stack's frames, which a document shares with `resolved`.
pub(crate) fn shared_frames(resolved: &Resolved<'_>, frames: &[FrameHandle]) -> Vec<Arc<Frame>> {
    let unknown = || Arc::new(Frame::group("?".to_owned(), FrameKind::Unknown));
    frames.iter().map(|frame| resolved.frame(*frame).map_or_else(unknown, Arc::clone)).collect()
}

/// Returns the indices of frames whose names are guesses.
pub(crate) fn guessed_of(resolved: &Resolved<'_>, frames: &[FrameHandle]) -> Vec<usize> {
    let is_guessed =
        |frame: &FrameHandle| resolved.frame(*frame).is_some_and(|frame| frame.is_guessed);
    let places = frames.iter().enumerate().filter(|(_, frame)| is_guessed(frame));
    places.map(|(place, _)| place).collect()
}

/// Maximum number of bytes that the frames of a document take, in lists and as texts. A stream has
/// a stack once, but a document may repeat it in ten thousand rows. Documents of real traces need
/// at most a fifth.
const MAX_FRAME_BYTES: usize = 8 << 20;
/// Number of bytes that a frame takes beside its text, in a list and as a value of a document.
const FRAME_BYTES: usize = 64;

/// Makes the frames that a document shows, row by row. The most important rows must come first,
/// because the frames of later rows may find no room.
pub(crate) struct ShownFrames<'r, 'm> {
    resolved: &'r Resolved<'m>,
    room: usize,
}

impl<'r, 'm> ShownFrames<'r, 'm> {
    pub(crate) fn new(resolved: &'r Resolved<'m>) -> ShownFrames<'r, 'm> {
        ShownFrames { resolved, room: MAX_FRAME_BYTES }
    }

    pub(crate) fn resolved(&self) -> &'r Resolved<'m> {
        self.resolved
    }

    /// Returns the frames of a stack that are shown, and the indices of those with guessed names.
    /// If there is no room for all, these are the innermost ones and `(N more frames)`.
    pub(crate) fn names(&mut self, frames: &[FrameHandle]) -> (Vec<Arc<Frame>>, Vec<usize>) {
        // One stack must leave room for others.
        let most = self.room.min(MAX_FRAME_BYTES / 8);
        let (mut count, mut taken) = (0usize, 0usize);
        for frame in frames {
            let line = self.resolved.frame(*frame).and_then(|frame| frame.line.as_ref());
            let bytes = [self.resolved.text(*frame).len(), line.map_or(0, SourceLine::bytes)];
            let with_it = bytes.into_iter().fold(taken, usize::saturating_add);
            let with_it = with_it.saturating_add(FRAME_BYTES);
            if with_it > most {
                break;
            }
            (count, taken) = (count.saturating_add(1), with_it);
        }
        self.room = self.room.saturating_sub(taken);
        let shown = frames.get(..count).unwrap_or(frames);
        let mut rows = shared_frames(self.resolved, shown);
        let more = match frames.len().saturating_sub(count) {
            0 => None,
            1 => Some("(1 more frame)".to_owned()),
            more => Some(format!("({more} more frames)")),
        };
        rows.extend(more.map(|text| Arc::new(Frame::group(text, FrameKind::Unknown))));
        (rows, guessed_of(self.resolved, shown))
    }
}

/// Returns whether a frame resumes async methods without state machines.
pub(crate) fn is_of_runtime_async(frame: &Frame) -> bool {
    frame.namespace == "System.Runtime.CompilerServices"
        && frame.type_name.starts_with("AsyncHelpers")
        && matches!(&*frame.method, "DispatchContinuations" | "MoveNext")
}

/// Returns whether a method belongs to the task library or emits its events. Such methods are the
/// innermost frames of a stack that schedules or awaits a task.
pub(crate) fn is_of_task_library(frame: &Frame) -> bool {
    let namespaces =
        ["System.Diagnostics.Tracing", "System.Threading.Tasks", "System.Runtime.CompilerServices"];
    namespaces.iter().any(|namespace| frame.is_in_namespace(namespace))
        || frame.namespace == "System.Threading" && frame.type_name.starts_with("ThreadPool")
}

/// Returns whether a method of the runtime searches for a catch block. From .NET 9 on, such methods
/// are the innermost frames of a stack that throws.
pub(crate) fn is_dispatch(frame: &Frame) -> bool {
    frame.namespace == "System.Runtime" && frame.is_method_of("EH", "")
}

/// Returns the frames of a stack without the innermost ones that are `skipped`; all frames if none
/// would remain.
pub(crate) fn below<'r>(
    resolved: &'r Resolved<'_>,
    stack: StackHandle,
    skipped: impl Fn(&Frame) -> bool,
) -> &'r [FrameHandle] {
    let frames = resolved.frames(stack);
    let is_skipped =
        |frame: &&FrameHandle| resolved.frame(**frame).is_some_and(|frame| skipped(frame));
    let count = frames.iter().take_while(is_skipped).count();
    frames.get(count..).filter(|frames| !frames.is_empty()).unwrap_or(frames)
}

/// Returns the `top` heaviest stacks and the number of further ones. Innermost frames that are
/// `skipped` are left out; stacks whose other frames are equal are merged.
pub(crate) fn stack_rows(
    shown: &mut ShownFrames<'_, '_>,
    stacks: impl IntoIterator<Item = (StackHandle, u64)>,
    skipped: impl Fn(&Frame) -> bool,
    top: usize,
) -> (Vec<StackRow>, u64) {
    let mut by_frames: BTreeMap<_, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        increase(by_frames.entry(below(shown.resolved, stack, &skipped)).or_default(), count);
    }
    let mut rows: Vec<_> = by_frames.into_iter().collect();
    rows.sort_few_by_key(|(_, count)| std::cmp::Reverse(*count));
    let left_out = rows.len().saturating_sub(top) as u64;
    rows.truncate(top);
    let row = |(frames, count): (&[FrameHandle], u64)| {
        let (frames, guessed) = shown.names(frames);
        StackRow { count, frames, guessed }
    };
    (rows.into_iter().map(row).collect(), left_out)
}
