//! One pass over a trace for several reports.

use super::pass_core::PassCore;
use super::{Moment, Report, ReportInput};
use crate::driver::{AnalysisOptions, Finished};
use crate::model::{Coverage, Filter, Model, NameOptions, Profile, Resolved, ThreadState};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered, Version};

/// Feeds several reports with a trace that is read once. They share the model and the names of frames, which is most of
/// the work: a second report costs little (see `benches/README.md` of the project).
///
/// ```
/// use nettrace_analysis::report::{Exceptions, Gc, SharedPass};
/// use nettrace_analysis::TopNOptions;
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut pass = SharedPass::new((Gc::new(), Exceptions::new(), TopNOptions::default()));
/// let outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// if !outcome.is_intact() {
///     eprintln!("counts are too low: {outcome}");
/// }
/// let (gc, exceptions, top) = pass.finish().outputs;
/// assert_eq!((gc.totals.count, exceptions.count, top.samples), (0, 0, 0));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct SharedPass<T> {
    reports: T,
    pass: PassCore,
}

/// What a pass for several reports yields.
#[derive(Debug, Clone)]
#[must_use = "this is what the trace was read for"]
#[non_exhaustive]
pub struct SharedReports<O> {
    /// The reports, as the pass was given them.
    pub outputs: O,
    /// How reading went. Reports of a trace that is cut or damaged count too little. `None`: the events were handed in
    /// one by one, and nobody called [`SharedPass::set_outcome`].
    pub outcome: Option<Outcome>,
    /// What of the trace each report is about, before frames and states are asked for: events, samples, or modules. 0:
    /// the trace was recorded without them.
    pub events: Vec<u64>,
    /// How many frames of the trace's stacks have names.
    pub coverage: Coverage,
    /// What was learned of processes, threads and code.
    pub model: Model,
}

/// Reports that share a pass: a tuple of up to eight, or a list of one kind.
pub trait Reports {
    /// What they yield.
    type Outputs;

    /// What each is made of.
    fn inputs(&self) -> Vec<ReportInput>;

    /// Hands an event to those that are made of events; `counts` has a place for each report.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, counts: &mut [u64]);

    /// The end of the trace.
    fn finish(self, resolving: &mut Resolving<'_>) -> Self::Outputs;
}

/// What reports are given at the end of a trace: all have the same names, and differ in the samples that they count.
#[derive(Debug)]
pub struct Resolving<'m> {
    finished: &'m Finished,
    /// For reports that are not made of samples.
    no_samples: &'m Profile,
    /// States that the user asks for; empty: each report has its own.
    asked: Vec<ThreadState>,
    resolved: Option<Resolved<'m>>,
}

impl<'m> Resolving<'m> {
    /// What a report would be given if it were alone.
    pub fn for_report<R: Report>(&mut self) -> &Resolved<'m> {
        self.resolved(R::INPUT, R::STATES)
    }

    /// The part of the stacks' frames that have names.
    fn coverage(&self) -> Coverage {
        match &self.resolved {
            Some(resolved) => resolved.coverage(),
            None => self.finished.resolved().coverage(),
        }
    }

    fn resolved(&mut self, input: ReportInput, states: &[ThreadState]) -> &Resolved<'m> {
        let states = if self.asked.is_empty() { states } else { &self.asked };
        let is_of_samples = input == ReportInput::Samples;
        let profile = if is_of_samples { &self.finished.profile } else { self.no_samples };
        // Which frames are small depends on the samples; without that, one set of names serves all.
        let folds_small = self.finished.folds_small();
        let is_same = |kept: &Resolved<'_>| kept.counts(profile, states);
        let kept = self.resolved.take().filter(|kept| !folds_small || is_same(kept));
        let mut resolved = kept.unwrap_or_else(|| self.finished.resolved_for(profile, states));
        resolved.count(profile, states);
        self.resolved.insert(resolved)
    }
}

/// Hands a report of events one of them.
#[inline]
fn hand<R: Report>(
    report: &mut R,
    event: &Event<'_>,
    moment: &Moment,
    model: &mut Model,
    count: Option<&mut u64>,
) {
    if R::INPUT == ReportInput::Events
        && report.event(event, moment, model)
        && let Some(count) = count
    {
        *count = count.saturating_add(1);
    }
}

