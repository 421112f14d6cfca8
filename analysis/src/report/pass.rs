//! One pass over a trace for one report.

use super::{Moment, Report};
use crate::model::{Filter, Model, NameOptions, Resolved};
use nettrace_parser::{Clock, Event, Source, TimeOrdered};

/// Feeds a [`Report`] with a trace.
#[derive(Debug)]
pub struct ReportPass<R> {
    report: R,
    filter: Filter,
    names: NameOptions,
    model: Model,
    clock: Option<Clock>,
    events: u64,
}

/// What a pass yields.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reported<O> {
    /// The report.
    pub output: O,
    /// Events of the trace that the report is about; 0: the trace was recorded without them.
    pub events: u64,
    /// What was learned of processes, threads and code.
    pub model: Model,
}

impl<R: Report> ReportPass<R> {
    /// A pass for `report`, of everything, with default names.
    pub fn new(report: R) -> ReportPass<R> {
        ReportPass {
            report,
            filter: Filter::new(),
            names: NameOptions::default(),
            model: Model::new(),
            clock: None,
            events: 0,
        }
    }

    /// Counts only what `filter` lets pass.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> ReportPass<R> {
        self.filter = filter;
        self
    }

    /// How frames are named.
    #[must_use]
    pub fn names(mut self, names: NameOptions) -> ReportPass<R> {
        self.names = names;
        self
    }

    /// The report, to take from it what it need not keep.
    pub fn report_mut(&mut self) -> &mut R {
        &mut self.report
    }

    /// For what the trace does not tell, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Reads all events that are left.
    ///
    /// # Errors
    /// When the trace cannot be read on.
    pub fn read<S: Source>(&mut self, events: &mut TimeOrdered<S>) -> Result<(), nettrace_parser::Error> {
        while let Some(event) = events.next_event()? {
            self.event(&event);
        }
        Ok(())
    }

    /// Takes the next event; in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        let thread = self.model.learn(event);
        let clock = *self.clock.get_or_insert_with(|| event.session().clock());
        let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
        let is_selected = self.filter.admits_moment(thread, nanos, &self.model);
        let moment = Moment { thread, nanos, is_selected };
        if self.report.event(event, &moment, &mut self.model) {
            self.events = self.events.saturating_add(1);
        }
    }

    /// The end of the trace.
    pub fn finish(mut self) -> Reported<R::Output> {
        self.model.complete(None);
        let output = self.report.finish(&Resolved::new(&self.model, self.names, &self.filter));
        Reported { output, events: self.events, model: self.model }
    }
}
