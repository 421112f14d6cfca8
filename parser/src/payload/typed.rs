//! Converts values to Rust types, or returns the reason why that is not possible.

use super::PayloadFault;
use super::array::Array;
use super::fields::FieldValue;
use super::object::Object;
use super::scalar::{DateTime, Decimal};
use super::text::{Utf8, Utf16};
use super::value::Value;
use nettrace_guid::Guid;
use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

/// Rust type to which the value of a field can be converted, for
/// [`Event::get`](crate::Event::get).
///
/// | type | accepts |
/// |---|---|
/// | `u8` … `u64`, `i8` … `i64`, `usize` | whole numbers of any width, addresses, code units and truth values, if the number fits |
/// | `f32`, `f64` | any number, rounded to the nearest |
/// | `bool`, `char` | a truth value, a UTF-16 code unit |
/// | `String`, `Cow<str>` | text of either encoding; UTF-8 is borrowed if it is well-formed |
/// | `&str` | well-formed UTF-8 only; .NET mostly writes UTF-16, which cannot be borrowed |
/// | [`Utf16`], [`Utf8`] | text of that encoding, borrowed |
/// | [`Guid`], [`Decimal`], [`DateTime`], [`SystemTime`] | a guid, a decimal number, a date |
/// | `&[u8]` | bytes |
/// | `Vec<T>`, [`Array`] | an array; `Vec<u8>` also accepts bytes |
/// | [`Object`] | the fields of an object |
/// | `Option<T>` | like `T`; `None` if the payload ends before the field |
/// | [`Value`] | all values |
///
/// A type of your own:
///
/// ```
/// use nettrace_parser::{FromValue, Reader, Value};
///
/// #[derive(Debug, PartialEq)]
/// struct Milliseconds(f64);
///
/// impl<'r> FromValue<'r> for Milliseconds {
///     const WANTED: &'static str = "a number of milliseconds";
///
///     fn from_value(value: Value<'r>) -> Option<Self> {
///         value.as_f64().map(Milliseconds)
///     }
/// }
///
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let event = reader.next_event()?.unwrap();
/// assert_eq!(event.get("n"), Ok(Milliseconds(5.0)));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
pub trait FromValue<'r>: Sized {
    /// Name of the expected type in messages, such as `"u32"`.
    const WANTED: &'static str;

    /// Converts a value, which may be [`Value::Absent`]. `None` if it has another type or does
    /// not fit.
    fn from_value(value: Value<'r>) -> Option<Self>;
}

macro_rules! whole_numbers {
    ($as:ident: $($number:ident)*) => {$(
        impl FromValue<'_> for $number {
            const WANTED: &'static str = stringify!($number);

            #[inline]
            fn from_value(value: Value<'_>) -> Option<Self> {
                value.$as()?.try_into().ok()
            }
        }
    )*};
}

whole_numbers!(as_u64: u8 u16 u32 u64 usize);
whole_numbers!(as_i64: i8 i16 i32 i64);

macro_rules! kinds {
    ($($wanted:literal $kind:ty: $as:expr;)*) => {$(
        impl<'r> FromValue<'r> for $kind {
            const WANTED: &'static str = $wanted;

            #[inline]
            fn from_value(value: Value<'r>) -> Option<Self> {
                let from: fn(Value<'r>) -> Option<Self> = $as;
                from(value)
            }
        }
    )*};
}

kinds! {
    "f64" f64: |value| value.as_f64();
    "f32" f32: |value| match value {
        Value::F32(value) => Some(value),
        value => value.as_f64().map(nearest),
    };
    "a truth value" bool: |value| value.as_bool();
    "a character" char: |value| value.as_char();
    "text" String: |value| value.to_text();
    "text" Cow<'r, str>: |value| match value {
        Value::Utf8(text) => Some(String::from_utf8_lossy(text.bytes())),
        value => value.to_text().map(Cow::Owned),
    };
    "text of well-formed UTF-8" &'r str: |value| value.as_utf8().and_then(|text| text.as_str());
    "text of UTF-16" Utf16<'r>: |value| value.as_utf16();
    "text of UTF-8" Utf8<'r>: |value| value.as_utf8();
    "a guid" Guid: |value| value.as_guid();
    "a decimal number" Decimal: |value| match value {
        Value::Decimal(value) => Some(value),
        _ => None,
    };
    "a date" DateTime: |value| value.as_date_time();
    "a date" SystemTime: |value| value.as_date_time().and_then(DateTime::to_system_time);
    "bytes" &'r [u8]: |value| value.as_bytes();
    "an array" Array<'r>: |value| value.as_array();
    "an object" Object<'r>: |value| value.as_object();
    "a value" Value<'r>: Some;
}

#[expect(clippy::cast_possible_truncation, reason = "the caller wants the value rounded")]
fn nearest(value: f64) -> f32 {
    value as f32
}

