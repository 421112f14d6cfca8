//! Sets of reports that share a pass over a trace.

use super::contract::{Report, ReportInput, SampleReport};
use crate::driver::Finished;
use crate::model::{
    Coverage, LineCoverage, Model, Moment, Process, Profile, Resolved, ThreadState,
};
use nettrace_parser::{Event, Outcome};

/// Reports that share a pass: a single report, a tuple of up to twelve, or a list of one type. It is
/// implemented for all of these; what a pass asks of them is not part of the stable interface.
pub trait Reports: ReportSet {}

impl<R: ReportSet> Reports for R {}

/// What a pass asks of the [`Reports`] that share it.
pub trait ReportSet {
    /// Results of the reports.
    type Outputs;

    /// Reports that want the events of a type: `()` for one report, a tuple of options for a tuple.
    type Interest: Copy + Send + Sync;

    /// Returns the input of each report.
    fn inputs(&self) -> Vec<ReportInput>;

    /// Returns the reports that want the events of this type, as [`Report::wants`] says; `None` if
    /// none does.
    fn interest(&self, event: &Event<'_>) -> Option<Self::Interest>;

    /// Passes an event to the reports that want it. Returns the number of reports that are about
    /// the event.
    fn observe(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        interest: &Self::Interest,
    ) -> u64;

    /// Computes the results of all reports at the end of the trace.
    fn outputs(self, resolving: &mut Resolving<'_>) -> Self::Outputs;
}

/// Data for reports at the end of a trace. All reports share the names of frames, but each counts
/// samples of its own states.
#[derive(Debug)]
pub struct Resolving<'m> {
    finished: &'m Finished,
    /// Empty profile for reports that are not computed from samples.
    no_samples: &'m Profile,
    /// Names, without and with the work of the recording as one frame.
    resolved: [Option<Resolved<'m>>; 2],
}

impl<'m> Resolving<'m> {
    pub(super) fn new(finished: &'m Finished, no_samples: &'m Profile) -> Resolving<'m> {
        Resolving { finished, no_samples, resolved: [None, None] }
    }

    /// Returns the data for a report, as if the report had a pass of its own.
    pub fn for_report<R: Report>(&mut self) -> &Resolved<'m> {
        self.resolved(R::INPUT, R::STATES, R::FOLDS_RECORDING)
    }

    /// Returns the numbers of frames with and without names.
    pub(crate) fn coverage(&self) -> Coverage {
        match self.resolved.iter().flatten().next() {
            Some(resolved) => resolved.coverage(),
            None => self.finished.coverage(),
        }
    }

    /// Returns the numbers of methods with source lines, if lines were asked for.
    pub(super) fn lines(&self) -> Option<LineCoverage> {
        match self.resolved.iter().flatten().next() {
            Some(resolved) => resolved.lines().cloned(),
            None => self.finished.lines(),
        }
    }

    /// Returns the outcome of reading, if it is known.
    pub(crate) fn outcome(&self) -> Option<&'m Outcome> {
        self.finished.outcome.as_ref()
    }

    /// Returns the number of samples or modules that a report with this input is about; 0 for
    /// reports of events, which say for each event whether they are about it.
    pub(super) fn count(&self, input: ReportInput) -> u64 {
        let Finished { profile, model, .. } = self.finished;
        let modules =
            |process: &Process| process.modules().len().saturating_add(process.mappings().len());
        match input {
            ReportInput::Events | ReportInput::EventsAndSamples => 0,
            ReportInput::Samples | ReportInput::SamplesOfThreads => {
                profile.rows().iter().fold(0, |sum, (_, row)| sum.saturating_add(row.samples))
            }
            ReportInput::Code => model
                .processes()
                .map(|(_, process)| modules(process) as u64)
                .fold(0, u64::saturating_add),
            ReportInput::Everything => model.event_count(),
        }
    }

    fn resolved(
        &mut self,
        input: ReportInput,
        states: &[ThreadState],
        folds_recording: bool,
    ) -> &Resolved<'m> {
        // Without requested states, each report uses its own.
        let asked = self.finished.states();
        let states = if asked.is_empty() { states } else { asked };
        let profile = if input.has_samples() { &self.finished.profile } else { self.no_samples };
        // Names depend on the counted samples only if small frames are folded; otherwise all
        // reports share them.
        let folds_small = self.finished.folds_small();
        let is_same = |kept: &Resolved<'_>| kept.uses_samples(profile, states);
        let folds_recording = self.finished.folds_recording().unwrap_or(folds_recording);
        let [without, with] = &mut self.resolved;
        let place = if folds_recording { with } else { without };
        let kept = place.take().filter(|kept| !folds_small || is_same(kept));
        let mut resolved =
            kept.unwrap_or_else(|| self.finished.resolved_for(profile, states, folds_recording));
        resolved.use_samples(profile, states);
        place.insert(resolved)
    }
}

impl Finished {
    /// Computes a report of samples or of code, as a [`ReportPass`](super::ReportPass) for
    /// it does.
    pub fn report<R: SampleReport>(&self, report: R) -> R::Output {
        let no_samples = Profile::default();
        report.outputs(&mut Resolving::new(self, &no_samples))
    }
}

impl<R: Report> ReportSet for R {
    type Outputs = R::Output;
    type Interest = ();

    fn inputs(&self) -> Vec<ReportInput> {
        vec![R::INPUT]
    }

    fn interest(&self, event: &Event<'_>) -> Option<()> {
        (R::INPUT.has_events() && self.wants(event)).then_some(())
    }

    fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, (): &()) -> u64 {
        u64::from(self.event(event, moment, model))
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> R::Output {
        let mut output = self.finish(resolving.for_report::<R>());
        if let Some(outcome) = resolving.outcome() {
            R::add_outcome(&mut output, outcome);
        }
        output
    }
}

macro_rules! tuple {
    ($($report:ident $place:tt),+) => {
        impl<$($report: Reports),+> ReportSet for ($($report,)+) {
            type Outputs = ($($report::Outputs,)+);
            type Interest = ($(Option<$report::Interest>,)+);

            fn inputs(&self) -> Vec<ReportInput> {
                let mut inputs = Vec::new();
                $(inputs.extend(self.$place.inputs());)+
                inputs
            }

            fn interest(&self, event: &Event<'_>) -> Option<Self::Interest> {
                let interest = ($(self.$place.interest(event),)+);
                ($(interest.$place.is_some())||+).then_some(interest)
            }

            fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, interest: &Self::Interest) -> u64 {
                let mut about: u64 = 0;
                $(if let Some(interest) = &interest.$place {
                    about = about.saturating_add(self.$place.observe(event, moment, model, interest));
                })+
                about
            }

            fn outputs(self, resolving: &mut Resolving<'_>) -> Self::Outputs {
                ($(self.$place.outputs(resolving),)+)
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
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);

impl<R: Report> ReportSet for Vec<R> {
    type Outputs = Vec<R::Output>;
    type Interest = ();

    fn inputs(&self) -> Vec<ReportInput> {
        vec![R::INPUT; self.len()]
    }

    fn interest(&self, event: &Event<'_>) -> Option<()> {
        self.iter().find_map(|report| report.interest(event))
    }

    fn observe(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        interest: &(),
    ) -> u64 {
        let about = self.iter_mut().map(|report| report.observe(event, moment, model, interest));
        about.fold(0, u64::saturating_add)
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> Vec<R::Output> {
        self.into_iter().map(|report| report.outputs(resolving)).collect()
    }
}
