//! Descriptions of the columns of tables, for files, documentation and tests.

/// Type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnKind {
    /// A signed number of 32 bits.
    Small,
    /// A signed number of 64 bits: counts, and ids that engines join.
    Whole,
    /// An unsigned number of 64 bits: addresses and sets of bits.
    Unsigned,
    /// A double.
    Real,
    /// A boolean.
    Flag,
    /// A text in UTF-8.
    Text,
    /// An instant: nanoseconds since 1970-01-01 UTC, as a timestamp of nanoseconds.
    Instant,
}

impl ColumnKind {
    /// Returns the name of the type in Parquet and its readers.
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

/// Encoding of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A dictionary of the distinct values, and indices into it.
    Dictionary,
    /// Differences to the previous value, for values that grow.
    Delta,
    /// The values as they are, without minimum and maximum of each page: for long texts, which no
    /// query selects by range.
    Plain,
}

/// Number by which the values of a column are looked up at the end of the trace, because they
/// depend on names of frames, which are complete only then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deferred {
    /// The id of a stack.
    StackId,
    /// The state of a sampled thread.
    State,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the values.
    pub kind: ColumnKind,
    /// Unit of the values; empty if there is none.
    pub unit: &'static str,
    /// Meaning of the values.
    pub about: &'static str,
    /// Says when a value is null; `None` if it never is.
    pub null: Option<&'static str>,
    pub(crate) layout: Layout,
    /// Number that a row has until the end of the trace, if its value is known only then.
    pub(crate) deferred: Option<Deferred>,
}

impl Column {
    pub(crate) const fn new(name: &'static str, kind: ColumnKind, about: &'static str) -> Column {
        let layout = match kind {
            ColumnKind::Instant => Layout::Delta,
            _ => Layout::Dictionary,
        };
        Column { name, kind, unit: "", about, null: None, layout, deferred: None }
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

    pub(crate) const fn deferred(self, deferred: Deferred) -> Column {
        Column { deferred: Some(deferred), ..self }
    }
}

/// A table.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Table {
    /// Name of the table, and of its folder.
    pub name: &'static str,
    /// Meaning of a row.
    pub about: &'static str,
    /// Events that rows come from, and the report that counts them, too.
    pub source: &'static str,
    /// The columns, in the order in which files have them.
    pub columns: &'static [Column],
}
