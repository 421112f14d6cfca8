//! A trace that an analysis or a report reads, with one thread or with several.

use super::{Trace, failed};
use crate::args::ThreadArgs;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions};
use nettrace_analysis::report::{Report, ReportPass};
use nettrace_analysis::{Analysis, AnalysisError};
use nettrace_parser::{Event, Outcome, TimeOrdered, Version};

/// What takes a whole trace.
pub(super) trait Reads {
    /// Whether several threads make it faster.
    fn gains_from_threads(&self, version: Option<Version>) -> bool;
    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError>;
    fn read_regions(&mut self, regions: &Regions) -> Result<Outcome, AnalysisError>;
}

impl Reads for Analysis<'_> {
    fn gains_from_threads(&self, version: Option<Version>) -> bool {
        self.gains_from_threads(version)
    }

    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError> {
        self.read(events)
    }

    fn read_regions(&mut self, regions: &Regions) -> Result<Outcome, AnalysisError> {
        regions.with(|source, threads, progress| self.read_regions(source, threads, progress))
    }
}

impl<R: Report> Reads for ReportPass<R> {
    fn gains_from_threads(&self, version: Option<Version>) -> bool {
        self.gains_from_threads(version)
    }

    fn read(&mut self, events: &mut TimeOrdered<Input>) -> Result<Outcome, AnalysisError> {
        Ok(self.read(events)?)
    }

    fn read_regions(&mut self, regions: &Regions) -> Result<Outcome, AnalysisError> {
        Ok(regions.with(|source, threads, progress| self.read_regions(source, threads, progress))?)
    }
}

/// The trace; once it was read, what is known of it.
pub(super) struct Analysed {
    /// As messages name it.
    pub(super) file: String,
    events: TimeOrdered<Input>,
    regions: Option<Regions>,
    outcome: Option<Outcome>,
}

impl Analysed {
    /// What cannot be read at all fails here.
    pub(super) fn new(trace: Trace, threads: ThreadArgs) -> Result<Analysed, Failure> {
        let regions = trace.regions(threads);
        let mut events = trace.reader.time_ordered();
        events.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
        Ok(Analysed { file: trace.file, events, regions, outcome: None })
    }

    /// Reads it to its end. `other`: what it means that something else than reading fails.
    pub(super) fn read(
        &mut self,
        reads: &mut dyn Reads,
        other: &dyn Fn(&str, AnalysisError) -> Failure,
    ) -> Result<(), Failure> {
        let gains = reads.gains_from_threads(self.events.reader().version());
        let result = match self.regions.as_ref().filter(|_| gains) {
            Some(regions) => reads.read_regions(regions).map(|outcome| self.outcome = Some(outcome)),
            // The reader is kept: it knows of the packed file too.
            None => reads.read(&mut self.events).map(drop),
        };
        result.map_err(|error| match error {
            AnalysisError::Read(error) => failed(&self.file, self.events.reader(), &error),
            error => other(&self.file, error),
        })
    }

    /// The next event, in time order.
    pub(super) fn next_event(&mut self) -> Result<Option<Event<'_>>, Failure> {
        let position = self.events.reader().position();
        let Analysed { file, events, .. } = self;
        events.next_event().map_err(|error| Failure::read(file, &error, position))
    }

    /// How it ended.
    pub(super) fn ended(&self) -> Ended {
        match &self.outcome {
            Some(outcome) => outcome.clone().into(),
            None => self.events.reader().into(),
        }
    }
}
