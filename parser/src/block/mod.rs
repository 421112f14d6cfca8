//! Blocks: one file per kind. Each reads complete content only; framing has found where it ends.

pub(crate) mod event;
pub(crate) mod kinds;
pub(crate) mod label_list;
pub(crate) mod metadata;
pub(crate) mod sequence_point;
pub(crate) mod signs;
pub(crate) mod stack;
pub(crate) mod thread;
pub(crate) mod trace;

use crate::frame::BlockKind;
use crate::source::Span;
use std::fmt;

/// One block of a stream, as [`Reader::next_block`](crate::Reader::next_block) lends it.
#[derive(Clone, Copy, PartialEq, Eq)]
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
