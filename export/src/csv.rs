//! CSV according to RFC 4180, with one row per event. Lines end with CR LF. Values with a comma, a
//! quote or a line end are quoted, and quotes inside are doubled. An empty text is `""`; a missing
//! value is empty.
//!
//! Columns have the same names and meanings as the keys in NDJSON: `ts_ns`, `tid`, `provider`,
//! `id`, `version`, `event`, `level`, `pid`, `activity`, `related`, `labels` (JSON); then the
//! payload. `--stacks` adds `stack` (addresses separated by spaces), `--frames` adds `frames`
//! (their names, JSON), and `--raw` adds `ticks`, `keywords`, `opcode`, `processor`, `sequence`,
//! `offset`, `payload_hex`.
//!
//! | options | columns of the payload |
//! |---|---|
//! | `--fields` | the requested fields |
//! | one `--event` without wildcards | the fields of the first matching event; then `payload_other`, `payload_rest`, `payload_faults` |
//! | anything else | `payload` (JSON), `payload_rest`, `payload_faults` |
//!
//! The columns must be known before the first row is written, and a pipe cannot be read
//! twice. So they depend on the command line, not on the contents of the trace. A name
//! may refer to several versions of an event: fields that the first event does not have
//! are in the JSON object `payload_other`.
//!
//! If a field has the same name as one of the first columns, its column is called
//! `payload.` and the name. Values are formatted by [`plain`](crate::plain), arrays and
//! objects as JSON.

use crate::detail::{Detail, opcode, write_names};
use crate::event_types::{EventTypes, TypeIndex};
use crate::hidden::is_hidden;
use crate::json::Json;
use crate::labels::write_labels;
use crate::long::cut;
use crate::payload::PayloadWriter;
use crate::plain::plain;
use crate::selection::Selection;
use crate::shape::{Name, Names};
use nettrace_parser::{Event, FieldValue, Value};
use std::borrow::Cow;

/// Names of the columns before the payload.
const COMMON: [&str; 11] = [
    "ts_ns", "tid", "provider", "id", "version", "event", "level", "pid", "activity", "related",
    "labels",
];
const RAW: [&str; 7] =
    ["ticks", "keywords", "opcode", "processor", "sequence", "offset", "payload_hex"];

/// Choice of the columns that show the payload.
#[derive(Debug)]
enum Layout {
    /// A column for each requested field.
    Selected(Vec<String>),
    /// A column for each field of the first event's type, which is not known yet.
    Pending,
    /// A column for each field of the first event's type, now that it is known.
    Fields(Vec<String>),
    /// One column with JSON.
    Payload,
}

#[derive(Debug)]
pub(crate) struct Csv {
    detail: Detail,
    layout: Layout,
    payloads: PayloadWriter,
    /// Column of each field, by [`TypeIndex::shape`] and the field's index; `None` for a field
    /// without a column.
    columns: Vec<Vec<Option<usize>>>,
    cells: Vec<Vec<u8>>,
    /// Cells from the provider to the event, which are equal for all events of a type, by
    /// [`TypeIndex::number`].
    fixed: Vec<Vec<u8>>,
    value: Vec<u8>,
    /// Names of the frames in the next event's stack.
    frames: Vec<String>,
    is_safe: bool,
}

impl Csv {
    /// Makes a writer. `is_one_type` says that the command line names a single event type. For
    /// `is_safe` see [`WriteOptions::csv_safe`](crate::WriteOptions::csv_safe).
    pub(crate) fn new(
        detail: Detail,
        selection: Option<&Selection>,
        is_one_type: bool,
        is_safe: bool,
    ) -> Csv {
        let layout = match selection {
            Some(selection) => Layout::Selected(selection.wanted().to_vec()),
            None if is_one_type => Layout::Pending,
            None => Layout::Payload,
        };
        let payloads = PayloadWriter::new(detail.big_ints_as_strings);
        Csv {
            detail,
            layout,
            payloads,
            columns: Vec::new(),
            cells: Vec::new(),
            fixed: Vec::new(),
            value: Vec::new(),
            frames: Vec::new(),
            is_safe,
        }
    }

