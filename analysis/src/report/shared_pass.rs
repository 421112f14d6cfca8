//! Reads a trace once for several reports.

use super::pass_core::PassCore;
use super::{Moment, Report, ReportInput};
use crate::driver::{AnalysisOptions, Finished};
use crate::model::{Coverage, Filter, Model, NameOptions, Profile, Resolved, ThreadState};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered};

/// Drives several reports with one pass over a trace. They share the model and the names
/// of frames, which is most of the work, so a second report costs little (see
/// `benches/README.md` of the project).
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

/// The results of a shared pass.
#[derive(Debug, Clone)]
#[must_use = "this is what the trace was read for"]
#[non_exhaustive]
pub struct SharedReports<O> {
    /// The reports, in the order in which they were passed.
    pub outputs: O,
    /// How reading went. If the trace is truncated or damaged, the reports' counts are
    /// too low. `None` if the events were passed one by one and
    /// [`SharedPass::set_outcome`] was not called.
    pub outcome: Option<Outcome>,
    /// For each report, the number of events, samples or modules that it is about, before
    /// filters on frames and states. 0 if the trace was recorded without them.
    pub events: Vec<u64>,
    /// How many frames of the trace's stacks have names.
    pub coverage: Coverage,
    /// What the trace says about processes, threads and code.
    pub model: Model,
}

/// Reports that share a pass: a tuple of up to eight, or a list of the same type.
pub trait Reports {
    /// Their results.
    type Outputs;

    /// What each is computed from.
    fn inputs(&self) -> Vec<ReportInput>;

    /// Passes an event to those that are computed from events; `counts` has a counter for
    /// each report.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, counts: &mut [u64]);

    /// Computes the results at the end of the trace.
    fn finish(self, resolving: &mut Resolving<'_>) -> Self::Outputs;
}

/// The data for reports at the end of a trace: all share the same names, but they count
/// different samples.
#[derive(Debug)]
pub struct Resolving<'m> {
    finished: &'m Finished,
    /// For reports that are not computed from samples.
    no_samples: &'m Profile,
    /// The states requested by the user; if empty, each report uses its own.
    asked: Vec<ThreadState>,
    resolved: Option<Resolved<'m>>,
}

impl<'m> Resolving<'m> {
    /// The data for a report, the same as in a pass of its own.
    pub fn for_report<R: Report>(&mut self) -> &Resolved<'m> {
        self.resolved(R::INPUT, R::STATES)
    }

    /// How many of the stacks' frames have names.
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
        // Which frames are small depends on the samples; otherwise one set of names
        // serves all reports.
        let folds_small = self.finished.folds_small();
        let is_same = |kept: &Resolved<'_>| kept.counts(profile, states);
        let kept = self.resolved.take().filter(|kept| !folds_small || is_same(kept));
        let mut resolved = kept.unwrap_or_else(|| self.finished.resolved_for(profile, states));
        resolved.count(profile, states);
        self.resolved.insert(resolved)
    }
}

/// Passes an event to a report of events.
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
    /// A pass for `reports` without a filter and with default names.
    pub fn new(reports: T) -> SharedPass<T> {
        SharedPass::with_options(reports, AnalysisOptions::new())
    }

    /// A pass for `reports` with options.
    pub fn with_options(reports: T, options: AnalysisOptions) -> SharedPass<T> {
        let pass = PassCore::new(reports.inputs(), options);
        SharedPass { reports, pass }
    }

    /// Sets the filter. Must be called before the first event.
    #[must_use]
    pub fn filter(self, filter: Filter) -> SharedPass<T> {
        SharedPass::with_options(self.reports, AnalysisOptions { filter, ..self.pass.options })
    }

    /// Sets how frames are named. Must be called before the first event.
    #[must_use]
    pub fn names(self, names: NameOptions) -> SharedPass<T> {
        SharedPass::with_options(self.reports, AnalysisOptions { names, ..self.pass.options })
    }

    /// The reports, to take completed data from them.
    pub fn reports_mut(&mut self) -> &mut T {
        &mut self.reports
    }

    /// Adds a converter that receives the samples and marks of the pass, of the kinds
    /// that the options ask for. It receives them only if a report is computed from
    /// samples ([`ReportInput::Samples`]), each before the reports receive its event; it
    /// receives no events.
    pub fn add(&mut self, converter: Box<dyn crate::convert::Convert>) {
        self.pass.analysis.add(converter);
    }

    /// For information that the trace does not contain, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.pass.analysis.model_mut()
    }

    /// Reads all remaining events.
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        let SharedPass { reports, pass } = self;
        pass.read(events, &mut |event, moment, model, counts| {
            reports.event(event, moment, model, counts)
        })
    }

    /// See [`Analysis::set_outcome`](crate::Analysis::set_outcome).
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.pass.analysis.set_outcome(outcome);
    }

    /// Processes the next event; events must come in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        let SharedPass { reports, pass } = self;
        pass.event(event, &mut |event, moment, model, counts| {
            reports.event(event, moment, model, counts)
        });
    }

    /// Ends the trace and computes the reports.
    pub fn finish(self) -> SharedReports<T::Outputs> {
        let SharedPass { reports, pass } = self;
        let (finished, events, asked) = pass.finish();
        let no_samples = Profile::default();
        let mut resolving =
            Resolving { finished: &finished, no_samples: &no_samples, asked, resolved: None };
        let outputs = reports.finish(&mut resolving);
        let coverage = resolving.coverage();
        let Finished { model, outcome, .. } = finished;
        SharedReports { outputs, outcome, events, coverage, model }
    }
}
