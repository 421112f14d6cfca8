//! The stacks in a report, by weight.

use crate::model::{Frame, FrameHandle, FrameKind, Resolved, StackHandle};
use crate::sorted::SortFew;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stack, and its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StackRow {
    /// Number of occurrences, or nanoseconds if the report says so.
    pub count: u64,
    /// Names of the frames, innermost first. Empty if the trace has no stack. The last is
    /// `(N more frames)` if a document's frames would take too much memory.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_texts"))]
    pub frames: Vec<Arc<Frame>>,
    /// Indices of the frames with guessed names
    /// ([`Frame::is_guessed`](crate::Frame::is_guessed)), counting from 0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

/// Returns a stack's frames, which the document shares with the names of all frames.
pub(crate) fn shared_frames(resolved: &Resolved<'_>, frames: &[FrameHandle]) -> Vec<Arc<Frame>> {
    let unknown = || Arc::new(Frame::group("?".to_owned(), FrameKind::Unknown));
    frames.iter().map(|frame| resolved.frame(*frame).map_or_else(unknown, Arc::clone)).collect()
}

/// Indices of a stack's frames whose names are guesses.
pub(crate) fn guessed_of(resolved: &Resolved<'_>, frames: &[FrameHandle]) -> Vec<usize> {
    let is_guessed =
        |frame: &FrameHandle| resolved.frame(*frame).is_some_and(|frame| frame.is_guessed);
    let places = frames.iter().enumerate().filter(|(_, frame)| is_guessed(frame));
    places.map(|(place, _)| place).collect()
}

/// Maximum number of bytes that the frames of a document take: lists of them, and texts. A
/// stream pays for a stack once, and a document may show it in each of ten thousand rows.
/// Documents of real traces have a fifth of it at most.
const MOST_FRAME_BYTES: usize = 8 << 20;
/// What a frame takes beside its text, in a list and as a value of a document.
const FRAME_BYTES: usize = 64;

/// The frames that a document shows, made row by row: the rows that matter most come first,
/// because others may find no room for all of theirs.
pub(crate) struct ShownFrames<'r, 'm> {
    resolved: &'r Resolved<'m>,
    room: usize,
}

impl<'r, 'm> ShownFrames<'r, 'm> {
    pub(crate) fn new(resolved: &'r Resolved<'m>) -> ShownFrames<'r, 'm> {
        ShownFrames { resolved, room: MOST_FRAME_BYTES }
    }

    pub(crate) fn resolved(&self) -> &'r Resolved<'m> {
        self.resolved
    }

    /// Returns the names of a stack's frames, and the places of those that are guesses. If there is
    /// no room for all, it has the innermost, and `(N more frames)`.
    pub(crate) fn of(&mut self, frames: &[FrameHandle]) -> (Vec<Arc<Frame>>, Vec<usize>) {
        // A single stack leaves room for others.
        let most = self.room.min(MOST_FRAME_BYTES / 8);
        let (mut count, mut taken) = (0usize, 0usize);
        for frame in frames {
            let text = self.resolved.text(*frame);
            let with_it = taken.saturating_add(text.len()).saturating_add(FRAME_BYTES);
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

/// Methods that emit the events of tasks, and methods of the task library; they are on
/// top of the method that schedules a task.
pub(crate) const TASK_LIBRARY: &[&str] = &[
    "System.Diagnostics.Tracing.",
    "System.Threading.Tasks.",
    "System.Threading.ThreadPool",
    "System.Runtime.CompilerServices.",
];
/// Methods of the runtime, from .NET 9 on, that search for a catch block; they are on top
/// of the method that throws.
pub(crate) const DISPATCH: &[&str] = &["System.Runtime.EH."];

/// Returns the frames without the innermost ones whose names contain one of `skipped`.
pub(crate) fn below<'r>(
    resolved: &'r Resolved<'_>,
    stack: StackHandle,
    skipped: &[&str],
) -> &'r [FrameHandle] {
    let frames = resolved.frames(stack);
    let is_skipped = |frame: &&FrameHandle| {
        let text = resolved.text(**frame);
        // The types of arguments do not matter.
        let name = text.split_once('(').map_or(text, |(name, _)| name);
        skipped.iter().any(|part| name.contains(part))
    };
    let count = if skipped.is_empty() { 0 } else { frames.iter().take_while(is_skipped).count() };
    frames.get(count..).filter(|frames| !frames.is_empty()).unwrap_or(frames)
}

/// Returns the `top` heaviest stacks, without innermost frames that contain one of `skipped`.
/// Stacks with equal names are merged. Also the number of the others.
pub(crate) fn stack_rows(
    shown: &mut ShownFrames<'_, '_>,
    stacks: impl IntoIterator<Item = (StackHandle, u64)>,
    skipped: &[&str],
    top: usize,
) -> (Vec<StackRow>, u64) {
    let mut by_frames: BTreeMap<_, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        let sum = by_frames.entry(below(shown.resolved, stack, skipped)).or_default();
        *sum = sum.saturating_add(count);
    }
    let mut rows: Vec<_> = by_frames.into_iter().collect();
    rows.sort_few_by_key(|(_, count)| std::cmp::Reverse(*count));
    let left_out = rows.len().saturating_sub(top) as u64;
    rows.truncate(top);
    let row = |(frames, count): (&[FrameHandle], u64)| {
        let (frames, guessed) = shown.of(frames);
        StackRow { count, frames, guessed }
    };
    (rows.into_iter().map(row).collect(), left_out)
}
