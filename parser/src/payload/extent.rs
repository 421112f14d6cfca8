//! Computes the size of values in bytes.
//!
//! | function | computes the size of | condition or method |
//! |---|---|---|
//! | `scalar_size` | value without parts | if all values of its type have one size |
//! | `fixed`, `fixed_elements` | any value, or a number of elements | if the type alone determines it |
//! | `stride` | element of an array | if all elements are objects of one size without `RelLoc` and `DataLoc` |
//! | `extent` | any value at a position | by the functions below |
//! | `simple_extent` | text, varint, `RelLoc`, `DataLoc` | by its bytes |
//! | `elements`, `simple_objects` | a number of elements at a position | all at once where possible, else one by one |
//! | `record` | consecutive fields at a position | fields at the payload's end may be absent |
//! | `size_despite_fault` | broken value | if the type or the count determines it |
//!
//! All positions are relative to the payload's first byte, because `RelLoc` and `DataLoc` refer
//! to bytes outside the object or array that contains them. A budget limits the work: it is
//! charged with each value that is skipped.

use super::MAX_VALUES;
use super::reading::Reading;
use super::value::Value;
use crate::bytes::{Number, before, first, utf16_end, varuint64};
use crate::error::{Fault, located};
use crate::schema::{Count, Field, FieldType, Register};
use std::fmt;

/// Payload, with the interpretation of its ambiguous types.
#[derive(Clone, Copy)]
pub(super) struct Payload<'r> {
    pub(super) bytes: &'r [u8],
    pub(super) reading: Reading,
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload")
            .field("bytes", &super::Cut(self.bytes))
            .field("reading", &self.reading)
            .finish()
    }
}

/// Values of an object that its later fields use as element counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Registers([u32; 4]);

impl Registers {
    pub(super) fn keep(&mut self, register: Register, value: &Value<'_>) {
        let count = value.as_u64().unwrap_or(0);
        if let Some(place) = self.0.get_mut(usize::from(register)) {
            *place = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }

    pub(super) fn count(&self, count: Count) -> u32 {
        match count {
            Count::Fixed(count) => count,
            Count::Earlier { register } => self.0.get(usize::from(register)).copied().unwrap_or(0),
        }
    }
}

/// Number of further values that may be skipped or decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget(u32);

impl Budget {
    pub(super) const FULL: Budget = Budget(MAX_VALUES);

    fn spend(&mut self, values: u64) -> Result<(), Fault> {
        match u32::try_from(values).ok().and_then(|values| self.0.checked_sub(values)) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(Fault::ValueLimit),
        }
    }
}

/// Role of a value, which decides whether the value may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Field, which may be absent at the payload's end.
    Record,
    /// Element of an array, or a value within one, which must be complete.
    Element,
}

/// Size of a value in bytes, as far as the payload contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueExtent {
    pub(super) size: usize,
    /// Whether no part of the value is absent or cut off by the payload's end.
    pub(super) is_whole: bool,
}

impl ValueExtent {
    fn whole(size: usize) -> ValueExtent {
        ValueExtent { size, is_whole: true }
    }
}

/// Constant size of each value of a type.
#[derive(Debug, Clone, Copy)]
struct Fixed {
    size: u64,
    /// Number of nested values in a value, including the value itself.
    values: u64,
    /// Whether the type contains no `RelLoc` and no `DataLoc`.
    is_flat: bool,
}

