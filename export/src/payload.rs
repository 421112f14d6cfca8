//! Payloads as JSON.
//!
//! | value | JSON |
//! |---|---|
//! | boolean | `true`, `false` |
//! | address, and any other integer whose field is marked hexadecimal | string `"0x7f00c0de"` |
//! | any other integer, including enumerations | number with all digits; with `--big-ints string` a string from 2^53 on |
//! | floating-point number | the shortest number that reads back as the same value; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | decimal | number with all digits |
//! | text, character | string; half of a surrogate pair is U+FFFD |
//! | guid | string, lower case, with dashes |
//! | date | string, `"2024-02-29T12:34:56.0080000Z"` |
//! | bytes | string, two hexadecimal digits each |
//! | bytes with sub-events of the async profiler | object, see [`async_events`](crate::async_events) |
//! | array | array; more than 64 elements that take no bytes: `{"empty_elements":65535}` |
//! | object | object |
//! | absent: the payload ends before it | `null`; more than 16 such fields are left out, and counted in `payload_faults` |
//! | broken | `null`, and reported in `payload_faults` |

use crate::async_events::AsyncWriter;
use crate::json::Json;
use crate::long::{is_all_empty, missing};
use crate::shape::{Name, Names};
use nettrace_parser::unstable::FieldPath;
use nettrace_parser::view::{AsyncBuffer, KnownProvider};
use nettrace_parser::{Clock, Content, Event, FieldValue, Fields, Value};
use std::fmt;
use std::io::Write;

/// Maximum integer that a double represents exactly, which is how JavaScript and other readers of
/// JSON store numbers.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Writes payloads as JSON.
#[derive(Debug, Default)]
pub(crate) struct PayloadWriter {
    /// Whether integers that a double cannot represent exactly are written as strings.
    big_ints_as_strings: bool,
    /// Clock for sub-events of the async profiler.
    clock: Option<Clock>,
    /// Faults in the event's payload: JSON objects separated by commas.
    faults: Vec<u8>,
}

type Within<'a> = FieldPath<'a, &'a Name>;

impl PayloadWriter {
    pub(crate) fn new(big_ints_as_strings: bool) -> PayloadWriter {
        PayloadWriter { big_ints_as_strings, ..PayloadWriter::default() }
    }

    /// Returns the maximum number that is not written as a string.
    pub(crate) fn largest_number(&self) -> u64 {
        if self.big_ints_as_strings { MAX_SAFE_INTEGER } else { u64::MAX }
    }