impl<'r, T: FromValue<'r>> FromValue<'r> for Option<T> {
    const WANTED: &'static str = T::WANTED;

    #[inline]
    fn from_value(value: Value<'r>) -> Option<Self> {
        if value.is_absent() { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl<'r, T: FromValue<'r>> FromValue<'r> for Vec<T> {
    const WANTED: &'static str = "an array";

    fn from_value(value: Value<'r>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => {
                bytes.iter().map(|byte| T::from_value(Value::U8(*byte))).collect()
            }
            Value::Array(array) => array.iter().map(T::from_value).collect(),
            _ => None,
        }
    }
}

/// Reason why a field has no value of the requested type.
///
/// ```
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let event = reader.next_event()?.unwrap();
/// let message = |error: nettrace_parser::FieldError| error.to_string();
/// assert_eq!(event.get::<u32>("N").map_err(message), Err("there is no field N".to_owned()));
/// assert_eq!(event.get::<u32>("s").map_err(message), Err("field s is text, not u32".to_owned()));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldError {
    /// The event's type has no field with this name, or nothing describes its payload.
    #[non_exhaustive]
    Missing {
        /// Requested name of a field.
        field: Box<str>,
    },
    /// The payload ends before the field, because an older writer had fewer fields. Request an
    /// `Option` to allow this.
    #[non_exhaustive]
    Absent {
        /// Name of the field.
        field: Box<str>,
    },
    /// The payload is broken at this field.
    #[non_exhaustive]
    Fault {
        /// Name of the field.
        field: Box<str>,
        /// Fault and its offset.
        fault: PayloadFault,
    },
    /// The value has another type, or does not fit.
    #[non_exhaustive]
    Type {
        /// Name of the field.
        field: Box<str>,
        /// Requested type, such as `u32`.
        wanted: &'static str,
        /// Actual type, such as `text`, or `the number 70000`.
        found: Box<str>,
    },
}

impl FieldError {
    /// Returns the name of the field.
    pub fn field(&self) -> &str {
        match self {
            FieldError::Missing { field }
            | FieldError::Absent { field }
            | FieldError::Fault { field, .. }
            | FieldError::Type { field, .. } => field,
        }
    }

    #[cold]
    pub(crate) fn missing(field: &str) -> FieldError {
        FieldError::Missing { field: field.into() }
    }

    #[cold]
    fn mismatch<'r, T: FromValue<'r>>(field: &str, value: &Value<'r>) -> FieldError {
        match value {
            Value::Absent => FieldError::Absent { field: field.into() },
            value => FieldError::Type {
                field: field.into(),
                wanted: T::WANTED,
                found: found(value).into(),
            },
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldError::Missing { field } => write!(f, "there is no field {field}"),
            FieldError::Absent { field } => write!(f, "the payload ends before field {field}"),
            FieldError::Fault { field, .. } => write!(f, "field {field} is broken"),
            FieldError::Type { field, wanted, found } => {
                write!(f, "field {field} is {found}, not {wanted}")
            }
        }
    }
}

impl std::error::Error for FieldError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FieldError::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }
}

/// Returns a description of a value for messages. This is its type, or the number itself, which may
/// be too large.
fn found(value: &Value<'_>) -> String {
    let kind = match value {
        Value::Absent => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Char(_) => "a character",
        Value::Guid(_) => "a guid",
        Value::DateTime(_) => "a date",
        Value::Utf16(_) | Value::Utf8(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
        number => return format!("the number {number}"),
    };
    kind.to_owned()
}

/// Converts the value of the field `name` to the requested type, or returns the reason why this is
/// not possible.
#[inline(always)]
pub(crate) fn typed<'r, T: FromValue<'r>>(
    name: &str,
    value: Option<Result<Value<'r>, PayloadFault>>,
) -> Result<T, FieldError> {
    match value {
        Some(Ok(value)) => {
            T::from_value(value).ok_or_else(|| FieldError::mismatch::<T>(name, &value))
        }
        Some(Err(fault)) => Err(FieldError::Fault { field: name.into(), fault }),
        None => Err(FieldError::missing(name)),
    }
}

impl<'r> FieldValue<'r> {
    /// Converts the value to a Rust type: see [`Event::get`](crate::Event::get).
    ///
    /// # Errors
    /// [`FieldError`] if the value has another type, is absent, or is broken.
    #[inline]
    pub fn to<T: FromValue<'r>>(&self) -> Result<T, FieldError> {
        typed(self.name(), Some(self.value))
    }
}

impl<'r> Object<'r> {
    /// Returns a field's value as a Rust type: see [`Event::get`](crate::Event::get).
    ///
    /// # Errors
    /// [`FieldError`] if the field does not exist, has another type, is absent, or is broken.
    pub fn get<T: FromValue<'r>>(&self, name: &str) -> Result<T, FieldError> {
        typed(name, self.fields().find(name).map(|field| field.value))
    }
}
