//! Writes one JSON object per event, each on its own line.
//!
//! Keys in order: `ts_ns`, `tid`, `provider`, `id`, `version`, `event`, `level`; if
//! present `pid`, `activity`, `related`, `labels`; always `payload`; if present
//! `payload_rest` (bytes that belong to no field: those after the last field or after a
//! broken one, or all of an undescribed payload) and `payload_faults`; then the requested
//! details: `stack`; `ticks`, `keywords`, `opcode`, `opcode_implied`, `processor`,
//! `sequence`, `offset`, `payload_hex`.
//!
//! Formats of values are described in [`payload`](crate::payload), names of events in
//! [`event_types`](crate::event_types), names of fields in [`shape`](crate::shape).
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of bytes in memory, and places within the room that a line asked for"
)]

mod head;
mod payload_json;

use self::head::Head;
pub use self::payload_json::PayloadJson;
use crate::compiled::{CompiledWriter, Dialect, NumberStyle, unsigned};
use crate::detail::{Detail, opcode, write_names};
use crate::event_types::{EventType, EventTypes, TypeIndex};
use crate::json::Json;
use crate::labels::write_labels;
use crate::line::Literal;
use crate::long::cut;
use crate::page::Page;
use crate::payload::PayloadWriter;
use crate::selection::Selection;
use crate::shape::Names;
use nettrace_parser::{Event, Labels};
use std::borrow::Cow;

/// Maximum number of output bytes for the keys and values of a line, without type and payload.
const MAX_HEAD_BYTES: usize = head::MAX_BYTES + 128;

#[derive(Debug)]
pub(crate) struct Ndjson {
    detail: Detail,
    payloads: PayloadWriter,
    /// Part of the line that is equal for all events of a type, by [`TypeIndex::number`].
    fixed: Vec<Vec<u8>>,
    /// Fast path for each shape, by [`TypeIndex::shape`].
    fast_paths: Vec<FastPath>,
    head: Head,
    /// Names of the frames in the next event's stack.
    frames: Vec<String>,
}

/// How to write events of one shape fast, if that is possible.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it lies where it is used, once for each type of event"
)]
enum FastPath {
    /// The shape was not compiled yet.
    Unknown,
    /// Only the slow path is possible.
    None,
    Some {
        /// Text from the provider to the level, or to the process.
        fixed: Literal,
        /// Text from the provider to the first value of the payload.
        to_payload: Literal,
        /// The level that `fixed` and `to_payload` contain.
        level: u32,
        /// The process that `fixed` and `to_payload` contain; `None` in version 6, where each
        /// thread belongs to a process.
        process: Option<u64>,
        /// Writes the payload. It also writes the end of the line if no optional parts were
        /// requested.
        writer: CompiledWriter,
    },
}

impl Ndjson {
    /// Makes a writer that has not written an event yet.
    pub(crate) fn new(detail: Detail) -> Ndjson {
        let payloads = PayloadWriter::new(detail.big_ints_as_strings);
        Ndjson {
            detail,
            payloads,
            fixed: Vec::new(),
            fast_paths: Vec::new(),
            head: Head::default(),
            frames: Vec::new(),
        }
    }

    /// Sets the names of the frames in the next event's stack.
    pub(crate) fn name_frames(&mut self, names: &[Cow<'_, str>]) {
        self.frames.clear();
        self.frames.extend(names.iter().map(|name| name.to_string()));
    }

    /// Appends an event.
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        if selection.is_none() && self.write_fast(page, event, type_index, types) {
            return;
        }
        self.append_slow(page, event, type_index, types, selection);
    }

    #[inline(never)]
    fn append_slow(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        page.append(|out| self.write_slow(out, event, type_index, types, selection));
    }

