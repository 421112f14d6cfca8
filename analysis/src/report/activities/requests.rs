//! HTTP requests: a report of those activities that are requests, by target.

use super::{Activities, ActivitiesReport};
use crate::model::{Model, Resolved};
use crate::report::contract::{Moment, Recording, Report};
use nettrace_parser::Event;

/// Computes an [`ActivitiesReport`] of HTTP requests only, by target.
#[derive(Debug)]
pub struct Http(Activities);

impl Http {
    /// All requests, with the 10 slowest.
    pub fn new() -> Http {
        Http(Activities::http())
    }

    /// Sets how many of the slowest are listed.
    #[must_use]
    pub fn top(self, count: usize) -> Http {
        Http(self.0.top(count))
    }

    /// As [`Activities::with_events_of`].
    #[must_use]
    pub fn with_events_of(self, id: &str) -> Http {
        Http(self.0.with_events_of(id))
    }
}

impl Default for Http {
    fn default() -> Http {
        Http::new()
    }
}

impl Report for Http {
    type Output = ActivitiesReport;

    const NAME: &'static str = "http";
    const ABOUT: &'static str = "HTTP requests, incoming and outgoing";
    const RECORD: &'static [Recording] = Activities::RECORD;

    fn wants(&self, event: &Event<'_>) -> bool {
        self.0.wants(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.0.event(event, moment, model)
    }

    fn finish(self, resolved: &Resolved<'_>) -> ActivitiesReport {
        self.0.finish(resolved)
    }
}
