//! Compiles the fields of a shape to the steps that write them. Adjacent constant texts are joined.
//! A shape gets no compiled writer if it has a field that such a writer does not support.

use super::{CompiledWriter, Dialect, ElementCount, Elements, MAX_COUNT_FIELDS, Step, Value};
use crate::line::Literal;
use crate::shape::{Name, Names};
use crate::utf16;
use nettrace_parser::{Count, Field, FieldType, Unit, ValueMap};

/// Compiles the fields of a shape for [`CompiledWriter::new`].
pub(crate) fn compile(
    fields: &[Field],
    names: &Names,
    dialect: Dialect,
    before: &[u8],
    after: &[u8],
) -> Option<CompiledWriter> {
    let mut compiler = Compiler { dialect, pending: before.to_vec(), ..Compiler::default() };
    match dialect {
        Dialect::Json => compiler.add_object(fields, names)?,
        Dialect::Text => compiler.add_fields(fields, names)?,
    }
    compiler.pending.extend_from_slice(after);
    Some(compiler.finish())
}

/// State of the compilation of a writer.
#[derive(Default)]
struct Compiler {
    dialect: Dialect,
    /// Text to write after the value that was compiled last.
    pending: Vec<u8>,
    begin: Literal,
    steps: Vec<Step>,
}

impl Compiler {
    /// Completes the writer of a payload.
    fn finish(mut self) -> CompiledWriter {
        self.take_pending();
        self.writer(Literal::default(), Literal::default())
    }

    /// Completes the writer of an array's elements.
    fn finish_element(mut self) -> CompiledWriter {
        if self.steps.is_empty() {
            self.take_pending();
        }
        let separator: &[u8] = match self.dialect {
            Dialect::Json => b",",
            Dialect::Text => b", ",
        };
        let between = [&self.pending[..], separator, self.begin.bytes()].concat();
        let end = Literal::new(&self.pending);
        self.writer(end, Literal::new(&between))
    }

    fn writer(self, end: Literal, between: Literal) -> CompiledWriter {
        let of_steps = self.steps.iter().map(|step| step.value.room() + step.after.len());
        let room = of_steps.sum::<usize>() + between.len();
        // Each element takes some bytes of the payload, so its room counts as growth of these
        // bytes.
        let of_elements = self.steps.iter().filter_map(|step| match &step.value {
            Value::Elements(elements) => {
                let each = &elements.each;
                // The first element has no separator, whose room covers its beginning.
                Some(each.growth + each.room.div_ceil(each.min_bytes.max(1)))
            }
            _ => None,
        });
        let of_texts = self.steps.iter().map(|step| match step.value {
            Value::Text | Value::ShownText => utf16::MAX_GROWTH,
            Value::Utf8 => 1,
            _ => 0,
        });
        let growth = of_elements.chain(of_texts).max().unwrap_or(0);
        let min_bytes = self.steps.iter().map(|step| step.value.min_bytes()).sum();
        let keeps = self.steps.iter().any(|step| matches!(step.value, Value::Kept(..)));
        let Compiler { begin, steps, .. } = self;
        CompiledWriter { begin, steps, end, between, room, growth, min_bytes, keeps }
    }

    /// Attaches the pending text to the last value, or puts it before the first value.
    fn take_pending(&mut self) {
        let text = std::mem::take(&mut self.pending);
        if self.steps.is_empty() {
            self.begin = Literal::new(&text);
            return;
        }
        // Longer texts are split into empty values, so that all literals are short.
        for (at, piece) in text.chunks(Literal::CHUNK).enumerate() {
            if at > 0 {
                self.steps.push(Step { value: Value::Skip(0), after: Literal::default() });
            }
            if let Some(step) = self.steps.last_mut() {
                step.after = Literal::new(piece);
            }
        }
    }

    fn add_object(&mut self, fields: &[Field], names: &Names) -> Option<()> {
        self.pending.push(b'{');
        self.add_fields(fields, names)?;
        self.pending.push(b'}');
        Some(())
    }

    fn add_fields(&mut self, fields: &[Field], names: &Names) -> Option<()> {
        let mut names = names.iter();
        let mut is_first = true;
        for field in fields {
            if let FieldType::Padding(count) = field.kind {
                // A skipped field writes nothing, so the pending text continues after it.
                let value = Value::Skip(usize::from(count));
                self.steps.push(Step { value, after: Literal::default() });
                continue;
            }
            let name = names.next()?;
            self.add_key(name, is_first);
            is_first = false;
            let register = match field.register() {
                Some(register) => Some(usize::from(register))
                    .filter(|register| *register < MAX_COUNT_FIELDS)
                    .map(Some)?,
                None => None,
            };
            self.add_value(&field.kind, name, register, field.map)?;
        }
        Some(())
    }

    fn add_key(&mut self, name: &Name, is_first: bool) {
        match self.dialect {
            Dialect::Json => self.pending.extend_from_slice(name.key(is_first)),
            Dialect::Text => {
                if !is_first {
                    self.pending.push(b' ');
                }
                self.pending.extend_from_slice(name.shown.as_bytes());
                self.pending.push(b'=');
            }
        }
    }

