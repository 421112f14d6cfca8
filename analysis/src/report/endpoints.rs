//! Events that say which endpoint of a web application a thread serves: starts of incoming
//! requests, and a log message of ASP.NET Core's routing.

use super::contract::Moment;
use super::logs::LoggedMessage;
use crate::model::activity_edge::http_facts::HttpDirection;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::borrow::Cow;

/// Logger of the middleware that runs endpoints.
const LOGGER: &str = "Microsoft.AspNetCore.Routing.EndpointMiddleware";
const MESSAGE: &str = "Executing endpoint '";
const NAME: &str = "HTTP: ";
/// Argument of the message with the endpoint's name.
const ARGUMENT: &str = "EndpointName";
/// EventSources of incoming requests.
const SERVERS: [&str; 2] = ["Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel"];

/// Returns whether events of this type may name an endpoint.
pub(super) fn may_name(event: &Event<'_>) -> bool {
    match event.known_provider() {
        KnownProvider::DiagnosticSource => event.name().ends_with("Start"),
        KnownProvider::Logging => {
            matches!(event.name(), "FormattedMessage" | "Message" | "MessageJson")
        }
        KnownProvider::Other => {
            event.name() == "RequestStart" && SERVERS.contains(&event.provider())
        }
        _ => false,
    }
}

/// Returns whether an event's stack is used to find the handler of an endpoint, which may have
/// hardly any samples: stacks of exceptions and of waits for locks.
pub(super) fn shows_handler(event: &Event<'_>) -> bool {
    event.known_provider() == KnownProvider::Runtime && matches!(event.id(), 80 | 81)
}

/// Returns the endpoint that the thread of an event serves from then on.
pub(super) fn name_of<'m>(event: &Event<'_>, moment: &'m Moment) -> Option<Cow<'m, str>> {
    if event.known_provider() == KnownProvider::Logging {
        return executed(event).map(Cow::Owned);
    }
    moment.activity_edge(event).filter(|edge| edge.is_start)?;
    let facts =
        moment.http_facts(event).filter(|facts| facts.direction() == Some(HttpDirection::In))?;
    facts.name().map(Cow::Borrowed)
}

/// Returns the method of the request for which an endpoint runs, if the event is the log message
/// about that and the endpoint is for one method.
pub(super) fn executed_method(event: &Event<'_>) -> Option<String> {
    let name = executed(event)?;
    let (method, _) = name.split_once(' ')?;
    let is_one = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    is_one.then(|| method.to_owned())
}

/// Returns the endpoint that a log message names, as the program mapped it, such as `GET
/// /orders/{id:int}`.
fn executed(event: &Event<'_>) -> Option<String> {
    let logger = event.field("LoggerName")?.to_text()?;
    let message = LoggedMessage::from_event(event).filter(|_| logger == LOGGER)?;
    let argument = message.arguments.iter().find(|(name, _)| name == ARGUMENT);
    let name = match argument {
        Some((_, name)) => name,
        None => message.text.strip_prefix(MESSAGE)?.strip_suffix('\'')?,
    };
    Some(name.strip_prefix(NAME)?.to_owned())
}
