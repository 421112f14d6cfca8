//! Reading a trace for reports.

use super::contract::SeenKeywords;
use super::endpoints;
#[cfg(feature = "serde")]
use super::outcome::OutcomeReport;
use super::set::{Reports, Resolving};
use crate::by_type::ByType;
use crate::convert::Convert;
use crate::driver::{Analysis, AnalysisError, AnalysisOptions, Observer};
use crate::model::{Coverage, LineCoverage, MarkChoice, Model, Moment, Profile};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered};

/// Reads a trace for one or several [`Reports`]. Reports that share a pass share the model and the
/// names of frames, which are most of the work, so a second report costs little
/// (`benches/README.md` of the project has figures).
///
/// ```
/// use nettrace_analysis::report::{Exceptions, Gc, ReportPass};
/// use nettrace_analysis::report::TopNOptions;
/// use nettrace_analysis::AnalysisError;
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut pass = ReportPass::new((Gc::default(), Exceptions::default(), TopNOptions::default()));
/// let outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// if !outcome.is_intact() {
///     eprintln!("counts are too low: {outcome}");
/// }
/// let (gc, exceptions, top) = pass.finish().output;
/// assert_eq!((gc.totals.count, exceptions.count, top.counted.samples), (0, 0, 0));
/// # Ok::<(), AnalysisError>(())
/// ```
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
#[must_use]
pub struct ReportPass<'c, R: Reports> {
    observer: ReportObserver<R>,
    analysis: Analysis<'c>,
}

/// Result of a pass. It is serialized as its report with the additional member `outcome`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use = "this is what the trace was read for"]
#[non_exhaustive]
pub struct Reported<O> {
    /// Result of the report; a tuple or list of results if the pass has several reports.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub output: O,
    /// Outcome of reading: the report's counts are too low if the trace is truncated or damaged.
    /// `None` if the events were passed one by one and [`ReportPass::set_outcome`] was not called.
    #[cfg_attr(feature = "serde", serde(serialize_with = "outcome"))]
    pub outcome: Option<Outcome>,
    /// Number of events, samples or modules that the reports are about, before filters of frames
    /// and states. 0 if the trace was recorded without such events.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub events: u64,
    /// Keywords that events for the reports show to have been on.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub keywords: SeenKeywords,
    /// Number of CPU samples that filters of threads and times leave out.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub refused_samples: u64,
    /// Numbers of the frames of the trace's stacks with and without names.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub coverage: Coverage,
    /// Numbers of methods with source lines; `None` unless lines were asked for.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub lines: Option<LineCoverage>,
    /// Processes, threads and code of the trace.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub model: Model,
}

