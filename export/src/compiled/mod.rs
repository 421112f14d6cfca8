//! Fast path from payloads of one shape to JSON, or to text. The fields of a shape are compiled once to a list
//! of steps: a value to read, and the text to write after it. Executing the steps is several times
//! as fast as walking the fields.
//!
//! A compiled writer only handles the common case: payloads with all of their fields and nothing
//! else, of types whose bytes have a single interpretation. In any other case
//! [`PayloadWriter`](crate::payload::PayloadWriter) or [`TextValues`](crate::TextValues), which handle every payload, write
//! the event. Both ways must give the same bytes; tests compare them for all traces.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "counts of bytes in memory, and places within the room that a line asked for"
)]

mod compile;
mod rows;

use self::rows::Rows;
use crate::event_types::{EventTypes, TypeIndex};
use crate::json::Float;
use crate::line::{Literal, Writer};
use crate::shape::Names;
use crate::units::Digits;
use nettrace_parser::unstable::take_first;
use nettrace_parser::{Field, Guid, ValueMap};

/// Maximum number of values of all arrays in a payload. A `PayloadWriter` writes a payload that has
/// more.
const MAX_VALUES: usize = 1 << 16;

/// Maximum number of integer fields in a shape that give the number of elements of an array.
const MAX_COUNT_FIELDS: usize = 8;

/// Form of a payload's fields and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// `{"Reason":1,"Name":"…"}`
    #[default]
    Json,
    /// `Reason=AllocSmall Name="…"`; see [`text_value`](crate::text_value).
    Text,
}

/// The compiled writers of all shapes of a trace.
#[derive(Debug, Default)]
pub(crate) struct CompiledShapes {
    dialect: Dialect,
    /// The writer of each shape, by [`TypeIndex::shape`]; `None` if the shape is new,
    /// `Some(None)` if it needs the slow path.
    writers: Vec<Option<Option<CompiledWriter>>>,
}

impl CompiledShapes {
    pub(crate) fn new(dialect: Dialect) -> CompiledShapes {
        CompiledShapes { dialect, writers: Vec::new() }
    }

    /// Returns the writer of a shape, or `None` if the shape needs the slow path.
    #[inline(always)]
    pub(crate) fn writer_of(
        &mut self,
        type_index: TypeIndex,
        types: &EventTypes,
    ) -> Option<&CompiledWriter> {
        if self.writers.get(type_index.shape).is_none_or(Option::is_none) {
            self.compile(type_index, types);
        }
        self.writers.get(type_index.shape)?.as_ref()?.as_ref()
    }

    #[cold]
    fn compile(&mut self, type_index: TypeIndex, types: &EventTypes) {
        while type_index.shape >= self.writers.len() {
            self.writers.push(None);
        }
        let writer = types.shapes().get(type_index.shape).and_then(|shape| {
            let fields = shape.schema.payload_fields();
            let writer = CompiledWriter::new(fields, &shape.names, self.dialect, b"", b"");
            writer.filter(|_| shape.schema.opaque.is_none())
        });
        if let Some(place) = self.writers.get_mut(type_index.shape) {
            *place = Some(writer);
        }
    }
}

/// Writes payloads of one shape, or array elements of one type, by steps that were compiled in
/// advance.
#[derive(Debug, Default)]
pub(crate) struct CompiledWriter {
    /// The text before the first value.
    begin: Literal,
    steps: Vec<Step>,
    /// Text after the last value of an element.
    end: Literal,
    /// Text between two elements: the text of `end`, a separator and the text of `begin`.
    between: Literal,
    /// Maximum number of output bytes for texts, and for values that occur once.
    room: usize,
    /// Maximum number of output bytes for each byte of the payload.
    growth: usize,
    /// Minimum size of a payload, in bytes.
    min_bytes: usize,
    /// Whether some integers must be remembered, because they give the number of elements of an
    /// array.
    keeps: bool,
}

#[derive(Debug)]
struct Step {
    value: Value,
    /// Text to write after the value, at most [`Literal::CHUNK`] bytes.
    after: Literal,
}

