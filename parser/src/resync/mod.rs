//! Decides how reading continues where a stream is damaged (FORMAT.md 13.3).
//!
//! Everything here is a pure function of the available bytes. The reader passes a
//! [`Window`] and asks about a block whose size it distrusts. The answer is a
//! [`Verdict`], or the bytes that are needed to decide ([`Need`]). Nothing here reads,
//! waits or changes the reader. So the same bytes get the same answer whether they come
//! from a file or one by one from a socket, and the fuzz target `resync` can test the
//! decisions alone.
//!
//! | file | decides |
//! |---|---|
//! | [`fastserial`] | versions 3 to 5: an object has tags and a type name at its beginning and a tag at its end, and can be searched for |
//! | [`v6`] | version 6: nothing marks a block, so its content and the blocks after it are the only evidence |
//! | [`rows`] | whether the rows of a version 6 block end where it does |
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

/// Maximum distance in bytes after the stated end of a block at which the real end is
/// searched. The blocks of runtimes are smaller than this.
pub(crate) const GROWN_BYTES: u64 = 128 * 1024;

/// The available bytes of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'w> {
    bytes: &'w [u8],
    start: u64,
    refused: &'w RefusedBytes,
}

/// Positions that the source was requested to reach but does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedBytes {
    /// The source will not reach this position or any later one.
    pub(crate) from: u64,
    /// The source would have to wait to reach these positions, which is not worth it.
    pub(crate) unawaited: Vec<u64>,
}

impl RefusedBytes {
    /// The state before anything has been requested.
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
    /// A block's size includes them.
    Content,
    /// The stream may end before them.
    More,
    /// They come after a block that ends at this position and may be the last one.
    After(u64),
}

/// The decision about a block whose size was doubted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The block ends at its stated end, or no better end was found.
    Accept,
    /// The block is this one instead.
    Resize {
        block: Frame,
        /// Whether the block's size covered other blocks, of which more may be damaged.
        loses_blocks: bool,
        /// Where the next block begins, if not where this one ends.
        next: Option<u64>,
    },
    /// The content of the block, in versions 3 to 5, is shifted by up to three bytes,
    /// because bytes before it are missing or were inserted.
    Realign { block: Frame, shift: u8 },
    /// The block is of this kind; damage has changed the stated kind.
    Retype { block: Frame },
    /// There is no block. The next one begins at this position.
    Skip { to: u64 },
}

/// The bytes after an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterMark {
    /// A block begins at this position: the mark is not an end mark.
    Block(u64),
    /// The rest of this object, or version 6 block: the mark was its first byte, or its
    /// header, before damage changed that.
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

    /// Returns where the available bytes end.
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

    /// Returns whether the stream reaches a position.
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
