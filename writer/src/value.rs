//! Values of payloads. A payload has them in the order of the fields, without alignment.

use std::collections::VecDeque;

use crate::bytes::{GuidBytes, Sink, count16};
use crate::field::{Field, FieldType};
use crate::trace::SysTime;

/// A value and the way it is stored ([FORMAT.md 8]).
///
/// The variant alone decides how a value is stored, so a payload need not agree with the fields of
/// its event type. [`Value::sample`] creates a value that agrees with a type.
///
/// ```
/// use nettrace_writer::{Step, Value, payload};
/// assert_eq!(payload(&["a".into(), 7_u16.into()]), [b'a', 0, 0, 0, 7, 0]);
/// let sold = Step::event(0, 0, 10, ["bread".into(), 3_i32.into()]);
/// ```
///
/// [FORMAT.md 8]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#8
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Values of an object's fields, one after the other.
    Object(Vec<Value>),
    /// A boolean of 4 bytes.
    Boolean32(bool),
    /// A boolean of one byte. It is a value for Boolean8, and for Boolean32 in self-describing
    /// events.
    Boolean8(bool),
    /// A UTF-16 code unit.
    Char(u16),
    /// A signed byte.
    I8(i8),
    /// A byte: an unsigned integer, or a UTF-8 code unit.
    U8(u8),
    /// A signed integer of 2 bytes.
    I16(i16),
    /// An unsigned integer of 2 bytes.
    U16(u16),
    /// A signed integer of 4 bytes.
    I32(i32),
    /// An unsigned integer of 4 bytes.
    U32(u32),
    /// A signed integer of 8 bytes.
    I64(i64),
    /// An unsigned integer of 8 bytes.
    U64(u64),
    /// A floating-point number of 4 bytes.
    F32(f32),
    /// A floating-point number of 8 bytes; also a decimal in a self-describing event.
    F64(f64),
    /// A decimal in the 16 bytes in which .NET stores it: flags, high 32 bits, low 64 bits.
    Decimal(Decimal),
    /// A time in 8 bytes: units of 100 ns since 1601-01-01 UTC.
    FileTime(u64),
    /// A date and time in 16 bytes: eight i16.
    SysTime(SysTime),
    /// The 16 bytes of a guid.
    Guid(GuidBytes),
    /// UTF-16 with a zero code unit at its end.
    Text(String),
    /// UTF-16 code units without a terminator.
    Units(Vec<u16>),
    /// An array: its number of elements as a u16, then the elements.
    Array(Vec<Value>),
    /// An array of fixed length: its elements without their number.
    FixedLengthArray(Vec<Value>),
    /// A signed integer, stored as a zigzag varint.
    VarInt(i64),
    /// An unsigned integer, stored as a varuint.
    VarUInt(u64),
    /// A u32 with the size and the place of elements. The place is counted from the end of the u32.
    /// The elements lie after all other values.
    RelLoc(Vec<Value>),
    /// A u32 with the size and the place of elements. The place is counted from the start of the
    /// payload. The elements lie after all other values.
    DataLoc(Vec<Value>),
    /// A text as the recorder one-collect writes it: its length in bytes as a u16, then UTF-8.
    CountedText(String),
    /// Bytes to write unchanged.
    Raw(Vec<u8>),
}

macro_rules! stored_as {
    ($($kind:ident($stored:ty) from $given:ty,)*) => {$(
        impl From<$given> for Value {
            #[doc = concat!("[`Value::", stringify!($kind), "`].")]
            fn from(value: $given) -> Self {
                Value::$kind(<$stored>::from(value))
            }
        }
    )*};
}

// `bool` is missing, because it is stored in one byte or in four.
stored_as! {
    I8(i8) from i8,
    U8(u8) from u8,
    I16(i16) from i16,
    U16(u16) from u16,
    I32(i32) from i32,
    U32(u32) from u32,
    I64(i64) from i64,
    U64(u64) from u64,
    F32(f32) from f32,
    F64(f64) from f64,
    Text(String) from &str,
    Text(String) from String,
    Guid(GuidBytes) from GuidBytes,
}

/// A .NET decimal: `mantissa / 10^scale`, of which 96 bits are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Whether the number is negative.
    pub is_negative: bool,
    /// Number of digits after the decimal point, 0 to 28.
    pub scale: u8,
    /// All digits of the number as an integer, below 2^96.
    pub mantissa: u128,
}

impl Value {
    /// Creates an array of UTF-8 code units: a text with its number of units before it, as a u16.
    pub fn utf8_array(text: &str) -> Self {
        Value::Array(text.bytes().map(Value::U8).collect())
    }

    /// Creates an array of UTF-16 code units: a text with its number of units before it, as a u16.
    pub fn utf16_array(text: &str) -> Self {
        Value::Array(text.encode_utf16().map(Value::Char).collect())
    }