    /// Sets the names of the frames in the next event's stack.
    pub(crate) fn name_frames(&mut self, names: &[Cow<'_, str>]) {
        self.frames.clear();
        self.frames.extend(names.iter().map(|name| name.to_string()));
    }

    /// Appends the header, unless it depends on the first event.
    pub(crate) fn begin(&self, out: &mut Vec<u8>) {
        if !matches!(self.layout, Layout::Pending) {
            self.write_heading(out);
        }
    }

    /// Appends the header, if no event was written.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if matches!(self.layout, Layout::Pending) {
            self.layout = Layout::Fields(Vec::new());
            self.write_heading(out);
        }
    }

    fn write_heading(&self, out: &mut Vec<u8>) {
        let raw: &[&str] = if self.detail.raw { &RAW } else { &[] };
        let stacks: &[&str] = match (self.detail.stacks, self.detail.frames) {
            (true, true) => &["stack", "frames"],
            (true, false) => &["stack"],
            _ => &[],
        };
        let (fields, after): (&[String], &[&str]) = match &self.layout {
            Layout::Selected(fields) => (fields, &[]),
            Layout::Fields(fields) => {
                (fields, &["payload_other", "payload_rest", "payload_faults"])
            }
            Layout::Pending | Layout::Payload => {
                (&[], &["payload", "payload_rest", "payload_faults"])
            }
        };
        let is_taken = |name: &str| {
            let fixed = COMMON.iter().chain(after).chain(stacks).chain(raw);
            fixed.into_iter().any(|column| column.eq_ignore_ascii_case(name))
        };
        for (at, name) in COMMON.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.raw(name);
        }
        for name in fields {
            out.push(b',');
            let prefix = if is_taken(name) { "payload." } else { "" };
            write_text(out, format!("{prefix}{name}").as_bytes(), self.is_safe);
        }
        for name in after.iter().chain(stacks).chain(raw) {
            out.push(b',');
            out.raw(name);
        }
        out.raw("\r\n");
    }

    /// Appends an event.
    pub(crate) fn write(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        let Some(names) = types.names(type_index) else { return };
        if matches!(self.layout, Layout::Pending) {
            self.layout = Layout::Fields(names.iter().map(|name| name.text.to_string()).collect());
            self.write_heading(out);
        }
        self.write_common(out, event, type_index, types);
        self.payloads.begin(event);
        match selection {
            Some(selection) => {
                for chosen in selection.of_shape(type_index.shape, names) {
                    out.push(b',');
                    if let Some(chosen) = chosen
                        && let Some(field) = chosen.path.field(event)
                    {
                        write_cell(
                            out,
                            &field,
                            &chosen.name,
                            &mut self.payloads,
                            &mut self.value,
                            self.is_safe,
                        );
                    }
                }
                // With selected fields there is no column for faults.
                self.value.clear();
                self.payloads.take_faults(&mut self.value, "");
            }
            None if matches!(self.layout, Layout::Fields(_)) => {
                self.write_fields(out, event, type_index, names)
            }
            None => self.write_payload(out, event, names),
        }
        if self.detail.stacks {
            out.push(b',');
            for (at, address) in event.stack().addresses().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                out.hex(address);
            }
        }
        if self.detail.frames {
            out.push(b',');
            self.value.clear();
            write_names(&mut self.value, &self.frames);
            write_csv_value(out, &self.value);
        }
        if self.detail.raw {
            write_raw(out, event);
        }
        out.raw("\r\n");
    }

    fn write_common(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) {
        if let Some(nanos) = event.nanos() {
            out.number(nanos);
        }
        out.push(b',');
        match event.thread_id() {
            Some(id) => out.number(id),
            None => out.raw("-1"),
        }
        out.extend_from_slice(self.fixed(type_index, types));
        out.number(event.level());
        out.push(b',');
        if let Some(id) = event.process_id() {
            out.number(id);
        }
        for id in [event.activity_id(), event.related_activity_id()] {
            out.push(b',');
            if let Some(id) = id {
                out.guid(id);
            }
        }
        out.push(b',');
        if !event.labels().is_empty() {
            self.value.clear();
            write_labels(&mut self.value, event.labels(), "", &self.payloads);
            // Activities, level and the like have columns of their own.
            if !self.value.is_empty() {
                write_text(out, &self.value, self.is_safe);
            }
        }
    }

    fn fixed(&mut self, type_index: TypeIndex, types: &EventTypes) -> &[u8] {
        if type_index.number >= self.fixed.len() {
            self.fixed.resize(type_index.number.saturating_add(1), Vec::new());
        }
        match (self.fixed.get_mut(type_index.number), types.row(type_index)) {
            (Some(fixed), Some(row)) => {
                if fixed.is_empty() {
                    fixed.push(b',');
                    write_text(fixed, cut(&row.provider).as_bytes(), self.is_safe);
                    fixed.push(b',');
                    fixed.number(row.id);
                    fixed.push(b',');
                    fixed.number(row.version);
                    fixed.push(b',');
                    write_text(fixed, cut(&row.event_name()).as_bytes(), self.is_safe);
                    fixed.push(b',');
                }
                fixed
            }
            _ => &[],
        }
    }

    fn write_payload(&mut self, out: &mut Vec<u8>, event: &Event<'_>, names: &Names) {
        self.value.clear();
        let rest = self.payloads.write_object(&mut self.value, event, names);
        out.push(b',');
        write_csv_value(out, &self.value);
        self.write_rest(out, rest);
    }

    fn write_rest(&mut self, out: &mut Vec<u8>, rest: &[u8]) {
        out.push(b',');
        out.hex_bytes(rest);
        out.push(b',');
        self.value.clear();
        self.payloads.take_faults(&mut self.value, "");
        write_csv_value(out, &self.value);
    }

    /// Appends the fields' values, each in its own column.
    fn write_fields(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        type_index: TypeIndex,
        names: &Names,
    ) {
        let Layout::Fields(wanted) = &self.layout else { return };
        if type_index.shape >= self.columns.len() {
            self.columns.resize(type_index.shape.saturating_add(1), Vec::new());
        }
        let Some(columns) = self.columns.get_mut(type_index.shape) else { return };
        if columns.is_empty() {
            let column_of = |name: &Name| wanted.iter().position(|wanted| **wanted == *name.text);
            *columns = names.iter().map(column_of).collect();
        }
        self.cells.resize(wanted.len(), Vec::new());
        self.cells.iter_mut().for_each(Vec::clear);
        let (mut fields, mut others) = (event.fields(), Vec::new());
        for (name, column) in names.iter().zip(columns) {
            let Some(field) = fields.next() else { break };
            match column.and_then(|column| self.cells.get_mut(column)) {
                Some(value) => {
                    self.payloads.note(&field, name);
                    write_cell(
                        value,
                        &field,
                        name,
                        &mut self.payloads,
                        &mut self.value,
                        self.is_safe,
                    );
                }
                None => {
                    others.extend_from_slice(name.key(others.is_empty()));
                    self.payloads.write_field(&mut others, &field, name);
                }
            }
        }
        self.payloads.note_end(&fields);
        for value in &self.cells {
            out.push(b',');
            out.extend_from_slice(value);
        }
        out.push(b',');
        if !others.is_empty() {
            others.insert(0, b'{');
            others.push(b'}');
            write_csv_value(out, &others);
        }
        self.write_rest(out, fields.rest());
    }
}