/// Type of a value, which decides how it is read and written. The literals around a value contain
/// its quotes, and the `0x` of hexadecimal values.
#[derive(Debug)]
enum Value {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    HexU8,
    HexU16,
    HexU32,
    HexU64,
    HexPointer,
    F32,
    F64,
    Bool8,
    Bool32,
    Text,
    Guid,
    VarUInt,
    HexVarUInt,
    /// UTF-8 preceded by its length.
    Utf8,
    /// UTF-16 without hidden characters, which text escapes in another way than JSON.
    ShownText,
    /// A finite number. Text has another word than JSON for others.
    FiniteF32,
    FiniteF64,
    /// An amount of the size of an address.
    Pointer,
    /// A number of nanoseconds, written in a fitting unit.
    Duration(Box<Value>),
    /// An integer whose values have names.
    Named(Box<Value>, &'static ValueMap),
    /// As many bytes, which are read but not written.
    Skip(usize),
    Elements(Box<Elements>),
    /// An integer that gives the number of elements of an array, and the index of the register that
    /// keeps it.
    Kept(Box<Value>, usize),
}

#[derive(Debug)]
struct Elements {
    count: ElementCount,
    each: CompiledWriter,
    /// Writes the elements after the first, if all elements have an equal size.
    rows: Option<Rows>,
}

impl Value {
    /// Returns the minimum size of the value in a payload.
    fn min_bytes(&self) -> usize {
        match self {
            Value::U8
            | Value::I8
            | Value::HexU8
            | Value::Bool8
            | Value::VarUInt
            | Value::HexVarUInt => 1,
            Value::U16
            | Value::I16
            | Value::HexU16
            | Value::Text
            | Value::ShownText
            | Value::Utf8 => 2,
            Value::U32
            | Value::I32
            | Value::HexU32
            | Value::F32
            | Value::FiniteF32
            | Value::Bool32
            | Value::HexPointer
            | Value::Pointer => 4,
            Value::U64 | Value::I64 | Value::HexU64 | Value::F64 | Value::FiniteF64 => 8,
            Value::Guid => 16,
            Value::Kept(value, _) | Value::Duration(value) | Value::Named(value, ..) => {
                value.min_bytes()
            }
            Value::Skip(count) => *count,
            Value::Elements(elements) => match elements.count {
                ElementCount::Here => 2,
                ElementCount::Kept(_) | ElementCount::Fixed(_) => 0,
            },
        }
    }

    /// Returns the maximum number of output bytes for the value that do not depend on the payload's
    /// length.
    fn room(&self) -> usize {
        match self {
            Value::Bool8 | Value::Bool32 | Value::U8 | Value::I8 => 5,
            Value::U16 | Value::I16 | Value::U32 | Value::I32 => 11,
            Value::HexU8 | Value::HexU16 | Value::HexU32 | Value::HexU64 => 16,
            Value::HexPointer | Value::HexVarUInt => 16,
            // The number includes the quotes.
            Value::U64 | Value::I64 | Value::VarUInt | Value::Pointer => 22,
            Value::F32 | Value::F64 | Value::FiniteF32 | Value::FiniteF64 => 26,
            Value::Guid => 36,
            Value::Kept(value, _) => value.room(),
            Value::Duration(_) => Digits::MAX_BYTES,
            // Bits without a name follow the names of the others.
            Value::Named(_, map) => {
                map.entries.iter().fold(22, |room, (_, name)| room + name.len() + 1)
            }
            Value::Text | Value::ShownText | Value::Utf8 | Value::Skip(_) | Value::Elements(_) => 0,
        }
    }
}

/// Place that the number of an array's elements comes from.
#[derive(Debug, Clone, Copy)]
enum ElementCount {
    /// A `u16` right before the elements.
    Here,
    Kept(usize),
    Fixed(usize),
}

/// Options for writing numbers, and the size of addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberStyle {
    pub(crate) pointer_size: u8,
    /// Maximum integer that is not written as a string.
    pub(crate) largest: u64,
}

/// The state of a payload that is being written.
struct Progress {
    registers: [usize; MAX_COUNT_FIELDS],
    values_left: usize,
}

impl CompiledWriter {
    /// Compiles the fields of a shape. `before` is written before their object. Returns `None` if
    /// the type of a field needs the slow path.
    pub(crate) fn new(
        fields: &[Field],
        names: &Names,
        dialect: Dialect,
        before: &[u8],
        after: &[u8],
    ) -> Option<CompiledWriter> {
        compile::compile(fields, names, dialect, before, after)
    }

    /// Returns the maximum number of output bytes for a payload of this size, without its
    /// beginning.
    #[inline(always)]
    pub(crate) fn room(&self, payload_bytes: usize) -> usize {
        self.room + payload_bytes * self.growth
    }

    /// Returns the text before the first value, which the caller writes.
    pub(crate) fn begin(&self) -> &Literal {
        &self.begin
    }

