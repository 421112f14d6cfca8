//! The trait [`Report`], and what a report says about its needs.

pub(super) use crate::document::SCHEMA;
pub(crate) use crate::model::Moment;
use crate::model::{Model, Resolved, ThreadState};
pub use crate::recording::{Recording, SeenKeywords};
use nettrace_parser::{Event, Outcome};

/// Computes a plain struct from the events of a trace. A [`ReportPass`](super::ReportPass) calls
/// it.
pub trait Report {
    /// Result of the report.
    type Output;

    /// Name that users type.
    const NAME: &'static str;

    /// Contents of the report, in one line.
    const ABOUT: &'static str;

    /// Recordings with events for the report; one of them is enough. Empty if every trace has such
    /// events.
    const RECORD: &'static [Recording];

    /// Parts of a trace that the report is computed from.
    const INPUT: ReportInput = ReportInput::Events;

    /// States of samples that count unless the filter names others; empty for all. Rankings count
    /// only running samples, because most threads of a trace are idle.
    const STATES: &'static [ThreadState] = &[];

    /// Whether work that the recording itself causes is one frame, `(recording)`, unless
    /// [`Folding::is_recording`](crate::Folding::is_recording) says otherwise. Rankings show it as
    /// one, because it is no work of the program.
    const FOLDS_RECORDING: bool = false;

    /// Sets the maximum number of rows in lists such as stacks of an exception or the slowest
    /// requests, which is [`DEFAULT_ROWS`] otherwise. Does nothing to a report that always lists
    /// everything.
    #[must_use]
    fn top(self, rows: usize) -> Self
    where
        Self: Sized,
    {
        let _ = rows;
        self
    }

    /// Returns whether the report wants the events of this type. Unwanted events are skipped, which
    /// is several times as fast as sorting them by time. The function is called once for each type,
    /// so the answer may depend only on what events of a type have in common, such as provider, id
    /// and name.
    fn wants(&self, event: &Event<'_>) -> bool {
        let _ = event;
        true
    }

    /// Processes the next wanted event, in time order. Returns whether the report is about this
    /// event. Called only if [`Report::INPUT`] requires events.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let _ = (event, moment, model);
        false
    }

    /// Returns whether the result has something to show that comes from samples alone, though the
    /// trace has no event that the report is about.
    fn has_more(output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Computes the result at the end of the trace, of the samples that `resolved` counts. A
    /// [`ReportPass`](super::ReportPass) and [`Finished::report`](crate::Finished::report) call it with
    /// [`Report::STATES`].
    fn finish(self, resolved: &Resolved<'_>) -> Self::Output;

    /// Adds what the outcome of reading tells about the trace, if it is known.
    fn add_outcome(output: &mut Self::Output, outcome: &Outcome) {
        let _ = (output, outcome);
    }
}

/// A report that needs no events, only what an [`Analysis`](crate::Analysis) keeps:
/// [`Finished::report`](crate::Finished::report) computes it.
pub trait SampleReport: Report {}

/// Default of [`Report::top`]: number of rows in lists such as methods, stacks of an exception or
/// the slowest requests.
pub const DEFAULT_ROWS: usize = 20;

/// Parts of a trace that a report is computed from. Reports of samples and code do not need each
/// event in time order, so a trace is read several times as fast for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ReportInput {
    /// Every event, in time order.
    Events,
    /// CPU samples, aggregated by stack.
    Samples,
    /// CPU and thread samples, and the number of events of each thread that a filter accepts.
    SamplesOfThreads,
    /// Processes and their code: [`Resolved::model`].
    Code,
    /// Events, and CPU samples where the trace has them.
    EventsAndSamples,
    /// Events and CPU samples, and the number of all events.
    Everything,
}

impl ReportInput {
    pub(super) fn has_events(self) -> bool {
        !matches!(self, ReportInput::Samples | ReportInput::Code)
    }

    pub(super) fn has_samples(self) -> bool {
        !matches!(self, ReportInput::Events | ReportInput::Code)
    }
}
