//! Facts about HTTP requests in the events of activities.
//!
//! | source | direction |
//! |---|---|
//! | `System.Net.Http` Request; DiagnosticSource `…HttpRequestOut` | out |
//! | `Microsoft.AspNetCore.Hosting` and `Microsoft-AspNetCore-Server-Kestrel` Request; DiagnosticSource `…HttpRequestIn` | in |
//! | `Request` of any other EventSource whose start has a path or a URL | not reported |

use super::{ActivityEdge, tag};
use crate::hash::HashMap;
use crate::identifier::is_identifier;
use crate::model::{TextHandle, Texts};
use nettrace_parser::view::{self, KnownProvider, View};
use nettrace_parser::{Event, Utf16, Value};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Reads a status: a number, or a name of HttpStatusCode such as `OK`.
fn status_of(text: &str) -> Option<i64> {
    const NAMES: [(&str, i64); 16] = [
        ("OK", 200),
        ("Created", 201),
        ("Accepted", 202),
        ("NoContent", 204),
        ("MovedPermanently", 301),
        ("Found", 302),
        ("NotModified", 304),
        ("BadRequest", 400),
        ("Unauthorized", 401),
        ("Forbidden", 403),
        ("NotFound", 404),
        ("Conflict", 409),
        ("TooManyRequests", 429),
        ("InternalServerError", 500),
        ("BadGateway", 502),
        ("ServiceUnavailable", 503),
    ];
    let named = || NAMES.iter().find(|(name, _)| *name == text).map(|(_, status)| *status);
    text.parse().ok().or_else(named)
}

/// Direction of an HTTP request, seen from the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HttpDirection {
    /// The process serves it.
    In,
    /// The process sends it.
    Out,
}

impl HttpDirection {
    /// Returns `in` or `out`.
    pub fn name(self) -> &'static str {
        match self {
            HttpDirection::In => "in",
            HttpDirection::Out => "out",
        }
    }
}

/// Facts about an HTTP request, as its events report them. Copies share what does not change.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpFacts {
    asked: Arc<AskedFor>,
    pub(crate) status: Option<i64>,
}

/// What a request asks for.
#[derive(Debug, Default)]
struct AskedFor {
    /// Direction; `None` if the source does not say.
    direction: Option<HttpDirection>,
    method: Option<String>,
    /// Scheme, host and path, without a query.
    target: Option<String>,
    name: OnceLock<Option<String>>,
    /// Label among the texts of a model.
    label: OnceLock<Option<TextHandle>>,
}

/// What the fields or tags of an event tell.
#[derive(Debug, Default)]
struct ReadFacts {
    method: Option<String>,
    target: Option<String>,
    status: Option<i64>,
}

/// Returns the direction of HTTP requests whose activities have a name, or `Some(None)` if the source
/// does not say it; `None` for activities that are no requests.
pub(super) fn direction_of(name: &str, is_diagnostic: bool) -> Option<Option<HttpDirection>> {
    match name {
        "System.Net.Http/Request" => Some(Some(HttpDirection::Out)),
        "Microsoft.AspNetCore.Hosting/Request" | "Microsoft-AspNetCore-Server-Kestrel/Request" => {
            Some(Some(HttpDirection::In))
        }
        name if is_diagnostic && name.ends_with("HttpRequestOut") => Some(Some(HttpDirection::Out)),
        name if is_diagnostic && name.ends_with("HttpRequestIn") => Some(Some(HttpDirection::In)),
        name if !is_diagnostic && name.ends_with("/Request") => Some(None),
        _ => None,
    }
}

impl HttpFacts {
    pub(crate) fn new(
        direction: Option<HttpDirection>,
        method: Option<String>,
        target: Option<String>,
    ) -> HttpFacts {
        let asked = AskedFor { direction, method, target, ..AskedFor::default() };
        HttpFacts { asked: Arc::new(asked), status: None }
    }

    /// Returns the facts in the start or stop of an HTTP request; `None` for other activities.
    pub(super) fn from_event(event: &Event<'_>, edge: &ActivityEdge) -> Option<HttpFacts> {
        let is_diagnostic = event.known_provider() == KnownProvider::DiagnosticSource;
        let direction = direction_of(&edge.name, is_diagnostic)?;
        let mut read = ReadFacts::default();
        if is_diagnostic {
            read.read_tags(event);
        } else {
            read.read_fields(event);
        }
        let facts = HttpFacts::new(direction, read.method, read.target);
        Some(HttpFacts { status: read.status, ..facts })
            .filter(|facts| facts.is_known(edge.is_start))
    }

