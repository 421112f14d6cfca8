//! Walks the blobs of a block.

use crate::blob::{
    BlobEncoding, BlobHeader, Extent, WINDOW, Wrong, careful_blob_v4, careful_blob_v6,
    compressed_v4, compressed_v6, fixed_v3, fixed_v4, fixed_v6, size_of_header,
};
use crate::block::event::EventBlockHeader;
use crate::bytes::{Parsed, first};
use crate::error::{Fault, located};
use crate::format::{fastserial, v6};
use crate::frame::{BlockKind, Frame};
use crate::source::{Span, index};
use crate::work;

/// Walks the blobs of one block. All positions are stream positions.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// Header of the current blob, from which the next header inherits.
    pub(crate) header: BlobHeader,
    pub(crate) encoding: BlobEncoding,
    /// Position of the current blob.
    pub(crate) blob: u64,
    /// Position of the current blob's payload.
    pub(crate) payload_at: u64,
    /// Position of the next blob.
    pub(crate) at: u64,
    /// Position of the end of the blobs.
    pub(crate) end: u64,
    pub(crate) frame: Frame,
    /// Times in the block's header, against which rows are checked.
    pub(crate) times: StatedTimes,
    /// Whether a contradiction was found. Rows from there on may not be rows at all, so their
    /// sequence numbers are ignored, and nothing more is reported about them.
    pub(crate) is_contradicted: bool,
    /// Number of undefined ids and flags in rows of the block.
    pub(super) odd_values: u32,
    /// Number of consecutive all-zero rows.
    pub(super) blank_rows: u32,
    /// Position of the end of the last all-zero row.
    pub(super) blank_to: u64,
    /// Number of blocks walked in [`Cursor::is_covered_block`], over all calls.
    walked: u64,
}

/// Times that a block states, and times that its rows had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatedTimes {
    /// Smallest stated time, in ticks.
    pub(crate) min: u64,
    /// Ticks from the smallest to the largest stated time; `u64::MAX` if the block states
    /// none.
    pub(crate) span: u64,
    /// Position of the first row, for a second pass.
    pub(super) rows_at: u64,
    /// Ticks from the smallest stated time to the earliest time of a row.
    pub(super) earliest: u64,
    /// Ticks from the smallest stated time to the latest time of a row.
    pub(super) latest: u64,
}

impl StatedTimes {
    const UNKNOWN: StatedTimes =
        StatedTimes { min: 0, span: u64::MAX, rows_at: 0, earliest: u64::MAX, latest: 0 };

    /// Returns the times in a block's header. Some writers store 0, which states nothing.
    pub(super) fn stated(header: &EventBlockHeader, rows_at: u64) -> StatedTimes {
        let (min, most) = (header.min_ticks.cast_unsigned(), header.max_ticks.cast_unsigned());
        match most.checked_sub(min) {
            Some(span) if most != 0 => StatedTimes { min, span, rows_at, ..StatedTimes::UNKNOWN },
            _ => StatedTimes { rows_at, ..StatedTimes::UNKNOWN },
        }
    }

    /// Returns the largest stated time, or `u64::MAX` if the block states none.
    #[inline(always)]
    pub(crate) fn max(&self) -> u64 {
        self.min.saturating_add(self.span)
    }

    /// Records a row's time. Returns `false` if it is outside the stated times.
    #[inline(always)]
    pub(super) fn meet(&mut self, ticks: u64) -> bool {
        let since = ticks.wrapping_sub(self.min);
        self.earliest = self.earliest.min(since);
        self.latest = self.latest.max(since);
        since <= self.span
    }
}

impl Cursor {
    /// Returns a cursor without any blobs.
    pub(crate) fn empty() -> Cursor {
        let frame = Frame { kind: BlockKind::Event, start: 0, body: Span { start: 0, len: 0 } };
        Cursor::new(frame, BlobEncoding::FixedV4, 0, 0)
    }

    /// Creates a cursor before the first blob of a block, whose header inherits zeros.
    pub(crate) fn new(frame: Frame, encoding: BlobEncoding, at: u64, end: u64) -> Cursor {
        Cursor {
            header: BlobHeader::default(),
            encoding,
            blob: at,
            payload_at: at,
            at,
            end,
            frame,
            times: StatedTimes::UNKNOWN,
            is_contradicted: false,
            odd_values: 0,
            blank_rows: 0,
            blank_to: 0,
            walked: 0,
        }
    }

    /// Returns whether no blob is left.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// Returns whether the current blob may in fact be an object's end tag and the next object's
    /// begin tags. Read as the flags of a compressed header, the end tag 6 announces a capture
    /// thread. So a begin tag would be read as the thread's id.
    #[inline]
    pub(crate) fn may_be_object(&self) -> bool {
        matches!(self.header.capture_thread, 4 | 5) && self.encoding == BlobEncoding::CompressedV4
    }

