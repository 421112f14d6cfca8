//! Fields of an event type, and the three forms of field lists in metadata.

use crate::bytes::{Sink, count16, count32};

/// A field of an event type. [`FieldForm`] lists the forms in which metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the field; may be empty.
    pub name: String,
    /// Type of the field's values.
    pub field_type: FieldType,
    /// Size to write before the field's description instead of the correct one. Only
    /// [`FieldForm::V2`] and [`FieldForm::V6`] have a size.
    pub size: Option<u32>,
    /// Bytes to append to the field's description. Only [`FieldForm::V2`] and [`FieldForm::V6`]
    /// have a size that counts them.
    pub extra: Vec<u8>,
}

impl Field {
    /// Creates a field whose description has the correct size and no extra bytes.
    pub fn new(name: &str, field_type: FieldType) -> Self {
        Field { name: name.to_owned(), field_type, size: None, extra: Vec::new() }
    }
}

/// Type of a field ([FORMAT.md 8]). [`FieldType::is_allowed_in`] says which field lists can
/// describe it; types marked V6 exist only in version 6.
///
/// [FORMAT.md 8]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#8
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// Type code 1: an object, whose fields are stored one after the other.
    Object(Vec<Field>),
    /// Type code 3: a boolean of 4 bytes.
    Boolean32,
    /// Type code 4: a UTF-16 code unit.
    Char,
    /// Type code 5: a signed integer of one byte.
    SByte,
    /// Type code 6: an unsigned integer of one byte.
    Byte,
    /// Type code 7: a signed integer of 2 bytes.
    Int16,
    /// Type code 8: an unsigned integer of 2 bytes.
    UInt16,
    /// Type code 9: a signed integer of 4 bytes.
    Int32,
    /// Type code 10: an unsigned integer of 4 bytes.
    UInt32,
    /// Type code 11: a signed integer of 8 bytes.
    Int64,
    /// Type code 12: an unsigned integer of 8 bytes.
    UInt64,
    /// Type code 13: a floating-point number of 4 bytes.
    Single,
    /// Type code 14: a floating-point number of 8 bytes.
    Double,
    /// Type code 15: a [`Decimal`](crate::Decimal) of 16 bytes.
    Decimal,
    /// Type code 16: a time of 8 bytes, in units of 100 ns since 1601-01-01 UTC.
    DateTime,
    /// Type code 17: the 16 bytes of a guid.
    Guid,
    /// Type code 18: UTF-16 with a zero unit at its end.
    Text,
    /// Type code 19: an array, which has a u16 count of elements, then the elements.
    Array(Box<FieldType>),
    /// Type code 20 (V6): a signed integer, stored as a zigzag number with 7 bits in each byte.
    VarInt,
    /// Type code 21 (V6): an unsigned integer with 7 bits in each byte.
    VarUInt,
    /// Type code 22 (V6): an array whose type has the number of elements.
    FixedLengthArray(Box<FieldType>, u16),
    /// Type code 23 (V6): one byte of UTF-8.
    Utf8CodeUnit,
    /// Type code 24 (V6): a u32 with the size and the place of elements. The place is counted from
    /// the end of the u32.
    RelLoc(Box<FieldType>),
    /// Type code 25 (V6): a u32 with the size and the place of elements. The place is counted from
    /// the start of the payload.
    DataLoc(Box<FieldType>),
    /// Type code 26 (V6): a boolean of one byte.
    Boolean8,
    /// A type code to write with nothing after it, even if it needs more.
    Code(u8),
    /// Bytes to write in the place of the type.
    Raw(Vec<u8>),
}

/// The three forms of field lists ([FORMAT.md 6.5], 6.7, 7.3):
///
/// | form | list | field |
/// |---|---|---|
/// | V1 (versions 3–5) | i32 count | i32 type code, (1: nested V1 list), name utf16z |
/// | V2 (tag of version 5) | i32 count | i32 size with itself, name utf16z, i32 type code, (19: element; 1: nested V2 list) |
/// | V6 | u16 count | u16 size without itself, name string, u8 type code, (19, 24, 25: element; 22: element, u16 count; 1: nested list) |
///
/// ```
/// use nettrace_writer::{Field, FieldForm, FieldType, Sink, encode_fields};
/// let mut sink = Sink::new();
/// encode_fields(&mut sink, &[Field::new("n", FieldType::Int32)], None, FieldForm::V6);
/// assert_eq!(sink.as_slice(), [1, 0, 3, 0, 1, b'n', 9]);
/// ```
///
/// [FORMAT.md 6.5]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldForm {
    /// Field list of versions 3 to 5. Each field has its type first and its name last.
    V1,
    /// Field list of the tag V2Params. Each field has its size, its name and its type.
    V2,
    /// Field list of version 6. Each field has its size, its name and its type, all encoded in
    /// fewer bytes than in V2.
    V6,
}

