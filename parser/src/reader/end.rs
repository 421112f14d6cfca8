//! The stream's end: its mark and what follows it, or the place where the bytes run out.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use super::phase::{Phase, STRIDE};
use super::{Reader, Step};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// The end mark, which may have content, reaches to `end`; the input may stop before.
    pub(super) fn end_mark(&mut self, end: u64) -> Result<(), Error> {
        let end = if self.source.fill(end)? { end } else { self.source_end() };
        self.state.is_complete = true;
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::Tail { from: end, at: end };
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

    /// Bytes behind the end mark do not belong to the stream; how many there are is noted.
    pub(super) fn tail(&mut self, from: u64, at: u64) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
        let is_more = self.source.fill(at.saturating_add(STRIDE))?;
        let passed = (self.window_from(at).len() as u64).min(if is_more { STRIDE } else { u64::MAX });
        let at = at.saturating_add(passed);
        if is_more {
            self.phase = Phase::Tail { from, at };
            return Ok(Step::Passed);
        }
        if at > from {
            let fault = Fault::TrailingBytes(at.saturating_sub(from));
            self.state.damage.add_outside(Class::Note, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Ok(Step::Passed)
    }
}
