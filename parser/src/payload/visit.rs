//! Passes values to a visitor, which is the fastest way through payloads.
//!
//! [`Fields::next`](Iterator::next) returns values of all types at one place, so the caller has
//! to match on the type again. Here the visitor is inlined into the code for each common type.

use super::Fields;
use super::array::Array;
use super::extent::Payload;
use super::fields::FieldValue;
use super::reading::{self, Reading, TextEnds};
use super::value::Value;
use crate::bytes::{self, take_first, utf16_end};
use crate::schema::{Field, FieldType, Schema};
use nettrace_guid::Guid;

/// Receiver of the values of [`Event::visit_fields`](crate::Event::visit_fields),
/// [`Fields::visit`] and [`Array::visit`].
///
/// Mark short methods `#[inline(always)]`, so that they become part of the walk, once for each
/// type, and values are never stored in memory.
///
/// ```
/// use nettrace_parser::{FieldValue, Reader, Value, VisitValues};
///
/// /// Sum of all whole numbers, including nested ones.
/// struct Sum(u64);
///
/// impl<'r> VisitValues<'r> for Sum {
///     fn field(&mut self, field: FieldValue<'r>) {
///         if let Ok(value) = field.value {
///             self.element(value);
///         }
///     }
///
///     fn element(&mut self, value: Value<'r>) {
///         match value {
///             Value::Array(array) => array.visit(self),
///             Value::Object(object) => object.fields().visit(self),
///             number => self.0 += number.as_u64().unwrap_or(0),
///         }
///     }
/// }
///
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let mut sum = Sum(0);
/// while let Some(event) = reader.next_event()? {
///     event.visit_fields(&mut sum);
/// }
/// assert_eq!(sum.0, 283);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
pub trait VisitValues<'r> {
    /// Receives a field of the payload, of an object, or of the objects of an array one after the
    /// other.
    fn field(&mut self, field: FieldValue<'r>);

    /// Receives an element of an array, unless its elements are objects.
    fn element(&mut self, element: Value<'r>);
}

/// Wraps a number in a value.
macro_rules! number {
    ($kind:ident, $rest:expr) => {
        match take_first($rest) {
            Some(number) => Value::$kind(number),
            None => return false,
        }
    };
}

/// Passes fields to the visitor as long as their types are common. Removes them from `ahead`, and
/// their bytes from `rest`, which is the rest of the payload. Returns whether no field is left.
/// `KEPT` is set if fields may be counts of later fields.
#[inline(always)]
fn common<'r, const KEPT: bool, V: VisitValues<'r>>(
    payload: Payload<'r>,
    ahead: &mut &'r [Field],
    rest: &mut &'r [u8],
    mut next_text_end: impl FnMut() -> Option<usize>,
    visitor: &mut V,
) -> bool {
    while let Some((field, after)) = ahead.split_first() {
        if KEPT && field.register.is_some() {
            return false;
        }
        let offset = payload.bytes.len().wrapping_sub(rest.len());
        // A macro, so that the visitor is called in each arm, where the value's type is known.
        macro_rules! give {
            ($value:expr) => {{
                let value = $value;
                *ahead = after;
                visitor.field(FieldValue { field, offset, value: Ok(value) });
            }};
        }
        match &field.kind {
            FieldType::U32 => give!(number!(U32, rest)),
            FieldType::I32 => give!(number!(I32, rest)),
            FieldType::U64 => give!(number!(U64, rest)),
            FieldType::I64 => give!(number!(I64, rest)),
            FieldType::U16 => give!(number!(U16, rest)),
            FieldType::I16 => give!(number!(I16, rest)),
            FieldType::U8 => give!(number!(U8, rest)),
            FieldType::I8 => give!(number!(I8, rest)),
            FieldType::F64 => give!(number!(F64, rest)),
            FieldType::F32 => give!(number!(F32, rest)),
            FieldType::Pointer if payload.reading.pointer_size() == 8 => {
                give!(number!(Pointer, rest))
            }
            FieldType::Boolean32 if payload.reading.is_usual() => match take_first::<u32>(rest) {
                Some(word) => give!(Value::Bool(word != 0)),
                None => return false,
            },
            FieldType::Boolean8 => match take_first::<u8>(rest) {
                Some(byte) => give!(Value::Bool(byte != 0)),
                None => return false,
            },
            FieldType::Guid => match take_first(rest) {
                Some(bytes) => give!(Value::Guid(Guid::from_bytes(bytes))),
                None => return false,
            },
            FieldType::Utf16Text => {
                let known = next_text_end().map(|end| end.wrapping_sub(offset));
                let Some(end) = known.or_else(|| utf16_end(rest)) else { return false };
                let Some((text, after)) = rest.split_at_checked(end) else { return false };
                let Some((_, after)) = after.split_first_chunk::<2>() else { return false };
                *rest = after;
                give!(Value::Utf16(super::Utf16::new(text, true)));
            }
            _ => return false,
        }
    }
    true
}

/// Passes all fields of a payload to a visitor.
#[inline(always)]
pub(crate) fn visit<'r, V: VisitValues<'r>>(
    schema: &'r Schema,
    bytes: &'r [u8],
    pointer_size: u8,
    visitor: &mut V,
) {
    let mut text_ends = TextEnds::default();
    if schema.is_ambiguous() && !reading::is_usual(schema, bytes, pointer_size, &mut text_ends) {
        return Fields::new(schema, bytes, pointer_size).visit_apart(visitor);
    }
    // Most payloads need only `common`.
    let payload = Payload { bytes, reading: Reading::usual(pointer_size) };
    let (mut ahead, mut rest) = (schema.payload_fields(), bytes);
    if schema.keeps_counts
        || !common::<false, V>(payload, &mut ahead, &mut rest, || text_ends.take(), visitor)
    {
        let at = bytes.len().wrapping_sub(rest.len());
        let mut fields = Fields::of_object(payload, ahead, at, bytes.len());
        fields.text_ends = text_ends;
        fields.visit_apart(visitor);
    }
}

impl<'r> Fields<'r> {
    /// Passes all remaining fields to a visitor, several times as fast as
    /// [`Fields::next`](Iterator::next) returns them.
    #[inline(always)]
    pub fn visit<V: VisitValues<'r>>(&mut self, visitor: &mut V) {
        loop {
            if self.omitted == 0 {
                let mut ahead = self.ahead;
                let mut rest = self.payload.from(self.at);
                let before = rest.len();
                let text_ends = &mut self.text_ends;
                let is_all = common::<true, V>(
                    self.payload,
                    &mut ahead,
                    &mut rest,
                    || text_ends.take(),
                    visitor,
                );
                self.ahead = ahead;
                self.at = self.at.saturating_add(before.saturating_sub(rest.len()));
                if is_all {
                    return;
                }
            }
            match self.next_rare() {
                Some(field) => visitor.field(field),
                None => return,
            }
        }
    }

    /// Implements [`Fields::visit`] without inlining, for rare payloads.
    #[inline(never)]
    fn visit_apart<V: VisitValues<'r>>(&mut self, visitor: &mut V) {
        self.visit(visitor);
    }
}

