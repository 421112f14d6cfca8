//! The end of the stream: its end mark and the bytes after it, or the point where the
//! input ends.

use super::machine::Reader;
use super::phase::{Phase, STRIDE, Step, Tail};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, FOUND_HEADER};
use crate::format::v6;
use crate::resync::v6::LOOK_BACK;
use crate::resync::{AfterMark, GROWN_BYTES};
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// Handles an end mark at `mark`. With its content it extends to `end`, which may be
    /// beyond the end of the input.
    pub(super) fn handle_end_mark(&mut self, mark: u64, end: u64) -> Result<(), Error> {
        let is_whole = self.source.fill(end)?;
        let has_content = self.has_content(mark, end);
        let end = if is_whole { end } else { self.source_end() };
        if has_content && !is_whole {
            // No writer gives the mark content yet. More likely, damage changed the kind
            // of a block.
            let (class, fault) = (Class::Incomplete, Fault::Truncated);
            self.state.damage.add_outside(class, mark, 0, "end of stream", fault);
        }
        self.state.is_complete = is_whole;
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::Tail(Tail { mark, from: end, at: end, is_searched: true });
        Ok(())
    }

    /// Ends reading, because the input ends before a block's content, or before the
    /// block.
    pub(super) fn end_in_header(&mut self, start: u64) {
        let end = self.source_end();
        if end > start {
            let (class, lost, context) =
                (Class::Incomplete, end.saturating_sub(start), "block header");
            self.state.damage.add_outside(class, start, lost, context, Fault::Truncated);
        }
        self.end_incomplete(end);
    }

    /// Ends reading, because the input ends before a block's content does.
    pub(super) fn end_in_block(&mut self, body_end: u64, end: u64) {
        self.state.missing_bytes = body_end.saturating_sub(end);
        self.end_incomplete(end);
    }

    pub(super) fn end_incomplete(&mut self, end: u64) {
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::End;
    }

    /// Examines bytes after the end mark. They do not belong to the stream; their number
    /// is reported. Nearly every stream has none. But the mark is a single byte in
    /// versions 3 to 5 and four zeros in version 6, and damage can create one: if a block
    /// follows, directly or somewhere, it was not an end mark.
    pub(super) fn examine_tail(&mut self, tail: Tail) -> Result<Step, Error> {
        let Tail { mark, from, at, mut is_searched } = tail;
        // The bytes after the mark may be the content of a block.
        let is_near = at.saturating_sub(from) <= GROWN_BYTES;
        let needed =
            if is_near && self.state.is_v6() { mark.saturating_sub(LOOK_BACK) } else { at };
        self.source.release(self.keep_from.map_or(needed, |keep| keep.min(needed)));
        let is_more =
            self.request(at.saturating_add(STRIDE).saturating_add(FOUND_HEADER as u64))?;
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

    /// Extends the window to a position after the end mark, if the bytes are available.
    /// There need not be any, so only a limited number is requested, and the reader does
    /// not wait for them unless the caller wants that.
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

    /// Returns whether this is an end mark of version 6 with content.
    fn has_content(&self, mark: u64, end: u64) -> bool {
        self.state.is_v6() && end.saturating_sub(mark) > v6::HEADER as u64
    }

    /// Notes that the bytes after the end mark have been examined up to `at`.
    fn pass_tail(&mut self, tail: Tail, is_more: bool) -> Step {
        let Tail { mark, from, at, .. } = tail;
        let passed = at.saturating_sub(from);
        if is_more && passed < self.state.limits.tail_bytes {
            self.phase = Phase::Tail(tail);
            return Step::Passed;
        }
        if passed > 0 {
            let fault = match self.window_from(at) {
                [] => Fault::TrailingBytes(passed),
                _ => Fault::MoreTrailingBytes(passed),
            };
            // A mark with content may be a block whose kind damage has changed. Then the
            // bytes after it belong to the stream.
            let class =
                if self.has_content(mark, from) { Class::Contradiction } else { Class::Note };
            self.state.damage.add_outside(class, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Step::Passed
    }

    /// Continues after an end mark that was not one: an object, or a version 6 block,
    /// begins at `position`.
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

    /// Returns what is wrong with an end mark after which the stream goes on.
    fn no_end_mark(&self) -> (&'static str, Fault) {
        match self.state.is_v6() {
            true => ("block header", Fault::UnknownBlock(0)),
            false => ("object header", fastserial::not_the_end()),
        }
    }

    /// Continues at a position: the stream has not ended after all.
    fn go_on(&mut self, position: u64, phase: Phase) {
        self.state.is_complete = false;
        self.state.end_offset = None;
        self.state.missing_bytes = 0;
        self.position = position;
        self.phase = phase;
    }
}
