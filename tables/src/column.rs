//! What a table's columns are: the one description that files, documentation and tests
//! share.

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnKind {
    /// 32 bits, signed.
    Small,
    /// 64 bits, signed. Counts and ids that engines join and add up.
    Whole,
    /// 64 bits, unsigned: addresses and sets of bits.
    Unsigned,
    /// A double.
    Real,
    /// A boolean.
    Flag,
    /// UTF-8.
    Text,
    /// An instant: nanoseconds since 1970-01-01 UTC, as a timestamp of nanoseconds.
    Instant,
}

impl ColumnKind {
    /// The type as Parquet and its readers call it.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Small => "int32",
            ColumnKind::Whole => "int64",
            ColumnKind::Unsigned => "uint64",
            ColumnKind::Real => "double",
            ColumnKind::Flag => "boolean",
            ColumnKind::Text => "string",
            ColumnKind::Instant => "timestamp(ns, UTC)",
        }
    }
}

/// How the values of a column lie on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Distinct values once, then their numbers.
    Dictionary,
    /// Differences to the value before.
    Steps,
    /// One after the other, without statistics: nobody asks for a range of such values.
    Plain,
}

/// What a column's values are made of, if they are not known when a row is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Later {
    /// The row has its value.
    No,
    /// The id of a stack, which depends on the names of its frames.
    StackId,
    /// The state of a sampled thread, which depends on them, too.
    State,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// How its values are stored.
    pub kind: ColumnKind,
    /// The unit; empty if there is none.
    pub unit: &'static str,
    /// What it means.
    pub about: &'static str,
    /// When it is null; `None` if it never is.
    pub null: Option<&'static str>,
    pub(crate) layout: Layout,
    pub(crate) later: Later,
}

impl Column {
    pub(crate) const fn new(name: &'static str, kind: ColumnKind, about: &'static str) -> Column {
        let layout = match kind {
            ColumnKind::Instant => Layout::Steps,
            _ => Layout::Dictionary,
        };
        Column { name, kind, unit: "", about, null: None, layout, later: Later::No }
    }

    pub(crate) const fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    pub(crate) const fn null(self, when: &'static str) -> Column {
        Column { null: Some(when), ..self }
    }

    pub(crate) const fn layout(self, layout: Layout) -> Column {
        Column { layout, ..self }
    }

    pub(crate) const fn later(self, later: Later) -> Column {
        Column { later, ..self }
    }
}

/// A table.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Table {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// The events that rows come from, and the report that counts the same.
    pub source: &'static str,
    /// Its columns, in the order in which they lie in files.
    pub columns: &'static [Column],
}
