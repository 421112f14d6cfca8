//! Visits all values of payloads, including nested ones.

use nettrace_parser::{Event, FieldValue, Reader, Value};

/// Visits the events of a stream and the values of their payloads, until `most` events and values
/// were visited. Returns how many were.
pub(crate) fn look_at_payloads(bytes: &[u8], most: u64) -> u64 {
    let mut reader = Reader::from_slice(bytes);
    let mut seen = 0;
    while seen < most {
        match reader.next_event() {
            Ok(Some(event)) => seen += 1 + look_at(&event, most - seen),
            _ => break,
        }
    }
    seen
}

/// Visits at most `most` values of one payload. Returns how many were visited.
pub(crate) fn look_at(event: &Event<'_>, most: u64) -> u64 {
    let mut seen = 0;
    let mut fields = event.fields();
    for field in fields.by_ref() {
        seen += of_field(&field, most.saturating_sub(seen), event.payload().len());
        if seen >= most {
            break;
        }
    }
    assert!(fields.rest_offset() <= event.payload().len());
    seen
}

fn of_field(field: &FieldValue<'_>, most: u64, length: usize) -> u64 {
    assert!(field.offset <= length, "field at {} of {length}", field.offset);
    match &field.value {
        Ok(value) => of_value(value, most),
        Err(fault) => {
            assert!(fault.offset <= length, "fault at {} of {length}", fault.offset);
            1
        }
    }
}

pub(crate) fn of_value(value: &Value<'_>, most: u64) -> u64 {
    let mut seen = 1;
    if let Some(array) = value.as_array() {
        for element in array.iter() {
            if seen >= most {
                return seen;
            }
            seen += of_value(&element, most - seen);
        }
    } else if let Some(object) = value.as_object() {
        for field in object.fields() {
            if seen >= most {
                return seen;
            }
            match &field.value {
                Ok(value) => seen += of_value(value, most - seen),
                Err(_) => seen += 1,
            }
        }
    } else {
        assert!(!format!("{value:?}").is_empty());
        let _ = (value.as_u64(), value.as_i64(), value.as_f64(), value.to_text());
    }
    seen
}
