//! Describes the columns of tables, for files, documentation and tests.

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
    /// The name of the type in Parquet and its readers.
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

/// How the values of a column are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A dictionary of the distinct values, and indices into it.
    Dictionary,
    /// Differences to the previous value: for values that grow.
    Delta,
    /// As they are, without ranges of pages: for long texts, of which nobody asks for a range.
    Plain,
}

/// What a column's values are looked up by when the trace has ended, if they depend on
/// names of frames, which are complete only then.
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
    /// `None` if a row's value is known when the row is added.
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
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// The events that rows come from, and the report that counts the same.
    pub source: &'static str,
    /// Its columns, in the order in which files have them.
    pub columns: &'static [Column],
}