    fn push(&mut self, value: Value) {
        self.take_pending();
        self.steps.push(Step { value, after: Literal::default() });
    }

    fn add_value(
        &mut self,
        kind: &FieldType,
        name: &Name,
        register: Option<usize>,
        map: Option<&'static ValueMap>,
    ) -> Option<()> {
        let is_text = self.dialect == Dialect::Text;
        let unit = name.unit.filter(|_| is_text);
        // A field with a unit is an amount.
        let is_hex = name.is_hex && unit.is_none();
        let value = match kind {
            FieldType::Pointer if unit.is_some() => Value::Pointer,
            FieldType::F32 if is_text => Value::FiniteF32,
            FieldType::F64 if is_text => Value::FiniteF64,
            FieldType::Utf16Text if is_text => Value::ShownText,
            FieldType::U8 if is_hex => Value::HexU8,
            FieldType::I8 if is_hex => Value::HexU8,
            FieldType::U16 | FieldType::I16 if is_hex => Value::HexU16,
            FieldType::U32 | FieldType::I32 if is_hex => Value::HexU32,
            FieldType::U64 | FieldType::I64 if is_hex => Value::HexU64,
            FieldType::Pointer => Value::HexPointer,
            FieldType::U8 => Value::U8,
            FieldType::U16 => Value::U16,
            FieldType::U32 => Value::U32,
            FieldType::U64 => Value::U64,
            FieldType::VarUInt if is_hex => Value::HexVarUInt,
            FieldType::VarUInt => Value::VarUInt,
            FieldType::CountedUtf8 => Value::Utf8,
            FieldType::I8 => Value::I8,
            FieldType::I16 => Value::I16,
            FieldType::I32 => Value::I32,
            FieldType::I64 => Value::I64,
            FieldType::F32 => Value::F32,
            FieldType::F64 => Value::F64,
            FieldType::Boolean8 => Value::Bool8,
            FieldType::Boolean32 => Value::Bool32,
            FieldType::Guid => Value::Guid,
            FieldType::Utf16Text => Value::Text,
            FieldType::Object(fields) => return self.add_object(fields, &name.inner),
            FieldType::Array(element) => {
                return self.add_elements(element, name, ElementCount::Here);
            }
            FieldType::FixedArray(element, count) => {
                return self.add_elements(element, name, ElementCount::Fixed(usize::from(*count)));
            }
            FieldType::Repeated(element, Count::Earlier { register, .. }) => {
                return self.add_elements(
                    element,
                    name,
                    ElementCount::Kept(usize::from(*register)),
                );
            }
            _ => return None,
        };
        let is_signed =
            matches!(kind, FieldType::I8 | FieldType::I16 | FieldType::I32 | FieldType::I64);
        let value = match map.filter(|_| is_text) {
            // Only numbers that are not negative have names.
            Some(_) if unit.is_some() || !value.is_amount() || is_signed && is_hex => return None,
            Some(map) => Value::Named(Box::new(value), map),
            None if unit == Some(Unit::Nanoseconds) && value.is_amount() => {
                Value::Duration(Box::new(value))
            }
            None => value,
        };
        let is_kept = matches!(
            value,
            Value::U8
                | Value::U16
                | Value::U32
                | Value::U64
                | Value::VarUInt
                | Value::HexVarUInt
                | Value::HexU32
                | Value::HexU64
        );
        if register.is_some() && !is_kept {
            return None;
        }
        let (before, after): (&[u8], &[u8]) = match value {
            Value::Guid if !is_text => (b"\"", b"\""),
            Value::Text | Value::ShownText | Value::Utf8 => (b"\"", b"\""),
            _ if !value.is_hex() => (b"", b""),
            _ if is_text => (b"0x", b""),
            _ => (b"\"0x", b"\""),
        };
        let is_duration = matches!(value, Value::Duration(_));
        self.pending.extend_from_slice(before);
        self.push(match register {
            Some(register) => Value::Kept(Box::new(value), register),
            None => value,
        });
        self.pending.extend_from_slice(after);
        if let Some(unit) = unit.filter(|_| !is_duration) {
            self.pending.push(b' ');
            self.pending.extend_from_slice(unit.symbol().as_bytes());
        }
        Some(())
    }

    fn add_elements(
        &mut self,
        element: &FieldType,
        name: &Name,
        count: ElementCount,
    ) -> Option<()> {
        // Arrays of these types are texts or bytes.
        if matches!(element, FieldType::U8 | FieldType::Utf16CodeUnit | FieldType::Utf8CodeUnit) {
            return None;
        }
        let mut each = Compiler { dialect: self.dialect, ..Compiler::default() };
        each.add_value(element, name, None, None)?;
        let each = each.finish_element();
        if each.min_bytes == 0 || each.steps.is_empty() {
            // Any number of elements without bytes would fit into any payload.
            return None;
        }
        self.pending.push(b'[');
        let rows = each.rows();
        self.push(Value::Elements(Box::new(Elements { count, each, rows })));
        self.pending.push(b']');
        Some(())
    }
}
