//! Reads the content of blocks, in one file per kind. Functions here get the whole content,
//! because framing has already found its end.

pub(crate) mod event;
pub(crate) mod kinds;
pub(crate) mod label_list;
pub(crate) mod metadata;
mod rows;
pub(crate) mod sequence_point;
pub(crate) mod stack;
pub(crate) mod thread;
pub(crate) mod trace;

use crate::frame::BlockKind;
use crate::source::Span;
use std::fmt;

/// One block of a stream, borrowed from
/// [`Reader::next_block`](crate::Reader::next_block).
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block<'r> {
    /// Kind of the block, such as `BlockKind::Event`.
    pub kind: BlockKind,
    /// Stream offset of the block's first byte, which is the begin tag of an object or the
    /// first byte of a version 6 block header.
    pub offset: u64,
    /// Part of the stream in which the content lies, according to the header.
    pub span: Span,
    /// Content of the block. Shorter than `span` if the stream ends inside the block. Empty if
    /// the block was skipped because of an unknown kind, as a second Trace, or for its size.
    pub content: &'r [u8],
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} block at {:#x}, {} bytes", self.kind, self.offset, self.span.len)
    }
}
