//! Payloads as text with type and value of each field.

use nettrace_parser::{Event, FieldValue, Value};
use std::fmt::Write;

/// Maximum number of elements of an array that are written out; further elements are only counted.
const WRITTEN_OUT: usize = 200;

/// Returns each field as `name = value`.
pub(crate) fn texts(event: &Event<'_>) -> Vec<String> {
    event.fields().map(|field| text_of(&field)).collect()
}

/// Returns the bytes after the last field.
pub(crate) fn rest<'r>(event: &Event<'r>) -> &'r [u8] {
    let mut fields = event.fields();
    fields.by_ref().for_each(drop);
    fields.rest()
}

fn text_of(field: &FieldValue<'_>) -> String {
    let mut text = format!("{} = ", field.name());
    match field.value {
        Ok(value) => write_value(&mut text, &value),
        Err(fault) => {
            assert_eq!(fault.offset, field.offset);
            let _ = write!(text, "<{:?}>", fault.fault);
        }
    }
    text
}

/// Writes a value and its type: `5i32`, `"text"` (UTF-16), `b"utf-8"`, `x0102` (bytes), `[1u8,
/// 2u8]`.
pub(crate) fn write_value(text: &mut String, value: &Value<'_>) {
    let done = match value {
        Value::Absent => write!(text, "absent"),
        Value::Bool(value) => write!(text, "{value}"),
        Value::Char(unit) => write!(text, "char {unit:#x}"),
        Value::I8(value) => write!(text, "{value}i8"),
        Value::U8(value) => write!(text, "{value}u8"),
        Value::I16(value) => write!(text, "{value}i16"),
        Value::U16(value) => write!(text, "{value}u16"),
        Value::I32(value) => write!(text, "{value}i32"),
        Value::U32(value) => write!(text, "{value}u32"),
        Value::I64(value) => write!(text, "{value}i64"),
        Value::U64(value) => write!(text, "{value}u64"),
        Value::F32(value) => write!(text, "{value}f32"),
        Value::F64(value) => write!(text, "{value}f64"),
        Value::Decimal(value) => write!(text, "{value}m"),
        Value::Pointer(value) => write!(text, "{value:#x}"),
        Value::Guid(value) => write!(text, "{value}"),
        Value::DateTime(value) => write!(text, "{value}"),
        Value::Utf16(value) if value.is_terminated() => write!(text, "{:?}", value.to_string()),
        Value::Utf16(value) => write!(text, "{:?} cut", value.to_string()),
        Value::Utf8(value) => write!(text, "b{:?}", value.to_string()),
        Value::Bytes(bytes) => {
            text.push('x');
            bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))
        }
        Value::Array(array) => {
            text.push('[');
            for (index, element) in array.iter().take(WRITTEN_OUT).enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                write_value(text, &element);
            }
            if array.len() > WRITTEN_OUT {
                let _ = write!(text, " … {} in all", array.len());
            }
            write!(text, "]")
        }
        Value::Object(object) => {
            let fields: Vec<String> = object.fields().map(|field| text_of(&field)).collect();
            write!(text, "{{{}}}", fields.join(", "))
        }
        other => write!(text, "{other:?}"),
    };
    done.expect("a string takes everything");
}