    /// Returns whether the facts tell that the activity is an HTTP request. A `Request` of another
    /// EventSource need not be about HTTP, so its start must have a target. A stop has no target.
    pub(super) fn is_known(&self, is_start: bool) -> bool {
        self.asked.direction.is_some() || !is_start || self.asked.target.is_some()
    }

    /// Returns the direction; `None` if the source does not say.
    pub(crate) fn direction(&self) -> Option<HttpDirection> {
        self.asked.direction
    }

    pub(crate) fn method(&self) -> Option<&str> {
        self.asked.method.as_deref()
    }

    /// Returns scheme, host and path, without a query.
    pub(crate) fn target(&self) -> Option<&str> {
        self.asked.target.as_deref()
    }

    /// Completes these facts by those of another event of the request.
    pub(crate) fn join(&mut self, other: &HttpFacts) {
        self.status = self.status.or(other.status);
        let (own, new) = (&*self.asked, &*other.asked);
        let lacks_any = own.direction.is_none() && new.direction.is_some()
            || own.method.is_none() && new.method.is_some()
            || own.target.is_none() && new.target.is_some();
        if lacks_any {
            let joined = HttpFacts::new(
                own.direction.or(new.direction),
                own.method.clone().or_else(|| new.method.clone()),
                own.target.clone().or_else(|| new.target.clone()),
            );
            self.asked = joined.asked;
        }
    }

    /// Returns whether both may be facts of one request: they have one direction and, as far as
    /// they are known, one method and path.
    pub(crate) fn is_same_request(&self, other: &HttpFacts) -> bool {
        fn agree<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.zip(other).is_none_or(|(one, other)| one == other)
        }
        let is_equal = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
        self.direction() == other.direction()
            && self.direction().is_some()
            && agree(self.method(), other.method())
            && (is_equal(self.target(), other.target()) || agree(self.path(), other.path()))
    }

    /// Returns the requested path, without host and query.
    pub(crate) fn path(&self) -> Option<&str> {
        let target = self.target()?.split(['?', '#']).next()?;
        match target.split_once("://") {
            Some((_, rest)) => Some(rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")),
            None => Some(target),
        }
    }

    /// Returns whether the status is an error: a server error, or no response.
    pub(crate) fn is_error(&self) -> bool {
        self.status.is_some_and(|status| !(0..500).contains(&status))
    }

    /// Returns direction and name, such as `out GET https://host/items/#`. Numbers in paths do not
    /// distinguish requests.
    pub(crate) fn label(&self) -> Option<String> {
        self.name().map(|name| label_of(self.direction(), name.to_owned()))
    }

    /// Returns the label among the texts of the model, which must be the same for all copies.
    pub(crate) fn label_in(&self, texts: &mut Texts) -> Option<TextHandle> {
        *self.asked.label.get_or_init(|| self.label().map(|label| texts.intern(&label)))
    }

    /// Returns the name without the direction, such as `GET https://host/items/#`.
    pub(crate) fn name(&self) -> Option<&str> {
        self.asked.name.get_or_init(|| self.asked.named()).as_deref()
    }
}

impl AskedFor {
    fn named(&self) -> Option<String> {
        let target = self.target.as_deref()?;
        let target = target.split(['?', '#']).next().unwrap_or_default();
        let host_end = target.find("://").map_or(0, |at| at.saturating_add(3));
        let host_end = target
            .get(host_end..)
            .and_then(|rest| rest.find('/'))
            .map_or(0, |at| at.saturating_add(host_end));
        let (host, path) = target.split_at_checked(host_end)?;
        let mut name = String::with_capacity(target.len().saturating_add(METHOD_BYTES));
        if let Some(method) = &self.method {
            name.push_str(method);
            name.push(' ');
        }
        name.push_str(host);
        add_path_group(&mut name, path);
        Some(name)
    }
}

/// Field of an event of an EventSource that tells something about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum HttpField {
    Scheme,
    Host,
    Port,
    Method,
    Path,
    Target,
    Status,
}

