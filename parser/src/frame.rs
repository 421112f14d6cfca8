//! Describes the place and the kind of a block, for all versions.

use crate::source::Span;

/// Kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BlockKind {
    /// Facts about the session: start, clock, pointer size ([FORMAT.md
    /// 4](crate::format_guide#4), [7.2](crate::format_guide#7.2)).
    Trace,
    /// Events ([FORMAT.md 5](crate::format_guide#5), 6.2, 6.3, 7.4).
    Event,
    /// Descriptions of event types ([FORMAT.md 6.4](crate::format_guide#6.4), 7.3).
    Metadata,
    /// Sequence point with the last sequence numbers of threads
    /// ([FORMAT.md 6.9](crate::format_guide#6.9), 7.9).
    SequencePoint,
    /// Stacks ([FORMAT.md 6.8](crate::format_guide#6.8), 7.5).
    Stack,
    /// Threads, version 6 ([FORMAT.md 7.6](crate::format_guide#7.6)).
    Thread,
    /// Threads that ended, version 6 ([FORMAT.md 7.7](crate::format_guide#7.7)).
    RemoveThread,
    /// Labels of events, version 6 ([FORMAT.md 7.8](crate::format_guide#7.8)).
    LabelList,
    /// Unknown kind of version 6; 0 for an object of an unknown type (versions 3 to 5).
    Unknown(u8),
}

impl BlockKind {
    /// Object of versions 3 to 5 whose type is unknown.
    pub(crate) const UNKNOWN_OBJECT: BlockKind = BlockKind::Unknown(0);
}

/// Place of a block in the stream, for all versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: BlockKind,
    /// Stream position of the first byte of the object or block header.
    pub(crate) start: u64,
    /// Place of the block's content.
    pub(crate) body: Span,
}

impl Frame {
    /// Returns the stream position after the content, where versions 3 to 5 store the object's
    /// end tag.
    pub(crate) fn body_end(&self) -> u64 {
        self.body.end()
    }
}
