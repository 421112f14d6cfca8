//! Walks the fields of a payload.

use super::extent::{Budget, Payload, Registers, Role, ValueExtent};
use super::reading::{self, Reading, TextEnds};
use super::text::Utf16;
use super::value::Value;
use super::value_name::ValueName;
use super::{Cut, PayloadFault};
use crate::bytes::{first, utf16_end};
use crate::error::Fault;
use crate::schema::{Field, FieldType, Schema, ValueMap};
use nettrace_guid::Guid;
use std::fmt;

/// Field of a payload, with its value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FieldValue<'r> {
    /// Description of the field.
    pub field: &'r Field,
    /// Offset of the field in the payload, in bytes.
    pub offset: usize,
    /// Value, or the fault if it is broken.
    pub value: Result<Value<'r>, PayloadFault>,
}

impl<'r> FieldValue<'r> {
    /// Returns the field's name.
    pub fn name(&self) -> &'r str {
        &self.field.name
    }

    /// Returns the names of the field's values; `None` if they have none.
    pub fn map(&self) -> Option<&'static ValueMap> {
        self.field.map
    }

    /// Returns the name of the value in [`FieldValue::map`]. `None` if the value has no name.
    pub fn value_name(&self) -> Option<ValueName<'static>> {
        self.field.map?.name_of(self.value.ok()?.as_u64()?)
    }
}

impl Schema {
    /// Returns the fields of a payload without its event, such as one that was kept, or one of a
    /// [blob](crate::raw::Blob::payload). `pointer_size`: that of the stream, in bytes
    /// ([`Trace::pointer_size`](crate::Trace::pointer_size)).
    ///
    /// ```
    /// use nettrace_parser::Reader;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = Reader::from_slice(&bytes);
    /// let event = reader.next_event()?.unwrap();
    /// let (schema, payload) = (event.schema().unwrap().clone(), event.payload().to_vec());
    /// drop(reader);
    /// let fields: Vec<String> =
    ///     schema.fields(&payload, 8).map(|field| format!("{}={}", field.name(), field.value.unwrap())).collect();
    /// assert_eq!(fields, ["n=5", "s=hey"]);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    #[inline]
    pub fn fields<'r>(&'r self, payload: &'r [u8], pointer_size: u8) -> Fields<'r> {
        Fields::new(self, payload, pointer_size)
    }
}

/// Iterator over the fields of a payload, or of an object in it, in payload order.
///
/// - If the payload ends before a field, the values of this and all later fields are
///   [`Value::Absent`], because an older writer had fewer fields.
/// - A field that extends past the payload's end is broken, and the iterator ends with it.
/// - A broken field of known size does not affect other fields.
/// - Bytes after the last field are [`Fields::rest`].
///
/// ```
/// use nettrace_parser::{Reader, Value};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let event = reader.next_event()?.unwrap();
/// let names: Vec<&str> = event.fields().map(|field| field.name()).collect();
/// assert_eq!(names, ["n", "s"]);
/// assert!(matches!(event.field("n"), Some(Value::I32(5))));
/// assert_eq!(event.field("s").unwrap().to_string(), "hey");
///
/// let mut fields = event.fields();
/// assert_eq!(fields.find("s").unwrap().offset, 4);
/// assert!(fields.rest().is_empty());
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Clone)]
pub struct Fields<'r> {
    pub(super) payload: Payload<'r>,
    /// Next fields; empty after a broken field of unknown size.
    pub(super) ahead: &'r [Field],
    /// Position of the next field in the payload.
    pub(super) at: usize,
    /// Position of the end of the payload, or of the object.
    end: usize,
    registers: Registers,
    budget: Budget,
    /// Bit set of fields that the writer omitted (see [`reading`]); bit 0 is the next field.
    pub(super) omitted: u64,
    pub(super) text_ends: TextEnds,
    schema: Option<&'r Schema>,
}

