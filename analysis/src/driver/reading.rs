//! How an analysis reads a whole trace: all events in time order if a converter needs
//! them, otherwise through the [event filter](super::event_filter), which skips most of
//! them.

use super::event_filter::{self, WantedEvents};
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
        if self.wants_all() || !self.can_filter(events)? {
            events.try_for_each(|event| self.event(&event).map_err(AnalysisError::from))?;
        } else {
            let wanted = self.wanted();
            event_filter::read(self, events, wanted)?;
        }
        let outcome = events.outcome();
        self.set_outcome(outcome.clone());
        Ok(outcome)
    }

    fn can_filter<S: Source>(&self, events: &mut TimeOrdered<S>) -> Result<bool, AnalysisError> {
        events.trace()?;
        Ok(event_filter::is_possible(events.reader().version()))
    }

    fn wants_all(&self) -> bool {
        self.spans.is_some() || self.outputs.wants_events
    }

    fn wanted(&self) -> WantedEvents {
        WantedEvents {
            kinds: self.options.kinds.clone(),
            events: self.options.events.clone(),
            keeps_il_offsets: self.model.keeps_il_offsets(),
        }
    }
}
