//! Values of payloads.

use super::extent::{Place, Walk};
use super::scalar::{DateTime, Decimal};
use super::text::{Utf8, Utf16};
use super::{FieldValue, PayloadFault, VALUE_LIMIT};
use crate::guid::Guid;
use crate::schema::{Field, FieldType};
use std::fmt;

/// One value of a payload, borrowed from it.
///
/// `Display` writes it as people read it; texts, arrays and objects may also be walked.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Value<'r> {
    /// The payload ends before the field: an older writer had fewer, or a null text was left out.
    Absent,
    /// True or false.
    Bool(bool),
    /// A UTF-16 code unit, perhaps half of a pair.
    Char(u16),
    /// A number.
    I8(i8),
    /// A number.
    U8(u8),
    /// A number.
    I16(i16),
    /// A number.
    U16(u16),
    /// A number.
    I32(i32),
    /// A number.
    U32(u32),
    /// A number; also of a zigzag varint.
    I64(i64),
    /// A number; also of a varint.
    U64(u64),
    /// A number.
    F32(f32),
    /// A number.
    F64(f64),
    /// A decimal number.
    Decimal(Decimal),
    /// An address.
    Pointer(u64),
    /// A guid.
    Guid(Guid),
    /// A date.
    DateTime(DateTime),
    /// Text of UTF-16 code units.
    Utf16(Utf16<'r>),
    /// Text of bytes that should be UTF-8.
    Utf8(Utf8<'r>),
    /// Bytes.
    Bytes(&'r [u8]),
    /// Elements of one type.
    Array(Array<'r>),
    /// Fields.
    Object(Object<'r>),
}

impl<'r> Value<'r> {
    /// A whole number that is not negative; addresses and truth values too.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Bool(value) => Some(u64::from(value)),
            Value::U8(value) => Some(u64::from(value)),
            Value::U16(value) | Value::Char(value) => Some(u64::from(value)),
            Value::U32(value) => Some(u64::from(value)),
            Value::U64(value) | Value::Pointer(value) => Some(value),
            Value::I8(value) => u64::try_from(value).ok(),
            Value::I16(value) => u64::try_from(value).ok(),
            Value::I32(value) => u64::try_from(value).ok(),
            Value::I64(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// A whole number, as far as it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::I8(value) => Some(i64::from(value)),
            Value::I16(value) => Some(i64::from(value)),
            Value::I32(value) => Some(i64::from(value)),
            Value::I64(value) => Some(value),
            _ => self.as_u64().and_then(|value| i64::try_from(value).ok()),
        }
    }

    /// Any number. Large ones are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::F32(value) => Some(f64::from(value)),
            Value::F64(value) => Some(value),
            Value::Decimal(value) => Some(value.to_f64()),
            Value::U64(value) | Value::Pointer(value) => Some(value as f64),
            _ => self.as_i64().map(|value| value as f64),
        }
    }

    /// The UTF-16 text.
    pub fn as_utf16(&self) -> Option<Utf16<'r>> {
        match *self {
            Value::Utf16(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a field of text, whatever its encoding.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Value::Utf16(text) => Some(text.to_string()),
            Value::Utf8(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// The fields of an object.
    pub fn as_object(&self) -> Option<Object<'r>> {
        match *self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<Array<'r>> {
        match *self {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Absent => Ok(()),
            Value::Bool(value) => value.fmt(f),
            Value::Char(unit) => {
                char::from_u32(u32::from(*unit)).unwrap_or(char::REPLACEMENT_CHARACTER).fmt(f)
            }
            Value::I8(value) => value.fmt(f),
            Value::U8(value) => value.fmt(f),
            Value::I16(value) => value.fmt(f),
            Value::U16(value) => value.fmt(f),
            Value::I32(value) => value.fmt(f),
            Value::U32(value) => value.fmt(f),
            Value::I64(value) => value.fmt(f),
            Value::U64(value) => value.fmt(f),
            Value::F32(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Decimal(value) => value.fmt(f),
            Value::Pointer(value) => write!(f, "{value:#x}"),
            Value::Guid(value) => value.fmt(f),
            Value::DateTime(value) => value.fmt(f),
            Value::Utf16(value) => value.fmt(f),
            Value::Utf8(value) => value.fmt(f),
            Value::Bytes(value) => value.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Value::Array(value) => value.fmt(f),
            Value::Object(value) => value.fmt(f),
        }
    }
}

/// Elements of one type, walked when they are asked for.
#[derive(Clone, Copy)]
pub struct Array<'r> {
    walk: Walk<'r>,
    element: &'r FieldType,
    count: u32,
    bytes: &'r [u8],
}

impl<'r> Array<'r> {
    pub(super) fn new(walk: Walk<'r>, element: &'r FieldType, count: u32, bytes: &'r [u8]) -> Array<'r> {
        Array { walk, element, count, bytes }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The type of the elements.
    pub fn element(&self) -> &'r FieldType {
        self.element
    }

    /// The bytes of all elements.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// The elements. They were found to be whole when the array was met.
    pub fn iter(&self) -> impl Iterator<Item = Value<'r>> + use<'r> {
        let Array { walk, element, count, bytes } = *self;
        let (mut at, mut budget) = (0usize, VALUE_LIMIT);
        (0..count).map_while(move |_| {
            let rest = bytes.get(at..)?;
            let (value, size) = match element {
                // An object within an array is whole; its members are not absent.
                FieldType::Object(fields) => {
                    let (size, _) = walk.record(fields, rest, Place::Element, &mut budget).ok()?;
                    (Value::Object(Object::new(walk, fields, rest.get(..size)?)), size)
                }
                element => walk.value(element, rest, &mut budget).ok()?,
            };
            at += size;
            Some(value)
        })
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().take(16)).finish()
    }
}

impl fmt::Display for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            value.fmt(f)?;
        }
        f.write_str("]")
    }
}