impl<'r> Fields<'r> {
    #[inline(always)]
    pub(crate) fn new(schema: &'r Schema, bytes: &'r [u8], pointer_size: u8) -> Fields<'r> {
        let usual = Payload { bytes, reading: Reading::usual(pointer_size) };
        let mut fields = Fields::of_object(usual, schema.payload_fields(), 0, bytes.len());
        fields.schema = Some(schema);
        if schema.is_ambiguous()
            && !reading::is_usual(schema, bytes, pointer_size, &mut fields.text_ends)
        {
            fields.settle(schema);
        }
        fields
    }

    /// Chooses the interpretation of a payload that the usual one does not fit.
    #[cold]
    fn settle(&mut self, schema: &Schema) {
        let verdict =
            reading::decide(schema, self.payload.bytes, self.payload.reading.pointer_size());
        self.payload.reading = verdict.reading;
        self.omitted = verdict.omitted;
        self.text_ends = verdict.text_ends;
    }

    /// Creates an iterator without fields, for a payload without a description.
    pub(crate) fn undescribed(bytes: &'r [u8], pointer_size: u8) -> Fields<'r> {
        Fields::of_object(
            Payload { bytes, reading: Reading::usual(pointer_size) },
            &[],
            0,
            bytes.len(),
        )
    }

    #[inline(always)]
    pub(super) fn of_object(
        payload: Payload<'r>,
        fields: &'r [Field],
        start: usize,
        end: usize,
    ) -> Fields<'r> {
        Fields {
            payload,
            ahead: fields,
            at: start,
            end,
            registers: Registers::default(),
            budget: Budget::FULL,
            omitted: 0,
            text_ends: TextEnds::default(),
            schema: None,
        }
    }

    /// Returns the bytes of the payload after the fields returned so far. After the last field,
    /// these are surplus bytes, bytes after a broken field, or an undescribed payload.
    pub fn rest(&self) -> &'r [u8] {
        self.payload.bytes.get(self.at..self.end).unwrap_or_default()
    }

    /// Returns the offset in the payload of [`Fields::rest`].
    pub fn rest_offset(&self) -> usize {
        self.at
    }

    /// Returns the number of further fields if all are [`Value::Absent`], because the payload ends
    /// before them; 0 if the next field is present. Takes constant time.
    pub fn missing(&self) -> usize {
        let is_missing = |field: &Field| {
            self.omitted == 0 && self.payload.is_absent(&field.kind, self.at, &self.registers)
        };
        if self.ahead.first().is_some_and(is_missing) { self.ahead.len() } else { 0 }
    }

    /// Returns the reason why the payload's description is incomplete; `None` if it is not.
    pub fn opaque(&self) -> Option<Fault> {
        self.schema?.opaque
    }

    /// Returns the next field with a name, and continues after it. `None` if no further field has
    /// this name; the position then does not change. Fields before it are skipped, at no cost if
    /// all have a fixed size. To find several fields in one walk, find them in payload order.
    #[inline]
    pub fn find(&mut self, name: &str) -> Option<FieldValue<'r>> {
        let distance = place_of(self.ahead, name)?;
        self.at_distance(distance)
    }

    /// Returns the number in the next field, and continues after it, if the field has this name, a
    /// usual type and all its bytes. `None` leaves the position, and [`Fields::find`] must look.
    #[inline(always)]
    pub(crate) fn next_number_named(&mut self, name: &str) -> Option<u64> {
        let field = self.next_named(name)?;
        let rest = self.payload.from(self.at);
        let (number, size) = match field.kind {
            FieldType::U32 => (u64::from(first::<u32>(rest)?), 4),
            FieldType::U16 => (u64::from(first::<u16>(rest)?), 2),
            FieldType::U64 => (first(rest)?, 8),
            FieldType::Pointer if self.payload.reading.pointer_size() == 8 => (first(rest)?, 8),
            _ => return None,
        };
        self.pass(size);
        Some(number)
    }

    /// Returns the text in the next field, and continues after it, if the field has this name and is
    /// present. `None` leaves the position, and [`Fields::find`] must look.
    #[inline(always)]
    pub(crate) fn next_text_named(&mut self, name: &str) -> Option<Utf16<'r>> {
        let field = self.next_named(name)?;
        let rest = self.payload.from(self.at);
        if rest.is_empty() || !matches!(field.kind, FieldType::Utf16Text) {
            return None;
        }
        let known = self.text_ends.take().map(|end| end.saturating_sub(self.at));
        let end = known.or_else(|| utf16_end(rest))?;
        self.pass(end.saturating_add(2));
        Some(Utf16::new(rest.get(..end)?, true))
    }

    /// Returns the next field if it has this name and may be read without regard to others.
    #[inline(always)]
    fn next_named(&self, name: &str) -> Option<&'r Field> {
        let field = self.ahead.first()?;
        let is_plain = self.omitted == 0 && field.register.is_none();
        (is_plain && field.name == name).then_some(field)
    }

    /// Continues after the next field, which has this size.
    #[inline(always)]
    fn pass(&mut self, size: usize) {
        self.at = self.at.saturating_add(size);
        self.ahead = self.ahead.get(1..).unwrap_or_default();
    }

    /// Returns the field after the next `distance` fields, and continues after it. `None` if a
    /// broken field ends the walk before it.
    #[inline]
    fn at_distance(&mut self, distance: usize) -> Option<FieldValue<'r>> {
        if distance > 0 {
            self.skip(distance);
        }
        self.next()
    }

    /// Skips fields without decoding them. A broken field may end the walk.
    fn skip(&mut self, distance: usize) {
        let left = distance.saturating_sub(self.jump(distance));
        for _ in 0..left {
            match self.ahead.first() {
                Some(field) if field.register.is_some() => {
                    self.next();
                }
                Some(field) => self.skip_one(field),
                None => return,
            }
        }
    }

    /// Jumps to the last field with a fixed offset, at most `distance` fields ahead. Returns the
    /// number of fields that were skipped.
    fn jump(&mut self, distance: usize) -> usize {
        // Offsets are computed for the usual interpretation.
        if self.omitted != 0 || !self.payload.reading.is_usual() {
            return 0;
        }
        let ahead = self.ahead.get(..=distance).unwrap_or_default();
        let known = ahead.iter().take_while(|field| field.offset.is_some()).count();
        let Some((last, passed)) = ahead.get(..known).and_then(<[Field]>::split_last) else {
            return 0;
        };
        let pointer_size = self.payload.reading.pointer_size();
        let at = last.offset.map_or(usize::MAX, |offset| offset.start.bytes(pointer_size));
        if at >= self.end || passed.iter().any(|field| field.register.is_some()) {
            return 0;
        }
        self.at = at;
        self.ahead = self.ahead.get(passed.len()..).unwrap_or_default();
        passed.len()
    }

    /// Removes the next field from the fields ahead. Returns whether the writer omitted it.
    fn advance(&mut self) -> bool {
        let is_omitted = self.omitted & 1 == 1;
        self.omitted >>= 1;
        self.ahead = self.ahead.get(1..).unwrap_or_default();
        is_omitted
    }

    /// Skips the next field, which is `field`.
    fn skip_one(&mut self, field: &Field) {
        let is_omitted = self.advance();
        if is_omitted || self.payload.is_absent(&field.kind, self.at, &self.registers) {
            return;
        }
        if matches!(field.kind, FieldType::Utf16Text)
            && let Some(end) = self.text_ends.take()
        {
            self.at = end.saturating_add(2);
            return;
        }
        let extent = self.payload.extent(
            &field.kind,
            self.at,
            &self.registers,
            Role::Record,
            &mut self.budget,
        );
        match extent {
            Ok(ValueExtent { size, .. }) => self.at = self.at.saturating_add(size),
            Err(_) => self.recover(field),
        }
    }

    /// Continues after a broken field, or ends the walk if its size is unknown.
    #[cold]
    fn recover(&mut self, field: &Field) {
        match self.payload.size_despite_fault(&field.kind, self.at) {
            Some(size) => self.at = self.at.saturating_add(size),
            None => self.ahead = &[],
        }
    }

    /// Moves past the next field, and returns it with its value. The function is inlined into each
    /// arm of [`Fields::next`], which then writes its value directly to its destination.
    #[inline(always)]
    fn step(&mut self, field: &'r Field, size: usize, value: Value<'r>) -> Option<FieldValue<'r>> {
        let offset = self.at;
        self.pass(size);
        Some(FieldValue { field, offset, value: Ok(value) })
    }

    /// Implements [`Fields::next`] for a text that is present.
    #[inline(never)]
    fn next_text(&mut self, field: &'r Field) -> Option<FieldValue<'r>> {
        let known = self.text_ends.take().map(|end| end.saturating_sub(self.at));
        let end = known.or_else(|| utf16_end(self.payload.from(self.at)));
        let (value, size) = self.payload.text(self.at, end);
        self.step(field, size, value)
    }

    /// Implements [`Fields::next`] for a field of any type.
    #[inline(never)]
    pub(super) fn next_rare(&mut self) -> Option<FieldValue<'r>> {
        loop {
            let field = self.ahead.first()?;
            let offset = self.at;
            let is_omitted = self.advance();
            let is_padding = matches!(field.kind, FieldType::Padding(_));
            let value =
                if is_omitted || self.payload.is_absent(&field.kind, offset, &self.registers) {
                    Ok(Value::Absent)
                } else {
                    self.payload
                        .value(&field.kind, offset, &self.registers, &mut self.budget)
                        .map(|(value, size)| {
                            self.at = self.at.saturating_add(size);
                            if let Some(register) = field.register {
                                self.registers.keep(register, &value);
                            }
                            value
                        })
                        .map_err(|fault| {
                            self.recover(field);
                            PayloadFault { offset, fault }
                        })
                };
            if !is_padding {
                return Some(FieldValue { field, offset, value });
            }
        }
    }

    /// Returns the next field. It is inlined into [`Fields::fold`], where the value is never stored
    /// in memory.
    #[inline(always)]
    fn next_common(&mut self) -> Option<FieldValue<'r>> {
        let field = self.ahead.first()?;
        if field.register.is_some() || self.omitted != 0 {
            return self.next_rare();
        }
        let rest = self.payload.from(self.at);
        // Returns a number, if all of its bytes are present.
        macro_rules! fixed {
            ($number:ident => $value:expr) => {
                if let Some($number) = first(rest) {
                    return self.step(field, size_of_val(&$number), $value);
                }
            };
        }
        match &field.kind {
            FieldType::Utf16Text if !rest.is_empty() => return self.next_text(field),
            FieldType::Guid => fixed!(bytes => Value::Guid(Guid::from_bytes(bytes))),
            FieldType::Boolean8 => fixed!(byte => Value::Bool(0u8 != byte)),
            FieldType::U8 => fixed!(number => Value::U8(number)),
            FieldType::I8 => fixed!(number => Value::I8(number)),
            FieldType::U16 => fixed!(number => Value::U16(number)),
            FieldType::I16 => fixed!(number => Value::I16(number)),
            FieldType::U32 => fixed!(number => Value::U32(number)),
            FieldType::I32 => fixed!(number => Value::I32(number)),
            FieldType::U64 => fixed!(number => Value::U64(number)),
            FieldType::I64 => fixed!(number => Value::I64(number)),
            FieldType::F32 => fixed!(number => Value::F32(number)),
            FieldType::F64 => fixed!(number => Value::F64(number)),
            FieldType::Pointer if self.payload.reading.pointer_size() == 8 => {
                fixed!(number => Value::Pointer(number));
            }
            FieldType::Boolean32 if self.payload.reading.is_usual() => {
                fixed!(word => Value::Bool(0u32 != word));
            }
            _ => {}
        }
        self.next_rare()
    }
}