    /// Appends an event on the fast path. Returns `false` if that is not possible; nothing is
    /// written then.
    #[inline(never)]
    fn write_fast(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) -> bool {
        let labels = event.labels();
        let level = type_index.level;
        if !labels.is_empty() && event.level() != level {
            // The fast path is for one level. A label that changes the level from event to event
            // would invalidate the fast path each time.
            return false;
        }
        let process = if event.thread().is_some() { None } else { event.process_id() };
        let (fixed, to_payload, writer) = match self.fast_paths.get(type_index.shape) {
            Some(FastPath::Some {
                fixed,
                to_payload,
                level: of_fixed,
                process: in_fixed,
                writer,
            }) if *of_fixed == level && *in_fixed == process => (fixed, to_payload, writer),
            Some(FastPath::None) => return false,
            _ => {
                self.find_fast_path(level, process, type_index, types);
                return self.write_fast(page, event, type_index, types);
            }
        };
        let style = NumberStyle {
            pointer_size: event.session().pointer_size,
            largest: self.payloads.largest_number(),
        };
        let payload = event.payload();
        let room = writer.room(payload.len());
        let begin = page.len();
        let mut line = page.writer(MAX_HEAD_BYTES + to_payload.len() + room);
        self.head.write(&mut line, event.nanos(), event.thread_id(), style);
        let process_id = if process.is_none() { event.process_id() } else { None };
        let (activity, related) = (event.activity_id(), event.related_activity_id());
        if process_id.is_none() && activity.is_none() && related.is_none() && labels.is_empty() {
            line.literal(to_payload);
        } else {
            line.literal(fixed);
            if let Some(id) = process_id {
                line.text(",\"pid\":");
                unsigned(&mut line, id, style);
            }
            if let Some(id) = activity {
                line.text(",\"activity\":\"");
                line.guid(id);
                line.byte(b'"');
            }
            if let Some(id) = related {
                line.text(",\"related\":\"");
                line.guid(id);
                line.byte(b'"');
            }
            if !labels.is_empty() {
                // The length of details is not known in advance, so no room was requested.
                let left = line.left();
                page.keep(left);
                page.append(|out| write_labels(out, labels, ",\"labels\":", &self.payloads));
                line = page.writer(writer.begin().len() + room);
            }
            line.literal(writer.begin());
        }
        let Some(line) = writer.write(line, payload, style) else {
            page.cut(begin);
            return false;
        };
        let left = line.left();
        page.keep(left);
        if self.detail.stacks || self.detail.raw {
            self.write_details(page, event);
        }
        true
    }

    #[cold]
    fn find_fast_path(
        &mut self,
        level: u32,
        process: Option<u64>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) {
        while type_index.shape >= self.fast_paths.len() {
            self.fast_paths.push(FastPath::Unknown);
        }
        let has_details = self.detail.stacks || self.detail.raw;
        let found = types.row(type_index).zip(types.shapes().get(type_index.shape)).and_then(
            |(row, shape)| {
                let end = if has_details { "" } else { "}\n" };
                let fields = shape.schema.payload_fields();
                let writer = CompiledWriter::new(
                    fields,
                    &shape.names,
                    Dialect::Json,
                    b",\"payload\":",
                    end.as_bytes(),
                );
                let writer = writer.filter(|_| shape.schema.opaque.is_none())?;
                let mut fixed = fixed_of(row);
                fixed.number(level);
                if let Some(id) = process {
                    fixed.raw(",\"pid\":");
                    self.payloads.write_integer(&mut fixed, id);
                }
                let to_payload = Literal::new(&[&fixed, writer.begin().bytes()].concat());
                Some(FastPath::Some {
                    fixed: Literal::new(&fixed),
                    to_payload,
                    level,
                    process,
                    writer,
                })
            },
        );
        if let Some(path) = self.fast_paths.get_mut(type_index.shape) {
            *path = found.unwrap_or(FastPath::None);
        }
    }

    /// Appends any event on the slow path.
    fn write_slow(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        if self.fixed.get(type_index.number).is_none_or(Vec::is_empty) {
            self.make_fixed(type_index, types);
        }
        out.raw("{\"ts_ns\":");
        match event.nanos() {
            Some(nanos) => self.payloads.write_signed(out, nanos),
            None => out.raw("null"),
        }
        out.raw(",\"tid\":");
        match event.thread_id() {
            Some(id) => self.payloads.write_integer(out, id),
            None => out.raw("-1"),
        }
        out.extend_from_slice(self.fixed.get(type_index.number).map_or(&[], Vec::as_slice));
        out.number(event.level());
        if let Some(id) = event.process_id() {
            out.raw(",\"pid\":");
            self.payloads.write_integer(out, id);
        }
        for (key, id) in [
            (",\"activity\":\"", event.activity_id()),
            (",\"related\":\"", event.related_activity_id()),
        ] {
            if let Some(id) = id {
                out.raw(key);
                out.guid(id);
                out.push(b'"');
            }
        }
        if !event.labels().is_empty() {
            self.write_labels(out, event.labels(), ",\"labels\":");
        }
        match (selection, types.names(type_index)) {
            (None, Some(names)) => self.write_payload(out, event, names),
            (Some(selection), Some(names)) => {
                self.write_selected(out, event, type_index, names, selection)
            }
            (_, None) => {}
        }
        if self.detail.stacks {
            write_stack_slow(out, event);
        }
        self.write_frames(out);
        if self.detail.raw {
            self.write_raw(out, event);
        }
        out.raw("}\n");
    }

    /// Appends the optional parts that [`Detail`] requests, and the line's end.
    fn write_details(&self, page: &mut Page, event: &Event<'_>) {
        if self.detail.stacks {
            write_stack(page, event);
        }
        page.append(|out| {
            self.write_frames(out);
            if self.detail.raw {
                self.write_raw(out, event);
            }
            out.raw("}\n");
        });
    }

    /// Appends the names of the stack's frames, if requested.
    fn write_frames(&self, out: &mut Vec<u8>) {
        if self.detail.frames {
            out.raw(",\"frames\":");
            write_names(out, &self.frames);
        }
    }

