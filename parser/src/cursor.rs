//! The place in a block of blobs, and the step to the next blob.

use crate::blob::{
    BlobEncoding, BlobHeader, Extent, WINDOW, Wrong, careful_blob_v4, careful_blob_v6, compressed_v4,
    compressed_v6, fixed_v3, fixed_v4, fixed_v6, size_of_header,
};
use crate::block::event::EventBlockHeader;
use crate::block::kinds::KINDS;
use crate::error::{Fault, located};
use crate::format::fastserial;
use crate::frame::{BlockKind, Frame};
use crate::primitive::Parsed;
use crate::source::{Span, index};
use crate::work;

/// Walks the blobs of one block. Positions are those of the stream.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The running header: the current blob's, and what the next inherits from.
    pub(crate) header: BlobHeader,
    pub(crate) encoding: BlobEncoding,
    /// The current blob's first byte, and its payload's.
    pub(crate) blob: u64,
    pub(crate) payload_at: u64,
    /// The next blob's first byte.
    pub(crate) at: u64,
    /// Where the blobs end.
    pub(crate) end: u64,
    pub(crate) frame: Frame,
    /// What the block says of its rows.
    pub(crate) times: Times,
    /// A contradiction was met: rows are doubted from here on.
    pub(crate) is_doubted: bool,
    /// Ids and flags of rows that stand for nothing.
    pub(super) odd_values: u32,
    /// Rows of zeros that follow each other.
    pub(super) blank_rows: u32,
    /// Where the last of them ends.
    pub(super) blank_to: u64,
}

/// Times that a block states, and those that its rows were seen to have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The smallest, in ticks.
    pub(crate) least: u64,
    /// Ticks from there to the largest; all there can be if the block states none.
    pub(crate) span: u64,
    /// Where the first row is, for another look.
    pub(super) rows_at: u64,
    /// Ticks from the smallest to the earliest and to the latest that were seen.
    pub(super) earliest: u64,
    pub(super) latest: u64,
}

impl Times {
    const UNKNOWN: Times = Times { least: 0, span: u64::MAX, rows_at: 0, earliest: u64::MAX, latest: 0 };

    /// Those that a block's header states; test writers store 0.
    pub(super) fn stated(header: &EventBlockHeader, rows_at: u64) -> Times {
        let (least, most) = (header.min_ticks.cast_unsigned(), header.max_ticks.cast_unsigned());
        match most.checked_sub(least) {
            Some(span) if most != 0 => Times { least, span, rows_at, ..Times::UNKNOWN },
            _ => Times::UNKNOWN,
        }
    }

    /// The largest; all there can be if the block states none.
    #[inline(always)]
    pub(crate) fn most(&self) -> u64 {
        self.least.saturating_add(self.span)
    }

    /// Notes a row's time. `false`: it is not within what the block states.
    #[inline(always)]
    pub(super) fn meet(&mut self, ticks: u64) -> bool {
        let since = ticks.wrapping_sub(self.least);
        self.earliest = self.earliest.min(since);
        self.latest = self.latest.max(since);
        since <= self.span
    }
}

impl Cursor {
    /// A cursor without blobs.
    pub(crate) fn empty() -> Cursor {
        let frame = Frame { kind: BlockKind::Event, start: 0, body: Span { start: 0, len: 0 } };
        Cursor::new(frame, BlobEncoding::FixedV4, 0, 0)
    }

    /// Every header field starts with zero at each block; nothing is inherited across blocks.
    pub(crate) fn new(frame: Frame, encoding: BlobEncoding, at: u64, end: u64) -> Cursor {
        Cursor {
            header: BlobHeader::default(),
            encoding,
            blob: at,
            payload_at: at,
            at,
            end,
            frame,
            times: Times::UNKNOWN,
            is_doubted: false,
            odd_values: 0,
            blank_rows: 0,
            blank_to: 0,
        }
    }

    /// Whether no blob is left.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// Whether the current blob may be no blob, but an object's end tag and the next object's begin: read
    /// as a compressed header, 6 announces the capture thread, which is then a begin tag.
    #[inline]
    pub(crate) fn may_be_object(&self) -> bool {
        matches!(self.header.capture_thread, 4 | 5) && self.encoding == BlobEncoding::CompressedV4
    }

