//! Events of a page: all events of rare types, every n-th of frequent types, and counts of the
//! others by type, thread and time.

use super::Page;
use super::sums::Sums;
use crate::fact::thinned::{PagePart, Thinning};
use crate::model::{Model, StackHandle};
use crate::report::Moment;
use nettrace_export::{EventTypes, TextValues};
use nettrace_parser::Event;
use serde_json::json;
use std::borrow::Cow;

/// Maximum number of events on a page that has all events of its trace.
const MAX_WHOLE_ROWS: usize = 100_000;
/// Maximum number of payload bytes on a page that has all events of its trace.
const MAX_WHOLE_BYTES: usize = 12 << 20;
/// Maximum number of events on the page of a larger trace.
const MAX_ROWS: usize = 50_000;
/// Maximum number of payload bytes on the page of a larger trace. It is smaller because events from
/// all over a trace compress worse than neighbours.
const MAX_BYTES: usize = 4 << 20;
/// Maximum number of bytes of the text of one payload.
const MAX_TEXT_BYTES: usize = 300;
/// Maximum number of bytes of a payload that is kept. Longer ones become text at once.
const MAX_PAYLOAD_BYTES: usize = 1024;
/// In place of a shape: the payload is text.
const IS_TEXT: u32 = u32::MAX;
/// Maximum number of sums of events that are not kept.
const MAX_SUMS: usize = 3 << 15;

pub(super) struct PageEvents {
    types: EventTypes,
    values: TextValues,
    rows: Vec<EventRow>,
    /// Payloads, one after the other. Those that stay become text at the end.
    payloads: Vec<u8>,
    scratch: Vec<u8>,
    is_thinned: bool,
    /// Counts of each event type.
    kept: Vec<Kept>,
    /// Sums of events that are not kept, by type and thread.
    others: Sums<2>,
    /// Number of all events.
    count: u64,
}

struct EventRow {
    nanos: i64,
    thread: u32,
    kind: u32,
    stack: StackHandle,
    /// Number of the event among events of its type, from 0.
    number: u64,
    /// End of the event's bytes in `payloads`.
    end: u32,
    /// Place of the payload's shape; [`IS_TEXT`] if the bytes are text.
    shape: u32,
    pointer_size: u8,
}

#[derive(Clone, Copy)]
struct Kept {
    seen: u64,
    /// Distance between events that are kept.
    step: u64,
    rows: usize,
    bytes: usize,
}

impl Default for PageEvents {
    fn default() -> PageEvents {
        PageEvents {
            types: EventTypes::default(),
            values: TextValues::beginnings(MAX_TEXT_BYTES),
            rows: Vec::new(),
            payloads: Vec::new(),
            scratch: Vec::new(),
            is_thinned: false,
            kept: Vec::new(),
            others: Sums::new(MAX_SUMS),
            count: 0,
        }
    }
}

impl PageEvents {
    pub(super) fn add(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        self.count = self.count.saturating_add(1);
        let place = self.types.index_of(event);
        let (nanos, thread) = (moment.nanos, moment.thread.0);
        let kind = u32::try_from(place.number).unwrap_or(u32::MAX);
        if self.kept.len() <= place.number {
            let new = Kept { seen: 0, step: 1, rows: 0, bytes: 0 };
            self.kept.resize(place.number.saturating_add(1), new);
        }
        let Some(kept) = self.kept.get_mut(place.number) else { return };
        let number = kept.seen;
        kept.seen = number.saturating_add(1);
        if !number.is_multiple_of(kept.step) {
            self.others.add(nanos, [kind, thread], 0);
            return;
        }
        let begin = self.payloads.len();
        let (payload, pointer_size) = (event.payload(), event.session().pointer_size);
        let shape = match u32::try_from(place.shape) {
            Ok(shape) if payload.len() <= MAX_PAYLOAD_BYTES => {
                self.payloads.extend_from_slice(payload);
                shape
            }
            _ => {
                self.scratch.clear();
                if let Some(names) = self.types.names(place) {
                    self.values.write_payload(&mut self.scratch, event, names);
                }
                add_text(&mut self.payloads, &self.scratch);
                IS_TEXT
            }
        };
        let end = self.payloads.len();
        kept.rows = kept.rows.saturating_add(1);
        kept.bytes = kept.bytes.saturating_add(end.saturating_sub(begin));
        let stack = model.recorded_stack_of(event, moment.thread);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        self.rows.push(EventRow { nanos, thread, kind, stack, number, end, shape, pointer_size });
        self.thin_out_if_full();
    }

    fn thin_out_if_full(&mut self) {
        let (rows, bytes) = match self.is_thinned {
            true => (MAX_ROWS, MAX_BYTES),
            false => (MAX_WHOLE_ROWS, MAX_WHOLE_BYTES),
        };
        if self.rows.len() > rows || self.payloads.len() > bytes {
            self.thin_out();
        }
    }

