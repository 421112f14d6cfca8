//! Reads a whole trace: all events in time order if a converter needs them, otherwise through the
//! [event filter](super::event_filter), which skips most of them.

use super::event_filter::{self, WantedEvents};
use super::observer::{Nobody, Observer};
use super::{Analysis, AnalysisError};
use nettrace_parser::{Outcome, Source, TimeOrdered};

impl Analysis<'_> {
    /// Reads all remaining events.
    ///
    /// # Errors
    /// If the trace cannot be read any further, or a converter fails.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, AnalysisError> {
        self.read_for(events, &mut Nobody)
    }

    /// Reads all remaining events, and passes the ones that `observer` wants to it.
    pub(crate) fn read_for<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, AnalysisError> {
        self.settle_kinds();
        // A filter of threads and times can only judge events in time order.
        let counts_each = observer.uses_events() && !self.outputs.admits_all;
        if counts_each || self.spans.is_some() || self.outputs.wants_events {
            events.try_for_each(|event| {
                self.event_for(&event, observer).map_err(AnalysisError::from)
            })?;
        } else {
            let wanted = WantedEvents {
                kinds: self.options.kinds.clone(),
                events: self.options.events.clone(),
                lines: self.options.lines,
                async_callers: self.options.async_callers,
            };
            event_filter::read(self, events, wanted, observer)?;
        }
        let outcome = events.outcome();
        self.set_outcome(outcome.clone());
        Ok(outcome)
    }
}
