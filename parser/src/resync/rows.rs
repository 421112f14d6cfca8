//! Checks whether the rows of a version 6 block end where the block does.

use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event;
use crate::block::kinds::{RowWalk, StepOver};
use crate::bytes::before;
use crate::cursor::Cursor;
use crate::error::located;
use crate::frame::Frame;
use crate::source::index;
use crate::work;

/// Returns whether the rows of a block end exactly where the block does, and the position up to
/// which they were walked. `window` begins at position `start` and ends with the block.
/// `is_unknown` returns whether an event has an undefined id, which shows that its bytes only
/// look like a row.
pub(crate) fn fit(
    frame: Frame,
    window: &[u8],
    start: u64,
    is_unknown: &dyn Fn(&BlobHeader) -> bool,
) -> (bool, u64) {
    let content = window.get(index(frame.body.start, start)..).unwrap_or_default();
    let position = |rest: &[u8]| frame.body.start.saturating_add(before(content, rest) as u64);
    let Some(kind) = frame.kind.row() else { return (false, frame.body.start) };
    match &kind.rows {
        RowWalk::Whole(whole) => match whole(content) {
            Ok((rest, ())) => (rest.is_empty(), position(rest)),
            Err(_) => (false, frame.body.start),
        },
        RowWalk::Blobs => {
            let Ok((rest, header)) = event::header(content) else {
                return (false, frame.body.start);
            };
            let encoding = match header.is_compressed {
                true => BlobEncoding::CompressedV6,
                false => BlobEncoding::FixedV6,
            };
            let mut cursor = Cursor::new(frame, encoding, position(rest), frame.body_end());
            while !cursor.is_done() {
                if cursor.advance(window, start).is_err() || is_unknown(&cursor.header) {
                    return (false, cursor.at);
                }
            }
            (cursor.at == frame.body_end(), cursor.at)
        }
        RowWalk::Each { first, next } => {
            let Ok((rest, stated)) = first(content) else { return (false, frame.body.start) };
            let (fits, passed) = each_fits(rest, stated, *next);
            (fits, position(rest).saturating_add(passed as u64))
        }
    }
}

/// Returns whether rows take up all of the input and are as many as stated, and the number of
/// bytes that were examined.
fn each_fits(rows: &[u8], stated: Option<u32>, next: StepOver) -> (bool, usize) {
    let (mut rest, mut left) = (rows, stated.unwrap_or(u32::MAX));
    while !rest.is_empty() && left > 0 {
        work::count(1);
        match next(rest) {
            Ok((after, ())) => rest = after,
            // Counts all examined bytes, because a list of labels may be long.
            Err(error) => {
                let broken_at = located(rest, error).at;
                return (false, before(rows, rest).saturating_add(broken_at));
            }
        }
        left = left.saturating_sub(1);
    }
    (rest.is_empty() && (left == 0 || stated.is_none()), before(rows, rest))
}