    /// Appends the payload after its beginning. Returns `None` if the payload needs the slow path;
    /// the caller then discards the written bytes.
    #[inline(always)]
    pub(crate) fn write<'b>(
        &self,
        line: Writer<'b>,
        payload: &[u8],
        style: NumberStyle,
    ) -> Option<Writer<'b>> {
        let mut state = Progress { registers: [0; MAX_COUNT_FIELDS], values_left: MAX_VALUES };
        match self.values(line, payload, &mut state, style) {
            // The slow path shows surplus bytes as `payload_rest`.
            Some((line, [])) => Some(line),
            _ => None,
        }
    }

    /// Writes each value and the text after it. Returns the line and the rest of the payload;
    /// `None` if a value cannot be written.
    ///
    /// Line and rest are passed by value, so that they stay in registers.
    #[inline(always)]
    fn values<'b, 'r>(
        &self,
        mut line: Writer<'b>,
        mut rest: &'r [u8],
        state: &mut Progress,
        style: NumberStyle,
    ) -> Option<(Writer<'b>, &'r [u8])> {
        for step in &self.steps {
            step.value.write(&mut line, &mut rest, state, style)?;
            line.short_literal(&step.after);
        }
        Some((line, rest))
    }
}

impl CompiledWriter {
    /// Returns a faster writer for many elements, if all elements have an equal size.
    fn rows(&self) -> Option<Rows> {
        let before = [&self.between].into_iter().chain(self.steps.iter().map(|step| &step.after));
        Rows::new(self.steps.iter().zip(before).map(|(step, before)| (step.cell(), before.bytes())))
    }
}

/// Appends an integer, in quotes if it is larger than [`NumberStyle::largest`].
#[inline(always)]
pub(crate) fn unsigned(line: &mut Writer<'_>, number: u64, style: NumberStyle) {
    if number > style.largest {
        line.byte(b'"');
        line.unsigned(number);
        line.byte(b'"');
    } else {
        line.unsigned(number);
    }
}

/// Appends a signed integer, in quotes if it is larger than [`NumberStyle::largest`].
#[inline(always)]
pub(crate) fn signed(line: &mut Writer<'_>, number: i64, style: NumberStyle) {
    if number.unsigned_abs() > style.largest {
        line.byte(b'"');
        line.signed(number);
        line.byte(b'"');
    } else {
        line.signed(number);
    }
}

impl Step {
    /// Returns the kind of the value as a cell in [`Rows`], or `None` if that writer does not
    /// support it.
    fn cell(&self) -> Option<rows::CellKind> {
        match self.value {
            Value::HexPointer | Value::HexU64 => Some(rows::CellKind::Address),
            Value::HexU32 => Some(rows::CellKind::Number(rows::NumberKind::HexU32)),
            Value::U64 => Some(rows::CellKind::Number(rows::NumberKind::U64)),
            Value::U32 => Some(rows::CellKind::Number(rows::NumberKind::U32)),
            Value::U16 => Some(rows::CellKind::Number(rows::NumberKind::U16)),
            Value::U8 => Some(rows::CellKind::Number(rows::NumberKind::U8)),
            _ => None,
        }
    }
}

impl Value {
    #[inline(always)]
    fn write(
        &self,
        line: &mut Writer<'_>,
        rest: &mut &[u8],
        state: &mut Progress,
        style: NumberStyle,
    ) -> Option<()> {
        match self {
            Value::Text => {
                let taken = line.utf16(rest)?;
                *rest = rest.get(taken..)?;
            }
            Value::Elements(elements) => {
                (*line, *rest) = elements.write(line.taken(), rest, state, style)?;
            }
            Value::HexPointer if style.pointer_size == 8 => line.hex(take_first(rest)?),
            Value::HexPointer => line.hex(u64::from(take_first::<u32>(rest)?)),
            Value::U32 => line.unsigned(u64::from(take_first::<u32>(rest)?)),
            Value::U16 => line.unsigned(u64::from(take_first::<u16>(rest)?)),
            Value::U8 => line.unsigned(u64::from(take_first::<u8>(rest)?)),
            Value::U64 => unsigned(line, take_first(rest)?, style),
            Value::HexU64 => line.hex(take_first(rest)?),
            Value::HexU32 => line.hex(u64::from(take_first::<u32>(rest)?)),
            Value::I32 => line.signed(i64::from(take_first::<i32>(rest)?)),
            Value::I64 => signed(line, take_first(rest)?, style),
            Value::VarUInt => unsigned(line, varuint(rest)?, style),
            Value::HexVarUInt => line.hex(varuint(rest)?),
            Value::Kept(value, register) => {
                let number;
                (*line, *rest, number) = value.write_kept(line.taken(), rest, style)?;
                *state.registers.get_mut(*register)? = usize::try_from(number).ok()?;
            }
            other => (*line, *rest) = other.write_rare(line.taken(), rest, style)?,
        }
        Some(())
    }

