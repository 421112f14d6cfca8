//! A trace that an analysis reads, with one thread or with several.

use super::{Trace, failed};
use crate::args::ThreadArgs;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions};
use nettrace_analysis::{Analysis, AnalysisError};
use nettrace_parser::TimeOrdered;
use nettrace_parser::parallel::Outcome;

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

    /// Reads it to its end. `convert_failure`: what it means that a converter fails.
    pub(super) fn read(
        &mut self,
        analysis: &mut Analysis<'_>,
        other: impl FnOnce(&str, AnalysisError) -> Failure,
    ) -> Result<(), Failure> {
        let gains = analysis.gains_from_threads(self.events.reader().version());
        let result = match self.regions.as_ref().filter(|_| gains) {
            Some(regions) => regions.analyse(analysis).map(|outcome| self.outcome = Some(outcome)),
            None => analysis.read(&mut self.events),
        };
        result.map_err(|error| match error {
            AnalysisError::Read(error) => failed(&self.file, self.events.reader(), &error),
            error => other(&self.file, error),
        })
    }

    /// How it ended.
    pub(super) fn ended(&self) -> &dyn Ended {
        match &self.outcome {
            Some(outcome) => outcome,
            None => self.events.reader(),
        }
    }
}
