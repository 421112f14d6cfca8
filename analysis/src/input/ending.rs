//! How reading a trace ended.

use super::packing::{Packing, UnpackFault};
use super::trace_bytes::TraceBytes;
use crate::info::{Survey, TraceInfo};
use crate::report::OutcomeReport;
use nettrace_parser::{Outcome, Reader};
use std::ops::Deref;

/// Result of reading a trace, by one thread or by several: the stream's [`Outcome`], and the fault
/// of the compressed file around it.
#[derive(Debug)]
pub struct Ended {
    outcome: Outcome,
    packing: Option<Packing>,
    unpack_fault: Option<UnpackFault>,
    unread_times: Option<UnreadTimes>,
}

/// Why times of threads that lie behind a trace could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadTimes {
    /// Standard input has no end that could be looked at first.
    Stdin,
    /// The streams of a compressed file were packed as one.
    Packed,
}

impl UnreadTimes {
    /// Returns a sentence with what to do.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            UnreadTimes::Stdin => {
                "the times of threads behind the trace are not used, because standard input has \
                 them last: give the file's name"
            }
            UnreadTimes::Packed => {
                "the times of threads behind the trace are not used, because the file was packed \
                 as a whole: unpack it first"
            }
        }
    }
}

impl Ended {
    /// Returns how reading a trace ended, of which these are the bytes, unless they are a mapped file's.
    #[must_use]
    pub fn new(outcome: Outcome, bytes: Option<&TraceBytes>) -> Ended {
        let packing = bytes.and_then(TraceBytes::packing);
        let unpack_fault = bytes.and_then(TraceBytes::unpack_fault);
        Ended { outcome, packing, unpack_fault, unread_times: None }
    }

    /// Sets that a file which is no trace was read to its end, at this offset.
    #[must_use]
    pub fn of_whole_file(mut self, end_offset: u64) -> Ended {
        (self.outcome.is_complete, self.outcome.end_offset) = (true, end_offset);
        self
    }

    /// Sets why times of threads could not be read.
    pub fn set_unread_times(&mut self, unread_times: Option<UnreadTimes>) {
        self.unread_times = unread_times;
    }

    /// Returns why times of threads could not be read; `None` if they were, or there are none.
    #[must_use]
    pub fn unread_times(&self) -> Option<UnreadTimes> {
        self.unread_times
    }

    /// Returns how the file is packed; `None` if it is not.
    #[must_use]
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// Returns the fault of the packed file.
    #[must_use]
    pub fn unpack_fault(&self) -> Option<UnpackFault> {
        self.unpack_fault
    }

    /// Returns information about the trace and the compressed file around it.
    #[must_use]
    pub fn info(&self, survey: &Survey, header: &nettrace_parser::Trace) -> TraceInfo {
        let mut info = survey.info(header, self);
        info.compressed = self.packing.is_some();
        if let Some(fault) = self.unpack_fault {
            let what = fault.what().to_owned();
            info.add_file_fault(fault.offset, "compressed file", what, fault.is_loss());
        }
        info
    }

    /// Returns the outcome of reading as documents show it. A fault of the compressed file counts
    /// as damage.
    #[must_use]
    pub fn outcome(&self) -> OutcomeReport {
        let mut outcome = OutcomeReport::from_outcome(self);
        if let Some(fault) = self.unpack_fault.filter(|fault| fault.is_loss()) {
            outcome.add_file_fault(fault.offset, "compressed file", fault.what().to_owned());
        }
        outcome
    }
}

impl Deref for Ended {
    type Target = Outcome;

    fn deref(&self) -> &Outcome {
        &self.outcome
    }
}

impl From<&Reader<TraceBytes>> for Ended {
    fn from(reader: &Reader<TraceBytes>) -> Ended {
        Ended::new(reader.outcome(), Some(reader.source()))
    }
}

/// Several threads read only plain files, so an outcome from them has no compressed file.
impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Ended {
        Ended::new(outcome, None)
    }
}
