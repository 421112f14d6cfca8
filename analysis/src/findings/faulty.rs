//! Faults that EventSources report about themselves. A faulty EventSource sends such a report in
//! place of events, so whoever looks for these must learn of the fault first.

use super::finding::Finding;
use crate::fact::{Fact, Number, Unit};
use crate::words;
use nettrace_parser::Event;
use nettrace_parser::view::{Message, View};

/// Maximum number of faulty EventSources that are findings.
const MAX_SOURCES: usize = 3;
/// Maximum number of characters of a reason that are kept.
const MAX_REASON_CHARS: usize = 300;
/// Weight of the finding, which explains what the trace lacks.
const FAULTY_WEIGHT: f64 = 100.0;
/// Beginnings of the reports of .NET's base class for EventSources. Any other text may be one that
/// the program wrote with `EventSource.Write`.
const FAULTS: [&str; 2] = ["ERROR: Exception ", "EventSourceException"];

/// A fault that an EventSource reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFault {
    /// Name of the EventSource.
    pub source: String,
    /// What is wrong, as .NET words it, at most 300 characters.
    pub reason: String,
}

impl SourceFault {
    /// Returns whether events of this type may report a fault.
    pub fn may_be(event: &Event<'_>) -> bool {
        event.id() == 0 && event.name() == "EventSourceMessage"
    }

    /// Returns the fault that an event reports; `None` for other events.
    pub fn from_event(event: &Event<'_>) -> Option<SourceFault> {
        let text = Message::from_event(event)?.text.to_string();
        let source = event.provider().to_owned();
        FAULTS.iter().any(|begin| text.starts_with(begin)).then(|| {
            let reason = reason(&text, &source).chars().take(MAX_REASON_CHARS).collect();
            SourceFault { source, reason }
        })
    }

    /// Returns the sentence about the fault, which is that of its finding.
    pub fn text(&self) -> String {
        words::findings::faulty_source(&self.source, &self.reason)
    }
}

/// Returns the sentence of the finding that EventSources sent nothing.
pub fn silent_sources_text(sources: &[String]) -> String {
    words::findings::silent_sources(sources)
}

/// Returns a report without its words about the EventSource that sends it.
fn reason<'t>(text: &'t str, source: &str) -> &'t str {
    let named = text.split_once(&format!("EventSource {source}: ")).map(|(_, reason)| reason);
    named.unwrap_or_else(|| text.strip_prefix("ERROR: ").unwrap_or(text))
}

/// Counts the faults of a trace by EventSource.
#[derive(Debug, Default)]
pub(super) struct FaultySources(Vec<(SourceFault, u64)>);

impl FaultySources {
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let Some(fault) = SourceFault::from_event(event) else { return };
        if let Some((_, count)) = self.0.iter_mut().find(|(it, _)| it.source == fault.source) {
            *count = count.saturating_add(1);
        } else if self.0.len() < MAX_SOURCES {
            self.0.push((fault, 1));
        }
    }

    /// Returns a finding about each faulty EventSource.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.0.iter().map(|(fault, count)| {
            let fact = Fact::FaultySource {
                messages: Number::count(*count, Unit::Messages),
                source: fault.source.clone(),
                reason: fault.reason.clone(),
            };
            Finding::new(fact, FAULTY_WEIGHT)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_name_the_event_source_again() {
        let of = |text| reason(text, "Shop");
        assert_eq!(
            of("ERROR: Exception in Command Processing for EventSource Shop: two 1"),
            "two 1"
        );
        let counter = "ERROR: Exception during EventCounter orders metricProvider callback: gone";
        assert_eq!(of(counter), &counter[7..]);
        let large = "EventSourceException while processing event \"Placed\": too large";
        assert_eq!(of(large), large);
    }
}