impl<'r> Iterator for Fields<'r> {
    type Item = FieldValue<'r>;

    #[inline]
    fn next(&mut self) -> Option<FieldValue<'r>> {
        self.next_common()
    }

    /// Folds all fields, faster than a loop over [`Fields::next`]. `for_each` calls it, too.
    #[inline]
    fn fold<B, F: FnMut(B, FieldValue<'r>) -> B>(mut self, first: B, mut fold: F) -> B {
        let mut folded = first;
        while let Some(field) = self.next_common() {
            folded = fold(folded, field);
        }
        folded
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.ahead.len()))
    }
}

impl std::iter::FusedIterator for Fields<'_> {}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ahead = self.ahead;
        f.debug_struct("Fields")
            .field("next", &ahead.first().map(|field| &field.name))
            .field("ahead", &ahead.len())
            .field("offset", &self.at)
            .field("rest", &Cut(self.rest()))
            .finish_non_exhaustive()
    }
}

/// Returns the index of the first field with a name. Padding has no name.
#[inline]
fn place_of(fields: &[Field], name: &str) -> Option<usize> {
    fields
        .iter()
        .position(|field| field.name == name && !matches!(field.kind, FieldType::Padding(_)))
}

/// Index of a field, and its range of bytes if this is equal in every payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldPlace {
    pub(super) place: usize,
    /// Offsets of the field's beginning and end, if both are fixed.
    pub(super) bytes: Option<(usize, usize)>,
}

