//! How the catalog's tables describe fields: as constants, from which a [`Schema`] is made when it
//! is first asked for.
//!
//! A count names its register instead of its field, so that nothing is left to look up: the
//! table's `u32("Count").kept(0)` and `record("Values", 0, …)` belong together. Registers are
//! numbered within one event, inner records included.

use crate::schema::{Count, Field, FieldType, Register, Schema, Unit, ValueMap};

/// One field of a table row.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldRow {
    name: &'static str,
    kind: Kind,
    count: Times,
    is_hex: bool,
    unit: Option<Unit>,
    map: Option<&'static ValueMap>,
    register: Option<Register>,
}

/// How often a value stands in the payload.
#[derive(Debug, Clone, Copy)]
enum Times {
    Once,
    /// As often as the value of this register says.
    Kept(Register),
    /// As often as a u16 in front says.
    CountedHere,
}

/// The types that the tables use.
#[derive(Debug, Clone, Copy)]
enum Kind {
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

const fn row(name: &'static str, kind: Kind) -> FieldRow {
    FieldRow { name, kind, count: Times::Once, is_hex: false, unit: None, map: None, register: None }
}

pub(super) const fn u8(name: &'static str) -> FieldRow {
    row(name, Kind::U8)
}

pub(super) const fn u16(name: &'static str) -> FieldRow {
    row(name, Kind::U16)
}

pub(super) const fn u32(name: &'static str) -> FieldRow {
    row(name, Kind::U32)
}

pub(super) const fn u64(name: &'static str) -> FieldRow {
    row(name, Kind::U64)
}

pub(super) const fn i32(name: &'static str) -> FieldRow {
    row(name, Kind::I32)
}

pub(super) const fn i64(name: &'static str) -> FieldRow {
    row(name, Kind::I64)
}

pub(super) const fn f32(name: &'static str) -> FieldRow {
    row(name, Kind::F32)
}

pub(super) const fn f64(name: &'static str) -> FieldRow {
    row(name, Kind::F64)
}

/// A truth value of one byte.
pub(super) const fn boolean8(name: &'static str) -> FieldRow {
    row(name, Kind::Boolean8)
}

pub(super) const fn boolean32(name: &'static str) -> FieldRow {
    row(name, Kind::Boolean32)
}

pub(super) const fn pointer(name: &'static str) -> FieldRow {
    row(name, Kind::Pointer)
}

pub(super) const fn guid(name: &'static str) -> FieldRow {
    row(name, Kind::Guid)
}

pub(super) const fn utf16(name: &'static str) -> FieldRow {
    row(name, Kind::Utf16Text)
}

pub(super) const fn ansi(name: &'static str) -> FieldRow {
    row(name, Kind::AnsiText)
}

pub(super) const fn counted_utf8(name: &'static str) -> FieldRow {
    row(name, Kind::CountedUtf8)
}

pub(super) const fn var_uint(name: &'static str) -> FieldRow {
    row(name, Kind::VarUInt)
}

/// Bytes between fields.
pub(super) const fn padding(bytes: u8) -> FieldRow {
    row("", Kind::Padding(bytes))
}

/// Records, as many as register `count` says.
pub(super) const fn records(name: &'static str, count: Register, rows: &'static [FieldRow]) -> FieldRow {
    row(name, Kind::Record(rows)).times(count)
}

/// Records with their number, a u16, in front.
pub(super) const fn counted_records(name: &'static str, rows: &'static [FieldRow]) -> FieldRow {
    FieldRow { count: Times::CountedHere, ..row(name, Kind::Record(rows)) }
}

impl FieldRow {
    /// Shown in hexadecimal.
    pub(super) const fn hex(self) -> FieldRow {
        FieldRow { is_hex: true, ..self }
    }

    /// It counts bytes.
    pub(super) const fn bytes(self) -> FieldRow {
        FieldRow { unit: Some(Unit::Bytes), ..self }
    }

    /// It counts nanoseconds.
    pub(super) const fn nanoseconds(self) -> FieldRow {
        FieldRow { unit: Some(Unit::Nanoseconds), ..self }
    }

    /// It counts seconds.
    pub(super) const fn seconds(self) -> FieldRow {
        FieldRow { unit: Some(Unit::Seconds), ..self }
    }

    /// Its values have names.
    pub(super) const fn named(self, map: &'static ValueMap) -> FieldRow {
        FieldRow { map: Some(map), ..self }
    }

    /// Its value counts what comes later.
    pub(super) const fn kept(self, register: Register) -> FieldRow {
        FieldRow { register: Some(register), ..self }
    }

    /// Stands as often as register `count` says.
    pub(super) const fn times(self, count: Register) -> FieldRow {
        FieldRow { count: Times::Kept(count), ..self }
    }

    fn field(&self) -> Field {
        let once = match self.kind {
            Kind::U8 => FieldType::U8,
            Kind::U16 => FieldType::U16,
            Kind::U32 => FieldType::U32,
            Kind::U64 => FieldType::U64,
            Kind::I32 => FieldType::I32,
            Kind::I64 => FieldType::I64,
            Kind::F32 => FieldType::F32,
            Kind::F64 => FieldType::F64,
            Kind::Boolean8 => FieldType::Boolean8,
            Kind::Boolean32 => FieldType::Boolean32,
            Kind::Pointer => FieldType::Pointer,
            Kind::Guid => FieldType::Guid,
            Kind::Utf16Text => FieldType::Utf16Text,
            Kind::AnsiText => FieldType::AnsiText,
            Kind::CountedUtf8 => FieldType::CountedUtf8,
            Kind::VarUInt => FieldType::VarUInt,
            Kind::Padding(bytes) => FieldType::Padding(bytes),
            Kind::Record(rows) => FieldType::Object(fields(rows)),
        };
        let kind = match self.count {
            Times::Once => once,
            Times::Kept(register) => FieldType::Repeated(Box::new(once), Count::Earlier { register }),
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

/// The schema that `rows` describe.
pub(super) fn schema(rows: &[FieldRow], omits_null_texts: bool) -> Schema {
    let fields = fields(rows).into_vec();
    if omits_null_texts { Schema::from_catalog(fields) } else { Schema::from_stream(fields, None, false) }
}
