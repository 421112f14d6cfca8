//! Counts the events of a trace by type.

use super::survey::Survey;
use crate::document::SCHEMA;
use nettrace_export::EventType;
use nettrace_parser::{Outcome, Trace};

/// Counts of a trace's events by type.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TraceStats<'s> {
    /// Version of this JSON document's schema.
    pub schema: u32,
    /// Number of events in the trace.
    pub events: u64,
    /// Number of lost events, according to sequence numbers.
    pub lost: u64,
    /// Totals of each type that has events, sorted by provider, id and version.
    pub types: Vec<TypeStats<'s>>,
}

/// Totals of the events of one type.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TypeStats<'s> {
    /// The event type itself.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub event_type: &'s EventType,
    /// Name of the provider.
    pub provider: &'s str,
    /// Id of the event within its provider.
    pub id: u32,
    /// Version of the payload.
    pub version: u32,
    /// Name of the event.
    pub name: String,
    /// Number of events of the type.
    pub events: u64,
    /// Total size of their payloads, in bytes.
    pub payload_bytes: u64,
    /// Number of these events that have a stack of at least one frame.
    pub with_stack: u64,
    /// Time of the first of these events, in nanoseconds since the session's start.
    pub first_ns: Option<i64>,
    /// Time of the last of these events, in nanoseconds since the session's start.
    pub last_ns: Option<i64>,
    /// Time of the first of these events, in ticks.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub first_ticks: u64,
    /// Time of the last of these events, in ticks.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub last_ticks: u64,
}

impl Survey {
    /// Returns the totals of each event type in the trace that was counted. `header` is the trace's
    /// header, and `outcome` the result of reading the trace.
    pub fn stats(&self, header: &Trace, outcome: &Outcome) -> TraceStats<'_> {
        let clock = header.clock();
        let mut rows: Vec<_> = self.types().collect();
        rows.sort_by(|a, b| a.0.sort_key().cmp(&b.0.sort_key()));
        let types = rows.into_iter().map(|(event_type, count)| TypeStats {
            event_type,
            provider: &event_type.provider,
            id: event_type.id,
            version: event_type.version,
            name: event_type.event_name(),
            events: count.events,
            payload_bytes: count.payload_bytes,
            with_stack: count.with_stack,
            first_ns: clock.nanos_since_start(count.first_ticks),
            last_ns: clock.nanos_since_start(count.last_ticks),
            first_ticks: count.first_ticks,
            last_ticks: count.last_ticks,
        });
        TraceStats {
            schema: SCHEMA,
            events: self.events(),
            lost: outcome.losses.total(),
            types: types.collect(),
        }
    }
}
