//! What a report is: [`Report`], and how it says what it needs.

pub(super) use crate::document::SCHEMA;
pub use crate::model::Moment;
use crate::model::{Model, Resolved, ThreadState};
pub use crate::recording::Recording;
use nettrace_parser::Event;

/// A report: receives the events of a trace and computes a plain struct. [`ReportPass`](super::ReportPass)
/// drives it.
pub trait Report {
    /// The result.
    type Output;

    /// The name that users type.
    const NAME: &'static str;

    /// Description of its contents, in one line.
    const ABOUT: &'static str;

    /// Recordings that have its events: one of these is enough. Empty if every trace has
    /// them.
    const RECORD: &'static [Recording];

    /// What it is computed from.
    const INPUT: ReportInput = ReportInput::Events;

    /// The states of samples that count unless the filter specifies others; empty for
    /// all. Rankings usually only count running samples, because most threads in a trace
    /// are idle.
    const STATES: &'static [ThreadState] = &[];

    /// Sets how many rows its lists have at most: places of a wait, stacks of an exception,
    /// the slowest requests. A report that lists all that it has counted stays as it is.
    #[must_use]
    fn top(self, rows: usize) -> Self
    where
        Self: Sized,
    {
        let _ = rows;
        self
    }

    /// Returns whether it wants to see events of this type: the others are skipped, which is
    /// several times as fast as sorting them by time. It is called once for each type, so the
    /// answer may only depend on what all its events have in common: provider, id, name.
    fn wants(&self, event: &Event<'_>) -> bool {
        let _ = event;
        true
    }

    /// Processes the next event of those that it wants, which is not older than the
    /// previous one. Returns whether the report is about this event. Only called if
    /// [`Report::INPUT`] requires events.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let _ = (event, moment, model);
        false
    }

    /// Returns whether there is something to show though the trace has no event that the report is
    /// about: what samples alone show.
    fn has_more(output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Computes the result at the end of the trace.
    fn finish(self, resolved: &Resolved<'_>) -> Self::Output;
}

/// What a report is computed from. This decides how a trace is read: reports of samples
/// and code do not need each event in time order, which is several times as fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ReportInput {
    /// Every event, in time order.
    Events,
    /// CPU samples, aggregated by stack.
    Samples,
    /// CPU and thread samples, and how many events of each thread a filter accepts.
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
