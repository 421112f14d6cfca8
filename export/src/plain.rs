//! Values without quotes, for CSV and for comparisons.
//!
//! Numbers are written as in JSON, or as `0x…` if they are hexadecimal; texts are unchanged; bytes
//! as hexadecimal digits; arrays and objects as JSON. Absent and broken values are empty.

use crate::json::{Float, Json};
use crate::payload::PayloadWriter;
use crate::shape::Name;
use nettrace_parser::{FieldValue, Value};
use std::io::Write;

/// Appends a field's value.
pub(crate) fn plain(
    out: &mut Vec<u8>,
    field: &FieldValue<'_>,
    name: &Name,
    json: &mut PayloadWriter,
) {
    let Ok(value) = &field.value else { return };
    if name.is_hex
        && let Some(bits) = value.to_bits()
    {
        return out.hex(bits);
    }
    // Writing to a vector cannot fail.
    let _ = match value {
        Value::Absent => Ok(()),
        Value::Pointer(address) => {
            out.hex(*address);
            Ok(())
        }
        Value::F32(number) => {
            float(out, *number);
            Ok(())
        }
        Value::F64(number) => {
            float(out, *number);
            Ok(())
        }
        Value::Guid(guid) => {
            out.guid(*guid);
            Ok(())
        }
        Value::Bytes(bytes) if name.content.is_none() => {
            out.hex_bytes(bytes);
            Ok(())
        }
        Value::Bytes(_) | Value::Array(_) | Value::Object(_) => {
            json.write_field(out, field, name);
            Ok(())
        }
        value => write!(out, "{value}"),
    };
}

/// Appends a floating-point number, or its name if it is not finite.
pub(crate) fn float(out: &mut Vec<u8>, number: impl Float) {
    match number.special() {
        Some(name) => out.raw(name),
        None => out.float(number),
    }
}
