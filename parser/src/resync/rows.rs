//! Walks the rows of a version 6 block to find out where they end.

use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event;
use crate::block::kinds::{RowWalk, StepOver};
use crate::cursor::Cursor;
use crate::error::located;
use crate::frame::Frame;
use crate::primitive::before;
use crate::work;

/// The position of the next row of a block.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Steps over a row.
    next: Option<StepOver>,
    /// Blobs inherit from each other, so a cursor walks them.
    cursor: Option<Cursor>,
    /// Number of remaining rows, if the block states it.
    left: u32,
    at: u64,
    /// Up to where the bytes of an incomplete row were examined.
    broken_at: u64,
}

impl Rows {
    /// Starts at the first row of a block whose rows may extend to `end`, or end after a
    /// stated number of rows. The window begins at `start`. `None` if the block does not
    /// begin like one of its kind.
    pub(crate) fn of(frame: Frame, window: &[u8], start: u64, end: u64) -> Option<Rows> {
        let content = from(window, start, frame.body.start)?;
        let mut left = u32::MAX;
        let mut cursor = None;
        let mut next = None;
        let rest = match &frame.kind.row()?.rows {
            RowWalk::Whole(whole) => {
                left = 0;
                whole(content).ok()?.0
            }
            RowWalk::Blobs => {
                let (rest, header) = event::header(content).ok()?;
                let encoding = if header.is_compressed {
                    BlobEncoding::CompressedV6
                } else {
                    BlobEncoding::FixedV6
                };
                let at = frame.body.start.saturating_add(before(content, rest) as u64);
                cursor = Some(Cursor::new(frame, encoding, at, end));
                rest
            }
            RowWalk::Each { first, next: step } => {
                let (rest, stated) = first(content).ok()?;
                left = stated.unwrap_or(u32::MAX);
                next = Some(*step);
                rest
            }
        };
        let at = frame.body.start.saturating_add(before(content, rest) as u64);
        Some(Rows { next, cursor, left, at, broken_at: at })
    }

    /// Where the next row begins; after the last row, what follows it.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Up to where bytes were examined.
    pub(crate) fn passed(&self) -> u64 {
        self.at.max(self.broken_at)
    }

    /// The header of the row that was walked last, if it is an event.
    pub(crate) fn header(&self) -> Option<&BlobHeader> {
        self.cursor.as_ref().map(|cursor| &cursor.header)
    }

    /// Whether all stated rows have been walked.
    pub(crate) fn are_all(&self) -> bool {
        self.left == 0 || self.left == u32::MAX
    }

    /// Steps over a row. `false` if there is no complete and valid one.
    pub(crate) fn step(&mut self, window: &[u8], start: u64) -> bool {
        work::count(1);
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = if self.left == u32::MAX { self.left } else { left };
        if let Some(cursor) = &mut self.cursor {
            let is_row = !cursor.is_done() && cursor.advance(window, start).is_ok();
            self.at = cursor.at;
            return is_row;
        }
        let Some(rest) = from(window, start, self.at) else { return false };
        let Some(next) = self.next else { return false };
        match next(rest) {
            Ok((behind, ())) => self.at = self.at.saturating_add(before(rest, behind) as u64),
            // A long list of labels may have been examined.
            Err(error) => {
                self.broken_at = self.at.saturating_add(located(rest, error).at as u64);
                return false;
            }
        }
        true
    }
}

/// The window's bytes from a position on.
fn from(window: &[u8], start: u64, position: u64) -> Option<&[u8]> {
    window.get(crate::source::index(position, start)..)
}

/// Where the stated rows of a block end, if more bytes follow: these may not belong to
/// the block.
pub(crate) fn end_of_stated(frame: Frame, content: &[u8]) -> Option<u64> {
    let end = frame.body_end();
    let mut rows = Rows::of(frame, content, frame.body.start, end)?;
    while rows.step(content, frame.body.start) {}
    (rows.at() < end).then_some(rows.at())
}
