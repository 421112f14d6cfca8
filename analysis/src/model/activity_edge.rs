//! Reads the start, stop or failure of an activity from an event.

mod edge_fields;
mod edge_keys;
mod edge_type;
pub(crate) mod http_facts;

pub(crate) use edge_keys::EdgeKeys;
pub(crate) use edge_type::{EdgeType, EdgeTypes};

use super::activity_id::ActivityId;
use super::activity_pairs::pair_of;
use super::activity_path::PathForm;
use crate::hash::hash_of;
use edge_type::EdgeSource;
use http_facts::HttpFacts;
use nettrace_parser::view::{self, KnownProvider, View};
use nettrace_parser::{Event, Utf16};
use std::cell::OnceCell;
use std::sync::Arc;

/// Name of the field that identifies a request in both events of ASP.NET Core's listener.
const TRACE_IDENTIFIER: &str = "TraceIdentifier";

/// The start or stop of an activity.
#[derive(Debug, Clone)]
pub(crate) struct ActivityEdge {
    pub(crate) is_start: bool,
    /// Name of the activity: `Provider/Task`, or `Source/Activity` for DiagnosticSource.
    pub(crate) name: Arc<str>,
    /// Position of the task or activity in `name`.
    task_at: usize,
    /// Hash of the name of the event's provider.
    pub(crate) provider: u64,
    pub(crate) id: Option<ActivityId>,
    /// Whether `id` is the event's activity id.
    is_id_flowing: bool,
    /// The event's activity id, if the activity itself has a different id.
    pub(crate) path: Option<ActivityId>,
    /// Whether a DiagnosticListener reports the activity. An ActivitySource may report it, too.
    pub(crate) is_listener: bool,
    /// Whether an activity has the id for itself, unless the runtime lost a number of it.
    pub(crate) is_id_unique: bool,
    /// Whether the runtime lost a number of the id, so that several activities with the id may be
    /// open at once.
    pub(crate) may_repeat: bool,
    /// Whether the runtime lost a number of `path`.
    pub(crate) path_may_repeat: bool,
    /// Id of the parent activity, if the event contains one.
    pub(crate) parent: Option<ActivityId>,
    /// Duration of the activity in nanoseconds, if the stop contains one.
    pub(crate) reported_nanos: Option<u64>,
    /// Duration of the activity in nanoseconds, if the stop tells when it started as well, so that
    /// there need not be a start. dotnet-monitor asks for such stops only.
    pub(crate) whole_nanos: Option<u64>,
    pub(crate) is_error: bool,
    /// Hashes of the names and values of the event's fields.
    pub(crate) keys: EdgeKeys,
}

/// A start or stop of an activity, which is read once and which several reports need.
#[derive(Debug, Clone)]
pub(crate) struct ReadEdge {
    pub(crate) edge: ActivityEdge,
    facts: OnceCell<Option<HttpFacts>>,
}

impl ReadEdge {
    /// Reads an event as the start or stop of an activity; `None` for other events.
    /// `edge_type`: type of the event; `form`: how the event's process writes paths.
    pub(crate) fn from_event(
        event: &Event<'_>,
        edge_type: &EdgeType,
        form: PathForm,
    ) -> Option<ReadEdge> {
        let provider = edge_type.provider;
        let mut read = match &edge_type.source {
            EdgeSource::Payload { is_listener } => {
                let edge = ActivityEdge::of_diagnostic_source(event, provider, *is_listener)?;
                ReadEdge { edge, facts: OnceCell::new() }
            }
            EdgeSource::Type { .. } => ReadEdge::of_event_source(event, edge_type)?,
        };
        let may_repeat =
            |id: &Option<ActivityId>| id.as_ref().is_some_and(|id| id.may_repeat(form));
        read.edge.may_repeat = may_repeat(&read.edge.id);
        read.edge.path_may_repeat = may_repeat(&read.edge.path);
        Some(read)
    }

    /// Returns the facts about the HTTP request that starts or stops; `None` for other activities.
    /// `event`: the event that the edge was read from.
    pub(crate) fn facts(&self, event: &Event<'_>) -> Option<&HttpFacts> {
        self.facts.get_or_init(|| HttpFacts::from_event(event, &self.edge)).as_ref()
    }

