//! One pass over a trace for one report.

#[cfg(feature = "serde")]
use super::OutcomeReport;
use super::Report;
use super::shared_pass::{SharedPass, SharedReports};
use crate::driver::AnalysisOptions;
use crate::model::{Coverage, Filter, Model, NameOptions};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered, Version};

/// Feeds a [`Report`] with a trace. Several share one in a [`SharedPass`].
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct ReportPass<R> {
    shared: SharedPass<(R,)>,
}

/// What a pass yields. It serialises as the report with [`Reported::outcome`] beside its members.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use = "this is what the trace was read for"]
#[non_exhaustive]
pub struct Reported<O> {
    /// The report.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub output: O,
    /// How reading went. A report of a trace that is cut or damaged counts too little. `None`: the events were handed
    /// in one by one, and nobody called [`ReportPass::set_outcome`].
    #[cfg_attr(feature = "serde", serde(serialize_with = "outcome"))]
    pub outcome: Option<Outcome>,
    /// What of the trace the report is about, before frames and states are asked for: events, samples, or
    /// modules. 0: the trace was recorded without them.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub events: u64,
    /// How many frames of the trace's stacks have names.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub coverage: Coverage,
    /// What was learned of processes, threads and code.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub model: Model,
}

impl<R: Report> ReportPass<R> {
    /// A pass for `report`, of everything, with default names.
    pub fn new(report: R) -> ReportPass<R> {
        ReportPass::with_options(report, AnalysisOptions::new())
    }

    /// A pass for `report` as the options ask.
    pub fn with_options(report: R, options: AnalysisOptions) -> ReportPass<R> {
        ReportPass { shared: SharedPass::with_options((report,), options) }
    }

    /// Counts only what `filter` lets pass. To be called before the first event.
    #[must_use]
    pub fn filter(self, filter: Filter) -> ReportPass<R> {
        ReportPass { shared: self.shared.filter(filter) }
    }

    /// How frames are named. To be called before the first event.
    #[must_use]
    pub fn names(self, names: NameOptions) -> ReportPass<R> {
        ReportPass { shared: self.shared.names(names) }
    }

    /// The report, to take from it what it need not keep.
    pub fn report_mut(&mut self) -> &mut R {
        &mut self.shared.reports_mut().0
    }

    /// For what the trace does not say, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.shared.model_mut()
    }

    /// Reads all events that are left.
    ///
    /// # Errors
    /// When the trace cannot be read on.
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

    /// Whether [`ReportPass::read_regions`] is faster with several threads for streams of a version: only for
    /// reports that are not made of events.
    pub fn gains_from_threads(&self, version: Option<Version>) -> bool {
        self.shared.gains_from_threads(version)
    }

    /// Reads a whole stream as [`Analysis::read_regions`](crate::Analysis::read_regions) does.
    ///
    /// # Errors
    /// As [`ReportPass::read`].
    pub fn read_regions<S: Source>(
        &mut self,
        source: impl Fn() -> S + Sync,
        threads: usize,
        progress: impl FnMut(u64),
    ) -> Result<Outcome, nettrace_parser::Error> {
        self.shared.read_regions(source, threads, progress)
    }

    /// Takes the next event; in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        self.shared.event(event);
    }

    /// The end of the trace.
    pub fn finish(self) -> Reported<R::Output> {
        let SharedReports { outputs: (output,), outcome, events, coverage, model, .. } = self.shared.finish();
        let events = events.first().copied().unwrap_or(0);
        Reported { output, outcome, events, coverage, model }
    }
}

#[cfg(feature = "serde")]
fn outcome<S: serde::Serializer>(outcome: &Option<Outcome>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&outcome.as_ref().map(OutcomeReport::of), serializer)
}
