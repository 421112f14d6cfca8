//! Defines the phases of reading, and the results of steps.

use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::source::{Source, part};

/// Result of one step of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The cursor is at an event.
    Event,
    /// A block was read. Its content is in the tables, except for events.
    Block(Frame),
    /// A block was skipped.
    Skipped(Frame),
    /// Bytes that belong to no block were skipped.
    Passed,
    /// A sequence point or the end comes next, so events that wait for their turn in time order
    /// must be delivered before the next step.
    Barrier,
    /// The stream has ended.
    End,
}

/// State of a search for the next object header, after framing was lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// Position of the fault.
    pub(super) offset: u64,
    pub(super) context: &'static str,
    pub(super) fault: Fault,
    pub(super) origin: Origin,
    /// Position before which bytes have been searched.
    pub(super) at: u64,
    /// Position of the first lost byte that was not reported as lost before.
    pub(super) lost_from: u64,
}

/// Reason for a search.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// No object begins where one should.
    Between,
    /// A block's content is not followed by the bytes that end an object.
    ObjectEnd(Frame),
    /// A block is larger than the limit, which is more likely damage than a block.
    Limit(Frame),
}

impl Search {
    /// Returns the result of the step in which the search ends.
    pub(super) fn step(&self) -> Step {
        match self.origin {
            Origin::Limit(frame) => Step::Skipped(frame),
            _ => Step::Passed,
        }
    }

    /// Returns the position at which the search ends if nothing was found; `None` for the end of
    /// the input.
    pub(super) fn end(&self) -> Option<u64> {
        match self.origin {
            Origin::Limit(frame) => Some(frame.body_end()),
            _ => None,
        }
    }
}

/// State of the examination of bytes after an end mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Position of the end mark.
    pub(super) mark: u64,
    /// Position after the end mark.
    pub(super) from: u64,
    /// Position before which bytes have been examined.
    pub(super) at: u64,
    /// Whether to search for a block, which would prove that the stream has not ended.
    pub(super) is_searched: bool,
}

/// Task of the next step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// Read the stream's header.
    Header,
    /// Read the first block.
    Trace,
    /// Frame the next block, at the reader's position.
    Frame,
    /// Read the object that was found in place of an end mark.
    Object(Frame),
    /// Walk the blobs of the cursor's block.
    Rows,
    /// Read a sequence point, after its barrier was announced.
    SequencePoint(Frame),
    /// Check the bytes after a block's content.
    AfterContent(Frame),
    /// Skip content without reading it. If `lost` has a fault, the content counts as lost.
    Skip { frame: Frame, at: u64, lost: Option<(&'static str, Fault)> },
    /// Search for the next object.
    Search(Search),
    /// Examine bytes after the end mark.
    Tail(Tail),
    /// Open the next block of a plan.
    Planned,
    /// Nothing to do, because the stream has ended.
    End,
    /// The stream's beginning could not be read.
    Failed { offset: u64, context: &'static str, fault: Fault },
}

impl Phase {
    /// Returns the position up to which a range was skipped; `None` if none is being skipped.
    pub(super) fn reached(&self) -> Option<u64> {
        match *self {
            Phase::Skip { at, .. } | Phase::Tail(Tail { at, .. }) => Some(at),
            Phase::Search(search) => Some(search.at),
            Phase::AfterContent(frame) => Some(frame.body_end()),
            _ => None,
        }
    }

    /// Returns the error of a stream whose beginning could not be read.
    pub(super) fn failure(&self) -> Error {
        match *self {
            Phase::Failed { offset, context, fault } => Error::Format { offset, context, fault },
            _ => {
                Error::Format { offset: 0, context: "stream header", fault: Fault::HeaderTruncated }
            }
        }
    }
}

/// Number of bytes to request at a time where no size states how many follow.
pub(super) const STRIDE: u64 = 64 * 1024;

/// Returns a block's content, as far as it is in the window.
pub(super) fn body_of<'s, S: Source>(source: &'s S, frame: &Frame) -> &'s [u8] {
    part(source.bytes(), source.start(), frame.body)
}