    fn of_event_source(event: &Event<'_>, edge_type: &EdgeType) -> Option<ReadEdge> {
        let EdgeSource::Type { name, task_at, pair, is_failure, fields, .. } = &edge_type.source
        else {
            return None;
        };
        let is_start = match pair {
            Some((_, is_start)) => *is_start,
            None => match event.opcode().unwrap_or_else(|| event.implied_opcode()) {
                1 => true,
                2 => false,
                _ => return None,
            },
        };
        let flowing = ActivityId::of_event(event);
        let logged = logged_id(event);
        let is_id_flowing = logged.is_none();
        let (id, path, is_id_unique) = match logged {
            // The stop of a scope of a log may have the activity id of another flow.
            Some(logged) => (Some(logged), flowing, true),
            None => {
                let is_unique = flowing.as_ref().is_some_and(ActivityId::is_path);
                (flowing, None, is_unique)
            }
        };
        let mut edge = ActivityEdge {
            is_start,
            name: Arc::clone(name),
            task_at: *task_at,
            provider: edge_type.provider,
            id,
            is_id_flowing,
            path,
            is_listener: false,
            is_id_unique,
            may_repeat: false,
            path_may_repeat: false,
            parent: if is_start { ActivityId::related(event) } else { None },
            reported_nanos: None,
            whole_nanos: None,
            is_error: *is_failure,
            keys: EdgeKeys::default(),
        };
        let facts = fields.read(event, is_start, &mut edge.keys);
        Some(ReadEdge { edge, facts: OnceCell::from(facts) })
    }
}

impl ActivityEdge {
    /// Returns the start of the activity that this stop tells whole, and its time; `None` for other
    /// edges, and if the activity began before the session. `nanos`: time of the stop.
    pub(crate) fn start_of_whole(&self, nanos: i64) -> Option<(ActivityEdge, i64)> {
        let began = Some(nanos.saturating_sub_unsigned(self.whole_nanos?)).filter(|at| *at >= 0)?;
        let start = ActivityEdge { is_start: true, reported_nanos: None, ..self.clone() };
        Some((start, began))
    }

    /// Returns the event's activity id.
    pub(crate) fn flowing_id(&self) -> Option<&ActivityId> {
        if self.is_id_flowing { self.id.as_ref() } else { self.path.as_ref() }
    }

    /// Returns the name of the task or activity without its source.
    pub(crate) fn task(&self) -> &str {
        self.name.get(self.task_at..).unwrap_or_default()
    }

    fn of_diagnostic_source(
        event: &Event<'_>,
        provider: u64,
        is_listener: bool,
    ) -> Option<ActivityEdge> {
        let activity = view::Activity::from_event(event)?;
        let (source, event_name) = (String::from(activity.source), String::from(activity.name));
        let pair = pair_of(&source, &event_name);
        let is_start = match (activity.edge, pair) {
            (view::ActivityEdge::Start, _) => true,
            (view::ActivityEdge::Stop, _) => false,
            (_, Some((_, is_start, _))) => is_start,
            _ if event_name.ends_with(".Start") => true,
            _ if event_name.ends_with(".Stop") => false,
            _ => return None,
        };
        let operation = match (pair, event_name.rsplit_once('.')) {
            (Some((pair, ..)), Some((path, _))) if pair.name.is_empty() => path.to_owned(),
            (Some((pair, ..)), Some((path, _))) => format!("{path}.{}", pair.name),
            _ => operation_name(&event_name).to_owned(),
        };
        let mut edge = ActivityEdge {
            is_start,
            name: format!("{source}/{operation}").into(),
            task_at: source.len().saturating_add(1),
            provider,
            id: None,
            is_id_flowing: false,
            path: None,
            is_listener,
            is_id_unique: true,
            may_repeat: false,
            path_may_repeat: false,
            parent: None,
            reported_nanos: None,
            whole_nanos: None,
            is_error: pair.is_some_and(|(.., is_error)| is_error),
            keys: EdgeKeys::default(),
        };
        let (mut span, mut parent_span, mut has_start_time) = (None, None, false);
        for (key, value) in activity.arguments() {
            let text = || Some(String::from(value)).filter(|text| !text.is_empty());
            let id = || ActivityId::from_text(&String::from(value));
            let of_pair = pair.map_or(&[][..], |(pair, ..)| pair.keys);
            let mut compared = of_pair.iter().copied().chain([TRACE_IDENTIFIER]);
            if let Some(name) = compared.find(|name| key == *name) {
                edge.keys.push((hash_of(name), hash_of(String::from(value).as_str())));
            }
            match EdgeArgument::of_key(key) {
                None => {}
                Some(EdgeArgument::Id) => edge.id = id(),
                Some(EdgeArgument::Parent) => edge.parent = id(),
                Some(EdgeArgument::Span) => span = id(),
                Some(EdgeArgument::ParentSpan) => parent_span = id(),
                Some(EdgeArgument::Duration) => {
                    edge.reported_nanos = text().and_then(|text| time_span_nanos(&text));
                }
                Some(EdgeArgument::DurationTicks) => {
                    let ticks = text().and_then(|text| text.parse::<u64>().ok());
                    edge.reported_nanos = ticks.map(|ticks| ticks.saturating_mul(100));
                }
                Some(EdgeArgument::StartTimeTicks) => {
                    has_start_time = text().is_some_and(|text| text.parse::<u64>().is_ok());
                }
                Some(EdgeArgument::Status) => edge.is_error |= value == "Error",
                Some(EdgeArgument::Tags) => {
                    let tags = String::from(value);
                    edge.is_error |= tag(&tags, "error.type").is_some()
                        || tag(&tags, "otel.status_code").is_some_and(|code| code == "ERROR");
                }
            }
        }
        edge.whole_nanos = edge.reported_nanos.filter(|_| has_start_time && !is_start);
        edge.reported_nanos = edge.reported_nanos.filter(|nanos| *nanos > 0 && !is_start);
        // An id of zeros means that there is no parent.
        parent_span = parent_span.filter(|id| *id != ActivityId::Span(0));
        edge.id = edge.id.or(span);
        let tells_start = is_start || edge.whole_nanos.is_some();
        edge.parent = edge.parent.or(parent_span).filter(|_| tells_start);
        edge.path = ActivityId::of_event(event);
        if edge.id.is_none() {
            edge.is_id_unique = false;
            edge.is_id_flowing = true;
            edge.id = edge.path.take();
        }
        Some(edge)
    }
}