impl FieldType {
    /// Returns the type of an array of this type.
    pub fn array(self) -> Self {
        FieldType::Array(Box::new(self))
    }

    /// Returns the type code; 0 for [`FieldType::Raw`].
    pub fn code(&self) -> u8 {
        match self {
            FieldType::Object(_) => 1,
            FieldType::Boolean32 => 3,
            FieldType::Char => 4,
            FieldType::SByte => 5,
            FieldType::Byte => 6,
            FieldType::Int16 => 7,
            FieldType::UInt16 => 8,
            FieldType::Int32 => 9,
            FieldType::UInt32 => 10,
            FieldType::Int64 => 11,
            FieldType::UInt64 => 12,
            FieldType::Single => 13,
            FieldType::Double => 14,
            FieldType::Decimal => 15,
            FieldType::DateTime => 16,
            FieldType::Guid => 17,
            FieldType::Text => 18,
            FieldType::Array(_) => 19,
            FieldType::VarInt => 20,
            FieldType::VarUInt => 21,
            FieldType::FixedLengthArray(..) => 22,
            FieldType::Utf8CodeUnit => 23,
            FieldType::RelLoc(_) => 24,
            FieldType::DataLoc(_) => 25,
            FieldType::Boolean8 => 26,
            FieldType::Code(code) => *code,
            FieldType::Raw(_) => 0,
        }
    }

    /// Returns whether a field list of this form can describe the type.
    pub fn is_allowed_in(&self, form: FieldForm) -> bool {
        match self {
            FieldType::Object(fields) => {
                fields.iter().all(|field| field.field_type.is_allowed_in(form))
            }
            FieldType::Array(element) => form != FieldForm::V1 && element.is_allowed_in(form),
            FieldType::FixedLengthArray(element, _) => {
                form == FieldForm::V6 && element.is_allowed_in(form) && element.is_fixed_size()
            }
            FieldType::RelLoc(element) | FieldType::DataLoc(element) => {
                form == FieldForm::V6 && element.is_allowed_in(form) && element.is_fixed_size()
            }
            FieldType::Code(_) | FieldType::Raw(_) => false,
            simple => simple.code() <= 18 || form == FieldForm::V6,
        }
    }

    /// Returns whether every value of this type has the same size.
    pub fn is_fixed_size(&self) -> bool {
        match self {
            FieldType::Object(fields) => {
                fields.iter().all(|field| field.field_type.is_fixed_size())
            }
            FieldType::FixedLengthArray(element, _) => element.is_fixed_size(),
            FieldType::Text | FieldType::Array(_) | FieldType::VarInt | FieldType::VarUInt => false,
            FieldType::Code(_) | FieldType::Raw(_) => false,
            _ => true,
        }
    }

    fn encode(&self, sink: &mut Sink, form: FieldForm) {
        if let FieldType::Raw(bytes) = self {
            sink.raw(bytes);
            return;
        }
        match form {
            FieldForm::V6 => sink.u8(self.code()),
            FieldForm::V1 | FieldForm::V2 => sink.i32(i32::from(self.code())),
        };
        match self {
            FieldType::Object(fields) => encode_fields(sink, fields, None, form),
            FieldType::Array(element)
            | FieldType::RelLoc(element)
            | FieldType::DataLoc(element) => {
                element.encode(sink, form);
            }
            FieldType::FixedLengthArray(element, count) => {
                element.encode(sink, form);
                sink.u16(*count);
            }
            _ => {}
        }
    }
}

/// Writes a field list: the number of fields and the fields. `count` replaces the number if it is
/// given.
pub fn encode_fields(sink: &mut Sink, fields: &[Field], count: Option<u32>, form: FieldForm) {
    match (form, count) {
        (FieldForm::V6, Some(count)) => sink.u16(count as u16),
        (FieldForm::V6, None) => sink.u16(count16(fields.len())),
        (_, count) => sink.u32(count.unwrap_or_else(|| count32(fields.len()))),
    };
    for field in fields {
        let mut rest = Sink::new();
        match form {
            FieldForm::V1 => {
                field.field_type.encode(sink, form);
                sink.utf16z(&field.name);
                continue;
            }
            FieldForm::V2 => rest.utf16z(&field.name),
            FieldForm::V6 => rest.string(&field.name),
        };
        field.field_type.encode(&mut rest, form);
        rest.raw(&field.extra);
        match (form, field.size) {
            (FieldForm::V6, Some(size)) => sink.u16(size as u16),
            (FieldForm::V6, None) => sink.u16(count16(rest.len())),
            (_, size) => sink.u32(size.unwrap_or_else(|| count32(rest.len() + 4))),
        };
        sink.raw(rest.as_slice());
    }
}