    fn encode(&self, sink: &mut Sink, located: &mut Vec<Located>) {
        match self {
            Value::Object(values) | Value::FixedLengthArray(values) => {
                values.iter().for_each(|value| value.encode(sink, located));
            }
            Value::Array(values) => {
                sink.u16(count16(values.len()));
                values.iter().for_each(|value| value.encode(sink, located));
            }
            Value::RelLoc(values) | Value::DataLoc(values) => {
                let (mut data, mut inner) = (Sink::new(), Vec::new());
                values.iter().for_each(|value| value.encode(&mut data, &mut inner));
                let is_relative = matches!(self, Value::RelLoc(_));
                located.push(Located { at: sink.len(), is_relative, data: data.into_vec(), inner });
                sink.u32(0);
            }
            scalar => scalar.encode_scalar(sink),
        }
    }

    fn encode_scalar(&self, sink: &mut Sink) {
        match self {
            Value::Boolean32(value) => sink.u32(u32::from(*value)),
            Value::Boolean8(value) => sink.u8(u8::from(*value)),
            Value::Char(value) | Value::U16(value) => sink.u16(*value),
            Value::I8(value) => sink.i8(*value),
            Value::U8(value) => sink.u8(*value),
            Value::I16(value) => sink.i16(*value),
            Value::I32(value) => sink.i32(*value),
            Value::U32(value) => sink.u32(*value),
            Value::I64(value) => sink.i64(*value),
            Value::U64(value) | Value::FileTime(value) => sink.u64(*value),
            Value::F32(value) => sink.f32(*value),
            Value::F64(value) => sink.f64(*value),
            Value::Decimal(value) => {
                let flags = u32::from(value.scale) << 16 | u32::from(value.is_negative) << 31;
                sink.u32(flags).u32((value.mantissa >> 64) as u32).u64(value.mantissa as u64)
            }
            Value::SysTime(value) => {
                value.encode(sink);
                sink
            }
            Value::Guid(value) => sink.guid(value),
            Value::Text(value) => sink.utf16z(value),
            Value::Units(value) => sink.utf16(value),
            Value::VarInt(value) => sink.varint(*value),
            Value::VarUInt(value) => sink.varuint(*value),
            Value::CountedText(value) => sink.u16(count16(value.len())).raw(value.as_bytes()),
            Value::Raw(value) => sink.raw(value),
            Value::Object(_) | Value::Array(_) | Value::FixedLengthArray(_) => sink,
            Value::RelLoc(_) | Value::DataLoc(_) => sink,
        };
    }

    /// Creates a value of type `field_type` that depends on `seed`. Arrays have 0 to 3 elements.
    /// For [`FieldType::Code`] and [`FieldType::Raw`] the value is empty.
    pub fn sample(field_type: &FieldType, seed: u64) -> Value {
        let mut state = seed;
        Self::sample_with(field_type, &mut state)
    }

    fn sample_with(field_type: &FieldType, state: &mut u64) -> Value {
        let bits = next_random(state);
        let mut elements = |element: &FieldType, count: usize| -> Vec<Value> {
            (0..count).map(|_| Self::sample_with(element, state)).collect()
        };
        let few = (bits % 4) as usize;
        match field_type {
            FieldType::Object(fields) => Value::Object(Self::samples_with(fields, state)),
            FieldType::Boolean32 => Value::Boolean32(bits & 1 == 1),
            FieldType::Boolean8 => Value::Boolean8(bits & 1 == 1),
            FieldType::Char => Value::Char(bits as u16),
            FieldType::SByte => Value::I8(bits as i8),
            FieldType::Byte => Value::U8(bits as u8),
            FieldType::Utf8CodeUnit => Value::U8((bits & 0x7f) as u8),
            FieldType::Int16 => Value::I16(bits as i16),
            FieldType::UInt16 => Value::U16(bits as u16),
            FieldType::Int32 => Value::I32(bits as i32),
            FieldType::UInt32 => Value::U32(bits as u32),
            FieldType::Int64 => Value::I64(bits as i64),
            FieldType::UInt64 => Value::U64(bits),
            FieldType::Single => Value::F32(bits as i16 as f32 / 8.0),
            FieldType::Double => Value::F64(bits as i32 as f64 / 64.0),
            FieldType::Decimal => Value::Decimal(Decimal {
                is_negative: bits & 1 == 1,
                scale: (bits >> 1 & 0xf) as u8,
                mantissa: u128::from(bits),
            }),
            FieldType::DateTime => Value::FileTime(bits >> 6),
            FieldType::Guid => {
                Value::Guid((u128::from(bits) << 64 | u128::from(!bits)).to_le_bytes())
            }
            FieldType::Text => Value::Text(["", "a", "häh", "語 𝄞"][few].to_owned()),
            FieldType::Array(element) => Value::Array(elements(element, few)),
            FieldType::FixedLengthArray(element, count) => {
                Value::FixedLengthArray(elements(element, usize::from(*count)))
            }
            FieldType::RelLoc(element) => Value::RelLoc(elements(element, few)),
            FieldType::DataLoc(element) => Value::DataLoc(elements(element, few)),
            FieldType::VarInt => Value::VarInt(bits as i64 >> (bits >> 58)),
            FieldType::VarUInt => Value::VarUInt(bits >> (bits & 63)),
            FieldType::Code(_) | FieldType::Raw(_) => Value::Raw(Vec::new()),
        }
    }

