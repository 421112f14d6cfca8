//! How an analysis takes the events of a whole trace: all of them in time order where a converter wants that, else
//! through the [event filter](super::event_filter), which leaves most of them where they are.

use super::event_filter::{self, WantedEvents};
use super::{Analysis, AnalysisError};
use nettrace_parser::{Outcome, Reader, Source, TimeOrdered, Version};

impl Analysis<'_> {
    /// Reads all events that are left.
    ///
    /// # Errors
    /// When the trace cannot be read on, or a converter fails.
    pub fn read<S: Source>(&mut self, events: &mut TimeOrdered<S>) -> Result<Outcome, AnalysisError> {
        if self.wants_all() || !self.can_filter(events)? {
            while let Some(event) = events.next_event()? {
                self.event(&event)?;
            }
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

    /// Whether [`Analysis::read_regions`] is faster with several threads for streams of a version: not where
    /// a converter wants every event.
    pub fn gains_from_threads(&self, version: Option<Version>) -> bool {
        !self.wants_all() && event_filter::is_possible(version)
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

    /// Reads a whole stream, of which any number of threads can have a source of their own, with a number of
    /// threads. The result is that of one. `progress` is called with positions that were reached.
    ///
    /// ```
    /// use nettrace_analysis::{Analysis, AnalysisOptions};
    /// use nettrace_parser::Whole;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut analysis = Analysis::new(AnalysisOptions::new());
    /// let outcome = analysis.read_regions(|| Whole::new(bytes.as_slice()), 2, |_| {})?;
    /// assert!(outcome.is_complete());
    /// # Ok::<(), nettrace_analysis::AnalysisError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Analysis::read`].
    pub fn read_regions<S: Source>(
        &mut self,
        source: impl Fn() -> S + Sync,
        threads: usize,
        progress: impl FnMut(u64),
    ) -> Result<Outcome, AnalysisError> {
        let mut events = Reader::new(source()).time_ordered();
        events.trace()?;
        if threads > 1 && self.gains_from_threads(events.reader().version()) {
            let wanted = self.wanted();
            let outcome = event_filter::read_regions(self, source, threads, wanted, progress)?;
            self.set_outcome(outcome.clone());
            return Ok(outcome);
        }
        self.read(&mut events)
    }
}
