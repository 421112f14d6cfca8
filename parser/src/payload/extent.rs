//! How many bytes a value takes, and the walk that finds out.

use super::reading::Reading;
use super::scalar::{DateTime, Decimal};
use super::text::{Utf8, Utf16};
use super::value::{Array, Object, Value};
use crate::error::{Fault, located};
use crate::guid::Guid;
use crate::primitive::{utf16_end, varint64, varuint64};
use crate::schema::{Count, Field, FieldType, Register};

/// Values that later fields count their elements by.
const REGISTERS: usize = 8;

/// What a walk through a payload knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<'r> {
    /// The whole payload: `DataLoc` counts from its beginning.
    pub(super) payload: &'r [u8],
    pub(super) reading: Reading,
    registers: [u32; REGISTERS],
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A field of an object: fields at its end may be absent.
    Record,
    /// An element: all of it is there.
    Element,
}

fn spend(budget: &mut u32, values: u64) -> Result<(), Fault> {
    match u32::try_from(values).ok().and_then(|values| budget.checked_sub(values)) {
        Some(left) => {
            *budget = left;
            Ok(())
        }
        None => Err(Fault::ValueLimit),
    }
}

fn first<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Fault> {
    bytes.first_chunk().copied().ok_or(Fault::Truncated)
}