    /// Writes an integer that gives the number of elements of an array, and also returns the
    /// integer.
    #[inline(never)]
    fn write_kept<'b, 'r>(
        &self,
        mut line: Writer<'b>,
        mut rest: &'r [u8],
        style: NumberStyle,
    ) -> Option<(Writer<'b>, &'r [u8], u64)> {
        let number = match self {
            Value::U8 => u64::from(take_first::<u8>(&mut rest)?),
            Value::U16 => u64::from(take_first::<u16>(&mut rest)?),
            Value::U32 | Value::HexU32 => u64::from(take_first::<u32>(&mut rest)?),
            Value::U64 | Value::HexU64 => take_first::<u64>(&mut rest)?,
            Value::VarUInt | Value::HexVarUInt => varuint(&mut rest)?,
            _ => return None,
        };
        match self {
            Value::HexU32 | Value::HexU64 | Value::HexVarUInt => line.hex(number),
            _ => unsigned(&mut line, number, style),
        }
        Some((line, rest, number))
    }
}

impl Value {
    /// Writes a value of a rare type. It does not give the number of elements of an array.
    #[inline(never)]
    fn write_rare<'b, 'r>(
        &self,
        mut line: Writer<'b>,
        mut rest: &'r [u8],
        style: NumberStyle,
    ) -> Option<(Writer<'b>, &'r [u8])> {
        match self {
            Value::Named(value, map) => {
                let number = value.read_amount(&mut rest, style)?;
                match map.name_of(number) {
                    Some(name) => {
                        for (at, name) in name.names().enumerate() {
                            if at > 0 {
                                line.byte(b'|');
                            }
                            line.text(name);
                        }
                        if name.nameless_bits() != 0 {
                            line.text("|0x");
                            line.hex(name.nameless_bits());
                        }
                    }
                    None if value.is_hex() => {
                        line.text("0x");
                        line.hex(number);
                    }
                    None => line.unsigned(number),
                }
            }
            Value::Pointer => line.unsigned(self.read_amount(&mut rest, style)?),
            Value::Duration(value) => {
                let nanos = value.read_amount(&mut rest, style)?;
                line.text(Digits::from_exact_duration(nanos).text());
            }
            Value::Utf8 => {
                let count = usize::from(take_first::<u16>(&mut rest)?);
                let (text, after) = rest.split_at_checked(count)?;
                rest = after;
                line.plain_ascii(text)?;
            }
            Value::HexU16 => line.hex(u64::from(take_first::<u16>(&mut rest)?)),
            Value::HexU8 => line.hex(u64::from(take_first::<u8>(&mut rest)?)),
            Value::I16 => line.signed(i64::from(take_first::<i16>(&mut rest)?)),
            Value::I8 => line.signed(i64::from(take_first::<i8>(&mut rest)?)),
            Value::F64 => line.float(take_first::<f64>(&mut rest)?),
            Value::F32 => line.float(take_first::<f32>(&mut rest)?),
            Value::FiniteF64 => line.float(finite(take_first::<f64>(&mut rest)?)?),
            Value::FiniteF32 => line.float(finite(take_first::<f32>(&mut rest)?)?),
            Value::ShownText => {
                let taken = line.shown_utf16(rest)?;
                rest = rest.get(taken..)?;
            }
            Value::Bool32 => line.text(truth(take_first::<u32>(&mut rest)? != 0)),
            Value::Bool8 => line.text(truth(take_first::<u8>(&mut rest)? != 0)),
            Value::Guid => line.guid(Guid::from_bytes(take_first(&mut rest)?)),
            Value::Skip(count) => rest = rest.get(*count..)?,
            // The caller has handled all other kinds.
            _ => return None,
        }
        Some((line, rest))
    }
}

impl Value {
    /// Returns whether the value is written as hexadecimal digits, which follow `0x`.
    fn is_hex(&self) -> bool {
        use Value::{HexPointer, HexU8, HexU16, HexU32, HexU64, HexVarUInt};
        matches!(self, HexU8 | HexU16 | HexU32 | HexU64 | HexPointer | HexVarUInt)
    }

