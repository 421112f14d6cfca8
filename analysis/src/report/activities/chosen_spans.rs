//! Times of the activities that a user chose, and of the threads that worked for them.

use super::BegunActivity;
use super::fields::{is_field, value_of};
use crate::hash::HashMap;
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_id::WantedId;
use crate::model::{ActivitySpans, Resolved, TextHandle, Texts, ThreadHandle, ThreadSpan};
use crate::report::contract::Moment;
use crate::report::counts::increase;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Maximum number of spans of threads, and of activities, whose times are kept.
const MAX_SPANS: usize = 1 << 20;
/// Maximum number of values of the chosen field that a message names.
const MAX_VALUES: usize = 10;

/// Activities to which a filter limits what counts: all of a name, one by its id, or requests.
///
/// As a text it is `PROVIDER/ACTIVITY`, a name that [`Activities`](super::Activities) lists, or
/// `PROVIDER/ACTIVITY:FIELD=VALUE`: those whose start has the value in a field.
///
/// ```
/// use nettrace_analysis::report::ActivityChoice;
///
/// let Ok(choice) = "Shop/Order:customer=17".parse::<ActivityChoice>();
/// let field = Some(("customer".to_owned(), "17".to_owned()));
/// assert_eq!(choice, ActivityChoice::Named { name: "Shop/Order".to_owned(), field });
/// assert_eq!(choice.to_string(), "Shop/Order:customer=17");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActivityChoice {
    /// Activities of a name. `field`: field of their start, and its value.
    Named {
        /// Name: `Provider/Activity`.
        name: String,
        /// Field of the start, or of the stop of a DiagnosticSource, and its value.
        field: Option<(String, String)>,
    },
    /// The first activity with an id, or the one with `ID@START`.
    Id(String),
    /// Requests that came in to an endpoint, such as `GET /cart`.
    Endpoint(String),
}

impl FromStr for ActivityChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<ActivityChoice, Infallible> {
        let parts = text.split_once('=');
        let parts = parts.and_then(|(before, value)| Some((before.rsplit_once(':')?, value)));
        Ok(match parts {
            Some(((name, field), value)) => ActivityChoice::Named {
                name: name.to_owned(),
                field: Some((field.to_owned(), value.to_owned())),
            },
            None => ActivityChoice::Named { name: text.to_owned(), field: None },
        })
    }
}

impl fmt::Display for ActivityChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActivityChoice::Named { name, field: None } => f.write_str(name),
            ActivityChoice::Named { name, field: Some((field, value)) } => {
                write!(f, "{name}:{field}={value}")
            }
            ActivityChoice::Id(text) | ActivityChoice::Endpoint(text) => f.write_str(text),
        }
    }
}

/// Times of the chosen activities that have ended.
#[derive(Debug)]
pub(super) struct ChosenSpans {
    choice: ActivityChoice,
    /// The id, if that is the choice, until the activity has started.
    id: Option<WantedId>,
    spans: Vec<(ThreadHandle, i64, i64)>,
    whole: Vec<(i64, i64)>,
    left_out: u64,
    without_end: u64,
    /// Number of requests without an end, by label.
    requests_without_end: HashMap<TextHandle, u64>,
    values: BTreeSet<String>,
}

/// Result of [`ChosenSpans`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FoundSpans {
    pub(crate) spans: ActivitySpans,
    pub(crate) activities: u64,
    pub(crate) without_end: u64,
    pub(crate) left_out: u64,
    pub(crate) values: Vec<String>,
}

impl ChosenSpans {
    pub(super) fn new(choice: ActivityChoice) -> ChosenSpans {
        let id = match &choice {
            ActivityChoice::Id(id) => Some(WantedId::new(id)),
            _ => None,
        };
        ChosenSpans {
            choice,
            id,
            spans: Vec::new(),
            whole: Vec::new(),
            left_out: 0,
            without_end: 0,
            requests_without_end: HashMap::default(),
            values: BTreeSet::new(),
        }
    }