    /// Appends the object with all fields. Returns the bytes that belong to no field.
    #[inline]
    pub(crate) fn write_object<'r>(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'r>,
        names: &Names,
    ) -> &'r [u8] {
        self.begin(event);
        out.push(b'{');
        let mut fields = event.fields();
        let mut is_first = true;
        for name in names.iter() {
            if let Some(count) = missing(&fields) {
                let within = Within { outer: None, name };
                let text =
                    format!("the payload ends before {count} fields, of which this is the first");
                self.note_fault(Some(within), fields.rest_offset(), &text);
                break;
            }
            // Fields after a broken one of unknown size cannot be found.
            let Some(field) = fields.next() else { break };
            out.extend_from_slice(name.key(is_first));
            is_first = false;
            self.write_within(out, &field, Within { outer: None, name });
        }
        out.push(b'}');
        self.note_end(&fields);
        fields.rest()
    }

    /// Prepares for values of an event.
    #[inline]
    pub(crate) fn begin(&mut self, event: &Event<'_>) {
        if event.known_provider() == KnownProvider::AsyncProfiler {
            self.take_clock(event);
        }
    }

    #[cold]
    fn take_clock(&mut self, event: &Event<'_>) {
        self.clock = Some(event.session().clock());
    }

    /// Records a fault if the stream's description of the fields is incomplete.
    #[inline]
    pub(crate) fn note_end(&mut self, fields: &Fields<'_>) {
        if let Some(fault) = fields.opaque() {
            self.note_fault(None, fields.rest_offset(), &fault);
        }
    }

    /// Records the fault of a field whose value another writer shows.
    pub(crate) fn note(&mut self, field: &FieldValue<'_>, name: &Name) {
        self.note_field(field, Within { outer: None, name });
    }

    /// Appends the value of one field.
    pub(crate) fn write_field(&mut self, out: &mut Vec<u8>, field: &FieldValue<'_>, name: &Name) {
        self.write_within(out, field, Within { outer: None, name });
    }

    /// Appends `before` and the array of all faults since the last call, if there are any.
    #[inline]
    pub(crate) fn take_faults(&mut self, out: &mut Vec<u8>, before: &str) {
        if !self.faults.is_empty() {
            out.raw(before);
            out.push(b'[');
            out.extend_from_slice(&self.faults);
            out.push(b']');
            self.faults.clear();
        }
    }

    /// Appends an unsigned integer.
    #[inline]
    pub(crate) fn write_integer(&self, out: &mut Vec<u8>, number: u64) {
        if self.big_ints_as_strings && number > MAX_SAFE_INTEGER {
            out.push(b'"');
            out.number(number);
            out.push(b'"');
        } else {
            out.number(number);
        }
    }

    /// Appends a signed integer.
    #[inline]
    pub(crate) fn write_signed(&self, out: &mut Vec<u8>, number: i64) {
        if self.big_ints_as_strings && number.unsigned_abs() > MAX_SAFE_INTEGER {
            out.push(b'"');
            out.number(number);
            out.push(b'"');
        } else {
            out.number(number);
        }
    }

    #[inline]
    fn write_within(&mut self, out: &mut Vec<u8>, field: &FieldValue<'_>, within: Within<'_>) {
        self.note_field(field, within);
        match &field.value {
            Ok(value) => self.write_value(out, value, field.offset, within),
            Err(_) => out.raw("null"),
        }
    }

    /// Appends the sub-events of the async profiler; the bytes if they have none.
    #[cold]
    fn write_async_events(
        &mut self,
        out: &mut Vec<u8>,
        bytes: &[u8],
        offset: usize,
        within: Within<'_>,
    ) {
        let Some(buffer) = AsyncBuffer::from_bytes(bytes) else {
            self.note_fault(
                Some(within),
                offset,
                &"the buffer is of an unknown version, or cut off",
            );
            return write_bytes(out, bytes);
        };
        let (is_json, clock, end) = (true, self.clock, usize::MAX);
        if let Some(fault) = (AsyncWriter { out, is_json, clock, end }).write(&buffer) {
            self.note_fault(Some(within), offset, &fault);
        }
    }

    #[inline]
    fn note_field(&mut self, field: &FieldValue<'_>, within: Within<'_>) {
        match &field.value {
            Ok(Value::Utf16(text)) if !text.is_terminated() => {
                self.note_fault(Some(within), field.offset, &"the text has no end mark");
            }
            Ok(_) => {}
            Err(fault) => self.note_fault(Some(within), fault.offset, &fault.fault),
        }
    }

    #[inline]
    fn write_value(
        &mut self,
        out: &mut Vec<u8>,
        value: &Value<'_>,
        offset: usize,
        within: Within<'_>,
    ) {
        if within.name.is_hex
            && let Some(bits) = value.to_bits()
        {
            return out.hex_string(bits);
        }
        match value {
            Value::Utf16(text) => out.utf16_string(text.bytes()),
            Value::U32(number) => out.number(*number),
            Value::I32(number) => out.number(*number),
            Value::U64(number) => self.write_integer(out, *number),
            Value::I64(number) => self.write_signed(out, *number),
            Value::Pointer(number) => out.hex_string(*number),
            Value::U16(number) => out.number(*number),
            Value::I16(number) => out.number(*number),
            Value::U8(number) => out.number(*number),
            Value::I8(number) => out.number(*number),
            Value::F64(number) => out.float(*number),
            Value::F32(number) => out.float(*number),
            Value::Bool(true) => out.raw("true"),
            Value::Bool(false) => out.raw("false"),
            Value::Absent => out.raw("null"),
            value => self.write_long_value(out, value, offset, within),
        }
    }

    /// Appends an array, an object or a value of a rare type.
    fn write_long_value(
        &mut self,
        out: &mut Vec<u8>,
        value: &Value<'_>,
        offset: usize,
        within: Within<'_>,
    ) {
        match value {
            Value::Char(unit) => out.utf16_string(&unit.to_le_bytes()),
            Value::Utf8(text) => out.lossy_string(text.bytes()),
            Value::Guid(guid) => {
                out.push(b'"');
                out.guid(*guid);
                out.push(b'"');
            }
            Value::DateTime(date) => {
                // Writing to a vector cannot fail, here and below.
                let _ = write!(out, "\"{date}\"");
            }
            Value::Decimal(number) => {
                let at = out.len();
                let _ = write!(out, "{number}");
                let digits = out.iter().skip(at).filter(|byte| byte.is_ascii_digit());
                // A double can represent any 15 digits exactly.
                if self.big_ints_as_strings
                    && digits.skip_while(|digit| **digit == b'0').count() > 15
                {
                    out.insert(at, b'"');
                    out.push(b'"');
                }
            }
            Value::Bytes(bytes) if within.name.content == Some(Content::AsyncEvents) => {
                self.write_async_events(out, bytes, offset, within);
            }
            Value::Bytes(bytes) => write_bytes(out, bytes),
            Value::Array(array) if is_all_empty(array) => {
                out.raw("{\"empty_elements\":");
                out.number(array.len());
                out.push(b'}');
            }
            Value::Array(array) => {
                out.push(b'[');
                for (at, element) in array.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    self.write_value(out, &element, offset, within);
                }
                out.push(b']');
            }
            Value::Object(object) => {
                out.push(b'{');
                let mut is_first = true;
                for (name, field) in within.name.inner.iter().zip(object.fields()) {
                    out.extend_from_slice(name.key(is_first));
                    is_first = false;
                    self.write_within(out, &field, Within { outer: Some(&within), name });
                }
                out.push(b'}');
            }
            // Values of future types, in the parser's format.
            value => out.string(&value.to_string()),
        }
    }

    #[cold]
    fn note_fault(&mut self, within: Option<Within<'_>>, offset: usize, fault: &dyn fmt::Display) {
        if !self.faults.is_empty() {
            self.faults.push(b',');
        }
        self.faults.raw("{\"field\":");
        match within {
            Some(within) => self.faults.string(&within.to_string()),
            None => self.faults.raw("null"),
        }
        self.faults.raw(",\"offset\":");
        self.faults.number(offset);
        self.faults.raw(",\"fault\":");
        self.faults.string(&fault.to_string());
        self.faults.push(b'}');
    }
}

/// Appends bytes as a text of hexadecimal digits.
fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    out.hex_bytes(bytes);
    out.push(b'"');
}
