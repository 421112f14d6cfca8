//! What comes next in the stream, and the step that handles it.

use super::end::Tail;
use super::recovery::Search;
use super::{Reader, Step};
use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::source::{Source, part};

/// The next step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// Read the stream's header.
    Header,
    /// Read the first block.
    Trace,
    /// Frame the next block, at the reader's position.
    Frame,
    /// Walk the blobs of the cursor's block.
    Rows,
    /// Read a sequence point, after its barrier was announced.
    SequencePoint(Frame),
    /// Check what follows a block's content.
    AfterContent(Frame),
    /// Skip content without reading it; with a fault, it is lost.
    Skip { frame: Frame, at: u64, lost: Option<(&'static str, Fault)> },
    /// Search for the next object.
    Search(Search),
    /// Examine bytes after the end mark.
    Tail(Tail),
    /// Open the next block that was found before.
    Planned,
    /// Nothing is left.
    End,
    /// The stream's beginning could not be read.
    Failed { offset: u64, context: &'static str, fault: Fault },
}

impl Phase {
    /// How far a range has been skipped, while in the middle of it.
    pub(super) fn reached(&self) -> Option<u64> {
        match *self {
            Phase::Skip { at, .. } | Phase::Tail(Tail { at, .. }) => Some(at),
            Phase::Search(search) => Some(search.at),
            Phase::AfterContent(frame) => Some(frame.body_end()),
            _ => None,
        }
    }

    /// The error that made reading fail at the beginning.
    pub(super) fn again(&self) -> Error {
        match *self {
            Phase::Failed { offset, context, fault } => Error::Format { offset, context, fault },
            _ => {
                Error::Format { offset: 0, context: "stream header", fault: Fault::HeaderTruncated }
            }
        }
    }
}

/// How many bytes to request at a time if no size says how many there are.
pub(super) const STRIDE: u64 = 64 * 1024;

impl<S: Source> Reader<S> {
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
                Phase::Rows => {
                    if self.rows()? {
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

/// A block's content, as far as it is in the window.
pub(super) fn body_of<'s, S: Source>(source: &'s S, frame: &Frame) -> &'s [u8] {
    part(source.bytes(), source.start(), frame.body)
}
