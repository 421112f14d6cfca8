//! Reads a trace for one report.

#[cfg(feature = "serde")]
use super::OutcomeReport;
use super::Report;
use super::shared_pass::{SharedPass, SharedReports};
use crate::driver::AnalysisOptions;
use crate::model::{Coverage, Filter, Model, NameOptions};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered};

/// Drives a [`Report`]. To compute several in one pass, use a [`SharedPass`].
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct ReportPass<R> {
    shared: SharedPass<(R,)>,
}

/// The result of a pass. It is serialized as the report with [`Reported::outcome`] as an
/// additional member.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use = "this is what the trace was read for"]
#[non_exhaustive]
pub struct Reported<O> {
    /// The report.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub output: O,
    /// How reading went. If the trace is truncated or damaged, the report's counts are
    /// too low. `None` if the events were passed one by one and
    /// [`ReportPass::set_outcome`] was not called.
    #[cfg_attr(feature = "serde", serde(serialize_with = "outcome"))]
    pub outcome: Option<Outcome>,
    /// Number of events, samples or modules that the report is about, before filters on
    /// frames and states. 0 if the trace was recorded without them.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub events: u64,
    /// How many frames of the trace's stacks have names.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub coverage: Coverage,
    /// What the trace says about processes, threads and code.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub model: Model,
}

impl<R: Report> ReportPass<R> {
    /// A pass for `report` without a filter and with default names.
    pub fn new(report: R) -> ReportPass<R> {
        ReportPass::with_options(report, AnalysisOptions::new())
    }

    /// A pass for `report` with options.
    pub fn with_options(report: R, options: AnalysisOptions) -> ReportPass<R> {
        ReportPass { shared: SharedPass::with_options((report,), options) }
    }

    /// Sets the filter. Must be called before the first event.
    #[must_use]
    pub fn filter(self, filter: Filter) -> ReportPass<R> {
        ReportPass { shared: self.shared.filter(filter) }
    }

    /// Sets how frames are named. Must be called before the first event.
    #[must_use]
    pub fn names(self, names: NameOptions) -> ReportPass<R> {
        ReportPass { shared: self.shared.names(names) }
    }

    /// The report, to take completed data from it.
    pub fn report_mut(&mut self) -> &mut R {
        &mut self.shared.reports_mut().0
    }

    /// For information that the trace does not contain, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.shared.model_mut()
    }

    /// Reads all remaining events.
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        self.shared.read(events)
    }

    /// See [`Analysis::set_outcome`](crate::Analysis::set_outcome).
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.shared.set_outcome(outcome);
    }

    /// Processes the next event; events must come in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        self.shared.event(event);
    }

    /// Ends the trace and computes the report.
    pub fn finish(self) -> Reported<R::Output> {
        let SharedReports { outputs: (output,), outcome, events, coverage, model, .. } =
            self.shared.finish();
        let events = events.first().copied().unwrap_or(0);
        Reported { output, outcome, events, coverage, model }
    }
}

#[cfg(feature = "serde")]
fn outcome<S: serde::Serializer>(
    outcome: &Option<Outcome>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&outcome.as_ref().map(OutcomeReport::of), serializer)
}