/// What an argument of a DiagnosticSource tells about an activity.
#[derive(Debug, Clone, Copy)]
enum EdgeArgument {
    Id,
    Parent,
    Span,
    ParentSpan,
    Duration,
    DurationTicks,
    StartTimeTicks,
    Status,
    Tags,
}

impl EdgeArgument {
    const KEYS: [(&str, EdgeArgument); 11] = [
        ("Id", EdgeArgument::Id),
        ("ActivityId", EdgeArgument::Id),
        ("ParentId", EdgeArgument::Parent),
        ("SpanId", EdgeArgument::Span),
        ("ParentSpanId", EdgeArgument::ParentSpan),
        ("Duration", EdgeArgument::Duration),
        ("DurationTicks", EdgeArgument::DurationTicks),
        ("StartTimeTicks", EdgeArgument::StartTimeTicks),
        ("Status", EdgeArgument::Status),
        ("TagObjects", EdgeArgument::Tags),
        ("Tags", EdgeArgument::Tags),
    ];

    /// Returns what the argument with a key tells; `None` if nothing, as most do. A key is compared as
    /// it is stored.
    fn of_key(key: Utf16<'_>) -> Option<EdgeArgument> {
        let is_key = |name: &str| name.len() == key.len() && key == name;
        EdgeArgument::KEYS.into_iter().find(|(name, _)| is_key(name)).map(|(_, argument)| argument)
    }
}

/// Returns whether an event reports that its activity failed.
pub(crate) fn is_failure(event: &Event<'_>) -> bool {
    matches!(event.level(), 1 | 2) || event.name().ends_with("Failed")
}

/// Returns the name of the task in an event's name: `Request` for `RequestStart`, `RequestStop`,
/// `BeginRequest` and `EndRequest`.
fn task_name(name: &str) -> &str {
    let rest = ["Start", "Stop"].into_iter().find_map(|end| name.strip_suffix(end));
    let rest =
        rest.or_else(|| ["Begin", "End"].into_iter().find_map(|start| name.strip_prefix(start)));
    rest.map(|rest| rest.trim_end_matches('/')).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Returns whether an ActivitySource writes events of this name. Events of listeners are called
/// `Activity1Start`, `RecursiveActivity1Stop`, `Event`, as their specification says.
fn is_span(name: &str) -> bool {
    let task = ["Start", "Stop"].into_iter().find_map(|end| name.strip_suffix(end));
    task.is_some_and(|task| task.trim_end_matches('/') == "Activity")
}

/// Returns an event's name without the part that distinguishes start and stop.
fn operation_name(name: &str) -> &str {
    let ends = [".Start", ".Stop", "Executing", "Executed", "Before", "After", "Start", "Stop"];
    ends.into_iter()
        .find_map(|end| name.strip_suffix(end))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// Returns the value of a tag in a text of the form `a:1,b:2`.
pub(crate) fn tag<'t>(tags: &'t str, key: &str) -> Option<&'t str> {
    tags.split(',').find_map(|pair| pair.trim().strip_prefix(key)?.strip_prefix(':'))
}

