//! Decides where objects of versions 3 to 5 with wrong sizes end, and where the next objects
//! begin (FORMAT.md 13.3).
//!
//! A size is trusted if the end tag follows the bytes that it covers. If not, the block is
//! searched for another object *before* its rows are read, because rows cannot be taken back
//! once they were delivered, and some may belong to the next block.
//!
//! Writers pad so that the content of a block begins at a position of the stream that is
//! divisible by 4. After bytes were lost or inserted, positions differ from the writer's, and
//! padding computed from them places the content up to three bytes off ([`Objects::shift`]).
//!
//! `Err(Need)` is no failure: the reader provides these bytes and calls again, so some calls
//! are made only for their `?`.

use super::{AfterMark, Expects, GROWN_BYTES, Need, Verdict, Window};
use crate::blob::{BlobEncoding, BlobHeader, fixed_v3};
use crate::block::event::header as event_block_header;
use crate::block::{sequence_point, stack};
use crate::bytes::before;
use crate::cursor::Cursor;
use crate::format::Framed;
use crate::format::fastserial::{self, FOUND_HEADER, Found, NEXT_HEADER, ObjectEnd};
use crate::frame::{BlockKind, Frame};
use crate::source::index;
use crate::version::Version;

/// Number of bytes at the end of each block that are searched even if the end tag, 6, follows:
/// if bytes are missing, that 6 may be the end tag of the next object's type, or any byte of the
/// next object's content.
const CHECKED_TAIL: usize = 256;

/// Number of bytes after a block: three of padding, the end tag, and the next header.
const BYTES_AFTER_BLOCK: u64 = 3 + 1 + NEXT_HEADER as u64;

/// Bytes and facts on which decisions about objects depend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objects<'w> {
    pub(crate) window: Window<'w>,
    pub(crate) version: Option<Version>,
    /// Number of bytes, modulo 4, that were lost before the window. The writer added its padding at
    /// positions that were larger by this number.
    pub(crate) shift: u8,
    /// Maximum size in bytes of blocks that are read.
    pub(crate) max_bytes: u32,
}

/// Result of a search for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Searched {
    /// An object begins at this position.
    Object(u64),
    /// No object begins before this position, but the search can continue.
    Further(u64),
    /// No object begins in the whole range, which ends at this position.
    Nothing(u64),
    /// No object begins before the input's end.
    Ended,
}