    /// Whether the current blob may be no blob, but the header of the next block of version 6: a known kind,
    /// and no more bytes than the block has left.
    #[inline]
    pub(crate) fn may_be_block(&self, window: &[u8], start: u64) -> bool {
        if !matches!(self.encoding, BlobEncoding::CompressedV6 | BlobEncoding::FixedV6) {
            return false;
        }
        let blob = window.get(index(self.blob, start)..).unwrap_or_default();
        let Some([a, b, c, number]) = blob.first_chunk() else { return false };
        if !(2..=KINDS.len()).contains(&usize::from(*number)) {
            return false;
        }
        let behind = u64::from(u32::from_le_bytes([*a, *b, *c, 0])).saturating_add(4);
        behind <= self.end.saturating_sub(self.blob)
    }

    /// Whether it is so, by its bytes.
    pub(crate) fn is_object(&self, blob: &[u8]) -> bool {
        let behind = blob.get(1..).unwrap_or_default();
        blob.first() == Some(&fastserial::TAG_END)
            && fastserial::find(behind.get(..fastserial::FOUND_HEADER).unwrap_or(behind)) == Some(0)
    }

    /// Steps to the next blob. `window` holds the stream from position `start` on, at least to the
    /// block's end.
    #[inline(always)]
    pub(crate) fn advance(&mut self, window: &[u8], start: u64) -> Result<(), Fault> {
        work::count(1);
        let rest = window.get(index(self.at, start)..).unwrap_or_default();
        let limit = index(self.end, self.at);
        match self.encoding {
            BlobEncoding::CompressedV4 => self.compressed(rest, limit, compressed_v4, careful_blob_v4),
            BlobEncoding::CompressedV6 => self.compressed(rest, limit, compressed_v6, careful_blob_v6),
            BlobEncoding::FixedV4 => self.fixed(rest, limit, fixed_v4),
            BlobEncoding::FixedV6 => self.fixed(rest, limit, fixed_v6),
            BlobEncoding::FixedV3 => self.fixed(rest, limit, fixed_v3),
        }
    }

    #[inline(always)]
    fn compressed(
        &mut self,
        rest: &[u8],
        limit: usize,
        fast: impl Fn(&mut BlobHeader, &[u8; WINDOW], &mut Wrong) -> usize,
        careful: impl for<'a> Fn(&BlobHeader, &'a [u8]) -> Parsed<'a, (BlobHeader, Extent)>,
    ) -> Result<(), Fault> {
        // The window may reach into what follows the block; the size check below settles it.
        let Some(window) = rest.first_chunk::<WINDOW>() else {
            return self.carefully(rest.get(..limit).unwrap_or(rest), careful);
        };
        let mut wrong = Wrong::default();
        let size = fast(&mut self.header, window, &mut wrong);
        // Beyond any block.
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

    /// The same of what is left of a block, which may be too short for a window.
    fn carefully(
        &mut self,
        block: &[u8],
        careful: impl for<'a> Fn(&BlobHeader, &'a [u8]) -> Parsed<'a, (BlobHeader, Extent)>,
    ) -> Result<(), Fault> {
        match careful(&self.header, block) {
            Ok((_, (header, extent))) => {
                self.header = header;
                self.step_over(extent);
                Ok(())
            }
            Err(error) => Err(located(block, error).fault),
        }
    }

    /// The cursor is on a blob of this extent now.
    #[inline(always)]
    fn step_over(&mut self, extent: Extent) {
        self.blob = self.at;
        self.payload_at = self.at.wrapping_add(extent.payload_at as u64);
        // A block ends within 64 bits.
        self.at = self.at.wrapping_add(extent.next_at as u64);
    }

    /// Why the blob at the beginning of `rest` is wrong.
    #[cold]
    fn diagnosed(
        &self,
        rest: &[u8],
        careful: impl for<'a> Fn(&BlobHeader, &'a [u8]) -> Parsed<'a, (BlobHeader, Extent)>,
    ) -> Fault {
        match careful(&BlobHeader::default(), rest) {
            Ok(_) => Fault::PayloadSize(self.header.payload_size),
            Err(error) => located(rest, error).fault,
        }
    }

    #[inline(always)]
    fn fixed(
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
