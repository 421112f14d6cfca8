//! Where a block lies and what it holds; the same for all versions.

use crate::source::Span;

/// The kind of a block, which says what it holds.
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
    /// A checkpoint with the last sequence numbers of threads (6.9, 7.9).
    SequencePoint,
    /// Stacks (6.8).
    Stack,
    /// Threads, version 6 (7.6).
    Thread,
    /// Threads that ended, version 6 (7.7).
    RemoveThread,
    /// Labels of events, version 6 (7.8).
    LabelList,
    /// An unknown kind of version 6, or 0 for an object of an unknown type. The block is
    /// skipped.
    Unknown(u8),
}

impl BlockKind {
    /// An object of versions 3 to 5 whose type is unknown.
    pub(crate) const UNKNOWN_OBJECT: BlockKind = BlockKind::Unknown(0);
}

/// Where a block lies, independent of the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: BlockKind,
    /// Stream position of the first byte of the object or block header.
    pub(crate) start: u64,
    /// The block's content.
    pub(crate) body: Span,
}

impl Frame {
    /// Returns the stream position after the content. In versions 3 to 5 the object's end
    /// tag follows.
    pub(crate) fn body_end(&self) -> u64 {
        self.body.end()
    }
}