impl FieldPlace {
    /// Returns the place of the first field with a name.
    #[inline]
    pub(super) fn find(schema: &Schema, name: &str, pointer_size: u8) -> Option<FieldPlace> {
        let fields = schema.payload_fields();
        let place = place_of(fields, name)?;
        let offset = fields.get(place)?.offset.filter(|offset| offset.is_certain);
        let bytes = offset.and_then(|offset| {
            let start = offset.start.bytes(pointer_size);
            Some((start, start.saturating_add(offset.size?.bytes(pointer_size))))
        });
        Some(FieldPlace { place, bytes })
    }

    /// Returns the field's value in a payload of the schema. Reads it directly if its range is
    /// fixed. If a broken field ends the walk before it, returns the fault of the broken field.
    #[inline]
    fn value<'r>(
        self,
        schema: &'r Schema,
        bytes: &'r [u8],
        pointer_size: u8,
    ) -> Option<Result<Value<'r>, PayloadFault>> {
        if let Some((offset, end)) = self.bytes
            && let Some(own) = bytes.get(offset..end)
        {
            let field = schema.payload_fields().get(self.place)?;
            if let Some(value) = scalar(&field.kind, own) {
                return Some(Ok(value));
            }
        }
        self.value_at_length(schema, bytes, pointer_size)
    }

    #[inline(never)]
    fn value_at_length<'r>(
        self,
        schema: &'r Schema,
        bytes: &'r [u8],
        pointer_size: u8,
    ) -> Option<Result<Value<'r>, PayloadFault>> {
        let field = schema.payload_fields().get(self.place)?;
        let payload = Payload { bytes, reading: Reading::usual(pointer_size) };
        if matches!(field.kind, FieldType::Utf16Text)
            && let Some(offset) = field.offset.map(|offset| offset.start.bytes(pointer_size))
            && offset < bytes.len()
        {
            // Only fields of fixed size precede the text, so it is the first one.
            let mut ends = TextEnds::default();
            if !schema.is_ambiguous() || reading::is_usual(schema, bytes, pointer_size, &mut ends) {
                let known = ends.take().map(|end| end.saturating_sub(offset));
                let end = known.or_else(|| utf16_end(payload.from(offset)));
                return Some(Ok(payload.text(offset, end).0));
            }
        }
        if let Some((offset, end)) = self.bytes
            && end <= bytes.len()
        {
            let mut budget = Budget::FULL;
            let value = payload.value(&field.kind, offset, &Registers::default(), &mut budget);
            let fault = |fault| PayloadFault { offset, fault };
            return Some(value.map(|(value, _)| value).map_err(fault));
        }
        match Fields::new(schema, bytes, pointer_size).at_distance(self.place) {
            Some(field) => Some(field.value),
            None => first_fault(schema, bytes, pointer_size).map(Err),
        }
    }
}

