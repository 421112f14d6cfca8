//! Content that is not where padding says, because bytes before it are missing or too many.
//!
//! Objects pad their content to a multiple of 4 of the stream's positions. Where a stretch of the
//! stream was lost, or something was put into it, all that follows is off, and with the usual padding
//! each block would be read up to three bytes away from its content.

use super::Reader;
use super::cursor::Cursor;
use super::phase::body_of;
use crate::blob::{BlobEncoding, BlobHeader, fixed_v3};
use crate::block::event::{EventBlockHeader, header as event_block_header};
use crate::block::{sequence_point, stack};
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, ObjectEnd};
use crate::frame::{BlockKind, Frame};
use crate::primitive::before;
use crate::source::Source;
use crate::version::Version;

/// Three bytes of padding, the end tag, the next header.
const AHEAD: u64 = 3 + 1 + fastserial::NEXT_HEADER as u64;

impl<S: Source> Reader<S> {
    /// The block with another padding that fits: its content looks like its kind, the object's end is
    /// behind it, and another object behind that. `None`: something else is wrong.
    pub(super) fn realigned(&mut self, frame: Frame) -> Result<Option<Frame>, Error> {
        // All that is looked at is there before anything changes.
        self.ask_behind(frame.body_end(), frame.body_end().saturating_add(AHEAD))?;
        if self.looks_right(frame) {
            return Ok(None);
        }
        for further in 1..4 {
            let shift = self.shift.wrapping_add(further) % 4;
            let mut other = frame;
            other.body.start = self.padded(frame, shift);
            let is_ended = fastserial::object_end(self.window_from(other.body_end())) == ObjectEnd::At(1);
            if is_ended && self.goes_on_at(other.body_end().saturating_add(1))? && self.looks_right(other) {
                self.shift = shift;
                self.state.damage.in_block(other).note(0, "padding", Fault::Padding(shift));
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Where the block's content begins, with another shift than the one it was framed with.
    fn padded(&self, frame: Frame, shift: u8) -> u64 {
        let header = self.window_from(frame.start);
        match fastserial::frame(header, frame.start, shift) {
            crate::format::Framed::Block(other) => other.body.start,
            _ => frame.body.start,
        }
    }

    /// Whether the content begins like that of a block of its kind; for blocks without a header of
    /// their own, whether it is one to its end.
    fn looks_right(&self, frame: Frame) -> bool {
        let content = body_of(&self.source, &frame);
        match frame.kind {
            BlockKind::Event if self.state.version() == Some(Version::V3) => is_whole_v3(content),
            // All writers store the least size, and these are the only blocks without other marks.
            BlockKind::Event | BlockKind::Metadata => {
                EventBlockHeader::parse(content).is_ok_and(|header| header.size == 20)
            }
            BlockKind::Stack => stack::is_whole(content),
            BlockKind::SequencePoint => sequence_point::is_whole_v4(content),
            _ => false,
        }
    }
}

impl<S: Source> Reader<S> {
    /// Whether the content is a block of its kind to its end.
    pub(super) fn is_all_rows(&self, frame: Frame) -> bool {
        let content = body_of(&self.source, &frame);
        if !matches!(frame.kind, BlockKind::Event | BlockKind::Metadata)
            || self.state.version() == Some(Version::V3)
        {
            return self.looks_right(frame);
        }
        let Ok((rows, header)) = event_block_header(content) else { return false };
        let encoding = if header.is_compressed { BlobEncoding::CompressedV4 } else { BlobEncoding::FixedV4 };
        let (begin, from) = (frame.body.start, before(content, rows) as u64);
        let (at, end) = (begin.saturating_add(from), begin.saturating_add(content.len() as u64));
        let mut cursor = Cursor::new(frame, encoding, at, end);
        while !cursor.is_done() {
            if cursor.advance(content, begin).is_err() {
                return false;
            }
        }
        true
    }
}

/// Whether the content of a block of version 3 is all rows.
fn is_whole_v3(content: &[u8]) -> bool {
    let mut rest = content;
    while !rest.is_empty() {
        match fixed_v3(&mut BlobHeader::default(), rest) {
            Ok((behind, _)) => rest = behind,
            Err(_) => return false,
        }
    }
    true
}
