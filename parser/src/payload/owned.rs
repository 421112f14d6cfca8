//! A value that is kept after its payload.

use super::value::Value;

/// Maximum number of bytes that one value may become. Fields that refer to other places of a
/// payload can show the same bytes many times; real payloads have at most 64 KiB.
const MAX_BYTES: usize = 16 << 20;

/// Bytes that an element takes.
const VALUE_BYTES: usize = size_of::<OwnedValue>();

/// [`Value`] that borrows nothing, so that it can be kept, or sent to another thread.
///
/// ```
/// use nettrace_parser::{OwnedValue, Reader};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let mut kept: Vec<OwnedValue> = Vec::new();
/// while let Some(event) = reader.next_event()? {
///     kept.extend(event.field("s").map(|value| value.into_owned()));
/// }
/// drop(reader);
/// assert_eq!(kept[0], OwnedValue::Text("hey".into()));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OwnedValue {
    /// Number, boolean, date or other value that never borrows.
    Plain(Value<'static>),
    /// Text of either encoding. Code units that are no text are replaced by U+FFFD.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Elements of one type.
    Array(Vec<OwnedValue>),
    /// Names and values of an object's fields, without broken ones.
    Object(Vec<(String, OwnedValue)>),
}

impl Value<'_> {
    /// Copies the value, so that it can be kept or sent to another thread. Texts and elements after
    /// the first 16 MiB, which no real payload has, become [`Value::Absent`] or are left out.
    pub fn into_owned(self) -> OwnedValue {
        let mut room = MAX_BYTES;
        copied(self, &mut room)
    }
}

/// Copies a value, as long as there is room for the bytes of the copy.
fn copied(value: Value<'_>, room: &mut usize) -> OwnedValue {
    let mut text = |text: String| match take(room, text.len()) {
        true => OwnedValue::Text(text),
        false => OwnedValue::Plain(Value::Absent),
    };
    match value {
        Value::Utf16(units) => text(units.to_string()),
        Value::Utf8(bytes) => text(bytes.to_string()),
        Value::Bytes(bytes) if take(room, bytes.len()) => OwnedValue::Bytes(bytes.to_vec()),
        Value::Bytes(_) | Value::Absent => OwnedValue::Plain(Value::Absent),
        Value::Array(array) => {
            let mut elements = Vec::new();
            for element in array.iter() {
                if !take(room, VALUE_BYTES) {
                    break;
                }
                elements.push(copied(element, room));
            }
            OwnedValue::Array(elements)
        }
        Value::Object(object) => {
            let mut fields = Vec::new();
            for field in object.fields() {
                let name = field.name().to_string();
                let Ok(value) = field.value else { continue };
                if !take(room, VALUE_BYTES.saturating_add(name.len())) {
                    break;
                }
                fields.push((name, copied(value, room)));
            }
            OwnedValue::Object(fields)
        }
        Value::Bool(value) => OwnedValue::Plain(Value::Bool(value)),
        Value::Char(value) => OwnedValue::Plain(Value::Char(value)),
        Value::I8(value) => OwnedValue::Plain(Value::I8(value)),
        Value::U8(value) => OwnedValue::Plain(Value::U8(value)),
        Value::I16(value) => OwnedValue::Plain(Value::I16(value)),
        Value::U16(value) => OwnedValue::Plain(Value::U16(value)),
        Value::I32(value) => OwnedValue::Plain(Value::I32(value)),
        Value::U32(value) => OwnedValue::Plain(Value::U32(value)),
        Value::I64(value) => OwnedValue::Plain(Value::I64(value)),
        Value::U64(value) => OwnedValue::Plain(Value::U64(value)),
        Value::F32(value) => OwnedValue::Plain(Value::F32(value)),
        Value::F64(value) => OwnedValue::Plain(Value::F64(value)),
        Value::Decimal(value) => OwnedValue::Plain(Value::Decimal(value)),
        Value::Pointer(value) => OwnedValue::Plain(Value::Pointer(value)),
        Value::Guid(value) => OwnedValue::Plain(Value::Guid(value)),
        Value::DateTime(value) => OwnedValue::Plain(Value::DateTime(value)),
    }
}

/// Takes bytes of the room. Returns `false` if there are not as many, after which there is no room.
fn take(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(0);
    left.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Field, FieldType, Schema};

    #[test]
    fn a_payload_that_shows_the_same_bytes_many_times_does_not_become_large() {
        let shown = FieldType::DataLoc(Box::new(FieldType::U64));
        let element = FieldType::Object([Field::new("shown", shown)].into());
        let all = FieldType::Array(Box::new(element));
        let schema = Schema::from_stream(vec![Field::new("all", all)], None, true);
        // 130 objects, each of which shows 7,500 numbers of the payload.
        let mut payload = 130u16.to_le_bytes().to_vec();
        (0..130).for_each(|_| payload.extend((60_000u32 << 16).to_le_bytes()));
        payload.resize(60_000, 7);
        let value = schema.fields(&payload, 8).next().unwrap().value.unwrap();
        let OwnedValue::Array(objects) = value.into_owned() else { panic!("{value:?}") };
        let bytes = |value: &OwnedValue| match value {
            OwnedValue::Object(fields) => match fields.first() {
                Some((_, OwnedValue::Array(numbers))) => numbers.len() * VALUE_BYTES,
                _ => 0,
            },
            _ => 0,
        };
        let sum: usize = objects.iter().map(bytes).sum();
        assert!((10_000_000..=MAX_BYTES).contains(&sum), "{sum} bytes");
    }
}