    /// Makes texts of the payloads.
    fn make_texts(&mut self) {
        let payloads = std::mem::take(&mut self.payloads);
        self.kept.iter_mut().for_each(|kept| kept.bytes = 0);
        let mut begin = 0_usize;
        for row in &mut self.rows {
            let end = row.end as usize;
            let payload = payloads.get(begin..end).unwrap_or_default();
            begin = end;
            let before = self.payloads.len();
            let shape = self.types.shapes().get(row.shape as usize);
            if row.shape == IS_TEXT {
                self.payloads.extend_from_slice(payload);
            } else if let Some(shape) = shape {
                self.scratch.clear();
                let fields = shape.schema.fields(payload, row.pointer_size);
                self.values.write_fields(&mut self.scratch, fields, &shape.names);
                add_text(&mut self.payloads, &self.scratch);
            }
            row.shape = IS_TEXT;
            row.end = u32::try_from(self.payloads.len()).unwrap_or(u32::MAX);
            if let Some(kept) = self.kept.get_mut(row.kind as usize) {
                let bytes = self.payloads.len().saturating_sub(before);
                kept.bytes = kept.bytes.saturating_add(bytes);
            }
        }
    }

    /// Keeps every second event of the most frequent types, until half of the room is free.
    fn thin_out(&mut self) {
        self.is_thinned = true;
        let (mut rows, mut bytes) = (self.rows.len(), self.payloads.len());
        while rows > MAX_ROWS / 2 || bytes > MAX_BYTES / 2 {
            let is_long = bytes > MAX_BYTES / 2;
            let most = self
                .kept
                .iter_mut()
                .max_by_key(|kept| if is_long { kept.bytes } else { kept.rows })
                .filter(|kept| kept.rows > 1);
            // Each type keeps at least one event.
            let Some(kept) = most else { break };
            kept.step = kept.step.saturating_mul(2);
            let (less_rows, less_bytes) = (kept.rows / 2, kept.bytes / 2);
            kept.rows = kept.rows.saturating_sub(less_rows);
            kept.bytes = kept.bytes.saturating_sub(less_bytes);
            rows = rows.saturating_sub(less_rows);
            bytes = bytes.saturating_sub(less_bytes);
        }
        for kept in &mut self.kept {
            (kept.rows, kept.bytes) = (0, 0);
        }
        let (mut begin, mut left) = (0_usize, 0_usize);
        let PageEvents { rows, kept, others, payloads, .. } = self;
        rows.retain_mut(|row| {
            let end = (row.end as usize).min(payloads.len());
            let bytes = begin..end;
            begin = end;
            let Some(kept) = kept.get_mut(row.kind as usize) else { return false };
            if !row.number.is_multiple_of(kept.step) {
                others.add(row.nanos, [row.kind, row.thread], 0);
                return false;
            }
            let length = bytes.len();
            payloads.copy_within(bytes, left);
            left = left.saturating_add(length);
            row.end = u32::try_from(left).unwrap_or(u32::MAX);
            kept.rows = kept.rows.saturating_add(1);
            kept.bytes = kept.bytes.saturating_add(length);
            true
        });
        payloads.truncate(left);
        payloads.shrink_to(MAX_BYTES.saturating_mul(2));
        // Never again are there as many.
        rows.shrink_to(MAX_ROWS.saturating_add(1));
    }

    /// Writes the events. Returns the stack of each.
    pub(super) fn finish(mut self, page: &mut Page) -> Vec<StackHandle> {
        self.make_texts();
        self.thin_out_if_full();
        let columns = &mut page.columns;
        columns.add_steps("events.t", self.rows.iter().map(|row| row.nanos));
        columns.add("events.thread", self.rows.iter().map(|row| u64::from(row.thread)));
        columns.add("events.type", self.rows.iter().map(|row| u64::from(row.kind)));
        columns.add_steps("events.end", self.rows.iter().map(|row| i64::from(row.end)));
        columns.add_bytes("events.payload", self.payloads);
        let types: Vec<_> = self
            .types
            .rows()
            .iter()
            .zip(self.kept.iter().map(|kept| (kept.seen, kept.step)))
            .map(|(row, (seen, step))| json!({ "provider": row.provider, "name": row.event_name(), "count": seen, "step": step }))
            .collect();
        let (all, shown) = (self.count, self.rows.len());
        page.add_sums("events.others", self.others, ["type", "thread"], false);
        if all > shown as u64 {
            page.thin(PagePart::Events, Thinning::RareTypes { kept: shown as u64, all });
        }
        page.events = json!({ "all": self.count, "types": types });
        self.rows.into_iter().map(|row| row.stack).collect()
    }
}

/// Adds the text of a payload, as far as there is room for it.
fn add_text(payloads: &mut Vec<u8>, text: &[u8]) {
    let text = match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(text),
    };
    let end = (0..=MAX_TEXT_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let shown = end.and_then(|end| text.get(..end)).unwrap_or_default();
    payloads.extend_from_slice(shown.as_bytes());
    if shown.len() < text.len() {
        payloads.extend_from_slice("…".as_bytes());
    }
}