/// Fields within a field, walked when they are asked for.
#[derive(Clone, Copy)]
pub struct Object<'r> {
    walk: Walk<'r>,
    fields: &'r [Field],
    bytes: &'r [u8],
}

impl<'r> Object<'r> {
    pub(super) fn new(walk: Walk<'r>, fields: &'r [Field], bytes: &'r [u8]) -> Object<'r> {
        Object { walk, fields, bytes }
    }

    /// The fields, in payload order.
    pub fn fields(&self) -> impl Iterator<Item = FieldValue<'r>> + use<'r> {
        let Object { mut walk, fields, bytes } = *self;
        let offset_of_object = (bytes.as_ptr() as usize).saturating_sub(walk.payload.as_ptr() as usize);
        let (mut at, mut budget) = (0usize, VALUE_LIMIT);
        fields.iter().filter_map(move |field| {
            let rest = bytes.get(at..).unwrap_or_default();
            let offset = offset_of_object + at;
            if rest.is_empty() && !super::takes_no_bytes(&field.kind) {
                return Some(FieldValue { field, offset, value: Ok(Value::Absent) });
            }
            let value = match walk.value(&field.kind, rest, &mut budget) {
                Ok((value, size)) => {
                    at += size;
                    if let Some(register) = field.register {
                        walk.keep(register, &value);
                    }
                    Ok(value)
                }
                Err(fault) => {
                    at += walk.size_despite_fault(&field.kind, rest).unwrap_or(rest.len());
                    Err(PayloadFault { offset, fault })
                }
            };
            let is_padding = matches!(field.kind, FieldType::Padding(_));
            (!is_padding).then_some(FieldValue { field, offset, value })
        })
    }

    /// The value of a name.
    pub fn field(&self, name: &str) -> Option<Value<'r>> {
        self.fields().find(|field| field.name() == name).and_then(|field| field.value.ok())
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields().map(|field| (field.name(), field.value))).finish()
    }
}

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, field) in self.fields().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}=", field.name())?;
            match field.value {
                Ok(value) => value.fmt(f)?,
                Err(fault) => write!(f, "<{fault}>")?,
            }
        }
        f.write_str("}")
    }
}