impl Objects<'_> {
    /// Returns whether the end tag follows a block, and no object seems to begin in it.
    pub(crate) fn is_sound(&self, frame: &Frame) -> Result<bool, Need> {
        // Does not look at the bytes after the end tag: in a stream that is still being written,
        // they may arrive much later.
        let has_end = self.window.reaches(frame.body_end().saturating_add(1), Expects::Content)?;
        let tag = self.window.from(frame.body_end()).first();
        Ok(has_end && tag == Some(&fastserial::TAG_END) && !self.has_object_in_tail(frame))
    }

    /// Returns whether an object seems to begin near the end of the content.
    fn has_object_in_tail(&self, frame: &Frame) -> bool {
        let tail = tail(frame);
        let length = index(frame.body_end().saturating_add(1), tail);
        let window = self.window.from(tail);
        fastserial::find_in_short(window.get(..length).unwrap_or(window)).is_some()
    }

    /// Decides where a block that is not sound ends.
    #[cold]
    pub(crate) fn resync(&self, frame: Frame) -> Result<Verdict, Need> {
        let end = frame.body_end();
        self.reaches_after(end, end.saturating_add(1).saturating_add(FOUND_HEADER as u64))?;
        // If another object follows, at most the end tag is wrong, unless the content ends with
        // whole objects and does not consist of rows. Then bytes of the block are missing, and
        // its size covers the objects after it. An object at its end alone proves nothing,
        // because a payload may contain a copy of one.
        let goes_on = self.begins_at(end.saturating_add(1)) || self.is_followed(&frame)?;
        if goes_on && (!self.ends_with_objects(&frame) || self.is_all_rows(frame)) {
            return Ok(Verdict::Accept);
        }
        // Padding may have been mistaken for content, or the other way round.
        let found = self.object_in(frame.body.start.saturating_sub(3), end);
        // If an object begins well before the end, the size is wrong, whatever the padding is.
        // Deciding this first keeps the work linear, because a block that contains others is
        // never walked.
        if found.is_none_or(|position| position.saturating_add(3) >= end)
            && let Some(realign) = self.realign(frame)?
        {
            return Ok(realign);
        }
        match found {
            // The size is right, and only the tag is missing.
            Some(position) if position == end => Ok(Verdict::Accept),
            Some(position) => Ok(self.cut_at(frame, position)),
            None => self.grow(frame),
        }
    }

    /// Extends the block to the next object if all bytes before that object are rows of the block:
    /// the block's size was too small.
    fn grow(&self, frame: Frame) -> Result<Verdict, Need> {
        let from = frame.body_end();
        self.reaches_after(
            from,
            from.saturating_add(GROWN_BYTES).saturating_add(FOUND_HEADER as u64),
        )?;
        let Some(position) = self.object_in(from, from.saturating_add(GROWN_BYTES)) else {
            return Ok(Verdict::Accept);
        };
        let end = position.saturating_sub(1);
        let is_ended = end > from && self.window.from(end).first() == Some(&fastserial::TAG_END);
        let mut block = frame;
        block.body.len = u32::try_from(end.saturating_sub(frame.body.start)).unwrap_or(u32::MAX);
        if !is_ended || block.body.len > self.max_bytes || !self.is_all_rows(block) {
            return Ok(Verdict::Accept);
        }
        Ok(Verdict::Resize { block, loses_blocks: false, next: None })
    }

    /// Returns whether the content ends with consecutive objects. If so, the block has lost bytes,
    /// and its size covers these objects instead. A copy of an object in a payload would not end
    /// where the block does.
    fn ends_with_objects(&self, frame: &Frame) -> bool {
        let end = frame.body_end();
        let mut next = self.object_in(tail(frame), end);
        while let Some(position) = next {
            next = None;
            for shift in 0..4 {
                let Framed::Block(object) =
                    fastserial::frame(self.window.from(position), position, shift)
                else {
                    return false;
                };
                let after = object.body_end().saturating_add(1);
                if object.body_end() == end {
                    return true;
                }
                if after < end && self.begins_at(after) {
                    next = Some(after);
                }
            }
        }
        false
    }

    /// Returns whether the end tag, possibly after tagged values, and another object
    /// follow.
    fn is_followed(&self, frame: &Frame) -> Result<bool, Need> {
        let end = frame.body_end();
        match fastserial::object_end(self.window.from(end)) {
            ObjectEnd::At(bytes) => self.goes_on_at(end.saturating_add(bytes as u64)),
            ObjectEnd::Need(bytes) => {
                // Requests the bytes. If they cannot come, the stream ends first.
                self.window.reaches(end.saturating_add(bytes as u64), Expects::Content)?;
                Ok(false)
            }
            ObjectEnd::Broken { .. } => Ok(false),
        }
    }

    /// Returns whether an object begins at the position, or the stream ends there.
    fn goes_on_at(&self, position: u64) -> Result<bool, Need> {
        // The window must begin at the end tag, if an object ends just before.
        let tag = position.saturating_sub(1);
        let is_more = self.reaches_after(tag, position.saturating_add(NEXT_HEADER as u64))?;
        let window = self.window.from(position);
        Ok(fastserial::goes_on(window.get(..NEXT_HEADER).unwrap_or(window), !is_more))
    }

    /// Returns whether the stream reaches `to`. A block ends at `end`, and may be the last one: if
    /// the stream looks complete there, the reader does not wait for further bytes.
    fn reaches_after(&self, end: u64, to: u64) -> Result<bool, Need> {
        self.window.reaches(to, Expects::After(end))
    }

    /// Returns whether a known object begins at the position, as far as the window shows.
    fn begins_at(&self, position: u64) -> bool {
        let window = self.window.from(position);
        fastserial::find(window.get(..FOUND_HEADER).unwrap_or(window)) == Some(0)
    }

    /// Returns the first known object that begins between `from` and `to`, inclusive.
    fn object_in(&self, from: u64, to: u64) -> Option<u64> {
        let window = self.window.from(from);
        let reach = index(to.saturating_add(FOUND_HEADER as u64), from);
        let found = fastserial::find(window.get(..reach).unwrap_or(window))?;
        let position = from.saturating_add(found as u64);
        (position <= to).then_some(position)
    }

    /// Decides that a block ends before another object, which its size covers.
    fn cut_at(&self, frame: Frame, position: u64) -> Verdict {
        let before = position.saturating_sub(1);
        let has_tag = before >= frame.body.start
            && self.window.from(before).first() == Some(&fastserial::TAG_END);
        let end = if has_tag { before } else { position };
        let mut block = frame;
        block.body.start = frame.body.start.min(end);
        block.body.len =
            u32::try_from(end.saturating_sub(block.body.start)).unwrap_or(frame.body.len);
        Verdict::Resize { block, loses_blocks: true, next: Some(position) }
    }

    /// Returns the position of another object within the rest of a block with a broken row at
    /// `from`. If there is one, the block's size is wrong, although the end tag follows it.
    pub(crate) fn object_within(&self, frame: &Frame, from: u64) -> Result<Option<u64>, Need> {
        let end = frame.body_end();
        self.reaches_after(end, end.saturating_add(FOUND_HEADER as u64))?;
        Ok(self.object_in(from, end).filter(|position| *position < end))
    }

    /// Returns the kind of the bytes from `at` to `to`, after an end mark at `mark`. `is_more` is
    /// set if the input has bytes after `to`.
    pub(crate) fn after_mark(&self, mark: u64, at: u64, to: u64, is_more: bool) -> AfterMark {
        let window = self.window.from(at);
        if at == mark.saturating_add(1)
            && let Some(frame) = fastserial::frame_without_tag(window, mark, self.shift)
        {
            return AfterMark::Rest(frame);
        }
        let reach = index(to, at).saturating_add(FOUND_HEADER);
        match fastserial::find_any(window.get(..reach).unwrap_or(window)) {
            Some(Found::Block(found)) if found < index(to, at) || !is_more => {
                AfterMark::Block(at.saturating_add(found as u64))
            }
            Some(Found::Trace(_)) => AfterMark::Other,
            _ => AfterMark::Nothing,
        }
    }

    /// Searches for the next object after `from`, within `stride` bytes. With `to`, only
    /// an object that begins before it counts.
    pub(crate) fn search(&self, from: u64, to: Option<u64>, stride: u64) -> Result<Searched, Need> {
        let wanted = to.map_or(u64::MAX, |to| to).min(from.saturating_add(stride));
        let is_more =
            self.window.reaches(wanted.saturating_add(FOUND_HEADER as u64), Expects::Content)?;
        let window = self.window.from(from);
        let ahead = index(wanted, from);
        let searched = window.get(..ahead.saturating_add(FOUND_HEADER)).unwrap_or(window);
        // `to` is the end of a block that is too large to read. An object that begins there is
        // the next one, and no sign of damage.
        let is_within = |found: &usize| to.is_none() || *found < ahead;
        if let Some(found) = fastserial::find(searched).filter(is_within) {
            return Ok(Searched::Object(from.saturating_add(found as u64)));
        }
        let present = from.saturating_add(window.len() as u64);
        if to.is_some_and(|to| wanted >= to && present >= to) {
            return Ok(Searched::Nothing(wanted));
        }
        Ok(if is_more { Searched::Further(wanted) } else { Searched::Ended })
    }

    /// Tries the three other paddings. A padding fits if the content looks like its kind, and is
    /// followed by the object's end tag and then another object or the end of the stream. Returns
    /// `None` if the padding is right or none fits.
    fn realign(&self, frame: Frame) -> Result<Option<Verdict>, Need> {
        self.reaches_after(frame.body_end(), frame.body_end().saturating_add(BYTES_AFTER_BLOCK))?;
        if self.looks_right(frame) {
            return Ok(None);
        }
        for further in 1..4 {
            let shift = self.shift.wrapping_add(further) % 4;
            let mut block = frame;
            block.body.start = self.padded(frame, shift);
            let is_ended =
                fastserial::object_end(self.window.from(block.body_end())) == ObjectEnd::At(1);
            if is_ended
                && self.goes_on_at(block.body_end().saturating_add(1))?
                && self.looks_right(block)
            {
                return Ok(Some(Verdict::Realign { block, shift }));
            }
        }
        Ok(None)
    }

    /// Returns the position of the block's content for another shift.
    fn padded(&self, frame: Frame, shift: u8) -> u64 {
        let header = self.window.from(frame.start);
        match fastserial::frame(header, frame.start, shift) {
            Framed::Block(other) | Framed::Odd(other, _) => other.body.start,
            _ => frame.body.start,
        }
    }

    /// Returns whether the content begins as its kind does. Checks all of the content for kinds
    /// without a characteristic header.
    fn looks_right(&self, frame: Frame) -> bool {
        let content = self.window.content(&frame);
        match frame.kind {
            BlockKind::Event if self.version == Some(Version::V3) => is_whole_v3(content),
            // All writers store a header of 20 bytes, which alone distinguishes these kinds from
            // other bytes.
            BlockKind::Event | BlockKind::Metadata => {
                event_block_header(content).is_ok_and(|(_, header)| header.size == 20)
            }
            BlockKind::Stack => stack::is_whole(content),
            BlockKind::SequencePoint => sequence_point::is_whole_v4(content),
            _ => false,
        }
    }

    /// Returns whether all of the content consists of rows of its kind.
    fn is_all_rows(&self, frame: Frame) -> bool {
        let content = self.window.content(&frame);
        if !matches!(frame.kind, BlockKind::Event | BlockKind::Metadata)
            || self.version == Some(Version::V3)
        {
            return self.looks_right(frame);
        }
        let Ok((rows, header)) = event_block_header(content) else { return false };
        let encoding =
            if header.is_compressed { BlobEncoding::CompressedV4 } else { BlobEncoding::FixedV4 };
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

/// Returns whether all of the content of a version 3 block consists of rows.
fn is_whole_v3(content: &[u8]) -> bool {
    let mut rest = content;
    while !rest.is_empty() {
        match fixed_v3(&mut BlobHeader::default(), rest) {
            Ok((after, _)) => rest = after,
            Err(_) => return false,
        }
    }
    true
}

/// Returns the position of the last bytes of a block's content that are always searched.
pub(crate) fn tail(frame: &Frame) -> u64 {
    frame.body_end().saturating_sub(CHECKED_TAIL as u64).max(frame.body.start)
}
