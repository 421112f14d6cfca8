//! The first events of a trace, listed on a page.

use super::Page;
use crate::report::Moment;
use nettrace_export::{EventTypes, TextValues};
use nettrace_parser::Event;
use serde_json::json;

/// Maximum number of events on a page.
const MOST_ROWS: usize = 100_000;
/// Maximum number of payload bytes on a page.
const MOST_BYTES: usize = 12 << 20;
/// Maximum number of bytes of one payload.
const MOST_PAYLOAD: usize = 300;

#[derive(Default)]
pub(super) struct PageEvents {
    types: EventTypes,
    values: TextValues,
    rows: Vec<EventRow>,
    /// Payloads, one after the other.
    payloads: Vec<u8>,
    scratch: Vec<u8>,
    /// Number of all events, including those not listed.
    count: u64,
}

struct EventRow {
    nanos: i64,
    thread: u32,
    kind: u32,
    /// End of its payload.
    end: usize,
}

impl PageEvents {
    pub(super) fn add(&mut self, event: &Event<'_>, moment: &Moment) {
        self.count = self.count.saturating_add(1);
        if self.rows.len() >= MOST_ROWS || self.payloads.len() >= MOST_BYTES {
            return;
        }
        let place = self.types.index_of(event);
        self.scratch.clear();
        if let Some(names) = self.types.names(place) {
            self.values.payload(&mut self.scratch, event, names);
        }
        let text = String::from_utf8_lossy(&self.scratch);
        let end = (0..=MOST_PAYLOAD.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        let shown = end.and_then(|end| text.get(..end)).unwrap_or_default();
        self.payloads.extend_from_slice(shown.as_bytes());
        if shown.len() < text.len() {
            self.payloads.extend_from_slice("…".as_bytes());
        }
        let kind = u32::try_from(place.number).unwrap_or(u32::MAX);
        let end = self.payloads.len();
        self.rows.push(EventRow { nanos: moment.nanos, thread: moment.thread.0, kind, end });
    }

    pub(super) fn finish(self, page: &mut Page) {
        let columns = &mut page.columns;
        columns.add_steps("events.t", self.rows.iter().map(|row| row.nanos));
        columns.add("events.thread", self.rows.iter().map(|row| u64::from(row.thread)));
        columns.add("events.type", self.rows.iter().map(|row| u64::from(row.kind)));
        columns.add_steps(
            "events.end",
            self.rows.iter().map(|row| i64::try_from(row.end).unwrap_or(i64::MAX)),
        );
        columns.add_bytes("events.payload", &self.payloads);
        let types: Vec<_> = self
            .types
            .rows()
            .iter()
            .map(|row| json!({ "provider": row.provider, "name": row.event_name() }))
            .collect();
        let (all, shown) = (self.count, self.rows.len());
        if all > shown as u64 {
            page.thin(format!("events: the first {shown} of {all}; `nettrace events` prints all"));
        }
        page.events = json!({ "all": all, "types": types });
    }
}
