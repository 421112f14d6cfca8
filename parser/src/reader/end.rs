//! The stream's end: its mark and what follows it, or the place where the bytes run out.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use super::phase::{Phase, STRIDE};
use super::{Reader, Step};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, FOUND_HEADER, Found};
use crate::source::{Source, index};

impl<S: Source> Reader<S> {
    /// The end mark, which may have content, reaches to `end`; the input may stop before.
    pub(super) fn end_mark(&mut self, end: u64) -> Result<(), Error> {
        let end = if self.source.fill(end)? { end } else { self.source_end() };
        self.state.is_complete = true;
        self.state.end_offset = Some(end);
        self.position = end;
        let is_searched = !self.state.is_v6();
        self.phase = Phase::Tail { from: end, at: end, is_searched };
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
    pub(super) fn tail(&mut self, from: u64, at: u64, mut is_searched: bool) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
        let is_more = self.source.fill(at.saturating_add(STRIDE).saturating_add(FOUND_HEADER as u64))?;
        let window = self.window_from(at);
        let passed = (window.len() as u64).min(if is_more { STRIDE } else { u64::MAX });
        let reach = index(passed, 0).saturating_add(FOUND_HEADER);
        let ahead = window.get(..reach).unwrap_or(window);
        match is_searched.then(|| fastserial::find_any(ahead)).flatten() {
            // Some writers store the mark in four bytes.
            Some(Found::Block(found)) if is_blank(ahead.get(..found)) && at == from => is_searched = false,
            Some(Found::Block(found)) if (found as u64) < passed || !is_more => {
                self.go_on_behind_mark(from, at.saturating_add(found as u64));
                return Ok(Step::Passed);
            }
            // Another stream begins.
            Some(Found::Trace(_)) => is_searched = false,
            _ => {}
        }
        let at = at.saturating_add(passed);
        if is_more {
            self.phase = Phase::Tail { from, at, is_searched };
            return Ok(Step::Passed);
        }
        if at > from {
            let fault = Fault::TrailingBytes(at.saturating_sub(from));
            self.state.damage.add_outside(Class::Note, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Ok(Step::Passed)
    }

    /// What was taken for the end mark, before `from`, was none: an object begins at `position`.
    #[cold]
    fn go_on_behind_mark(&mut self, from: u64, position: u64) {
        let mark = from.saturating_sub(1);
        let (class, lost, fault) =
            (Class::FramingLost, position.saturating_sub(mark), fastserial::not_the_end());
        self.state.damage.add_outside(class, mark, lost, "object header", fault);
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
