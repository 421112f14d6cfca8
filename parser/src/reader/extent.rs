//! Where a block ends whose size cannot be right (FORMAT.md 13.3).
//!
//! A size is believed when the end tag stands behind what it covers. Where it does not, the block is
//! looked through for another object *before* its rows are read: rows that were given cannot be taken
//! back, and what looks like the rest of this block may be rows of the next.

use super::Reader;
use super::phase::Phase;
use super::scope::Scope;
use crate::error::{Error, Fault};
use crate::format::Framed;
use crate::format::fastserial::{self, FOUND_HEADER, NEXT_HEADER, ObjectEnd};
use crate::frame::{BlockKind, Frame};
use crate::source::{Source, index};

/// So much of each block's end is looked through although the end tag is behind it. Where bytes are
/// missing, the tag may be that of the next object's type, or any 6 of its content.
const DOUBTED_TAIL: usize = 256;

/// So far behind where a size ends another object is looked for, to read all before it. Runtimes' blocks
/// are smaller.
pub(super) const GROWN_BYTES: u64 = 128 * 1024;

impl<S: Source> Reader<S> {
    /// The block with the extent that fits what is behind it and in it. Where none does, the frame is
    /// as it was.
    pub(super) fn settled(&mut self, frame: Frame) -> Result<Frame, Error> {
        let has_tag = !matches!(frame.kind, BlockKind::Trace | BlockKind::Unknown(_));
        if !has_tag || frame.body.len > self.state.limits.block_bytes {
            return Ok(frame);
        }
        if self.passes_over(&frame) {
            self.source.release(tail(&frame));
        }
        // A stream that is still written has the end tag along with the content, and nothing behind it
        // for a while: as long as nothing is odd, that is not waited for.
        let has_end = self.source.fill(frame.body_end().saturating_add(1))?;
        let tag = self.window_from(frame.body_end()).first();
        if has_end && tag == Some(&fastserial::TAG_END) && !self.has_object_in_tail(&frame) {
            return Ok(frame);
        }
        if self.passes_over(&frame) {
            // Its content would tell, and is not here.
            self.state.is_irregular = true;
            return Ok(frame);
        }
        self.doubted(frame)
    }

    /// Whether the block is only found, and its content not asked for.
    pub(super) fn passes_over(&self, frame: &Frame) -> bool {
        frame.kind == BlockKind::Event && matches!(self.scope, Scope::Index)
    }

    /// Whether an object seems to begin near the end of the content.
    fn has_object_in_tail(&self, frame: &Frame) -> bool {
        let tail = tail(frame);
        let length = index(frame.body_end().saturating_add(1), tail);
        let window = self.window_from(tail);
        fastserial::find_in_short(window.get(..length).unwrap_or(window)).is_some()
    }

    #[cold]
    fn doubted(&mut self, frame: Frame) -> Result<Frame, Error> {
        let end = frame.body_end();
        self.ask_behind(end, end.saturating_add(1).saturating_add(FOUND_HEADER as u64))?;
        // Only the tag is wrong, or nothing. A payload may well hold an object, and end with it.
        let goes_on = self.begins_at(end.saturating_add(1)) || self.is_followed(&frame)?;
        if goes_on && (!self.ends_with_objects(&frame) || self.is_all_rows(frame)) {
            return Ok(frame);
        }
        // Padding may have been read for content, or the other way round.
        let found = self.object_in(frame.body.start.saturating_sub(3), end);
        // Where an object begins well before the end, the size is wrong, whatever the padding: so no
        // block is walked that others lie in, and the work is linear.
        if found.is_none_or(|position| position.saturating_add(3) >= end)
            && let Some(other) = self.realigned(frame)?
        {
            return Ok(other);
        }
        match found {
            // Only the tag is missing.
            Some(position) if position == end => Ok(frame),
            Some(position) => Ok(self.cut_at(frame, position)),
            None => Ok(self.grown(frame)?.unwrap_or(frame)),
        }
    }

    /// The block up to the next object, if all before it is rows of the block: then its size was too
    /// small.
    fn grown(&mut self, frame: Frame) -> Result<Option<Frame>, Error> {
        let from = frame.body_end();
        self.ask_behind(from, from.saturating_add(GROWN_BYTES).saturating_add(FOUND_HEADER as u64))?;
        let Some(position) = self.object_in(from, from.saturating_add(GROWN_BYTES)) else { return Ok(None) };
        let end = position.saturating_sub(1);
        let is_ended = end > from && self.window_from(end).first() == Some(&fastserial::TAG_END);
        let mut grown = frame;
        grown.body.len = u32::try_from(end.saturating_sub(frame.body.start)).unwrap_or(u32::MAX);
        if !is_ended || grown.body.len > self.state.limits.block_bytes || !self.is_all_rows(grown) {
            return Ok(None);
        }
        let (at, fault) = (frame.body.start, size_fault(&frame));
        self.state.damage.add_framing_lost(grown, at, end, 0, "block size", fault);
        Ok(Some(grown))
    }