impl HttpField {
    pub(super) fn of_name(name: &str) -> Option<HttpField> {
        Some(match name {
            "scheme" => HttpField::Scheme,
            "host" => HttpField::Host,
            "port" => HttpField::Port,
            "method" | "Method" | "httpMethod" => HttpField::Method,
            "path" | "Path" | "pathAndQuery" => HttpField::Path,
            "url" | "Url" | "uri" | "Uri" | "requestUri" => HttpField::Target,
            "statusCode" | "StatusCode" => HttpField::Status,
            _ => return None,
        })
    }
}

/// Facts of the last requests of a type, by the hash of the fields that tell them: most requests ask
/// for what others have asked for.
#[derive(Debug, Default)]
pub(super) struct RecentFacts(Mutex<HashMap<u64, HttpFacts>>);

/// Maximum number of different requests that are remembered for a type of events.
const MAX_RECENT: usize = 256;

impl RecentFacts {
    /// Returns the facts in an event, whose fields have a hash. The status is not one of them.
    pub(super) fn look_up(
        &self,
        fields: u64,
        event: &Event<'_>,
        direction: Option<HttpDirection>,
    ) -> HttpFacts {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = recent.get(&fields) {
            return known.clone();
        }
        let mut read = ReadFacts::default();
        read.read_fields(event);
        let facts = HttpFacts::new(direction, read.method, read.target);
        if recent.len() >= MAX_RECENT {
            recent.clear();
        }
        recent.insert(fields, facts.clone());
        facts
    }
}

impl ReadFacts {
    fn read_fields(&mut self, event: &Event<'_>) {
        let (mut scheme, mut host, mut port, mut path) = (None, None, None, None);
        let mut fields = event.fields();
        while let Some(field) = fields.next() {
            let Ok(value) = field.value else { break };
            if value.is_absent() && fields.rest().is_empty() {
                // The payload has ended, so the remaining fields are absent too.
                break;
            }
            let text = |value: Value<'_>| value.to_text().filter(|text| !text.is_empty());
            match HttpField::of_name(field.name()) {
                Some(HttpField::Scheme) => scheme = text(value),
                Some(HttpField::Host) => host = text(value),
                Some(HttpField::Port) => port = value.as_i64(),
                Some(HttpField::Method) => self.method = text(value),
                Some(HttpField::Path) => path = text(value),
                Some(HttpField::Target) => self.target = text(value),
                Some(HttpField::Status) => self.status = value.as_i64(),
                None => {}
            }
        }
        if let Some(path) = path {
            let scheme = scheme.map_or(String::new(), |scheme| format!("{scheme}://"));
            let port = port
                .filter(|port| !matches!(port, 0 | 80 | 443))
                .map_or(String::new(), |port| format!(":{port}"));
            self.target = Some(match host {
                Some(host) => format!("{scheme}{host}{port}{path}"),
                None => path,
            });
        }
    }

    fn read_tags(&mut self, event: &Event<'_>) {
        let Some(activity) = view::Activity::from_event(event) else { return };
        for (key, value) in activity.arguments() {
            if key != "TagObjects" && key != "Tags" {
                self.read_argument(key, value);
                continue;
            }
            let tags = String::from(value);
            let first = |keys: [&str; 3]| {
                keys.into_iter().find_map(|key| tag(&tags, key)).map(str::to_owned)
            };
            self.method = self
                .method
                .take()
                .or_else(|| first(["http.request.method", "http.method", "method"]));
            self.target =
                self.target.take().or_else(|| first(["url.full", "http.url", "http.route"]));
            self.target = self.target.take().or_else(|| first(["url.path", "http.target", "path"]));
            let status = first(["http.response.status_code", "http.status_code", "status_code"]);
            self.status = self.status.or_else(|| status?.parse().ok());
        }
    }

    /// Reads an argument that the specification of a listener selects, such as `Path` for
    /// `Request.Path`.
    fn read_argument(&mut self, key: Utf16<'_>, value: Utf16<'_>) {
        let is = |names: &[&str]| names.iter().any(|name| is_name(key, name));
        let text = || Some(String::from(value)).filter(|text| !text.is_empty());
        if is(&["Method", "RequestMethod"]) {
            self.method = text().or(self.method.take());
        } else if is(&["Path", "RequestPath", "RequestUri", "Uri", "Url"]) {
            self.target = text().filter(|text| text.contains('/')).or(self.target.take());
        } else if is(&["StatusCode", "ResponseStatusCode"]) {
            self.status = status_of(&String::from(value)).or(self.status);
        }
    }
}