impl<'c, R: Reports> ReportPass<'c, R> {
    /// Creates a pass for `reports` without a filter and with default names.
    pub fn new(reports: R) -> ReportPass<'c, R> {
        ReportPass::with_options(reports, AnalysisOptions::default())
    }

    /// Creates a pass for `reports` with options.
    pub fn with_options(reports: R, options: AnalysisOptions) -> ReportPass<'c, R> {
        let inputs = reports.inputs();
        let analysis = match inputs.iter().any(|input| input.has_samples()) {
            true => Analysis::new(options),
            false => Analysis::without_samples(options),
        };
        let uses_events = inputs.iter().any(|input| input.has_events());
        let names_endpoints = inputs.iter().any(|input| input.has_samples());
        ReportPass {
            observer: ReportObserver {
                reports,
                uses_events,
                names_endpoints,
                uses: ByType::new(Uses::NONE),
                about: 0,
                keywords: SeenKeywords::default(),
            },
            analysis,
        }
    }

    /// Returns the reports, so that a caller can take data that is complete before the end.
    pub fn reports_mut(&mut self) -> &mut R {
        &mut self.observer.reports
    }

    /// Adds a converter that receives the samples and marks of the kinds in the options, each
    /// before the reports receive its event. It receives no events, and nothing at all unless a
    /// report is computed from samples ([`ReportInput::Samples`](super::ReportInput::Samples)).
    pub fn add(&mut self, converter: Box<dyn Convert + 'c>) {
        self.analysis.add(converter);
    }

    /// Makes only some marks for the added converters.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only pages want some marks"))]
    pub(crate) fn choose_marks(&mut self, choice: MarkChoice) {
        self.analysis.choose_marks(choice);
    }

    /// Returns the model, so that a caller can add what the trace does not contain, such as perf
    /// maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.analysis.model_mut()
    }

    /// Reads all remaining events.
    ///
    /// # Errors
    /// If the trace cannot be read any further, or a converter fails.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, AnalysisError> {
        self.analysis.read_for(events, &mut self.observer)
    }

    /// Sets the outcome of reading, if the events were passed one by one.
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.analysis.set_outcome(outcome);
    }

    /// Processes the next event; events must come in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        // Only converters fail here, and they return the error again at the end.
        let _ = self.analysis.event_for(event, &mut self.observer);
    }

    /// Ends the trace and computes the reports.
    pub fn finish(self) -> Reported<R::Outputs> {
        let ReportObserver { reports, about, keywords, .. } = self.observer;
        let inputs = reports.inputs();
        let finished = self.analysis.finish_alone();
        let no_samples = Profile::default();
        let mut resolving = Resolving::new(&finished, &no_samples);
        let output = reports.outputs(&mut resolving);
        let (coverage, lines) = (resolving.coverage(), resolving.lines());
        let counts = inputs.into_iter().map(|input| resolving.count(input));
        let events = counts.fold(about, u64::saturating_add);
        let (outcome, refused_samples) = (finished.outcome, finished.profile.refused());
        Reported {
            output,
            outcome,
            events,
            keywords,
            refused_samples,
            coverage,
            lines,
            model: finished.model,
        }
    }
}

/// Passes the events of a pass to the reports that want them.
struct ReportObserver<R: Reports> {
    reports: R,
    uses_events: bool,
    /// Whether handlers in the stacks of samples are named after their endpoints.
    names_endpoints: bool,
    uses: ByType<Uses<R::Interest>>,
    /// Number of events that reports are about.
    about: u64,
    keywords: SeenKeywords,
}

/// Uses of the events of one type.
#[derive(Clone, Copy)]
struct Uses<I> {
    may_name_endpoint: bool,
    shows_handler: bool,
    reports: Option<I>,
}

impl<I> Uses<I> {
    const NONE: Uses<I> = Uses { may_name_endpoint: false, shows_handler: false, reports: None };

    fn new<R: Reports<Interest = I>>(
        reports: &R,
        names_endpoints: bool,
        event: &Event<'_>,
    ) -> Self {
        Uses {
            may_name_endpoint: names_endpoints && endpoints::may_name(event),
            shows_handler: names_endpoints && endpoints::shows_handler(event),
            reports: reports.interest(event),
        }
    }
}

impl<R: Reports> Observer for ReportObserver<R> {
    fn uses_events(&self) -> bool {
        self.uses_events
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        let uses = Uses::new(&self.reports, self.names_endpoints, event);
        uses.may_name_endpoint || uses.reports.is_some()
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let uses = self.uses.look_up(event, |event| {
            self.keywords.add(event);
            Uses::new(&self.reports, self.names_endpoints, event)
        });
        if uses.may_name_endpoint
            && let Some(endpoint) = endpoints::name_of(event, moment)
        {
            model.endpoint_started(event, moment.thread, &endpoint);
        }
        let Some(interest) = &uses.reports else { return };
        if uses.shows_handler {
            let stack = model.stack_of(event, moment.thread);
            model.saw(moment.thread, stack);
        }
        let about = self.reports.observe(event, moment, model, interest);
        self.about = self.about.saturating_add(about);
    }
}

#[cfg(feature = "serde")]
fn outcome<S: serde::Serializer>(
    outcome: &Option<Outcome>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&outcome.as_ref().map(OutcomeReport::from_outcome), serializer)
}
