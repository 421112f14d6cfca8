//! Events that say which endpoint of a web application their thread serves: starts of requests
//! that come in, and the message of ASP.NET Core's routing about what it executes.

use super::contract::Moment;
use super::logs::LoggedMessage;
use super::requests::HttpFacts;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// The logger of what runs endpoints, and how its message and its names begin.
const LOGGER: &str = "Microsoft.AspNetCore.Routing.EndpointMiddleware";
const MESSAGE: &str = "Executing endpoint '";
const NAME: &str = "HTTP: ";
/// The argument of the message that is the name.
const ARGUMENT: &str = "EndpointName";
/// EventSources whose requests come in.
const SERVERS: [&str; 2] = ["Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel"];

/// Returns whether events of a type may name an endpoint: it depends only on what all of them have
/// in common.
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

/// Returns whether an event's stack may show a handler that has hardly any samples: where an
/// exception is thrown, or a lock is waited for.
pub(super) fn shows_handler(event: &Event<'_>) -> bool {
    event.known_provider() == KnownProvider::Runtime && matches!(event.id(), 80 | 81)
}

/// Returns the endpoint that the thread of an event serves from then on.
pub(super) fn name_of(event: &Event<'_>, moment: &Moment) -> Option<String> {
    if event.known_provider() == KnownProvider::Logging {
        return executed(event);
    }
    let edge = moment.activity_edge(event).filter(|edge| edge.is_start)?;
    let facts = HttpFacts::from_event(event, edge).filter(|facts| facts.direction == Some("in"))?;
    facts.name()
}

/// Returns the endpoint as the program has mapped it, such as `GET /orders/{id:int}`.
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
