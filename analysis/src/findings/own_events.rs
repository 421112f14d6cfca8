//! Counts of events that no report uses, such as events of the program's own EventSources.

use crate::sorted::SortFew;
use nettrace_export::EventTypes;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Maximum number of event types that are counted.
const MAX_TYPES: usize = 1 << 12;
/// Maximum number of event types in the summary.
pub(super) const MAX_ROWS: usize = 8;
/// Maximum number of field names of an event type.
const MAX_FIELDS: usize = 16;

/// Number and shape of the events of one type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OwnEvents {
    /// `Provider/Name`, which `--event` and `--kind` accept.
    pub event: String,
    /// Number of events.
    pub events: u64,
    /// Events per second of the trace; `None` if it has no length.
    pub per_second: Option<f64>,
    /// Number of events with a stack.
    pub with_stack: u64,
    /// Names of the first 16 fields.
    pub fields: Vec<String>,
    #[cfg_attr(feature = "serde", serde(skip))]
    provider: Box<str>,
}

#[derive(Debug, Default)]
struct Counted {
    events: u64,
    with_stack: u64,
    fields: Vec<String>,
}

/// Counts events by type.
#[derive(Debug, Default)]
pub(super) struct EventCounts {
    types: EventTypes,
    counts: Vec<Counted>,
}

/// Returns whether an event's type is described by the stream alone and is used by no report.
pub(super) fn is_own(event: &Event<'_>) -> bool {
    event.known_provider() == KnownProvider::Other
        && event.catalog().is_none()
        && event.metadata().is_some()
        && !matches!(event.name(), "EventCounters" | "EventSourceMessage")
}

impl EventCounts {
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let Some(number) = self.types.number_within(MAX_TYPES, event) else { return };
        if self.counts.len() <= number {
            self.counts.resize_with(number.saturating_add(1), Counted::default);
        }
        let Some(row) = self.counts.get_mut(number) else { return };
        if row.events == 0 {
            let fields = event.schema().map_or(&[][..], |schema| &schema.fields);
            let names = fields.iter().take(MAX_FIELDS).map(|field| field.name.to_string());
            row.fields = names.collect();
        }
        row.events = row.events.saturating_add(1);
        row.with_stack = row.with_stack.saturating_add(u64::from(!event.stack().is_empty()));
    }

    /// Returns all event types, the most frequent first.
    pub(super) fn finish(self) -> Vec<OwnEvents> {
        let types = self.types.rows().iter().zip(self.counts);
        let mut rows: Vec<OwnEvents> = types
            .map(|(event_type, row)| OwnEvents {
                event: event_type.path(),
                events: row.events,
                per_second: None,
                with_stack: row.with_stack,
                fields: row.fields,
                provider: event_type.provider.clone(),
            })
            .collect();
        rows.sort_few_by_key(|row| std::cmp::Reverse(row.events));
        rows
    }
}

/// Returns the event types of the program's own sources. If there are none and `is_alone` says that
/// no report has events either, returns all types.
pub(super) fn rows_of(all: &[OwnEvents], is_alone: bool, duration_ns: u64) -> Vec<OwnEvents> {
    let is_of_program = |row: &&OwnEvents| !is_framework(&row.provider);
    let mut rows: Vec<OwnEvents> = all.iter().filter(is_of_program).cloned().collect();
    if rows.is_empty() && is_alone {
        rows = all.to_vec();
    }
    for row in &mut rows {
        row.per_second = (duration_ns > 0).then(|| row.events as f64 / (duration_ns as f64 / 1e9));
    }
    rows
}

/// Returns the names of the rows' sources, each once.
pub(super) fn sources(rows: &[OwnEvents]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&&*row.provider) {
            names.push(&row.provider);
        }
    }
    names
}

/// Returns whether a source belongs to .NET or to Microsoft's libraries.
fn is_framework(provider: &str) -> bool {
    ["System.", "Microsoft.", "Microsoft-", "Private."]
        .iter()
        .any(|start| provider.starts_with(start))
}