/// Returns the value of a number that consists of these bytes; `None` for other types.
#[inline(always)]
fn scalar<'r>(kind: &FieldType, own: &[u8]) -> Option<Value<'r>> {
    Some(match kind {
        FieldType::U32 => Value::U32(first(own)?),
        FieldType::I32 => Value::I32(first(own)?),
        FieldType::U64 => Value::U64(first(own)?),
        FieldType::I64 => Value::I64(first(own)?),
        FieldType::U16 => Value::U16(first(own)?),
        FieldType::U8 => Value::U8(*own.first()?),
        FieldType::F64 => Value::F64(first(own)?),
        FieldType::Pointer => Value::Pointer(first(own)?),
        _ => return None,
    })
}

#[cold]
fn first_fault(schema: &Schema, bytes: &[u8], pointer_size: u8) -> Option<PayloadFault> {
    Fields::new(schema, bytes, pointer_size).find_map(|field| field.value.err())
}

/// Returns the value of a field by its name.
#[inline]
pub(crate) fn field<'r>(
    schema: &'r Schema,
    bytes: &'r [u8],
    pointer_size: u8,
    name: &str,
) -> Option<Result<Value<'r>, PayloadFault>> {
    FieldPlace::find(schema, name, pointer_size)?.value(schema, bytes, pointer_size)
}
