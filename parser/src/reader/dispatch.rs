//! One step of the reader: hands each phase to the function for it.

use super::machine::Reader;
use super::phase::{Phase, Step};
use crate::error::Error;
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// One step. Walking an event block is inlined; everything else is not.
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

    /// One step, except for walking an event block.
    #[inline(never)]
    pub(super) fn step_block(&mut self) -> Result<Step, Error> {
        loop {
            match self.phase {
                Phase::Header => self.header()?,
                Phase::Trace => {
                    if let Some(frame) = self.first_block()? {
                        return Ok(Step::Block(frame));
                    }
                }
                Phase::Frame => {
                    if let Some(step) = self.frame()? {
                        return Ok(step);
                    }
                }
                Phase::Object(frame) => {
                    if let Some(step) = self.object(frame)? {
                        return Ok(step);
                    }
                }
                Phase::Rows => {
                    if self.rows() {
                        return Ok(Step::Event);
                    }
                }
                Phase::SequencePoint(frame) => return Ok(self.sequence_point(frame)),
                Phase::AfterContent(frame) => self.after_content(frame)?,
                Phase::Skip { frame, at, lost } => return self.skip(frame, at, lost),
                Phase::Search(search) => return self.search(search),
                Phase::Tail(tail) => return self.tail(tail),
                Phase::Planned => self.planned_block()?,
                Phase::End => return Ok(Step::End),
                Phase::Failed { .. } => return Err(self.phase.again()),
            }
        }
    }
}