/// Appends a single value.
fn write_cell(
    out: &mut Vec<u8>,
    field: &FieldValue<'_>,
    name: &Name,
    payloads: &mut PayloadWriter,
    scratch: &mut Vec<u8>,
    is_safe: bool,
) {
    scratch.clear();
    plain(scratch, field, name, payloads);
    let is_text = matches!(field.value, Ok(Value::Utf16(_) | Value::Utf8(_)));
    if is_text { write_text(out, scratch, is_safe) } else { write_csv_value(out, scratch) }
}

fn write_raw(out: &mut Vec<u8>, event: &Event<'_>) {
    out.push(b',');
    out.number(event.timestamp_ticks());
    out.push(b',');
    out.hex(event.keywords());
    out.push(b',');
    out.number(opcode(event).0);
    out.push(b',');
    match event.processor() {
        Some(processor) => out.number(processor),
        None => out.raw("-1"),
    }
    out.push(b',');
    out.number(event.sequence_number());
    out.push(b',');
    out.number(event.offset());
    out.push(b',');
    out.hex_bytes(event.payload());
}

/// Appends a text. An empty text becomes `""`, because a missing value is empty.
fn write_text(out: &mut Vec<u8>, value: &[u8], is_safe: bool) {
    match value {
        [] => out.raw("\"\""),
        value if is_safe => write_csv_value_safe(out, value),
        value => write_csv_value(out, value),
    }
}

