//! Descriptions of tables and their columns, from which files and documentation are made.

/// Type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnKind {
    /// A signed integer of 32 bits.
    Small,
    /// A signed integer of 64 bits, for counts, and for ids by which engines join tables.
    Whole,
    /// An unsigned integer of 64 bits, for addresses and sets of bits.
    Unsigned,
    /// A floating-point number of 64 bits.
    Real,
    /// A boolean.
    Flag,
    /// A text in UTF-8.
    Text,
    /// A point in time, stored as a timestamp of nanoseconds since 1970-01-01 UTC.
    Instant,
}

impl ColumnKind {
    /// Returns the name that Parquet and its readers use for the type.
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
    /// Each distinct value is stored once, and rows have indices of these values.
    Dictionary,
    /// Each value is stored as its difference from the previous one, for values that grow.
    Delta,
    /// The values are stored unchanged, and pages have no minimum and maximum. This is for long
    /// texts, which no query selects by range.
    Plain,
}

/// Kind of a value that a row gets only at the end of the trace, because it depends on the names of
/// frames, which are complete only then. Until then the row has a key by which the value is looked
/// up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deferred {
    /// The value is the id of a stack.
    StackId,
    /// The value is the state of a sampled thread.
    State,
    /// The value is the time that a thread ran during a sample.
    RanTime,
    /// The value says whether [`Deferred::RanTime`] is estimated.
    IsRanEstimated,
}

impl Deferred {
    /// Returns the number of numbers in the key of a value.
    pub(crate) fn key_length(self) -> usize {
        match self {
            Deferred::StackId | Deferred::State => 1,
            Deferred::RanTime | Deferred::IsRanEstimated => 4,
        }
    }

    /// Returns whether only recordings with readings of their threads have values.
    pub(crate) fn is_of_readings(self) -> bool {
        matches!(self, Deferred::RanTime | Deferred::IsRanEstimated)
    }
}

/// Description of a column of a table.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the values.
    pub kind: ColumnKind,
    /// Unit of the values; empty if there is none.
    pub unit: &'static str,
    /// Meaning of the values, for the documentation.
    pub about: &'static str,
    /// Sentence about when a value is null; `None` if it never is.
    pub null: Option<&'static str>,
    pub(crate) layout: Layout,
    /// Kind of value, if rows get it only at the end of the trace.
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

/// Description of a table.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Table {
    /// Name of the table, which is also the name of its folder.
    pub name: &'static str,
    /// Meaning of a row.
    pub about: &'static str,
    /// Events from which rows are made, and the report that also counts them.
    pub source: &'static str,
    /// Columns, in the order in which files have them.
    pub columns: &'static [Column],
}
