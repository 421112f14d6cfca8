//! How reading goes on where a stream is damaged (FORMAT.md 13.3).
//!
//! Everything here is a pure function of the bytes at hand. The reader shows a [`Window`] and asks about a block whose
//! size it doubts; the answer is a [`Verdict`], or the bytes that are needed before there is one ([`Need`]). Nothing here
//! reads, waits or changes the reader. So the same bytes get the same answer whether they come from a file or one by
//! one from a socket, and the fuzz target `resync` calls the decisions alone.
//!
//! | file | decides |
//! |---|---|
//! | [`fastserial`] | versions 3 to 5: tags and type names stand at both ends of an object, and can be searched for |
//! | [`v6`] | version 6: nothing marks a block, so its content and the blocks behind it have to speak for it |
//! | [`rows`] | where the rows of a block of version 6 end |
//! | [`looked_through`] | what was looked at before, so that no stream makes the same bytes be looked at again and again |
//!
//! An example of version 6. A block says that it has 300 bytes, but somebody has overwritten its length:
//!
//! ```text
//!        block of 300 bytes, as its header says
//!  ├──────────────────────────────────────────────┤
//!  │ 9 rows, 120 bytes │ block │ block │ block │ … │ 47 11 …     no block begins here: doubt
//!                      └ three blocks, one behind the other: the first block ends here (`Resize`)
//! ```

pub(crate) mod fastserial;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub(crate) mod looked_through;
pub(crate) mod rows;
pub(crate) mod v6;

use crate::error::Fault;
use crate::frame::Frame;
use crate::source::{index, part};

/// So far behind the end that a block states another one is looked for. The blocks of runtimes are smaller.
pub(crate) const GROWN_BYTES: u64 = 128 * 1024;

/// The bytes of a stream that are at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'w> {
    bytes: &'w [u8],
    start: u64,
    refused: &'w Refused,
}

/// Positions that the source was asked to reach, and does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// It will not reach this one, nor any behind it.
    pub(crate) from: u64,
    /// It would have to wait to reach these, which is not worth it.
    pub(crate) unawaited: Vec<u64>,
}

impl Refused {
    /// Nothing was asked for yet.
    pub(crate) const NOTHING: Refused = Refused { from: u64::MAX, unawaited: Vec::new() };
}

/// Bytes that a decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    /// The window has to reach this position.
    pub(crate) to: u64,
    pub(crate) expects: Expects,
}

/// Whether bytes that are not there are worth waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expects {
    /// A block says that it has them.
    Content,
    /// The stream may end before them.
    More,
    /// They lie behind a block that ends here and may be the last.
    Behind(u64),
}

/// What became of a block whose size was doubted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It ends where it says, or nothing better is known.
    Accept,
    /// It is this block.
    Resize {
        block: Frame,
        /// Its size covered other blocks, and more of them may be damaged.
        loses_blocks: bool,
        /// Where the next one begins, if not where this one ends.
        next: Option<u64>,
    },
    /// Versions 3 to 5: its content lies up to three bytes off, because bytes before it are missing or too many.
    Realign { block: Frame, shift: u8 },
    /// It is no block. One begins here.
    Skip { to: u64 },
}

impl<'w> Window<'w> {
    /// The bytes from the stream position `start` on.
    pub(crate) fn new(bytes: &'w [u8], start: u64, refused: &'w Refused) -> Window<'w> {
        Window { bytes, start, refused }
    }

    /// Where the bytes at hand end.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }

    /// The bytes from a position on.
    pub(crate) fn from(&self, position: u64) -> &'w [u8] {
        self.bytes.get(index(position, self.start)..).unwrap_or_default()
    }

    /// A block's content, as far as it is at hand.
    fn content(&self, frame: &Frame) -> &'w [u8] {
        part(self.bytes, self.start, frame.body)
    }

    /// The bytes up to a position.
    fn to(&self, end: u64) -> &'w [u8] {
        self.bytes.get(..index(end, self.start)).unwrap_or(self.bytes)
    }

    /// Whether the stream reaches a position.
    fn reaches(&self, to: u64, expects: Expects) -> Result<bool, Need> {
        if to <= self.end() {
            return Ok(true);
        }
        let is_refused = to >= self.refused.from || self.refused.unawaited.contains(&to);
        if is_refused { Ok(false) } else { Err(Need { to, expects }) }
    }
}

/// The fault of a block whose size is wrong.
pub(crate) fn size_fault(frame: &Frame) -> Fault {
    Fault::BlockSize(i32::try_from(frame.body.len).unwrap_or(i32::MAX))
}
