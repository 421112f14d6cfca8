//! One pass over a trace for one report.

#[cfg(feature = "serde")]
use super::OutcomeReport;
use super::{Moment, Report, ReportInput};
use crate::driver::{Analysis, AnalysisError, AnalysisOptions};
use crate::model::{Coverage, Filter, Model, NameOptions, Profile};
use nettrace_parser::{Clock, Event, Outcome, Source, TimeOrdered, Version};

/// Feeds a [`Report`] with a trace.
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct ReportPass<R> {
    report: R,
    options: AnalysisOptions,
    analysis: Analysis<'static>,
    clock: Option<Clock>,
    events: u64,
}

/// What a pass yields. It serialises as the report with [`Reported::outcome`] beside its members.
#[derive(Debug)]
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
    pub fn with_options(report: R, mut options: AnalysisOptions) -> ReportPass<R> {
        if options.filter.states.is_empty() {
            options.filter.states = R::STATES.to_vec();
        }
        let analysis = Analysis::new(options.clone());
        ReportPass { report, options, analysis, clock: None, events: 0 }
    }

    /// Counts only what `filter` lets pass. To be called before the first event.
    #[must_use]
    pub fn filter(self, filter: Filter) -> ReportPass<R> {
        ReportPass::with_options(self.report, AnalysisOptions { filter, ..self.options })
    }

    /// How frames are named. To be called before the first event.
    #[must_use]
    pub fn names(self, names: NameOptions) -> ReportPass<R> {
        ReportPass::with_options(self.report, AnalysisOptions { names, ..self.options })
    }

    /// The report, to take from it what it need not keep.
    pub fn report_mut(&mut self) -> &mut R {
        &mut self.report
    }

    /// For what the trace does not say, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.analysis.model_mut()
    }

    /// Reads all events that are left.
    ///
    /// # Errors
    /// When the trace cannot be read on.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        if R::INPUT != ReportInput::Events {
            return self.analysis.read(events).map_err(read_error);
        }
        while let Some(event) = events.next_event()? {
            self.event(&event);
        }
        let outcome = events.outcome();
        self.set_outcome(outcome.clone());
        Ok(outcome)
    }

    /// See [`Analysis::set_outcome`].
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.analysis.set_outcome(outcome);
    }

    /// Whether [`ReportPass::read_regions`] is faster with several threads for streams of a version: only for
    /// reports that are not made of events.
    pub fn gains_from_threads(&self, version: Option<Version>) -> bool {
        R::INPUT != ReportInput::Events && self.analysis.gains_from_threads(version)
    }

    /// Reads a whole stream as [`Analysis::read_regions`] does.
    ///
    /// # Errors
    /// As [`ReportPass::read`].
    pub fn read_regions<S: Source>(
        &mut self,
        source: impl Fn() -> S + Sync,
        threads: usize,
        progress: impl FnMut(u64),
    ) -> Result<Outcome, nettrace_parser::Error> {
        if R::INPUT != ReportInput::Events {
            return self.analysis.read_regions(source, threads, progress).map_err(read_error);
        }
        let mut events = nettrace_parser::Reader::new(source()).time_ordered();
        self.read(&mut events)
    }

    /// Takes the next event; in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        if R::INPUT != ReportInput::Events {
            // Only converters fail, and there is none.
            let _ = self.analysis.event(event);
            return;
        }
        let model = self.analysis.model_mut();
        let thread = model.learn(event);
        let clock = *self.clock.get_or_insert_with(|| event.session().clock());
        let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
        let is_selected = self.options.filter.admits_moment(thread, nanos, model);
        let moment = Moment { thread, nanos, is_selected };
        if self.report.event(event, &moment, model) {
            self.events = self.events.saturating_add(1);
        }
    }

    /// The end of the trace.
    pub fn finish(self) -> Reported<R::Output> {
        let finished = self.analysis.finish_alone();
        let resolved = finished.resolved();
        let events = match R::INPUT {
            ReportInput::Events => self.events,
            ReportInput::Samples => samples(resolved.profile()),
            ReportInput::Code => modules(resolved.model()),
        };
        let (output, coverage) = (self.report.finish(&resolved), resolved.coverage());
        drop(resolved);
        Reported { output, events, coverage, outcome: finished.outcome, model: finished.model }
    }
}

#[cfg(feature = "serde")]
fn outcome<S: serde::Serializer>(outcome: &Option<Outcome>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&outcome.as_ref().map(OutcomeReport::of), serializer)
}

fn samples(profile: &Profile) -> u64 {
    profile.rows().iter().fold(0, |sum, (_, totals)| sum.saturating_add(totals.samples))
}

fn modules(model: &Model) -> u64 {
    let of =
        |process: &crate::model::Process| process.modules().len().saturating_add(process.mappings().len());
    model.processes().map(|(_, process)| of(process) as u64).fold(0, u64::saturating_add)
}

/// Without converters nothing else can fail.
fn read_error(error: AnalysisError) -> nettrace_parser::Error {
    match error {
        AnalysisError::Read(error) => error,
        AnalysisError::Convert(error) => nettrace_parser::Error::Io(std::io::Error::other(error)),
    }
}
