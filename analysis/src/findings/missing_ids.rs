//! The finding that activities have no ids, because the session did not ask for what makes ids.

use super::finding::Finding;
use crate::fact::{Fact, Number, Unit};
use crate::model::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Minimum number of activities without ids. An EventSource may turn off the ids of a few.
const MIN_ACTIVITIES: u64 = 10;
/// Weight of the finding, which explains what others lack.
const NO_IDS_WEIGHT: f64 = 29.0;

/// Counts the activities of EventSources by whether they have ids. Activities that DiagnosticSource
/// passes on have ids of their own in their fields.
#[derive(Debug, Default)]
pub(super) struct IdsOfStarts {
    started: u64,
    has_ids: bool,
}

impl IdsOfStarts {
    pub(super) fn wants(event: &Event<'_>) -> bool {
        matches!(event.known_provider(), KnownProvider::Logging | KnownProvider::Other)
    }

    pub(super) fn add(&mut self, event: &Event<'_>, moment: &Moment) {
        if !self.has_ids && moment.activity_edge(event).is_some_and(|edge| edge.is_start) {
            self.started = self.started.saturating_add(1);
            self.has_ids = event.activity_id().is_some_and(|id| !id.is_zero());
        }
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let activities = Number::count(self.started, Unit::Activities);
        (!self.has_ids && self.started >= MIN_ACTIVITIES)
            .then(|| Finding::new(Fact::NoActivityIds { activities }, NO_IDS_WEIGHT))
    }
}
