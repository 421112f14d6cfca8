//! Facts about an event that come from other events, such as the scopes of a message or the
//! duration of a request. NDJSON has them after the event's own keys.

use crate::args::{EventFormat, Show, WatchArgs};
use crate::json_text;
use nettrace_analysis::live::{Live, LiveWatch, WatchedEvent};
use nettrace_parser::Event;
use serde::Serialize;
use std::io;

/// State that finds facts about events in other events.
pub(super) struct ExtraFacts {
    live: Live<LiveWatch>,
}

/// Facts about one event.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum EventFacts {
    Message { scopes: Vec<String> },
    Request { duration_ns: u64 },
}

impl ExtraFacts {
    /// Returns `None` if the format has no place for facts, or `--show` names no events with facts.
    pub(super) fn new(args: &WatchArgs) -> Option<ExtraFacts> {
        let is_such = |show: &&Show| matches!(show, Show::Http | Show::Logs);
        let kinds: Vec<_> =
            args.show.iter().filter(is_such).map(|show| super::shows::kind(*show)).collect();
        let has_place = args.format == EventFormat::Ndjson && !args.shape.raw;
        (has_place && !kinds.is_empty())
            .then(|| ExtraFacts { live: Live::new(LiveWatch::new(kinds)) })
    }

    /// Processes an event, and returns the facts about it.
    pub(super) fn process_event(&mut self, event: &Event<'_>) -> Option<EventFacts> {
        self.live.event(event);
        // Takes a message at its first event, without waiting for further ones.
        let last = self.live.report.take_all().pop()?;
        match last.what {
            WatchedEvent::Log(message) => {
                let scopes = message.scopes.iter().map(|scope| scope.to_string()).collect();
                Some(EventFacts::Message { scopes })
            }
            WatchedEvent::Http(request) => {
                request.duration_ns.map(|duration_ns| EventFacts::Request { duration_ns })
            }
            _ => None,
        }
    }
}

impl EventFacts {
    /// Appends the facts as keys to the JSON object at the end of `line`.
    pub(super) fn append(&self, line: &mut Vec<u8>) -> io::Result<()> {
        const END: &[u8] = b"}\n";
        let mut keys = Vec::new();
        json_text::line(&mut keys, self)?;
        if let (Some(length), Some(keys)) =
            (line.strip_suffix(END).map(<[u8]>::len), keys.strip_prefix(b"{"))
        {
            line.truncate(length);
            line.push(b',');
            line.extend_from_slice(keys);
            line.push(b'\n');
        }
        Ok(())
    }
}
