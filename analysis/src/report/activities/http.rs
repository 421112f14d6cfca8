//! HTTP requests: a report of those activities that are requests, by target.

use super::{Activities, ActivitiesReport};
use crate::model::{Model, Resolved};
use crate::report::contract::{Moment, Recording, Report};
use nettrace_parser::Event;

/// Computes an [`ActivitiesReport`] of HTTP requests only, by target.
#[derive(Debug)]
pub struct Http(Activities);

impl Default for Http {
    /// All requests, with the 10 slowest.
    fn default() -> Http {
        Http::from(Activities::default())
    }
}

/// With the same options.
impl From<Activities> for Http {
    fn from(activities: Activities) -> Http {
        Http(activities.only_http())
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
