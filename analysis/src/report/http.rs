//! HTTP requests by target, with the number of SQL commands that they ran, and the steps inside one
//! request that the user names.

use super::activities::{Activities, ActivitiesReport, ActivityName};
use super::contract::{Moment, Recording, Report};
use super::sql::{Sql, SqlRequests};
use super::steps::Steps;
use crate::model::activity_edge::http_facts::{HttpDirection, label_of};
use crate::model::{Model, Resolved};
use nettrace_parser::Event;
use std::collections::BTreeMap;

/// Computes an [`ActivitiesReport`] of HTTP requests, by target.
#[derive(Debug)]
pub struct Http {
    requests: Activities,
    sql: Sql,
    /// Steps inside the request that the user names.
    steps: Option<Steps>,
}

impl Default for Http {
    /// Reports all requests and lists the 20 slowest.
    fn default() -> Http {
        Http::from(Activities::default())
    }
}

/// Reports only the HTTP requests, with the options of `activities`.
impl From<Activities> for Http {
    fn from(activities: Activities) -> Http {
        Http {
            steps: activities.requested().cloned().map(Steps::new),
            requests: activities.only_http().with_ended_requests(),
            sql: Sql::default().top(0),
        }
    }
}

impl Http {
    /// Lists only the slowest of the incoming requests to one endpoint, such as `GET /cart`.
    #[must_use]
    pub fn slowest_of(mut self, endpoint: &str) -> Http {
        let name = label_of(Some(HttpDirection::In), endpoint.to_owned());
        self.requests = self.requests.slowest_of(name);
        self
    }

    #[inline(never)]
    fn find_commands(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        self.sql.event_among(event, moment, model, &mut self.requests);
    }
}

impl ActivitiesReport {
    /// Adds the SQL commands that ran for incoming requests.
    pub(crate) fn add_sql(&mut self, requests: &[SqlRequests]) {
        let sums: BTreeMap<&str, &SqlRequests> =
            requests.iter().map(|row| (&*row.name, row)).collect();
        let is_incoming = |name: &ActivityName| name.direction == Some(HttpDirection::In);
        for request in self.activities.iter_mut().filter(|row| is_incoming(&row.name)) {
            if let Some(row) = sums.get(&*request.name.target) {
                (request.sql_commands, request.sql_ns) = (row.commands, row.total_ns);
            }
        }
    }
}

impl Report for Http {
    type Output = ActivitiesReport;

    const NAME: &'static str = "http";
    const ABOUT: &'static str = "HTTP requests, incoming and outgoing";
    const RECORD: &'static [Recording] = Activities::RECORD;

    fn top(mut self, rows: usize) -> Http {
        self.requests = self.requests.top(rows);
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        // Whoever runs commands is among the sources of activities.
        self.requests.wants(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let is_about = self.requests.event(event, moment, model);
        if moment.edge_type().is_some() {
            self.find_commands(event, moment, model);
        }
        if let Some(steps) = &mut self.steps {
            for awaited in self.requests.take_awaits() {
                steps.profiled(awaited, model);
            }
            steps.event(event, moment, model);
        }
        is_about
    }

    fn finish(self, resolved: &Resolved<'_>) -> ActivitiesReport {
        let mut report = self.requests.finish(resolved);
        report.add_sql(&self.sql.finish(resolved).all_requests);
        if let Some(steps) = self.steps {
            (report.steps, report.steps_left_out) = steps.finish(resolved);
        }
        report
    }
}
