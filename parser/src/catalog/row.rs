//! Describes fields in the catalog's tables by constants, from which a [`Schema`] is built on
//! first use.
//!
//! A count is passed on in a register: `u32("Count").kept(0)` stores the value that
//! `records("Values", 0, …)` uses. An event and its inner records share the registers.

use crate::schema::{Content, Count, Field, FieldType, Register, Schema, Unit, ValueMap};

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
    content: Option<Content>,
}

/// Number of times that a value occurs in the payload.
#[derive(Debug, Clone, Copy)]
enum Times {
    Once,
    /// The value of an earlier field, in this register.
    Kept(Register),
    /// A u16 just before the values.
    CountedHere,
}

/// Defines the types that the tables use, and for each a function that describes a field of it.
macro_rules! row_types {
    ($($function:ident $kind:ident)*) => {
        #[derive(Debug, Clone, Copy)]
        enum RowType {
            $($kind,)*
            Padding(u8),
            Record(&'static [FieldRow]),
        }

        impl RowType {
            fn field_type(self) -> FieldType {
                match self {
                    $(RowType::$kind => FieldType::$kind,)*
                    RowType::Padding(bytes) => FieldType::Padding(bytes),
                    RowType::Record(rows) => FieldType::Object(fields(rows)),
                }
            }
        }

        $(pub(super) const fn $function(name: &'static str) -> FieldRow {
            row(name, RowType::$kind)
        })*
    };
}

row_types! {
    u8 U8
    u16 U16
    u32 U32
    u64 U64
    i32 I32
    i64 I64
    f32 F32
    f64 F64
    boolean32 Boolean32
    pointer Pointer
    guid Guid
    utf16 Utf16Text
    ansi AnsiText
    counted_utf8 CountedUtf8
    var_uint VarUInt
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
        content: None,
    }
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

/// Describes records preceded by their count, a u16.
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

    /// Marks what the bytes hold.
    pub(super) const fn holding(self, content: Content) -> FieldRow {
        FieldRow { content: Some(content), ..self }
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
        let once = self.kind.field_type();
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
            content: self.content,
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