    /// Creates a value for each of `fields`, as [`Value::sample`] does.
    pub fn samples(fields: &[Field], seed: u64) -> Vec<Value> {
        let mut state = seed;
        Self::samples_with(fields, &mut state)
    }

    fn samples_with(fields: &[Field], state: &mut u64) -> Vec<Value> {
        fields.iter().map(|field| Self::sample_with(&field.field_type, state)).collect()
    }
}

/// Returns the payload of `values`: one after the other without alignment, and the elements of
/// RelLoc and DataLoc at the end.
///
/// ```
/// use nettrace_writer::{Value, payload};
/// assert_eq!(payload(&[Value::U8(7), Value::Text("a".into())]), [7, b'a', 0, 0, 0]);
/// ```
///
/// # Panics
/// If an array has more than 65,535 elements, or if the elements of a RelLoc or DataLoc begin after
/// byte 65,535 or take more than 65,535 bytes.
pub fn payload(values: &[Value]) -> Vec<u8> {
    let mut sink = Sink::new();
    let mut located = Vec::new();
    values.iter().for_each(|value| value.encode(&mut sink, &mut located));
    let mut located = VecDeque::from(located);
    while let Some(next) = located.pop_front() {
        let Located { at, is_relative, data, inner } = next;
        let start = sink.len();
        let place = u32::from(count16(if is_relative { start - at - 4 } else { start }));
        let size = u32::from(count16(data.len()));
        sink.patch(at, &(size << 16 | place).to_le_bytes()).raw(&data);
        located.extend(inner.into_iter().map(|inner| Located { at: start + inner.at, ..inner }));
    }
    sink.into_vec()
}

/// Elements of a RelLoc or DataLoc that have no place in the payload yet.
struct Located {
    /// Offset of the u32 from the start of the bytes that contain it.
    at: usize,
    is_relative: bool,
    data: Vec<u8>,
    /// RelLocs and DataLocs among the elements.
    inner: Vec<Located>,
}

/// Returns the next number of the splitmix64 generator.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn located_data_lies_behind_all_other_values() {
        let values = [Value::U8(9), Value::RelLoc(vec![Value::U8(1), Value::U8(2)]), Value::U8(8)];
        // RelLoc at 1, counted from 5; the data lies at 6.
        assert_eq!(payload(&values), [9, 1, 0, 2, 0, 8, 1, 2]);
        let values = [Value::U8(9), Value::DataLoc(vec![Value::U16(0x201)]), Value::U8(8)];
        assert_eq!(payload(&values), [9, 6, 0, 2, 0, 8, 1, 2]);
    }

    #[test]
    fn elements_of_located_data_may_be_located_themselves() {
        let inner = Value::RelLoc(vec![Value::U8(7)]);
        let values =
            [Value::DataLoc(vec![inner, Value::DataLoc(vec![Value::U8(8)])]), Value::U8(1)];
        // DataLoc at 0 to 5; its elements at 5 (counted from 9) and at 9; their data at
        // 13 and 14.
        let expected = [5, 0, 8, 0, 1, 4, 0, 1, 0, 14, 0, 1, 0, 7, 8];
        assert_eq!(payload(&values), expected);
    }

    #[test]
    fn a_decimal_is_flags_high_and_low_bits() {
        let value = Decimal { is_negative: true, scale: 2, mantissa: 1 << 64 | 5 };
        let expected = [0, 0, 2, 0x80, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(payload(&[Value::Decimal(value)]), expected);
    }

    #[test]
    fn text_is_stored_with_a_terminator_or_a_count() {
        assert_eq!(payload(&[Value::Text("a".into())]), [b'a', 0, 0, 0]);
        assert_eq!(payload(&[Value::utf8_array("ok")]), [2, 0, b'o', b'k']);
        assert_eq!(payload(&[Value::utf16_array("o")]), [1, 0, b'o', 0]);
    }

    #[test]
    fn samples_depend_on_the_seed_alone() {
        let fields = [Field::new("a", FieldType::UInt64), Field::new("b", FieldType::Text.array())];
        assert_eq!(Value::samples(&fields, 7), Value::samples(&fields, 7));
        assert_ne!(Value::samples(&fields, 7), Value::samples(&fields, 8));
    }
}
