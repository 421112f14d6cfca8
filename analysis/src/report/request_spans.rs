//! The times in which threads worked for incoming requests, by endpoint, or for other activities.

use super::activities::Activities;
use super::contract::{Moment, Recording, Report};
use crate::model::{EndpointSpans, Model, Resolved};
use nettrace_parser::Event;

/// Computes the [`EndpointSpans`] of a trace. Further passes limit their samples to one endpoint with
/// them ([`Filter::spans`](crate::Filter::spans)), or tell samples apart by endpoint
/// ([`AnalysisOptions::endpoints`](crate::AnalysisOptions::endpoints)). At most
/// [`RequestSpans::MAX_SPANS`] are kept; [`EndpointSpans::left_out_of`] counts the requests that
/// lack theirs.
///
/// Requests that did not end in the trace, and those whose stops cannot be told apart, have no
/// spans.
///
/// ```
/// use nettrace_analysis::report::{ReportPass, RequestSpans};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut pass = ReportPass::new(RequestSpans::default());
/// pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// assert_eq!(pass.finish().output.spans_of("GET /cart"), None);
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
#[derive(Debug)]
pub struct RequestSpans {
    max_spans: usize,
    requests: Activities,
}

impl Default for RequestSpans {
    fn default() -> RequestSpans {
        RequestSpans::new(RequestSpans::MAX_SPANS)
    }
}

impl RequestSpans {
    /// Maximum number of spans of threads that are kept for all requests of a trace. Each takes 32
    /// bytes, and as many again while they are sorted.
    pub const MAX_SPANS: usize = 1 << 20;

    /// Keeps up to `max_spans` spans of threads.
    pub fn new(max_spans: usize) -> RequestSpans {
        let requests = Activities::default().top(0).only_http();
        RequestSpans { max_spans, requests: requests.with_request_spans(max_spans) }
    }

    /// Takes the activities of these names in place of requests, such as `Shop/Order`, as
    /// [`Activities`] lists them. The name is in the place of the endpoint. Of activities inside each
    /// other, a sample belongs to the innermost of the chosen ones; where ids tell no thread at work
    /// for an activity, it is that of its start.
    #[must_use]
    pub fn activities<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> RequestSpans {
        let names = names.into_iter().map(Into::into).collect();
        let activities = Activities::default().top(0);
        RequestSpans { requests: activities.with_spans_of_names(self.max_spans, names), ..self }
    }
}

impl Report for RequestSpans {
    type Output = EndpointSpans;

    const NAME: &'static str = "request-spans";
    const ABOUT: &'static str = "Times in which threads worked for requests, by endpoint";
    const RECORD: &'static [Recording] = Activities::RECORD;

    fn top(self, _rows: usize) -> RequestSpans {
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        self.requests.wants(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.requests.event(event, moment, model)
    }

    fn finish(self, resolved: &Resolved<'_>) -> EndpointSpans {
        self.requests.finish(resolved).request_spans
    }
}
