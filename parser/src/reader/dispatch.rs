//! Makes one step of the reader by calling the function of its phase.

use super::machine::Reader;
use super::phase::{Phase, Step};
use crate::error::Error;
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// Makes one step. Walking an event block is inlined; everything else is not.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Step, Error> {
        if !self.state.cursor.is_done() {
            let (window, start) = (self.source.bytes(), self.source.start());
            if self.state.next_blob(window, start) {
                return Ok(Step::Event);
            }
        }
        self.step_block()
    }

    /// Makes one step, except for walking an event block.
    #[inline(never)]
    pub(super) fn step_block(&mut self) -> Result<Step, Error> {
        loop {
            match self.phase {
                Phase::Header => self.read_header()?,
                Phase::Trace => {
                    if let Some(frame) = self.read_first_block()? {
                        return Ok(Step::Block(frame));
                    }
                }
                Phase::Frame => {
                    if let Some(step) = self.read_frame()? {
                        return Ok(step);
                    }
                }
                Phase::Object(frame) => {
                    if let Some(step) = self.read_object(frame)? {
                        return Ok(step);
                    }
                }
                Phase::Rows => {
                    if self.read_rows() {
                        return Ok(Step::Event);
                    }
                }
                Phase::SequencePoint(frame) => return Ok(self.read_sequence_point(frame)),
                Phase::AfterContent(frame) => self.check_after_content(frame)?,
                Phase::Skip { frame, at, lost } => return self.skip(frame, at, lost),
                Phase::Search(search) => return self.search(search),
                Phase::Tail(tail) => return self.examine_tail(tail),
                Phase::Planned => self.open_planned_block()?,
                Phase::End => return Ok(Step::End),
                Phase::Failed { .. } => return Err(self.phase.failure()),
            }
        }
    }
}