/// Returns whether a key is a name of ASCII characters, in any case. The key is compared as it is
/// stored, because most keys are none of the names.
fn is_name(key: Utf16<'_>, name: &str) -> bool {
    let is_same = |(unit, byte): (u16, u8)| {
        u8::try_from(unit).is_ok_and(|unit| unit.eq_ignore_ascii_case(&byte))
    };
    key.len() == name.len() && key.units().zip(name.bytes()).all(is_same)
}

/// Returns the label of requests with a direction and a name, such as `in GET /items/#`.
pub(crate) fn label_of(direction: Option<HttpDirection>, name: String) -> String {
    match direction {
        Some(direction) => format!("{} {name}", direction.name()),
        None => name,
    }
}

/// Room for the method in a name, in bytes: `OPTIONS` and a space.
const METHOD_BYTES: usize = 8;
/// Maximum length of the path in a label, in characters.
const MAX_PATH_CHARACTERS: usize = 200;

/// Appends the path with `#` for each segment that is a number or an identifier. Segments such as
/// `v1` or `nplus1` stay.
fn add_path_group(name: &mut String, path: &str) {
    let is_id = |segment: &str| {
        !segment.is_empty()
            && (segment.bytes().all(|byte| byte.is_ascii_digit()) || is_identifier(segment))
    };
    let begin = name.len();
    for (at, segment) in path.split('/').enumerate() {
        if at > 0 {
            name.push('/');
        }
        name.push_str(if is_id(segment) { "#" } else { segment });
        // A character takes at least a byte.
        let group = name.get(begin..).filter(|group| group.len() > MAX_PATH_CHARACTERS);
        if let Some((end, _)) = group.and_then(|it| it.char_indices().nth(MAX_PATH_CHARACTERS)) {
            name.truncate(begin.saturating_add(end));
            name.push('…');
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_differ_in_numbers_of_their_path_have_one_label() {
        let label = |direction, method: Option<&str>, target: &str| {
            let method = method.map(str::to_owned);
            HttpFacts::new(direction, method, Some(target.to_owned())).label().unwrap()
        };
        assert_eq!(
            label(Some(HttpDirection::Out), Some("GET"), "https://h1:8080/items/36?x=1"),
            "out GET https://h1:8080/items/#"
        );
        assert_eq!(label(None, None, "/items/37"), "/items/#");
        assert_eq!(label(None, None, "/v1/nplus1/a1b22c"), "/v1/nplus1/#");
        assert_eq!(label(None, None, "/u/00000000-1c10-0000-0000-00009ac69d59/x2"), "/u/#/x2");
        assert_eq!(label(Some(HttpDirection::In), None, "http://é"), "in http://é");
        assert_eq!(HttpFacts::default().label(), None);
    }

    #[test]
    fn layers_of_a_request_go_one_way_and_ask_for_the_same() {
        let facts = |direction, method: Option<&str>, target: Option<&str>| {
            HttpFacts::new(direction, method.map(str::to_owned), target.map(str::to_owned))
        };
        let work = facts(Some(HttpDirection::In), Some("GET"), Some("/work"));
        for same in [
            facts(Some(HttpDirection::In), None, Some("http://h:1/work?x=1")),
            facts(Some(HttpDirection::In), Some("GET"), None),
        ] {
            assert!(work.is_same_request(&same) && same.is_same_request(&work), "{same:?}");
        }
        for other in [
            facts(Some(HttpDirection::Out), Some("GET"), Some("/work")),
            facts(Some(HttpDirection::In), Some("PUT"), Some("/work")),
            facts(Some(HttpDirection::In), Some("GET"), Some("/works")),
            facts(None, Some("GET"), Some("/work")),
        ] {
            assert!(!work.is_same_request(&other), "{other:?}");
        }
        assert!(!facts(None, None, None).is_same_request(&facts(None, None, None)));
    }

    #[test]
    fn a_status_of_the_server_or_none_at_all_is_an_error() {
        let is_error = |status| HttpFacts { status, ..HttpFacts::default() }.is_error();
        assert_eq!(
            [None, Some(200), Some(404), Some(500), Some(-1)].map(is_error),
            [false, false, false, true, true]
        );
    }
}