    /// Whether objects, one behind the other, fill the content's end: then as many bytes of the block are
    /// missing as they have. A mere copy of an object in a payload does not end where the block does.
    fn ends_with_objects(&self, frame: &Frame) -> bool {
        let end = frame.body_end();
        let mut next = self.object_in(tail(frame), end);
        while let Some(position) = next {
            next = None;
            for shift in 0..4 {
                let Framed::Block(object) = fastserial::frame(self.window_from(position), position, shift)
                else {
                    return false;
                };
                let behind = object.body_end().saturating_add(1);
                if object.body_end() == end {
                    return true;
                }
                if behind < end && self.begins_at(behind) {
                    next = Some(behind);
                }
            }
        }
        false
    }

    /// Whether the end tag, perhaps with tagged values before it, and another object follow.
    fn is_followed(&mut self, frame: &Frame) -> Result<bool, Error> {
        let end = frame.body_end();
        loop {
            match fastserial::object_end(self.window_from(end)) {
                ObjectEnd::At(bytes) => return self.goes_on_at(end.saturating_add(bytes as u64)),
                ObjectEnd::Need(bytes) if self.source.fill(end.saturating_add(bytes as u64))? => {}
                _ => return Ok(false),
            }
        }
    }

    /// Whether an object begins at the position, or the stream ends there.
    pub(super) fn goes_on_at(&mut self, position: u64) -> Result<bool, Error> {
        // At its end tag, if an object ends right before.
        let tag = position.saturating_sub(1);
        let is_more = self.ask_behind(tag, position.saturating_add(NEXT_HEADER as u64))?;
        let window = self.window_from(position);
        Ok(fastserial::goes_on(window.get(..NEXT_HEADER).unwrap_or(window), !is_more))
    }

    /// Whether a known object begins at the position, as far as the window shows.
    fn begins_at(&self, position: u64) -> bool {
        let window = self.window_from(position);
        fastserial::find(window.get(..FOUND_HEADER).unwrap_or(window)) == Some(0)
    }

    /// The first known object that begins from `from` on, at `to` at the latest.
    fn object_in(&self, from: u64, to: u64) -> Option<u64> {
        let window = self.window_from(from);
        let reach = index(to.saturating_add(FOUND_HEADER as u64), from);
        let found = fastserial::find(window.get(..reach).unwrap_or(window))?;
        let position = from.saturating_add(found as u64);
        (position <= to).then_some(position)
    }

    /// Another object begins within what the block's size covers: the block ends there.
    fn cut_at(&mut self, frame: Frame, position: u64) -> Frame {
        let before = position.saturating_sub(1);
        let has_tag =
            before >= frame.body.start && self.window_from(before).first() == Some(&fastserial::TAG_END);
        let end = if has_tag { before } else { position };
        let mut cut = frame;
        cut.body.start = frame.body.start.min(end);
        cut.body.len = u32::try_from(end.saturating_sub(cut.body.start)).unwrap_or(frame.body.len);
        let (at, fault) = (frame.body.start, size_fault(&frame));
        self.state.damage.add_framing_lost(cut, at, end, 0, "block size", fault);
        self.state.blocks_were_lost = true;
        self.goes_on_from = Some(position);
        cut
    }

    /// A row of the block is broken from `from` on. If another object begins in what looks like the
    /// block's rest, its size is what is wrong, though it happens to fit. `true`: reading goes on there.
    pub(super) fn leaves_for_object(&mut self, frame: &Frame, from: u64) -> Result<bool, Error> {
        let end = frame.body_end();
        self.ask_behind(end, end.saturating_add(FOUND_HEADER as u64))?;
        self.state.broken_at = None;
        let Some(position) = self.object_in(from, end).filter(|position| *position < end) else {
            return Ok(false);
        };
        self.leave_at(frame, position);
        Ok(true)
    }

    /// Another block begins at `position`, in what looks like the rest of this one.
    pub(super) fn leave_at(&mut self, frame: &Frame, position: u64) {
        self.take_back(position);
        let (at, fault) = (frame.body.start, size_fault(frame));
        self.state.damage.add_framing_lost(*frame, at, position, 0, "block size", fault);
        self.state.blocks_were_lost = true;
        self.position = position;
        self.phase = Phase::Frame;
    }
}

/// Where the end of a block's content begins that is looked through.
fn tail(frame: &Frame) -> u64 {
    frame.body_end().saturating_sub(DOUBTED_TAIL as u64).max(frame.body.start)
}

/// The size that a block states.
pub(super) fn size_fault(frame: &Frame) -> Fault {
    Fault::BlockSize(i32::try_from(frame.body.len).unwrap_or(i32::MAX))
}
