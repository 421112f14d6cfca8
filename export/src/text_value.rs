//! Values as text for people: `Reason=AllocSmall Count=3 Name="…"`.
//!
//! Texts are in double quotes, and characters that would end a line, move the cursor or end the
//! quotes are escaped like in Rust: `\n`, `\"`, `\u{7f}`. Values of enumerations are shown by name,
//! if they have one. A unit follows a number if the catalog knows it (`RangeLength=1288 B`), and a
//! duration has the unit that fits, with all its digits (`DurationNs=148.008512 ms`).
//! Descriptions in streams cannot express units. There the unit is part of a name (`milliseconds`)
//! or a separate field (`DisplayUnits` of counters, `unit` of metrics), and shown as such.

use crate::async_events::AsyncWriter;
use crate::hidden::{escaped, is_plain};
use crate::json::Json;
use crate::long::{is_all_empty, missing};
use crate::plain::float;
use crate::shape::{Name, Names};
use crate::units;
use nettrace_parser::view::AsyncBuffer;
use nettrace_parser::{Content, Event, FieldValue, Fields, Unit, Utf16, Value};
use std::io::Write;

/// Writes payloads as text.
#[derive(Debug)]
pub struct TextValues {
    /// Maximum width of a value, in characters. Longer values are cut off.
    columns: Option<usize>,
    /// Number of bytes of a payload's text that are wanted at least. No value begins behind them.
    wanted: usize,
}

impl Default for TextValues {
    fn default() -> TextValues {
        TextValues::new(None)
    }
}

impl TextValues {
    /// Makes a writer that cuts off values wider than `columns` characters; `None` means no limit.
    pub fn new(columns: Option<usize>) -> TextValues {
        TextValues { columns, wanted: usize::MAX }
    }

    /// Makes a writer for texts of which only the first `bytes` bytes are shown. It may end a longer
    /// text anywhere behind them.
    pub fn beginnings(bytes: usize) -> TextValues {
        TextValues { columns: None, wanted: bytes }
    }

    /// Appends all fields of the payload, and the bytes that belong to no field.
    pub fn write_payload(&self, out: &mut Vec<u8>, event: &Event<'_>, names: &Names) {
        self.write_fields(out, event.fields(), names);
    }

    /// Appends all fields, and the bytes that belong to no field.
    pub fn write_fields(&self, out: &mut Vec<u8>, mut fields: Fields<'_>, names: &Names) {
        let at = out.len();
        let end = at.saturating_add(self.wanted);
        for name in names.iter() {
            if out.len() > end {
                return;
            }
            let missing = missing(&fields);
            let field = if missing.is_none() { fields.next() } else { None };
            if out.len() > at && (missing.is_some() || field.is_some()) {
                out.push(b' ');
            }
            if let Some(count) = missing {
                // Writing to a vector cannot fail.
                let _ = write!(out, "missing: {count}");
            }
            let Some(field) = field else { break };
            self.write_pair_until(out, &field, name, end);
        }
        let rest = fields.rest();
        if !rest.is_empty() {
            // Bytes after the fields of a described payload, or all bytes of an undescribed
            // payload.
            if out.len() > at {
                out.raw(" +");
            }
            out.number(rest.len());
            out.raw(" B ");
            self.cut(out, |out| out.hex_bytes(rest));
        }
        if let Some(fault) = fields.opaque() {
            let _ = write!(out, " <the description ends here: {fault}>");
        }
    }

    /// Appends a field as `name=value`.
    pub fn write_pair(&self, out: &mut Vec<u8>, field: &FieldValue<'_>, name: &Name) {
        self.write_pair_until(out, field, name, usize::MAX);
    }

    fn write_pair_until(&self, out: &mut Vec<u8>, field: &FieldValue<'_>, name: &Name, end: usize) {
        out.raw(&name.shown);
        out.push(b'=');
        match &field.value {
            Ok(value) => match field.value_name() {
                Some(known) => drop(write!(out, "{known}")),
                None => self.cut(out, |out| value_text(out, value, name, end)),
            },
            // Writing to a vector cannot fail, here and below.
            Err(fault) => drop(write!(out, "<{fault}>")),
        }
    }

    /// Appends the output of `write`, cut off at the maximum width.
    fn cut(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let at = out.len();
        write(out);
        let Some(columns) = self.columns.filter(|columns| out.len().saturating_sub(at) > *columns)
        else {
            return;
        };
        let text = String::from_utf8_lossy(out.get(at..).unwrap_or_default()).into_owned();
        let Some((end, _)) = text.char_indices().nth(columns) else { return };
        let more = text.chars().count().saturating_sub(columns);
        out.truncate(at);
        out.raw(text.get(..end).unwrap_or_default());
        let _ = write!(out, "… (and {more} more)");
    }
}

/// Writes a value. Elements that would begin behind the first `end` bytes of `out` are left out.
fn value_text(out: &mut Vec<u8>, value: &Value<'_>, name: &Name, end: usize) {
    if let Some(unit) = name.unit
        && !matches!(value, Value::Absent | Value::Array(_) | Value::Object(_))
    {
        if let (Unit::Nanoseconds, Some(nanos)) = (unit, whole(value)) {
            return out.raw(&units::exact_duration(nanos));
        }
        bare(out, value, name, end);
        out.push(b' ');
        return out.raw(unit.symbol());
    }
    bare(out, value, name, end);
}

/// Returns a number that is whole and not negative.
fn whole(value: &Value<'_>) -> Option<u64> {
    match value {
        // `{}` writes all digits of a whole number, and no point.
        Value::F64(number) => number.to_string().parse().ok(),
        value => value.as_u64(),
    }
}

