//! The end of the stream: its end mark and the bytes after it, or the point where the
//! input ends.

use super::phase::{Phase, STRIDE};
use super::{Reader, Step};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, FOUND_HEADER, Found};
use crate::format::v6;
use crate::resync::v6::{Behind, LOOK_BACK};
use crate::source::{Source, index};

/// State of the examination of bytes after an end mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Where the mark begins.
    mark: u64,
    /// Where it ends.
    from: u64,
    /// Bytes before this position have been examined.
    pub(super) at: u64,
    /// Whether to search for a block, which would prove that the mark is not one.
    is_searched: bool,
    /// Whether to wait for bytes.
    waits: bool,
}

impl<S: Source> Reader<S> {
    /// Handles an end mark at `mark`. With its content it extends to `end`, which may be
    /// beyond the end of the input.
    pub(super) fn end_mark(&mut self, mark: u64, end: u64) -> Result<(), Error> {
        let is_whole = self.source.fill(end)?;
        let has_content = self.has_content(mark, end);
        let end = if is_whole { end } else { self.source_end() };
        if has_content && !is_whole {
            // No writer gives the mark content yet. More likely damage changed the kind
            // of a block.
            let (class, fault) = (Class::Incomplete, Fault::Truncated);
            self.state.damage.add_outside(class, mark, 0, "end of stream", fault);
        }
        self.state.is_complete = is_whole;
        self.state.end_offset = Some(end);
        self.position = end;
        let waits = self.state.limits.waits_for_tail || has_content || self.is_in_header(end);
        self.phase = Phase::Tail(Tail { mark, from: end, at: end, is_searched: true, waits });
        Ok(())
    }

    /// The input ends before a block's content, or before the block.
    pub(super) fn end_in_header(&mut self, start: u64) {
        let end = self.source_end();
        if end > start {
            let (class, lost, context) =
                (Class::Incomplete, end.saturating_sub(start), "block header");
            self.state.damage.add_outside(class, start, lost, context, Fault::Truncated);
        }
        self.end_incomplete(end);
    }

    /// Where the source's bytes end, as far as they have been requested.
    pub(super) fn source_end(&self) -> u64 {
        self.source.start().saturating_add(self.source.bytes().len() as u64)
    }

    pub(super) fn end_incomplete(&mut self, end: u64) {
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::End;
    }

    /// Bytes after the end mark do not belong to the stream; their number is reported.
    /// But the mark is a single byte, and damage can create one: if another object
    /// follows somewhere, it was not an end mark. An object directly after the mark
    /// proves nothing; it does not belong to the stream, whatever it looks like.
    pub(super) fn tail(&mut self, tail: Tail) -> Result<Step, Error> {
        let Tail { mark, from, at, mut is_searched, .. } = tail;
        let needed =
            if at == from && self.state.is_v6() { mark.saturating_sub(LOOK_BACK) } else { at };
        self.source.release(self.keep_from.map_or(needed, |keep| keep.min(needed)));
        let is_more = self.ask(at.saturating_add(STRIDE).saturating_add(FOUND_HEADER as u64))?;
        let window = self.window_from(at);
        let left = from.saturating_add(self.state.limits.tail_bytes).saturating_sub(at);
        let passed = (window.len() as u64).min(if is_more { STRIDE } else { u64::MAX }).min(left);
        let reach = index(passed, 0).saturating_add(FOUND_HEADER);
        let ahead = window.get(..reach).unwrap_or(window);
        let is_v6 = self.state.is_v6();
        if is_searched && is_v6 {
            let to = at.saturating_add(passed);
            match self.decide_v6(|blocks| blocks.behind_mark(mark, from, at, to))? {
                Behind::Block(position) => {
                    self.go_on_behind_mark(mark, position);
                    return Ok(Step::Passed);
                }
                Behind::Other => is_searched = false,
                Behind::Nothing => {}
            }
            return Ok(self.passed_tail(
                Tail { at: at.saturating_add(passed), is_searched, ..tail },
                is_more,
            ));
        }
        match is_searched.then(|| fastserial::find_any(ahead)).flatten() {
            // Some writers store the mark as four bytes.
            Some(Found::Block(found)) if is_blank(ahead.get(..found)) && at == from => {
                is_searched = false
            }
            Some(Found::Block(found)) if (found as u64) < passed || !is_more => {
                self.go_on_behind_mark(mark, at.saturating_add(found as u64));
                return Ok(Step::Passed);
            }
            // The beginning of another stream.
            Some(Found::Trace(_)) => is_searched = false,
            _ => {}
        }
        Ok(self.passed_tail(Tail { at: at.saturating_add(passed), is_searched, ..tail }, is_more))
    }

    /// Extends the window to a position after the end mark, if the bytes are available.
    /// There need not be any, so only a limited number is requested, and none is waited
    /// for unless the mark seems to come from damage.
    pub(super) fn ask(&mut self, end: u64) -> Result<bool, Error> {
        let Phase::Tail(Tail { from, waits, .. }) = self.phase else {
            return Ok(self.source.fill(end)?);
        };
        // One more byte shows whether there are more.
        let most = from.saturating_add(self.state.limits.tail_bytes).saturating_add(1);
        let is_there = if waits {
            self.source.fill(end.min(most))?
        } else {
            self.source.fill_at_once(end.min(most))?
        };
        Ok(is_there && end <= most)
    }

    /// Whether this is an end mark of version 6 with content.
    fn has_content(&self, mark: u64, end: u64) -> bool {
        self.state.is_v6() && end.saturating_sub(mark) > v6::HEADER as u64
    }

    /// Whether the mark was the first byte of an object's header, the rest of which
    /// follows: flipping one bit turns a begin tag into an end mark.
    fn is_in_header(&self, from: u64) -> bool {
        !self.state.is_v6() && fastserial::is_rest_of_header(self.window_from(from))
    }

    /// The bytes after the end mark have been examined up to `at`.
    fn passed_tail(&mut self, tail: Tail, is_more: bool) -> Step {
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
            // A mark with content may be a block whose kind damage has changed, and then
            // what follows belongs to the stream.
            let class =
                if self.has_content(mark, from) { Class::Contradiction } else { Class::Note };
            self.state.damage.add_outside(class, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Step::Passed
    }

    /// What looked like the end mark was not one: an object, or a version 6 block, begins
    /// at `position`.
    #[cold]
    fn go_on_behind_mark(&mut self, mark: u64, position: u64) {
        if self.state.is_v6() {
            self.take_back(position);
        }
        let (class, lost) = (Class::FramingLost, position.saturating_sub(mark));
        let (context, fault) = match self.state.is_v6() {
            true => ("block header", Fault::UnknownBlock(0)),
            false => ("object header", fastserial::not_the_end()),
        };
        self.state.damage.add_outside(class, mark, lost, context, fault);
        self.state.blocks_were_lost = true;
        self.state.is_complete = false;
        self.state.end_offset = None;
        self.position = position;
        self.phase = Phase::Frame;
    }
}

/// Whether there is nothing in between except the rest of a four-byte mark.
fn is_blank(between: Option<&[u8]>) -> bool {
    between.is_some_and(|bytes| bytes.len() <= 3 && bytes.iter().all(|byte| *byte == 0))
}
