//! The part of a pass that does not depend on the reports, so that it is compiled once
//! per source instead of once per report.

use super::{Moment, ReportInput};
use crate::driver::{Analysis, AnalysisError, AnalysisOptions, Finished};
use crate::model::{Model, Process, Profile, ThreadState};
use nettrace_parser::{Clock, Event, Outcome, Source, TimeOrdered};

/// Passes an event to the reports; the last argument is a counter for each.
pub(super) type Hand<'h> = dyn FnMut(&Event<'_>, &Moment, &mut Model, &mut [u64]) + 'h;

/// A pass without its reports.
pub(super) struct PassCore {
    pub(super) options: AnalysisOptions,
    pub(super) analysis: Analysis<'static>,
    clock: Option<Clock>,
    inputs: Vec<ReportInput>,
    /// Whether any report is computed from events, from samples.
    pub(super) takes_events: bool,
    takes_samples: bool,
    /// The number of relevant events for each report of events.
    pub(super) events: Vec<u64>,
}

impl PassCore {
    pub(super) fn new(inputs: Vec<ReportInput>, options: AnalysisOptions) -> PassCore {
        PassCore {
            analysis: Analysis::new(options.clone()),
            options,
            clock: None,
            takes_events: inputs.contains(&ReportInput::Events),
            takes_samples: inputs.contains(&ReportInput::Samples),
            events: vec![0; inputs.len()],
            inputs,
        }
    }

    pub(super) fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
        hand: &mut Hand<'_>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        if !self.takes_events {
            return self.analysis.read(events).map_err(read_error);
        }
        events.for_each(|event| self.event(&event, hand))?;
        let outcome = events.outcome();
        self.analysis.set_outcome(outcome.clone());
        Ok(outcome)
    }

    pub(super) fn event(&mut self, event: &Event<'_>, hand: &mut Hand<'_>) {
        let thread = self.analysis.model_mut().learn(event);
        if self.takes_samples || !self.takes_events {
            // Only converters can fail, and there are none.
            let _ = self.analysis.learned(event, thread);
        }
        if self.takes_events {
            let model = self.analysis.model_mut();
            let clock = *self.clock.get_or_insert_with(|| event.session().clock());
            let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
            let is_selected = self.options.filter.admits_moment(thread, nanos, model);
            let moment = Moment { thread, nanos, is_selected };
            hand(event, &moment, model, &mut self.events);
        }
    }

    /// Ends the trace: returns the analysis, the number of relevant events for each
    /// report, and the requested states.
    pub(super) fn finish(self) -> (Finished, Vec<u64>, Vec<ThreadState>) {
        let PassCore { options, analysis, inputs, mut events, .. } = self;
        let finished = analysis.finish_alone();
        for (count, input) in events.iter_mut().zip(inputs) {
            match input {
                ReportInput::Events => {}
                ReportInput::Samples => *count = samples(&finished.profile),
                ReportInput::Code => *count = modules(&finished.model),
            }
        }
        (finished, events, options.filter.states)
    }
}

fn samples(profile: &Profile) -> u64 {
    profile.rows().iter().fold(0, |sum, (_, totals)| sum.saturating_add(totals.samples))
}

fn modules(model: &Model) -> u64 {
    let of = |process: &Process| process.modules().len().saturating_add(process.mappings().len());
    model.processes().map(|(_, process)| of(process) as u64).fold(0, u64::saturating_add)
}

/// Without converters, nothing else can fail.
fn read_error(error: AnalysisError) -> nettrace_parser::Error {
    match error {
        AnalysisError::Read(error) => error,
        AnalysisError::Convert(error) => nettrace_parser::Error::Io(std::io::Error::other(error)),
    }
}
