//! Where a block lies and what it holds, in every version.

use crate::source::Span;
use std::fmt;

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

    /// Number of kinds that are told apart by [`BlockKind::index`].
    pub(crate) const COUNT: usize = 9;

    /// All kinds that are told apart, unknown ones last.
    pub const ALL: [BlockKind; BlockKind::COUNT] = [
        BlockKind::Trace,
        BlockKind::Event,
        BlockKind::Metadata,
        BlockKind::SequencePoint,
        BlockKind::Stack,
        BlockKind::Thread,
        BlockKind::RemoveThread,
        BlockKind::LabelList,
        BlockKind::UNKNOWN_OBJECT,
    ];

    /// The kind's name in the format, such as `SequencePoint`.
    pub fn as_str(self) -> &'static str {
        match self {
            BlockKind::Trace => "Trace",
            BlockKind::Event => "Event",
            BlockKind::Metadata => "Metadata",
            BlockKind::SequencePoint => "SequencePoint",
            BlockKind::Stack => "Stack",
            BlockKind::Thread => "Thread",
            BlockKind::RemoveThread => "RemoveThread",
            BlockKind::LabelList => "LabelList",
            BlockKind::Unknown(_) => "Unknown",
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            BlockKind::Trace => 0,
            BlockKind::Event => 1,
            BlockKind::Metadata => 2,
            BlockKind::SequencePoint => 3,
            BlockKind::Stack => 4,
            BlockKind::Thread => 5,
            BlockKind::RemoveThread => 6,
            BlockKind::LabelList => 7,
            BlockKind::Unknown(_) => 8,
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
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
