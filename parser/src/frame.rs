//! Where a block lies and what it holds, in every version.

use crate::source::Span;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BlockKind {
    /// The session: start, clock, pointer size ([FORMAT.md 4](crate::format_guide#4),
    /// [7.2](crate::format_guide#7.2)).
    Trace,
    /// Events (5, 6.2, 6.3, 7.4).
    Event,
    /// Descriptions of event types (6.4, 7.3).
    Metadata,
    /// A checkpoint: threads' last sequence numbers (6.9, 7.9).
    SequencePoint,
    /// Stacks (6.8).
    Stack,
    /// Threads, version 6 (7.6).
    Thread,
    /// Threads that ended, version 6 (7.7).
    RemoveThread,
    /// Labels of events, version 6 (7.8).
    LabelList,
    /// A kind of version 6 that is not known, or 0 for an object of an unknown type. Skipped.
    Unknown(u8),
}

impl BlockKind {
    /// An object of versions 3 to 5 whose type is not known.
    pub(crate) const UNKNOWN_OBJECT: BlockKind = BlockKind::Unknown(0);
}

/// Where a block lies. The same from every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: BlockKind,
    /// Stream position of the object's or block header's first byte.
    pub(crate) start: u64,
    /// The block's content.
    pub(crate) body: Span,
}

impl Frame {
    /// Stream position behind the content; an object's end tag follows there.
    pub(crate) fn body_end(&self) -> u64 {
        self.body.end()
    }
}