/// Writes a value without its unit.
fn bare(out: &mut Vec<u8>, value: &Value<'_>, name: &Name, end: usize) {
    // A field with a unit is an amount, even if its manifest asks for hexadecimal digits.
    if name.is_hex
        && name.unit.is_none()
        && let Some(bits) = value.to_bits()
    {
        return out.hex(bits);
    }
    match value {
        Value::Pointer(amount) if name.unit.is_some() => out.number(*amount),
        Value::Pointer(address) => out.hex(*address),
        Value::Absent => out.raw("null"),
        Value::Utf16(text) => escaped_utf16(out, *text),
        Value::Utf8(_) | Value::Char(_) => escaped(out, &value.to_string(), true),
        Value::Bool(value) => out.raw(if *value { "true" } else { "false" }),
        Value::I8(number) => out.number(*number),
        Value::U8(number) => out.number(*number),
        Value::I16(number) => out.number(*number),
        Value::U16(number) => out.number(*number),
        Value::I32(number) => out.number(*number),
        Value::U32(number) => out.number(*number),
        Value::I64(number) => out.number(*number),
        Value::U64(number) => out.number(*number),
        Value::F32(number) => float(out, *number),
        Value::F64(number) => float(out, *number),
        Value::Guid(guid) => out.guid(*guid),
        Value::Bytes(bytes)
            if name.content == Some(Content::AsyncEvents)
                && let Some(buffer) = AsyncBuffer::from_bytes(bytes) =>
        {
            let (is_json, clock) = (false, None);
            if let Some(fault) = (AsyncWriter { out, is_json, clock, end }).write(&buffer) {
                let _ = write!(out, "<{fault}>");
            }
        }
        Value::Bytes(bytes) => {
            out.raw("0x");
            out.hex_bytes(bytes);
        }
        Value::Array(array) if is_all_empty(array) => {
            let _ = write!(out, "[{} empty elements]", array.len());
        }
        Value::Array(array) => {
            out.push(b'[');
            for (at, element) in array.iter().enumerate() {
                if out.len() > end {
                    break;
                }
                if at > 0 {
                    out.raw(", ");
                }
                value_text(out, &element, name, end);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (at, (inner, field)) in name.inner.iter().zip(object.fields()).enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                out.raw(&inner.shown);
                out.push(b'=');
                match (&field.value, field.value_name()) {
                    (_, Some(known)) => drop(write!(out, "{known}")),
                    (Ok(value), None) => value_text(out, value, inner, end),
                    (Err(fault), None) => drop(write!(out, "<{fault}>")),
                }
            }
            out.push(b'}');
        }
        value => drop(write!(out, "{value}")),
    }
}

/// Appends text without control characters, in quotes.
fn escaped_utf16(out: &mut Vec<u8>, text: Utf16<'_>) {
    let (units, _) = text.bytes().as_chunks::<2>();
    if units.iter().all(|[low, high]| *high == 0 && is_plain(*low, true)) {
        out.push(b'"');
        out.extend(units.iter().map(|[low, _]| *low));
        out.push(b'"');
    } else {
        escaped(out, &String::from(text), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventTypes;
    use nettrace_parser::Reader;
    use nettrace_parser::view::KnownProvider;
    use nettrace_testdata::corpus;

    #[test]
    fn control_characters_are_escaped_and_letters_of_all_scripts_are_not() {
        let text = |text: &str, is_quoted| {
            let mut out = Vec::new();
            escaped(&mut out, text, is_quoted);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text("日本 λ 🎉", true), "\"日本 λ 🎉\"");
        assert_eq!(
            text("a\nb\t\"c\" \\ \x1b[31m\u{7f}\u{85}", true),
            r#""a\nb\t\"c\" \\ \u{1b}[31m\u{7f}\u{85}""#
        );
        assert_eq!(text("\u{202e}x", true), r#""\u{202e}x""#);
        assert_eq!(text("a\"b\\\n", false), r#"a"b\\n"#);
    }

    #[test]
    fn long_values_are_cut_between_characters_and_say_so() {
        let values = TextValues::new(Some(4));
        let cut = |text: &str| {
            let mut out = b"x=".to_vec();
            values.cut(&mut out, |out| out.raw(text));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(cut("abcd"), "x=abcd");
        assert_eq!(cut("日本"), "x=日本");
        assert_eq!(cut("日本日本日本"), "x=日本日本… (and 2 more)");
    }

    #[test]
    fn a_beginning_is_that_of_the_whole_text_and_ends_soon_after_what_is_wanted() {
        let (whole, beginning) = (TextValues::default(), TextValues::beginnings(300));
        let mut longest = 0;
        for trace in corpus::traces() {
            let bytes = trace.bytes();
            let (mut reader, mut types) = (Reader::from_slice(&bytes), EventTypes::default());
            while let Ok(Some(event)) = reader.next_event() {
                let place = types.index_of(&event);
                let Some(names) = types.names(place) else { continue };
                let text = |values: &TextValues| {
                    let mut out = Vec::new();
                    values.write_payload(&mut out, &event, names);
                    out
                };
                let (all, first) = (text(&whole), text(&beginning));
                assert_eq!(all[..all.len().min(301)], first[..first.len().min(301)]);
                // Lists of objects and references, with thousands of elements.
                if event.known_provider() == KnownProvider::Runtime && matches!(event.id(), 18 | 19)
                {
                    assert!(first.len() < 1000, "{} of {} bytes", first.len(), all.len());
                    longest = longest.max(all.len());
                }
            }
        }
        assert!(longest > 10_000, "{longest}");
    }
}