impl<'r> Array<'r> {
    /// Passes all elements to a visitor, several times as fast as [`Array::iter`] returns them.
    /// For objects, passes the fields of one object after the other instead.
    #[inline]
    pub fn visit<V: VisitValues<'r>>(self, visitor: &mut V) {
        let bytes = self.bytes();
        macro_rules! numbers {
            ($kind:ident) => {
                bytes::numbers(bytes).for_each(|number| visitor.element(Value::$kind(number)))
            };
        }
        match self.element() {
            FieldType::U32 => numbers!(U32),
            FieldType::I32 => numbers!(I32),
            FieldType::U64 => numbers!(U64),
            FieldType::I64 => numbers!(I64),
            FieldType::U16 => numbers!(U16),
            FieldType::F64 => numbers!(F64),
            FieldType::Pointer if self.payload.reading.pointer_size() == 8 => {
                numbers!(Pointer)
            }
            FieldType::Object(fields) => self.visit_objects(fields, visitor),
            _ => self.iter().for_each(|element| visitor.element(element)),
        }
    }

    /// Passes the fields of the array's objects, which are adjacent, to a visitor.
    #[inline(always)]
    fn visit_objects<V: VisitValues<'r>>(self, fields: &'r [Field], visitor: &mut V) {
        let payload = self.payload;
        let mut rest = payload.from(self.start as usize);
        for _ in 0..self.len() {
            let mut ahead = fields;
            if !common::<true, V>(payload, &mut ahead, &mut rest, || None, visitor) {
                let at = payload.bytes.len().wrapping_sub(rest.len());
                let mut fields = Fields::of_object(payload, ahead, at, self.end as usize);
                fields.visit_apart(visitor);
                rest = payload.from(fields.at);
            }
        }
    }
}