    /// Returns whether an activity that starts is a chosen one, as far as its start tells.
    pub(super) fn started(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        moment: &Moment,
    ) -> bool {
        match &self.choice {
            ActivityChoice::Named { name, field: None } => *edge.name == **name,
            ActivityChoice::Named { name, field: Some((field, value)) } => {
                if *edge.name != **name {
                    return false;
                }
                if self.values.len() < MAX_VALUES {
                    self.values.extend(value_of(event, field));
                }
                is_field(event, field, value)
            }
            ActivityChoice::Id(_) => {
                let ids = [&edge.id, &edge.path];
                let is_it = |wanted: &WantedId| {
                    ids.into_iter().flatten().any(|id| wanted.is(id))
                        && wanted.is_start(moment.nanos)
                };
                // Ids repeat; the first activity with the id counts.
                self.id.take_if(|wanted| is_it(wanted)).is_some()
            }
            ActivityChoice::Endpoint(_) => false,
        }
    }

    /// Returns whether an activity that has ended is a chosen one. `is_chosen`: whether its start
    /// tells that it is; `stop`: its stop, if it is known;
    /// `request`: label of the incoming request that it is.
    pub(super) fn is_chosen(
        &self,
        is_chosen: bool,
        name: TextHandle,
        stop: Option<&Event<'_>>,
        request: Option<TextHandle>,
        texts: &Texts,
    ) -> bool {
        match &self.choice {
            ActivityChoice::Named { name: wanted, field: Some((field, value)) } => {
                // Tags may be set while an activity runs.
                let has_tags =
                    |stop: &&Event<'_>| stop.known_provider() == KnownProvider::DiagnosticSource;
                let stop = stop.filter(has_tags).filter(|_| texts.get(name) == wanted);
                is_chosen || stop.is_some_and(|stop| is_field(stop, field, value))
            }
            ActivityChoice::Endpoint(endpoint) => {
                request.is_some_and(|label| endpoint_of(texts.get(label)) == endpoint)
            }
            _ => is_chosen,
        }
    }

    /// Adds an activity that lasted from `begun` to `ended`, its stop included. `threads`: thread,
    /// start and end of the work for it, as activity ids tell; if they tell nothing, it is that of
    /// the thread of its start. `is_cut`: later work is not known.
    pub(super) fn add(
        &mut self,
        on: ThreadHandle,
        (begun, ended): (i64, i64),
        threads: &[(ThreadHandle, i64, i64)],
        is_cut: bool,
    ) {
        let has_room = self.spans.len().saturating_add(threads.len()) < MAX_SPANS
            && self.whole.len() < MAX_SPANS;
        if has_room {
            let after = ended.saturating_add(1);
            self.whole.push((begun, after));
            let with_stop = |to: i64| if to == ended { after } else { to };
            match threads {
                [] => self.spans.push((on, begun, after)),
                _ => self
                    .spans
                    .extend(threads.iter().map(|(on, from, to)| (*on, *from, with_stop(*to)))),
            }
        }
        increase(&mut self.left_out, u64::from(!has_room || is_cut));
    }

    /// Counts an activity whose end is not known.
    pub(super) fn has_no_end(&mut self, begun: &BegunActivity, name: TextHandle) {
        let request = begun.request.as_ref().filter(|request| request.is_incoming());
        match request.filter(|_| matches!(self.choice, ActivityChoice::Endpoint(_))) {
            Some(request) => {
                let label = request.label.unwrap_or(name);
                increase(self.requests_without_end.entry(label).or_default(), 1);
            }
            None => increase(&mut self.without_end, u64::from(begun.is_chosen)),
        }
    }

    pub(super) fn finish(self, resolved: &Resolved<'_>) -> FoundSpans {
        let model = resolved.model();
        let without_end = match &self.choice {
            ActivityChoice::Endpoint(endpoint) => {
                let of_it = self.requests_without_end.iter();
                let of_it =
                    of_it.filter(|(it, _)| endpoint_of(model.texts().get(**it)) == endpoint);
                of_it.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
            }
            _ => self.without_end,
        };
        let span = |(thread, from, to): &(ThreadHandle, i64, i64)| {
            Some(ThreadSpan::new(model.thread(*thread)?.os_thread_id?, *from, *to))
        };
        let activities = self.whole.len() as u64;
        let spans = ActivitySpans::new(self.spans.iter().filter_map(span).collect(), self.whole);
        let values = self.values.into_iter().collect();
        FoundSpans { spans, activities, without_end, left_out: self.left_out, values }
    }
}

/// Returns the endpoint in the label of an incoming request.
fn endpoint_of(label: &str) -> &str {
    label.strip_prefix("in ").unwrap_or(label)
}
