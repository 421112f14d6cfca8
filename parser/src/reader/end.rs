//! Reads the end of the stream: its end mark and the bytes after it, or the end of the input.

use super::machine::Reader;
use super::phase::{Phase, STRIDE, Step, Tail};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::following::{Following, MAGIC, TRAILER_BYTES};
use crate::format::fastserial::{self, FOUND_HEADER};
use crate::format::v6;
use crate::frame::{BlockKind, Frame};
use crate::resync::v6::LOOK_BACK;
use crate::resync::{AfterMark, GROWN_BYTES};
use crate::source::{Source, Span};

impl<S: Source> Reader<S> {
    /// Handles an end mark from `mark` to `end`, which includes the mark's content and may be
    /// beyond the end of the input.
    pub(super) fn handle_end_mark(&mut self, mark: u64, end: u64) -> Result<(), Error> {
        let is_whole = self.source.fill(end)?;
        let nothing = Span { start: mark, len: 0 };
        let frame = Frame { kind: BlockKind::UNKNOWN_OBJECT, start: mark, body: nothing };
        self.state.list_block(&frame, mark);
        let has_content = self.has_content(mark, end);
        let end = if is_whole { end } else { self.source_end() };
        if has_content && !is_whole {
            // No writer gives the mark content yet, so it may be a block whose kind damage has
            // changed.
            let (class, fault) = (Class::Incomplete, Fault::Truncated);
            self.state.damage.add_outside(class, mark, 0, "end of stream", fault);
        }
        self.state.is_complete = is_whole;
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::Tail(Tail { mark, from: end, at: end, is_searched: true });
        Ok(())
    }

    /// Ends reading, because the input ends at or in the header of the block at `start`.
    pub(super) fn end_in_header(&mut self, start: u64) {
        let end = self.source_end();
        if end > start {
            let (class, lost, context) =
                (Class::Incomplete, end.saturating_sub(start), "block header");
            self.state.damage.add_outside(class, start, lost, context, Fault::Truncated);
        }
        self.end_incomplete(end);
    }

    /// Ends reading at `end`, because the input ends within a block's content.
    pub(super) fn end_in_block(&mut self, body_end: u64, end: u64) {
        self.state.missing_bytes = body_end.saturating_sub(end);
        self.end_incomplete(end);
    }

    pub(super) fn end_incomplete(&mut self, end: u64) {
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::End;
    }

    /// Examines bytes after the end mark, which nearly no stream has, and reports their number.
    /// The mark is a single byte in versions 3 to 5 and four zeros in version 6, so damage can
    /// create one. If a block follows somewhere, it was no end mark.
    pub(super) fn examine_tail(&mut self, tail: Tail) -> Result<Step, Error> {
        let Tail { mark, from, at, mut is_searched } = tail;
        // The bytes around the mark are kept, because they may belong to a block.
        let is_near = at.saturating_sub(from) <= GROWN_BYTES;
        let needed = match is_near && self.state.is_v6() {
            true => mark.saturating_sub(LOOK_BACK),
            false => at.saturating_sub(TRAILER_BYTES as u64),
        };
        self.source.release(self.keep_from.map_or(needed, |keep| keep.min(needed)));
        let is_more =
            self.request(at.saturating_add(STRIDE).saturating_add(FOUND_HEADER as u64))?;
        if at == from && is_searched {
            self.state.goes_on = self.window_from(at).starts_with(&MAGIC);
        }
        let present = self.window_from(at).len() as u64;
        let left = from.saturating_add(self.state.limits.tail_bytes).saturating_sub(at);
        let passed = present.min(if is_more { STRIDE } else { u64::MAX }).min(left);
        let to = at.saturating_add(passed);
        if is_searched {
            let after = match self.state.is_v6() {
                true => self.decide_v6(|blocks| blocks.after_mark(mark, from, at, to))?,
                false => self.decide(|objects| Ok(objects.after_mark(mark, at, to, is_more)))?,
            };
            match after {
                AfterMark::Block(position) => {
                    self.go_on_after_mark(mark, position);
                    return Ok(Step::Passed);
                }
                AfterMark::Rest(frame) => {
                    let (context, fault) = self.no_end_mark();
                    let class = Class::Contradiction;
                    self.state.damage.add_outside(class, mark, 0, context, fault);
                    self.go_on(mark, Phase::Object(frame));
                    return Ok(Step::Passed);
                }
                AfterMark::Other => is_searched = false,
                AfterMark::Nothing => {}
            }
        }
        Ok(self.pass_tail(Tail { at: to, is_searched, ..tail }, is_more))
    }