    #[cold]
    fn make_fixed(&mut self, type_index: TypeIndex, types: &EventTypes) {
        if type_index.number >= self.fixed.len() {
            self.fixed.resize(type_index.number + 1, Vec::new());
        }
        if let (Some(fixed), Some(row)) =
            (self.fixed.get_mut(type_index.number), types.row(type_index))
        {
            *fixed = fixed_of(row);
        }
    }

    fn write_payload(&mut self, out: &mut Vec<u8>, event: &Event<'_>, names: &Names) {
        out.raw(",\"payload\":");
        let rest = self.payloads.write_object(out, event, names);
        if !rest.is_empty() {
            out.raw(",\"payload_rest\":\"");
            out.hex_bytes(rest);
            out.push(b'"');
        }
        self.payloads.take_faults(out, ",\"payload_faults\":");
    }

    /// Appends those requested fields that the event has.
    fn write_selected(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        type_index: TypeIndex,
        names: &Names,
        selection: &mut Selection,
    ) {
        self.payloads.begin(event);
        out.raw(",\"payload\":{");
        let mut is_first = true;
        for chosen in selection.of_shape(type_index.shape, names) {
            if let Some(chosen) = chosen
                && let Some(field) = chosen.path.field(event)
            {
                out.extend_from_slice(chosen.name.key(is_first));
                is_first = false;
                self.payloads.write_field(out, &field, &chosen.name);
            }
        }
        out.push(b'}');
        self.payloads.take_faults(out, ",\"payload_faults\":");
    }

    fn write_raw(&self, out: &mut Vec<u8>, event: &Event<'_>) {
        out.raw(",\"ticks\":");
        self.payloads.write_integer(out, event.timestamp_ticks());
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
        self.payloads.write_integer(out, event.offset());
        out.raw(",\"payload_hex\":\"");
        out.hex_bytes(event.payload());
        out.push(b'"');
    }

    fn write_labels(&self, out: &mut Vec<u8>, labels: Labels<'_>, before: &str) {
        write_labels(out, labels, before, &self.payloads);
    }
}

/// Returns the text from the provider to the key of the level, which is equal for all events of a
/// type.
fn fixed_of(row: &EventType) -> Vec<u8> {
    let mut out = Vec::new();
    out.raw(",\"provider\":");
    out.string(&cut(&row.provider));
    out.raw(",\"id\":");
    out.number(row.id);
    out.raw(",\"version\":");
    out.number(row.version);
    out.raw(",\"event\":");
    out.string(&cut(&row.event_name()));
    out.raw(",\"level\":");
    out
}

fn write_stack(page: &mut Page, event: &Event<'_>) {
    let stack = event.stack();
    let mut line = page.writer(16 + stack.len() * 24);
    line.text(",\"stack\":[");
    for (at, address) in stack.addresses().enumerate() {
        line.text(if at > 0 { ",\"0x" } else { "\"0x" });
        line.hex(address);
        line.byte(b'"');
    }
    line.byte(b']');
    let left = line.left();
    page.keep(left);
}

fn write_stack_slow(out: &mut Vec<u8>, event: &Event<'_>) {
    out.raw(",\"stack\":[");
    for (at, address) in event.stack().addresses().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.hex_string(address);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::Reader;
    use nettrace_testdata::corpus;

    #[test]
    fn the_fast_path_writes_what_the_slow_path_writes() {
        for trace in corpus::traces() {
            // The largest traces take long in an unoptimised build and add nothing new.
            if std::fs::metadata(trace.path()).unwrap().len() > 1_500_000 {
                continue;
            }
            let bytes = trace.bytes();
            for big_ints_as_strings in [false, true] {
                let mut ndjson = Ndjson::new(Detail { big_ints_as_strings, ..Detail::default() });
                let mut types = EventTypes::default();
                let mut reader = Reader::from_slice(&bytes);
                let (mut page, mut short, mut long) = (Page::default(), Vec::new(), Vec::new());
                let (mut events, mut fast) = (0u32, 0u32);
                while let Some(event) = reader.next_event().unwrap() {
                    let type_index = types.index_of(&event);
                    short.clear();
                    long.clear();
                    events += 1;
                    if ndjson.write_fast(&mut page, &event, type_index, &types) {
                        page.pour(&mut short);
                        fast += 1;
                        ndjson.write_slow(&mut long, &event, type_index, &types, None);
                        assert!(
                            short == long,
                            "{}\n{}\n{}",
                            trace.name(),
                            String::from_utf8_lossy(&short),
                            String::from_utf8_lossy(&long)
                        );
                    } else {
                        assert_eq!(page.len(), 0);
                    }
                }
                // The smallest traces have few events on the fast path.
                let is_tiny = events < 10;
                assert!(
                    is_tiny || u64::from(fast) * 10 >= u64::from(events) * 9,
                    "{}: {fast} of {events}",
                    trace.name()
                );
            }
        }
    }
}