/// Elements to which a `RelLoc` or `DataLoc` refers.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocatedElements<'r> {
    pub(super) element: &'r FieldType,
    pub(super) count: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'r> Payload<'r> {
    /// Returns the bytes from a position on.
    #[inline]
    pub(super) fn from(&self, at: usize) -> &'r [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// Returns the number at a position.
    #[inline]
    pub(super) fn number<T: Number>(&self, at: usize) -> Result<T, Fault> {
        first(self.from(at)).ok_or(Fault::Truncated)
    }

    /// Returns an extent of `size` bytes, if they are available.
    fn within(&self, at: usize, size: usize) -> Result<ValueExtent, Fault> {
        if size <= self.from(at).len() {
            Ok(ValueExtent::whole(size))
        } else {
            Err(Fault::Truncated)
        }
    }

    /// Returns the size of a value of a type without parts, if it is constant.
    fn scalar_size(&self, kind: &FieldType) -> Option<usize> {
        Some(match kind {
            FieldType::Boolean8 | FieldType::I8 | FieldType::U8 => 1,
            FieldType::Utf8CodeUnit if !self.reading.counts_utf8() => 1,
            FieldType::Utf16CodeUnit | FieldType::I16 | FieldType::U16 => 2,
            FieldType::I32 | FieldType::U32 | FieldType::F32 => 4,
            FieldType::I64 | FieldType::U64 | FieldType::F64 => 8,
            FieldType::Guid => 16,
            FieldType::Boolean32 => self.reading.boolean_size(),
            FieldType::DateTime => self.reading.date_size(),
            FieldType::Decimal => self.reading.decimal_size(),
            FieldType::Pointer => usize::from(self.reading.pointer_size()),
            FieldType::Padding(bytes) => usize::from(*bytes),
            _ => return None,
        })
    }

    fn fixed(&self, kind: &FieldType) -> Option<Fixed> {
        match kind {
            FieldType::Object(fields) => {
                let nothing = Fixed { size: 0, values: 1, is_flat: true };
                fields.iter().try_fold(nothing, |sum, field| {
                    let field = self.fixed(&field.kind)?;
                    Some(Fixed {
                        size: sum.size.checked_add(field.size)?,
                        values: sum.values.checked_add(field.values)?,
                        is_flat: sum.is_flat && field.is_flat,
                    })
                })
            }
            FieldType::FixedArray(element, count) => {
                self.fixed_elements(element, u32::from(*count))
            }
            FieldType::Repeated(element, Count::Fixed(count)) => {
                self.fixed_elements(element, *count)
            }
            FieldType::RelLoc(_) | FieldType::DataLoc(_) => {
                Some(Fixed { size: 4, values: 1, is_flat: false })
            }
            kind => {
                let size = self.scalar_size(kind)?;
                Some(Fixed { size: size as u64, values: 1, is_flat: true })
            }
        }
    }

    /// Returns the size of an element in bytes, if elements are objects of constant size without
    /// `RelLoc` and `DataLoc`.
    pub(super) fn stride(&self, element: &FieldType) -> Option<usize> {
        match (element, self.fixed(element)?) {
            (FieldType::Object(_), Fixed { size, is_flat: true, .. }) => usize::try_from(size).ok(),
            _ => None,
        }
    }

    fn fixed_elements(&self, element: &FieldType, count: u32) -> Option<Fixed> {
        let element = match element {
            _ if count == 0 => return Some(Fixed { size: 0, values: 1, is_flat: true }),
            // Unlike a bare code unit, a code unit in an array is not ambiguous.
            FieldType::Utf8CodeUnit => Fixed { size: 1, values: 1, is_flat: true },
            element => self.fixed(element)?,
        };
        let count = u64::from(count);
        Some(Fixed {
            size: element.size.checked_mul(count)?,
            values: element.values.checked_mul(count)?.checked_add(1)?,
            is_flat: element.is_flat,
        })
    }

    /// Returns the size of `count` elements, all of which must be available.
    pub(super) fn elements(
        &self,
        element: &FieldType,
        count: u32,
        at: usize,
        budget: &mut Budget,
    ) -> Result<usize, Fault> {
        let fixed = self.fixed_elements(element, count);
        if let Some(Fixed { size, values, is_flat: true }) = fixed {
            budget.spend(values)?;
            let size = usize::try_from(size).map_err(|_| Fault::Truncated)?;
            return self.within(at, size).map(|extent| extent.size);
        }
        if let FieldType::Object(fields) = element
            && let Some(size) = self.simple_objects(fields, count, at, budget)
        {
            return Ok(size);
        }
        budget.spend(1)?;
        let mut end = at;
        for _ in 0..count {
            let size = match element {
                // All elements of an array must be readable.
                FieldType::RelLoc(_) | FieldType::DataLoc(_) => {
                    budget.spend(1)?;
                    self.locate(element, end, budget).map(|_| 4)?
                }
                element => {
                    self.extent(element, end, &Registers::default(), Role::Element, budget)?.size
                }
            };
            end = end.saturating_add(size);
        }
        Ok(end.saturating_sub(at))
    }

    /// Returns the size of `count` objects that consist of texts and values without parts. `None`
    /// if they have other parts, or are broken.
    fn simple_objects(
        &self,
        fields: &[Field],
        count: u32,
        at: usize,
        budget: &mut Budget,
    ) -> Option<usize> {
        let values_each = u64::try_from(fields.len()).ok()?.checked_add(1)?;
        let values = values_each.checked_mul(u64::from(count))?.checked_add(1)?;
        // Charges a copy, because the caller charges the elements one by one if this fails.
        let mut left = *budget;
        left.spend(values).ok()?;
        let before = self.from(at);
        let mut rest = before;
        for _ in 0..count {
            for field in fields {
                let size = match &field.kind {
                    FieldType::Utf16Text => utf16_end(rest)?.checked_add(2)?,
                    kind => self.scalar_size(kind)?,
                };
                rest = rest.get(size..)?;
            }
        }
        *budget = left;
        before.len().checked_sub(rest.len())
    }

    /// Returns the size of the value of type `kind` at a position.
    pub(super) fn extent(
        &self,
        kind: &FieldType,
        at: usize,
        registers: &Registers,
        role: Role,
        budget: &mut Budget,
    ) -> Result<ValueExtent, Fault> {
        if let Some(size) = self.scalar_size(kind) {
            budget.spend(1)?;
            return self.within(at, size);
        }
        let elements = |element, count, budget| {
            self.elements(element, count, at, budget).map(ValueExtent::whole)
        };
        match kind {
            FieldType::FixedArray(element, count) => elements(element, u32::from(*count), budget),
            FieldType::Repeated(element, count) => {
                elements(element, registers.count(*count), budget)
            }
            FieldType::Array(element) => {
                let count = u32::from(self.number::<u16>(at)?);
                let size = self.elements(element, count, at.saturating_add(2), budget)?;
                Ok(ValueExtent::whole(size.saturating_add(2)))
            }
            FieldType::Object(fields) => {
                budget.spend(1)?;
                self.record(fields, at, 0, role, budget)
            }
            _ => {
                budget.spend(1)?;
                self.simple_extent(kind, at, budget)
            }
        }
    }

    /// Returns the size of a value without parts.
    fn simple_extent(
        &self,
        kind: &FieldType,
        at: usize,
        budget: &mut Budget,
    ) -> Result<ValueExtent, Fault> {
        let bytes = self.from(at);
        let ended = |end: Option<usize>, terminator: usize| match end {
            Some(end) => Ok(ValueExtent::whole(end.saturating_add(terminator))),
            None if bytes.is_empty() => Err(Fault::Truncated),
            None => Ok(ValueExtent { size: bytes.len(), is_whole: false }),
        };
        match kind {
            FieldType::Utf16Text => ended(utf16_end(bytes), 2),
            FieldType::AnsiText => ended(bytes.iter().position(|byte| *byte == 0), 1),
            FieldType::CountedUtf8 | FieldType::Utf8CodeUnit => {
                let size = usize::from(self.number::<u16>(at)?);
                self.within(at, 2 + size)
            }
            FieldType::VarInt | FieldType::VarUInt => match varuint64(bytes) {
                Ok((rest, _)) => Ok(ValueExtent::whole(before(bytes, rest))),
                Err(error) => Err(located(bytes, error).fault),
            },
            FieldType::RelLoc(_) | FieldType::DataLoc(_) => {
                let extent = self.within(at, 4)?;
                match self.locate(kind, at, budget) {
                    Err(Fault::ValueLimit) => Err(Fault::ValueLimit),
                    // A fault of the elements is reported when the field is decoded.
                    _ => Ok(extent),
                }
            }
            // All other types have parts, or store their size.
            _ => Err(Fault::Truncated),
        }
    }

    /// Returns the size of consecutive fields without the fields whose bits are set in
    /// `omitted`.
    pub(super) fn record(
        &self,
        fields: &[Field],
        at: usize,
        omitted: u64,
        role: Role,
        budget: &mut Budget,
    ) -> Result<ValueExtent, Fault> {
        let mut registers = Registers::default();
        let (mut end, mut is_whole) = (at, true);
        for (index, field) in fields.iter().enumerate() {
            if is_set(omitted, index) {
                continue;
            }
            if role == Role::Record && self.is_absent(&field.kind, end, &registers) {
                is_whole = false;
                continue;
            }
            let extent = self.extent(&field.kind, end, &registers, role, budget)?;
            if let Some(register) = field.register {
                let (value, _) = self.value(&field.kind, end, &registers, budget)?;
                registers.keep(register, &value);
            }
            end = end.saturating_add(extent.size);
            is_whole &= extent.is_whole;
        }
        Ok(ValueExtent { size: end.saturating_sub(at), is_whole })
    }

    /// Returns whether a field at a position is absent: the payload ends there, and the field takes
    /// at least one byte.
    #[inline]
    pub(super) fn is_absent(&self, kind: &FieldType, at: usize, registers: &Registers) -> bool {
        at >= self.bytes.len() && !takes_no_bytes(kind, registers)
    }

    /// Returns the size of a broken field, if the type or a count determines it.
    pub(super) fn size_despite_fault(&self, kind: &FieldType, at: usize) -> Option<usize> {
        let (prefix, fixed) = match kind {
            FieldType::Array(element) => {
                let count: u16 = self.number(at).ok()?;
                (2, self.fixed_elements(element, u32::from(count))?)
            }
            kind => (0, self.fixed(kind)?),
        };
        let size = usize::try_from(fixed.size).ok()?.checked_add(prefix)?;
        self.within(at, size).ok().map(|extent| extent.size)
    }

    /// Returns the elements to which a `RelLoc` or `DataLoc` (u16 position, u16 size in bytes)
    /// refers, and charges them to the budget.
    pub(super) fn locate<'t>(
        &self,
        kind: &'t FieldType,
        at: usize,
        budget: &mut Budget,
    ) -> Result<LocatedElements<'t>, Fault> {
        let [position, size]: [u16; 2] = self.number(at)?;
        let outside = Fault::Location { position, size };
        let (base, element) = match kind {
            FieldType::RelLoc(element) => (at.saturating_add(4), element),
            FieldType::DataLoc(element) => (0, element),
            _ => return Err(outside),
        };
        let start = base.saturating_add(usize::from(position));
        let end = start.saturating_add(usize::from(size));
        let element_size = element.fixed_size().ok_or(outside)?;
        let count = match (u32::from(size), element_size) {
            (0, 0) => 0,
            (size, element_size) => {
                match (size.checked_rem(element_size), size.checked_div(element_size)) {
                    (Some(0), Some(count)) => count,
                    _ => return Err(outside),
                }
            }
        };
        if end > self.bytes.len() {
            return Err(outside);
        }
        self.elements(element, count, start, budget)?;
        Ok(LocatedElements { element, count, start, end })
    }
}

/// Returns whether values of this type have no bytes.
fn takes_no_bytes(kind: &FieldType, registers: &Registers) -> bool {
    match kind {
        FieldType::Object(fields) => {
            fields.iter().all(|field| takes_no_bytes(&field.kind, registers))
        }
        FieldType::FixedArray(element, count) => *count == 0 || takes_no_bytes(element, registers),
        FieldType::Repeated(element, count) => {
            registers.count(*count) == 0 || takes_no_bytes(element, registers)
        }
        _ => false,
    }
}

/// Returns whether the bit for an index is set in a bit set.
#[inline]
pub(super) fn is_set(places: u64, place: usize) -> bool {
    places != 0 && place < 64 && places >> place & 1 == 1
}
