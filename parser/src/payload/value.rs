//! Represents the values of payloads.

use super::Cut;
use super::array::Array;
use super::object::Object;
use super::scalar::{DateTime, Decimal};
use super::text::{Utf8, Utf16};
use nettrace_guid::Guid;
use std::fmt::{self, Write};

/// Value of a payload, from which it is borrowed.
///
/// `Display` formats it for people. The `as_` functions return `None` unless the value has their
/// type; `as_u64`, `as_i64` and `as_f64` accept numbers of every width.
///
/// ```
/// use nettrace_parser::Value;
/// assert_eq!(Value::I16(-3).as_i64(), Some(-3));
/// assert_eq!(Value::I16(-3).as_u64(), None);
/// assert_eq!(Value::Pointer(0x7f00).to_string(), "0x7f00");
/// ```
///
/// Values are equal if their types and contents are. NaN is not equal to itself.
#[derive(Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value<'r> {
    /// No value, because an older writer had fewer fields, or omitted a null text.
    Absent,
    /// A boolean.
    Bool(bool),
    /// A UTF-16 code unit. Half of a surrogate pair is displayed as U+FFFD.
    Char(u16),
    /// A signed number of 8 bits.
    I8(i8),
    /// An unsigned number of 8 bits.
    U8(u8),
    /// A signed number of 16 bits.
    I16(i16),
    /// An unsigned number of 16 bits.
    U16(u16),
    /// A signed number of 32 bits.
    I32(i32),
    /// An unsigned number of 32 bits.
    U32(u32),
    /// A signed number of 64 bits, or a signed varint.
    I64(i64),
    /// An unsigned number of 64 bits, or an unsigned varint.
    U64(u64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A decimal number.
    Decimal(Decimal),
    /// An address, of 4 or 8 bytes.
    Pointer(u64),
    /// A GUID.
    Guid(Guid),
    /// A date.
    DateTime(DateTime),
    /// Text in UTF-16.
    Utf16(Utf16<'r>),
    /// Text in bytes that should be UTF-8.
    Utf8(Utf8<'r>),
    /// An array of bytes.
    Bytes(&'r [u8]),
    /// Elements of one type. Arrays of bytes and of code units are `Bytes`, `Utf8` and `Utf16`
    /// instead.
    Array(Array<'r>),
    /// An object, which has fields.
    Object(Object<'r>),
}

impl<'r> Value<'r> {
    /// Returns whether the value is [`Value::Absent`].
    pub fn is_absent(&self) -> bool {
        matches!(self, Value::Absent)
    }

    /// Converts a UTF-16 code unit to a character; half of a surrogate pair to U+FFFD.
    pub(super) fn as_char(&self) -> Option<char> {
        match *self {
            Value::Char(unit) => {
                Some(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ => None,
        }
    }

    /// Returns the bits of an integer or of an address, for display in hexadecimal.
    #[inline]
    pub fn to_bits(&self) -> Option<u64> {
        Some(match *self {
            Value::U8(number) => u64::from(number),
            Value::U16(number) => u64::from(number),
            Value::U32(number) => u64::from(number),
            Value::U64(number) | Value::Pointer(number) => number,
            Value::I8(number) => u64::from(number.cast_unsigned()),
            Value::I16(number) => u64::from(number.cast_unsigned()),
            Value::I32(number) => u64::from(number.cast_unsigned()),
            Value::I64(number) => number.cast_unsigned(),
            _ => return None,
        })
    }

    /// Returns the value if it is an integer that is not negative, an address, a code unit or a
    /// boolean.
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

    /// Returns the value if it is an integer, address, code unit or boolean that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::I8(value) => Some(i64::from(value)),
            Value::I16(value) => Some(i64::from(value)),
            Value::I32(value) => Some(i64::from(value)),
            Value::I64(value) => Some(value),
            _ => self.as_u64().and_then(|value| i64::try_from(value).ok()),
        }
    }

    /// Returns the value if it is a number of any type. Large integers are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::F32(value) => Some(f64::from(value)),
            Value::F64(value) => Some(value),
            Value::Decimal(value) => Some(f64::from(value)),
            Value::U64(value) | Value::Pointer(value) => Some(value as f64),
            _ => self.as_i64().map(|value| value as f64),
        }
    }

    /// Returns a copy of the value if it is a text of either encoding.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Value::Utf16(text) => Some(String::from(*text)),
            Value::Utf8(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Appends the value to a text, as `Display` formats it.
    pub fn append_to(&self, text: &mut String) {
        match self {
            Value::Utf16(value) => value.append_to(text),
            // Writing to a String cannot fail.
            value => drop(write!(text, "{value}")),
        }
    }
}

macro_rules! of_kind {
    ($(#[doc = $doc:literal] $name:ident $kind:ident $type:ty;)*) => {
        /// Access to values of one type.
        impl<'r> Value<'r> {$(
            #[doc = $doc]
            pub fn $name(&self) -> Option<$type> {
                match *self {
                    Value::$kind(value) => Some(value),
                    _ => None,
                }
            }
        )*}
    };
}

of_kind! {
    /// Returns the value if it is a boolean.
    as_bool Bool bool;
    /// Returns the value if it is a GUID.
    as_guid Guid Guid;
    /// Returns the value if it is a date.
    as_date_time DateTime DateTime;
    /// Returns the value if it is text in UTF-16.
    as_utf16 Utf16 Utf16<'r>;
    /// Returns the value if it is text in bytes that should be UTF-8.
    as_utf8 Utf8 Utf8<'r>;
    /// Returns the value if it is bytes.
    as_bytes Bytes &'r [u8];
    /// Returns the value if it is an object.
    as_object Object Object<'r>;
    /// Returns the value if it is an array.
    as_array Array Array<'r>;
}

impl fmt::Display for Value<'_> {
    /// Writes numbers in decimal, addresses in hexadecimal, dates as
    /// `2024-02-29T12:34:56.0080000Z`, bytes as hexadecimal digits, arrays as `[1, 2]`
    /// and objects as `{Name=value}`. Writes nothing for an absent value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Absent => Ok(()),
            Value::Bool(value) => value.fmt(f),
            Value::Char(_) => self.as_char().unwrap_or(char::REPLACEMENT_CHARACTER).fmt(f),
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

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value): (&str, &dyn fmt::Debug) = match self {
            Value::Absent => return f.write_str("Absent"),
            Value::Bool(value) => ("Bool", value),
            Value::Char(value) => ("Char", value),
            Value::I8(value) => ("I8", value),
            Value::U8(value) => ("U8", value),
            Value::I16(value) => ("I16", value),
            Value::U16(value) => ("U16", value),
            Value::I32(value) => ("I32", value),
            Value::U32(value) => ("U32", value),
            Value::I64(value) => ("I64", value),
            Value::U64(value) => ("U64", value),
            Value::F32(value) => ("F32", value),
            Value::F64(value) => ("F64", value),
            Value::Decimal(value) => ("Decimal", value),
            Value::Pointer(value) => ("Pointer", value),
            Value::Guid(value) => ("Guid", value),
            Value::DateTime(value) => ("DateTime", value),
            Value::Utf16(value) => ("Utf16", value),
            Value::Utf8(value) => ("Utf8", value),
            Value::Bytes(value) => ("Bytes", &Cut(value)),
            Value::Array(value) => ("Array", value),
            Value::Object(value) => ("Object", value),
        };
        f.debug_tuple(name).field(value).finish()
    }
}