impl<'r> Walk<'r> {
    pub(super) fn new(payload: &'r [u8], reading: Reading) -> Walk<'r> {
        Walk { payload, reading, registers: [0; REGISTERS] }
    }

    /// Remembers a value that a later field counts by.
    pub(super) fn keep(&mut self, register: Register, value: &Value<'_>) {
        let count = value.as_u64().unwrap_or(0);
        if let Some(place) = self.registers.get_mut(usize::from(register)) {
            *place = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }

    fn count(&self, count: Count) -> u32 {
        match count {
            Count::Fixed(count) => count,
            Count::Earlier { register } => self.registers.get(usize::from(register)).copied().unwrap_or(0),
        }
    }

    /// Bytes of a value of a type whose values all take as many, types of many parts left out.
    #[inline]
    fn scalar_size(&self, kind: &FieldType) -> Option<usize> {
        Some(match kind {
            FieldType::Boolean8 | FieldType::I8 | FieldType::U8 => 1,
            FieldType::Utf8CodeUnit if !self.reading.counts_utf8 => 1,
            FieldType::Utf16CodeUnit | FieldType::I16 | FieldType::U16 => 2,
            FieldType::I32 | FieldType::U32 | FieldType::F32 => 4,
            FieldType::RelLoc(_) | FieldType::DataLoc(_) => 4,
            FieldType::I64 | FieldType::U64 | FieldType::F64 => 8,
            FieldType::Guid => 16,
            FieldType::Boolean32 => usize::from(self.reading.boolean_bytes),
            FieldType::DateTime => usize::from(self.reading.date_bytes),
            FieldType::Decimal => usize::from(self.reading.decimal_bytes),
            FieldType::Pointer => usize::from(self.reading.pointer_size),
            FieldType::Padding(bytes) => usize::from(*bytes),
            _ => return None,
        })
    }

    /// Bytes of any value of a type, if all take as many, and how many values one holds.
    fn fixed(&self, kind: &FieldType) -> Option<(u64, u64)> {
        match kind {
            FieldType::Object(fields) => fields.iter().try_fold((0u64, 1u64), |(size, values), field| {
                let (field_size, field_values) = self.fixed(&field.kind)?;
                Some((size.checked_add(field_size)?, values.checked_add(field_values)?))
            }),
            FieldType::FixedArray(element, count) => self.fixed_elements(element, u64::from(*count)),
            FieldType::Repeated(element, Count::Fixed(count)) => {
                self.fixed_elements(element, u64::from(*count))
            }
            kind => self.scalar_size(kind).map(|size| (size as u64, 1)),
        }
    }

    fn fixed_elements(&self, element: &FieldType, count: u64) -> Option<(u64, u64)> {
        let (size, values) = self.fixed(element)?;
        Some((size.checked_mul(count)?, values.checked_mul(count)?.checked_add(1)?))
    }

    /// Bytes of `count` elements at the beginning of `bytes`.
    fn elements(
        &self,
        element: &FieldType,
        count: u64,
        bytes: &[u8],
        budget: &mut u32,
    ) -> Result<usize, Fault> {
        if let Some((size, values)) = self.fixed_elements(element, count) {
            spend(budget, values)?;
            return match usize::try_from(size) {
                Ok(size) if size <= bytes.len() => Ok(size),
                _ => Err(Fault::Truncated),
            };
        }
        let mut at = 0usize;
        for _ in 0..count {
            let rest = bytes.get(at..).unwrap_or_default();
            at += self.extent(element, rest, Place::Element, budget)?;
        }
        Ok(at)
    }

    /// Bytes of the value of `kind` at the beginning of `bytes`.
    pub(super) fn extent(
        &self,
        kind: &FieldType,
        bytes: &[u8],
        place: Place,
        budget: &mut u32,
    ) -> Result<usize, Fault> {
        if let Some(size) = self.scalar_size(kind) {
            spend(budget, 1)?;
            return if size <= bytes.len() { Ok(size) } else { Err(Fault::Truncated) };
        }
        match kind {
            // A text may be cut off by the payload's end, but an element is not absent.
            FieldType::Utf16Text | FieldType::AnsiText if bytes.is_empty() && place == Place::Element => {
                Err(Fault::Truncated)
            }
            FieldType::Utf16Text => {
                spend(budget, 1)?;
                Ok(utf16_end(bytes).map_or(bytes.len(), |end| end + 2))
            }
            FieldType::AnsiText => {
                spend(budget, 1)?;
                Ok(bytes.iter().position(|byte| *byte == 0).map_or(bytes.len(), |end| end + 1))
            }
            FieldType::CountedUtf8 | FieldType::Utf8CodeUnit => {
                spend(budget, 1)?;
                let size = 2 + usize::from(u16::from_le_bytes(first(bytes)?));
                if size <= bytes.len() { Ok(size) } else { Err(Fault::Truncated) }
            }
            FieldType::VarInt | FieldType::VarUInt => {
                spend(budget, 1)?;
                match varuint64(bytes) {
                    Ok((rest, _)) => Ok(bytes.len() - rest.len()),
                    Err(error) => Err(located(bytes, error).fault),
                }
            }
            FieldType::Array(element) => {
                let count = u64::from(u16::from_le_bytes(first(bytes)?));
                let elements = bytes.get(2..).unwrap_or_default();
                Ok(2 + self.elements(element, count, elements, budget)?)
            }
            FieldType::FixedArray(element, count) => self.elements(element, u64::from(*count), bytes, budget),
            FieldType::Repeated(element, count) => {
                self.elements(element, u64::from(self.count(*count)), bytes, budget)
            }
            FieldType::Object(fields) => {
                spend(budget, 1)?;
                Ok(self.record(fields, bytes, place, budget)?.0)
            }
            // All others have a size of their own.
            _ => Err(Fault::Truncated),
        }
    }

    /// Bytes of a run of fields, and whether all are there.
    pub(super) fn record(
        &self,
        fields: &[Field],
        bytes: &[u8],
        place: Place,
        budget: &mut u32,
    ) -> Result<(usize, bool), Fault> {
        let mut walk = *self;
        let mut at = 0usize;
        let mut is_whole = true;
        for field in fields {
            let rest = bytes.get(at..).unwrap_or_default();
            if rest.is_empty() && place == Place::Record && !super::takes_no_bytes(&field.kind) {
                is_whole = false;
                continue;
            }
            let size = walk.extent(&field.kind, rest, place, budget)?;
            if let Some(register) = field.register {
                let (value, _) = walk.value(&field.kind, rest, budget)?;
                walk.keep(register, &value);
            }
            at += size;
        }
        Ok((at, is_whole))
    }

    /// The bytes a bad field takes all the same, if that is known: then those behind it are found.
    pub(super) fn size_despite_fault(&self, kind: &FieldType, bytes: &[u8]) -> Option<usize> {
        let (size, _) = self.fixed(kind)?;
        usize::try_from(size).ok().filter(|size| *size <= bytes.len())
    }

    /// The value of `kind` at the beginning of `bytes`, and the bytes it takes.
    #[inline]
    pub(super) fn value(
        &self,
        kind: &'r FieldType,
        bytes: &'r [u8],
        budget: &mut u32,
    ) -> Result<(Value<'r>, usize), Fault> {
        Ok(match kind {
            FieldType::Utf16Text => {
                let end = utf16_end(bytes);
                // Without a terminator: what is there, whole units of it.
                let text = bytes.get(..end.unwrap_or(bytes.len() & !1)).unwrap_or_default();
                (Value::Utf16(Utf16::new(text, end.is_some())), end.map_or(bytes.len(), |end| end + 2))
            }
            FieldType::I32 => (Value::I32(i32::from_le_bytes(first(bytes)?)), 4),
            FieldType::U32 => (Value::U32(u32::from_le_bytes(first(bytes)?)), 4),
            FieldType::I64 => (Value::I64(i64::from_le_bytes(first(bytes)?)), 8),
            FieldType::U64 => (Value::U64(u64::from_le_bytes(first(bytes)?)), 8),
            FieldType::I16 => (Value::I16(i16::from_le_bytes(first(bytes)?)), 2),
            FieldType::U16 => (Value::U16(u16::from_le_bytes(first(bytes)?)), 2),
            FieldType::I8 => (Value::I8(i8::from_le_bytes(first(bytes)?)), 1),
            FieldType::U8 => (Value::U8(u8::from_le_bytes(first(bytes)?)), 1),
            FieldType::F32 => (Value::F32(f32::from_le_bytes(first(bytes)?)), 4),
            FieldType::F64 => (Value::F64(f64::from_le_bytes(first(bytes)?)), 8),
            FieldType::Pointer if self.reading.pointer_size == 4 => {
                (Value::Pointer(u64::from(u32::from_le_bytes(first(bytes)?))), 4)
            }
            FieldType::Pointer => (Value::Pointer(u64::from_le_bytes(first(bytes)?)), 8),
            FieldType::Boolean32 if self.reading.boolean_bytes == 4 => {
                (Value::Bool(u32::from_le_bytes(first(bytes)?) != 0), 4)
            }
            FieldType::Boolean32 | FieldType::Boolean8 => {
                (Value::Bool(u8::from_le_bytes(first(bytes)?) != 0), 1)
            }
            FieldType::Utf16CodeUnit => (Value::Char(u16::from_le_bytes(first(bytes)?)), 2),
            FieldType::Utf8CodeUnit if !self.reading.counts_utf8 => {
                (Value::Utf8(Utf8::new(bytes.get(..1).ok_or(Fault::Truncated)?)), 1)
            }
            FieldType::Guid => (Value::Guid(Guid::from_bytes(first(bytes)?)), 16),
            FieldType::DateTime if self.reading.date_bytes == 8 => {
                (Value::DateTime(DateTime::from_file_time(u64::from_le_bytes(first(bytes)?))), 8)
            }
            FieldType::DateTime => (Value::DateTime(DateTime::from_system_time(first(bytes)?)), 16),
            FieldType::Decimal if self.reading.decimal_bytes == 8 => {
                (Value::F64(f64::from_le_bytes(first(bytes)?)), 8)
            }
            FieldType::Decimal => (Value::Decimal(Decimal::from_bytes(first(bytes)?)), 16),
            FieldType::Padding(count) => {
                let count = usize::from(*count);
                (Value::Bytes(bytes.get(..count).ok_or(Fault::Truncated)?), count)
            }
            _ => return self.long_value(kind, bytes, budget),
        })
    }

    /// Values of many parts, and the rare ones.
    fn long_value(
        &self,
        kind: &'r FieldType,
        bytes: &'r [u8],
        budget: &mut u32,
    ) -> Result<(Value<'r>, usize), Fault> {
        match kind {
            FieldType::VarInt => match varint64(bytes) {
                Ok((rest, value)) => Ok((Value::I64(value), bytes.len() - rest.len())),
                Err(error) => Err(located(bytes, error).fault),
            },
            FieldType::VarUInt => match varuint64(bytes) {
                Ok((rest, value)) => Ok((Value::U64(value), bytes.len() - rest.len())),
                Err(error) => Err(located(bytes, error).fault),
            },
            FieldType::AnsiText => {
                let end = bytes.iter().position(|byte| *byte == 0);
                let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                Ok((Value::Utf8(Utf8::new(text)), end.map_or(bytes.len(), |end| end + 1)))
            }
            FieldType::CountedUtf8 | FieldType::Utf8CodeUnit => {
                let size = usize::from(u16::from_le_bytes(first(bytes)?));
                let text = bytes.get(2..).and_then(|rest| rest.get(..size)).ok_or(Fault::Truncated)?;
                Ok((Value::Utf8(Utf8::new(text)), size + 2))
            }
            FieldType::Array(element) => {
                let count = u16::from_le_bytes(first(bytes)?);
                let elements = bytes.get(2..).unwrap_or_default();
                let size = self.elements(element, u64::from(count), elements, budget)?;
                let elements = elements.get(..size).unwrap_or_default();
                Ok((self.array(element, u32::from(count), elements), size + 2))
            }
            FieldType::FixedArray(element, count) => self.counted(element, u32::from(*count), bytes, budget),
            FieldType::Repeated(element, count) => self.counted(element, self.count(*count), bytes, budget),
            FieldType::RelLoc(element) => self.located(element, bytes, self.behind_location(bytes), budget),
            FieldType::DataLoc(element) => self.located(element, bytes, Some(self.payload), budget),
            FieldType::Object(fields) => {
                let size = self.extent(kind, bytes, Place::Record, budget)?;
                let own = bytes.get(..size).unwrap_or_default();
                Ok((Value::Object(Object::new(*self, fields, own)), size))
            }
            _ => Err(Fault::Truncated),
        }
    }

    fn counted(
        &self,
        element: &'r FieldType,
        count: u32,
        bytes: &'r [u8],
        budget: &mut u32,
    ) -> Result<(Value<'r>, usize), Fault> {
        let size = self.elements(element, u64::from(count), bytes, budget)?;
        Ok((self.array(element, count, bytes.get(..size).unwrap_or_default()), size))
    }

    /// The payload from behind a location at the beginning of `bytes`, which are some of it: what is
    /// located from within an object lies outside of it.
    fn behind_location(&self, bytes: &[u8]) -> Option<&'r [u8]> {
        let offset = (bytes.as_ptr() as usize).checked_sub(self.payload.as_ptr() as usize)?;
        self.payload.get(offset.checked_add(4)?..)
    }

    /// Elements that lie elsewhere: u16 position, counted from `base`, and u16 size in bytes.
    fn located(
        &self,
        element: &'r FieldType,
        bytes: &[u8],
        base: Option<&'r [u8]>,
        budget: &mut u32,
    ) -> Result<(Value<'r>, usize), Fault> {
        let [a, b, c, d] = first(bytes)?;
        let (position, size) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let outside = Fault::Location { position, size };
        let elements = base
            .and_then(|base| base.get(usize::from(position)..))
            .and_then(|rest| rest.get(..usize::from(size)))
            .ok_or(outside)?;
        let (element_size, values) = self.fixed(element).ok_or(outside)?;
        let count = match (u64::from(size), element_size) {
            (0, 0) => 0,
            (_, 0) => return Err(outside),
            (size, element_size) if size % element_size == 0 => size / element_size,
            _ => return Err(outside),
        };
        spend(budget, count.saturating_mul(values))?;
        Ok((self.array(element, u32::try_from(count).unwrap_or(0), elements), 4))
    }

    /// Arrays of code units are text, arrays of bytes are bytes.
    fn array(&self, element: &'r FieldType, count: u32, bytes: &'r [u8]) -> Value<'r> {
        match element {
            FieldType::Utf16CodeUnit => Value::Utf16(Utf16::new(bytes, true)),
            FieldType::Utf8CodeUnit if !self.reading.counts_utf8 => Value::Utf8(Utf8::new(bytes)),
            FieldType::U8 => Value::Bytes(bytes),
            _ => Value::Array(Array::new(*self, element, count, bytes)),
        }
    }
}
