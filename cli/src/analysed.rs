//! A trace that an analysis or a report reads.

use crate::context::{Trace, failed};
use crate::failure::Failure;
use crate::input::{Ended, Input};
use nettrace_analysis::diff::DiffPass;
use nettrace_analysis::page::PagePass;
use nettrace_analysis::report::{Report, ReportPass};
use nettrace_analysis::{Analysis, AnalysisError};
use nettrace_parser::{Event, Outcome, TimeOrdered};

/// What takes a whole trace.
pub(crate) trait Reads {
    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError>;
}

impl Reads for PagePass {
    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError> {
        Ok(self.read(events)?)
    }
}

impl Reads for DiffPass {
    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError> {
        Ok(self.read(events)?)
    }
}

impl Reads for Analysis<'_> {
    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError> {
        self.read(events)
    }
}

impl<R: Report> Reads for ReportPass<R> {
    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError> {
        Ok(self.read(events)?)
    }
}

/// The trace. The reader is kept: it knows of the packed file too.
pub(crate) struct Analysed {
    /// As messages name it.
    pub(crate) file: String,
    events: TimeOrdered<Input>,
}

impl Analysed {
    /// What cannot be read at all fails here.
    pub(crate) fn new(trace: Trace) -> Result<Analysed, Failure> {
        let mut events = trace.reader.time_ordered();
        events.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
        Ok(Analysed { file: trace.file, events })
    }

    /// Reads it to its end.
    pub(crate) fn read(&mut self, reads: &mut dyn Reads) -> Result<(), Failure> {
        self.read_or(reads, &|file, error| Failure::Input {
            file: file.to_owned(),
            message: error.to_string(),
        })
    }

    /// The same; `other` is what it means that something else than reading fails.
    pub(crate) fn read_or(
        &mut self,
        reads: &mut dyn Reads,
        other: &dyn Fn(&str, AnalysisError) -> Failure,
    ) -> Result<(), Failure> {
        reads.read(&mut self.events).map(drop).map_err(|error| match error {
            AnalysisError::Read(error) => failed(&self.file, self.events.reader(), &error),
            error => other(&self.file, error),
        })
    }

    /// The next event, in time order.
    pub(crate) fn next_event(&mut self) -> Result<Option<Event<'_>>, Failure> {
        let position = self.events.reader().position();
        let Analysed { file, events } = self;
        events.next_event().map_err(|error| Failure::read(file, &error, position))
    }

    /// How it ended.
    pub(crate) fn ended(&self) -> Ended {
        self.events.reader().into()
    }
}