    /// Returns whether the current blob is in fact an end tag and the beginning of an object.
    pub(crate) fn is_object(&self, blob: &[u8]) -> bool {
        let after = blob.get(1..).unwrap_or_default();
        blob.first() == Some(&fastserial::TAG_END)
            && fastserial::find(after.get(..fastserial::FOUND_HEADER).unwrap_or(after)) == Some(0)
    }

    /// Returns whether a version 6 block begins at the current blob, so that the size of this block
    /// is wrong. Consecutive blocks must lead from there to the end of this block; a row that only
    /// looks like a block's header does not lead there.
    #[inline]
    pub(super) fn is_covered_block(&mut self, window: &[u8], start: u64) -> bool {
        if !matches!(self.encoding, BlobEncoding::CompressedV6 | BlobEncoding::FixedV6) {
            return false;
        }
        let from = window.get(index(self.blob, start)..).unwrap_or_default();
        let Some(header) = first(from) else { return false };
        v6::may_be_known(header, self.end.saturating_sub(self.blob)) && self.leads_to_end(from)
    }

    #[cold]
    fn leads_to_end(&mut self, from: &[u8]) -> bool {
        // Over all calls, no more blocks are walked than the block has bytes.
        let max_blocks = u64::from(self.frame.body.len).saturating_sub(self.walked);
        let led = v6::leads_to(from, index(self.end, self.blob), max_blocks);
        self.walked = self.walked.saturating_add(led.count);
        led.are_blocks()
    }

    /// Steps to the next blob. `window` holds the stream from position `start` at least to the
    /// block's end.
    #[inline(always)]
    pub(crate) fn advance(&mut self, window: &[u8], start: u64) -> Result<(), Fault> {
        work::count(1);
        let rest = window.get(index(self.at, start)..).unwrap_or_default();
        let limit = index(self.end, self.at);
        match self.encoding {
            BlobEncoding::CompressedV4 => {
                self.compressed(rest, limit, compressed_v4, careful_blob_v4)
            }
            BlobEncoding::CompressedV6 => {
                self.compressed(rest, limit, compressed_v6, careful_blob_v6)
            }
            BlobEncoding::FixedV4 => self.parsed(rest, limit, fixed_v4),
            BlobEncoding::FixedV6 => self.parsed(rest, limit, fixed_v6),
            BlobEncoding::FixedV3 => self.parsed(rest, limit, fixed_v3),
        }
    }

    #[inline(always)]
    fn compressed(
        &mut self,
        rest: &[u8],
        limit: usize,
        fast: impl Fn(&mut BlobHeader, &[u8; WINDOW], &mut Wrong) -> usize,
        careful: impl for<'a> Fn(&mut BlobHeader, &'a [u8]) -> Parsed<'a, Extent>,
    ) -> Result<(), Fault> {
        // The window may extend past the block: the check of the size below rejects blobs that
        // do. Near the end of a stream there may not be a whole window.
        let Some(window) = rest.first_chunk::<WINDOW>() else {
            return self.parsed(rest, limit, careful);
        };
        let mut wrong = Wrong::default();
        let size = fast(&mut self.header, window, &mut wrong);
        // A wrong header gets a size that no block has.
        let header_size = if wrong.0 { usize::MAX } else { size };
        let payload_size = self.header.payload_size as usize;
        match header_size.checked_add(payload_size) {
            Some(size) if size <= limit => {
                self.header.header_size = size_of_header(header_size);
                self.step_over(Extent { payload_at: header_size, next_at: size });
                Ok(())
            }
            _ => Err(self.diagnosed(rest.get(..limit).unwrap_or(rest), careful)),
        }
    }

    /// Moves the cursor over the blob with this extent.
    #[inline(always)]
    fn step_over(&mut self, extent: Extent) {
        self.blob = self.at;
        self.payload_at = self.at.wrapping_add(extent.payload_at as u64);
        // A block ends within 64 bits.
        self.at = self.at.wrapping_add(extent.next_at as u64);
    }

    /// Returns the fault of the blob at the beginning of `rest`.
    #[cold]
    fn diagnosed(
        &self,
        rest: &[u8],
        careful: impl for<'a> Fn(&mut BlobHeader, &'a [u8]) -> Parsed<'a, Extent>,
    ) -> Fault {
        match careful(&mut BlobHeader::default(), rest) {
            Ok(_) => Fault::PayloadSize(self.header.payload_size),
            Err(error) => located(rest, error).fault,
        }
    }

    /// Reads a blob with `parse`, which gets only bytes of the block.
    #[inline(always)]
    fn parsed(
        &mut self,
        rest: &[u8],
        limit: usize,
        parse: impl for<'a> Fn(&mut BlobHeader, &'a [u8]) -> Parsed<'a, Extent>,
    ) -> Result<(), Fault> {
        let block = rest.get(..limit).unwrap_or(rest);
        match parse(&mut self.header, block) {
            Ok((_, extent)) => {
                self.step_over(extent);
                Ok(())
            }
            Err(error) => Err(located(block, error).fault),
        }
    }
}
