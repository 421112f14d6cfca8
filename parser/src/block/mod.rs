//! Blocks: one file per kind. Each reads complete content only; framing has found where it ends.

pub(crate) mod event;
pub(crate) mod label_list;
pub(crate) mod metadata;
pub(crate) mod sequence_point;
pub(crate) mod signs;
pub(crate) mod stack;
pub(crate) mod thread;
pub(crate) mod trace;

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

/// One block of a stream, as [`Reader::next_block`](crate::Reader::next_block) lends it.
#[derive(Clone, Copy)]
pub struct Block<'r> {
    pub(crate) kind: BlockKind,
    pub(crate) start: u64,
    pub(crate) body: Span,
    pub(crate) content: &'r [u8],
}

impl<'r> Block<'r> {
    /// What the block holds.
    pub fn kind(&self) -> BlockKind {
        self.kind
    }

    /// Stream offset of its first byte: of the object's begin tag, or of the block header.
    pub fn offset(&self) -> u64 {
        self.start
    }

    /// Where its content lies, by its header.
    pub fn span(&self) -> Span {
        self.body
    }

    /// Its content: shorter than [`Block::span`] when the stream ends inside it, empty when it was
    /// passed over: a kind that is not known, a second Trace, a size above the limit.
    pub fn content(&self) -> &'r [u8] {
        self.content
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} block at {:#x}, {} bytes", self.kind, self.start, self.body.len)
    }
}