    /// Extends the window to a position. There may be no bytes after the end mark. So only a
    /// limited number of them is requested, and the reader waits for them only if the caller wants
    /// that.
    pub(super) fn request(&mut self, end: u64) -> Result<bool, Error> {
        let Phase::Tail(Tail { from, .. }) = self.phase else {
            return Ok(self.source.fill(end)?);
        };
        // One more byte shows whether there are more.
        let max_end = from.saturating_add(self.state.limits.tail_bytes).saturating_add(1);
        let is_there = if self.waits_for_tail {
            self.source.fill(end.min(max_end))?
        } else {
            self.source.fill_at_once(end.min(max_end))?
        };
        Ok(is_there && end <= max_end)
    }

    /// Returns whether an end mark of version 6 has content.
    fn has_content(&self, mark: u64, end: u64) -> bool {
        self.state.is_v6() && end.saturating_sub(mark) > v6::HEADER as u64
    }

    /// Ends reading if all bytes after the end mark were examined, and reports their number.
    fn pass_tail(&mut self, tail: Tail, is_more: bool) -> Step {
        let Tail { mark, from, at, .. } = tail;
        let passed = at.saturating_sub(from);
        if is_more && passed < self.state.limits.tail_bytes {
            self.phase = Phase::Tail(tail);
            return Step::Passed;
        }
        if passed > 0 && !self.is_second_stream(tail) {
            let fault = match self.window_from(at) {
                [] => Fault::TrailingBytes(passed),
                _ => Fault::MoreTrailingBytes(passed),
            };
            // A mark with content may be a block whose kind damage has changed.
            let class =
                if self.has_content(mark, from) { Class::Contradiction } else { Class::Note };
            self.state.damage.add_outside(class, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Step::Passed
    }

    /// Returns whether the bytes after the end mark are a second stream and the length by which
    /// it is found, and nothing else.
    fn is_second_stream(&self, tail: Tail) -> bool {
        let trailer_at = tail.at.saturating_sub(TRAILER_BYTES as u64);
        let trailer = <&[u8; TRAILER_BYTES]>::try_from(self.window_from(trailer_at)).ok();
        let following = trailer.and_then(|trailer| Following::from_trailer(trailer, trailer_at));
        !tail.is_searched && following.is_some_and(|following| following.start == tail.from)
    }

    /// Continues at `position`, where an object or a version 6 block begins, after something that
    /// only looked like an end mark.
    #[cold]
    fn go_on_after_mark(&mut self, mark: u64, position: u64) {
        if self.state.is_v6() {
            self.take_back(position);
        }
        let (class, lost) = (Class::FramingLost, position.saturating_sub(mark));
        let (context, fault) = self.no_end_mark();
        self.state.damage.add_outside(class, mark, lost, context, fault);
        self.state.blocks_were_lost = true;
        self.go_on(position, Phase::Frame);
    }

    /// Returns the context and the fault of an end mark after which the stream goes on.
    fn no_end_mark(&self) -> (&'static str, Fault) {
        match self.state.is_v6() {
            true => ("block header", Fault::UnknownBlock(0)),
            false => ("object header", fastserial::not_the_end()),
        }
    }

    /// Continues at a position, because the stream has not ended after all.
    fn go_on(&mut self, position: u64, phase: Phase) {
        self.state.is_complete = false;
        self.state.end_offset = None;
        self.state.goes_on = false;
        self.state.missing_bytes = 0;
        self.position = position;
        self.phase = phase;
    }
}
