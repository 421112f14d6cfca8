//! One JSON object a line and event.
//!
//! Keys in order: `ts_ns`, `tid`, `provider`, `id`, `version`, `event`, `level`, then when there are any `pid`,
//! `activity`, `related`, `labels`, then what was asked for: `stack`; `ticks`, `keywords`, `opcode`,
//! `opcode_implied`, `processor`, `sequence`, `offset`, `payload_hex`.

use super::json::Json;
use super::{Detail, opcode};
use crate::event_types::EventType;
use nettrace_parser::{Event, Label, Labels};
use std::io::Write;

/// Writes events as NDJSON.
pub(crate) struct Ndjson {
    detail: Detail,
    /// What is the same for all events of a type, by the type's number.
    fixed: Vec<Vec<u8>>,
}

impl Ndjson {
    pub(crate) fn new(detail: Detail) -> Ndjson {
        Ndjson { detail, fixed: Vec::new() }
    }

    /// Appends one event.
    pub(crate) fn event(&mut self, out: &mut Vec<u8>, event: &Event<'_>, number: usize, row: &EventType) {
        out.raw("{\"ts_ns\":");
        match event.nanos() {
            Some(nanos) => out.number(nanos),
            None => out.raw("null"),
        }
        out.raw(",\"tid\":");
        match event.thread_id() {
            Some(id) => out.number(id),
            None => out.raw("-1"),
        }
        out.extend_from_slice(self.fixed(number, row));
        out.number(event.level());
        if let Some(id) = event.process_id() {
            out.raw(",\"pid\":");
            out.number(id);
        }
        for (key, id) in
            [(",\"activity\":\"", event.activity_id()), (",\"related\":\"", event.related_activity_id())]
        {
            if let Some(id) = id {
                out.raw(key);
                // Writing to a vector cannot fail.
                let _ = write!(out, "{id}\"");
            }
        }
        if !event.labels().is_empty() {
            labels(out, event.labels());
        }
        if self.detail.stacks {
            stack(out, event);
        }
        if self.detail.raw {
            raw(out, event);
        }
        out.raw("}\n");
    }

    fn fixed(&mut self, number: usize, row: &EventType) -> &[u8] {
        if number >= self.fixed.len() {
            self.fixed.resize(number + 1, Vec::new());
        }
        match self.fixed.get_mut(number) {
            Some(fixed) => {
                if fixed.is_empty() {
                    *fixed = fixed_of(row);
                }
                fixed
            }
            None => &[],
        }
    }
}

/// From the provider to the key of the level.
fn fixed_of(row: &EventType) -> Vec<u8> {
    let mut out = Vec::new();
    out.raw(",\"provider\":");
    out.string(&row.provider);
    out.raw(",\"id\":");
    out.number(row.id);
    out.raw(",\"version\":");
    out.number(row.version);
    out.raw(",\"event\":");
    out.string(&row.display_name());
    out.raw(",\"level\":");
    out
}

fn stack(out: &mut Vec<u8>, event: &Event<'_>) {
    out.raw(",\"stack\":[");
    for (at, address) in event.stack().addresses().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.hex_string(address);
    }
    out.push(b']');
}

fn raw(out: &mut Vec<u8>, event: &Event<'_>) {
    out.raw(",\"ticks\":");
    out.number(event.timestamp_ticks());
    out.raw(",\"keywords\":");
    out.hex_string(event.keywords());
    let (opcode, is_stored) = opcode(event);
    out.raw(",\"opcode\":");
    out.number(opcode);
    if !is_stored {
        out.raw(",\"opcode_implied\":true");
    }
    out.raw(",\"processor\":");
    match event.processor() {
        Some(processor) => out.number(processor),
        None => out.raw("-1"),
    }
    out.raw(",\"sequence\":");
    out.number(event.sequence_number());
    out.raw(",\"offset\":");
    out.number(event.offset());
    out.raw(",\"payload_hex\":\"");
    out.hex_bytes(event.payload());
    out.push(b'"');
}

/// What a label says beside what the event's own keys show.
enum Said<'r> {
    Text(&'r [u8]),
    Number(i64),
    Trace(nettrace_parser::TraceId),
    Span(u64),
}

/// Labels as an object; a key that comes several times has an array of its values. Labels that are shown by
/// other keys (activities, level, version, keywords, opcode) are left out.
fn labels(out: &mut Vec<u8>, labels: Labels<'_>) {
    let mut said: Vec<(&[u8], Said<'_>)> = labels
        .iter()
        .filter_map(|label| match label {
            Label::Text { key, value } => Some((key, Said::Text(value))),
            Label::Number { key, value, .. } => Some((key, Said::Number(value))),
            Label::TraceId(id) => Some((&b"trace_id"[..], Said::Trace(id))),
            Label::SpanId(id) => Some((&b"span_id"[..], Said::Span(id))),
            _ => None,
        })
        .collect();
    if said.is_empty() {
        return;
    }
    // A JSON object has each key once. Few events have several labels, so sorting costs nothing; values of one
    // key stay in their order.
    said.sort_by_key(|(key, _)| *key);
    out.raw(",\"labels\":{");
    for (at, group) in said.chunk_by(|a, b| a.0 == b.0).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if let Some((key, _)) = group.first() {
            out.lossy_string(key);
        }
        out.raw(if group.len() > 1 { ":[" } else { ":" });
        for (at, (_, value)) in group.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            label_value(out, value);
        }
        if group.len() > 1 {
            out.push(b']');
        }
    }
    out.push(b'}');
}

fn label_value(out: &mut Vec<u8>, value: &Said<'_>) {
    // Writing to a vector cannot fail.
    let _ = match value {
        Said::Text(text) => {
            out.lossy_string(text);
            Ok(())
        }
        Said::Number(number) => {
            out.number(*number);
            Ok(())
        }
        Said::Trace(id) => write!(out, "\"{id}\""),
        Said::Span(id) => write!(out, "\"{id:016x}\""),
    };
}