    /// Returns whether [`Value::read_amount`] can read the value.
    fn is_amount(&self) -> bool {
        use Value::{
            FiniteF64, HexPointer, HexU8, HexU16, HexU32, HexU64, I32, I64, Pointer, U8, U16, U32,
            U64,
        };
        let is_short = matches!(self, U8 | U16 | U32 | HexU8 | HexU16 | HexU32 | I32);
        is_short || matches!(self, U64 | HexU64 | I64 | FiniteF64 | Pointer | HexPointer)
    }

    /// Reads a whole number that is not negative. Returns `None` for any other number.
    fn read_amount(&self, rest: &mut &[u8], style: NumberStyle) -> Option<u64> {
        match self {
            Value::U8 | Value::HexU8 => take_first::<u8>(rest).map(u64::from),
            Value::U16 | Value::HexU16 => take_first::<u16>(rest).map(u64::from),
            Value::U32 | Value::HexU32 => take_first::<u32>(rest).map(u64::from),
            Value::U64 | Value::HexU64 => take_first::<u64>(rest),
            Value::I32 => u64::try_from(take_first::<i32>(rest)?).ok(),
            Value::I64 => u64::try_from(take_first::<i64>(rest)?).ok(),
            Value::FiniteF64 => whole(take_first::<f64>(rest)?),
            Value::Pointer | Value::HexPointer if style.pointer_size == 8 => take_first(rest),
            Value::Pointer | Value::HexPointer => take_first::<u32>(rest).map(u64::from),
            _ => None,
        }
    }
}

/// Returns a floating-point number as an integer, if it is one without a sign.
#[expect(clippy::cast_sign_loss, reason = "a number with a sign is refused")]
fn whole(number: f64) -> Option<u64> {
    let integer = number as u64;
    // The largest integer is less than the number that is rounded down to it.
    (integer as f64 == number && number.is_sign_positive() && integer < u64::MAX).then_some(integer)
}

fn finite<F: Float + Copy>(number: F) -> Option<F> {
    number.special().is_none().then_some(number)
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// Reads a varint of up to ten bytes that fits into 64 bits. The slow path reports invalid varints.
#[inline]
fn varuint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (at, byte) in rest.iter().take(10).enumerate() {
        if at == 9 && *byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7f) << (at * 7);
        if byte & 0x80 == 0 {
            *rest = rest.get(at + 1..)?;
            return Some(number);
        }
    }
    None
}

impl Elements {
    /// Writes all elements, separated by commas.
    #[inline(never)]
    fn write<'b, 'r>(
        &self,
        line: Writer<'b>,
        rest: &'r [u8],
        state: &mut Progress,
        style: NumberStyle,
    ) -> Option<(Writer<'b>, &'r [u8])> {
        let (mut line, mut rest) = (line, rest);
        let count = match self.count {
            ElementCount::Here => usize::from(take_first::<u16>(&mut rest)?),
            ElementCount::Kept(register) => *state.registers.get(register)?,
            ElementCount::Fixed(count) => count,
        };
        let Some(last) = count.checked_sub(1) else { return Some((line, rest)) };
        let each = &self.each;
        let values = count.checked_mul(each.steps.len().max(1))?;
        // The count comes from the payload, so it must not decide how long this takes.
        state.values_left = state.values_left.checked_sub(values)?;
        line.literal(&each.begin);
        if let [Step { value: Value::U32, .. }] = each.steps.as_slice() {
            for index in 0..count {
                line.unsigned(u64::from(take_first::<u32>(&mut rest)?));
                line.literal(if index == last { &each.end } else { &each.between });
            }
            return Some((line, rest));
        }
        if let Some(rows) = self.rows.as_ref().filter(|rows| rows.are_worth(count, style)) {
            (line, rest) = each.values(line, rest, state, style)?;
            (line, rest) = rows.write(line, rest, last, style)?;
            line.literal(&each.end);
            return Some((line, rest));
        }
        // Counts stored within an element are only valid within it.
        let registers = if each.keeps { Some(state.registers) } else { None };
        for index in 0..count {
            (line, rest) = each.values(line, rest, state, style)?;
            line.literal(if index == last { &each.end } else { &each.between });
            if let Some(registers) = registers {
                state.registers = registers;
            }
        }
        Some((line, rest))
    }
}
