//! HTTP requests: the activities that are some, by what they ask for.

use super::{Activities, ActivitiesReport, Moment, Recording, Report};
use crate::model::{Model, Resolved};
use nettrace_parser::Event;

/// Makes an [`ActivitiesReport`] of HTTP requests alone, by what they ask for.
#[derive(Debug)]
pub struct Http(Activities);

impl Http {
    /// All requests, with the 10 slowest.
    pub fn new() -> Http {
        Http(Activities::http())
    }

    /// With this many of the slowest.
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

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.0.event(event, moment, model)
    }

    fn finish(self, resolved: &Resolved<'_>) -> ActivitiesReport {
        self.0.finish(resolved)
    }
}