macro_rules! tuple {
    ($($report:ident $place:tt),+) => {
        impl<$($report: Report),+> Reports for ($($report,)+) {
            type Outputs = ($($report::Output,)+);

            fn inputs(&self) -> Vec<ReportInput> {
                vec![$($report::INPUT),+]
            }

            #[inline]
            fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, counts: &mut [u64]) {
                $(hand(&mut self.$place, event, moment, model, counts.get_mut($place));)+
            }

            fn finish(self, resolving: &mut Resolving<'_>) -> Self::Outputs {
                ($(self.$place.finish(resolving.for_report::<$report>()),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

impl<R: Report> Reports for Vec<R> {
    type Outputs = Vec<R::Output>;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![R::INPUT; self.len()]
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, counts: &mut [u64]) {
        for (report, count) in self.iter_mut().zip(counts) {
            hand(report, event, moment, model, Some(count));
        }
    }

    fn finish(self, resolving: &mut Resolving<'_>) -> Vec<R::Output> {
        self.into_iter().map(|report| report.finish(resolving.for_report::<R>())).collect()
    }
}

impl<T: Reports> SharedPass<T> {
    /// A pass for `reports`, of everything, with default names.
    pub fn new(reports: T) -> SharedPass<T> {
        SharedPass::with_options(reports, AnalysisOptions::new())
    }

    /// A pass for `reports` as the options ask.
    pub fn with_options(reports: T, options: AnalysisOptions) -> SharedPass<T> {
        let pass = PassCore::new(reports.inputs(), options);
        SharedPass { reports, pass }
    }

    /// Counts only what `filter` lets pass. To be called before the first event.
    #[must_use]
    pub fn filter(self, filter: Filter) -> SharedPass<T> {
        SharedPass::with_options(self.reports, AnalysisOptions { filter, ..self.pass.options })
    }

    /// How frames are named. To be called before the first event.
    #[must_use]
    pub fn names(self, names: NameOptions) -> SharedPass<T> {
        SharedPass::with_options(self.reports, AnalysisOptions { names, ..self.pass.options })
    }

    /// The reports, to take from them what they need not keep.
    pub fn reports_mut(&mut self) -> &mut T {
        &mut self.reports
    }

    /// Lets a converter see the samples and marks of the pass.
    #[cfg(feature = "page")]
    pub(crate) fn add(&mut self, converter: Box<dyn crate::convert::Convert>) {
        self.pass.analysis.add(converter);
    }

    /// For what the trace does not tell, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.pass.analysis.model_mut()
    }

    /// Reads all events that are left.
    ///
    /// # Errors
    /// When the trace cannot be read on.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        let SharedPass { reports, pass } = self;
        pass.read(events, &mut |event, moment, model, counts| reports.event(event, moment, model, counts))
    }

    /// See [`Analysis::set_outcome`](crate::Analysis::set_outcome).
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.pass.analysis.set_outcome(outcome);
    }

    /// Whether [`SharedPass::read_regions`] is faster with several threads for streams of a version: only if no report
    /// is made of events.
    pub fn gains_from_threads(&self, version: Option<Version>) -> bool {
        !self.pass.takes_events && self.pass.analysis.gains_from_threads(version)
    }

    /// Reads a whole stream as [`Analysis::read_regions`](crate::Analysis::read_regions) does.
    ///
    /// # Errors
    /// As [`SharedPass::read`].
    pub fn read_regions<S: Source>(
        &mut self,
        source: impl Fn() -> S + Sync,
        threads: usize,
        mut progress: impl FnMut(u64),
    ) -> Result<Outcome, nettrace_parser::Error> {
        let SharedPass { reports, pass } = self;
        pass.read_regions(&source, threads, &mut progress, &mut |event, moment, model, counts| {
            reports.event(event, moment, model, counts);
        })
    }

    /// Takes the next event; in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        let SharedPass { reports, pass } = self;
        pass.event(event, &mut |event, moment, model, counts| reports.event(event, moment, model, counts));
    }

    /// The end of the trace.
    pub fn finish(self) -> SharedReports<T::Outputs> {
        let SharedPass { reports, pass } = self;
        let (finished, events, asked) = pass.finish();
        let no_samples = Profile::default();
        let mut resolving = Resolving { finished: &finished, no_samples: &no_samples, asked, resolved: None };
        let outputs = reports.finish(&mut resolving);
        let coverage = resolving.coverage();
        let Finished { model, outcome, .. } = finished;
        SharedReports { outputs, outcome, events, coverage, model }
    }
}
