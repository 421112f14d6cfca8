//! Events, counters and instruments that a process emits, by provider.

use super::LiveReport;
use crate::document::SCHEMA;
use crate::model::Model;
use crate::report::Moment;
use crate::sorted::SortFew;
use nettrace_export::{EventType, EventTypes};
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, View};
use std::collections::BTreeSet;
use std::fmt;

/// Maximum number of event types, of counters and of instruments.
const MAX_ROWS: usize = 10_000;
/// Keywords that the runtime adds to every event of an EventSource, one bit for each session.
const SESSION_KEYWORDS: u64 = 0xF000_0000_0000;
/// Nanoseconds per second.
const SECOND: f64 = 1e9;

/// Lists the events, counters and instruments of a session. A session with the provider `*`
/// receives everything that the process emits.
#[derive(Default)]
pub struct Discovery {
    types: EventTypes,
    /// Sums of each event type, by the type's number.
    counts: Vec<Counts>,
    counters: BTreeSet<DiscoveredCounter>,
    instruments: BTreeSet<DiscoveredInstrument>,
    left_out: u64,
}

/// Writes how much the view holds, and nothing of what it has seen.
impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery")
            .field("types", &self.counts.len())
            .field("counters", &self.counters.len())
            .field("instruments", &self.instruments.len())
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    level: u32,
    keywords: u64,
    count: u64,
    payload_bytes: u64,
    stacks: u64,
}

/// Event type of a session.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiscoveredEvent {
    /// Name of the provider.
    pub provider: String,
    /// Id of the event.
    pub id: u32,
    /// Version of the payload.
    pub version: u32,
    /// Name of the event, as in other reports.
    pub name: String,
    /// Level, 0 to 5. A session receives the event if it asks for this level or a higher one.
    pub level: u32,
    /// Keywords, without the bits that stand for sessions. A session receives the event if it asks
    /// for one of these, or if there are none.
    pub keywords: u64,
    /// Number of events.
    pub count: u64,
    /// Number of events per second.
    pub per_second: f64,
    /// Size of all payloads, in bytes.
    pub payload_bytes: u64,
    /// Mean size of a payload, in bytes.
    pub mean_payload_bytes: f64,
    /// Number of events with a stack.
    pub stacks: u64,
}

/// EventCounter that published a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiscoveredCounter {
    /// Name of the provider.
    pub provider: String,
    /// Name.
    pub name: String,
    /// Display name; may be empty.
    pub display_name: String,
    /// Unit; may be empty.
    pub unit: String,
}

/// Instrument of System.Diagnostics.Metrics that the process announced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiscoveredInstrument {
    /// Name of the meter.
    pub meter: String,
    /// Name.
    pub name: String,
    /// Kind as .NET names it, such as `Counter`, `Histogram` or `ObservableGauge`.
    pub kind: String,
    /// Unit; may be empty.
    pub unit: String,
    /// Description; may be empty.
    pub description: String,
}

/// Events, counters and instruments so far.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiscoverySnapshot {
    /// Version of this document: [`SCHEMA`].
    pub schema: u32,
    /// Time since the session's start, in nanoseconds.
    pub duration_ns: i64,
    /// Event types, by provider, id and version.
    pub events: Vec<DiscoveredEvent>,
    /// EventCounters, by provider and name.
    pub counters: Vec<DiscoveredCounter>,
    /// Instruments, by meter and name.
    pub instruments: Vec<DiscoveredInstrument>,
    /// Number of events whose types are not listed because there are too many.
    pub events_left_out: u64,
}

impl Discovery {
    fn instrument(&mut self, event: &Event<'_>) {
        let text =
            |name: &str| event.field(name).and_then(|value| value.to_text()).unwrap_or_default();
        let kind = text("instrumentType");
        let instrument = DiscoveredInstrument {
            meter: text("meterName"),
            name: text("instrumentName"),
            // The generic parameter, as in Counter`1, says nothing.
            kind: kind.split('`').next().unwrap_or_default().to_owned(),
            unit: text("unit"),
            description: text("description"),
        };
        if self.instruments.len() < MAX_ROWS {
            self.instruments.insert(instrument);
        }
    }
}

impl LiveReport for Discovery {
    type Snapshot = DiscoverySnapshot;

    fn event(&mut self, event: &Event<'_>, _: &Moment, _: &mut Model) -> bool {
        if event.known_provider() == KnownProvider::Metrics
            && matches!(event.name(), "InstrumentPublished" | "BeginInstrumentReporting")
        {
            self.instrument(event);
        }
        if let Some(counter) = view::Counter::from_event(event)
            && self.counters.len() < MAX_ROWS
        {
            self.counters.insert(DiscoveredCounter {
                provider: event.provider().to_owned(),
                name: counter.name.to_string(),
                display_name: counter.display_name.to_string(),
                unit: counter.display_units.to_string(),
            });
        }
        let place = self.types.index_of(event);
        if place.number >= MAX_ROWS {
            self.left_out = self.left_out.saturating_add(1);
            return true;
        }
        if self.counts.len() <= place.number {
            self.counts.resize(place.number.saturating_add(1), Counts::default());
        }
        let Some(counts) = self.counts.get_mut(place.number) else { return true };
        if counts.count == 0 {
            counts.level = event.level();
            counts.keywords = event.keywords() & !SESSION_KEYWORDS;
        }
        counts.count = counts.count.saturating_add(1);
        let size = u64::from(event.payload_size());
        counts.payload_bytes = counts.payload_bytes.saturating_add(size);
        counts.stacks = counts.stacks.saturating_add(u64::from(event.stack_id() != 0));
        true
    }

    fn snapshot(&self, now_ns: i64, _: &Model) -> DiscoverySnapshot {
        let seconds = (now_ns as f64 / SECOND).max(1e-9);
        let row = |(of, counts): (&EventType, &Counts)| DiscoveredEvent {
            provider: of.provider.to_string(),
            id: of.id,
            version: of.version,
            name: of.event_name(),
            level: counts.level,
            keywords: counts.keywords,
            count: counts.count,
            per_second: counts.count as f64 / seconds,
            payload_bytes: counts.payload_bytes,
            mean_payload_bytes: counts.payload_bytes as f64 / counts.count.max(1) as f64,
            stacks: counts.stacks,
        };
        let types = self.types.rows().iter().zip(&self.counts);
        let mut events: Vec<DiscoveredEvent> =
            types.filter(|(of, counts)| of.is_defined && counts.count > 0).map(row).collect();
        events.sort_few_by(|one, other| {
            (&one.provider, one.id, one.version, &one.name).cmp(&(
                &other.provider,
                other.id,
                other.version,
                &other.name,
            ))
        });
        DiscoverySnapshot {
            schema: SCHEMA,
            duration_ns: now_ns,
            events,
            counters: self.counters.iter().cloned().collect(),
            instruments: self.instruments.iter().cloned().collect(),
            events_left_out: self.left_out,
        }
    }
}
