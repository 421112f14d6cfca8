//! How the catalog's tables describe fields: as constants, from which a [`Schema`] is
//! built on first use.
//!
//! A count refers to a register instead of a field name, so nothing has to be looked up:
//! `u32("Count").kept(0)` stores the value that `record("Values", 0, …)` uses. Registers
//! are numbered per event, including inner records.

use crate::schema::{Count, Field, FieldType, Register, Schema, Unit, ValueMap};

/// One field of a table row.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldRow {
    name: &'static str,
    kind: RowType,
    count: Times,
    is_hex: bool,
    unit: Option<Unit>,
    map: Option<&'static ValueMap>,
    register: Option<Register>,
}

/// How often a value occurs in the payload.
#[derive(Debug, Clone, Copy)]
enum Times {
    Once,
    /// As often as the value in this register says.
    Kept(Register),
    /// As often as the u16 before it says.
    CountedHere,
}

/// The types that the tables use.
#[derive(Debug, Clone, Copy)]
enum RowType {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    F32,
    F64,
    Boolean8,
    Boolean32,
    Pointer,
    Guid,
    Utf16Text,
    AnsiText,
    CountedUtf8,
    VarUInt,
    Padding(u8),
    Record(&'static [FieldRow]),
}

const fn row(name: &'static str, kind: RowType) -> FieldRow {
    FieldRow {
        name,
        kind,
        count: Times::Once,
        is_hex: false,
        unit: None,
        map: None,
        register: None,
    }
}

pub(super) const fn u8(name: &'static str) -> FieldRow {
    row(name, RowType::U8)
}

pub(super) const fn u16(name: &'static str) -> FieldRow {
    row(name, RowType::U16)
}

pub(super) const fn u32(name: &'static str) -> FieldRow {
    row(name, RowType::U32)
}

pub(super) const fn u64(name: &'static str) -> FieldRow {
    row(name, RowType::U64)
}

pub(super) const fn i32(name: &'static str) -> FieldRow {
    row(name, RowType::I32)
}

pub(super) const fn i64(name: &'static str) -> FieldRow {
    row(name, RowType::I64)
}

pub(super) const fn f32(name: &'static str) -> FieldRow {
    row(name, RowType::F32)
}

pub(super) const fn f64(name: &'static str) -> FieldRow {
    row(name, RowType::F64)
}

/// Describes a boolean of one byte.
pub(super) const fn boolean8(name: &'static str) -> FieldRow {
    row(name, RowType::Boolean8)
}

pub(super) const fn boolean32(name: &'static str) -> FieldRow {
    row(name, RowType::Boolean32)
}

pub(super) const fn pointer(name: &'static str) -> FieldRow {
    row(name, RowType::Pointer)
}

pub(super) const fn guid(name: &'static str) -> FieldRow {
    row(name, RowType::Guid)
}

pub(super) const fn utf16(name: &'static str) -> FieldRow {
    row(name, RowType::Utf16Text)
}

pub(super) const fn ansi(name: &'static str) -> FieldRow {
    row(name, RowType::AnsiText)
}

pub(super) const fn counted_utf8(name: &'static str) -> FieldRow {
    row(name, RowType::CountedUtf8)
}

pub(super) const fn var_uint(name: &'static str) -> FieldRow {
    row(name, RowType::VarUInt)
}

/// Describes unused bytes between fields.
pub(super) const fn padding(bytes: u8) -> FieldRow {
    row("", RowType::Padding(bytes))
}

/// Describes records, as many as the value in register `count`.
pub(super) const fn records(
    name: &'static str,
    count: Register,
    rows: &'static [FieldRow],
) -> FieldRow {
    row(name, RowType::Record(rows)).times(count)
}

/// Describes records preceded by their number, a u16.
pub(super) const fn counted_records(name: &'static str, rows: &'static [FieldRow]) -> FieldRow {
    FieldRow { count: Times::CountedHere, ..row(name, RowType::Record(rows)) }
}

impl FieldRow {
    /// Marks the field to be shown in hexadecimal.
    pub(super) const fn hex(self) -> FieldRow {
        FieldRow { is_hex: true, ..self }
    }

    /// Marks the value as a number of bytes.
    pub(super) const fn bytes(self) -> FieldRow {
        FieldRow { unit: Some(Unit::Bytes), ..self }
    }

    /// Marks the value as a number of nanoseconds.
    pub(super) const fn nanoseconds(self) -> FieldRow {
        FieldRow { unit: Some(Unit::Nanoseconds), ..self }
    }

    /// Marks the value as a number of seconds.
    pub(super) const fn seconds(self) -> FieldRow {
        FieldRow { unit: Some(Unit::Seconds), ..self }
    }

    /// Gives names to the values.
    pub(super) const fn named(self, map: &'static ValueMap) -> FieldRow {
        FieldRow { map: Some(map), ..self }
    }

    /// Stores the value in a register, for a later field to use as its count.
    pub(super) const fn kept(self, register: Register) -> FieldRow {
        FieldRow { register: Some(register), ..self }
    }

    /// Repeats the field as often as the value in register `count`.
    pub(super) const fn times(self, count: Register) -> FieldRow {
        FieldRow { count: Times::Kept(count), ..self }
    }

    fn field(&self) -> Field {
        let once = match self.kind {
            RowType::U8 => FieldType::U8,
            RowType::U16 => FieldType::U16,
            RowType::U32 => FieldType::U32,
            RowType::U64 => FieldType::U64,
            RowType::I32 => FieldType::I32,
            RowType::I64 => FieldType::I64,
            RowType::F32 => FieldType::F32,
            RowType::F64 => FieldType::F64,
            RowType::Boolean8 => FieldType::Boolean8,
            RowType::Boolean32 => FieldType::Boolean32,
            RowType::Pointer => FieldType::Pointer,
            RowType::Guid => FieldType::Guid,
            RowType::Utf16Text => FieldType::Utf16Text,
            RowType::AnsiText => FieldType::AnsiText,
            RowType::CountedUtf8 => FieldType::CountedUtf8,
            RowType::VarUInt => FieldType::VarUInt,
            RowType::Padding(bytes) => FieldType::Padding(bytes),
            RowType::Record(rows) => FieldType::Object(fields(rows)),
        };
        let kind = match self.count {
            Times::Once => once,
            Times::Kept(register) => {
                FieldType::Repeated(Box::new(once), Count::Earlier { register })
            }
            Times::CountedHere => FieldType::Array(Box::new(once)),
        };
        Field {
            is_hex: self.is_hex,
            unit: self.unit,
            map: self.map,
            register: self.register,
            ..Field::new(self.name, kind)
        }
    }
}

fn fields(rows: &[FieldRow]) -> Box<[Field]> {
    rows.iter().map(FieldRow::field).collect()
}

/// Returns the schema that `rows` describe.
pub(super) fn schema(rows: &[FieldRow], omits_null_texts: bool) -> Schema {
    let fields = fields(rows).into_vec();
    if omits_null_texts {
        Schema::from_catalog(fields)
    } else {
        Schema::from_stream(fields, None, false)
    }
}