/// Converts the text of a TimeSpan, `[d.]hh:mm:ss[.fffffff]`, to nanoseconds.
fn time_span_nanos(text: &str) -> Option<u64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let number = |text: &str| text.parse::<u64>().ok();
    let hours = number(days)?.checked_mul(24)?.checked_add(number(hours)?)?;
    let minutes = hours.checked_mul(60)?.checked_add(number(minutes)?)?;
    let seconds = minutes.checked_mul(60)?.checked_add(number(seconds)?)?;
    let fraction = number(format!("{fraction:0<9}").get(..9)?)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// Returns the id in the payload of an activity of `Microsoft-Extensions-Logging`, such as `1:17`:
/// the number of its factory, and its own.
fn logged_id(event: &Event<'_>) -> Option<ActivityId> {
    if event.known_provider() != KnownProvider::Logging {
        return None;
    }
    let (mut id, mut factory) = (None, None);
    for field in event.fields() {
        match field.name() {
            "ID" => id = field.value.ok()?.as_i64(),
            "FactoryID" => factory = field.value.ok()?.as_i64(),
            _ => break,
        }
    }
    ActivityId::from_text(&format!("{}:{}", factory?, id?))
}

#[cfg(test)]
impl ActivityEdge {
    /// Makes a start or stop that has only an id and fields.
    pub(crate) fn bare(
        id: Option<&ActivityId>,
        keys: &[(u64, u64)],
        is_id_unique: bool,
    ) -> ActivityEdge {
        ActivityEdge {
            is_start: false,
            name: "".into(),
            task_at: 0,
            provider: 0,
            id: id.cloned(),
            is_id_flowing: true,
            path: None,
            is_listener: false,
            is_id_unique,
            may_repeat: id.is_some_and(|id| id.may_repeat(PathForm::Complete)),
            path_may_repeat: false,
            parent: None,
            reported_nanos: None,
            whole_nanos: None,
            is_error: false,
            keys: keys.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_and_stops_have_one_name() {
        for (start, stop, name) in [
            ("RequestStart", "RequestStop", "Request"),
            ("BeginExecute", "EndExecute", "Execute"),
            ("Request/Start", "Request/Stop", "Request"),
            ("Start", "Stop", "Start"),
            ("Request", "Request", "Request"),
        ] {
            assert_eq!(task_name(start), name);
            assert_eq!(task_name(stop), if name == "Start" { "Stop" } else { name });
        }
        assert_eq!(
            operation_name("Microsoft.AspNetCore.Hosting.HttpRequestIn.Stop"),
            operation_name("Microsoft.AspNetCore.Hosting.HttpRequestIn.Start")
        );
        assert_eq!(operation_name("X.CommandExecuting"), operation_name("X.CommandExecuted"));
        assert_eq!(operation_name("order"), "order");
    }

    #[test]
    fn time_spans_are_nanoseconds() {
        assert_eq!(time_span_nanos("00:00:00.0071356"), Some(7_135_600));
        assert_eq!(time_span_nanos("1.02:03:04"), Some(93_784_000_000_000));
        for text in [
            "",
            "x",
            "1:2",
            "99999999999999999999:00:00",
            "00:00:00.é",
            "18446744073709551615:00:00",
        ] {
            assert_eq!(time_span_nanos(text), None, "{text}");
        }
    }

    #[test]
    fn tags_are_found_by_their_whole_name() {
        let tags = "url.full:http://x/a,http.response.status_code:500";
        assert_eq!(tag(tags, "http.response.status_code"), Some("500"));
        assert_eq!((tag(tags, "url.full"), tag(tags, "url")), (Some("http://x/a"), None));
    }
}
