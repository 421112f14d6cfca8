//! Decides how reading continues where a stream is damaged (FORMAT.md 13.3).
//!
//! The reader passes the available bytes, a [`Window`], and asks about a block whose size it
//! distrusts. The answer is a [`Verdict`], or the bytes that are needed to decide ([`Need`]).
//! Nothing here reads, waits or changes the reader. So a stream gets the same answers from a
//! file and byte by byte from a socket, and the fuzz target `resync` can test the decisions
//! alone.
//!
//! | file | evidence |
//! |---|---|
//! | [`fastserial`] | versions 3 to 5: tags and type name at the beginning of an object, and the tag at its end |
//! | [`v6`] | version 6: the content of a block and the blocks after it, because nothing marks a block |
//! | [`rows`] | version 6: whether the rows of a block end where the block does |
//!
//! An example in version 6: a block's header says that it has 300 bytes, but its length
//! was overwritten.
//!
//! ```text
//!        block of 300 bytes, as its header says
//!  ├──────────────────────────────────────────────┤
//!  │ 9 rows, 120 bytes │ block │ block │ block │ … │ 47 11 …     no block begins here: doubt
//!                      └ three consecutive blocks: the first block ends here (`Resize`)
//! ```

pub(crate) mod fastserial;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod rows;
pub(crate) mod v6;

use crate::error::Fault;
use crate::frame::Frame;
use crate::source::{index, part};

/// Maximum distance in bytes from the stated end of a block to its real end. Blocks of runtimes
/// are smaller.
pub(crate) const GROWN_BYTES: u64 = 128 * 1024;

/// Available bytes of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'w> {
    bytes: &'w [u8],
    start: u64,
    refused: &'w RefusedBytes,
}

/// Positions that were requested but that the source does not reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedBytes {
    /// Position that the source will never reach.
    pub(crate) from: u64,
    /// Positions for which the source would have to wait too long.
    pub(crate) unawaited: Vec<u64>,
}

impl RefusedBytes {
    /// State before anything was requested.
    pub(crate) const NOTHING: RefusedBytes = RefusedBytes { from: u64::MAX, unawaited: Vec::new() };
}

/// Bytes that a decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    /// Position that the window has to reach.
    pub(crate) to: u64,
    pub(crate) expects: Expects,
}

/// Whether the reader should wait for bytes that are not available yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expects {
    /// Wait, because a block's size includes the bytes.
    Content,
    /// Wait, unless the stream seems to end before the bytes.
    More,
    /// Wait, unless the stream seems to end at or after the block that ends at this position.
    After(u64),
}

/// Decision about a block whose size was doubted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The size is right, or no better size was found.
    Accept,
    /// The size is wrong, and `block` has the right one.
    Resize {
        block: Frame,
        /// Whether the wrong size covered other blocks, of which some may be lost.
        loses_blocks: bool,
        /// Position of the next block, if it is not the end of this one.
        next: Option<u64>,
    },
    /// The padding is wrong (versions 3 to 5), because bytes before it are missing or were
    /// inserted.
    Realign { block: Frame, shift: u8 },
    /// Damage has changed the kind, and `block` has the right one.
    Retype { block: Frame },
    /// There is no block here. The next block begins at this position.
    Skip { to: u64 },
}

/// Kind of the bytes after an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterMark {
    /// A block begins at this position, so the stream has not ended.
    Block(u64),
    /// The rest of this object or version 6 block. Damage has changed the first byte of the object,
    /// or the header of the block, to an end mark.
    Rest(Frame),
    /// The beginning of another stream.
    Other,
    /// No bytes, or bytes that mean nothing.
    Nothing,
}

impl<'w> Window<'w> {
    /// Creates a window of the available bytes, which begin at stream position `start`.
    pub(crate) fn new(bytes: &'w [u8], start: u64, refused: &'w RefusedBytes) -> Window<'w> {
        Window { bytes, start, refused }
    }

    /// Returns the position at which the available bytes end.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Returns the bytes from a position on.
    pub(crate) fn from(&self, position: u64) -> &'w [u8] {
        self.bytes.get(index(position, self.start)..).unwrap_or_default()
    }

    /// Returns a block's content, as far as it is available.
    fn content(&self, frame: &Frame) -> &'w [u8] {
        part(self.bytes, self.start, frame.body)
    }

    /// Returns the bytes up to a position.
    fn to(&self, end: u64) -> &'w [u8] {
        self.bytes.get(..index(end, self.start)).unwrap_or(self.bytes)
    }

    /// Returns whether the stream reaches a position, or a request for these bytes.
    fn reaches(&self, to: u64, expects: Expects) -> Result<bool, Need> {
        if to <= self.end() {
            return Ok(true);
        }
        let is_refused = to >= self.refused.from || self.refused.unawaited.contains(&to);
        if is_refused { Ok(false) } else { Err(Need { to, expects }) }
    }
}

/// Returns the fault of a block whose size is wrong.
pub(crate) fn size_fault(frame: &Frame) -> Fault {
    Fault::BlockSize(i32::try_from(frame.body.len).unwrap_or(i32::MAX))
}
