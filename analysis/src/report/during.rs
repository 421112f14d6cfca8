//! The times of chosen activities, for a filter of a further pass.

use super::activities::{Activities, ActivityChoice};
use super::contract::{Moment, Recording, Report};
use crate::model::activity_edge::http_facts::HttpDirection;
use crate::model::{ActivitySpans, Model, Resolved};
use nettrace_parser::Event;

/// Computes the times of the activities that a user chose. A further pass counts only what happened
/// in them ([`Filter::spans`](crate::Filter::spans)): on the threads that the activity ids of events
/// show at work for an activity, or else on the thread of its start.
///
/// Activities that did not end in the trace, and those whose stops cannot be told apart, have no
/// times; [`ChosenActivities::without_end`] counts them.
///
/// ```
/// use nettrace_analysis::report::{ActivityChoice, During, ReportPass};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let choice = ActivityChoice::Endpoint("GET /cart".to_owned());
/// let mut pass = ReportPass::new(During::new(choice));
/// pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// let found = pass.finish().output;
/// assert_eq!((found.activities, found.known.len()), (0, 0));
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
#[derive(Debug)]
pub struct During {
    is_of_requests: bool,
    activities: Activities,
}

/// Activities that were chosen, with their times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ChosenActivities {
    /// Times of those that ended.
    pub spans: ActivitySpans,
    /// Number of those that ended and have times.
    pub activities: u64,
    /// Number of those whose stop the trace lacks, or has among several that cannot be told apart.
    pub without_end: u64,
    /// Number of those whose times are not kept, or not to their end, because there are too many.
    pub left_out: u64,
    /// Names of all activities of the trace, or the endpoints of its requests if one is chosen.
    pub known: Vec<String>,
    /// The first ten values of the chosen field in activities of the chosen name, sorted.
    pub values: Vec<String>,
}

impl During {
    /// Finds the times of these activities.
    pub fn new(choice: ActivityChoice) -> During {
        let is_of_requests = matches!(choice, ActivityChoice::Endpoint(_));
        let activities = Activities::default().top(0);
        let activities = if is_of_requests { activities.only_http() } else { activities };
        During { is_of_requests, activities: activities.with_spans_of(choice) }
    }
}

impl Report for During {
    type Output = ChosenActivities;

    const NAME: &'static str = "during";
    const ABOUT: &'static str = "Times of chosen activities, and of the threads at work for them";
    const RECORD: &'static [Recording] = Activities::RECORD;

    fn top(self, _rows: usize) -> During {
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        self.activities.wants(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.activities.event(event, moment, model)
    }

    fn finish(self, resolved: &Resolved<'_>) -> ChosenActivities {
        let report = self.activities.finish(resolved);
        let rows = report.activities.iter();
        let known: Vec<String> = match self.is_of_requests {
            true => {
                let came = rows.filter(|row| row.name.direction == Some(HttpDirection::In));
                came.map(|row| row.name.target.clone()).collect()
            }
            false => rows.map(|row| row.name.to_string()).collect(),
        };
        let found = report.chosen_spans;
        ChosenActivities {
            spans: found.spans,
            activities: found.activities,
            without_end: found.without_end,
            left_out: found.left_out,
            known,
            values: found.values,
        }
    }
}
