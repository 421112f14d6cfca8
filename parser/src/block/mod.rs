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
use crate::version::Version;
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
    /// Version of the stream.
    pub(crate) version: Option<Version>,
}

impl Block<'_> {
    /// Returns the least and the greatest time that the header of an event block states, in ticks.
    /// `None` for other blocks, for version 3, which has no such header, and if nothing is stated.
    ///
    /// Some writers state the time at which they wrote the block, or `u64::MAX` as the greatest
    /// ([FORMAT.md 6.1](crate::format_guide#6.1)), so do not skip blocks by it if no event may be
    /// missed: [`Index`](crate::Index) has the times of the events.
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// use nettrace_parser::{BlockKind, Reader};
    /// let mut reader = Reader::from_slice(&bytes);
    /// while let Some(block) = reader.next_block()? {
    ///     assert!(block.ticks().is_none() || block.kind == BlockKind::Event);
    /// }
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn ticks(&self) -> Option<(u64, u64)> {
        if self.kind != BlockKind::Event
            || self.version.is_none_or(|version| version == Version::V3)
        {
            return None;
        }
        let (_, header) = event::header(self.content).ok()?;
        let stated = (header.min_ticks.cast_unsigned(), header.max_ticks.cast_unsigned());
        (stated.1 != 0).then_some(stated)
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} block at {:#x}, {} bytes", self.kind, self.offset, self.span.len)
    }
}