/// Appends a value as [`write_csv_value`] does, but so that no spreadsheet executes it as a
/// formula: an apostrophe precedes a value that begins like a formula. Hidden characters are
/// replaced by U+FFFD.
///
/// ```
/// let mut line = Vec::new();
/// nettrace_export::write_csv_value_safe(&mut line, b"=1+2");
/// assert_eq!(line, b"'=1+2");
/// ```
pub fn write_csv_value_safe(out: &mut Vec<u8>, value: &[u8]) {
    write_csv_value(out, &harmless(value));
}

/// Returns the text so that no spreadsheet executes it as a formula, with visible marks in place of
/// hidden characters.
fn harmless(value: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(value);
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let shown = text.chars().map(|c| match c {
        '\t' | '\r' | '\n' => c,
        c if is_hidden(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    });
    is_formula.then_some('\'').into_iter().chain(shown).collect::<String>().into_bytes()
}

/// Appends a CSV value, quoted if it contains commas, quotes or line ends. Values with spaces at
/// either end are quoted, too, because readers treat such spaces differently.
///
/// ```
/// let mut line = Vec::new();
/// nettrace_export::write_csv_value(&mut line, b"orders, \"all\"");
/// assert_eq!(line, b"\"orders, \"\"all\"\"\"");
/// ```
pub fn write_csv_value(out: &mut Vec<u8>, value: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let has_space = value.first() == Some(&b' ') || value.last() == Some(&b' ');
    if !has_space && !value.iter().any(is_special) {
        return out.extend_from_slice(value);
    }
    out.push(b'"');
    for byte in value {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_when_they_need_it() {
        let written = |value: &str| {
            let mut out = Vec::new();
            write_text(&mut out, value.as_bytes(), false);
            String::from_utf8(out).unwrap()
        };
        let cases = [
            ("", "\"\""),
            ("plain text", "plain text"),
            ("日本", "日本"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("a\rb", "\"a\rb\""),
            (" x", "\" x\""),
            ("x ", "\"x \""),
        ];
        let safe = |value: &str| {
            let mut out = Vec::new();
            write_text(&mut out, value.as_bytes(), true);
            String::from_utf8(out).unwrap()
        };
        for (value, harmless) in [
            ("plain, text", "\"plain, text\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("@x", "'@x"),
            ("-1", "'-1"),
            ("\tx", "'\tx"),
            ("a=b\u{202e}", "a=b\u{fffd}"),
            ("", "\"\""),
        ] {
            assert_eq!(safe(value), harmless);
        }
        for (value, expected) in cases {
            assert_eq!(written(value), expected);
        }
    }
}
