//! Content that is not where padding says, because bytes before it are missing or too many.
//!
//! Objects pad their content to a multiple of 4 of the stream's positions. Where a stretch of the
//! stream was lost, or something was put into it, all that follows is off, and with the usual padding
//! each block would be read up to three bytes away from its content.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use super::Reader;
use crate::blob::{BlobHeader, fixed_v3};
use crate::block::event::EventBlockHeader;
use crate::block::{BlockKind, sequence_point, stack};
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, ObjectEnd};
use crate::format::{Frame, Version};
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// The block with the padding that fits: its content looks like its kind, and the object's end is
    /// behind it. Where none does, something else is wrong, and the frame is as it was.
    pub(super) fn aligned(&mut self, frame: Frame) -> Result<Frame, Error> {
        let is_padded = !self.state.is_v6() && frame.kind != BlockKind::Trace;
        if !is_padded || frame.body.len > self.state.limits.block_bytes {
            return Ok(frame);
        }
        let has_end = self.source.fill(frame.body_end().saturating_add(1))?;
        let is_ended = has_end && !matches!(self.end_of(frame), ObjectEnd::Broken { .. });
        if is_ended || self.looks_right(frame) {
            return Ok(frame);
        }
        for further in 1..4 {
            let shift = self.shift.wrapping_add(further) % 4;
            let mut other = frame;
            other.body.start = self.padded(frame, shift);
            // Its end tag, and what begins behind it.
            let has_next = self.source.fill(other.body_end().saturating_add(2))?;
            let ObjectEnd::At(1) = self.end_of(other) else { continue };
            let next = self.window_from(other.body_end()).get(1).copied();
            let goes_on = next.map_or(!has_next, fastserial::may_begin);
            if goes_on && self.looks_right(other) {
                self.shift = shift;
                self.state.damage.in_block(other).note(0, "padding", Fault::Padding(shift));
                return Ok(other);
            }
        }
        Ok(frame)
    }

    /// Where the block's content begins, with another shift than the one it was framed with.
    fn padded(&self, frame: Frame, shift: u8) -> u64 {
        let header = self.window_from(frame.start);
        match fastserial::frame(header, frame.start, shift) {
            crate::format::Framed::Block(other) => other.body.start,
            _ => frame.body.start,
        }
    }

    fn end_of(&self, frame: Frame) -> ObjectEnd {
        fastserial::object_end(self.window_from(frame.body_end()))
    }

    /// Whether the content begins like that of a block of its kind; for small blocks, whether it is one
    /// to its end.
    fn looks_right(&self, frame: Frame) -> bool {
        let content = super::phase::body_of(&self.source, &frame);
        match frame.kind {
            BlockKind::Event if self.state.version() == Some(Version::V3) => {
                content.is_empty() || fixed_v3(&mut BlobHeader::default(), content).is_ok()
            }
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
