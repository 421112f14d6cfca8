//! The stream's end: its mark and what follows it, or the place where the bytes run out.

use super::phase::{Phase, STRIDE};
use super::{Reader, Step};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, FOUND_HEADER, Found};
use crate::resync::v6::{Behind, LOOK_BACK};
use crate::source::{Source, index};

/// The way through what follows an end mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Where the mark lies.
    mark: u64,
    /// Where it ends.
    from: u64,
    /// Bytes before this were looked at.
    pub(super) at: u64,
    /// Whether a block that shows that the mark is none is still looked for.
    is_searched: bool,
    /// Whether bytes are waited for.
    waits: bool,
}

impl<S: Source> Reader<S> {
    /// The end mark at `mark`, which may have content, reaches to `end`; the input may stop before.
    pub(super) fn end_mark(&mut self, mark: u64, end: u64) -> Result<(), Error> {
        let end = if self.source.fill(end)? { end } else { self.source_end() };
        self.state.is_complete = true;
        self.state.end_offset = Some(end);
        self.position = end;
        let waits = self.state.limits.waits_for_tail || self.is_in_header(end);
        self.phase = Phase::Tail(Tail { mark, from: end, at: end, is_searched: true, waits });
        Ok(())
    }

    /// The input ends before a block's content, if not before the block.
    pub(super) fn end_in_header(&mut self, start: u64) {
        let end = self.source_end();
        if end > start {
            let (class, lost, context) = (Class::Incomplete, end.saturating_sub(start), "block header");
            self.state.damage.add_outside(class, start, lost, context, Fault::Truncated);
        }
        self.end_incomplete(end);
    }

    /// Where the source's bytes end, as far as they have been asked for.
    pub(super) fn source_end(&self) -> u64 {
        self.source.start().saturating_add(self.source.bytes().len() as u64)
    }

    pub(super) fn end_incomplete(&mut self, end: u64) {
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::End;
    }

    /// Bytes behind the end mark do not belong to the stream; how many there are is noted. But the mark
    /// is a single byte, and damage can make one: if another object follows, it was none. But one right
    /// behind the mark does not belong to the stream, whatever it looks like.
    pub(super) fn tail(&mut self, tail: Tail) -> Result<Step, Error> {
        let Tail { mark, from, at, mut is_searched, .. } = tail;
        let needed = if at == from && self.state.is_v6() { mark.saturating_sub(LOOK_BACK) } else { at };
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
            return Ok(self.passed_tail(Tail { at: at.saturating_add(passed), is_searched, ..tail }, is_more));
        }
        match is_searched.then(|| fastserial::find_any(ahead)).flatten() {
            // Some writers store the mark in four bytes.
            Some(Found::Block(found)) if is_blank(ahead.get(..found)) && at == from => is_searched = false,
            Some(Found::Block(found)) if (found as u64) < passed || !is_more => {
                self.go_on_behind_mark(mark, at.saturating_add(found as u64));
                return Ok(Step::Passed);
            }
            // Another stream begins.
            Some(Found::Trace(_)) => is_searched = false,
            _ => {}
        }
        Ok(self.passed_tail(Tail { at: at.saturating_add(passed), is_searched, ..tail }, is_more))
    }

    /// Makes the window reach a position behind the end mark, if the bytes come. Nothing is due there: only so much is
    /// asked for, and nothing waited for, unless the mark seems to be none.
    pub(super) fn ask(&mut self, end: u64) -> Result<bool, Error> {
        let Phase::Tail(Tail { from, waits, .. }) = self.phase else { return Ok(self.source.fill(end)?) };
        // One byte more tells whether there are more.
        let most = from.saturating_add(self.state.limits.tail_bytes).saturating_add(1);
        let is_there =
            if waits { self.source.fill(end.min(most))? } else { self.source.fill_at_once(end.min(most))? };
        Ok(is_there && end <= most)
    }

    /// Whether the mark was the first byte of an object's header, of which the rest stands behind it: one bit makes a
    /// mark of it.
    fn is_in_header(&self, from: u64) -> bool {
        !self.state.is_v6() && fastserial::is_rest_of_header(self.window_from(from))
    }

    /// Bytes up to `at` went by behind the end mark.
    fn passed_tail(&mut self, tail: Tail, is_more: bool) -> Step {
        let Tail { from, at, .. } = tail;
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
            self.state.damage.add_outside(Class::Note, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Step::Passed
    }

    /// What was taken for the end mark was none: an object, or a block of version 6, begins at `position`.
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

/// Whether nothing but what is left of a mark of four bytes is between.
fn is_blank(between: Option<&[u8]>) -> bool {
    between.is_some_and(|bytes| bytes.len() <= 3 && bytes.iter().all(|byte| *byte == 0))
}
