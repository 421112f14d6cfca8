//! Decodes values from the bytes of a payload.

use super::array::Array;
use super::extent::{Budget, Payload, Registers, Role};
use super::object::Object;
use super::scalar::{DateTime, Decimal};
use super::text::{Utf8, Utf16};
use super::value::Value;
use crate::bytes::{before, utf16_end, varint64, varuint64};
use crate::error::{Fault, located};
use crate::schema::FieldType;
use nettrace_guid::Guid;

impl<'r> Payload<'r> {
    /// Decodes the value of type `kind` at a position, and returns its size in bytes.
    #[inline]
    pub(super) fn value(
        &self,
        kind: &'r FieldType,
        at: usize,
        registers: &Registers,
        budget: &mut Budget,
    ) -> Result<(Value<'r>, usize), Fault> {
        Ok(match kind {
            FieldType::I32 => (Value::I32(self.number(at)?), 4),
            FieldType::U32 => (Value::U32(self.number(at)?), 4),
            FieldType::I64 => (Value::I64(self.number(at)?), 8),
            FieldType::U64 => (Value::U64(self.number(at)?), 8),
            FieldType::I16 => (Value::I16(self.number(at)?), 2),
            FieldType::U16 => (Value::U16(self.number(at)?), 2),
            FieldType::I8 => (Value::I8(self.number(at)?), 1),
            FieldType::U8 => (Value::U8(self.number(at)?), 1),
            FieldType::F32 => (Value::F32(self.number(at)?), 4),
            FieldType::F64 => (Value::F64(self.number(at)?), 8),
            FieldType::Pointer if self.reading.pointer_size() == 4 => {
                (Value::Pointer(u64::from(self.number::<u32>(at)?)), 4)
            }
            FieldType::Pointer => (Value::Pointer(self.number(at)?), 8),
            FieldType::Boolean32 if self.reading.boolean_size() == 4 => {
                (Value::Bool(self.number::<u32>(at)? != 0), 4)
            }
            FieldType::Boolean32 | FieldType::Boolean8 => {
                (Value::Bool(self.number::<u8>(at)? != 0), 1)
            }
            _ => return self.rare_value(kind, at, registers, budget),
        })
    }

    /// Returns the text at a position, and its size in bytes. The zero unit is `end` bytes after
    /// the position; `None` if the payload ends first.
    #[inline]
    pub(super) fn text(&self, at: usize, end: Option<usize>) -> (Value<'r>, usize) {
        let bytes = self.from(at);
        match end {
            Some(end) => (
                Value::Utf16(Utf16::new(bytes.get(..end).unwrap_or_default(), true)),
                end.saturating_add(2),
            ),
            None => {
                let units = bytes.get(..bytes.len() & !1).unwrap_or_default();
                (Value::Utf16(Utf16::new(units, false)), bytes.len())
            }
        }
    }

    /// Decodes a value of a rare type, or a value with parts.
    fn rare_value(
        &self,
        kind: &'r FieldType,
        at: usize,
        registers: &Registers,
        budget: &mut Budget,
    ) -> Result<(Value<'r>, usize), Fault> {
        let bytes = self.from(at);
        Ok(match kind {
            FieldType::Utf16Text => self.text(at, utf16_end(bytes)),
            FieldType::Utf16CodeUnit => (Value::Char(self.number(at)?), 2),
            FieldType::Utf8CodeUnit if !self.reading.counts_utf8() => {
                (Value::Utf8(Utf8::new(bytes.get(..1).ok_or(Fault::Truncated)?)), 1)
            }
            FieldType::Guid => (Value::Guid(Guid::from_bytes(self.number(at)?)), 16),
            FieldType::DateTime if self.reading.date_size() == 8 => {
                (Value::DateTime(DateTime::from_file_time(self.number(at)?)), 8)
            }
            FieldType::DateTime => {
                (Value::DateTime(DateTime::from_system_time(self.number(at)?)), 16)
            }
            FieldType::Decimal if self.reading.decimal_size() == 8 => {
                (Value::F64(self.number(at)?), 8)
            }
            FieldType::Decimal => (Value::Decimal(Decimal::from_words(self.number(at)?)), 16),
            FieldType::Padding(count) => {
                let count = usize::from(*count);
                (Value::Bytes(bytes.get(..count).ok_or(Fault::Truncated)?), count)
            }
            FieldType::VarInt => match varint64(bytes) {
                Ok((rest, value)) => (Value::I64(value), before(bytes, rest)),
                Err(error) => return Err(located(bytes, error).fault),
            },
            FieldType::VarUInt => match varuint64(bytes) {
                Ok((rest, value)) => (Value::U64(value), before(bytes, rest)),
                Err(error) => return Err(located(bytes, error).fault),
            },
            FieldType::AnsiText => {
                let end = bytes.iter().position(|byte| *byte == 0);
                let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                (Value::Utf8(Utf8::new(text)), end.map_or(bytes.len(), |end| end.saturating_add(1)))
            }
            FieldType::CountedUtf8 | FieldType::Utf8CodeUnit => {
                let size = usize::from(self.number::<u16>(at)?);
                let text =
                    bytes.get(2..).and_then(|rest| rest.get(..size)).ok_or(Fault::Truncated)?;
                (Value::Utf8(Utf8::new(text)), size + 2)
            }
            kind => return self.value_with_parts(kind, at, registers, budget),
        })
    }

    /// Decodes an array or an object.
    fn value_with_parts(
        &self,
        kind: &'r FieldType,
        at: usize,
        registers: &Registers,
        budget: &mut Budget,
    ) -> Result<(Value<'r>, usize), Fault> {
        Ok(match kind {
            FieldType::Array(element) => {
                let count = u32::from(self.number::<u16>(at)?);
                let from = at.saturating_add(2);
                let size = self.elements(element, count, from, budget)?;
                (self.array(element, count, from, size), size.saturating_add(2))
            }
            FieldType::FixedArray(element, count) => {
                let count = u32::from(*count);
                let size = self.elements(element, count, at, budget)?;
                (self.array(element, count, at, size), size)
            }
            FieldType::Repeated(element, count) => {
                let count = registers.count(*count);
                let size = self.elements(element, count, at, budget)?;
                (self.array(element, count, at, size), size)
            }
            FieldType::RelLoc(_) | FieldType::DataLoc(_) => {
                let there = self.locate(kind, at, budget)?;
                (
                    self.array(
                        there.element,
                        there.count,
                        there.start,
                        there.end.saturating_sub(there.start),
                    ),
                    4,
                )
            }
            FieldType::Object(fields) => {
                let size = self.extent(kind, at, registers, Role::Record, budget)?.size;
                (Value::Object(Object::new(*self, fields, at, at.saturating_add(size))), size)
            }
            _ => return Err(Fault::Truncated),
        })
    }

    /// Creates the value for an array: a text if the elements are code units, [`Value::Bytes`] if
    /// they are bytes, otherwise [`Value::Array`].
    fn array(&self, element: &'r FieldType, count: u32, at: usize, size: usize) -> Value<'r> {
        let bytes = self.from(at).get(..size).unwrap_or_default();
        match element {
            FieldType::Utf16CodeUnit => Value::Utf16(Utf16::new(bytes, true)),
            FieldType::Utf8CodeUnit => Value::Utf8(Utf8::new(bytes)),
            FieldType::U8 => Value::Bytes(bytes),
            _ => Value::Array(Array::new(*self, element, count, at, at.saturating_add(size))),
        }
    }
}
